"""A dialog that carries out long work, which goes on when it is closed; it comes back with the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.tasks import Priority, TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import framed, one_shot, plain_label, push_button, show_progress
from refbrowser.views.speed import SEPARATOR, Speed

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus

#: What is asked for is looked at after this pause, in milliseconds.
PAUSE = 250


class CostCard(QFrame):
    """Some lines of text, which scroll.

    Parameters
    ----------
    name
        Of the text.
    described
        What it tells.
    options
        What options of the command line are called here.
    lines
        That are seen at once.
    """

    def __init__(self, name: str, described: str, options: Mapping[str, str], lines: int) -> None:
        super().__init__()
        self.setObjectName("card")
        self._options = options
        self._text = plain_label("")
        self._text.setObjectName(name)
        self._text.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.LARGE, theme.MEDIUM)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        area = QScrollArea()
        area.setObjectName(f"{name}Area")
        area.setAccessibleName(described)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self._text)
        inside = QVBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(area)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 2 * theme.MEDIUM)

    def say(self, text: str, role: str) -> None:
        """Show a text, as that of a role of the theme; options are called as they are in the dialog."""
        self._text.setProperty("role", role)
        self._text.style().unpolish(self._text)
        self._text.style().polish(self._text)
        for option, words in self._options.items():
            text = text.replace(option, words)
        self._text.setText(text)


class WorkingDialog(QDialog):
    """Asks for work and carries it out as one job; the window stays usable meanwhile.

    Parameters
    ----------
    tasks
        What runs the job.
    name
        Begins the names of its widgets.
    title
        Of its window.

    Signals
    -------
    changeCompute()
        The user wants to choose where such work runs.
    """

    changeCompute = Signal()

    def __init__(self, tasks: Tasks, name: str, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.tasks, self._name = tasks, name
        self._job: int | None = None
        self._speed = Speed()
        self._pause = one_shot(self, PAUSE, self._look_ahead)
        #: What cannot be changed while the job runs.
        self._fields: Sequence[QWidget] = ()

    # What a dialog of some work has

    def _changed(self) -> None:
        """Take note that something else is asked for."""
        raise NotImplementedError

    def _look_ahead(self) -> None:
        """Tell what would be done."""
        raise NotImplementedError

    def _words_of(self, status: JobStatus) -> list[str]:
        """Return how far the job is."""
        raise NotImplementedError

    def _cancelled(self) -> None:
        """Say what a job that was cancelled leaves."""
        raise NotImplementedError

    # Parts

    def _lay_out(self, heading: str, body: QWidget, buttons: QLayout) -> None:
        title = plain_label(heading)
        title.setFont(theme.heading_font())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        whole.setSpacing(theme.LARGE)
        whole.addWidget(title)
        whole.addWidget(framed(body), 1)
        whole.addWidget(self._make_progress())
        whole.addLayout(buttons)

    def _check(self, name: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setObjectName(name)
        box.setAccessibleName(text)
        box.toggled.connect(lambda _on: self._changed())
        return box

    def _make_form(
        self, rows: Sequence[tuple[str, QWidget | QLayout, QWidget | None]], width: int
    ) -> QFormLayout:
        """Return rows of a label, what is beside it, and what its letter leads to; labels are so wide."""
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.setHorizontalSpacing(theme.MEDIUM)
        form.setVerticalSpacing(theme.MEDIUM)
        for text, beside, buddy in rows:
            form.addRow(text, beside)
            label = form.labelForField(beside)
            if isinstance(label, QLabel):
                label.setMinimumWidth(width)
                if buddy is not None:
                    label.setBuddy(buddy)
        return form

    def _make_ticks_line(self, boxes: Sequence[QCheckBox]) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(theme.HUGE)
        for box in boxes:
            line.addWidget(box)
        line.addStretch(1)
        return line

    def _make_where(self, described: str, change: str) -> QHBoxLayout:
        self._where = plain_label("")
        self._where.setObjectName(f"{self._name}Where")
        self._where.setAccessibleName(described)
        button = push_button("Change…", f"{self._name}ComputeButton", self.changeCompute.emit, flat=True)
        button.setAccessibleName(change)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._where, 1)
        line.addWidget(button)
        return line

    def _make_progress(self) -> QWidget:
        self._progress = QWidget()
        self._bar = QProgressBar()
        self._bar.setObjectName(f"{self._name}Progress")
        self._bar.setAccessibleName("Progress")
        self._bar.setTextVisible(False)
        self._amount = plain_label("", role="muted", wrap=False)
        self._amount.setObjectName(f"{self._name}Amount")
        line = QHBoxLayout(self._progress)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.LARGE)
        line.addWidget(self._bar, 1)
        line.addWidget(self._amount)
        self._progress.hide()
        return self._progress

    def _make_buttons(
        self, left: Sequence[QPushButton], cancel: str, verb: str, start: Callable[[], object]
    ) -> QHBoxLayout:
        self._cancel = push_button(cancel, f"{self._name}CancelButton", self._cancel_job)
        self._close = push_button("Close", f"{self._name}CloseButton", self.close)
        self._start = push_button(verb, f"{self._name}StartButton", start)
        self._start.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        for button in left:
            line.addWidget(button)
        line.addStretch(1)
        for button in (self._cancel, self._close, self._start):
            line.addWidget(button)
        for button in (*left, self._cancel):
            button.hide()
        return line

    # Carrying it out

    def _run(
        self,
        owner: str,
        title: str,
        work: Callable[[TaskControl], Any],
        done: Callable[[Any], None],
        failed: Callable[[BaseException], None],
        received: Callable[[Any], None] | None = None,
    ) -> None:
        handle = self.tasks.run(
            owner,
            title,
            work,
            done,
            failed,
            received=received,
            followed=self._follow,
            priority=Priority.EXPORT,
        )
        self._job = handle.number
        self._show_running(True)

    def _show_running(self, running: bool) -> None:
        self._speed = Speed()
        self._bar.setRange(0, 0)
        self._amount.setText("")
        self._progress.setVisible(running)
        self._cancel.setVisible(running)
        self._start.setEnabled(not running)
        for widget in self._fields:
            widget.setEnabled(not running)

    def _follow(self, status: JobStatus) -> None:
        self._speed.take(status, time.monotonic())
        show_progress(self._bar, status.done, status.total)
        if status.total:
            self._amount.setText(SEPARATOR.join(self._words_of(status)))
        if status.state == "cancelled":
            self._cancelled()

    def _cancel_job(self) -> None:
        if self._job is not None:
            self.tasks.cancel(self._job)

    def _ended(self) -> None:
        """Take note that the job has ended, and come back where the dialog was closed meanwhile."""
        self._job = None
        self._show_running(False)
        self.show()

    def reject(self) -> None:
        """Close the dialog, as Escape does; one whose job runs comes back with the result."""
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
