"""What was summed up of long index arrays: every so many positions, so that any row is found from there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy.typing as npt

from refbrowser.limits import LIMITS


class Marks:
    """Arrays of positions by layout, kept up to a number of bytes; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[object, tuple[npt.NDArray[Any], ...]]] = OrderedDict()
        self._size = 0

    def get(self, layout: object) -> tuple[npt.NDArray[Any], ...] | None:
        """Return what is kept of a layout."""
        with self._lock:
            found = self._kept.get(id(layout))
            if found is None:
                return None
            self._kept.move_to_end(id(layout))
            return found[1]

    def put(self, layout: object, arrays: tuple[npt.NDArray[Any], ...]) -> None:
        """Keep arrays of a layout; those that were not used for the longest time are dropped."""
        size = sum(array.nbytes for array in arrays)
        with self._lock:
            if size > LIMITS.awkward_marks or id(layout) in self._kept:
                return
            # The layout is held, too: another one must not get its number.
            self._kept[id(layout)] = layout, arrays
            self._size += size
            while self._size > LIMITS.awkward_marks:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._size -= sum(array.nbytes for array in dropped)
