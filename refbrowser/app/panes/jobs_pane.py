"""The jobs pane: what runs, how far it is, how fast it goes and how long it still takes, and Cancel."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.docks import hint_of
from refbrowser.app.widgets.small_widgets import hint_label, push_button
from refbrowser.app.widgets.table_models import LEFT, ROOT, Index, TitledModel
from refbrowser.views.speed import SEPARATOR, Speed, job_words
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus


COLUMNS = ("Job", "State")
_STATE_WIDTH = 84
#: Around a text of the table, in pixels, and the bar that shows how much is done.
_AROUND, _BAR = 8, 70
#: Share of the work done, 0 to 1, or None where it is not known.
SHARE_ROLE = Qt.ItemDataRole.UserRole + 1
#: What is told of a job beside its title and state, what matters most first.
WORDS_ROLE = Qt.ItemDataRole.UserRole + 2
#: Jobs that ended stay in the list up to this number.
KEPT = 100
#: A job that ends well within this many seconds is not worth a row.
BRIEF = 0.2


class JobsModel(TitledModel):
    """One row per job, the newest first."""

    titles = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[JobStatus] = []
        self._speeds: dict[int, Speed] = {}

    def update(self, statuses: list[JobStatus]) -> None:
        """Take over what changed."""
        places = {status.number: row for row, status in enumerate(self._rows)}
        fresh = [status for status in statuses if status.number not in places and not _is_brief(status)]
        for status in statuses:
            row = places.get(status.number)
            if row is not None:
                self._rows[row] = status
            self._follow(status)
        gone = [status for status in self._rows if _is_brief(status)]
        if fresh or gone:
            self.beginResetModel()
            kept = [status for status in self._rows if not _is_brief(status)]
            self._rows = (fresh[::-1] + kept)[:KEPT]
            self.endResetModel()
        elif self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(COLUMNS) - 1))

    def _follow(self, status: JobStatus) -> None:
        if status.state.finished:
            self._speeds.pop(status.number, None)
        elif status.state == "running":
            self._speeds.setdefault(status.number, Speed()).take(status, time.monotonic())

    def words(self, status: JobStatus) -> str:
        """Return what is told of a job beside its title and state."""
        speed = self._speeds.get(status.number, Speed())
        return SEPARATOR.join(job_words(status, share_of(status), speed, time.monotonic()))

    def status(self, row: int) -> JobStatus | None:
        """Return the job of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def running(self) -> list[JobStatus]:
        """Return the jobs that wait or run, the newest first."""
        return [status for status in self._rows if not status.state.finished]

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Put everything to the left."""
        return LEFT

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        status = self.status(index.row())
        if status is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return str(status.state) if index.column() else one_line(status.job.title)
        if role == SHARE_ROLE:
            return share_of(status)
        if role in (WORDS_ROLE, Qt.ItemDataRole.AccessibleDescriptionRole):
            return self.words(status)
        if role == Qt.ItemDataRole.ToolTipRole:
            error = f"\n{error_text(status.error)}" if status.error is not None else ""
            return theme.plain_tooltip(f"{status.job.title}\n{self.words(status)}{error}")
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 1 and status.state == "failed":
            return QColor(theme.colors().fault)
        return None


class JobsPane(QWidget):
    """The table of jobs with its Cancel buttons."""

    def __init__(self, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self.model = JobsModel(self)
        self._table = QTableView()
        self._table.setObjectName("jobsView")
        self._table.setTabKeyNavigation(False)
        self._table.setAccessibleName("Jobs")
        self._table.setModel(self.model)
        self._table.setItemDelegateForColumn(0, _JobDelegate(self._table))
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setShowGrid(False)
        self._table.verticalHeader().hide()
        self._table.verticalHeader().setDefaultSectionSize(2 * self.fontMetrics().lineSpacing() + _AROUND)
        self._table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._table.horizontalHeader().setHighlightSections(False)
        self._table.horizontalHeader().resizeSection(1, _STATE_WIDTH)
        self._empty = hint_label(hint_of("jobsDock"))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._table)
        self._cancel = push_button("Cancel", "jobCancelButton", self.cancel_selected)
        self._cancel_all = push_button("Cancel all", "jobCancelAllButton", self.cancel_all)
        self._table.selectionModel().selectionChanged.connect(lambda *_: self._update_buttons())
        buttons = QVBoxLayout()
        buttons.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.SMALL, theme.SMALL)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._cancel_all)
        buttons.addStretch(1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._pages, 1)
        layout.addLayout(buttons)
        self._clock = QTimer(self)
        self._clock.setInterval(500)
        self._clock.timeout.connect(self._tick)
        self._is_seen = False
        self._update_buttons()

    def cancel_selected(self) -> None:
        """Cancel the job of the selected row."""
        status = self.model.status(self._table.currentIndex().row())
        if status is not None:
            self._tasks.cancel(status.number)

    def cancel_newest(self) -> None:
        """Cancel the job that was started last."""
        running = [status for status in self._tasks.statuses() if not status.state.finished]
        if running:
            self._tasks.cancel(running[-1].number)

    def cancel_all(self) -> None:
        """Cancel every job."""
        for status in self._tasks.statuses():
            self._tasks.cancel(status.number)

    def set_seen(self, is_seen: bool) -> None:
        """Take note whether the pane is in sight: what happened meanwhile is shown once it is."""
        if is_seen == self._is_seen:
            return
        self._is_seen = is_seen
        if is_seen:
            self._tasks.statusChanged.connect(self._changed)
            self._changed(self._tasks.statuses())
        else:
            self._tasks.statusChanged.disconnect(self._changed)
            self._clock.stop()

    def _changed(self, statuses: list[JobStatus]) -> None:
        chosen = self.model.status(self._table.currentIndex().row())
        self.model.update(statuses)
        if chosen is not None and self._table.currentIndex().row() < 0:
            for row in range(self.model.rowCount()):
                status = self.model.status(row)
                if status is not None and status.number == chosen.number:
                    self._table.selectRow(row)
        self._clock.start()
        self._update_buttons()

    def _tick(self) -> None:
        self.model.update(self._tasks.statuses())
        if not self.model.running():
            self._clock.stop()
        self._update_buttons()

    def _update_buttons(self) -> None:
        self._pages.setCurrentWidget(self._table if self.model.rowCount() else self._empty)
        chosen = self.model.status(self._table.currentIndex().row())
        self._cancel.setEnabled(chosen is not None and not chosen.state.finished)
        self._cancel_all.setEnabled(bool(self.model.running()))


class _JobDelegate(QStyledItemDelegate):
    """The title of a job; below it a bar of how much is done, and what else is told."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, QModelIndex())
        area = QRect(option.rect).adjusted(_AROUND, _AROUND // 2, -_AROUND, -_AROUND // 2)
        line = painter.fontMetrics().lineSpacing()
        scheme = theme.colors()
        painter.save()
        painter.setPen(QColor(scheme.text))
        _write(painter, QRect(area.left(), area.top(), area.width(), line), index.data() or "")
        below = QRect(area.left(), area.bottom() - line + 1, area.width(), line)
        share = index.data(SHARE_ROLE)
        if share is not None:
            bar = QRect(below.left(), below.center().y() - 2, _BAR, 5)
            done = QRect(bar.left(), bar.top(), round(bar.width() * share), bar.height())
            painter.setPen(Qt.PenStyle.NoPen)
            for each, color in ((bar, scheme.border), (done, scheme.accent)):
                painter.setBrush(QColor(color))
                painter.drawRoundedRect(each, 2, 2)
            below.setLeft(bar.right() + _AROUND)
        painter.setPen(QColor(scheme.muted))
        _write(painter, below, index.data(WORDS_ROLE) or "")
        painter.restore()


def _write(painter: QPainter, area: QRect, text: str) -> None:
    """Write one line, cut at the end where it does not fit."""
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


def share_of(status: JobStatus) -> float | None:
    """Return how much of a job is done, 0 to 1; None where it is not known.

    All that was counted may be done before the job is: what is left then is not known.
    """
    if status.state == "done":
        return 1.0
    if not status.total or (status.done >= status.total and not status.state.finished):
        return None
    return max(0.0, min(1.0, status.done / status.total))


def _is_brief(status: JobStatus) -> bool:
    """Tell whether a job ended well before anyone could have looked at it."""
    if status.state == "failed" or not status.state.finished or status.read_bytes:
        return False
    started, finished = status.started, status.finished
    return started is None or finished is None or finished - started < BRIEF
