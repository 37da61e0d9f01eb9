"""How long a search over rows may go on: until it is cancelled, or its time is over."""

from __future__ import annotations

import time
from collections.abc import Callable

from refbrowser.limits import LIMITS


def _never() -> bool:
    return False


class SearchTime:
    """The time of a search, which may be shared by the searches of many rules.

    Parameters
    ----------
    cancelled
        Asked now and then; what it ends is not remembered.
    seconds
        The limit `search_time` when None.
    """

    def __init__(self, cancelled: Callable[[], bool] = _never, seconds: float | None = None) -> None:
        self.cancelled = cancelled
        self._until = time.monotonic() + (LIMITS.search_time if seconds is None else seconds)

    @property
    def is_over(self) -> bool:
        """Whether the search has to end."""
        return self.cancelled() or time.monotonic() >= self._until
