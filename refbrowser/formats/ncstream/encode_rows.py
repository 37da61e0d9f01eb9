"""Rows of structures as StructureData (wire notes, section 4, "Structure rows")."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.definition import DataType, StreamVariable
from refbrowser.formats.ncstream.dtypes import STRUCTURES, stored_dtype_of
from refbrowser.formats.ncstream.schema import STRUCTURE_DATA


def in_wire_order(members: Sequence[StreamVariable]) -> tuple[StreamVariable, ...]:
    """Return members in the order of their numbers: all variables, then all structures."""
    plain = [member for member in members if member.type not in STRUCTURES]
    return (*plain, *(member for member in members if member.type in STRUCTURES))


class RowPacker:
    """Packs rows of one structure, big endian and without padding.

    Parameters
    ----------
    members
        Of the structure, in the order of their numbers.

    Raises
    ------
    RefbrowserError
        `FORMAT`: a member has no form in rows.
    """

    def __init__(self, members: Sequence[StreamVariable]) -> None:
        self._members = members
        self._dtype = stored_dtype_of(members)

    def body(self, values: npt.NDArray[Any]) -> bytes:
        """Return structures, an array with a field for each member, as a StructureData with all members."""
        message = STRUCTURE_DATA()
        rows, heap = np.zeros(values.size, self._dtype), _Heap()
        _put(rows, values.reshape(-1), self._members, heap)
        message.nrows, message.rowLength = len(rows), self._dtype.itemsize
        message.data = rows.tobytes()
        message.heapCount.extend(heap.counts)
        message.sdata.extend(heap.texts)
        data: bytes = message.SerializeToString()
        return data


class _Heap:
    """The texts of a message, and how many of them each number in its rows stands for."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.texts: list[str] = []

    def take(self, values: npt.NDArray[Any], each: int) -> npt.NDArray[np.int64]:
        """Take texts, `each` of them for one number; return the numbers."""
        first, count = len(self.counts), values.size // each if each else 0
        self.counts.extend([each] * count)
        self.texts.extend(map(text_of, values.reshape(-1).tolist()))
        return np.arange(first, first + count)


def _put(
    rows: npt.NDArray[Any], values: npt.NDArray[Any], members: Sequence[StreamVariable], heap: _Heap
) -> None:
    for member in members:
        place, given = rows[member.name], values[member.name]
        if member.type is DataType.STRUCTURE:
            _put(place, given, member.members, heap)
        elif member.type is DataType.STRING:
            place[...] = heap.take(given, prod(member.shape)).reshape(place.shape)
        else:
            place[...] = given


def text_of(value: Any) -> str:
    """Return an element of an array of texts as text; bytes that are no UTF-8 are taken as Latin-1."""
    if not isinstance(value, bytes):
        return clean_text(str(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def clean_text(text: str) -> str:
    """Return a text as UTF-8 can hold it: a lone half of a character becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
