"""The tree of hosts, buckets and folders as a model of Qt: rows are made when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QSize, Qt

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.table_models import LEFT, RIGHT, ROOT, Index
from refbrowser.tools.move.report.health import Health, health_words, worst
from refbrowser.tools.move.report.prefix_tree import PrefixKind, PrefixNode
from refbrowser.views.words import one_line
from refbrowser.words import count_text, size_text

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

#: Rows of a folder that are listed at first, and with each look at its end.
PAGE = 500
TITLES = ("Place", "Files", "References", "Needed", "What is known")
_TIPS = (
    "Hosts, buckets and folders that URLs begin with",
    "Distinct files; a gen rule whose URLs are not listed counts as one",
    "How many references point there",
    "Bytes that the references need",
    "State of the files, from reads so far and the lock of the document",
)
_PLACE, _FILES, _REFERENCES, _NEEDED, _HEALTH = range(5)
_KINDS = {
    PrefixKind.RELATIVE: ("document", "the folder of the document"),
    PrefixKind.LOCAL: ("group", "a folder"),
    PrefixKind.HOST: ("url", "a host"),
    PrefixKind.BUCKET: ("buffer", "a bucket"),
    PrefixKind.FOLDER: ("group", "a folder"),
    PrefixKind.FILE: ("document", "a file"),
    PrefixKind.RULE: ("rules", "URLs that a gen rule makes"),
}
#: Icon and colour of each health; the word stands beside it.
HEALTH_LOOKS = {
    Health.DEAD: ("cancel", "fault"),
    Health.FAILED: ("fault", "fault"),
    Health.REFUSED: ("key", "fault"),
    Health.SIZE: ("fault", "fault"),
    Health.STALE: ("warning", "warning"),
    Health.CHANGED: ("retry", "warning"),
    Health.UNCONFIRMED: ("warning", "warning"),
    Health.MOVED: ("link", "warning"),
    Health.WHOLE: ("warning", "warning"),
    Health.BLOCKED: ("lock", "warning"),
    Health.UNKNOWN: ("option", "muted"),
    Health.OK: ("done", "good"),
}


class _Row:
    """A node with its place in the tree; rows below it are made when they are asked for."""

    __slots__ = ("node", "number", "parent", "rows")

    def __init__(self, node: PrefixNode, parent: _Row | None, number: int) -> None:
        self.node, self.parent, self.number = node, parent, number
        self.rows: list[_Row] = []

    def show(self, count: int) -> None:
        """Make so many more rows."""
        first = len(self.rows)
        below = self.node.children[first : first + count]
        self.rows += [_Row(node, self, first + number) for number, node in enumerate(below)]


class PrefixModel(QAbstractItemModel):
    """Rows for `PrefixNode`s, some hundred of a folder at a time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []

    def set_roots(self, roots: Sequence[PrefixNode]) -> None:
        """Show another tree."""
        self.beginResetModel()
        self._rows = [_Row(node, None, number) for number, node in enumerate(roots)]
        self.endResetModel()

    @staticmethod
    def node(index: Index) -> PrefixNode | None:
        """Return what a row shows."""
        row = index.internalPointer() if index.isValid() else None
        return row.node if isinstance(row, _Row) else None

    def find(self, prefix: str) -> QModelIndex:
        """Return the lowest listed row that a prefix lies below; the first one where there is none."""
        found, rows = None, self._rows
        while True:
            # Names that are relative to the document begin with nothing.
            inside = [row for row in rows if prefix.startswith(row.node.prefix)]
            if not inside:
                break
            found = max(inside, key=lambda row: len(row.node.prefix))
            if found.node.prefix == prefix:
                break
            if not found.rows:
                self.fetchMore(self.createIndex(found.number, 0, found))
            rows = found.rows
        if found is None:
            return self.index(0, 0) if self._rows else QModelIndex()
        return self.createIndex(found.number, 0, found)

    # What Qt asks for

    def _below(self, parent: Index) -> list[_Row]:
        if not parent.isValid():
            return self._rows
        rows: list[_Row] = parent.internalPointer().rows
        return rows

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        rows = self._below(parent)
        if not (0 <= row < len(rows) and 0 <= column < len(TITLES)):
            return QModelIndex()
        return self.createIndex(row, column, rows[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        row = index.internalPointer() if index.isValid() else None
        above = None if row is None else row.parent
        return QModelIndex() if above is None else self.createIndex(above.number, 0, above)

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.column() > 0 else len(self._below(parent))

    def columnCount(self, parent: Index = ROOT) -> int:
        return len(TITLES)

    def hasChildren(self, parent: Index = ROOT) -> bool:
        node = self.node(parent)
        return bool(self._rows) if node is None else parent.column() == 0 and bool(node.children)

    def canFetchMore(self, parent: Index) -> bool:
        node = self.node(parent)
        return node is not None and len(self._below(parent)) < len(node.children)

    def fetchMore(self, parent: Index) -> None:
        node = self.node(parent)
        if node is None:
            return
        row: _Row = parent.internalPointer()
        first = len(row.rows)
        stop = min(first + PAGE, len(node.children))
        if stop > first:
            self.beginInsertRows(self.index(row.number, 0, self.parent(parent)), first, stop - 1)
            row.show(stop - first)
            self.endInsertRows()

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self.node(index)
        if node is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(node, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(f"{node.prefix or name_of(node)}: {_KINDS[node.kind][1]}")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(column)
        if role == Qt.ItemDataRole.SizeHintRole:
            return QSize(0, theme.ROW)
        return _icon(node, column) if role == Qt.ItemDataRole.DecorationRole else None


def name_of(node: PrefixNode) -> str:
    """Return what a node is called."""
    if node.kind is PrefixKind.RELATIVE:
        return "Relative to the document"
    return f"{node.name}…" if node.kind is PrefixKind.RULE else node.name


def _text(node: PrefixNode, column: int) -> str:
    if column == _PLACE:
        return one_line(name_of(node))
    if column == _FILES:
        return count_text(node.files)
    if column == _REFERENCES:
        return count_text(node.references)
    return size_text(node.size) if column == _NEEDED else health_words(node.health)


def _side(column: int) -> Qt.AlignmentFlag:
    return RIGHT if column in (_FILES, _REFERENCES, _NEEDED) else LEFT


def _icon(node: PrefixNode, column: int) -> QIcon | None:
    if column == _PLACE:
        return icons.icon(_KINDS[node.kind][0], theme.colors().muted)
    if column == _HEALTH:
        name, role = HEALTH_LOOKS[worst(node.health)]
        return icons.icon(name, getattr(theme.colors(), role))
    return None
