"""Rows of the tree that are of open documents, and what each is called, shows and tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.tree_badges import badge_words
from refbrowser.app.panes.tree_rows import FileRow, Identity
from refbrowser.app.widgets import icons, theme
from refbrowser.engine.findings.listed_finding import Badge
from refbrowser.views.hierarchy import (
    ItemKind,
    changed_words,
    coordinate_words,
    detail_text,
    format_words,
    icon_name,
    node_words,
    short_format,
    size_words,
)
from refbrowser.views.hierarchy_filter import titles_of
from refbrowser.views.words import one_line
from refbrowser.words import counted_plain, counted_spaced

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Node


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
    parent: Item | FileRow | None
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


def badge_of(item: Item) -> Badge:
    """Return how many findings an item of the tree has, with all that is below it."""
    is_list = str(item.kind) in ("document", "templates", "rules")
    return item.document.findings.found.badge((str(item.kind), "" if is_list else item.place))


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


def own_name(item: Item) -> str:
    """Return the name of a rule, a template or a dimension, as it is searched."""
    rule = _rule(item) if item.kind is ItemKind.RULE else None
    if rule is not None:
        return rule.key or ""
    return item.dimension.name if item.dimension is not None else str(item.place)


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
        titles = (*map(one_line, titles_of(item.node)), *coordinate_words(item.node), *node_words(item.node))
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
