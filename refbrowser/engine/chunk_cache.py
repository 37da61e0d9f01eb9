"""Decoded chunks that were read before, kept up to a number of bytes; the longest unused goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS


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
