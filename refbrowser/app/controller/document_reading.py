"""Reading a document on a worker thread: its first rows as soon as there are some, questions about its size.

Imports no more than reading needs: what reads datasets is loaded while the first rows are shown.
"""

from __future__ import annotations

import threading
from typing import Any

from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.format import OpenProgress
from refbrowser.limits import LIMITS
from refbrowser.references.content.refs import References
from refbrowser.views.references import FirstRows

#: A question is looked after this often, in seconds, for the task may be cancelled.
_ASKED = 0.05


class SizeQuestion:
    """Whether to go on with a document of unusual size; the reading waits for the answer."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._answered = threading.Event()
        self._yes = False

    def answer(self, yes: bool) -> None:
        """Answer, on the GUI thread."""
        self._yes = yes
        self._answered.set()

    def wait(self, control: TaskControl) -> bool:
        """Wait for the answer, on the worker thread."""
        while not self._answered.wait(_ASKED):
            control.check()
        return self._yes


#: What is sent when all is read: the stage that follows, of which no end is known.
BUILDING = "Building the hierarchy"


def refuse_all(left: int) -> None:
    """Refuse what needs all references of a set that are left: in the window they are read when told so.

    Raises
    ------
    RefbrowserError
        Always: it says what to do.
    """
    how = "are not read yet: press “Read all” on the page References first"
    if left > LIMITS.references:
        how = f"may be more than the {LIMITS.references:,} that one document can hold"
    message = f"this needs all {left:,} references, which {how}"
    raise RefbrowserError(ErrorKind.BUDGET, message, advice="Plots, tables and chunk maps do not need them.")


class ReadingHooks:
    """What reading tells and asks: progress, first rows and questions go through `control.send`."""

    def __init__(self, control: TaskControl) -> None:
        self._control = control
        control.send((0, None))

    def report(self, progress: OpenProgress) -> None:
        """Tell how far the reading of a document is."""
        self.progress(progress.bytes_read, progress.total, note=f"{progress.rows:,} references")
        if progress.first is not None:
            self._control.send(FirstRows(References(progress.first)))

    def progress(self, done: int, total: int | None = None, **facts: Any) -> None:
        """Tell how far the walk through a file is, in the list of jobs and where the document will be."""
        # Members that were looked into are no bytes that were read.
        if facts.get("note") != "members":
            self._control.send((done, total))
        self._control.progress(done, total, **facts)

    def confirm(self, size: int) -> bool:
        """Ask about a document of unusual size, and wait for the answer."""
        question = SizeQuestion(size)
        self._control.send(question)
        return question.wait(self._control)
