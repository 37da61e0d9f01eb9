"""The expressions of an Awkward 0 file: a tree of them, and what is known of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.fields_view import FieldsView
from refbrowser.app.widgets.small_widgets import push_button
from refbrowser.app.widgets.table_models import RIGHT
from refbrowser.wings.awkward0.layouts.functions import ExpressionKind
from refbrowser.wings.awkward0.views.expressions import ExpressionGraph, verdict_words
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.wings.awkward0.layouts.functions import SchemaDocument
    from refbrowser.wings.awkward0.views.expressions import ExpressionGraph


Index = QModelIndex | QPersistentModelIndex
EXPRESSION, WHAT, ID, LINKS = range(4)
_TITLES = ("Expression", "What it is", "Id", "")
_ROOT = QModelIndex()
_ICONS = {
    ExpressionKind.CALL: "function",
    ExpressionKind.READ: "buffer",
    ExpressionKind.LIST: "rules",
    ExpressionKind.TUPLE: "rules",
    ExpressionKind.DICT: "structure",
    ExpressionKind.PAIRS: "structure",
    ExpressionKind.DTYPE: "hex",
    ExpressionKind.FUNCTION: "function",
    ExpressionKind.JSON: "text",
    ExpressionKind.PYTHON: "lock",
    ExpressionKind.REF: "link",
    ExpressionKind.BROKEN: "fault",
}


class ExpressionModel(QAbstractItemModel):
    """One row for each expression, below the one that it is a part of."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.graph: ExpressionGraph | None = None
        self._linked: frozenset[int] = frozenset()

    def set_graph(self, graph: ExpressionGraph | None) -> None:
        """Show another array; none where it is None."""
        self.beginResetModel()
        self.graph, self._linked = graph, frozenset()
        self.endResetModel()

    def set_linked(self, numbers: frozenset[int]) -> None:
        """Tint the rows that a reference joins with the current one."""
        self._linked = numbers

    def number(self, index: Index) -> int | None:
        """Return the expression of an index."""
        return int(index.internalId()) if index.isValid() else None

    def index_of(self, number: int, column: int = EXPRESSION) -> QModelIndex:
        """Return the index of an expression."""
        assert self.graph is not None
        return self.createIndex(self.graph.row(number), column, number)

    # Qt's side

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        number, graph = self.number(parent), self.graph
        if graph is None or not 0 <= column < len(_TITLES):
            return QModelIndex()
        below = (0,) if number is None else graph.below(number)
        return self.createIndex(row, column, below[row]) if 0 <= row < len(below) else QModelIndex()

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]
        number = self.number(index)
        above = None if number is None or self.graph is None else self.graph.above(number)
        return QModelIndex() if above is None else self.index_of(above)

    def rowCount(self, parent: Index = _ROOT) -> int:
        number = self.number(parent)
        if self.graph is None:
            return 0
        if number is None:
            return 1
        return len(self.graph.below(number)) if parent.column() == EXPRESSION else 0

    def columnCount(self, parent: Index = _ROOT) -> int:
        return len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section == ID:
            return RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        number, graph = self.number(index), self.graph
        if number is None or graph is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(graph, number, index.column())
            case Qt.ItemDataRole.DecorationRole if index.column() == EXPRESSION:
                return self._icon(graph, number)
            case Qt.ItemDataRole.ForegroundRole:
                return self._color(graph, number, index.column())
            case Qt.ItemDataRole.BackgroundRole if number in self._linked:
                return QColor(theme.colors().hover)
            case Qt.ItemDataRole.FontRole if index.column() == WHAT:
                return theme.mono_font(-0.5)
            case Qt.ItemDataRole.TextAlignmentRole if index.column() == ID:
                return RIGHT
            case Qt.ItemDataRole.ToolTipRole:
                return theme.plain_tooltip("\n".join(_lines(graph, number)))
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(_lines(graph, number))
        return None

    @staticmethod
    def _text(graph: ExpressionGraph, number: int, column: int) -> str:
        if column == EXPRESSION:
            return graph.role(number)
        if column == WHAT:
            return graph.short_words(number)
        known = graph.expression(number).id
        return "" if column == LINKS or known is None else str(known)

    @staticmethod
    def _icon(graph: ExpressionGraph, number: int) -> Any:
        scheme = theme.colors()
        name = _ICONS[graph.expression(number).kind]
        return icons.icon(name, scheme.accent, "fault" if _is_broken(graph, number) else None)

    @staticmethod
    def _color(graph: ExpressionGraph, number: int, column: int) -> QColor | None:
        scheme = theme.colors()
        if column == WHAT:
            if _is_broken(graph, number):
                return QColor(scheme.fault)
            if graph.expression(number).kind is ExpressionKind.REF:
                return QColor(scheme.accent)
        return QColor(scheme.muted) if column == ID else None


def _is_broken(graph: ExpressionGraph, number: int) -> bool:
    return graph.error(number) is not None or graph.is_refused(number)


def _lines(graph: ExpressionGraph, number: int) -> list[str]:
    """Return what a row is, for tool tips and screen readers."""
    verdict, error = graph.verdict(number), graph.error(number)
    known = graph.expression(number).id
    return [
        line
        for line in (
            f"{graph.role(number)}: {graph.words(number)}",
            "" if known is None else f"id {known}",
            graph.stored(number),
            "" if verdict is None else verdict_words(verdict),
            "" if error is None else str(error),
        )
        if line
    ]


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


#: In a pane narrower than this, facts stand below the tree.
_NARROW = 760
NOTHING = "Select an array in the hierarchy: the expressions that build it appear here."


