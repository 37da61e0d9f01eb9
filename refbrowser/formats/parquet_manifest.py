"""References of the parquet form that are read as arrays are touched, a record file at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.formats.parquet_records import ArrayRecords, Record
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import Missing, Reference, ReferenceColumns, ReferenceKind
from refbrowser.model.values import ChunkManifest
from refbrowser.references.content.origins import UrlsLeft

#: Rows of record files that are kept.
_KEPT = 1_000_000
#: How chunks are called in this form.
_KEYS = ChunkKeyEncoding()
#: Record files that are asked what their URLs begin with.
_LOOKED_AT = 1_000


class ParquetReferences:
    """The references of the arrays of a folder (`LaterReferences`); safe to use from any thread.

    Parameters
    ----------
    arrays
        Their record files.
    notes
        What was found while these were read; more of it comes as arrays are touched.
    """

    def __init__(self, arrays: Sequence[ArrayRecords], notes: list[Finding]) -> None:
        self._arrays = {array.prefix: array for array in arrays}
        self._notes = notes
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int], Record | RefbrowserError] = OrderedDict()
        self._is_whole = False
        self._count = sum(array.count for array in arrays)

    @property
    def left(self) -> int:
        """How many references the document has not read at most."""
        return 0 if self._is_whole else self._count

    def urls_left(self) -> Sequence[UrlsLeft]:
        """Return what the URLs begin with, as some record files of each array say; none is read for it."""
        if self._is_whole or not self._arrays:
            return ()
        some = max(1, _LOOKED_AT // len(self._arrays))
        arrays = list(self._arrays.values())[:_LOOKED_AT]
        return [_urls_left(array, some) for array in arrays if array.numbers]

    def left_reference(self, key: str) -> Reference | None:
        """Return the reference of one chunk.

        Raises
        ------
        RefbrowserError
            It cannot be read.
        """
        prefix, slash, name = key.rpartition("/")
        array = self._arrays.get(prefix + slash)
        coords = None if array is None else _KEYS.decode(name, len(array.grid))
        if array is None or coords is None or any(map(int.__ge__, coords, array.grid)):
            return None
        found = self.columns(array, np.array([coords], np.int64).reshape(1, -1)).reference(0)
        return None if isinstance(found, Missing) else found

    def columns(self, array: ArrayRecords, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks of an array at `coords`, shape (n, ndim), in that order."""
        flat = np.ravel_multi_index(tuple(coords.T), array.grid) if array.grid else np.zeros(1, int)
        found = _Found(len(coords))
        for number, at in _by_record(np.asarray(flat, np.int64), array):
            found.add(at, flat[at] - number * array.record_size, self.record(array, number))
        return found.columns()

    def read_whole(self) -> None:
        """Take note that the document has them all."""
        self._is_whole = True
        self._kept.clear()

    def noted(self, paths: Collection[str] | None) -> Sequence[Finding]:
        """Return what was found so far."""
        return tuple(self._notes)

    def manifest_of(self, prefix: str, whole: ChunkManifest) -> ChunkManifest:
        """Return what reads the record files of one array alone."""
        assert isinstance(whole, ExpansionManifest)
        array = self._arrays.get(prefix)
        # Keys of another spelling are no chunks of this form.
        if array is None or array.grid != tuple(whole.grid_shape):
            return whole
        return ParquetManifest(
            whole.expansion, prefix, whole.grid_shape, whole.encoding, references=self, array=array
        )

    def record(self, array: ArrayRecords, number: int) -> Record | RefbrowserError:
        """Return what a record file holds, or why it cannot be read."""
        key = (array.prefix, number)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _read(array, number)
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(map(_rows, self._kept.values())) > _KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


def _read(array: ArrayRecords, number: int) -> Record | RefbrowserError:
    try:
        return array.read(number)
    except RefbrowserError as error:
        return error


def _urls_left(array: ArrayRecords, most: int) -> UrlsLeft:
    """Return what the URLs of an array begin with, as evenly spaced record files of it say."""
    step = -(-len(array.numbers) // most)
    ends = {end for number in array.numbers[::step] for end in array.urls(number) or ()}
    if len(ends) == 1:
        return UrlsLeft(ends.pop(), array.count, is_url=True)
    # All that lie between two texts begin as both do.
    first, last = min(ends, default=""), max(ends, default="")
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None)
    return UrlsLeft(first[: first.rfind("/", 0, same) + 1], array.count)


