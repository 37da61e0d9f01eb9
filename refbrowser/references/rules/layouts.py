"""References that are computed, not stored: what makes many at once, and where the chunks of a store are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ByteRange, Reference, ReferenceColumns, ReferenceKind, WholeFile
from refbrowser.references.rules.rule_rows import FieldColumn, GenRow, GenRows, Integers, Texts

Ints = npt.NDArray[np.int64]
#: Stands where the coordinates of a key are not known.
_ANY = "\0"
_DIGITS = re.compile(r"\d+")
#: Where plain text ends: an expression, statement or comment begins, or a line, whose end may change.
_END = re.compile(r"\{[{%#]|[\r\n]")
#: A dimension alone: what it prints is an integer.
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class NotDecided:
    """The answer of a search that reached its bound: so many rows were looked at."""

    rows_checked: int


class FoundChunk(NamedTuple):
    """Which chunks something makes the references of.

    Attributes
    ----------
    hit
        Positions of the chunks that it has.
    columns
        The references of these, in their order.
    open
        Positions of the chunks of which it was not decided.
    """

    hit: Ints
    columns: ReferenceColumns
    open: Ints


class Generated(Protocol):
    """What makes references that are not stored: a gen rule, or the regular layout of an array."""

    @property
    def count(self) -> int:
        """Number of rows, which may exceed 2**63."""
        ...

    @property
    def key_begins(self) -> tuple[str, bool] | None:
        """What all keys begin with, and whether an integer follows; None where there is no key."""
        ...

    @property
    def static_prefix(self) -> str:
        """The text that every key begins with."""
        ...

    @property
    def is_quick(self) -> bool:
        """Whether rows are made as columns: a row by itself costs a hundred times as much."""
        ...

    @property
    def structure_faults(self) -> tuple[RefbrowserError, ...]:
        """Why it gives no rows although it should."""
        ...

    def may_give(self, prefix: str) -> bool:
        """Return whether keys may start with `prefix`; False is certain."""
        ...

    def row(self, row: int) -> GenRow:
        """Return one entry, 0 <= row < count.

        Raises
        ------
        IndexError
            There is no such row.
        """
        ...

    def rows(self, start: int, stop: int) -> GenRows:
        """Return the entries of rows [start, stop), cut at the ends, as columns."""
        ...

    def find(self, key: str, cancelled: Callable[[], bool] = ...) -> int | NotDecided | None:
        """Return the last row with this key, None where there is none, or that it was not decided."""
        ...

    def chunks(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> FoundChunk:
        """Return the references of chunks of an array; `coords` has shape (n, ndim)."""
        ...

    def chunk_kinds(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of chunks: `MISSING` where it has none, `FAULTY` where not decided."""
        ...

    def holds(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> npt.NDArray[np.bool_] | None:
        """Return which chunks it has; None where that is not decided."""
        ...

    def directories(self) -> tuple[str, ...] | None:
        """Return what keys have before their last ``/`` (none: ""), None where that is not bounded."""
        ...


def literal_prefix(text: str) -> str:
    """Return the text that whatever a template prints begins with, as far as that is plain to see."""
    end = _END.search(text)
    # White space before an expression may be taken away by it.
    return text if end is None else text[: end.start()].rstrip()


def _goes_on_with_integer(text: str, prefix: str, dimensions: Collection[str]) -> bool:
    """Return whether all that a template prints goes on with an integer after its literal prefix."""
    name = _NAME.match(text, len(prefix))
    return name is not None and name[1] in dimensions


def key_begins(text: str, dimensions: Collection[str]) -> tuple[str, bool]:
    """Return what all keys that a template prints begin with, and whether an integer follows.

    Parameters
    ----------
    dimensions
        Names of the dimensions of integers.
    """
    prefix = literal_prefix(text)
    return prefix, _goes_on_with_integer(text, prefix, dimensions)


def no_references() -> ReferenceColumns:
    """Return columns without rows."""
    empty = np.zeros(0, dtype=np.int64)
    return ReferenceColumns(empty.astype(np.uint8), empty.astype(np.int32), empty, empty, ())


@dataclass(frozen=True)
class ChunkLayout:
    """The chunks of a regular array, each an object of its own: its URL is made from its key.

    Attributes
    ----------
    prefix
        What stands before the chunks' own keys: ``temp/``, ``data/temp/``; empty for a root array.
    grid_shape
        Number of chunks along each dimension.
    encoding
        How the array writes its chunk keys.
    head, tail
        What stands before and behind the chunk's own key in its URL.
    """

    prefix: str
    grid_shape: tuple[int, ...]
    encoding: ChunkKeyEncoding
    head: str = ""
    tail: str = ""

    @property
    def count(self) -> int:
        """Number of chunks."""
        return prod(self.grid_shape)

    @cached_property
    def static_prefix(self) -> str:
        """The text that every key begins with."""
        return (self.prefix + self.encoding.spelled([_ANY] * len(self.grid_shape))).partition(_ANY)[0]

    @property
    def key_begins(self) -> tuple[str, bool]:
        """What all keys begin with; an integer follows."""
        return self.static_prefix, bool(self.grid_shape)

    @property
    def place(self) -> str:
        """The folder, with a ``/`` at its end, or the archive that all chunks lie in."""
        if self.tail:
            return self.tail[2:]
        return self.head[: len(self.head) - len(self.prefix)]

    @property
    def is_quick(self) -> bool:
        """All of it is arithmetic."""
        return True

    @property
    def structure_faults(self) -> tuple[RefbrowserError, ...]:
        """Nothing."""
        return ()

    def may_give(self, prefix: str) -> bool:
        """Return whether keys may start with `prefix`; False is certain."""
        return self.static_prefix.startswith(prefix) or prefix.startswith(self.static_prefix)

    def directories(self) -> tuple[str, ...] | None:
        """Return the directory of the keys; None where coordinates are directories."""
        if self.encoding.separator == "/" and len(self.grid_shape) > 1:
            return None
        return (self.static_prefix.rpartition("/")[0],)

    # Rows

    def _coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of rows, in C order."""
        if stop <= 2**62:
            index = np.unravel_index(np.arange(start, stop), self.grid_shape)
            return np.stack(index, axis=1).astype(np.int64)
        found = np.zeros((stop - start, len(self.grid_shape)), np.int64)
        for at in range(stop - start):
            rest = start + at
            for axis in range(len(self.grid_shape) - 1, -1, -1):
                rest, found[at, axis] = divmod(rest, self.grid_shape[axis])
        return found

    def row(self, row: int) -> GenRow:
        """Return one entry, 0 <= row < count.

        Raises
        ------
        IndexError
            There is no such row.
        """
        if not 0 <= row < self.count:
            raise IndexError(row)
        key = self.encoding.encode(tuple(self._coords(row, row + 1)[0].tolist()))
        return GenRow(row, self.prefix + key, self._reference(row, key), None)

    def _reference(self, row: int, key: str) -> Reference:
        """Return the reference of a row, whose chunk has this key of its own."""
        return WholeFile(self.head + key + self.tail)

    def rows(self, start: int, stop: int) -> GenRows:
        """Return the entries of rows [start, stop), cut at the ends, as columns."""
        start = max(0, min(start, self.count))
        stop = max(start, min(stop, self.count))
        coords = self._coords(start, stop) if stop > start else np.zeros((0, len(self.grid_shape)), np.int64)

        def column(name: str) -> FieldColumn | None:
            if name == "key":
                keys: Texts = [*self.encoding.encode_many(coords, self.prefix)]
                return FieldColumn(keys, {})
            values = self._columns(start, coords).get(name)
            return None if values is None else FieldColumn(values, {})

        return GenRows(start, stop - start, column)

    def _columns(self, start: int, coords: Ints) -> Mapping[str, Texts | Integers]:
        """Return what references are made of, by name; `coords` are those of rows from `start` on."""
        urls: Texts = [*self._urls(coords)]
        return {"url": urls}

    def _urls(self, coords: Ints) -> list[str]:
        return self.encoding.encode_many(coords, self.head, self.tail)

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | None:
        """Return the row with this key, None where there is none."""
        if not key.startswith(self.static_prefix):
            return None
        coords = self.encoding.decode(key[len(self.prefix) :], len(self.grid_shape))
        if coords is None or any(at >= size for at, size in zip(coords, self.grid_shape, strict=True)):
            return None
        row = 0
        for at, size in zip(coords, self.grid_shape, strict=True):
            row = row * size + at
        return row

    # Chunks

    def _inside(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> npt.NDArray[np.bool_]:
        """Return which chunks of an array are among these."""
        marks = [_ANY] * coords.shape[1]
        theirs, own = (
            prefix + encoding.spelled(marks),
            self.prefix + self.encoding.spelled([_ANY] * len(self.grid_shape)),
        )
        if theirs == own:
            return np.all((coords >= 0) & (coords < np.array(self.grid_shape, np.int64)), axis=1)
        # Other names can still spell the same keys, where coordinates of one are names of the other.
        if _DIGITS.sub(_ANY, theirs) != _DIGITS.sub(_ANY, own):
            return np.zeros(len(coords), bool)
        return np.array([self.find(prefix + key) is not None for key in encoding.encode_many(coords)], bool)

    def chunks(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> FoundChunk:
        """Return the references of chunks of an array; `coords` has shape (n, ndim)."""
        hit = np.flatnonzero(self._inside(prefix, coords, encoding))
        if not len(hit):
            return FoundChunk(hit, no_references(), hit)
        if len(hit) < len(coords):
            coords = coords[hit]
        if prefix == self.prefix and encoding == self.encoding:
            urls = self._urls(coords)
        else:
            # The same keys by other names: what stands before the own key in them is cut off.
            cut, keys = len(self.prefix), encoding.encode_many(coords, prefix)
            urls = [self.head + key[cut:] + self.tail for key in keys]
        zeros = np.zeros(len(hit), np.int64)
        columns = ReferenceColumns(
            np.full(len(hit), ReferenceKind.WHOLE, np.uint8),
            np.arange(len(hit), dtype=np.int32),
            zeros,
            zeros - 1,
            tuple(urls),
        )
        return FoundChunk(hit, columns, hit[:0])

    def chunk_kinds(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of chunks: `MISSING` where it has none."""
        inside = self._inside(prefix, coords, encoding)
        return np.where(inside, ReferenceKind.WHOLE, ReferenceKind.MISSING).astype(np.uint8)

    def holds(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> npt.NDArray[np.bool_]:
        """Return which chunks it has."""
        return self._inside(prefix, coords, encoding)


@dataclass(frozen=True)
class RangeLayout(ChunkLayout):
    """The chunks of a regular array that follow each other in one file, each as far from the last.

    `head` is the URL of the file.

    Attributes
    ----------
    offset
        Where the first chunk begins.
    step
        Bytes from one chunk to the next, in C order.
    length
        Bytes of each chunk.
    """

    offset: int = 0
    step: int = 0
    length: int = 0

    @property
    def place(self) -> str:
        """The file."""
        return self.head

    def range_fields(self, names: Mapping[int, str]) -> dict[str, str]:
        """Return offset and length as fields of a rule, whose dimensions have these names by axis."""
        terms = [f"{name} * {self.step * prod(self.grid_shape[axis + 1 :])}" for axis, name in names.items()]
        return {"offset": f"{{{{ {' + '.join([str(self.offset), *terms])} }}}}", "length": str(self.length)}

    def _reference(self, row: int, key: str) -> Reference:
        return ByteRange(self.head, self.offset + row * self.step, self.length)

    def _columns(self, start: int, coords: Ints) -> Mapping[str, Texts | Integers]:
        # In Python's integers: what a hostile file says may lie anywhere.
        first = self.offset + start * self.step
        urls: Texts = [self.head for _ in coords]
        offsets: Integers = [first + at * self.step for at in range(len(coords))]
        lengths: Integers = [self.length for _ in coords]
        return {"url": urls, "offset": offsets, "length": lengths}

    def chunks(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> FoundChunk:
        """Return the references of chunks of an array; `coords` has shape (n, ndim)."""
        hit = np.flatnonzero(self._inside(prefix, coords, encoding))
        found = coords[hit]
        if prefix == self.prefix and encoding == self.encoding and found.shape[1] == len(self.grid_shape):
            rows = np.zeros(len(hit), np.int64)
            for axis, size in enumerate(self.grid_shape):
                rows = rows * size + found[:, axis]
        else:
            rows = np.array([self.find(prefix + key) for key in encoding.encode_many(found)], np.int64)
        columns = ReferenceColumns(
            np.full(len(hit), ReferenceKind.RANGE, np.uint8),
            np.zeros(len(hit), np.int32),
            self.offset + rows * self.step,
            np.full(len(hit), self.length, np.int64),
            (self.head,),
        )
        return FoundChunk(hit, columns, hit[:0])

    def chunk_kinds(self, prefix: str, coords: Ints, encoding: ChunkKeyEncoding) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of chunks: `MISSING` where it has none."""
        inside = self._inside(prefix, coords, encoding)
        return np.where(inside, ReferenceKind.RANGE, ReferenceKind.MISSING).astype(np.uint8)
