"""Reading a document on a worker thread: its first rows as soon as there are some, questions about its size.

Imports no more than reading needs: what reads datasets is loaded while the first rows are shown.
"""

from __future__ import annotations

import threading
from typing import Any

from refbrowser.app.shell.tasks import TaskControl
from refbrowser.formats.registry import OpenProgress
from refbrowser.references.document.refs import References

#: Characters of an inline value that are shown while the document is read.
_VALUE_SHOWN = 400
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


class FirstRows:
    """The first references of a document that is still being read, as texts; no template is rendered."""

    def __init__(self, refs: References) -> None:
        self._refs = refs

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._refs)

    def key(self, row: int) -> str:
        """Return the key of a row."""
        return self._refs.key(row)

    def texts(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows in the columns of the table of references."""
        return [self._texts(row) for row in range(start, stop)]

    def _texts(self, row: int) -> list[str]:
        slot = self._refs.slot(row)
        value = self._refs.value(slot)
        if value.kind is not None:
            text = self._refs.value_text(slot)[:_VALUE_SHOWN].decode("utf-8", "replace")
            return [str(row), self._refs.key(row), "inline", text, "", "", "refs"]
        kind = "whole" if value.length is None else "range"
        numbers = ["" if number is None else str(number) for number in (value.offset, value.length)]
        return [str(row), self._refs.key(row), kind, value.url, *numbers, "refs"]


#: What is sent when all is read: the stage that follows, of which no end is known.
BUILDING = "Building the hierarchy"


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
