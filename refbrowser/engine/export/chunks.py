"""The tasks of an export: each makes some chunks of one array, by copying their bytes or encoding anew."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.export.layout import ArrayLayout
from refbrowser.engine.export.request import Tally
from refbrowser.engine.fetching import fetch_rows
from refbrowser.engine.part_table import ListedParts
from refbrowser.engine.pieces import Piece, PieceState, ReadOptions
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.grid import ChunkPart
from refbrowser.model.reference import ReferenceKind

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access import Access

#: Bytes and chunks of one task.
COPIED_BYTES = 16 * 1024 * 1024
ENCODED_BYTES = 8 * 1024 * 1024
TASK_CHUNKS = 4096


@dataclass(frozen=True, slots=True)
class ExportTask:
    """Some chunks of one array: plain data, so that it may be carried out anywhere.

    Attributes
    ----------
    array
        Path of the array in the source.
    start, stop
        Chunks of the target, counted in C order.
    """

    array: str
    start: int
    stop: int


class Sink(Protocol):
    """What the chunks of an export go to."""

    def has(self, key: str) -> bool:
        """Tell whether a chunk is there already."""
        ...

    def put(
        self, layout: ArrayLayout, key: str, data: bytes | memoryview, values: npt.NDArray[Any] | None
    ) -> None:
        """Take a chunk: its bytes, and its elements where they were encoded anew."""
        ...


def tasks_of(layout: ArrayLayout) -> Iterator[ExportTask]:
    """Yield the tasks of one array."""
    size = max(1, prod(layout.grid.chunk_shape) * _itemsize(layout))
    most = COPIED_BYTES if layout.copies else ENCODED_BYTES
    step = max(1, min(TASK_CHUNKS, most // size))
    for start in range(0, layout.grid.size, step):
        yield ExportTask(layout.source.path, start, min(start + step, layout.grid.size))


def _itemsize(layout: ArrayLayout) -> int:
    return layout.source.dtype.itemsize if layout.source.dtype is not None else 1


def coords_between(layout: ArrayLayout, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the coordinates of the target's chunks from `start` to `stop` in C order."""
    shape = layout.grid.grid_shape
    if not shape:
        return np.zeros((stop - start, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1).astype(np.int64)


def values_digest(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> str:
    """Return the SHA-256 of elements as the target holds them: C order, its type."""
    cast = np.ascontiguousarray(values.astype(dtype, copy=False))
    if cast.dtype.hasobject:
        texts = json.dumps([value.hex() if isinstance(value, bytes) else value for value in cast.reshape(-1)])
        return hashlib.sha256(texts.encode()).hexdigest()
    return hashlib.sha256(cast.reshape(-1).view(np.uint8).data).hexdigest()


class TaskRunner:
    """Carries out tasks; used by several threads at once."""

    def __init__(
        self,
        session: Session,
        access: Access,
        layouts: dict[str, ArrayLayout],
        sink: Sink,
        tally: Tally,
        token: CancelToken,
        *,
        skip_bad: bool,
    ) -> None:
        self.session = session
        self.access = access
        self.layouts = layouts
        self.sink = sink
        self.tally = tally
        self.token = token
        self.skip_bad = skip_bad
        self._lock = threading.Lock()
        self._pipelines = {
            path: CodecPipeline.for_array(layout.target)
            for path, layout in layouts.items()
            if layout.target.unreadable is None
        }

    def run(self, task: ExportTask) -> None:
        """Make the chunks of a task.

        Raises
        ------
        RefbrowserError
            A chunk cannot be read or written.
        Cancelled
            The export was cancelled.
        """
        self.token.check()
        layout = self.layouts[task.array]
        coords = coords_between(layout, task.start, task.stop)
        keys = [layout.key(tuple(row)) for row in coords.tolist()]
        open_rows = [row for row, key in enumerate(keys) if not self.sink.has(key)]
        with self._lock:
            self.tally.resumed += len(keys) - len(open_rows)
        if not open_rows:
            return
        if layout.copies:
            self._copy(layout, coords[open_rows], [keys[row] for row in open_rows])
        else:
            self._encode(layout, coords[open_rows], [keys[row] for row in open_rows])

    # Copying

    def _copy(self, layout: ArrayLayout, coords: npt.NDArray[np.int64], keys: list[str]) -> None:
        manifest = layout.source.manifest
        assert manifest is not None
        source_coords = layout.source_coords(coords)
        columns = manifest.columns(source_coords)
        queue = self.session.pool.queue(self.token)

        def deliver(row: int, data: bytes | memoryview | RefbrowserError) -> None:
            if isinstance(data, RefbrowserError):
                self._bad(data)
                return
            queue.put(lambda: self._put(layout, keys[row], data, None), len(data))

        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            self._bad(columns.faults[row])
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            deliver(row, columns.inline[row])
        counters = fetch_rows(
            self.session.fetcher,
            columns,
            self.access,
            deliver,
            cancel=self.token,
            key=lambda row: manifest.key(tuple(source_coords[row].tolist())),
            export=True,
        )
        queue.join()
        with self._lock:
            self.tally.missing += int(np.count_nonzero(columns.kind == ReferenceKind.MISSING))
            self.tally.read_bytes += counters.bytes
            self.tally.requests += counters.requests

    # Encoding

    def _encode(self, layout: ArrayLayout, coords: npt.NDArray[np.int64], keys: list[str]) -> None:
        source = layout.source
        assert source.dtype is not None
        assert source.grid is not None
        sides = _sides(layout)
        fill = filled((), source.dtype, source.fill_value)[()]
        box = np.full((len(keys), *sides), fill, source.dtype)
        parts = [
            ChunkPart(part.coords, part.inside, (row, *part.target), part.whole)  # type: ignore[arg-type]
            for row, at in enumerate(coords.tolist())
            for part in source.grid.parts(layout.source_part(tuple(at)))
        ]
        states = _States(len(keys))
        reader = self.session.read_parts(
            source,
            self.access,
            [ListedParts(parts)],
            box,
            ReadOptions(on_piece=states.note, token=self.token, export=True),
            total=len(parts),
        )
        with self._lock:
            self.tally.read_bytes += reader.read_bytes
            self.tally.requests += reader.requests
        queue = self.session.pool.queue(self.token)
        for row, key in enumerate(keys):
            if (error := states.errors.get(row)) is not None:
                self._bad(error)
            elif not states.stored[row]:
                with self._lock:
                    self.tally.missing += 1
            else:
                chunk = box[row].reshape(layout.grid.chunk_shape)
                queue.put(partial(self._put_encoded, layout, key, chunk), chunk.nbytes)
        queue.join()

    def _put_encoded(self, layout: ArrayLayout, key: str, chunk: npt.NDArray[Any]) -> None:
        self._put(layout, key, self._pipelines[layout.source.path].encode(chunk), chunk)

    def _put(
        self,
        layout: ArrayLayout,
        key: str,
        data: bytes | memoryview,
        values: npt.NDArray[Any] | None,
    ) -> None:
        self.sink.put(layout, key, data, values)
        with self._lock:
            self.tally.chunks += 1
            self.tally.copied += values is None
            self.tally.written_bytes += len(data)

    def _bad(self, error: RefbrowserError) -> None:
        if not self.skip_bad:
            raise error
        with self._lock:
            self.tally.skipped.append(error)


class _States:
    """What became of the parts of each chunk of a task."""

    def __init__(self, count: int) -> None:
        self.stored = [False] * count
        self.errors: dict[int, RefbrowserError] = {}

    def note(self, piece: Piece) -> None:
        row: Any = piece.part.target[0]
        if piece.state is PieceState.DONE:
            self.stored[row] = True
        elif piece.state is PieceState.FAILED and piece.error is not None:
            self.errors.setdefault(row, piece.error)


def _sides(layout: ArrayLayout) -> tuple[int, ...]:
    """Return the shape of the target's chunk with all axes of the source."""
    sides = [1] * len(layout.source.shape)
    for axis, side in zip(layout.kept_axes, layout.grid.chunk_shape, strict=True):
        sides[axis] = side
    return tuple(sides)