class ExpressionsPane(QWidget):
    """Graph and facts, side by side.

    Signals
    -------
    chosen(object)
        The expression that became current, or None.
    bytesWanted(int)
        The bytes that an expression reads are to be shown.
    safetyWanted()
        The safety report of the file is to be shown.
    """

    chosen = Signal(object)
    bytesWanted = Signal(int)
    safetyWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("expressionsPane")
        self._before: list[int] = []
        self.view = ExpressionView()
        self.facts = FieldsView()
        self.facts.setObjectName("expressionFacts")
        self.facts.setAccessibleName("Facts of the expression")
        self.caption = ElidedLabel("expressionsCaption", role="muted")
        self._back = push_button("Back", "expressionBackButton", self.go_back)
        self._back.setToolTip("Go back to the reference that was followed last (Alt+Left)")
        self._back.setShortcut("Alt+Left")
        self._follow = push_button("Follow", "expressionFollowButton", self.follow)
        self._follow.setToolTip("Go to the target of the reference (Return)")
        self._bytes = push_button("Bytes", "expressionBytesButton", self._show_bytes)
        self._bytes.setToolTip("Show the stored bytes of the blob (Return)")
        self._safety = push_button("Safety…", "expressionSafetyButton", self.safetyWanted.emit)
        self._safety.setToolTip("List the functions, pickles and targets that the file names")
        self._card = Card("function", "No expressions", NOTHING)
        self._error = ErrorCard()
        self._build()
        self.view.chosen.connect(self._chosen)
        self.view.activated_.connect(self._activated)
        self.setFocusProxy(self.view)
        self.set_graph(None)

    def _build(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setObjectName("expressionsSplitter")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.view)
        self._split.addWidget(self.facts)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 1)
        self._split.setSizes([680, 320])
        self._pages = QStackedWidget()
        self._card_page, self._error_page = centred(self._card), centred(self._error)
        for page in (self._card_page, self._error_page, self._split):
            self._pages.addWidget(page)
        top = QHBoxLayout()
        top.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        top.setSpacing(theme.MEDIUM)
        top.addWidget(self.caption, 1)
        for button in (self._back, self._follow, self._bytes, self._safety):
            top.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(top)
        layout.addWidget(self._pages, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < _NARROW
        wanted = Qt.Orientation.Vertical if is_narrow else Qt.Orientation.Horizontal
        if self._split.orientation() != wanted:
            self._split.setOrientation(wanted)
            self._split.setSizes([680, 320])

    # What is shown

    def set_graph(self, graph: ExpressionGraph | None) -> None:
        """Show the expressions of an array; none where it is None."""
        self._before = []
        self._pages.setCurrentWidget(self._card_page if graph is None else self._split)
        self.caption.set_text("" if graph is None else caption_of(graph))
        self.view.set_graph(graph)

    def show_error(self, name: str, error: BaseException) -> None:
        """Say why the expressions of an array cannot be shown."""
        self.set_graph(None)
        self._error.set_error(f"The expressions of {name} cannot be read", error, can_retry=False)
        self._pages.setCurrentWidget(self._error_page)

    def graph(self) -> ExpressionGraph | None:
        """Return what is shown."""
        return self.view.graph()

    def show_number(self, number: int) -> None:
        """Make an expression current, without telling others."""
        graph = self.graph()
        if graph is not None and self.view.current() != number:
            self.view.show_number(number, quiet=True)
            self._show_facts(number)

    # Reactions

    def _chosen(self, number: int | None) -> None:
        self._show_facts(number)
        self.chosen.emit(number)

    def _show_facts(self, number: int | None) -> None:
        graph = self.graph()
        if graph is None or number is None:
            self.facts.say("")
        else:
            self.facts.show_fields(graph.facts(number))
            self.facts.setHeaderLabels(["Fact", "Value"])
        self._follow.setEnabled(graph is not None and number is not None and graph.target(number) is not None)
        self._bytes.setEnabled(graph is not None and number is not None and self._has_bytes(graph, number))
        self._back.setEnabled(bool(self._before))

    @staticmethod
    def _has_bytes(graph: ExpressionGraph, number: int) -> bool:
        return graph.blob(number) is not None or graph.basic_array(number) is not None

    def _activated(self, number: int) -> None:
        """Follow a reference, show the bytes of a blob, or fold what has parts."""
        graph = self.graph()
        if graph is None:
            return
        if graph.target(number) is not None:
            self.follow()
        elif graph.expression(number).kind is ExpressionKind.READ:
            self._show_bytes()
        else:
            index = self.view.rows.index_of(number)
            self.view.setExpanded(index, not self.view.isExpanded(index))

    def follow(self) -> None:
        """Go to what the current reference leads to."""
        graph, number = self.graph(), self.view.current()
        target = None if graph is None or number is None else graph.target(number)
        if target is not None and number is not None:
            self._before.append(number)
            self.view.show_number(target)

    def go_back(self) -> None:
        """Go back to the reference that was followed last."""
        if self._before:
            self.view.show_number(self._before.pop())

    def _show_bytes(self) -> None:
        number = self.view.current()
        if number is not None and self._bytes.isEnabled():
            self.bytesWanted.emit(number)


def caption_of(graph: ExpressionGraph) -> str:
    """Return which array it is, who wrote it, and of how many expressions it is made."""
    schema: SchemaDocument = graph.schema
    blobs = {name for name in map(graph.blob_name, range(len(graph))) if name is not None}
    parts = [
        graph.role(0),
        f"{schema.signature} {schema.version}".strip(),
        counted_spaced(len(graph), "expression"),
        counted_spaced(len(blobs), "blob"),
        schema.doc,
    ]
    return " · ".join(part for part in parts if part)
