"""Cancellation: one token per task reaches its queue, its sockets and its decoders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancelled(Exception):  # noqa: N818 - an outcome, not an error
    """The task was cancelled by the user or replaced by a newer one."""


class CancelToken:
    """Tells a task to stop; may be cancelled from any thread, once and for all.

    What is given a token, or a control that has one, raises `Cancelled` once that was cancelled. Functions
    say so only where there is more to say.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Cancel; each callback runs once, in this thread."""
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = list(self._callbacks.values()), {}
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise `Cancelled` if the token was cancelled."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep up to `seconds`; return True at once when cancelled."""
        return self._event.wait(seconds)

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on cancellation (now, if that was before); return a function that forgets it.

        The callback may run in any thread and must neither block nor raise.
        """
        with self._lock:
            if not self._event.is_set():
                number = self._next
                self._next += 1
                self._callbacks[number] = callback
                return lambda: self._forget(number)
        callback()
        return lambda: None

    def _forget(self, number: int) -> None:
        with self._lock:
            self._callbacks.pop(number, None)


@contextmanager
def linked(token: CancelToken) -> Iterator[CancelToken]:
    """Yield a token that is cancelled with another one, and may be cancelled without it."""
    own = CancelToken()
    forget = token.on_cancel(own.cancel)
    try:
        yield own
    finally:
        forget()
