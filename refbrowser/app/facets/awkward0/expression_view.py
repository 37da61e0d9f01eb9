"""The tree of expressions, with its references drawn as arrows beside the rows that they join."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView, QWidget

from refbrowser.app.facets.awkward0.expression_model import EXPRESSION, ID, LINKS, WHAT, ExpressionModel
from refbrowser.app.widgets import theme
from refbrowser.views.expressions import ExpressionGraph

#: Room for the arrows, in pixels, and how far the widest of them reaches.
_LINKS_WIDTH = 44
_REACH = 34
#: Arrows that are drawn at most, beside those of the current row.
_ARROWS_MOST = 200
#: Expressions of a graph that is unfolded at first.
OPEN_MOST = 400


class ExpressionView(QTreeView):
    """Rows as `ExpressionModel` has them.

    Signals
    -------
    chosen(object)
        The expression that became current, or None.
    activated_(int)
        An expression was double-clicked, or Return was pressed on it.
    """

    chosen = Signal(object)
    activated_ = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("expressionView")
        self.setAccessibleName("Expressions")
        self.rows = ExpressionModel(self)
        self.setModel(self.rows)
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setIconSize(QSize(16, 16))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setExpandsOnDoubleClick(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._quiet = False
        self._lay_out()
        self.selectionModel().currentChanged.connect(self._current_changed)
        self.doubleClicked.connect(self._activated)

    def _lay_out(self) -> None:
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(LINKS, QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(32)
        for section, width in ((EXPRESSION, 176), (ID, 40), (LINKS, _LINKS_WIDTH)):
            header.resizeSection(section, width)

    # What is shown

    def set_graph(self, graph: ExpressionGraph | None) -> None:
        """Show another array."""
        self._quiet = True
        self.rows.set_graph(graph)
        if graph is not None:
            if len(graph) <= OPEN_MOST:
                self.expandAll()
            else:
                self.expandToDepth(1)
            self.setCurrentIndex(self.rows.index_of(0))
        self._quiet = False
        self._current_changed(self.currentIndex(), QModelIndex())

    def graph(self) -> ExpressionGraph | None:
        """Return what is shown."""
        return self.rows.graph

    def current(self) -> int | None:
        """Return the expression that is current."""
        return self.rows.number(self.currentIndex())

    def show_number(self, number: int, *, quiet: bool = False) -> None:
        """Make an expression current and visible; with `quiet` nobody is told."""
        index = self.rows.index_of(number)
        self._quiet = quiet
        self.setCurrentIndex(index)
        self.scrollTo(index)
        self._quiet = False

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        graph, number = self.graph(), self.rows.number(current)
        linked: frozenset[int] = frozenset()
        if graph is not None and number is not None:
            target = graph.target(number)
            linked = frozenset(graph.referrers(number)) | ({target} if target is not None else set())
        self.rows.set_linked(linked)
        self.viewport().update()
        if not self._quiet:
            self.chosen.emit(number)

    def _activated(self, index: QModelIndex) -> None:
        number = self.rows.number(index)
        if number is not None:
            self.activated_.emit(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activated(self.currentIndex())
            return
        super().keyPressEvent(event)

    # Arrows

    def arrows(self) -> Iterator[tuple[int, int, bool]]:
        """Yield the references to be drawn: from, to, and whether the current row is an end of it."""
        graph, current = self.graph(), self.current()
        if graph is None:
            return
        left = _ARROWS_MOST
        for number in self._seen():
            target = graph.target(number)
            ends = [] if target is None else [(number, target)]
            for start, stop in ends:
                if left > 0 and current not in (start, stop):
                    left -= 1
                    yield start, stop, False
        if current is not None:
            target = graph.target(current)
            if target is not None:
                yield current, target, True
            for each in graph.referrers(current)[:_ARROWS_MOST]:
                yield each, current, True

    def _seen(self) -> Iterator[int]:
        """Yield the expressions whose rows are in sight."""
        index, bottom = self.indexAt(self.viewport().rect().topLeft()), self.viewport().height()
        while index.isValid() and self.visualRect(index).top() <= bottom:
            number = self.rows.number(index)
            if number is not None:
                yield number
            index = self.indexBelow(index)

    def _row_rect(self, number: int) -> QRect:
        """Return where the arrow of an expression ends; where its row is folded away, at what hides it."""
        graph = self.graph()
        at: int | None = number
        while graph is not None and at is not None:
            rect = self.visualRect(self.rows.index_of(at, LINKS))
            if rect.isValid():
                return rect
            at = graph.above(at)
        return QRect()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scheme = theme.colors()
        for start, stop, is_current in self.arrows():
            painter.setPen(QPen(QColor(scheme.accent if is_current else scheme.border), 1.6))
            self._paint_arrow(painter, self._row_rect(start), self._row_rect(stop))
        painter.end()

    @staticmethod
    def _paint_arrow(painter: QPainter, start: QRect, stop: QRect) -> None:
        if not start.isValid() or not stop.isValid() or start == stop:
            return
        left = start.left() + 4.0
        first, last = float(start.center().y()), float(stop.center().y())
        # The farther apart, the wider: arrows that cross stay apart.
        reach = min(10 + abs(last - first) / 14, _REACH)
        path = QPainterPath(QPointF(left, first))
        path.cubicTo(
            QPointF(left + reach * 1.3, first), QPointF(left + reach * 1.3, last), QPointF(left, last)
        )
        painter.drawPath(path)
        painter.drawPolyline([QPointF(left + 5, last - 4), QPointF(left, last), QPointF(left + 5, last + 4)])
        painter.drawEllipse(QPointF(left, first), 1.5, 1.5)
