"""What reads for all opened documents: one fetcher, one decode pool, one cache of decoded chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.chunk_cache import ChunkCache
from refbrowser.engine.decoding import DecodePool
from refbrowser.engine.read import Piece, Progress, Reader, ReadOptions
from refbrowser.engine.read_plan import ReadPlan, plan_selection
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Missing,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.io.access import Access

#: A read of more than this share of the cache's bytes goes past the cache: it would push out the rest.
CACHE_SHARE = 8


class Session:
    """Fetcher, decode pool and cache; may be used from any thread and by many datasets.

    Parameters
    ----------
    fetcher
        Reads bytes; one of its own when None.
    threads
        Of the decode pool; as many as there are processors when None.
    cache
        Bytes of decoded chunks that are kept.
    """

    def __init__(
        self, fetcher: Fetcher | None = None, *, threads: int | None = None, cache: int | None = None
    ) -> None:
        self.fetcher = fetcher if fetcher is not None else Fetcher()
        self.pool = DecodePool(threads)
        self.cache = ChunkCache() if cache is None else ChunkCache(cache)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(
        self,
        node: ArrayNode,
        access: Access,
        selection: Selection,
        *,
        out: npt.NDArray[Any] | None = None,
        on_piece: Callable[[Piece], None] | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
        export: bool = False,
        priority: int = 0,
    ) -> npt.NDArray[Any]:
        """Read a selection of an array; returns when every chunk has ended.

        Parameters
        ----------
        out
            Where the values go: shape of the selection, any type that the array's type casts to. A new array
            when None.
        on_piece
            Called for each chunk once its values are in `out` (or it has failed), on worker threads; the
            regions of different chunks are disjoint. Failed chunks are then told, and not raised.
        cancel
            Ends the read within 200 ms.
        progress
            Called as `progress(done, total, read_bytes=..., requests=...)`, in chunks.
        export
            Try failing requests longer, and keep nothing in the cache.
        priority
            Lower goes first.

        Raises
        ------
        RefbrowserError
            The array is not readable; or, without `on_piece`, a chunk failed: it names key, URL, range and
            cause.
        Cancelled
            `cancel` was cancelled.
        """
        grid = readable_grid(node)
        if out is None:
            out = np.empty(selection.shape, node.dtype)
        elif out.shape != selection.shape:
            raise ValueError(f"an output of shape {out.shape} where {selection.shape} is expected")
        options = ReadOptions(on_piece, cancel, progress, export, priority)
        self.read_parts(
            node, access, grid.parts(selection), selection.box(out), options, total=grid.count(selection)
        )
        return out

    def read_parts(
        self,
        node: ArrayNode,
        access: Access,
        parts: Iterable[ChunkPart],
        box: npt.NDArray[Any],
        options: ReadOptions,
        *,
        total: int,
    ) -> Reader:
        """Read chosen parts of chunks into `box`, each at its target; returns what was read and how much."""
        grid = readable_grid(node)
        chunk_size = int(np.prod(grid.chunk_shape, dtype=object)) * box.dtype.itemsize
        keep = (
            not options.export
            and min(total * chunk_size, box.nbytes * 4) <= self.cache.capacity // CACHE_SHARE
        )
        reader = Reader(self, node, access, box, options, total=total, keep=keep)
        if total:
            reader.read(iter(parts))
        reader.tell()
        return reader

    def plan(self, node: ArrayNode, access: Access, selection: Selection) -> ReadPlan:
        """Return the requests that reading a selection needs; nothing is read.

        Raises
        ------
        RefbrowserError
            The array is not readable.
        """
        return plan_selection(self.fetcher, node, access, selection)

    def fetch_all(
        self,
        columns: ReferenceColumns,
        access: Access,
        *,
        token: CancelToken | None = None,
        export: bool = False,
        key: Callable[[int], str] | None = None,
        priority: int = 0,
    ) -> list[bytes | RefbrowserError]:
        """Return the stored bytes of each row, or why they could not be had; empty for missing rows.

        Raises
        ------
        Cancelled
            `token` was cancelled.
        """
        answers: list[bytes | RefbrowserError] = [b""] * len(columns)
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            answers[row] = columns.inline[row]
        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            answers[row] = columns.faults[row]

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            answers[row] = data if isinstance(data, RefbrowserError) else bytes(data)

        self.fetcher.fetch(
            self.fetcher.plan(columns, access),
            access,
            deliver,
            cancel=token,
            key=key,
            export=export,
            priority=priority,
        )
        return answers

    def read_reference(
        self, key: str, reference: Reference, access: Access, token: CancelToken | None = None
    ) -> bytes:
        """Return the stored bytes of one reference.

        Raises
        ------
        RefbrowserError
            They could not be had; it names `key`.
        """
        if isinstance(reference, Inline):
            return reference.data
        answer = self.fetch_all(columns_of([reference]), access, token=token, key=lambda row: key)[0]
        if isinstance(answer, RefbrowserError):
            raise answer
        return answer

    def close(self) -> None:
        """Close connections and threads; forget what was cached."""
        self.fetcher.close()
        self.pool.close()
        self.cache.clear()


def readable_grid(node: ArrayNode) -> Any:
    """Return the chunk grid of a readable array.

    Raises
    ------
    RefbrowserError
        Why it is not readable.
    """
    for error in (node.error, node.unreadable):
        if error is not None:
            raise error
    if node.grid is None or node.manifest is None or node.dtype is None:
        raise RefbrowserError(ErrorKind.META, "the array has no chunks", Place(path=node.path))
    return node.grid


def columns_of(references: Iterable[Reference]) -> ReferenceColumns:
    """Return references as columns."""
    urls: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    inline: dict[int, bytes] = {}
    for row, reference in enumerate(references):
        if isinstance(reference, Inline):
            inline[row] = reference.data
            rows.append((ReferenceKind.INLINE, -1, -1, len(reference.data)))
        elif isinstance(reference, ByteRange):
            number = urls.setdefault(reference.url, len(urls))
            rows.append((ReferenceKind.RANGE, number, reference.offset, reference.length))
        elif isinstance(reference, WholeFile):
            rows.append((ReferenceKind.WHOLE, urls.setdefault(reference.url, len(urls)), 0, -1))
        else:
            assert isinstance(reference, Missing)
            rows.append((ReferenceKind.MISSING, -1, -1, -1))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return ReferenceColumns(
        table[:, 0].astype(np.uint8),
        table[:, 1].astype(np.int32),
        table[:, 2].copy(),
        table[:, 3].copy(),
        tuple(urls),
        inline,
    )
