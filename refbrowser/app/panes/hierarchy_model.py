"""Opened documents as a tree: groups, arrays and dimensions, templates and gen rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import icons, theme
from refbrowser.engine.findings.listed_finding import Badge
from refbrowser.views.hierarchy import (
    ItemKind,
    changed_words,
    coordinate_words,
    detail_text,
    dimensions_of,
    format_words,
    groups_of,
    has_rules,
    icon_name,
    node_words,
    parts_of,
    rows_of,
    short_format,
    size_words,
)
from refbrowser.views.words import one_line
from refbrowser.words import counted_plain, counted_spaced

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Node


_GLYPH, _GAP = 12, 3


def badge_of(item: Item) -> Badge:
    """Return how many findings an item of the tree has, with all that is below it."""
    is_list = str(item.kind) in ("document", "templates", "rules")
    return item.document.findings.found.badge((str(item.kind), "" if is_list else item.place))


def badge_words(badge: Badge) -> str:
    """Return the number of findings in words; nothing where there are none."""
    parts = [
        counted_spaced(number, word)
        for number, word in ((badge.faults, "fault"), (badge.warnings, "warning"))
        if number
    ]
    return ", ".join(parts)


def badge_width(badge: Badge, metrics: QFontMetrics) -> int:
    """Return the room that a badge takes, with the gap to what stands right of it."""
    text = _number(badge)
    return _GLYPH + _GAP + metrics.horizontalAdvance(text) + theme.MEDIUM if text else 0


def paint_badge(painter: QPainter, area: QRect, badge: Badge, font: QFont) -> None:
    """Paint a badge at the left edge of an area: the faults where there are some, else the warnings."""
    text = _number(badge)
    if not text:
        return
    scheme = theme.colors()
    name, color = ("fault", scheme.fault) if badge.faults else ("warning", scheme.warning)
    painter.save()
    ratio = painter.device().devicePixelRatioF() if painter.device() is not None else 1.0
    top = area.top() + (area.height() - _GLYPH) / 2
    painter.drawPixmap(QPointF(area.left(), top), icons.pixmap(name, _GLYPH, color, ratio))
    painter.setFont(font)
    painter.setPen(QColor(color))
    box = area.adjusted(_GLYPH + _GAP, 0, 0, 0)
    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.restore()


def _number(badge: Badge) -> str:
    number = badge.faults or badge.warnings
    return "" if not number else "999+" if number > 999 else str(number)


Index = QModelIndex | QPersistentModelIndex
#: Document number, kind and place of a row.
Identity = tuple[int, str, str | int]
_ROOT = QModelIndex()

#: The roles of the muted text at the right of a row, of its `Badge`, of what changed, in words, and of where
#: in the name the filter's text stands (first letter, and the one behind the last).
DETAIL_ROLE = Qt.ItemDataRole.UserRole + 1
BADGE_ROLE = Qt.ItemDataRole.UserRole + 2
CHANGED_ROLE = Qt.ItemDataRole.UserRole + 3
MATCH_ROLE = Qt.ItemDataRole.UserRole + 4
#: Of what attributes call a node, so many characters are searched and shown.
_TITLE = 200


@dataclass(slots=True, eq=False)
class Item:
    """One row of the tree; its children are made when they are first asked for.

    `place` is the path of a group, array or dimension, the name of a template, the number of a rule, else
    empty. `parts` is the group whose rows stand below an array.
    """

    number: int
    kind: ItemKind
    document: OpenDocument
    place: str | int
    parent: Item | None
    row: int
    node: Node | None = None
    dimension: Dimension | None = None
    children: list[Item] | None = None
    parts: GroupNode | None = None
    #: What it was marked with when it was painted last.
    mark: str = ""

    @property
    def identity(self) -> Identity:
        """What stays the same when the tree is made anew."""
        return self.document.number, str(self.kind), self.place


class HierarchyModel(QAbstractItemModel):
    """The tree's rows. Text from files is plain; nothing here reads bytes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._documents: list[OpenDocument] = []
        self._items: dict[int, Item] = {}
        self._roots: list[Item] = []
        self._next = 1
        self._filter = ""
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

    def rebuild(self) -> None:
        """Make the tree anew, after a document changed."""
        self.beginResetModel()
        self._items.clear()
        self._shown = self._matches() if self._filter else None
        self._roots = []
        for document in self._documents:
            self._add(self._roots, ItemKind.DOCUMENT, document, "", None)
        self.endResetModel()

    def take_nodes(self, document: OpenDocument) -> None:
        """Take over the nodes of a new hierarchy, which has the same groups and arrays."""
        root = self._root_node(document)
        # Those above come before what is below them.
        for item in self._items.values():
            if item.document is not document or item.node is None or item.parent is None:
                continue
            parent = item.parent
            above: Any = root if parent.kind is ItemKind.DOCUMENT else parent.parts or parent.node
            if item.place == "/":
                item.node = root
            elif item.kind is ItemKind.GROUP:
                item.node = above.groups[item.node.name]
            else:
                item.node = array = above.arrays[item.node.name]
                item.parts = parts_of(above, array)

    def set_filter(self, text: str) -> None:
        """Show only rows whose name or title holds `text`, and what they are in."""
        self._filter = text.strip().casefold()
        self.rebuild()

    def is_filtered(self) -> bool:
        """Whether a filter is in force."""
        return bool(self._filter)

    # Finding rows

    def first_match(self, parent: Index = _ROOT) -> QModelIndex:
        """Return the first row whose name holds the filter's text; an invalid one without a filter."""
        for row in range(self.rowCount(parent) if self._filter else 0):
            index = self.index(row, 0, parent)
            item = self.item(index)
            if item is not None and self._filter in _filtered_text(item).casefold():
                return index
            below = self.first_match(index)
            if below.isValid():
                return below
        return QModelIndex()

    def item(self, index: Index) -> Item | None:
        """Return the item of an index."""
        return self._items.get(index.internalId()) if index.isValid() else None

    def is_marked_as_shown(self, index: Index) -> bool:
        """Whether a row is marked as it was when it was painted last."""
        item = self.item(index)
        return item is None or item.mark == changed_words(item)

    def index_of(self, item: Item) -> QModelIndex:
        """Return the index of an item."""
        return self.createIndex(item.row, 0, item.number)

    def find_node(self, document: OpenDocument, path: str) -> QModelIndex:
        """Return the index of a group or array; an invalid one where it is not in the tree."""
        item = next((root for root in self._roots if root.document is document), None)
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
        root = next((root for root in self._roots if root.document.number == number), None)
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
        siblings: list[Item],
        kind: ItemKind,
        document: OpenDocument,
        place: str | int,
        parent: Item | None,
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
        """Return what a filter shows; a document is shown whole where its name matches and nothing in it."""
        shown: set[Identity] = set()
        self._called_so = set()
        for document in self._documents:
            before = len(shown)
            for node in document.hierarchy.walk() if document.hierarchy is not None else ():
                if self._filter in _searched_text(node.path, node).casefold():
                    kind = ItemKind.GROUP if hasattr(node, "groups") else ItemKind.ARRAY
                    shown.add((document.number, str(kind), node.path))
                    self._show_above(document, node.path, shown)
                for path, dimension in dimensions_of(node):
                    if self._filter in dimension.name.casefold():
                        shown.add((document.number, str(ItemKind.DIMENSION), path))
                        self._show_above(document, f"{node.path.rstrip('/')}/", shown)
            self._match_references(document, shown)
            if len(shown) > before:
                shown.add((document.number, str(ItemKind.DOCUMENT), ""))
            elif self._filter in document.title.casefold():
                self._called_so.add(document.number)
        return shown

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
            if self._filter in name.casefold():
                shown.add((document.number, str(ItemKind.TEMPLATE), name))
                shown.add((document.number, str(ItemKind.TEMPLATES), ""))
        for number, rule in enumerate(document.document.rules):
            if self._filter in (rule.key or "").casefold():
                shown.add((document.number, str(ItemKind.RULE), number))
                shown.add((document.number, str(ItemKind.RULES), ""))

    # Qt's side

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        above = self.item(parent)
        siblings = self._roots if above is None else self._children(above)
        if column == 0 and 0 <= row < len(siblings):
            return self.createIndex(row, 0, siblings[row].number)
        return QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]
        item = self.item(index)
        if item is None or item.parent is None:
            return QModelIndex()
        return self.index_of(item.parent)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        if not parent.isValid():
            return len(self._roots)
        item = self.item(parent)
        return 0 if item is None else len(self._children(item))

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:
        item = self.item(parent)
        if item is None:
            return bool(self._roots)
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
        item = self.item(index)
        if item is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return name_of(item)
        if role == DETAIL_ROLE:
            return detail_of(item)
        if role == BADGE_ROLE:
            return badge_of(item)
        if role == MATCH_ROLE:
            first = name_of(item).casefold().find(self._filter) if self._filter else -1
            return None if first < 0 else (first, first + len(self._filter))
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


