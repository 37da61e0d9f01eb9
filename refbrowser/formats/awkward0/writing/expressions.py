"""Expressions as JSON, with the identifiers that they are given beforehand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.formats.awkward0.writing.policy import Spec

Json = dict[str, Any]
#: The release whose expressions these are; readers look only whether it is there.
PROTOCOL = "0.15.5"
#: The module that has the constructors.
MODULE = "awkward0"


class Numbering:
    """Gives out identifiers, from 0."""

    def __init__(self) -> None:
        self._next = 0

    def take(self) -> int:
        """Return the next one."""
        self._next += 1
        return self._next - 1


def call(number: int, function: Sequence[str], *arguments: Json) -> Json:
    """Return the call of a function."""
    return {"call": list(function), "args": list(arguments), "id": number}


def constructor(number: int, name: str, *arguments: Json) -> Json:
    """Return the call of a constructor: ``JaggedArray.fromcounts``."""
    return call(number, (MODULE, *name.split(".")), *arguments)


def plain(number: int, value: Any) -> Json:
    """Return a plain value."""
    return {"json": value, "id": number}


@dataclass(frozen=True, slots=True)
class BufferNumbers:
    """Identifiers of the expressions that one basic array is made of; its blob is named after `array`."""

    array: int
    packed: int
    read: int
    dtype: int
    count: int

    @classmethod
    def of(cls, numbering: Numbering) -> BufferNumbers:
        """Take them."""
        return cls(*(numbering.take() for _ in range(5)))


def buffer(
    numbers: BufferNumbers, suffix: str, dtype: np.dtype[Any], count: int, decompress: Spec | None
) -> Json:
    """Return the expression of a basic array."""
    data: Json = {"read": f"{numbers.array}{suffix}", "id": numbers.read}
    if decompress is not None:
        data = call(numbers.packed, decompress, data)
    return call(
        numbers.array,
        (MODULE, "numpy", "frombuffer"),
        data,
        {"dtype": dtype_json(dtype), "id": numbers.dtype},
        plain(numbers.count, count),
    )


def dtype_json(dtype: np.dtype[Any]) -> Any:
    """Return a type as JSON (persistence notes, section 3)."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [dtype_json(base), list(shape)]
    return str(dtype)


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of an array beside its values.

    Attributes
    ----------
    metadata
        Any JSON; None for nothing.
    """

    doc: str = ""
    metadata: Any = None


def schema_text(root: Json, prefix: str, said: Said) -> bytes:
    """Return the object that describes an array, as the bytes of its blob (serialization text, top level)."""
    top: Json = {"awkward0": PROTOCOL}
    if said.doc:
        top["doc"] = said.doc
    if said.metadata:
        top["metadata"] = said.metadata
    if prefix:
        top["prefix"] = prefix
    top["schema"] = root
    # The library that these files are of reads ASCII.
    return json.dumps(top, allow_nan=False).encode("ascii")
