"""Parts of a file along a dimension, and chunks cut smaller: whole ranges of bytes, nothing is read."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from refbrowser.exporting.combining.properties import (
    HELD,
    ArrayProperties,
    FileChunks,
    Ints,
    ScannedSource,
    coords_of,
)
from refbrowser.model.chunk_axes import ChunkAxis
from refbrowser.model.grid import grid_of
from refbrowser.references.content.table import WHOLE, smallest
from refbrowser.references.content.value_table import json_of


@dataclass(frozen=True, slots=True)
class Border:
    """A place within a chunk of an array, and the borders of that chunk."""

    path: str
    place: int
    before: int
    behind: int


def off_borders(
    file: ScannedSource, dimension: str, places: Sequence[int], arrays: Container[str]
) -> list[Border]:
    """Return where a file would be cut within chunks that are referred to, of arrays with some paths."""
    found = []
    for told in file.arrays:
        is_read = told.path in file.values or bool(told.problem)
        if dimension not in told.dimensions or is_read or told.path not in arrays:
            continue
        at = told.dimensions.index(dimension)
        axis = told.grid.dimensions[at]
        for place in places:
            if 0 < place < told.shape[at] and axis.count:
                chunk = axis.chunk_of(place)
                start = axis.start(chunk)
                if start != place:
                    found.append(Border(told.path, place, start, start + axis.extent(chunk)))
    return found


def part_of(file: ScannedSource, dimension: str, start: int, stop: int) -> ScannedSource:
    """Return the part of a file between two places along a dimension, which are borders of its chunks."""
    arrays, changed = [], {}
    for number, told in enumerate(file.arrays):
        if dimension not in told.dimensions or (start <= 0 and stop >= _length(told, dimension)):
            arrays.append(told)
            continue
        at = told.dimensions.index(dimension)
        if told.path in file.values:
            # Its values stand in the document, whatever its chunks are.
            arrays.append(_shorter(told, at, start, stop, whole=True))
            changed[number] = _Rows(np.zeros(0, np.int64), np.zeros(0, np.int64))
            continue
        part = _shorter(told, at, start, stop, whole=False)
        arrays.append(part)
        changed[number] = _rows_between(file, number, part, at, start, stop)
    begins = {**file.begins, dimension: file.begins.get(dimension, 0) + max(start, 0)}
    return replace(
        file,
        arrays=tuple(arrays),
        chunks=_chunks_with(file, changed),
        values={path: _values(file, path, dimension, start, stop) for path in file.values},
        digests={path: _digest(file, path, dimension, start, stop) for path in file.digests},
        begins=begins,
    )


def _length(told: ArrayProperties, dimension: str) -> int:
    return told.shape[told.dimensions.index(dimension)]


def _shorter(told: ArrayProperties, at: int, start: int, stop: int, *, whole: bool) -> ArrayProperties:
    """Return what is said of a part of an array; `whole`: it is one chunk along the dimension."""
    size = max(min(stop, told.shape[at]) - max(start, 0), 0)
    shape = (*told.shape[:at], size, *told.shape[at + 1 :])
    if whole:
        return replace(told, shape=shape, chunks=tuple(max(side, 1) for side in shape), edges="")
    axes: list[ChunkAxis] = list(told.grid.dimensions)
    if not told.edges:
        return replace(told, shape=shape)
    axes[at] = axes[at].between(max(start, 0), max(start, 0) + size)
    grid = grid_of(axes)
    return replace(told, shape=shape, chunks=grid.largest, edges=json_of(grid.spelling).decode())


def _values(file: ScannedSource, path: str, dimension: str, start: int, stop: int) -> Any:
    told = _told(file, path)
    if told is None or dimension not in told.dimensions:
        return file.values[path]
    index: list[slice] = [slice(None)] * len(told.dimensions)
    index[told.dimensions.index(dimension)] = slice(max(start, 0), stop)
    return file.values[path][tuple(index)]


def _digest(file: ScannedSource, path: str, dimension: str, start: int, stop: int) -> bytes:
    """Return a digest that is the same for the same part of the same values."""
    told = _told(file, path)
    if told is None or dimension not in told.dimensions:
        return file.digests[path]
    return blake2b(file.digests[path] + repr((dimension, start, stop)).encode(), digest_size=16).digest()


def _told(file: ScannedSource, path: str) -> ArrayProperties | None:
    return next((each for each in file.arrays if each.path == path), None)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of an array that stay, by their numbers in it, and their positions in its new grid.

    Where chunks are cut there are other offsets and lengths, and bytes that are held by row.
    """

    rows: Ints
    positions: Ints
    offset: Ints | None = None
    length: Ints | None = None
    held: Mapping[int, bytes] | None = None


def _coords(file: ScannedSource, number: int) -> Ints:
    told = file.arrays[number]
    positions = file.chunks.positions.get(number)
    positions = np.arange(file.chunks.counts[number]) if positions is None else positions
    return coords_of(told.grid.grid_shape, positions)


def _flat(coords: Ints, told: ArrayProperties) -> Ints:
    if not len(coords) or not coords.shape[1]:
        return np.zeros(len(coords), np.int64)
    return np.ravel_multi_index(tuple(coords.T), told.grid.grid_shape).astype(np.int64)


