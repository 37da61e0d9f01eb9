"""What all reads share: one fetcher, one decode pool, one cache of decoded chunks."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.reference import Inline, Reference, ReferenceColumns, ReferenceKind, columns_of

if TYPE_CHECKING:
    from refbrowser.engine.reading.chunk_log import ChunkLog
    from refbrowser.engine.reading.decoding import DecodePool
    from refbrowser.io.access.access import Access
    from refbrowser.io.fetching.fetch import Fetcher


class ChunkCache:
    """A least-recently-used cache of read-only arrays; safe to use from any thread.

    Parameters
    ----------
    capacity
        Bytes kept at most. An array larger than a quarter of it is not kept, it would push out everything;
        nor are Python objects, whose size is not known.
    """

    def __init__(self, capacity: int = LIMITS.cache) -> None:
        self.capacity = capacity
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, npt.NDArray[np.generic]] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes held now."""
        return self._size

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> npt.NDArray[np.generic] | None:
        """Return the array kept under `key`, or None."""
        with self._lock:
            array = self._entries.get(key)
            if array is not None:
                self._entries.move_to_end(key)
            return array

    def put(self, key: Hashable, array: npt.NDArray[np.generic]) -> None:
        """Keep `array`, which nobody may write to any more."""
        if array.dtype.hasobject or array.nbytes > self.capacity // 4:
            return
        array.flags.writeable = False
        with self._lock:
            old = self._entries.pop(key, None)
            self._size += array.nbytes - (0 if old is None else old.nbytes)
            self._entries[key] = array
            self._drop_oldest()

    def set_capacity(self, capacity: int) -> None:
        """Keep at most so many bytes from now on."""
        with self._lock:
            self.capacity = capacity
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._size > self.capacity:
            _, dropped = self._entries.popitem(last=False)
            self._size -= dropped.nbytes

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._size = 0


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
        if fetcher is not None:
            self.fetcher = fetcher
        self._threads = threads
        self._making = threading.Lock()
        self._pool: DecodePool | None = None
        self._chunk_log: ChunkLog | None = None
        self.cache = ChunkCache() if cache is None else ChunkCache(cache)
        self.is_closed = False
        #: Why no other process can open again what is read with it; empty where others can.
        self.only_here = ""

    @property
    def pool(self) -> DecodePool:
        """What decodes; made when it is first needed."""
        from refbrowser.engine.reading.decoding import DecodePool

        with self._making:
            if self._pool is None:
                self._pool = DecodePool(self._threads)
            return self._pool

    @pool.setter
    def pool(self, pool: DecodePool) -> None:
        self._pool = pool

    @property
    def chunk_log(self) -> ChunkLog:
        """What becomes of chunks that are read."""
        from refbrowser.engine.reading.chunk_log import ChunkLog

        with self._making:
            if self._chunk_log is None:
                self._chunk_log = ChunkLog()
            return self._chunk_log

    @cached_property
    def fetcher(self) -> Fetcher:
        """What reads bytes; what describes a dataset reads none."""
        from refbrowser.io.fetching.fetch import Fetcher

        return Fetcher()

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
        """
        from refbrowser.engine.reading.fetching import fetch_rows  # What describes a dataset fetches nothing.

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
        self.is_closed = True
        if "fetcher" in vars(self):
            self.fetcher.close()
        with self._making:
            pool = self._pool
        if pool is not None:
            pool.close()
        self.cache.clear()


def _too_much(limit: int, key: str | None) -> RefbrowserError:
    message = f"more than {limit} bytes would be held at once"
    return RefbrowserError(ErrorKind.BUDGET, message, Place(key=key))
