"""The pool in which chunks are decoded: bounded in memory, fair between reads, cancelled between chunks."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: A worker decodes for one read at most this long before it looks after the others, in seconds.
TURN = 0.01
#: After small work so many times, and so many seconds of it, a worker rests for so many seconds.
_TIMES, _WORK, _REST = 8, 0.001, 0.0002


class Rests:
    """Short rests of one worker thread that does little at a time, so that the window's thread can run.

    A decoder lets go of the interpreter while it works. Where that takes but microseconds, the worker has it
    back before a thread that waits for it wakes up; and because it was let go of, Python does not ask for it
    to be handed over either: the window stood still for half a second while 20,000 chunks came. In a rest it
    gets its turn. Long work leaves it time enough, and is not slowed down.
    """

    def __init__(self) -> None:
        self._is_worker = threading.current_thread() is not threading.main_thread()
        self._times = 0
        self._since = time.monotonic()

    def after_work(self) -> None:
        """Note that some work is done; rest when it is time."""
        self._times += 1
        if self._times < _TIMES or time.monotonic() - self._since < _WORK:
            return
        if self._is_worker:
            time.sleep(_REST)
        self._times, self._since = 0, time.monotonic()


class MemoryBudget:
    """Bytes that may be in flight; whoever wants more waits."""

    def __init__(self, total: int = LIMITS.decoding_memory) -> None:
        self.total = total
        self._changed = threading.Condition()
        self._used = 0

    @property
    def used(self) -> int:
        """Bytes in flight now."""
        return self._used

    def acquire(self, size: int, token: CancelToken) -> None:
        """Wait until `size` bytes fit; something larger than all of it is let in alone.

        Raises
        ------
        Cancelled
            `token` was cancelled meanwhile.
        """
        with self._changed:
            if not self._fits(size):
                forget = token.on_cancel(self._wake)
                try:
                    while not self._fits(size):
                        token.check()
                        self._changed.wait(0.1)
                finally:
                    forget()
            self._used += size

    def release(self, size: int) -> None:
        """Give back `size` bytes."""
        with self._changed:
            self._used -= size
            self._changed.notify_all()

    def _fits(self, size: int) -> bool:
        return not self._used or self._used + size <= self.total

    def _wake(self) -> None:
        # The token may be cancelled by the thread that holds the condition; the wait above has a time limit.
        if self._changed.acquire(blocking=False):
            try:
                self._changed.notify_all()
            finally:
                self._changed.release()


class DecodePool:
    """Threads that decode for all reads of a session."""

    def __init__(self, threads: int | None = None, memory: MemoryBudget | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1
        self.memory = memory or MemoryBudget()
        self._lock = threading.Lock()
        self._tokens: weakref.WeakSet[CancelToken] = weakref.WeakSet()
        self._is_closed = False
        self._executor: ThreadPoolExecutor | None = None

    def queue(self, token: CancelToken) -> DecodeQueue:
        """Return the queue of one read, which `token` ends."""
        with self._lock:
            self._tokens.add(token)
        return DecodeQueue(self, token)

    def submit(self, function: Callable[[], None]) -> None:
        """Run `function` in a thread of the pool.

        Raises
        ------
        Cancelled
            The pool was closed.
        """
        try:
            self._made_executor().submit(function)
        except RuntimeError:
            raise Cancelled from None

    def close(self) -> None:
        """Cancel all reads, and end the threads once what they do now is done."""
        with self._lock:
            self._is_closed = True
            tokens = list(self._tokens)
        for token in tokens:
            token.cancel()
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait, once the pool is closed, until nothing runs in it any more."""
        if self._executor is not None:
            self._executor.shutdown(wait=True)

    def _made_executor(self) -> ThreadPoolExecutor:
        """Return the threads; made when first needed, as commands that only describe decode nothing."""
        with self._lock:
            if self._is_closed:
                raise Cancelled
            if self._executor is None:
                from concurrent.futures import ThreadPoolExecutor

                self._executor = ThreadPoolExecutor(self.threads, "decode")
            return self._executor


class DecodeQueue:
    """The tasks of one read. Many small ones cost one hand-over to a thread, not one each."""

    def __init__(self, pool: DecodePool, token: CancelToken) -> None:
        self._pool = pool
        self._token = token
        self._changed = threading.Condition()
        self._tasks: deque[tuple[Callable[[], None], int]] = deque()
        self._pending = 0
        self._workers = 0
        self._error: BaseException | None = None

    def put(self, task: Callable[[], None], size: int) -> None:
        """Queue `task`, which needs `size` bytes of memory; waits while too much is in flight."""
        self._pool.memory.acquire(size, self._token)
        with self._changed:
            self._tasks.append((task, size))
            self._pending += 1
            start = self._workers < self._pool.threads
            self._workers += start
        if start:
            self._pool.submit(self._work)

    def join(self) -> None:
        """Wait until every task has ended.

        Raises
        ------
        Cancelled
            The read was cancelled; tasks that run now may end later.
        Exception
            The first exception that a task let through.
        """
        forget = self._token.on_cancel(self._wake)
        try:
            with self._changed:
                while self._pending and self._error is None:
                    self._token.check()
                    self._changed.wait(0.1)
        finally:
            forget()
        if self._error is not None:
            raise self._error
        self._token.check()

    def _wake(self) -> None:
        if self._changed.acquire(blocking=False):
            try:
                self._changed.notify_all()
            finally:
                self._changed.release()

    def _work(self) -> None:
        end = time.monotonic() + TURN
        rests = Rests()
        while True:
            with self._changed:
                if not self._tasks:
                    self._workers -= 1
                    return
                task, size = self._tasks.popleft()
            self._run(task, size)
            rests.after_work()
            if time.monotonic() > end:
                self._pool.submit(self._work)
                return

    def _run(self, task: Callable[[], None], size: int) -> None:
        error: BaseException | None = None
        try:
            if not self._token.cancelled and self._error is None:
                task()
        except BaseException as raised:  # noqa: BLE001 - raised again by `join`
            error = raised
        self._pool.memory.release(size)
        with self._changed:
            self._pending -= 1
            if error is not None and self._error is None:
                self._error = error
            if not self._pending or error is not None:
                self._changed.notify_all()
