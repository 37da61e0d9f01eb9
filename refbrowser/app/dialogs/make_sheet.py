"""The sheet "Make references": of which files, in which form and where to; progress; what became of each."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.dialogs.export_dialog import CostCard
from refbrowser.app.dialogs.export_options import OptionsForm
from refbrowser.app.dialogs.make_files import FilesTable
from refbrowser.app.shell.drops import DROP_LIMIT
from refbrowser.app.shell.latest import Latest
from refbrowser.app.shell.tasks import Priority, TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.parts import framed, one_shot, plain_label, push_button, show_progress
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.registry import REFERENCES, form_named, formats
from refbrowser.io.origins import local_path
from refbrowser.views.computing import where_text
from refbrowser.views.speed import SEPARATOR, Speed, speed_words
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.making import FileFacts, MakeOrder, MakePlan
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.exporting.saving.making import Made, MakeReport

#: What the command line calls its options, and what they are called here.
_OPTIONS = {
    "--skip-bad": "“Leave out files that cannot be read”",
    "--force": "“Replace documents that are there”",
    "--resume": "“Leave documents that are newer than their files”",
    "--relative": "“Name files relative to their documents”",
    "--url-template": "“Template”",
}
_ABOUT = (
    "Each file gets a document of its own, in which its variables are references to the bytes where they "
    "lie: no data is copied. Before a document counts as done, chunks of every variable are read through "
    "it and compared with the file."
)
#: Lines of what is told that are seen at once.
_LINES = 4
#: What is made is foretold after this pause, in milliseconds.
PAUSE = 250


class MakeSheet(QDialog):
    """Asks of which files references are made, and makes them; the window stays usable meanwhile.

    Signals
    -------
    openPaths(list)
        The user wants to open documents that were made.
    changeCompute()
        The user wants to choose where exports run.
    """

    openPaths = Signal(list)
    changeCompute = Signal()

    def __init__(self, documents: Documents, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("makeSheet")
        self.setWindowTitle("Make references")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._documents, self.tasks = documents, tasks
        self._looking = Latest(self, "make look")
        self._planning = Latest(self, "make plan")
        self._job: int | None = None
        self._speed = Speed()
        self._made: dict[str, str] = {}
        #: The target that was chosen by the sheet itself, and follows the files.
        self._target_chosen = ""
        self._asked: list[str] = []
        self._pause = one_shot(self, PAUSE, self._plan)
        self._build()
        self._skip.setChecked(True)
        self.resize(max(820, self.sizeHint().width()), 700)
        tasks.statusChanged.connect(self._follow)
        documents.computeChanged.connect(self._changed)
        self._format_chosen()

    def owner(self, what: str) -> str:
        """Return the name of its work of one kind."""
        return f"{what} {id(self)}"

    # Parts

    def _build(self) -> None:
        heading = plain_label("Make references")
        heading.setFont(theme.heading_font())
        self.files = FilesTable()
        self.files.openWanted.connect(self.open_made)
        self.files.removeWanted.connect(self.remove_files)
        self.files.itemSelectionChanged.connect(self._update_buttons)
        self._cost = CostCard("makeCost", "What is made", _OPTIONS, _LINES)
        self._options = OptionsForm(ReferenceOptions)
        self._options.changed.connect(self._changed)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addLayout(self._make_adding())
        layout.addWidget(self.files, 1)
        layout.addLayout(self._make_form())
        layout.addWidget(self._options)
        layout.addWidget(self._cost)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        whole.setSpacing(theme.LARGE)
        whole.addWidget(heading)
        whole.addWidget(framed(body), 1)
        whole.addWidget(self._make_progress())
        whole.addLayout(self._make_buttons())

    def _make_adding(self) -> QHBoxLayout:
        self._add = push_button("A&dd", "makeAddButton", self._add_named)
        self._add.setEnabled(False)
        self._named = QLineEdit()
        self._named.setObjectName("makeNamed")
        self._named.setAccessibleName("A URL, a pattern of paths, or a list of files")
        self._named.setPlaceholderText(
            "A URL, a pattern (data/*.nc), or @LIST: a file with one of these a line"
        )
        self._named.returnPressed.connect(self._add_named)
        self._named.textChanged.connect(lambda text: self._add.setEnabled(bool(text.strip())))
        self._browse_files = push_button("Add &files…", "makeAddFilesButton", self._ask_files)
        self._remove = push_button("Re&move", "makeRemoveButton", self.remove_files)
        self._remove.setToolTip("Take the selected files out of the list; nothing is done to the files")
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._named, 1)
        for button in (self._add, self._browse_files, self._remove):
            line.addWidget(button)
        return line

    def _make_form(self) -> QFormLayout:
        self._format = QComboBox()
        self._format.setObjectName("makeFormat")
        self._format.setAccessibleName("Form of the documents")
        for each in sorted(REFERENCES.writes, key=lambda each: each.rank):
            self._format.addItem(each.title, each.name)
        self._format.currentIndexChanged.connect(lambda _index: self._format_chosen())
        self._target = QLineEdit()
        self._target.setObjectName("makeTarget")
        self._target.setAccessibleName("Folder of the documents, or the document of a single file")
        self._target.setPlaceholderText("A folder; of a single file also the name of its document")
        self._target.textChanged.connect(lambda _text: self._changed())
        self._browse = push_button("Browse…", "makeBrowseButton", self._ask_folder)
        where = QHBoxLayout()
        where.setSpacing(theme.MEDIUM)
        where.addWidget(self._target, 1)
        where.addWidget(self._browse)
        self._force = self._check("makeForce", "Replace documents that are there")
        self._resume = self._check("makeResume", "Leave documents that are newer than their files")
        self._skip = self._check("makeSkipBad", "Leave out files that cannot be read")
        self._resume.setToolTip("So goes on what was cancelled: what is made already is not made again")
        self._skip.setToolTip("Else the first file of which no references can be made ends all")
        ticks = QHBoxLayout()
        ticks.setSpacing(theme.HUGE)
        for box in (self._force, self._resume, self._skip):
            ticks.addWidget(box)
        ticks.addStretch(1)
        self._where = plain_label("")
        self._where.setObjectName("makeWhere")
        self._where.setAccessibleName("Where references are made")
        change = push_button("Change…", "makeComputeButton", self.changeCompute.emit, flat=True)
        change.setAccessibleName("Change where references are made")
        runs = QHBoxLayout()
        runs.setSpacing(theme.MEDIUM)
        runs.addWidget(self._where, 1)
        runs.addWidget(change)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.setHorizontalSpacing(theme.MEDIUM)
        form.setVerticalSpacing(theme.MEDIUM)
        form.addRow("For&m", self._format)
        form.addRow("In&to", where)
        form.addRow("", ticks)
        form.addRow("Runs", runs)
        label = form.labelForField(where)
        if isinstance(label, QLabel):
            label.setBuddy(self._target)
            label.setMinimumWidth(self._options.width_of_labels())
        return form

    def _check(self, name: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setObjectName(name)
        box.setAccessibleName(text)
        box.toggled.connect(lambda _on: self._changed())
        return box

    def _make_progress(self) -> QWidget:
        self._progress = QWidget()
        self._bar = QProgressBar()
        self._bar.setObjectName("makeProgress")
        self._bar.setAccessibleName("Progress of making references")
        self._bar.setTextVisible(False)
        self._amount = plain_label("", role="muted", wrap=False)
        self._amount.setObjectName("makeAmount")
        line = QHBoxLayout(self._progress)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.LARGE)
        line.addWidget(self._bar, 1)
        line.addWidget(self._amount)
        self._progress.hide()
        return self._progress

    def _make_buttons(self) -> QHBoxLayout:
        self._open = push_button("Open the document", "makeOpenButton", self.open_made)
        self._cancel = push_button("Cancel", "makeCancelButton", self._cancel_making)
        self._close = push_button("Close", "makeCloseButton", self.close)
        self._start = push_button("Make references", "makeStartButton", self.start)
        self._start.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._open)
        line.addStretch(1)
        for button in (self._cancel, self._close, self._start):
            line.addWidget(button)
        self._open.hide()
        self._cancel.hide()
        return line

    # Files

    def add(self, texts: Sequence[str]) -> None:
        """Add files: paths and URLs, patterns of paths, and lists; each is looked at."""
        self._asked += texts
        self._look()

    def _look(self) -> None:
        """Look at the files that were named, and at those in the list that are not known yet."""
        asked, unknown, settings = tuple(self._asked), self.files.unknown(), self._documents.settings

        def look(control: TaskControl) -> None:
            from refbrowser.app.controller.making import look_at_files

            look_at_files(asked, unknown, settings, control)

        self._looking.run(
            self,
            "Look at files of data",
            look,
            self._looked,
            self._not_found,
            received=self._seen,
            priority=Priority.STATISTICS,
        )

    def _seen(self, news: list[str] | FileFacts) -> None:
        if not isinstance(news, list):
            self.files.tell(news)
            return
        asked, self._asked = self._asked, []
        before = len(self.files.sources())
        self.files.add(news)
        if asked and not news:
            self._cost.say(f"There is no file like {', '.join(asked)}", "warning")
        elif len(self.files.sources()) > before:
            self._choose_target()
            self._changed()
        self._update_buttons()

    def _looked(self, _none: None) -> None:
        # What became of files is still to be read.
        if not self._made:
            self._changed()

    def _not_found(self, error: BaseException) -> None:
        self._asked = []
        self._cost.say(error_text(error), "fault")

    def _add_named(self) -> None:
        if text := self._named.text().strip():
            self._named.clear()
            self.add([os.path.expanduser(text)])

    def _ask_files(self) -> None:
        data = [each for each in formats() if each.is_data]
        suffixes = " ".join(sorted({f"*{suffix}" for each in data for suffix in each.files}))
        dialog = QFileDialog(self, "Files of data", "", f"Files of data ({suffixes});;All files (*)")
        dialog.setObjectName("makeFilesDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.add)
        dialog.open()

    def remove_files(self) -> None:
        """Take the selected files out of the list."""
        if self._job is None and self.files.chosen():
            self.files.remove_chosen()
            self._look()
            self._choose_target()
            self._changed()

    # What is asked for

    def order(self) -> MakeOrder:
        """Return what the sheet asks for."""
        from refbrowser.app.controller.making import MakeOrder

        return MakeOrder(
            self.files.sources(),
            self._target.text().strip(),
            str(self._format.currentData()),
            self._force.isChecked(),
            self._resume.isChecked(),
            self._skip.isChecked(),
            self._options.said(),
            self._documents.compute,
            self._documents.settings,
        )

    def _format_chosen(self) -> None:
        self._options.set_format(form_named(str(self._format.currentData())))
        self._choose_target()
        self._changed()

    def _choose_target(self) -> None:
        """Put documents beside the files, unless the user has said where."""
        sources = self.files.sources()
        if self._target.text() != self._target_chosen or not sources:
            return
        path = local_path(sources[0])
        self._target_chosen = os.path.dirname(path) if path is not None else os.path.expanduser("~")
        self._target.setText(self._target_chosen)

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, "Folder of the documents", self._target.text())
        dialog.setObjectName("makeBrowseDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._target.setText)
        dialog.open()

    def _changed(self) -> None:
        if self._job is not None:
            return
        self._where.setText(where_text(self._documents.compute, ""))
        self._start.setEnabled(False)
        self._pause.start()

    def _plan(self) -> None:
        if self._job is not None:
            return
        if not self.files.sources():
            self._cost.say("Add files, or drop them on the window.", "")
            return
        order = self.order()

        def plan(_control: TaskControl) -> MakePlan:
            from refbrowser.app.controller.making import plan_of

            return plan_of(order)

        self._planning.run(self, "Look where documents go", plan, self._planned, self._not_planned)

    def _planned(self, plan: MakePlan) -> None:
        self._start.setEnabled(True)
        lines = [plan.text]
        if errors := self.files.errors():
            ends = "left out" if self._skip.isChecked() else "and the first of these ends all"
            lines.append(f"{count_text(errors)} cannot be opened, {ends}.")
        self._cost.say("\n".join(lines), "")

    def _not_planned(self, error: BaseException) -> None:
        self._cost.say(error_text(error), "fault")

    # Carrying it out

    def start(self) -> None:
        """Make the references."""
        if self._job is not None or not self.files.sources():
            return
        order = self.order()

        def make(control: TaskControl) -> MakeReport:
            from refbrowser.app.controller.making import carry_out

            return carry_out(order, control)

        count = len(order.sources)
        what = os.path.basename(order.sources[0]) if count == 1 else f"{count_text(count)} files"
        self._looking.cancel()
        self._planning.cancel()
        self._pause.stop()
        self._made.clear()
        self.files.forget_results()
        self._cost.say(f"Writing into {order.target}", "")
        handle = self.tasks.run(
            self.owner("make"),
            f"Make references of {what}",
            make,
            self._done,
            self._failed,
            received=self._got,
            priority=Priority.EXPORT,
        )
        self._job = handle.number
        self._show_running(True)

    def _got(self, news: tuple[str, Made | BaseException]) -> None:
        source, answer = news
        self.files.tell_result(source, answer)
        if not isinstance(answer, BaseException):
            self._made[source] = answer.target
        self._update_buttons()

    def _show_running(self, running: bool) -> None:
        self._speed = Speed()
        self._bar.setRange(0, 0)
        self._amount.setText("")
        self._progress.setVisible(running)
        self._cancel.setVisible(running)
        self._start.setEnabled(not running)
        self._options.set_running(running)
        fields: tuple[Any, ...] = (self._format, self._target, self._browse, self._named, self._browse_files)
        for widget in (*fields, self._force, self._resume, self._skip):
            widget.setEnabled(not running)
        self._add.setEnabled(not running and bool(self._named.text().strip()))
        self._update_buttons()

    def _update_buttons(self) -> None:
        self._remove.setEnabled(self._job is None and bool(self.files.chosen()))
        count = len(self._to_open())
        self._open.setVisible(bool(self._made))
        self._open.setEnabled(bool(count))
        self._open.setText(f"Open {count} documents" if count > 1 else "Open the document")

    def _follow(self, statuses: list[JobStatus]) -> None:
        for status in statuses:
            if status.number != self._job:
                continue
            self._speed.take(status, time.monotonic())
            show_progress(self._bar, status.done, status.total)
            if status.total:
                files = f"{count_text(status.done)} of {count_text(status.total)} files"
                rate = [f"{self._speed.rate:.3g} files/s"] if self._speed.rate > 0 else []
                self._amount.setText(SEPARATOR.join([files, *rate, *speed_words(self._speed)]))
            if status.state == "cancelled":
                self._cancelled()

    def _cancel_making(self) -> None:
        if self._job is not None:
            self.tasks.cancel(self._job)

    def _cancelled(self) -> None:
        self._resume.setChecked(True)
        made = len(self._made)
        some = (
            f"{count_text(made)} document{' is' if made == 1 else 's are'} made and stay{'s' * (made == 1)}"
        )
        self._ended(f"Cancelled. {some}: Make references goes on from there.", "warning")

    def _done(self, report: MakeReport) -> None:
        from refbrowser.app.controller.making import report_text

        self._ended(report_text(report), "warning" if report.left_out else "")
        # Until something else is asked for.
        self._start.setEnabled(False)

    def _failed(self, error: BaseException) -> None:
        more = "\nWhat was made stays." if self._made else ""
        if self._made:
            self._resume.setChecked(True)
        self._ended(f"{error_text(error)}{more}", "fault")

    def _ended(self, text: str, role: str) -> None:
        self._job = None
        self._show_running(False)
        self._pause.stop()
        self._cost.say(text, role)
        # At what was not looked at yet.
        if self._asked or self.files.unknown():
            self._look()
        self.show()

    # What was made

    def _to_open(self) -> list[str]:
        """Return the documents of the selected files, or the only one that was made."""
        chosen = [self._made[source] for source in self.files.chosen() if source in self._made]
        return chosen[:DROP_LIMIT] or (list(self._made.values()) if len(self._made) == 1 else [])

    def open_made(self) -> None:
        """Open the documents that were made of the selected files."""
        if paths := self._to_open():
            self.openPaths.emit(paths)
            if self._job is None and len(self._made) == 1:
                self.close()

    def reject(self) -> None:
        """Close the sheet, as Escape does; one that makes references comes back with the result."""
        if self._job is not None:
            self.hide()
        else:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._job is not None:
            # It goes on (Jobs shows it).
            event.ignore()
            self.hide()
            return
        super().closeEvent(event)
