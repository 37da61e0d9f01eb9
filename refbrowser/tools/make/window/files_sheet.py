"""Sheets of files that become one: what differs is decided about before anything is written."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.dialogs.working_dialog import CostCard, WorkingDialog
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import Priority, TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.dropped_items import read_drop
from refbrowser.app.widgets.small_widgets import plain_label, push_button, resize_within_screen, show_progress
from refbrowser.formats.registry import formats
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.tools.make.window.combine_differences import AxisStrip, DifferencesList, PlacedFiles
from refbrowser.views.compute_places import where_text
from refbrowser.views.speed import SEPARATOR, Speed, speed_words
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.exporting.combining.combination import Remedy
    from refbrowser.tools.make.combining import Found
    from refbrowser.tools.make.custom_remedies import CustomRemedy

#: What the command line calls its options, and what they are called here.
_OPTIONS = {"--force": "“Replace an existing document”", "--new-dim NAME=FROM": "“New dimension”"}
_LINES = 2
_EMPTY = "Add files, or drop them here."


class FilesSheet(WorkingDialog):
    """Files that are looked at, their differences with what is done about them, and where each lies.

    Parameters
    ----------
    documents, tasks
        Of the window.
    about
        What the sheet does.
    verb
        Of its button.

    Signals
    -------
    told(str)
        What was done.
    """

    told = Signal(str)

    def __init__(
        self, documents: Documents, tasks: Tasks, title: str, about: str, verb: str, parent: QWidget | None
    ) -> None:
        super().__init__(tasks, "combine", title, parent)
        self._documents = documents
        self._sources: list[str] = []
        self._remedies: list[Remedy] = []
        self._found: Found | None = None
        self._looking = Latest(self, "combine look")
        self._look_job: int | None = None
        self._decided = False
        self._build(title, about, verb)
        resize_within_screen(self, max(980, self.sizeHint().width()), 740)
        self.setAcceptDrops(True)
        documents.computeChanged.connect(self._say_where)
        self._say_where()
        self._show_files()
        self._cost.say(_EMPTY, "")

    def owner(self, what: str) -> str:
        """Return the name of its work of one kind."""
        return f"{what} {id(self)}"

    # What a sheet of some work has

    def order(self) -> CombineOrder:
        """Return what the sheet asks for."""
        raise NotImplementedError

    def start(self) -> None:
        """Carry it out."""
        raise NotImplementedError

    def _look_at(self, order: CombineOrder, control: TaskControl) -> Found:
        """Look at the files, in a task."""
        raise NotImplementedError

    def _make_fields(self) -> QFormLayout:
        """Return what is asked below the lists."""
        raise NotImplementedError

    def _take_found(self, found: Found) -> None:
        """Go on with what was found."""

    # Parts

    def _build(self, title: str, about: str, verb: str) -> None:
        self._count = plain_label("", wrap=False)
        self._count.setObjectName("combineCount")
        self._add = push_button("Add &files…", "combineAddButton", self._ask_files)
        self._remove = push_button("Re&move", "combineRemoveButton", self._remove_selected)
        self._remove.setToolTip(
            "Remove the selected files from the list; the files themselves stay as they are"
        )
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        self._go_on = push_button("&Go on", "combineGoOnButton", self._look_ahead)
        self._go_on.setToolTip("Compare the files that are left")
        self._go_on.hide()
        line.addWidget(self._count, 1)
        line.addWidget(self._go_on)
        line.addWidget(self._add)
        line.addWidget(self._remove)
        self.differences = DifferencesList()
        self.differences.chosen.connect(self.decide)
        self.differences.takenBack.connect(self._take_back)
        self.differences.wordsWanted.connect(self._ask_words)
        self.files = PlacedFiles()
        self.files.removeWanted.connect(self.remove_files)
        self.files.itemSelectionChanged.connect(self._update_buttons)
        self._strip = AxisStrip()
        below = QWidget()
        lying = QVBoxLayout(below)
        lying.setContentsMargins(0, 0, 0, 0)
        lying.setSpacing(theme.SMALL)
        lying.addWidget(self._strip)
        lying.addWidget(self.files, 1)
        lists = QSplitter(Qt.Orientation.Vertical)
        lists.setObjectName("combineLists")
        lists.setChildrenCollapsible(False)
        lists.addWidget(self.differences)
        lists.addWidget(below)
        lists.setSizes([270, 240])
        self._cost = CostCard("combineSummary", "Result", _OPTIONS, _LINES)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(plain_label(about, role="muted"))
        layout.addLayout(line)
        layout.addWidget(lists, 1)
        layout.addLayout(self._make_fields())
        layout.addWidget(self._cost)
        self._lay_out(title, body, self._make_buttons((), "Cancel", verb, self.start))
        self._start.setEnabled(False)

    def _make_line(self, name: str, described: str, placeholder: str) -> QLineEdit:
        line = QLineEdit()
        line.setObjectName(name)
        line.setAccessibleName(described)
        line.setPlaceholderText(placeholder)
        return line

    def _asked(self, name: str, described: str, placeholder: str, tip: str = "") -> QLineEdit:
        """Return a line of which another text asks for another comparison."""
        line = self._make_line(name, described, placeholder)
        line.setToolTip(tip)
        line.textChanged.connect(lambda _text: self._changed())
        return line

    def _along_line(self, along: QWidget, text: str, new: QLineEdit) -> QHBoxLayout:
        """Return a line with what is said of dimensions."""
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(along, 1)
        label = QLabel(text)
        label.setBuddy(new)
        line.addWidget(label)
        line.addWidget(new, 2)
        return line

    def _say_where(self) -> None:
        self._where.setText(where_text(self._documents.compute, ""))

    # Files

    def sources(self) -> tuple[str, ...]:
        """Return all files, as they were added."""
        return tuple(self._sources)

    def add(self, sources: Sequence[str]) -> None:
        """Add files; all are looked at."""
        if self._job is None:
            self._sources = list(dict.fromkeys((*self._sources, *sources)))
            self._files_changed()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._job is None and read_drop(event.mimeData()).targets:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        # What was dropped comes from a window that has the keyboard.
        self.activateWindow()
        self.add(read_drop(event.mimeData()).targets)

    def remove_files(self, sources: Sequence[str]) -> None:
        """Take files out of the list."""
        if self._job is None:
            gone = set(sources)
            self._sources = [each for each in self._sources if each not in gone]
            self._files_changed()

    def _files_changed(self) -> None:
        """Take note of other files; what was decided about those that are gone is forgotten."""
        self._remedies = [each for each in self._remedies if each.is_about(self._sources)]
        self._show_files()
        self._changed()

    def _remove_selected(self) -> None:
        self.remove_files(self.files.selected())

    def _show_files(self) -> None:
        self._found = None
        self.files.show_files(self._sources)
        self._strip.show_found(None)
        self.differences.show_found(None, self._remedies)
        count = len(self._sources)
        folder = os.path.dirname(self._sources[0]) if count else ""
        where = f" in {one_line(folder)}" if folder and all(map(folder.__eq__, self._folders())) else ""
        self._count.setText(f"{counted_spaced(count, 'file')}{where}")
        self._update_buttons()

    def _folders(self) -> list[str]:
        return [os.path.dirname(each) for each in self._sources]

    def _ask_files(self) -> None:
        data = [each for each in formats() if each.is_data]
        suffixes = " ".join(sorted({f"*{suffix}" for each in data for suffix in each.files}))
        filters = f"Files of data ({suffixes});;All files (*)"
        dialog = QFileDialog(self, "Files", self._folders()[0] if self._sources else "", filters)
        dialog.setObjectName("combineFilesDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.add)
        dialog.open()

    # Deciding

    def decide(self, *remedies: Remedy) -> None:
        """Let something be done about what differs."""
        new = [each for each in remedies if each not in self._remedies]
        if self._job is None and new:
            # The last one counts of what can be said once.
            once = {each.kind for each in new} & {"time_units"}
            self._remedies = [each for each in self._remedies if each.kind not in once] + new
            self._decided = True
            self._look_ahead()

    def _ask_words(self, way: CustomRemedy) -> None:
        from refbrowser.tools.make.window.custom_remedy_dialog import CustomRemedyDialog

        dialog = CustomRemedyDialog(way, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.said.connect(lambda remedies: self.decide(*remedies))
        dialog.open()

    def _take_back(self, remedy: Remedy) -> None:
        if self._job is None and remedy in self._remedies:
            self._remedies.remove(remedy)
            self._decided = True
            self._look_ahead()

    # Looking

    def _changed(self) -> None:
        if self._job is None:
            self._start.setEnabled(False)
            self._pause.start()

    def _look_ahead(self) -> None:
        if self._job is not None:
            return
        self._pause.stop()
        self._go_on.hide()
        self._start.setEnabled(False)
        if not self._sources:
            self._looking.cancel()
            self._look_ended()
            self._cost.say(_EMPTY, "")
            return
        order = self.order()
        count = len(self._sources)
        title = f"Look at {counted_spaced(count, 'file')} to be combined"
        if self._found is None:
            self._cost.say("Comparing the files…", "")
        self._speed = Speed()
        self._look_job = self._looking.run(
            self,
            title,
            lambda control: self._look_at(order, control),
            self._looked,
            self._not_looked,
            followed=self._follow_look,
            priority=Priority.STATISTICS,
        ).number

    def _looked(self, found: Found) -> None:
        self._look_ended()
        self._found = found
        self.differences.show_found(found, self._remedies)
        self.files.show_found(found)
        self._strip.show_found(found)
        self._take_found(found)
        self._start.setEnabled(not found.blocking)
        self._cost.say(found.summary, "fault" if found.blocking else "")
        self._update_buttons()
        if self._decided:
            # The button that was pressed is gone: the keyboard goes on with what is to be done next.
            self._decided = False
            following = self.differences.findChild(QPushButton, "combineRemedy") if found.blocking else None
            (following or self._start).setFocus()

    def _not_looked(self, error: BaseException) -> None:
        self._look_ended()
        self._show_files()
        self._cost.say(error_text(error), "fault")

    def _look_ended(self) -> None:
        self._look_job = None
        if self._job is None:
            self._progress.hide()
            self._cancel.hide()

    def _follow_look(self, status: JobStatus) -> None:
        if self._job is None and status.total:
            self._speed.take(status, time.monotonic())
            self._progress.show()
            self._cancel.show()
            show_progress(self._bar, status.done, status.total)
            self._amount.setText(SEPARATOR.join(self._words_of(status)))

    def _cancel_job(self) -> None:
        if self._look_job is None:
            super()._cancel_job()
            return
        self._looking.cancel()
        self._look_ended()
        self._go_on.show()
        self._cost.say(
            "Cancelled: the files were not compared. “Go on” compares those that are left.", "warning"
        )

    # Carrying it out

    def _show_running(self, running: bool) -> None:
        super()._show_running(running)
        for each in (self.differences, self.files, self._add):
            each.setEnabled(not running)
        self._update_buttons()

    def _update_buttons(self) -> None:
        self._remove.setEnabled(self._job is None and bool(self.files.selected()))

    def _words_of(self, status: JobStatus) -> list[str]:
        what = f"{count_text(status.done)} of {count_text(status.total or 0)}"
        rate = [f"{self._speed.rate:.3g} files/s"] if self._look_job is not None and self._speed.rate else []
        return [what, *rate, *speed_words(self._speed)]

    def _told(self, text: str, role: str) -> None:
        self._ended()
        self._start.setEnabled(self._found is not None and not self._found.blocking)
        self._cost.say(text, role)

    def _cancelled(self) -> None:
        self._told("Cancelled. Nothing was changed.", "warning")

    def _failed(self, error: BaseException) -> None:
        self._told(error_text(error), "fault")
