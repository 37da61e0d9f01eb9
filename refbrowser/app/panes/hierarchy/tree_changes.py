"""What of a row of the tree differs from the saved state, in words; such a row is bold, with a dot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.widgets.theme import count_text

if TYPE_CHECKING:
    from refbrowser.app.panes.hierarchy.hierarchy_model import Item

#: Stands behind the name of a row that differs.
CHANGED_MARK = "●"


def changed_words(item: Item) -> str:
    """Return what differs, as ``changed: 4 keys differ from the saved state``; nothing where nothing does."""
    rows, kind = item.document.changes.rows, str(item.kind)
    if rows is None:
        return ""
    if kind in ("group", "array"):
        count = item.document.changes.count_below(str(item.place))
        return "" if count is None else _changed(count, "key")
    if kind == "templates":
        return _changed(len(rows.templates), "template") if rows.templates else ""
    if kind == "template":
        return "changed: not as in the saved state" if item.place in rows.templates else ""
    if kind == "rules":
        return _changed(len(rows.rules), "gen rule") if rows.rules else ""
    if kind == "rule" and item.place in rows.rules:
        return _changed(rows.rules[int(item.place)], "row")
    return ""


def _changed(count: int, noun: str) -> str:
    if not count:
        return f"changed: {noun}s differ from the saved state"
    verb = f"{noun} differs" if count == 1 else f"{noun}s differ"
    return f"changed: {count_text(count)} {verb} from the saved state"
