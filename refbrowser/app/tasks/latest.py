"""Work off the window's thread of which only the newest request counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Protocol
from weakref import ref

import shiboken6
from PySide6.QtCore import QObject

from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.engine.jobs import JobHandle, JobStatus, Priority

#: Two views of one document read each for itself.
_NUMBERS = count()


class Work(Protocol):
    """Whose work it is: an opened document, or what stands for one."""

    @property
    def tasks(self) -> Tasks:
        """What runs it."""

    def owner(self, what: str) -> str:
        """Return the name under which its work of one kind is listed, and ended when it is closed."""


class Latest:
    """One kind of work of a pane or an opened document: asked anew, it is what was asked last that counts.

    What was asked before is cancelled, of whatever document it was, and tells nothing any more. Nor does
    anything come after `cancel`, or after the end of the `owner`.

    Parameters
    ----------
    owner
        Whose callbacks are called.
    what
        Names the kind of work, for example ``raw``.
    """

    def __init__(self, owner: QObject, what: str) -> None:
        self._owner, self._what = ref(owner), f"{what} {next(_NUMBERS)}"
        self._asked = asked = _Asked()
        # Held by the connection alone: it must not keep the owner.
        owner.destroyed.connect(lambda: asked.cancel())

    def run(
        self,
        work: Work,
        title: str,
        function: Callable[[TaskControl], Any],
        done: Callable[[Any], object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
        *,
        received: Callable[[Any], object] | None = None,
        followed: Callable[[JobStatus], object] | None = None,
        priority: Priority = Priority.VISIBLE,
    ) -> JobHandle:
        """Run `function(control)` on a worker thread in place of what ran before; see `Tasks.run`.

        An exception goes to `failed`; without one, to the window, as that of any other task.
        """
        asked = self._asked
        asked.cancel()
        asked.tasks = work.tasks
        asked.handle = work.tasks.run(
            work.owner(self._what),
            title,
            function,
            self._guarded(done),
            self._guarded(failed),
            received=self._guarded(received),
            followed=self._guarded(followed),
            priority=priority,
        )
        return asked.handle

    def cancel(self) -> None:
        """Let nothing come of what was asked."""
        self._asked.cancel()

    @property
    def is_running(self) -> bool:
        """Whether something was asked and has not ended."""
        asked = self._asked
        return (
            asked.handle is not None and asked.tasks is not None and asked.tasks.awaits(asked.handle.number)
        )

    def _guarded(self, callback: Callable[[Any], object] | None) -> Callable[[Any], None] | None:
        """Return a callback that does nothing where the owner is gone, or what is told."""
        if callback is None:
            return None
        owner, chosen = self._owner, callback
        receiver = getattr(callback, "__self__", None)

        def tell(value: Any) -> None:
            # What is told may be another one than the owner: a dialog that was closed.
            if isinstance(receiver, QObject) and not shiboken6.isValid(receiver):
                return
            alive = owner()
            if alive is not None and shiboken6.isValid(alive):
                chosen(value)

        return tell


class _Asked:
    """The job that was asked for last."""

    tasks: Tasks | None = None
    handle: JobHandle | None = None

    def cancel(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None and self.tasks is not None and shiboken6.isValid(self.tasks):
            self.tasks.drop(handle.number)