def _rows_between(
    file: ScannedSource, number: int, part: ArrayProperties, at: int, start: int, stop: int
) -> _Rows:
    axis = file.arrays[number].grid.dimensions[at]
    if not part.grid.size:
        return _Rows(np.zeros(0, np.int64), np.zeros(0, np.int64))
    first, last = axis.chunk_of(max(start, 0)), axis.chunk_of(min(stop, axis.size) - 1)
    coords = _coords(file, number)
    rows = np.flatnonzero((coords[:, at] >= first) & (coords[:, at] <= last))
    moved = coords[rows]
    moved[:, at] -= first
    return _Rows(rows, _flat(moved, part))


def _chunks_with(file: ScannedSource, changed: Mapping[int, _Rows]) -> FileChunks:
    """Return the references of a file with other rows of some of its arrays."""
    chunks = file.chunks
    starts = np.concatenate([[0], np.cumsum(chunks.counts)]).astype(np.int64)
    columns: list[tuple[Ints, Ints, Ints]] = []
    counts, positions, inline = [], {}, {}
    total = 0
    for number, count in enumerate(chunks.counts):
        own = changed.get(number)
        rows = starts[number] + (np.arange(count) if own is None else own.rows)
        offset, length = (
            each[rows].astype(np.int64) if said is None else said
            for each, said in (
                (chunks.offset, None if own is None else own.offset),
                (chunks.length, None if own is None else own.length),
            )
        )
        for row in np.flatnonzero(length == HELD).tolist():
            held = None if own is None else own.held
            inline[total + row] = chunks.inline[int(rows[row])] if held is None else held[row]
        if own is None and number in chunks.positions:
            positions[number] = chunks.positions[number]
        elif own is not None:
            positions[number] = own.positions
        columns.append((rows, offset, length))
        counts.append(len(rows))
        total += len(rows)
    rows, offset, length = (np.concatenate(each) for each in zip(*columns, strict=True))
    url = None if chunks.url is None else chunks.url[rows]
    return FileChunks(chunks.urls, tuple(counts), url, smallest(offset), smallest(length), positions, inline)


# Chunks cut smaller: without codecs a run of rows is ranges of bytes one after another


def size_of_rows(told: ArrayProperties, axis: int, rows: int) -> int:
    """Return the bytes of so many rows of a chunk along an axis."""
    return rows * prod(told.chunks[axis + 1 :]) * told.itemsize


def divided_rows(
    told: ArrayProperties, axis: int, rows: int, coords: Ints, offset: Ints, length: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return places, offsets and lengths of chunks divided along an axis, and the row that each is of.

    Of rows that hold their bytes the offset is that in these.
    """
    count, size = told.chunks[axis] // rows, size_of_rows(told, axis, rows)
    inner = np.tile(np.arange(count), len(coords))
    of_row = np.repeat(np.arange(len(coords)), count)
    found = coords[of_row]
    found[:, axis] = found[:, axis] * count + inner
    begin = np.where(length[of_row] == HELD, 0, np.where(length[of_row] == WHOLE, 0, offset[of_row]))
    begin = begin + inner * size
    lengths = np.where(length[of_row] == HELD, HELD, size)
    stay = found[:, axis] * rows < told.shape[axis]
    return found[stay], begin[stay], lengths[stay], of_row[stay]


def why_not_cut(told: ArrayProperties, dimension: str, side: int) -> str:
    """Return why the chunks of an array cannot be cut along a dimension; empty where they can."""
    at = told.dimensions.index(dimension)
    if told.problem:
        return told.problem
    if told.codecs != "[]":
        return "its chunks are compressed"
    if told.order != "C" or not told.itemsize:
        return "its rows do not lie one after another"
    if told.edges:
        return "its chunks have unequal sides"
    if any(each > 1 for each in told.chunks[:at]):
        return f"{dimension} is not the outermost dimension of its chunks"
    if told.chunks[at] % side:
        return f"chunks of {told.chunks[at]} are no multiple of {side}"
    return ""


def with_cut_chunks(file: ScannedSource, cuts: Mapping[int, tuple[str, int]]) -> ScannedSource:
    """Return a file with smaller chunks of some arrays: of each the dimension, and the new side along it."""
    arrays, changed = list(file.arrays), {}
    for number, (dimension, side) in cuts.items():
        told = file.arrays[number]
        at = told.dimensions.index(dimension)
        begin = sum(file.chunks.counts[:number])
        end = begin + file.chunks.counts[number]
        offset, length = (
            each[begin:end].astype(np.int64) for each in (file.chunks.offset, file.chunks.length)
        )
        coords, offset, length, of_row = divided_rows(told, at, side, _coords(file, number), offset, length)
        size = size_of_rows(told, at, side)
        held = {
            row: file.chunks.inline[begin + int(of_row[row])][int(offset[row]) : int(offset[row]) + size]
            for row in np.flatnonzero(length == HELD).tolist()
        }
        arrays[number] = replace(told, chunks=(*told.chunks[:at], side, *told.chunks[at + 1 :]))
        changed[number] = _Rows(of_row, _flat(coords, arrays[number]), offset, length, held)
    return replace(file, arrays=tuple(arrays), chunks=_chunks_with(file, changed))
