"""FlatBuffers of foreign origin: single tables, and the fields of very many tables as columns.

Nothing is followed that was not held against the size of the buffer. What fields mean is known to the caller
alone, so that there is no recursion: a table leads as deep as its schema (FlatBuffers, "Internals").
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError

Positions = npt.NDArray[np.int64]
#: Rows whose texts are told apart together: their bytes are copied.
_BLOCK = 1 << 18


def damaged(what: str = "an offset points outside it") -> RefbrowserError:
    """Return the error of a buffer that is none, or was damaged."""
    return RefbrowserError(ErrorKind.FORMAT, f"the file is damaged: {what}")


@dataclass(frozen=True, eq=False)
class Buffer:
    """The bytes of a FlatBuffer.

    Attributes
    ----------
    stored
        Bytes of the file that it was decompressed from.
    """

    data: bytes
    stored: int = 0

    @property
    def root(self) -> Table:
        """The root table."""
        return Table(self, self.table_at(0))

    def number(self, at: int, size: int, signed: bool = False) -> int:
        """Return the integer of `size` bytes at a position."""
        return int.from_bytes(self.slice(at, size), "little", signed=signed)

    def slice(self, at: int, size: int) -> bytes:
        """Return the bytes at a position."""
        if at < 0 or at + size > len(self.data):
            raise damaged()
        return self.data[at : at + size]

    def table_at(self, at: int) -> int:
        """Return the position to which the offset at a position leads."""
        return at + self.number(at, 4)

    def view(self, dtype: str) -> npt.NDArray[Any]:
        """Return the values of a type that begin at each byte."""
        size = np.dtype(dtype).itemsize
        count = max(0, len(self.data) - size + 1)
        return np.ndarray((count,), dtype, self.data if count else bytes(size), strides=(1,))

    @cached_property
    def _views(self) -> dict[str, npt.NDArray[Any]]:
        return {name: self.view(name) for name in ("<u1", "<u2", "<u4", "<i4", "<u8")}

    def values(self, dtype: str, at: Positions) -> npt.NDArray[Any]:
        """Return the values of a type at positions."""
        view = self._views[dtype]
        if at.size and (int(at.min()) < 0 or int(at.max()) >= len(view)):
            raise damaged()
        return view[at]

    def rows(self, at: Positions, length: int) -> npt.NDArray[np.uint8]:
        """Return so many bytes at each position, shape (n, length)."""
        if not length or not len(at):
            return np.zeros((len(at), length), np.uint8)
        if int(at.min()) < 0 or int(at.max()) + length > len(self.data):
            raise damaged()
        return self.view(f"V{length}")[at].view(np.uint8).reshape(len(at), length)

    def texts(self, starts: Positions, lengths: Positions) -> tuple[list[bytes], Positions]:
        """Return the distinct texts that lie at positions, and the position of each in them.

        Raises
        ------
        RefbrowserError
            E_FORMAT: some lie over others, so that they would take more room than the buffer.
        """
        places, first, number = np.unique(starts, return_index=True, return_inverse=True)
        sizes = lengths[first]
        if int(sizes.sum()) > len(self.data):
            raise damaged("its strings overlap")
        found: list[bytes] = []
        numbers = np.zeros(len(places), np.int64)
        order = np.argsort(sizes, kind="stable")
        cuts = np.flatnonzero(np.diff(sizes[order])) + 1
        for same in np.split(order, cuts) if len(order) else ():
            known: dict[bytes, int] = {}
            for begin in range(0, len(same), _BLOCK):
                block = same[begin : begin + _BLOCK]
                distinct, at = _distinct(self.rows(places[block], int(sizes[block[0]])))
                new = []
                for text in distinct:
                    if text not in known:
                        known[text] = len(found)
                        found.append(text)
                    new.append(known[text])
                numbers[block] = np.array(new, np.int64)[at]
        return found, numbers[number.reshape(-1)]


def _distinct(rows: npt.NDArray[np.uint8]) -> tuple[list[bytes], npt.NDArray[np.intp]]:
    """Return the distinct rows, and which of them each row is."""
    count, length = rows.shape
    if not length:
        return [b""], np.zeros(count, np.intp)
    padded = np.zeros((count, -(-length // 8) * 8), np.uint8)
    padded[:, :length] = rows
    words = padded.view(np.uint64)
    # Nobody knows the factors beforehand; rows that fall together all the same are found below.
    factors = np.frombuffer(secrets.token_bytes(words.shape[1] * 8), np.uint64) | np.uint64(1)
    mixed = (words ^ (words >> np.uint64(32))) * factors
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    marks = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    _, first, number = np.unique(marks, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    if not np.array_equal(words, words[first][number]):
        _, first, number = np.unique(
            rows.copy().view(f"V{length}").reshape(-1), return_index=True, return_inverse=True
        )
        number = number.reshape(-1)
    return [row.tobytes() for row in rows[first]], number


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes
    ----------
    at
        Where it begins.
    """

    buffer: Buffer
    at: int

    def place(self, field: int) -> int:
        """Return where a field stands; 0 where it is absent."""
        buffer = self.buffer
        vtable = self.at - buffer.number(self.at, 4, signed=True)
        slot = 4 + 2 * field
        if slot + 2 > buffer.number(vtable, 2):
            return 0
        offset = buffer.number(vtable + slot, 2)
        return self.at + offset if offset else 0

    def number(self, field: int, size: int, default: int = 0, signed: bool = False) -> int:
        """Return an integer of `size` bytes."""
        at = self.place(field)
        return self.buffer.number(at, size, signed) if at else default

    def struct(self, field: int, size: int) -> bytes | None:
        """Return the bytes of a struct."""
        at = self.place(field)
        return self.buffer.slice(at, size) if at else None

    def vector(self, field: int, size: int) -> tuple[int, int] | None:
        """Return where the elements of a vector begin, and their number; None where it is absent.

        Parameters
        ----------
        size
            Bytes of an element.
        """
        at = self.place(field)
        if not at:
            return None
        start = self.buffer.table_at(at)
        count = self.buffer.number(start, 4)
        if start + 4 + count * size > len(self.buffer.data):
            raise damaged("a vector is longer than the file")
        return start + 4, count

    def content(self, field: int) -> bytes | None:
        """Return the bytes of a vector of them."""
        found = self.vector(field, 1)
        return None if found is None else self.buffer.slice(*found)

    def text(self, field: int) -> str | None:
        """Return a string; what is no UTF-8 in it is replaced."""
        found = self.content(field)
        return None if found is None else found.decode("utf-8", "replace")

    def structs(self, field: int, size: int) -> list[bytes]:
        """Return the structs of a vector."""
        start, count = self.vector(field, size) or (0, 0)
        data = self.buffer.data
        return [data[start + size * n : start + size * (n + 1)] for n in range(count)]

    def numbers(self, field: int, dtype: str) -> npt.NDArray[Any]:
        """Return the numbers of a vector, or its structs of numbers of one type."""
        size = np.dtype(dtype).itemsize
        start, count = self.vector(field, size) or (0, 0)
        return np.frombuffer(self.buffer.data, dtype, count, start) if count else np.zeros(0, dtype)

    def table(self, field: int) -> Table | None:
        """Return the table that a field leads to."""
        at = self.place(field)
        return Table(self.buffer, self.buffer.table_at(at)) if at else None

    def tables(self, field: int) -> Tables:
        """Return the tables of a vector."""
        start, count = self.vector(field, 4) or (0, 0)
        at = start + 4 * np.arange(count, dtype=np.int64)
        return Tables(self.buffer, at + self.buffer.values("<u4", at).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of one type, in a vector: each field is a column.

    Attributes
    ----------
    at
        Where each begins, shape (n,).
    """

    buffer: Buffer
    at: Positions

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, number: int) -> Table:
        return Table(self.buffer, int(self.at[number]))

    def chosen(self, rows: npt.NDArray[Any]) -> Tables:
        """Return some of them."""
        return Tables(self.buffer, self.at[rows])

    @cached_property
    def _vtables(self) -> tuple[Positions, Positions]:
        """Where it is told which fields tables have, and how many that follow each other share it."""
        found = self.at - self.buffer.values("<i4", self.at).astype(np.int64)
        heads = np.flatnonzero(found[1:] != found[:-1]) + 1 if len(found) else np.zeros(0, np.int64)
        heads = np.concatenate([np.zeros(min(1, len(found)), np.int64), heads])
        return found[heads], np.diff(heads, append=len(found))

    def places(self, field: int) -> Positions:
        """Return where a field of each table stands; 0 where it is absent."""
        values, (vtables, counts) = self.buffer.values, self._vtables
        slot = 4 + 2 * field
        has = values("<u2", vtables).astype(np.int64) >= slot + 2
        offsets = np.zeros(len(vtables), np.int64)
        offsets[has] = values("<u2", vtables[has] + slot)
        offset = np.repeat(offsets, counts)
        return np.where(offset > 0, self.at + offset, 0)

    def numbers(self, field: int, dtype: str) -> npt.NDArray[Any]:
        """Return a field of numbers; 0 where it is absent."""
        at = self.places(field)
        found = np.zeros(len(at), dtype)
        found[at > 0] = self.buffer.values(dtype, at[at > 0])
        return found

    def vectors(self, field: int, size: int) -> tuple[Positions, Positions]:
        """Return where the elements of a field's vectors begin, 0 where there is none, and their numbers.

        Parameters
        ----------
        size
            Bytes of an element.
        """
        places = self.places(field)
        has = places > 0
        starts, counts = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
        at = places[has] + self.buffer.values("<u4", places[has]).astype(np.int64)
        number = self.buffer.values("<u4", at).astype(np.int64)
        if len(at) and int((at + 4 + number * size).max()) > len(self.buffer.data):
            raise damaged("a vector is longer than the file")
        starts[has], counts[has] = at + 4, number
        return starts, counts
