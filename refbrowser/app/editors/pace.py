"""Long work in Python beside a window: a little at a time, so that typing always comes first."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from refbrowser.references.rules.rule_search import SearchTime

#: Seconds of work between two rests, and of each rest.
WORK, REST = 0.002, 0.003
#: Evaluation steps that are spent at once, without a rest.
_STEPS_AT_ONCE = 4_000


class Pace:
    """To be called often by work on a worker thread; it rests every `WORK` seconds, and ends when cancelled.

    Python runs one thread at a time: a busy worker makes the window wait at each step of its painting.

    Parameters
    ----------
    check
        Raises when the work is cancelled.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._stop = time.perf_counter() + WORK

    def __call__(self) -> None:
        if time.perf_counter() < self._stop:
            return
        self._check()
        time.sleep(REST)
        self._stop = time.perf_counter() + WORK

    def search_time(self) -> SearchTime:
        """Return the time of a search that keeps the pace: as much work as beside no window, with rests."""
        # numpy comes with it.
        from refbrowser.references.rules.rule_search import SearchTime

        def rest() -> bool:
            self()
            return False

        return SearchTime(rest, LIMITS.search_time * (WORK + REST) / WORK, _STEPS_AT_ONCE)
