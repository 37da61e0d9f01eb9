"""The chunks in which the data of a classic netCDF file is read and referred to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.formats.netcdf3.header import ClassicHeader, ClassicVariable
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.reference import ByteRange, ReferenceKind
from refbrowser.model.values import Chunks, Pieces, SourceManifest, SourcePiece, Values
from refbrowser.references.content.made_text import ROOT

#: Data of more bytes is divided, into chunks of about so many.
_LARGEST, _USUAL = 64 << 20, 16 << 20
#: So much of the data of records that follow each other is one chunk.
_OF_RECORDS = 1 << 20
#: Chunks of a variable, at most, that are looked for.
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class Run:
    """The chunks of a variable, which lie in the file at equal distances.

    Attributes
    ----------
    shape
        Of a chunk.
    count
        How many there are, along the first dimension.
    offset
        Where the first begins.
    step
        Bytes from one to the next.
    length
        Bytes of each.
    """

    shape: tuple[int, ...]
    count: int
    offset: int
    step: int
    length: int

    @property
    def end(self) -> int:
        """Where the last one ends."""
        return self.offset + (self.count - 1) * self.step + self.length if self.count else self.offset


def run_of(variable: ClassicVariable, header: ClassicHeader) -> Run:
    """Return the chunks of a variable.

    Each record is a chunk, but where nothing lies between records; other data is one chunk, or several where
    there is much of it.
    """
    lengths, size, step = variable.lengths, variable.size, header.record_size
    sides = tuple(max(each, 1) for each in lengths)
    if not prod(lengths):
        return Run(sides, 0, variable.begin, size, size)
    if variable.is_record and step != size:
        return Run((1, *sides[1:]), lengths[0], variable.begin, step, size)
    total = size * lengths[0] if variable.is_record else size
    rows = lengths[0] if lengths else 1
    if variable.begin + total <= header.file_size:
        most, wanted = (_OF_RECORDS, _OF_RECORDS) if variable.is_record else (_LARGEST, _USUAL)
        rows //= divided(rows, total, most, wanted)
    count = lengths[0] // rows if lengths else 1
    return Run((rows, *sides[1:]) if lengths else (), count, variable.begin, total // count, total // count)


def divided(rows: int, size: int, most: int, wanted: int) -> int:
    """Return into how many chunks of equal shape so many rows are best divided.

    Parameters
    ----------
    rows
        Along the first dimension.
    size
        Bytes of all of them.
    most
        Bytes that need not be divided.
    wanted
        Bytes of a chunk.
    """
    if size <= most:
        return 1
    counts = np.arange(1, min(rows, max(size // wanted, 1) * 16, _MOST) + 1)
    counts = counts[rows % counts == 0]
    return int(counts[np.argmin(np.abs(np.log2(size / counts / wanted)))])


#: Records that are read together: those of so many bytes of the file.
_TOGETHER = 1 << 20
#: Bytes from one record to the next that are read through: as many are read of a disk for any one.
_NEAR = 4096
#: Chunks that are worth it, and those that are compared with what the file has.
_MANY, _COMPARED = 1_000, 1 << 20


def read_together(values: Chunks, run: Run, path: str, dtype: np.dtype[Any]) -> Values:
    """Return the values of an array, of many short records in the way in which they are read fastest.

    References tell each record as a chunk, as other software has it. Of very many short ones each costs more
    than its bytes do: they are read many at a time, with what other variables have between them.

    Parameters
    ----------
    values
        Of an array of a document that was opened.
    run
        Its chunks as the file has them.
    path
        Of the array.
    """
    manifest = values.manifest
    if run.count <= _MANY or run.step > _NEAR or values.grid.regular.chunk_shape != run.shape:
        return values
    if not isinstance(manifest, ExpansionManifest):
        return values
    document = manifest.expansion.document
    if document.refs.is_edited and not _is_as_found(manifest, run):
        return values
    source = RecordSource(run, document.places[ROOT], path, dtype, values.grid.shape)
    return Pieces(
        grid=source.grid,
        manifest=SourceManifest(source, path, source.grid),
        keys=values.keys,
        source=source,
        stored_in="records, between those of other variables",
        named=values.grid,
    )


def _is_as_found(manifest: ExpansionManifest, run: Run) -> bool:
    """Tell whether all chunks are still where the file has them."""
    if run.count > _COMPARED:
        return False
    coords = np.zeros((run.count, len(run.shape)), np.int64)
    coords[:, 0] = numbers = np.arange(run.count)
    columns = manifest.columns(coords)
    urls = {columns.urls[number] for number in np.unique(columns.url).tolist() if number >= 0}
    return (
        urls == {manifest.expansion.document.places[ROOT]}
        and bool((columns.kind == ReferenceKind.RANGE).all())
        and bool((columns.offset == run.offset + numbers * run.step).all())
        and bool((columns.length == run.length).all())
    )


@dataclass(frozen=True, eq=False)
class RecordSource:
    """Makes the values of one variable of many short records (`ArraySource`).

    Attributes
    ----------
    run
        Its records, as chunks that references tell.
    url
        Of the file.
    path
        Of the array.
    dtype
        Of its elements.
    shape
        Of the array.
    """

    run: Run
    url: str
    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @cached_property
    def grid(self) -> RegularChunkGrid:
        """The chunks in which it is read, each of many records."""
        many = max(_TOGETHER // self.run.step, 1) * self.run.shape[0]
        return RegularChunkGrid(self.shape, (min(many, self.shape[0]), *self.shape[1:]))

    def pieces(self, part: ChunkPart) -> list[SourcePiece]:
        """Return what gives the elements of a part: one range, from its first record to its last."""
        run, rows = self.run, self.run.shape[0]
        first = part.coords[0] * self.grid.chunk_shape[0] + part.inside[0].start
        last = first + part.inside[0].stop - part.inside[0].start - 1
        begin, end = first // rows, last // rows
        inside = slice(first - begin * rows, last + 1 - begin * rows, part.inside[0].step)
        count = end - begin + 1
        start = run.offset + begin * run.step
        length = (count - 1) * run.step + run.length
        return [
            SourcePiece(
                reference=ByteRange(self.url, start, length),
                shape=(count * rows, *self.shape[1:]),
                inside=(inside, *part.inside[1:]),
                target=part.target,
                decode=partial(self._decode, count),
                name=f"records {begin} to {end}",
                place=Place(url=self.url, start=start, stop=start + length, path=self.path),
                how=("netcdf3", self.path, self.dtype.str, run.step, count),
            )
        ]

    def _decode(self, count: int, data: memoryview) -> npt.NDArray[Any]:
        expected = (count - 1) * self.run.step + self.run.length
        if len(data) != expected:
            raise RefbrowserError(ErrorKind.DECODE, f"{len(data)} bytes where {expected} are expected")
        held = np.ndarray((count, self.run.length), np.uint8, data, 0, (self.run.step, 1))
        return np.ascontiguousarray(held).view(self.dtype).reshape(count * self.run.shape[0], *self.shape[1:])

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that all chunks are made."""
        return np.full(self.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return that they are made."""
        return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int:
        """Return how many chunks there are."""
        return self.grid.size
