"""Notices that files were changed by others: a look at each now and then, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from refbrowser.io.atomic import identity_on_disk
from refbrowser.io.identity import FileIdentity

#: Seconds between two looks.
INTERVAL = 1.0
#: Seconds that the end waits for a look that is under way: a network disk may hang.
CLOSING = 0.5


@dataclass(slots=True)
class _Watched:
    path: str
    expected: FileIdentity | None
    seen: FileIdentity | None
    told: bool = False


class FileWatcher:
    """Looks at files by name, so that replaced ones are noticed too. Safe to use from any thread.

    A file counts as changed when two looks in a row find the same other state: nobody is writing it any more.

    Parameters
    ----------
    changed
        Called in the watcher's thread, once for each state, with the file's number and its new identity, None
        where it is gone.
    """

    def __init__(
        self, changed: Callable[[int, FileIdentity | None], object], interval: float = INTERVAL
    ) -> None:
        self._changed = changed
        self._interval = interval
        self._lock = threading.Lock()
        self._files: dict[int, _Watched] = {}
        self._wake = threading.Event()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def watch(self, number: int, path: str, expected: FileIdentity) -> None:
        """Watch a file under a number of the caller's; `expected` is the state that is no news."""
        with self._lock:
            self._files[number] = _Watched(path, expected, expected)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()

    def forget(self, number: int) -> None:
        """Watch a file no more."""
        with self._lock:
            self._files.pop(number, None)

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(CLOSING)

    def _run(self) -> None:
        while not self._wake.wait(self._interval):
            with self._lock:
                files = list(self._files.items())
            for number, file in files:
                self._look(number, file)

    def _look(self, number: int, file: _Watched) -> None:
        found = identity_on_disk(file.path)
        with self._lock:
            if self._files.get(number) is not file:
                return
            is_settled = found == file.seen
            if not is_settled:
                file.seen, file.told = found, False
            news = is_settled and found != file.expected and not file.told
            file.told = file.told or news
        if news:
            self._changed(number, found)
