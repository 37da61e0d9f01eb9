"""The sheet "Make references": of which files, in which form and where to; progress; what became of each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.dialogs.export_options import OptionsForm
from refbrowser.app.dialogs.working_dialog import CostCard, WorkingDialog
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import Priority, TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.dropped_items import DROP_LIMIT
from refbrowser.app.widgets.small_widgets import plain_label, push_button, resize_within_screen
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.registry import REFERENCES, form_named, formats
from refbrowser.io.origins import local_path
from refbrowser.tools.make.window.make_files import FilesTable
from refbrowser.views.compute_places import where_text
from refbrowser.views.speed import speed_words
from refbrowser.words import count_text, plural

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.exporting.making.made_references import Made, MakeReport
    from refbrowser.tools.make.making import MakeOrder, MakePlan, SourceFacts

#: What the command line calls its options, and what they are called here.
_OPTIONS = {
    "--skip-bad": "“Leave out files that cannot be read”",
    "--force": "“Replace existing documents”",
    "--resume": "“Keep documents that are newer than their files”",
    "--relative": "“Name files relative to their documents”",
    "--url-template": "“Template”",
}
_ABOUT = (
    "Each file gets its own document, in which its variables are references to the bytes in the "
    "file: no data is copied. Before a document counts as done, chunks of every variable are read through "
    "it and compared with the file."
)
#: Lines of what is told that are seen at once.
_LINES = 4


class MakeSheet(WorkingDialog):
    """Asks of which files references are made, and makes them; the window stays usable meanwhile.

    Signals
    -------
    openPaths(list)
        The user wants to open documents that were made.
    combineWanted(list)
        The user wants one document of all files.
    """

    openPaths = Signal(list)
    combineWanted = Signal(list)

    def __init__(self, documents: Documents, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(tasks, "make", "Make references", parent)
        self.setObjectName("makeSheet")
        self._documents = documents
        self._looking = Latest(self, "make look")
        self._planning = Latest(self, "make plan")
        self._made: dict[str, str] = {}
        #: The target that was chosen by the sheet itself, and follows the files.
        self._target_chosen = ""
        self._asked: list[str] = []
        self._build()
        self._skip.setChecked(True)
        resize_within_screen(self, max(820, self.sizeHint().width()), 700)
        documents.computeChanged.connect(self._changed)
        self._format_chosen()

    def owner(self, what: str) -> str:
        """Return the name of its work of one kind."""
        return f"{what} {id(self)}"

    # Parts

    def _build(self) -> None:
        self.files = FilesTable()
        self.files.openWanted.connect(self.open_made)
        self.files.removeWanted.connect(self.remove_files)
        self.files.chosenChanged.connect(self._update_buttons)
        self._cost = CostCard("makeCost", "What is made", _OPTIONS, _LINES)
        self._options = OptionsForm(ReferenceOptions)
        self._options.changed.connect(self._changed)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addLayout(self._make_adding())
        layout.addWidget(self._make_several())
        layout.addWidget(self.files, 1)
        layout.addLayout(self._make_fields())
        layout.addWidget(self._options)
        layout.addWidget(self._cost)
        self._open = push_button("Open the document", "makeOpenButton", self.open_made)
        self._open.setToolTip("Open what was made of the selected files")
        foot = self._make_buttons((self._open,), "Cancel", "Make references", self.start)
        self._lay_out("Make references", body, foot)

    def _make_several(self) -> QFrame:
        """Return what leads to one document of all files, which is what many have in mind."""
        self._several = QFrame()
        self._several.setObjectName("card")
        self._count = plain_label("")
        self._count.setObjectName("makeSeveral")
        combine = push_button("Com&bine into one…", "makeCombineButton", self._combine_files)
        combine.setToolTip("One document of all files, along a dimension; what differs is shown first")
        line = QHBoxLayout(self._several)
        line.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._count, 1)
        line.addWidget(combine)
        self._several.hide()
        return self._several

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
        self._remove.setToolTip(
            "Remove the selected files from the list; the files themselves stay as they are"
        )
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._named, 1)
        for button in (self._add, self._browse_files, self._remove):
            line.addWidget(button)
        return line

    def _make_fields(self) -> QFormLayout:
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
        self._force = self._check("makeForce", "Replace existing documents")
        self._resume = self._check("makeResume", "Keep documents that are newer than their files")
        self._skip = self._check("makeSkipBad", "Leave out files that cannot be read")
        self._resume.setToolTip("Continues a cancelled run: finished documents are not made again")
        self._skip.setToolTip("Otherwise the first file that cannot be referenced stops the run")
        ticks = self._make_ticks_line((self._force, self._resume, self._skip))
        runs = self._make_where("Where references are made", "Change where references are made")
        self._fields = (
            *(self._format, self._target, self._browse, self._named, self._browse_files, self._options),
            *(self._force, self._resume, self._skip),
        )
        rows = (
            ("For&m", self._format, None),
            ("In&to", where, self._target),
            ("", ticks, None),
            ("Runs", runs, None),
        )
        return self._make_form(rows, self._options.width_of_labels())

    # Files

    def add(self, texts: Sequence[str]) -> None:
        """Add files: paths and URLs, patterns of paths, and lists; each is looked at."""
        self._asked += texts
        self._look()

    def _look(self) -> None:
        """Look at the files that were named, and at those in the list that are not known yet."""
        asked, unknown, settings = tuple(self._asked), self.files.unknown(), self._documents.settings

        def look(control: TaskControl) -> None:
            from refbrowser.tools.make.making import look_at_files

            look_at_files(asked, unknown, settings, control, control.send)

        self._looking.run(
            self,
            "Look at files of data",
            look,
            self._looked,
            self._not_found,
            received=self._seen,
            priority=Priority.STATISTICS,
        )

    def _seen(self, news: list[str] | SourceFacts) -> None:
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
        if self._job is None and self.files.has_chosen():
            self.files.remove_chosen()
            self._look()
            self._choose_target()
            self._changed()

    # What is asked for

    def order(self) -> MakeOrder:
        """Return what the sheet asks for."""
        from refbrowser.tools.make.making import MakeOrder

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

    def _look_ahead(self) -> None:
        if self._job is not None:
            return
        if not self.files.sources():
            self._cost.say("Add files, or drop them on the window.", "")
            return
        order = self.order()

        def plan(_control: TaskControl) -> MakePlan:
            from refbrowser.tools.make.making import plan_of

            return plan_of(order)

        self._planning.run(self, "Check where documents go", plan, self._planned, self._not_planned)

    def _planned(self, plan: MakePlan) -> None:
        self._start.setEnabled(True)
        lines = [plan.text]
        if errors := self.files.errors():
            ends = "left out" if self._skip.isChecked() else "and the first of these stops the run"
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
            from refbrowser.tools.make.making import carry_out

            return carry_out(order, control, control.send)

        count = len(order.sources)
        what = os.path.basename(order.sources[0]) if count == 1 else f"{count_text(count)} files"
        self._looking.cancel()
        self._planning.cancel()
        self._pause.stop()
        self._made.clear()
        self.files.forget_results()
        self._cost.say(f"Writing into {order.target}", "")
        self._run(self.owner("make"), f"Make references of {what}", make, self._done, self._failed, self._got)

    def _got(self, news: tuple[str, Made | BaseException]) -> None:
        source, answer = news
        self.files.tell_result(source, answer)
        if not isinstance(answer, BaseException):
            self._made[source] = answer.target
        self._update_buttons()

    def _show_running(self, running: bool) -> None:
        super()._show_running(running)
        self._add.setEnabled(not running and bool(self._named.text().strip()))
        self._update_buttons()

    def _update_buttons(self) -> None:
        self._remove.setEnabled(self._job is None and self.files.has_chosen())
        several = len(self.files.sources())
        self._several.setVisible(self._job is None and not self._made and several > 1)
        self._count.setText(
            f"Are these {count_text(several)} files parts of one dataset? Combined, a variable is one array."
        )
        count = len(self._to_open())
        self._open.setVisible(bool(self._made))
        self._open.setEnabled(bool(count))
        self._open.setText(plural(max(1, count), "Open the document", f"Open {count} documents"))

    def _words_of(self, status: JobStatus) -> list[str]:
        files = f"{count_text(status.done)} of {count_text(status.total or 0)} files"
        rate = [f"{self._speed.rate:.3g} files/s"] if self._speed.rate > 0 else []
        return [files, *rate, *speed_words(self._speed)]

    def _cancelled(self) -> None:
        self._resume.setChecked(True)
        made = len(self._made)
        some = f"{count_text(made)} {plural(made, 'document is', 'documents are')} made and kept"
        self._told(f"Cancelled. {some}: Make references continues from there.", "warning")

    def _done(self, report: MakeReport) -> None:
        from refbrowser.tools.make.making import report_text

        self._told(report_text(report), "warning" if report.left_out else "")
        # Until something else is asked for.
        self._start.setEnabled(False)

    def _failed(self, error: BaseException) -> None:
        more = "\nWhat was made stays." if self._made else ""
        if self._made:
            self._resume.setChecked(True)
        self._told(f"{error_text(error)}{more}", "fault")

    def _told(self, text: str, role: str) -> None:
        self._ended()
        self._pause.stop()
        self._cost.say(text, role)
        # At what was not looked at yet.
        if self._asked or self.files.unknown():
            self._look()

    def _combine_files(self) -> None:
        self.combineWanted.emit(list(self.files.sources()))
        self.close()

    # What was made

    def _to_open(self) -> list[str]:
        """Return the documents of the selected files, or the only one that was made."""
        chosen = (self._made[source] for source in self.files.chosen() if source in self._made)
        return list(islice(chosen, DROP_LIMIT)) or (list(self._made.values()) if len(self._made) == 1 else [])

    def open_made(self) -> None:
        """Open the documents that were made of the selected files."""
        if paths := self._to_open():
            self.openPaths.emit(paths)
            if self._job is None and len(self._made) == 1:
                self.close()
