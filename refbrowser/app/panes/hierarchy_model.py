"""Opened documents as a tree: groups, arrays and dimensions, templates and gen rules; and sets of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFont

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.tree_badges import badge_words
from refbrowser.app.panes.tree_dragging import DraggedRows
from refbrowser.app.panes.tree_items import (
    Item,
    badge_of,
    detail_of,
    finding_of,
    icon_of,
    name_of,
    own_name,
    tooltip_of,
)
from refbrowser.app.panes.tree_rows import (
    BADGE_ROLE,
    CHANGED_ROLE,
    DETAIL_ROLE,
    MATCH_ROLE,
    FileRow,
    Identity,
    data_of,
    file_name,
    match_in,
)
from refbrowser.app.widgets import theme
from refbrowser.views.file_sets import FileSet
from refbrowser.views.hierarchy import (
    ItemKind,
    changed_words,
    coordinate_words,
    dimensions_of,
    groups_of,
    has_rules,
    parts_of,
    rows_of,
)
from refbrowser.views.hierarchy_filter import HierarchyFilter

if TYPE_CHECKING:
    from refbrowser.model.nodes import Dimension, GroupNode, Node


Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
#: Files of a set that have rows at first; so many more come when the last of them is scrolled to.
_FIRST_FILES = 200


class HierarchyModel(DraggedRows):
    """The tree's rows. Text from files is plain; nothing here reads bytes.

    Signals
    -------
    moveWanted(object, int)
        An `OpenDocument` was dragged to a place among the documents.
    """

    moveWanted = Signal(object, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._documents: list[OpenDocument] = []
        self._sets: list[FileSet] = []
        #: How many files of a set have rows, by its number, where these are more than at first.
        self._revealed: dict[int, int] = {}
        self._items: dict[int, Item | FileRow] = {}
        #: The rows that are below none, and those of documents, which may be below a set.
        self._roots: list[Item | FileRow] = []
        self._tops: list[Item] = []
        self._next = 1
        self._filter = HierarchyFilter()
        #: How many rows the filter found by themselves, and in how many documents and files.
        self.found = self.found_in = 0
        self._shown: set[Identity] | None = None
        #: Numbers of the documents that a filter shows whole.
        self._called_so: set[int] = set()

    # Documents

    def documents(self) -> list[OpenDocument]:
        """Return the opened documents in their order."""
        return list(self._documents)

    def add_document(self, document: OpenDocument) -> None:
        """Add a root."""
        self._documents.append(document)
        self.rebuild()

    def remove_document(self, document: OpenDocument) -> None:
        """Take a root away."""
        self._documents.remove(document)
        self.rebuild()

    def set_sets(self, sets: list[FileSet]) -> None:
        """Show other sets of files."""
        self._sets = list(sets)
        self.rebuild()

    def set_order(self, documents: list[OpenDocument]) -> None:
        """Show the documents in another order."""
        self._documents = list(documents)
        self.rebuild()

    # Dragging documents

    def dragged(self, index: Index) -> int | None:
        """Return the number of the document that a row is dragged as; None for a row that stays."""
        item = self.item(index)
        is_moved = item is not None and item.kind is ItemKind.DOCUMENT and item.parent is None
        return item.document.number if item is not None and is_moved else None

    def drop_document(self, number: int, row: int) -> None:
        """Ask for a document to be before the one at a row; the last one below all."""
        moved = next((each for each in self._documents if each.number == number), None)
        below = [root.document for root in self._roots[row:] if isinstance(root, Item)] if row >= 0 else []
        before = next((each for each in below if each is not moved), None)
        if moved is not None:
            others = [each for each in self._documents if each is not moved]
            self.moveWanted.emit(moved, len(others) if before is None else others.index(before))

    def rebuild(self) -> None:
        """Make the tree anew, after a document changed."""
        self.beginResetModel()
        self._items.clear()
        self._shown = self._matches() if self.is_filtered() else None
        self._roots, self._tops = [], []
        alone = list(self._documents)
        for files in self._sets:
            opened = {
                place: document for document in alone if (place := files.place(document.path)) is not None
            }
            alone = [document for document in alone if document not in opened.values()]
            self._add_set(files, opened)
        for document in alone:
            self._add_top(self._roots, document, None)
        self.endResetModel()

    def _add_top(
        self, siblings: list[Item | FileRow], document: OpenDocument, parent: FileRow | None
    ) -> None:
        before = len(siblings)
        self._add(siblings, ItemKind.DOCUMENT, document, "", parent)
        self._tops += cast("list[Item]", siblings[before:])

    def _add_set(self, files: FileSet, opened: dict[int, OpenDocument]) -> None:
        """Add the row of a set with the first of its files, and those that are open, by their places.

        Of very many files the others come when they are scrolled to. A filter leaves the ones that it finds.
        """
        row = self._new_row(ItemKind.SET, files, "", None, self._roots)
        row.opened = len(opened)
        row.rest = list(enumerate(files.paths))
        if self.is_filtered():
            row.rest = [
                (place, path) for place, path in row.rest if place in opened or self._finds_file(path)
            ]
            closed = sum(place not in opened for place, _path in row.rest)
            self.found, self.found_in = self.found + closed, self.found_in + closed
        most = max((self._revealed.get(files.number, 0), _FIRST_FILES, *(place + 1 for place in opened)))
        self._reveal(row, most, opened)
        if self.is_filtered() and not row.children:
            self._roots.pop()

    def _reveal(self, row: FileRow, count: int, opened: dict[int, OpenDocument]) -> None:
        """Add rows of files of a set that have none yet."""
        added, row.rest = row.rest[:count], row.rest[count:]
        for place, path in added:
            if place in opened:
                self._add_top(row.children, opened[place], row)
            else:
                self._new_row(ItemKind.FILE, row.files, path, row, row.children)

    def canFetchMore(self, parent: Index) -> bool:
        row = self.file_row(parent)
        return row is not None and bool(row.rest)

    def fetchMore(self, parent: Index) -> None:
        row = self.file_row(parent)
        if row is not None and row.rest:
            first = len(row.children)
            self.beginInsertRows(self.index_of(row), first, first + min(_FIRST_FILES, len(row.rest)) - 1)
            self._reveal(row, _FIRST_FILES, {})
            self._revealed[row.files.number] = len(row.children)
            self.endInsertRows()

    def _finds_file(self, path: str) -> bool:
        return self._filter.finds_document(path, file_name(path))

    def _new_row(
        self,
        kind: ItemKind,
        files: FileSet,
        path: str,
        parent: FileRow | None,
        siblings: list[Item | FileRow],
    ) -> FileRow:
        row = FileRow(self._next, kind, files, path, parent, len(siblings))
        self._next += 1
        self._items[row.number] = row
        siblings.append(row)
        return row

    def take_nodes(self, document: OpenDocument) -> None:
        """Take over the nodes of a new hierarchy, which has the same groups and arrays."""
        root = self._root_node(document)
        # Those above come before what is below them.
        for item in self._items.values():
            if isinstance(item, FileRow) or item.document is not document or item.node is None:
                continue
            parent = item.parent
            if parent is None or isinstance(parent, FileRow):
                continue
            above: Any = root if parent.kind is ItemKind.DOCUMENT else parent.parts or parent.node
            if item.place == "/":
                item.node = root
            elif item.kind is ItemKind.GROUP:
                item.node = above.groups[item.node.name]
            else:
                item.node = array = above.arrays[item.node.name]
                item.parts = parts_of(above, array)

    def set_filter(self, text: str) -> None:
        """Show only what a `HierarchyFilter` finds that is typed so, and what it is in."""
        self._filter = HierarchyFilter.parsed(text)
        self.rebuild()

    def is_filtered(self) -> bool:
        """Whether a filter is in force."""
        return not self._filter.is_empty

    @property
    def filter_text(self) -> str:
        """The text that names are to hold, without upper case."""
        return self._filter.text

    @property
    def count(self) -> int:
        """How many documents there are, with the files of sets that are not open."""
        alone = [
            document
            for document in self._documents
            if all(files.place(document.path) is None for files in self._sets)
        ]
        return sum(len(files.paths) for files in self._sets) + len(alone)

    # Finding rows

    def first_match(self, parent: Index = _ROOT) -> QModelIndex:
        """Return the first row that the filter finds by itself; an invalid one without a filter."""
        for row in range(self.rowCount(parent) if self.is_filtered() else 0):
            index = self.index(row, 0, parent)
            item = self.item(index)
            files = self.file_row(index)
            if (item is not None and self._finds(item)) or (files is not None and files.path):
                return index
            below = self.first_match(index)
            if below.isValid():
                return below
        return QModelIndex()

    def item(self, index: Index) -> Item | None:
        """Return the item of an index; None for that of a set or of a file that is not open."""
        row = self._row(index)
        return row if isinstance(row, Item) else None

    def file_row(self, index: Index) -> FileRow | None:
        """Return the row of a set, or of a file that is not open; None for that of a document."""
        row = self._row(index)
        return row if isinstance(row, FileRow) else None

    def with_children(self, parent: Index = _ROOT) -> list[QModelIndex]:
        """Return the rows below one that can be unfolded: not those of files that are not open."""
        above = self._row(parent)
        rows = self._roots if above is None else self._below(above)
        return [self.index_of(row) for row in rows if not isinstance(row, FileRow) or not row.path]

    def identity(self, index: Index) -> Identity | None:
        """Return what stays the same of a row when the tree is made anew."""
        row = self._row(index)
        return None if row is None else row.identity

    def _row(self, index: Index) -> Item | FileRow | None:
        return self._items.get(index.internalId()) if index.isValid() else None

    def is_marked_as_shown(self, index: Index) -> bool:
        """Whether a row is marked as it was when it was painted last."""
        item = self.item(index)
        return item is None or item.mark == changed_words(item)

    def index_of(self, item: Item | FileRow) -> QModelIndex:
        """Return the index of an item."""
        return self.createIndex(item.row, 0, item.number)

    def find_node(self, document: OpenDocument, path: str) -> QModelIndex:
        """Return the index of a group or array; an invalid one where it is not in the tree."""
        item = next((root for root in self._tops if root.document is document), None)
        parts = [part for part in path.split("/") if part]
        if item is not None and not parts and self._root_node(document) is not None:
            root = next((child for child in self._children(item) if child.place == "/"), item)
            return self.index_of(root)
        for depth in range(len(parts)):
            wanted = "/" + "/".join(parts[: depth + 1])
            children = self._children(item) if item is not None else []
            nodes = (child for child in children if child.kind in (ItemKind.GROUP, ItemKind.ARRAY))
            item = next((child for child in nodes if child.place == wanted), None)
        return QModelIndex() if item is None else self.index_of(item)

    def find_identity(self, identity: Identity) -> QModelIndex:
        """Return the index of the item with this identity; an invalid one when there is none any more."""
        number, kind, place = identity
        if number < 0:
            return self._find_file(identity)
        root = next((root for root in self._tops if root.document.number == number), None)
        if root is None:
            return QModelIndex()
        if kind in (ItemKind.GROUP, ItemKind.ARRAY):
            return self.find_node(root.document, str(place))
        if kind == ItemKind.DIMENSION:
            return self._find_dimension(root, str(place))
        candidates = [root, *self._children(root)]
        candidates += [grandchild for child in candidates[1:] for grandchild in self._plain_children(child)]
        found = next((item for item in candidates if item.identity == identity), None)
        return QModelIndex() if found is None else self.index_of(found)

    def _find_file(self, identity: Identity) -> QModelIndex:
        rows = [row for row in self._roots if isinstance(row, FileRow)]
        rows += [child for row in rows for child in row.children if isinstance(child, FileRow)]
        found = next((row for row in rows if row.identity == identity), None)
        return QModelIndex() if found is None else self.index_of(found)

    def _find_dimension(self, root: Item, path: str) -> QModelIndex:
        from refbrowser.views.dimensions import dimension_at

        hierarchy = root.document.hierarchy
        found = None if hierarchy is None else dimension_at(hierarchy, path)
        if found is None:
            return QModelIndex()
        above = root if found[0].path == "/" else self.item(self.find_node(root.document, found[0].path))
        siblings = [] if above is None else self._children(above)
        same = (each for each in siblings if each.kind is ItemKind.DIMENSION and each.place == path)
        item = next(same, None)
        return QModelIndex() if item is None else self.index_of(item)

    def _plain_children(self, item: Item) -> list[Item]:
        return self._children(item) if item.kind in (ItemKind.TEMPLATES, ItemKind.RULES) else []

    # Making rows

    def _add(
        self,
        siblings: list[Any],
        kind: ItemKind,
        document: OpenDocument,
        place: str | int,
        parent: Item | FileRow | None,
        node: Node | None = None,
        dimension: Dimension | None = None,
    ) -> None:
        if self._shown is not None and document.number not in self._called_so:
            identity = (document.number, str(kind), place)
            if identity not in self._shown:
                return
        item = Item(self._next, kind, document, place, parent, len(siblings), node, dimension)
        self._next += 1
        self._items[item.number] = item
        siblings.append(item)

    def _children(self, item: Item) -> list[Item]:
        if item.children is None:
            item.children = []
            if item.kind is ItemKind.DOCUMENT:
                self._add_document_children(item)
            elif item.kind is ItemKind.GROUP:
                self._add_nodes(item, item.node)
            elif item.kind is ItemKind.ARRAY:
                self._add_nodes(item, item.parts)
            elif item.kind is ItemKind.TEMPLATES and item.document.document is not None:
                for name in item.document.document.templates.templates:
                    self._add(item.children, ItemKind.TEMPLATE, item.document, name, item)
            elif item.kind is ItemKind.RULES and item.document.document is not None:
                for number in range(len(item.document.document.rules)):
                    self._add(item.children, ItemKind.RULE, item.document, number, item)
        return item.children

    def _add_document_children(self, item: Item) -> None:
        children = item.children
        assert children is not None
        root = self._root_node(item.document)
        if root is not None and not hasattr(root, "groups"):
            self._add(children, ItemKind.ARRAY, item.document, "/", item, root)
        else:
            self._add_nodes(item, root)
        if has_rules(item.document):
            self._add(children, ItemKind.TEMPLATES, item.document, "", item)
            self._add(children, ItemKind.RULES, item.document, "", item)

    def _add_nodes(self, item: Item, node: Any) -> None:
        children = item.children
        if node is None or children is None:
            return
        group: GroupNode = node
        for array in rows_of(group):
            self._add(children, ItemKind.ARRAY, item.document, array.path, item, array)
            if children and children[-1].node is array:
                children[-1].parts = parts_of(group, array)
        for path, dimension in dimensions_of(group):
            self._add(children, ItemKind.DIMENSION, item.document, path, item, None, dimension)
        for child in groups_of(group):
            self._add(children, ItemKind.GROUP, item.document, child.path, item, child)

    @staticmethod
    def _root_node(document: OpenDocument) -> Node | None:
        return None if document.hierarchy is None else document.hierarchy.root

    def is_called_so(self, document: OpenDocument) -> bool:
        """Whether a document is shown whole by a filter, as its own name holds the text."""
        return document.number in self._called_so

    def _matches(self) -> set[Identity]:
        """Return what a filter shows; a document is shown whole where it matches and nothing in it does."""
        shown: set[Identity] = set()
        self._called_so, self.found, self.found_in = set(), 0, 0
        for document in self._documents:
            before = len(shown)
            if not self._filter.finds_path(document.path):
                continue
            if self._filter.text or self._filter.is_of_arrays:
                self._match_nodes(document, shown)
                self._match_references(document, shown)
            if len(shown) > before:
                shown.add((document.number, str(ItemKind.DOCUMENT), ""))
                self.found_in += 1
            elif self._filter.finds_document(document.path, document.title):
                self._called_so.add(document.number)
                self.found, self.found_in = self.found + 1, self.found_in + 1
        return shown

    def _match_nodes(self, document: OpenDocument, shown: set[Identity]) -> None:
        for node in document.hierarchy.walk() if document.hierarchy is not None else ():
            if self._filter.finds_node(node):
                kind = ItemKind.GROUP if hasattr(node, "groups") else ItemKind.ARRAY
                shown.add((document.number, str(kind), node.path))
                self._show_above(document, node.path, shown)
                self.found += 1
            for path, dimension in dimensions_of(node):
                if self._filter.finds_name(dimension.name):
                    shown.add((document.number, str(ItemKind.DIMENSION), path))
                    self._show_above(document, f"{node.path.rstrip('/')}/", shown)
                    self.found += 1

    def _finds(self, item: Item) -> bool:
        """Whether an item is what the filter looks for, not only above or below it."""
        if item.kind is ItemKind.DOCUMENT:
            return self._filter.finds_document(item.document.path, item.document.title)
        if item.kind in (ItemKind.GROUP, ItemKind.ARRAY):
            return item.node is not None and self._filter.finds_node(item.node)
        return item.kind not in (ItemKind.TEMPLATES, ItemKind.RULES) and self._filter.finds_name(
            own_name(item)
        )

    @staticmethod
    def _show_above(document: OpenDocument, path: str, shown: set[Identity]) -> None:
        parts = path.split("/")
        for depth in range(2, len(parts)):
            # An array with parts stands where their group would.
            for kind in (ItemKind.GROUP, ItemKind.ARRAY):
                shown.add((document.number, str(kind), "/".join(parts[:depth])))

    def _match_references(self, document: OpenDocument, shown: set[Identity]) -> None:
        if document.document is None:
            return
        for name in document.document.templates.templates:
            if self._filter.finds_name(name):
                shown.add((document.number, str(ItemKind.TEMPLATE), name))
                shown.add((document.number, str(ItemKind.TEMPLATES), ""))
                self.found += 1
        for number, rule in enumerate(document.document.rules):
            if self._filter.finds_name(rule.key or ""):
                shown.add((document.number, str(ItemKind.RULE), number))
                shown.add((document.number, str(ItemKind.RULES), ""))
                self.found += 1

    # Qt's side

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        above = self._row(parent)
        siblings = self._roots if above is None else self._below(above)
        if column == 0 and 0 <= row < len(siblings):
            return self.createIndex(row, 0, siblings[row].number)
        return QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]
        row = self._row(index)
        if row is None or row.parent is None:
            return QModelIndex()
        return self.index_of(row.parent)

    def _below(self, row: Item | FileRow) -> list[Any]:
        return self._children(row) if isinstance(row, Item) else row.children

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        if not parent.isValid():
            return len(self._roots)
        row = self._row(parent)
        return 0 if row is None else len(self._below(row))

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:
        item = self._row(parent)
        if item is None:
            return bool(self._roots)
        if isinstance(item, FileRow):
            return bool(item.children)
        if item.kind in (ItemKind.DIMENSION, ItemKind.TEMPLATE, ItemKind.RULE):
            return False
        if item.kind is ItemKind.GROUP and item.children is None and not self.is_filtered():
            # A document's groups are asked when it is unfolded: their rows are made when they are.
            group: GroupNode = item.node  # type: ignore[assignment]
            return bool(group.arrays or group.groups or group.dimensions)
        return bool(self._children(item))

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item = self._row(index)
        if item is None:
            return None
        if isinstance(item, FileRow):
            return data_of(item, role, self._filter.text)
        if role == Qt.ItemDataRole.DisplayRole:
            return name_of(item)
        if role == DETAIL_ROLE:
            return detail_of(item)
        if role == BADGE_ROLE:
            return badge_of(item)
        if role == MATCH_ROLE:
            return match_in(name_of(item), self._filter.text)
        if role == Qt.ItemDataRole.DecorationRole:
            return icon_of(item)
        if role == CHANGED_ROLE:
            item.mark = changed_words(item)
            return item.mark
        if role == Qt.ItemDataRole.FontRole and (item.kind is ItemKind.DOCUMENT or changed_words(item)):
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(tooltip_of(item))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = [f"{item.kind} {name_of(item)} {detail_of(item)}", *coordinate_words(item.node)]
            words += [finding_of(item), badge_words(badge_of(item)), changed_words(item)]
            return ", ".join(word for word in words if word)
        return None
