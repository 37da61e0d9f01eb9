"""What all reads share: one fetcher, one decode pool, one cache of decoded chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.chunk_cache import ChunkCache
from refbrowser.engine.decoding import DecodePool
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Missing,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)

if TYPE_CHECKING:
    from refbrowser.io.access import Access


class Resources:
    """Fetcher, decode pool and cache; may be used from any thread.

    Parameters
    ----------
    fetcher
        Reads bytes; one of its own when None.
    threads
        Of the decode pool; as many as there are processors when None.
    cache
        Bytes of decoded chunks that are kept; the limit `cache` when None.
    """

    def __init__(
        self, fetcher: Fetcher | None = None, *, threads: int | None = None, cache: int | None = None
    ) -> None:
        self.fetcher = fetcher if fetcher is not None else Fetcher()
        self.pool = DecodePool(threads)
        self.cache = ChunkCache() if cache is None else ChunkCache(cache)

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
