"""The export dialog: what, as which format, where to; what it costs; progress; and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.export_options import OptionsForm, has_chunks_of_arrays
from refbrowser.app.dialogs.working_dialog import CostCard, WorkingDialog
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import plain_label, push_button, resize_within_screen
from refbrowser.errors import RefbrowserError, StaleError
from refbrowser.exporting.option_fields import group_of, groups
from refbrowser.formats.format import Written
from refbrowser.formats.option_fields import Kind, declared
from refbrowser.formats.registry import form_named, readers, written
from refbrowser.io.origins import OBJECT_STORES, Origin
from refbrowser.tools.export.window.export_arrays import ArraysTable
from refbrowser.tools.export.window.export_check import CheckTable
from refbrowser.views.compute_places import ComputeChoice, where_text
from refbrowser.views.locks import stale_words
from refbrowser.views.speed import speed_words
from refbrowser.views.words import one_line
from refbrowser.words import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.exporting.check import CheckReport
    from refbrowser.exporting.request import ExportReport
    from refbrowser.tools.export.window.export_work import Cost, Order


ALLOW_STALE = "Read files that differ from the lock"
#: What the command line calls its options, and what they are called here.
_OPTIONS = {
    "--skip-bad": "“Leave out what cannot be read”",
    "--zip-folder": "“Keys: Below one folder”",
    "--split-compounds": "“Split compounds into variables”",
    "--force": "“Replace what is there”",
    "--resume": "“Go on with an interrupted export”",
    "(refbrowser lock DOC --update URL)": f"(Tools > Accept the new state…), or tick “{ALLOW_STALE}”",
}
_STALE_TIP = (
    "These files have changed since the references were made: values written from them may be wrong, and "
    "nothing in the target shows it. Without the tick, an export that needs one of them fails"
)
#: Lines that are seen at once.
_LINES = 6


def ask_leftover(parent: QWidget, target: str, answered: Callable[[bool], object], *, is_same: bool) -> None:
    """Ask whether an export goes on, or removes what an interrupted one wrote and begins anew.

    Parameters
    ----------
    answered
        Called with whether it goes on; not at all where nothing is to be done.
    is_same
        It can go on; else what was written is of another export.
    """
    name = one_line(Path(target).name)
    box = QMessageBox(parent)
    box.setObjectName("exportLeftover")
    box.setWindowTitle("Export")
    box.setTextFormat(Qt.TextFormat.PlainText)
    resume = None
    if is_same:
        box.setText(f"An export to {name} was interrupted")
        box.setInformativeText("Continue from there, or remove what it wrote and start over?")
        resume = box.addButton("Go on", QMessageBox.ButtonRole.AcceptRole)
        resume.setObjectName("exportLeftoverResume")
    else:
        box.setText(f"Another export to {name} was interrupted")
        box.setInformativeText(
            "It was of another format, of other arrays, or with other options: this one cannot continue "
            "it. Remove what it wrote and start over? Another target keeps it."
        )
    anew = box.addButton("Start over", QMessageBox.ButtonRole.DestructiveRole)
    anew.setObjectName("exportLeftoverAnew")
    cancel = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    cancel.setObjectName("exportLeftoverCancel")
    box.setDefaultButton(resume or cancel)
    box.setEscapeButton(cancel)

    def finished(_code: int) -> None:
        clicked = box.clickedButton()
        if clicked is anew or (resume is not None and clicked is resume):
            answered(clicked is not anew)

    box.finished.connect(finished)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()


class ExportDialog(WorkingDialog):
    """Asks for an export and carries it out; the window stays usable meanwhile.

    Signals
    -------
    openPath(str)
        The user wants to open the document that was written.
    connectTarget(str)
        The user wants to say how to connect to the bucket of this URL.
    """

    openPath = Signal(str)
    connectTarget = Signal(str)

    def __init__(self, document: OpenDocument, array: str | None, parent: QWidget | None = None) -> None:
        super().__init__(document.tasks, "export", "Export", parent)
        self.setObjectName("exportDialog")
        self._document = document
        self._estimating = Latest(self, "export cost")
        self._result = ""
        self._carried: Order | None = None
        #: What an interrupted export left at the target: the value of `Leftover`.
        self._leftover = ""
        self._is_check = False
        self._suffix_chosen = ""
        self._build()
        resize_within_screen(self, max(760, self.sizeHint().width()), 700)
        if array is not None:
            self.arrays.show_path(array)
        self._format_chosen()
        document.trustChanged.connect(self.refresh)
        self._changed()

    # Parts

    def _build(self) -> None:
        hierarchy = self._document.hierarchy
        assert hierarchy is not None
        self.arrays = ArraysTable(hierarchy)
        self.arrays.edited.connect(self._changed)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.LARGE)
        #: What most look for comes first.
        self.formats = sorted(written().values(), key=lambda form: form.rank)
        self._forms = {group: OptionsForm(group) for group in groups()}
        layout.addLayout(self._make_fields())
        # One of them is seen, in the same room.
        self._options = QStackedWidget()
        self._options.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for each in self._forms.values():
            each.changed.connect(self._options_changed)
            self._options.addWidget(each)
        layout.addWidget(self._options)
        layout.addWidget(self._make_pages(), 1)
        self._cost = CostCard("exportCost", "What the export costs and loses", _OPTIONS, _LINES)
        self._cost.say("Computing the cost…", "")
        layout.addWidget(self._cost)
        self._lay_out(f"Export {one_line(self._document.title)}", body, self._make_foot())

    def _make_fields(self) -> QFormLayout:
        self._format = QComboBox()
        self._format.setObjectName("exportFormat")
        self._format.setAccessibleName("Format of the target")
        for each in self.formats:
            self._format.addItem(each.title, each.name)
        self._format.currentIndexChanged.connect(lambda _index: self._format_chosen())
        self._target = QLineEdit()
        self._target.setObjectName("exportTarget")
        self._target.setAccessibleName("Target path")
        self._target.textChanged.connect(lambda _text: self._changed())
        where = QHBoxLayout()
        where.setSpacing(theme.MEDIUM)
        where.addWidget(self._target, 1)
        self._browsing = push_button("Browse…", "exportBrowseButton", self._browse)
        where.addWidget(self._browsing)
        self._connection = push_button(
            "Connection…",
            "exportConnectionButton",
            lambda: self.connectTarget.emit(self._target.text().strip()),
        )
        self._connection.setToolTip("Credentials, endpoint and region for the bucket that is written to")
        where.addWidget(self._connection)
        self._force = self._check("exportForce", "Replace what is there")
        self._resume = self._check("exportResume", "Go on with an interrupted export")
        self._skip = self._check("exportSkipBad", "Leave out what cannot be read")
        self._allow_stale = self._check("exportAllowStale", ALLOW_STALE)
        self._allow_stale.setToolTip(theme.plain_tooltip(_STALE_TIP))
        ticks = self._make_ticks_line((self._force, self._resume, self._skip))
        runs = self._make_where("Where the export runs", "Change where exports run")
        self._fields = (
            *(self._format, self._target, self._browsing, self.arrays, self._force, self._skip),
            self._allow_stale,
            *self._forms.values(),
        )
        rows = (
            ("&Format", self._format, None),
            ("&Target", where, self._target),
            ("", ticks, None),
            ("", self._allow_stale, None),
            ("Runs", runs, None),
        )
        width = max(below.width_of_labels() for below in self._forms.values())
        for below in self._forms.values():
            below.align(width)
        self._rows = self._make_form(rows, width)
        self._offer_stale(bool(self._document.lock.stale))
        return self._rows

    def _offer_stale(self, is_any: bool) -> None:
        """Offer to read files that are not those of the lock, where there are any."""
        self._rows.setRowVisible(self._allow_stale, is_any)

    def _make_pages(self) -> QStackedWidget:
        """Return the arrays, and in their place what a check of the result found."""
        choice = QWidget()
        inside = QVBoxLayout(choice)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addLayout(self._make_ticks())
        inside.addWidget(self.arrays, 1)
        self._pages = QStackedWidget()
        self.checked = CheckTable()
        self.checked.left.connect(lambda: self._pages.setCurrentIndex(0))
        self._pages.addWidget(choice)
        self._pages.addWidget(self.checked)
        return self._pages

    def _make_ticks(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.addWidget(plain_label("Arrays", role="paneTitle", wrap=False), 1)
        line.addWidget(push_button("All", "exportAllButton", lambda: self.arrays.tick_all(True), flat=True))
        line.addWidget(
            push_button("None", "exportNoneButton", lambda: self.arrays.tick_all(False), flat=True)
        )
        return line

    def _make_foot(self) -> QHBoxLayout:
        self._open = push_button("Open the result", "exportOpenButton", self._open_result)
        self._check_it = push_button("Check with other software", "exportCheckButton", self.check)
        self._check_it.setToolTip(
            f"Read the result with {' or '.join(readers())}, and compare it with the source"
        )
        return self._make_buttons((self._open, self._check_it), "Cancel the export", "Export", self.start)

    # What is asked for

    def order(self) -> Order:
        """Return what the dialog asks for."""
        from refbrowser.tools.export.window.export_work import Order

        target = self._target.text().strip()
        return Order(
            target,
            str(self._format.currentData()),
            self.arrays.choices(),
            self._force.isChecked(),
            self.format.resumes and self._resume.isChecked(),
            self._skip.isChecked(),
            self._said(target),
            self._document.shared.compute,
            self._allow_stale.isChecked(),
        )

    def _said(self, target: str) -> dict[str, Any]:
        """Return what is said of the options, those of single arrays among them."""
        group = group_of(self.format)
        if group is None:
            return {}
        said = self.options.said()
        for name, each in said.items():
            if isinstance(each, str):
                said[name] = each.replace("{name}", _stem(Path(target).name))
        chunks = tuple(f"{path}={text}" for path, text in self.arrays.chunks().items())
        for name, option in declared(group).items():
            if option.kind is Kind.ARRAYS and chunks:
                said[name] = chunks
        return said

    @property
    def format(self) -> Written:
        """The format that is chosen."""
        return self.formats[self._format.currentIndex()]

    @property
    def options(self) -> OptionsForm:
        """The options that are seen: those of the format, or the first ones where it has none."""
        group = group_of(self.format)
        return next(iter(self._forms.values())) if group is None else self._forms[group]

    def choose_format(self, name: str) -> None:
        """Choose a format by its name."""
        self._format.setCurrentIndex(self._format.findData(name))

    def choose_chunks(self, path: str, chunks: str) -> None:
        """Fill in the chunks of an array, in a format that has any to choose."""
        if not has_chunks_of_arrays(self.format):
            self.choose_format(next(form.name for form in self.formats if has_chunks_of_arrays(form)))
        self.arrays.set_chunks(path, chunks)

    def _format_chosen(self) -> None:
        for each in self._forms.values():
            each.set_format(self.format)
        self._options.setCurrentWidget(self.options)
        self.arrays.set_chunks_usable(has_chunks_of_arrays(self.format))
        self._resume.setEnabled(self.format.resumes)
        self._choose_target()
        # The target may have the same name as before.
        self._changed()

    def _options_changed(self) -> None:
        if self._suffix() != self._suffix_chosen:
            self._choose_target()
        self._changed()

    def _suffix(self) -> str:
        """Return what the name of the target ends with."""
        group = group_of(self.format)
        return self.format.suffix + ("" if group is None else group.ending(self.options.said()))

    def _choose_target(self) -> None:
        suffix = self._suffix_chosen = self._suffix()
        document = self._document
        folder = Path(document.path).parent if "://" not in document.path else Path.home()
        stem = _stem(document.name)
        plain = folder / f"{stem}{suffix}"
        self._target.setText(str(plain if str(plain) != document.path else folder / f"{stem}-export{suffix}"))

    def _browse(self) -> None:
        dialog = QFileDialog(self, "Target of the export", self._target.text())
        dialog.setObjectName("exportBrowseDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.selectFile(self._target.text())
        dialog.fileSelected.connect(self._target.setText)
        dialog.open()

    def refresh(self) -> None:
        """Take note that exports run somewhere else, or may read or connect otherwise, from now on."""
        # One that runs stays as it is, and what became of one is still to be read.
        if self._job is None and not self._open.isVisibleTo(self):
            self._changed()

    def _changed(self) -> None:
        self._tell_where("")
        self._connection.setVisible(is_bucket(self._target.text().strip()))
        self._start.setEnabled(False)
        self._open.hide()
        self._check_it.hide()
        self._pages.setCurrentIndex(0)
        self._pause.start()

    def _look_ahead(self) -> None:
        self._compute(self._show_cost, self._show_error)

    def _look(self) -> None:
        """Look what a run that ended early left at the target; what is told of it stays."""
        self._compute(self._note, lambda _error: None)

    def _compute(self, done: Callable[[Cost], None], failed: Callable[[BaseException], None]) -> None:
        document, order = self._document, self.order()
        dataset = document.dataset
        if dataset is None or self._job is not None:
            return

        def compute(control: TaskControl) -> Cost:
            from refbrowser.tools.export.window.export_work import cost_of

            return cost_of(dataset, order, control)

        self._estimating.run(document, "Estimate the export", compute, done, failed)

    def _note(self, cost: Cost) -> None:
        self._leftover = cost.estimate.leftover.value

    def _tell_where(self, why_here: str, partly_here: str = "") -> None:
        self._where.setText(where_text(self._document.shared.compute, why_here, partly_here))

    def _show_cost(self, cost: Cost) -> None:
        self._note(cost)
        self._tell_where(cost.estimate.here, cost.estimate.partly_here)
        self._cost.say(cost.text(), "")
        self._start.setEnabled(True)

    def _show_error(self, error: BaseException) -> None:
        self._cost.say(error_text(error), "fault")

    # Carrying it out

    def start(self) -> None:
        """Start the export; asks first where an interrupted one left something that would be removed."""
        order = self.order()
        if self._leftover == "other" or (self._leftover == "same" and not order.resume):
            self._ask(order)
        else:
            self._carry_out(order)

    def _ask(self, order: Order) -> None:
        """Ask what is to become of what an interrupted export left."""

        def answered(goes_on: bool) -> None:
            self._resume.setChecked(goes_on)
            self._pause.stop()
            self._carry_out(replace(order, resume=goes_on))

        ask_leftover(self, order.target, answered, is_same=self._leftover == "same")

    def _carry_out(self, order: Order) -> None:
        document = self._document
        dataset = document.dataset
        if dataset is None or self._job is not None:
            return

        def export(control: TaskControl) -> ExportReport:
            from refbrowser.tools.export.window.export_work import carry_out

            return carry_out(dataset, order, control)

        self._result, self._carried = order.target, order
        where = "" if order.compute == ComputeChoice() else f" {order.compute.words}"
        self._cost.say(f"Writing {order.target}{where}", "")
        self._run(
            document.owner("export"),
            f"Export {document.title} to {Path(order.target).name}{where}",
            export,
            self._done,
            self._failed,
        )
        if where:
            self._amount.setText("waiting for workers")

    def _show_running(self, running: bool) -> None:
        super()._show_running(running)
        self._cancel.setText("Cancel the check" if self._is_check else "Cancel the export")
        self._open.setEnabled(not running)
        self._check_it.setEnabled(not running)
        self._resume.setEnabled(not running and self.format.resumes)

    def _words_of(self, status: JobStatus) -> list[str]:
        what = "parts" if self._is_check else "chunks"
        amount = f"{count_text(status.done)} of {count_text(status.total or 0)} {what}"
        read = [] if self._is_check else [f"{size_text(status.read_bytes)} read"]
        return [amount, *read, *speed_words(self._speed)]

    def _cancelled(self) -> None:
        if self._is_check:
            self._check_ended()
            return
        more = (
            "What was written stays: Export continues from there, or starts over if "
            "“Go on with an interrupted export” is not ticked."
        )
        self._told(
            f"Cancelled. {more if self.format.resumes else 'Everything it wrote was removed.'}", "warning"
        )
        self._resume.setChecked(self.format.resumes)
        self._pause.stop()
        self._start.setEnabled(True)
        self._look()

    def _done(self, report: ExportReport) -> None:
        from refbrowser.tools.export.window.export_work import report_text

        is_allowed = self._carried is not None and self._carried.allow_stale
        stale = stale_words(self._document.lock.stale, "written") if is_allowed else ""
        self._told(report_text(report) + (f"\n{stale}." if stale else ""), "warning" if stale else "")
        self._open.setVisible(True)
        self._check_it.setVisible(bool(form_named(report.format).readers))
        self._start.setEnabled(False)

    def _failed(self, error: BaseException) -> None:
        self._told(error_text(error), "fault")
        if isinstance(error, StaleError):
            self._offer_stale(True)
        self._look()

    def _told(self, text: str, role: str) -> None:
        self._ended()
        self._cost.say(text, role)

    # Checking the result

    def check(self) -> None:
        """Read the result with other software, and compare it with the source."""
        document, order = self._document, self._carried
        dataset = document.dataset
        if dataset is None or order is None or self._job is not None:
            return

        def check(control: TaskControl) -> CheckReport:
            from refbrowser.tools.export.window.export_work import check_with_others

            return check_with_others(dataset, order, control)

        title = f"Check {Path(order.target).name} with other software"
        self._is_check = True
        self._run(document.owner("export check"), title, check, self._checked, self._check_failed)

    def _checked(self, report: CheckReport) -> None:
        self._check_ended()
        self.checked.show_report(report)
        self._pages.setCurrentWidget(self.checked)

    def _check_failed(self, error: BaseException) -> None:
        self._check_ended()
        self._cost.say(error_text(error), "fault")

    def _check_ended(self) -> None:
        self._is_check = False
        self._ended()
        self._start.setEnabled(False)

    def _open_result(self) -> None:
        self.openPath.emit(self._result)
        self.close()


def is_bucket(target: str) -> bool:
    """Tell whether a target is in a bucket, not on a disk."""
    try:
        return "://" in target and Origin.parse(target).scheme in OBJECT_STORES
    except RefbrowserError:
        return False


def _stem(name: str) -> str:
    """Return a file's name without its suffixes."""
    return name.split(".")[0] or "export"
