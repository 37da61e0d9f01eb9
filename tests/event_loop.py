"""Whether the event loop of a window is ever held."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer

#: Longest gap in seconds that a test accepts; the design's 100 ms, with room for a machine that is shared.
GAP = 0.35


class GapGuard:
    """Records how late a timer of 5 ms comes in the GUI thread."""

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.append(now - self._last)
        self._last = now

    def worst(self) -> float:
        return max(self.gaps, default=0.0)
