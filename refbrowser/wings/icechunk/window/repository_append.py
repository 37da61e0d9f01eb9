"""The sheet that adds files to a branch of the repository that is open, as one commit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLayout, QWidget

from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.tools.append.window.append_sheet import AppendSheet
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.exporting.appending.appending import Appended
    from refbrowser.io.origins import Origin


class RepositoryAppendSheet(AppendSheet):
    """Adds files to a branch, as one commit; then its snapshot is open."""

    about = (
        "The files are added at the end of the branch that is open, as one commit; earlier snapshots stay. "
        "They are compared with it first; nothing is written until you have decided about what differs."
    )

    def _more_rows(self) -> tuple[tuple[str, QWidget | QLayout, QWidget | None], ...]:
        self._message = self._make_line("appendMessage", "The commit message", "what is added")
        self._native = self._check(
            "appendNative", "&Copy chunks into the repository, instead of referring to files"
        )
        self._fields = (*self._fields, self._message, self._native)
        return (
            ("&Message", self._message, self._message),
            ("", self._make_ticks_line((self._native,)), None),
        )

    def start(self) -> None:
        """Commit the files."""
        found, dataset, document = self._found, self._document.dataset, self._document
        if self._job is not None or found is None or found.blocking or dataset is None:
            return
        fault = append_fault(document)
        if fault:
            self._told(f"{fault}.", "fault")
            return
        order, path = self.order(), document.path
        branch = opened_of(document).removeprefix("branch ")
        chosen = {
            "message": self._message.text().strip(),
            "to_branch": branch,
            "native": self._native.isChecked(),
        }
        allowed = tuple(map(str, sorted(dataset.access.allowed)))

        def append(control: TaskControl) -> tuple[Appended, tuple[Origin, ...]]:
            from refbrowser.wings.icechunk.changing.appending import append_to_repository, folders_of

            request = replace(order.request(), allow=allowed)
            compute = order.compute.compute()
            made = append_to_repository(path, request, control, compute, lambda plan: None, chosen)
            return made, folders_of(found.plan)

        def made(result: tuple[Appended, tuple[Origin, ...]]) -> None:
            report, folders = result
            self._ended()
            document.documentChanged.disconnect(self._changed)
            document.hierarchyChanged.disconnect(self._changed)
            document.read_from(folders)
            document.choose("branch", branch)
            self.told.emit(
                f"{report.along}: {count_text(report.before)} before, {count_text(report.after)} now; "
                f"snapshot {report.snapshot} of {branch} is open now"
            )
            document.reload_as_allowed()
            self.close()

        self._looking.cancel()
        self._pause.stop()
        self._run(self.owner("append"), f"Append files to {document.title}", append, made, self._failed)


def append_fault(document: OpenDocument) -> str:
    """Return why files cannot be added to a document; nothing where they can."""
    if document.is_pending:
        return "Commit or undo the edits first: files are added to what is committed"
    opened = opened_of(document)
    if not opened.startswith("branch "):
        return f"{opened} is open, and commits go to a branch: open one in Snapshots"
    return ""


def opened_of(document: OpenDocument) -> str:
    """Return what of the repository is open: ``branch main``."""
    state = document.document
    origin = None if state is None else state.made_from(IcechunkOrigin)
    return "" if origin is None else origin.chosen
