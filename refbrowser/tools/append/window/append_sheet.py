"""The sheet that adds files to an open document."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from PySide6.QtWidgets import QFormLayout, QLayout, QWidget

from refbrowser.app.controller.documents import Documents
from refbrowser.app.controller.edited_document import moved_on
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.tools.make.window.files_sheet import FilesSheet
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.tools.append.appending import AppendStep
    from refbrowser.tools.make.combining import Found

_APPEND = (
    "The files are added at the end of the document, as one step that Undo takes back. They are compared "
    "with it first; nothing is changed until you have decided about what differs."
)


class AppendSheet(FilesSheet):
    """Adds files to an open document, as one step of its history.

    Attributes
    ----------
    about
        What it does, in words.
    """

    about: ClassVar[str] = _APPEND

    def __init__(self, document: OpenDocument, documents: Documents, parent: QWidget | None = None) -> None:
        self._document = document
        title = f"{one_line(document.name)}: append files"
        super().__init__(documents, document.tasks, title, self.about, "Append", parent)
        self.setObjectName("appendSheet")
        document.documentChanged.connect(self._changed)
        document.hierarchyChanged.connect(self._changed)
        document.destroyed.connect(self.close)

    @property
    def document(self) -> OpenDocument:
        """What files are added to."""
        return self._document

    def _make_fields(self) -> QFormLayout:
        self._along = self._asked("appendAlong", "Dimension to append along", "found by itself")
        self._new = self._asked(
            "appendNewDimension",
            "Source of the values of a dimension that the files lack, NAME=FROM",
            r"where its values come from: run=name:run(\d+)",
        )
        self._axis = self._asked(
            "appendRegularAxis",
            "Regular axis, DIM=STEP",
            "keeps what is missing behind the document as holes: time=1D",
            "On a regular axis of time, times that are missing behind the document stay holes, and are named",
        )
        self._sort = self._check("appendSort", "Put files in the order of their coordinates")
        self._fields = (self._along, self._new, self._axis, self._sort)
        rows: tuple[tuple[str, QWidget | QLayout, QWidget | None], ...] = (
            ("A&long", self._along_line(self._along, "Where files &lack it", self._new), self._along),
            ("A&xis", self._axis, self._axis),
            ("", self._make_ticks_line((self._sort,)), None),
            *self._more_rows(),
            ("Runs", self._make_where("Where files are read", "Change where files are read"), None),
        )
        return self._make_form(rows, self.fontMetrics().horizontalAdvance("Along") + theme.LARGE)

    def _more_rows(self) -> tuple[tuple[str, QWidget | QLayout, QWidget | None], ...]:
        """Return what else is asked, as rows of the form."""
        return ()

    def order(self) -> CombineOrder:
        """Return what the sheet asks for."""
        return CombineOrder(
            sources=self.sources(),
            concat=self._along.text(),
            new_dims=self._new.text(),
            axis=self._axis.text(),
            sort=self._sort.isChecked(),
            remedies=tuple(self._remedies),
            compute=self._documents.compute,
            settings=self._documents.settings,
        )

    def _look_at(self, order: CombineOrder, control: TaskControl) -> Found:
        from refbrowser.errors import ErrorKind, RefbrowserError
        from refbrowser.tools.append.appending import look_to_append

        dataset, state = self._document.dataset, self._document.document
        if dataset is None or state is None:
            raise RefbrowserError(ErrorKind.USAGE, "the document is not open")
        if dataset.document is not state:
            dataset = dataset.with_document(state, control)
        return look_to_append(order, dataset, control)

    def start(self) -> None:
        """Add the files."""
        found, dataset = self._found, self._document.dataset
        before = self._document.document
        if self._job is not None or found is None or found.blocking or dataset is None or before is None:
            return

        def append(control: TaskControl) -> AppendStep:
            from refbrowser.app.controller.work import make_ready
            from refbrowser.tools.append.appending import append_step

            now = dataset if dataset.document is before else dataset.with_document(before, control)
            step = append_step(found.plan, now, control)
            make_ready(step.after)
            return step

        def made(step: AppendStep) -> None:
            if self._document.document is not before:
                self._failed(moved_on(step.edit))
                return
            self._ended()
            self._document.documentChanged.disconnect(self._changed)
            self._document.hierarchyChanged.disconnect(self._changed)
            self._document.take_step(step.edit, step.after)
            self._document.read_from(step.folders)
            self.told.emit(step.text)
            self.close()

        self._looking.cancel()
        self._pause.stop()
        name = one_line(self._document.name)
        self._run(self.owner("append"), f"Append files to {name}", append, made, self._failed)
