"""The expressions of one array as the rows of a tree; made when they are first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.table_models import RIGHT
from refbrowser.formats.awkward0.expressions import ExpressionKind
from refbrowser.views.expressions import verdict_words

if TYPE_CHECKING:
    from refbrowser.views.expressions import ExpressionGraph

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