def _rows(record: Record | RefbrowserError) -> int:
    return len(record) if isinstance(record, Record) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetManifest(ExpansionManifest):
    """The references of one array of a folder, as it was opened."""

    references: ParquetReferences
    array: ArrayRecords

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        if not self.references.left:
            return ExpansionManifest.columns(self, coords)
        return self.references.columns(self.array, coords)

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid; all record files are read."""
        if not self.references.left:
            return ExpansionManifest.kinds(self)
        kinds = np.full(prod(self.grid_shape), ReferenceKind.MISSING, np.uint8)
        for number in self.array.numbers:
            record = self.references.record(self.array, number)
            start, most = number * self.array.record_size, self.array.most(number)
            if isinstance(record, Record):
                kinds[start : start + len(record)] = _kinds_of(record)
            else:
                kinds[start : start + most] = ReferenceKind.FAULTY
        return kinds.reshape(self.grid_shape)

    def stored(self) -> int | None:
        """Return how many chunks have a reference; None while nobody has read them."""
        return None if self.references.left else ExpansionManifest.stored(self)


def _by_record(
    flat: npt.NDArray[np.int64], array: ArrayRecords
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield the number of each record file that tells of chunks, and which of these."""
    numbers = flat // array.record_size
    there = frozenset(array.numbers)
    for number in np.unique(numbers).tolist():
        if number in there:
            yield number, np.flatnonzero(numbers == number)


def _kinds_of(record: Record, rows: npt.NDArray[np.int64] | slice = slice(None)) -> npt.NDArray[np.uint8]:
    offset, length = record.offset[rows], record.length[rows]
    is_whole = (offset == 0) & (length == 0)
    kinds = np.where(is_whole, np.uint8(ReferenceKind.WHOLE), np.uint8(ReferenceKind.RANGE))
    kinds[(offset < 0) | (length < 0) | (offset > _LARGEST - length)] = ReferenceKind.FAULTY
    kinds[record.url[rows] < 0] = ReferenceKind.MISSING
    kinds[record.has_raw[rows]] = ReferenceKind.INLINE
    return kinds


_LARGEST = 2**63 - 1


class _Found:
    """Gathers the references of some chunks out of record files."""

    def __init__(self, count: int) -> None:
        self._kind = np.full(count, ReferenceKind.MISSING, np.uint8)
        self._url = np.full(count, -1, np.int32)
        self._offset = np.zeros(count, np.int64)
        self._length = np.full(count, -1, np.int64)
        self._urls: dict[str, int] = {}
        self._inline: dict[int, bytes] = {}
        self._faults: dict[int, RefbrowserError] = {}

    def add(
        self, at: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], record: Record | RefbrowserError
    ) -> None:
        """Add the chunks `at` as the rows of a record file have them; those behind its end are missing."""
        if isinstance(record, RefbrowserError):
            self._kind[at] = ReferenceKind.FAULTY
            self._faults.update(dict.fromkeys(at.tolist(), record))
            return
        at, rows = at[rows < len(record)], rows[rows < len(record)]
        kinds = _kinds_of(record, rows)
        self._kind[at] = kinds
        has_url = (kinds == ReferenceKind.RANGE) | (kinds == ReferenceKind.WHOLE)
        used, numbers = np.unique(record.url[rows[has_url]], return_inverse=True)
        known = [self._urls.setdefault(record.urls[number], len(self._urls)) for number in used.tolist()]
        self._url[at[has_url]] = np.array(known, np.int32)[numbers.reshape(-1)] if known else -1
        self._offset[at[has_url]] = record.offset[rows[has_url]]
        is_range = kinds == ReferenceKind.RANGE
        self._length[at[is_range]] = record.length[rows[is_range]]

        def of(kind: ReferenceKind) -> Iterator[tuple[int, int]]:
            is_some = kinds == kind
            return zip(at[is_some].tolist(), rows[is_some].tolist(), strict=True)

        self._inline.update((place, record.inline(row)) for place, row in of(ReferenceKind.INLINE))
        self._faults.update((place, _no_range(record, row)) for place, row in of(ReferenceKind.FAULTY))

    def columns(self) -> ReferenceColumns:
        """Return them."""
        return ReferenceColumns(
            self._kind, self._url, self._offset, self._length, tuple(self._urls), self._inline, self._faults
        )


def _no_range(record: Record, row: int) -> RefbrowserError:
    message = f"{record.offset[row]} and {record.length[row]} are no range of bytes"
    return RefbrowserError(ErrorKind.RANGE, message)
