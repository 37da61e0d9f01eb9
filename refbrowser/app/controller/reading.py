"""Reading a document on a worker thread: its first rows as soon as there are some, questions about its size.

Imports no more than reading needs: what reads datasets is loaded while the first rows are shown.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from refbrowser.app.tasks import TaskControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.references import OpenProgress, open_references
from refbrowser.io.origins import local_path
from refbrowser.references.refs import References

if TYPE_CHECKING:
    from refbrowser.app.controller.shared_session import SharedSession
    from refbrowser.io.access import Access
    from refbrowser.io.identity import FileIdentity, ObjectIdentity
    from refbrowser.references.document import ReferenceDocument

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


def read_document(
    path: str, access: Access, values: Mapping[str, str], shared: SharedSession, control: TaskControl
) -> tuple[ReferenceDocument, FileIdentity | ObjectIdentity | None]:
    """Read a document; progress, first rows and questions go through `control.send`.

    Raises
    ------
    RefbrowserError
        It cannot be read; `E_USAGE`: a value is given for a template that it does not have.
    Cancelled
        The task was cancelled.
    """

    def progress(report: OpenProgress) -> None:
        control.send((report.bytes_read, report.total))
        control.progress(report.bytes_read, report.total, note=f"{report.rows:,} references")
        if report.first is not None:
            control.send(FirstRows(References(report.first)))

    def confirm(size: int) -> bool:
        question = SizeQuestion(size)
        control.send(question)
        return question.wait(control)

    control.send((0, None))
    local = local_path(path)
    if local is not None:
        from refbrowser.io.atomic import identity_on_disk

        identity: FileIdentity | ObjectIdentity | None = identity_on_disk(local)
        document = open_references(
            local, name=path, values=values, progress=progress, cancel=control.token, confirm=confirm
        )
    else:
        from refbrowser.engine.opening import read_reference_document

        session = shared.get()
        document, identity = read_reference_document(
            path, access, session, values, progress, control.token, confirm
        )
    unknown = [name for name in values if name not in document.templates.texts]
    if unknown:
        message = f"the document has no template {quoted(unknown[0])}"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=path))
    return document, identity