def name_of(item: Item) -> str:
    """Return what the tree calls an item."""
    document = item.document
    if item.kind is ItemKind.DOCUMENT:
        return f"{one_line(document.title)} *" if document.is_pending else one_line(document.title)
    if item.kind is ItemKind.TEMPLATES:
        return "Templates"
    if item.kind is ItemKind.RULES:
        return "Gen rules"
    if item.kind is ItemKind.RULE:
        rule = _rule(item)
        return one_line((rule.key if rule is not None else None) or f"rule {item.place}")
    if item.kind is ItemKind.TEMPLATE:
        return one_line(str(item.place)) or "''"
    if item.dimension is not None:
        return one_line(item.dimension.name) or "''"
    return one_line(str(item.place).rsplit("/", 1)[-1]) or "/"


def detail_of(item: Item) -> str:
    """Return the muted words beside the name: shape and type, number of rows, version."""
    document = item.document.document
    if item.kind is ItemKind.DOCUMENT:
        if item.document.error is not None:
            found = getattr(item.document.error, "found", None)
            return "folder" if found is not None and found.kind == "folder" else "not opened"
        if document is None:
            return "opening…"
        count = item.document.pending_count + item.document.draft_count
        form = short_format(item.document)
        return f"{counted_plain(count, 'edit')} · {form}" if count else form
    if item.dimension is not None:
        return size_words(item.dimension)
    if document is None:
        return ""
    if item.kind is ItemKind.TEMPLATES:
        return str(len(document.templates.templates))
    if item.kind is ItemKind.RULES:
        return str(len(document.rules))
    if item.kind is ItemKind.RULE:
        rule = _rule(item)
        return "" if rule is None else counted_spaced(rule.count, "row")
    if item.kind is ItemKind.ARRAY and item.node is not None:
        array: Any = item.node
        if array.error is not None:
            return "broken"
        return detail_text(array)
    return ""


