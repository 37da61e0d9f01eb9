"""Garbage collection put off while a great many objects are made that stay."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects that were made meanwhile, from which on it matters that they are not looked through: asking what is
#: frozen takes a while for each object that is.
_MANY = 20_000
#: Seconds for which collections are put off where such blocks overlap: they might do so all the time.
_LONGEST = 10.0
_lock = threading.Lock()
_holders = 0
_was_enabled = False
_since = 0.0


@contextmanager
def collected_later() -> Iterator[None]:
    """Put collections off in this process until the block ends, on all threads that are in such a block.

    The collector would look through what is being made again and again: a fourth of the time of opening a
    store of 10,000 arrays. At the end all that there is counts as old, where it is much, and is not looked
    through at once.
    """
    global _holders, _was_enabled, _since
    with _lock:
        if not _holders:
            _was_enabled = gc.isenabled()
            gc.disable()
            _since = time.monotonic()
        elif _was_enabled and time.monotonic() - _since > _LONGEST:
            gc.enable()
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders and _was_enabled:
                if gc.get_count()[0] > _MANY and not gc.get_freeze_count():
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
