"""Having a large file written to the disk while it is made, so that the end need not wait for it."""

from __future__ import annotations

import contextlib
import os
import threading

#: Bytes after which the disk is asked to write.
PORTION = 32 * 1024 * 1024


class Flushing:
    """A thread that writes a file to the disk whenever some of it has come; to be used in a ``with`` block.

    What goes wrong there is not told: whoever makes the file safe at the end is told the same.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = 0
        self._ends = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="flushing", daemon=True)

    def __enter__(self) -> Flushing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._thread.join()

    def written(self, size: int) -> None:
        """Note that bytes were written to the file."""
        with self._changed:
            self._waiting += size
            if self._waiting >= PORTION:
                self._changed.notify()

    def _run(self) -> None:
        sync = getattr(os, "fdatasync", os.fsync)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ends or self._waiting >= PORTION)
                if self._ends:
                    return
                self._waiting = 0
            with contextlib.suppress(OSError):
                sync(self._descriptor)
