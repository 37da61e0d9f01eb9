"""Arrays that stand in a schema as plain values: nested lists of numbers, texts and records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer
from refbrowser.model.reference import Inline
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts.layouts import (
    Layout,
    ListIndex,
    ListLayout,
    MaskedLayout,
    MaskForm,
    NumpyLayout,
    RecordLayout,
)


def literal_layout(value: Any, number: int = 0, identity: int | None = None) -> Layout:
    """Return the array that a list of plain values is.

    Raises
    ------
    RefbrowserError
        E_SCHEMA: it is no list, or its elements are not of one kind; E_BUDGET: it is too long.
    """
    if not isinstance(value, list | tuple):
        message = f"{quoted(value)} is found where an array belongs"
        raise RefbrowserError(ErrorKind.SCHEMA, message)
    return _layout(value, {"number": number, "id": identity}, 1)


def inline_layout(values: npt.NDArray[Any], **common: Any) -> NumpyLayout:
    """Return a basic array whose bytes are known."""
    data = np.ascontiguousarray(values)
    inner = data.shape[1:]
    dtype = np.dtype((data.dtype, inner)) if inner else data.dtype
    buffer = Buffer(Inline(data.tobytes()), dtype, len(data), stored=data.nbytes)
    return NumpyLayout(**common, buffer=buffer)


def _layout(values: Sequence[Any], common: dict[str, Any], depth: int) -> Layout:
    if depth > AWKWARD_LIMITS.awkward_depth or len(values) > LIMITS.metadata_values:
        raise RefbrowserError(ErrorKind.BUDGET, "plain values are too many, or nested too deep")
    missing = [value is None for value in values]
    if any(missing):
        return _masked(values, missing, common, depth)
    if not values:
        return inline_layout(np.zeros(0), **common)
    if all(isinstance(value, str | bytes) for value in values):
        return _texts(values, common)
    if all(isinstance(value, list | tuple) for value in values):
        return _lists(values, common, depth)
    if all(isinstance(value, dict) for value in values):
        return _records(values, common, depth)
    return inline_layout(_numbers(values), **common)


def _numbers(values: Sequence[Any]) -> npt.NDArray[Any]:
    types = {type(value) for value in values}
    if types == {bool}:
        return np.array(values, np.bool_)
    if not types <= {int, float}:
        raise RefbrowserError(ErrorKind.SCHEMA, f"{quoted(values)} are not values of one kind")
    try:
        return np.array(values, np.int64 if types == {int} else np.float64)
    except OverflowError:
        return np.array(values, np.float64)


def _counts(values: Sequence[Any], common: dict[str, Any]) -> NumpyLayout:
    return inline_layout(np.array([len(value) for value in values], np.int64), **common)


def _texts(values: Sequence[str | bytes], common: dict[str, Any]) -> ListLayout:
    is_bytes = any(isinstance(value, bytes) for value in values)
    encoded = [value if isinstance(value, bytes) else value.encode() for value in values]
    content = inline_layout(np.frombuffer(b"".join(encoded), np.uint8), **common)
    return ListLayout(
        **common,
        how=ListIndex.COUNTS,
        index=(_counts(encoded, common),),
        content=content,
        is_text=True,
        encoding=None if is_bytes else "utf-8",
    )


def _lists(values: Sequence[Sequence[Any]], common: dict[str, Any], depth: int) -> ListLayout:
    flat = [item for value in values for item in value]
    content = _layout(flat, common, depth + 1)
    return ListLayout(**common, how=ListIndex.COUNTS, index=(_counts(values, common),), content=content)


def _records(values: Sequence[dict[str, Any]], common: dict[str, Any], depth: int) -> RecordLayout:
    names = list(dict.fromkeys(str(name) for value in values for name in value))
    columns = {name: [value.get(name) for value in values] for name in names}
    fields = tuple((name, _layout(column, common, depth + 1)) for name, column in columns.items())
    return RecordLayout(**common, fields=fields)


def _masked(values: Sequence[Any], missing: list[bool], common: dict[str, Any], depth: int) -> MaskedLayout:
    present = [value for value in values if value is not None]
    index = np.where(missing, -1, np.cumsum(~np.array(missing)) - 1).astype(np.int64)
    return MaskedLayout(
        **common,
        form=MaskForm.INDEX,
        mask=inline_layout(index, **common),
        content=_layout(present, common, depth + 1),
        masked_when=-1,
    )
