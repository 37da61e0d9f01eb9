"""What all reads share: one fetcher, one decode pool, one cache of decoded chunks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.chunk_cache import ChunkCache
from refbrowser.engine.chunk_log import ChunkLog
from refbrowser.engine.columns import columns_of
from refbrowser.engine.decoding import DecodePool
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.limits import LIMITS
from refbrowser.model.reference import Inline, Reference, ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.io.access import Access

#: A thread that waits for the interpreter gets it after this long, in seconds. With Python's own 5 ms the
#: thread that receives falls behind those that decode, and small requests take two to four times as long.
SWITCH_INTERVAL = 0.001


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
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        self.fetcher = fetcher if fetcher is not None else Fetcher()
        self.pool = DecodePool(threads)
        self.chunk_log = ChunkLog()
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
        size_limit: int = LIMITS.chunk_size,
        total_limit: int = LIMITS.decoding_memory,
    ) -> list[bytes | RefbrowserError]:
        """Return the stored bytes of each row, or why they could not be had; empty for missing rows.

        Parameters
        ----------
        size_limit, total_limit
            Bytes of one row, and of all rows together; rows beyond have E_BUDGET.

        Raises
        ------
        Cancelled
            `token` was cancelled.
        """
        from refbrowser.engine.fetching import fetch_rows  # What describes a dataset fetches nothing.

        answers: list[bytes | RefbrowserError] = [b""] * len(columns)
        for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
            answers[row] = columns.inline[row]
        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            answers[row] = columns.faults[row]

        left = total_limit

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            nonlocal left
            if isinstance(data, RefbrowserError):
                answers[row] = data
                return
            left -= len(data)
            answers[row] = (
                bytes(data) if left >= 0 else _too_much(total_limit, None if key is None else key(row))
            )

        fetch_rows(
            self.fetcher,
            columns,
            access,
            deliver,
            cancel=token,
            key=key,
            export=export,
            priority=priority,
            size_limit=size_limit,
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


def _too_much(limit: int, key: str | None) -> RefbrowserError:
    message = f"more than {limit} bytes would be held at once"
    return RefbrowserError(ErrorKind.BUDGET, message, Place(key=key))
