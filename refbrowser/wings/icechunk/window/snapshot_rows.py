"""The graph of snapshots as a list: lanes that lead from each to the one before it, drawn beside its row."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import ThemedItem
from refbrowser.views.words import one_line
from refbrowser.wings.icechunk.reading.opening import time_text
from refbrowser.wings.icechunk.reading.snapshot_graph import GraphSnapshot, SnapshotGraph
from refbrowser.wings.icechunk.views.history_words import labels

#: Columns of the list.
GRAPH, MESSAGE, NAMES, COMMITTED, ID = range(5)
_TITLES = ["", "Message", "Branches and tags", "Committed", "Snapshot"]
_WIDTHS = {MESSAGE: 230, NAMES: 150, COMMITTED: 190}
_ID = Qt.ItemDataRole.UserRole
_SNAPSHOT = Qt.ItemDataRole.UserRole + 1
#: Pixels of a column of the graph, of the circle of a snapshot, of lines; columns that have room.
_LANE, _RADIUS, _LINE, _LANES = 14, 4.5, 1.6, 12
Index = QModelIndex | QPersistentModelIndex


class SnapshotRows(QTreeWidget):
    """The snapshots of a repository, the newest first; one or two are chosen.

    Signals
    -------
    rowChosen()
        Others are chosen.
    """

    rowChosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("snapshotRows")
        self.setAccessibleName("Snapshots, the newest first")
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setHeaderLabels(_TITLES)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegateForColumn(GRAPH, _LaneDelegate(self))
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, width in _WIDTHS.items():
            self.header().resizeSection(column, width)
        self.itemSelectionChanged.connect(self.rowChosen.emit)

    def set_graph(self, graph: SnapshotGraph, opened: str, chosen: str) -> None:
        """Show snapshots.

        Parameters
        ----------
        opened
            The one that is open.
        chosen
            The one that is chosen; that which is open where it is not listed.
        """
        self.blockSignals(True)
        self.clear()
        self.header().resizeSection(GRAPH, _LANE * (min(graph.lanes, _LANES) + 1))
        for each in graph.snapshots:
            self.addTopLevelItem(_row(each, is_open=each.facts.id == opened))
        self.blockSignals(False)
        self.choose(chosen if graph.of(chosen) is not None else opened)

    def choose(self, snapshot: str) -> None:
        """Choose one snapshot, or the first where it is not listed."""
        rows = [self.topLevelItem(row) for row in range(self.topLevelItemCount())]
        found = next((row for row in rows if row is not None and row.data(0, _ID) == snapshot), None)
        row = found or (rows[0] if rows else None)
        if row is not None:
            self.clearSelection()
            self.setCurrentItem(row)
            self.scrollToItem(row)
        self.rowChosen.emit()

    def chosen(self) -> list[str]:
        """Return the identifiers of the chosen snapshots, the newest first."""
        rows = [self.topLevelItem(row) for row in range(self.topLevelItemCount())]
        return [str(row.data(0, _ID)) for row in rows if row is not None and row.isSelected()]

    def ids(self) -> set[str]:
        """Return the identifiers of the snapshots that are listed."""
        rows = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return {str(row.data(0, _ID)) for row in rows if row is not None}


def _row(each: GraphSnapshot, *, is_open: bool) -> QTreeWidgetItem:
    facts = each.facts
    texts = ("", facts.message, labels(each), time_text(facts.microseconds), facts.id)
    row = ThemedItem([one_line(text) for text in texts])
    row.setData(0, _ID, facts.id)
    row.setData(GRAPH, _SNAPSHOT, each)
    row.setSizeHint(0, QSize(0, theme.ROW))
    row.setToolTip(MESSAGE, theme.plain_tooltip(facts.message))
    row.setFont(ID, theme.mono_font())
    said = []
    if is_open:
        font = row.font(0)
        font.setBold(True)
        for column in (MESSAGE, NAMES, COMMITTED):
            row.setFont(column, font)
        said.append("This snapshot is open")
    if not each.is_reachable:
        for column in (MESSAGE, COMMITTED, ID):
            row.color(column, "muted")
        said.append("No branch or tag leads to this snapshot: Icechunk deletes it with what is unused")
    row.setToolTip(GRAPH, ". ".join(said))
    row.setToolTip(COMMITTED, ". ".join(said))
    row.setData(GRAPH, Qt.ItemDataRole.AccessibleTextRole, ". ".join(said) or facts.message)
    return row


class _LaneDelegate(QStyledItemDelegate):
    """Draws the columns of the graph in one row."""

    def __init__(self, rows: QWidget) -> None:
        super().__init__(rows)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw what passes, what ends here, and the snapshot."""
        super().paint(painter, option, index)
        each = index.data(_SNAPSHOT)
        if not isinstance(each, GraphSnapshot):
            return
        area = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(area)
        view = self.parent()
        assert isinstance(view, QTreeWidget)
        above = view.itemAbove(view.itemFromIndex(index))
        self._lines(painter, area, each, None if above is None else above.data(GRAPH, _SNAPSHOT))
        middle = QPointF(_middle(area, each.lane), area.center().y())
        colour = _colour(each.lane)
        painter.setPen(QPen(colour, _LINE))
        painter.setBrush(colour if each.is_reachable else QColor(theme.colors().surface))
        painter.drawEllipse(middle, _RADIUS, _RADIUS)
        painter.restore()

    def _lines(
        self, painter: QPainter, area: QRectF, each: GraphSnapshot, before: GraphSnapshot | None
    ) -> None:
        for lane in each.passing:
            self._line(painter, lane, area, area.top(), area.bottom())
        if before is not None and _goes_below(before, each.lane):
            self._line(painter, each.lane, area, area.top(), area.center().y())
        if each.goes_on:
            self._line(painter, each.lane, area, area.center().y(), area.bottom())
        for lane in each.joining:
            painter.setPen(QPen(_colour(lane), _LINE))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            start = QPointF(_middle(area, lane), area.top())
            path = QPainterPath(start)
            end = QPointF(_middle(area, each.lane), area.center().y())
            path.quadTo(QPointF(start.x(), end.y()), QPointF(start.x() - _LANE / 2, end.y()))
            path.lineTo(end)
            painter.drawPath(path)

    def _line(self, painter: QPainter, lane: int, area: QRectF, top: float, bottom: float) -> None:
        painter.setPen(QPen(_colour(lane), _LINE))
        at = _middle(area, lane)
        painter.drawLine(QPointF(at, top), QPointF(at, bottom))


def _goes_below(each: GraphSnapshot, lane: int) -> bool:
    """Whether a column goes on below a row."""
    return lane in each.passing or (lane == each.lane and each.goes_on)


def _middle(area: QRectF, lane: int) -> float:
    return area.left() + _LANE * (lane + 0.75)


def _colour(lane: int) -> QColor:
    scheme = theme.colors()
    colours = (scheme.accent, scheme.good, scheme.changed, scheme.warning)
    return QColor(colours[lane % len(colours)])
