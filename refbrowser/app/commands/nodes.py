"""Other names for what is selected in the tree, a group, an array or a dimension, and its deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.model.nodes import GroupNode
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import one_line
from refbrowser.words import counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.tree_items import Item
    from refbrowser.references.edits.edits import Edit

#: Actions whose keys belong to the tree alone: elsewhere they mean something else.
TREE_KEYS = ("rename_node", "delete_node", "open_in_view", "open_beside")
_NODES = (ItemKind.GROUP, ItemKind.ARRAY)


class NodeCommands(CommandGroup):
    """Renames and deletes what is selected in the tree; each is one step of the history."""

    follows = Changed.FORMAT | Changed.OTHER

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.rename_node, self.delete_node)

    def conditions(self) -> dict[str, bool]:
        """Return whether nodes can be changed: those of a store are folders, which are not moved."""
        document = self._current
        return {"can_change_nodes": document is not None and document.is_open and not document.is_store}

    def offer_actions(self) -> None:
        """Let the keys work in the tree."""
        for name in TREE_KEYS:
            self._workspace.actions_[name].setShortcutContext(Qt.ShortcutContext.WidgetShortcut)

    # Renaming

    def rename_node(self) -> None:
        """Ask for another name of what is selected."""
        from refbrowser.app.dialogs.rename_dialog import RenameDialog

        words = "Select an array, group or dimension in the tree first"
        item = self._item((*_NODES, ItemKind.DIMENSION), words)
        if item is None:
            return
        document = item.document
        group, name = parts_of_place(item)
        is_dimension = item.kind is ItemKind.DIMENSION
        parent = group_at(document, group)
        taken = {*parent.dimensions} if is_dimension else {*parent.groups, *parent.arrays}

        def fault(text: str) -> str:
            from refbrowser.references.edits.node_edits import name_fault

            found = name_fault(text)
            if found:
                return f"This name cannot be used: {found}."
            return f"{one_line(text)} already exists." if text in taken else ""

        def rename(new: str, along: bool) -> None:
            from refbrowser.references.edits.edits import Compound
            from refbrowser.references.edits.node_edits import RenameDimension, RenameNode

            above = f"{group}/".removeprefix("/")
            edits: list[Edit] = []
            if along or not is_dimension:
                edits.append(RenameNode(above + name, above + new))
            if along or is_dimension:
                edits.append(RenameDimension(group, name, new))
            edit = edits[0] if len(edits) == 1 else Compound(f"Rename {name} to {new}", tuple(edits))

            def done() -> None:
                self._select_later(document, f"/{above}{new}")
                self._workspace.say(f"{one_line(name)} is called {one_line(new)} now; Undo takes it back")

            document.apply_later(edit, done)

        noun = str(item.kind)
        along = namesake(parent, name, is_dimension)
        title = f"Rename {noun} {one_line(name)}"
        dialog = RenameDialog(title, name, fault, along, self._workspace.window())
        dialog.said.connect(rename)
        dialog.open()

    def _select_later(self, document: OpenDocument, path: str) -> None:
        """Select a node once the tree has it."""

        def select(_extent: object) -> None:
            document.hierarchyChanged.disconnect(select)
            self._workspace.hierarchy.select_node(document, path)

        document.hierarchyChanged.connect(select)

    # Deleting

    def delete_node(self) -> None:
        """Delete what is selected; asks first where it is a group."""
        item = self._item(_NODES, "Select an array or group in the tree first")
        if item is None:
            return
        document, path = item.document, str(item.place)

        def delete() -> None:
            from refbrowser.references.edits.node_edits import DeleteNode

            def done() -> None:
                self._workspace.say(f"{one_line(path)} deleted; Undo takes it back")

            document.apply_later(DeleteNode(path.strip("/")), done)

        if isinstance(item.node, GroupNode):
            self._workspace.questions.delete_group(path, contents_words(item.node), delete)
        else:
            delete()

    def _item(self, kinds: tuple[ItemKind, ...], words: str) -> Item | None:
        """Return the selected row of the tree; None, and it is said, where it is not of these kinds."""
        item = self._workspace.navigation.item()
        if item is None or item.kind not in kinds or str(item.place) == "/":
            self._workspace.say(words)
            return None
        return item


def parts_of_place(item: Item) -> tuple[str, str]:
    """Return the group that a row of the tree belongs to, without ``/`` at its ends, and its own name."""
    place = str(item.place)
    name = item.dimension.name if item.dimension is not None else place.rpartition("/")[2]
    return place[: -len(name)].strip("/"), name


def group_at(document: OpenDocument, path: str) -> GroupNode:
    """Return a group of a document; one without anything where there is none."""
    hierarchy = document.hierarchy
    found = None if hierarchy is None else hierarchy.find(f"/{path}")
    return found if isinstance(found, GroupNode) else GroupNode()


def namesake(parent: GroupNode, name: str, is_dimension: bool) -> str:
    """Return what of the same name is to be renamed, too: a dimension, or its coordinate variable."""
    from refbrowser.views.dimensions import is_coordinate

    array = parent.arrays.get(name)
    if array is None or not is_coordinate(array):
        return ""
    noun = "&coordinate variable" if is_dimension else "&dimension"
    return f"The {noun} of this name, too"


def contents_words(group: GroupNode) -> str:
    """Return how much a group holds, in words."""
    arrays, groups = 0, 0
    left = [group]
    while left:
        each = left.pop()
        arrays += len(each.arrays)
        groups += len(each.groups)
        left += each.groups.values()
    parts = [counted_spaced(arrays, "array")] + ([counted_spaced(groups, "group")] if groups else [])
    return " and ".join(parts)
