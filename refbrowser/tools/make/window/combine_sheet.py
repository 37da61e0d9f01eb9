"""The sheet that combines files into one document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import push_button
from refbrowser.io.origins import local_path
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.tools.make.window.files_sheet import FilesSheet
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.exporting.combining.file_set import FileSet
    from refbrowser.formats.lead import Lead
    from refbrowser.tools.make.combining import Found
    from refbrowser.tools.make.window.combine_work import Made

_COMBINE = (
    "The files become one dataset: a document of references to the bytes in the files; no data is copied. "
    "All files are compared first. What would give wrong numbers is listed, and nothing is written until you "
    "have decided about it."
)


class CombineSheet(FilesSheet):
    """Combines files into one document; the window stays usable meanwhile.

    Signals
    -------
    openPaths(list)
        A document was made, and is to be opened.
    """

    openPaths = Signal(list)

    def __init__(self, documents: Documents, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(documents, tasks, "Combine files", _COMBINE, "Combine", parent)
        self.setObjectName("combineSheet")
        #: What the sheet itself filled in, and follows the files.
        self._own_along = self._own_target = ""
        self._kept: FileSet | None = None

    def _make_fields(self) -> QFormLayout:
        self._along = QComboBox()
        self._along.setObjectName("combineAlong")
        self._along.setAccessibleName("Dimensions along which the files are joined")
        self._along.setEditable(True)
        self._along.setMinimumWidth(150)
        if (edit := self._along.lineEdit()) is not None:
            edit.setPlaceholderText("found by itself")
        self._along.setToolTip("Separate several with commas; the files are placed by their coordinates")
        self._along.currentTextChanged.connect(self._along_changed)
        pattern = r"for a dimension that the files lack: run=name:run(\d+)"
        self._new = self._make_line("combineNewDimension", "A new dimension, NAME=FROM", pattern)
        self._new.textChanged.connect(lambda _text: self._changed())
        along = self._along_line(self._along, "&New dimension", self._new)
        self._axis = self._asked(
            "combineRegularAxis",
            "Regular axis, DIM=FROM:TO:STEP",
            "holes stay holes: time=2015-01-01:2024-12-31:1D, or time=::month",
            "Files, variables and times that are missing stay holes on a regular axis of time, and are named",
        )
        self._select = self._asked(
            "combineSelect",
            "Part that is taken, DIM=FROM:TO",
            "time=2015-01:2016-12; lat=40:50; x@0:100",
            "Dates, values, or indices after @; the part begins where a chunk does. Separate several with ;",
        )
        self._rename = self._asked(
            "combineRename",
            "New names, OLD=NEW",
            "t2m=tas; lat=latitude",
            "Arrays and dimensions of the first name get the second. Separate several with ;",
        )
        part = QHBoxLayout()
        part.setSpacing(theme.MEDIUM)
        part.addWidget(self._select, 1)
        names = QLabel("&Rename")
        names.setBuddy(self._rename)
        part.addWidget(names)
        part.addWidget(self._rename, 1)
        self._sort = self._check("combineSort", "Put files in the order of their coordinates")
        self._sort.setToolTip("Otherwise they keep the order in which they were added")
        self._merge = self._check("combineMerge", "Files may have different variables")
        self._fold = self._check("combineFold", "Fold into rules")
        self._fold.setToolTip("Write the references as templates and gen rules where that is shorter")
        self._straight = self._check("combineStraight", "Write directly to a file")
        self._straight.setToolTip(
            "For very large sets. Otherwise the result is opened, and Save asks where to write it"
        )
        self._straight.toggled.connect(self._show_target)
        self._force = self._check("combineForce", "Replace an existing document")
        self._target = self._make_line("combineTarget", "Document to write", "A file, NAME.json")
        self._browse: QPushButton = push_button("Browse…", "combineBrowseButton", self._ask_target)
        where = QHBoxLayout()
        where.setSpacing(theme.MEDIUM)
        where.addWidget(self._straight)
        where.addWidget(self._target, 1)
        where.addWidget(self._browse)
        where.addWidget(self._force)
        self._show_target(False)
        self._fields = (
            *(
                self._along,
                self._new,
                self._axis,
                self._select,
                self._rename,
                self._sort,
                self._merge,
                self._fold,
                self._force,
            ),
            *(self._straight, self._target, self._browse),
        )
        rows = (
            ("A&long", along, self._along),
            ("A&xis", self._axis, self._axis),
            ("Par&t", part, self._select),
            ("", self._make_ticks_line((self._sort, self._merge, self._fold)), None),
            ("", where, None),
            ("Runs", self._make_where("Where files are read", "Change where files are read"), None),
        )
        return self._make_form(rows, self.fontMetrics().horizontalAdvance("Along") + theme.LARGE)

    def take_lead(self, lead: Lead) -> None:
        """Add the files that one names, and fill in what it says of them."""
        from refbrowser.tools.make.combine_order import remedies_in

        if self._job is not None:
            return
        self._remedies += remedies_in(lead)
        self._merge.setChecked(self._merge.isChecked() or lead.merge)
        if lead.new_dims:
            self._new.setText("; ".join(lead.new_dims))
        self.add([each.url for each in lead.sources])
        if lead.concat:
            self._along.setEditText(", ".join(lead.concat))

    def _show_target(self, wanted: bool) -> None:
        for each in (self._target, self._browse, self._force):
            each.setVisible(wanted)

    def order(self) -> CombineOrder:
        """Return what the sheet asks for."""
        along = self._along.currentText().strip()
        return CombineOrder(
            sources=self.sources(),
            concat="" if along == self._own_along and self._kept is None else along,
            new_dims=self._new.text(),
            axis=self._axis.text(),
            select=self._select.text(),
            rename=self._rename.text(),
            target=self._target.text().strip() if self._straight.isChecked() else "",
            name=self._own_target,
            merge=self._merge.isChecked(),
            sort=self._sort.isChecked(),
            fold=self._fold.isChecked(),
            force=self._force.isChecked(),
            remedies=tuple(self._remedies),
            compute=self._documents.compute,
            settings=self._documents.settings,
        )

    def _look_at(self, order: CombineOrder, control: TaskControl) -> Found:
        from refbrowser.tools.make.combining import look

        return look(order, self._kept, control)

    def _along_changed(self, text: str) -> None:
        if text != self._own_along:
            self._changed()

    def _files_changed(self) -> None:
        # The dimension is looked for anew, unless the user chose it.
        self._kept = None
        self._choose_target()
        super()._files_changed()

    def _take_found(self, found: Found) -> None:
        self._kept = found.kept
        if self._along.currentText().strip() in ("", self._own_along):
            self._own_along = found.along
            self._along.blockSignals(True)
            self._along.clear()
            self._along.addItems(list(found.known))
            self._along.setEditText(found.along)
            self._along.blockSignals(False)

    def _choose_target(self) -> None:
        """Put the document beside the files, named as they begin, unless the user said where."""
        if not self._sources:
            return
        path = local_path(self._sources[0])
        folder = os.path.dirname(path) if path is not None else os.path.expanduser("~")
        names = [os.path.basename(each.rstrip("/")) for each in self._sources]
        least, most = min(names), max(names)
        pairs = zip(least, most, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(least))
        stem = least[:same].partition(".")[0].rstrip("_-0123456789 ")
        before, self._own_target = self._own_target, os.path.join(folder, f"{stem or 'files'}_combined.json")
        if self._target.text() == before:
            self._target.setText(self._own_target)

    def _ask_target(self) -> None:
        dialog = QFileDialog(self, "Document to make", self._target.text(), "Documents (*.json)")
        dialog.setObjectName("combineBrowseDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._target.setText)
        dialog.open()

    def start(self) -> None:
        """Make the document."""
        if self._job is not None or self._found is None or self._found.blocking:
            return
        order, kept, shared = self.order(), self._kept, self._documents.shared
        if self._straight.isChecked() and not order.target:
            self._cost.say("Choose the file to write.", "fault")
            self._target.setFocus()
            return
        # The references of the files are given away to the document.
        self._kept = None

        def combine(control: TaskControl) -> Made:
            from refbrowser.tools.make.window.combine_work import carry_out

            return carry_out(order, kept, shared, control)

        self._looking.cancel()
        self._pause.stop()
        self._cost.say(f"Writing {order.target}" if order.target else "Combining the files…", "")
        count = count_text(len(order.sources))
        self._run(self.owner("combine"), f"Combine {count} files", combine, self._done, self._failed)

    def _done(self, made: Made) -> None:
        self._ended()
        if made.opened is None:
            path = os.path.abspath(os.path.expanduser(self._target.text().strip()))
            self.openPaths.emit([path])
        else:
            self._documents.add_made(self._own_target, made.opened)
        self.told.emit(made.text)
        self.close()
