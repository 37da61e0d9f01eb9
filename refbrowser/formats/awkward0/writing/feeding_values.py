"""Adding rows that are numpy's arrays: numbers, structures, texts, rows of their own length."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.awkward0.writing.parts import (
    FoldedPart,
    ListPart,
    NumbersPart,
    Part,
    RecordPart,
    TextPart,
)


def feed_values(part: Part, values: npt.NDArray[Any]) -> None:
    """Add the elements of an array, along its first axis, as rows.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: they are of another type.
    """
    if isinstance(part, NumbersPart):
        part.add(values)
    elif isinstance(part, RecordPart):
        for name, below in part.fields.items():
            feed_values(below, values[name])
    elif isinstance(part, FoldedPart):
        feed_values(part.content, values.reshape(-1, *values.shape[2:]))
    elif isinstance(part, ListPart):
        _feed_lists(part, values)
    elif isinstance(part, TextPart):
        _feed_texts(part, values)
    else:
        raise RefbrowserError(ErrorKind.SCHEMA, "values are of another type than the array")


def _feed_lists(part: ListPart, values: npt.NDArray[Any]) -> None:
    if values.dtype.kind != "O":
        # An axis of length 0.
        part.counts.add(np.full(len(values), values.shape[1], np.int64))
        feed_values(part.content, values.reshape(-1, *values.shape[2:]))
        return
    rows = [np.asarray(row) for row in values]
    part.counts.add(np.fromiter(map(len, rows), np.int64, len(rows)))
    filled = [row for row in rows if len(row)]
    if filled:
        feed_values(part.content, np.concatenate(filled))


def _feed_texts(part: TextPart, values: npt.NDArray[Any]) -> None:
    encoded = [_bytes_of(value) for value in values.tolist()]
    part.counts.add(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    part.content.add(np.frombuffer(b"".join(encoded), np.uint8))


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    return bytes(value) if value is not None else b""