def _filtered_text(item: Item) -> str:
    """Return what a filter looks at; nothing for rows that only hold others."""
    state = item.document.document
    if item.kind is ItemKind.RULE and state is not None:
        return state.rules[int(item.place)].key or ""
    if item.kind is ItemKind.DOCUMENT:
        return item.document.title
    if item.kind in (ItemKind.GROUP, ItemKind.ARRAY):
        return _searched_text(str(item.place), item.node)
    if item.dimension is not None:
        return item.dimension.name
    return str(item.place) if item.kind is ItemKind.TEMPLATE else ""


def _searched_text(path: str, node: Node | None) -> str:
    """Return a node's path and what its attributes call it: few know the short names of others."""
    return "\n".join([path, *_titles(node)])


def _titles(node: Node | None) -> list[str]:
    attributes = getattr(node, "attributes", {})
    found = [attributes.get(name) for name in ("long_name", "standard_name", "title")]
    return [title[:_TITLE] for title in found if isinstance(title, str)]


def finding_of(item: Item) -> str:
    """Return what is wrong with the item, or nothing."""
    if item.kind is ItemKind.DOCUMENT and item.document.error is not None:
        return str(item.document.error)
    for name in ("error", "unreadable"):
        error = getattr(item.node, name, None)
        if error is not None:
            return str(error)
    return item.document.finding_at(str(item.kind), item.place)


def is_broken(item: Item) -> bool:
    """Tell whether an item itself cannot be read."""
    if item.kind is ItemKind.DOCUMENT and item.document.error is not None:
        return True
    if any(getattr(item.node, name, None) is not None for name in ("error", "unreadable")):
        return True
    first = item.document.findings.found.first_at((str(item.kind), item.place))
    return first is not None and first.is_fault


def tooltip_of(item: Item) -> str:
    """Return the full name, and the finding where there is one."""
    full = item.document.path if item.kind is ItemKind.DOCUMENT else name_of(item)
    if item.kind in (ItemKind.GROUP, ItemKind.ARRAY):
        titles = (*map(one_line, _titles(item.node)), *coordinate_words(item.node), *node_words(item.node))
        full = "\n".join([str(item.place), *titles])
    elif item.kind is ItemKind.DIMENSION:
        full = f"Dimension {one_line(str(item.place))}"
    elif item.kind is ItemKind.DOCUMENT:
        full = "\n".join(part for part in (full, format_words(item.document)) if part)
    detail, finding = detail_of(item), finding_of(item)
    below = badge_words(badge_of(item))
    return "\n".join(part for part in (full, detail, changed_words(item), finding, below) if part)


def icon_of(item: Item) -> Any:
    """Return the icon of an item, with a mark where something is wrong."""
    scheme = theme.colors()
    badge = "fault" if is_broken(item) else None
    name, color = str(item.kind), scheme.muted
    if item.kind is ItemKind.ARRAY:
        name, color = icon_name(cast("ArrayNode", item.node)), scheme.accent
    elif item.kind in (ItemKind.TEMPLATE, ItemKind.TEMPLATES):
        name = "templates"
    elif item.kind in (ItemKind.RULE, ItemKind.RULES):
        name = "rules"
    return icons.icon(name, color, badge)


def _rule(item: Item) -> Any:
    document = item.document.document
    number = int(item.place)
    return document.rules[number] if document is not None and number < len(document.rules) else None
