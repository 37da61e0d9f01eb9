"""The stored bytes of whole chunks that become messages undecoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.columns import placed, taken
from refbrowser.engine.wanted import too_long, without_large
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.confirming import StoredUnits
from refbrowser.exporting.ncstream.geometry import Box
from refbrowser.exporting.ncstream.plan import VariablePlan
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.exporting.ncstream.writing import StreamRun

#: Chunks whose references are looked at together.
PAGE = 65_536


@dataclass(frozen=True, slots=True)
class CopiedTile:
    """One chunk of the source.

    Attributes
    ----------
    box
        Its elements, cut at the array's edge.
    data
        Its stored bytes, or why they could not be had; None where it is missing, or `is_cut`.
    is_cut
        It reaches over the edge: a message holds less than it does.
    """

    box: Box
    data: bytes | RefbrowserError | None
    is_cut: bool = False


def copied_tiles(run: StreamRun, plan: VariablePlan, most: int) -> Iterator[CopiedTile]:
    """Yield the chunks of an array in C order; at most `most` stored bytes are held, or one chunk."""
    node = plan.source
    grid, manifest = node.grid, node.manifest
    assert grid is not None
    assert manifest is not None
    units = StoredUnits(node, CodecPipeline.for_array(node), run.access)
    decoded = prod(grid.chunk_shape) * (node.dtype.itemsize if node.dtype is not None else 1)
    for start in range(0, grid.size, PAGE):
        numbers = np.arange(start, min(start + PAGE, grid.size))
        coords = _coords(numbers, grid.grid_shape)
        columns = manifest.columns(coords)
        cut = np.array([grid.extent(tuple(at)) != grid.chunk_shape for at in coords.tolist()], bool)
        sizes = np.where(columns.kind == ReferenceKind.RANGE, columns.length, decoded)
        sizes = np.where((columns.kind == ReferenceKind.MISSING) | cut, 0, sizes)
        for first, stop in _batches(sizes, most):
            rows = np.arange(first, stop)
            for row, data in zip(
                rows.tolist(), _fetched(run, units, columns, coords, rows, cut), strict=True
            ):
                at = tuple(coords[row].tolist())
                origin, extent = grid.origin(at), grid.extent(at)
                box = tuple(slice(low, low + side) for low, side in zip(origin, extent, strict=True))
                yield CopiedTile(box, data, bool(cut[row]))


def _fetched(
    run: StreamRun,
    units: StoredUnits,
    columns: ReferenceColumns,
    coords: np.ndarray,
    rows: np.ndarray,
    cut: np.ndarray,
) -> list[bytes | RefbrowserError | None]:
    """Return the stored bytes of rows, confirmed; None of those that are missing or cut."""
    found: list[bytes | RefbrowserError | None] = [None] * len(rows)
    wanted = np.flatnonzero(~cut[rows] & (columns.kind[rows] != ReferenceKind.MISSING))
    if not len(wanted):
        return found
    pipeline, manifest = units.pipeline, units.node.manifest
    assert manifest is not None
    answers = run.session.fetch_all(
        without_large(taken(columns, rows[wanted]), pipeline),
        run.access,
        token=run.token,
        export=True,
        size_limit=pipeline.stored_most,
    )

    def key(row: int) -> str:
        return manifest.key(tuple(coords[row].tolist()))

    def confirm(place: int, data: bytes) -> None:
        row = int(rows[place])
        found[place] = units.error(columns, row, key(row), data) or data

    queue = run.session.pool.queue(run.token)
    for place, answer in zip(wanted.tolist(), answers, strict=True):
        gone = isinstance(answer, RefbrowserError) and run.access.is_missing(answer)
        if isinstance(answer, RefbrowserError):
            row = int(rows[place])
            error = too_long(pipeline, answer)
            error = error if error.place else placed(error, columns, row, key(row), units.node.path)
            found[place] = None if gone else error
        else:
            run.tally.read_bytes += len(answer)
            queue.put(partial(confirm, place, answer), units.decoded_size)
    queue.join()
    run.tally.requests += len(wanted)
    return found


def _batches(sizes: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows of at most so many bytes, of one row at least."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, before + most, "right")))
        yield first, stop
        first = stop


def _coords(numbers: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if not shape:
        return np.zeros((len(numbers), 0), np.int64)
    return np.stack(np.unravel_index(numbers, shape), axis=1).astype(np.int64)
