"""A progress bar on standard error, when that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

#: Nothing is drawn before the work has taken this long, in seconds.
PATIENCE = 0.2
INTERVAL = 0.1
WIDTH = 30


class ProgressBar:
    """Draws the progress that a job tells; silent where standard error is not a terminal."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._shown = False
        self._start = self._last = time.monotonic()
        self._values: dict[str, Any] = {}

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def update(self, changes: dict[str, Any]) -> None:
        """Take changes of a `JobStatus` (``done``, ``total``, ``read_bytes``, ``note``...)."""
        if not sys.stderr.isatty():
            return
        self._values |= changes
        now = time.monotonic()
        if now - self._start < PATIENCE or now - self._last < INTERVAL:
            return
        self._last = now
        self._shown = True
        sys.stderr.write("\r\x1b[K" + self._line())
        sys.stderr.flush()

    def _line(self) -> str:
        done, total = self._values.get("done", 0), self._values.get("total")
        read = f"  {size_text(self._values['read_bytes'])}" if self._values.get("read_bytes") else ""
        note = f"  {self._values['note']}" if self._values.get("note") else ""
        if not total:
            return f"{self.title}  {done}{read}{note}"
        filled = min(WIDTH, WIDTH * done // total)
        bar = "#" * filled + "-" * (WIDTH - filled)
        return f"{self.title} [{bar}] {100 * done // total:3d} %{read}{note}"


def size_text(count: float) -> str:
    """Return a number of bytes for people: ``3.2 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError
