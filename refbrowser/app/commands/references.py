"""Editing: undo and redo, the selected keys, prefixes over what is selected, the packing of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.packing_words import other_packing
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.references_pane import ReferencesPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.references.content.url_prefixes import PrefixScope
    from refbrowser.references.document.document import Document
    from refbrowser.views.references import SelectedRows


class EditCommands(CommandGroup):
    """Undo and redo, and what is added."""

    follows = Changed.HISTORY

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._docks = workspace.docks
        self._editors = workspace.editors

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        added = (self.add_template, self.add_rule, self.add_reference, self.template_values)
        return by_name(self.undo, self.redo, *added)

    def conditions(self) -> dict[str, bool]:
        """Return which steps of the history there are."""
        document = self._current
        return {
            "can_undo": document is not None and document.can_undo,
            "can_redo": document is not None and document.can_redo,
        }

    def undo(self) -> None:
        """Take back the last edit."""
        if self._current is not None:
            self._current.undo()

    def redo(self) -> None:
        """Make the last undone edit again."""
        if self._current is not None:
            self._current.redo()

    def add_template(self) -> None:
        """Edit templates; the editor adds one."""
        if self._current is not None:
            self._editors.add_template(self._current)
            self._docks.raise_("editorDock")

    def add_rule(self) -> None:
        """Begin a gen rule after the last one."""
        document = self._current
        if document is not None and document.document is not None:
            self._editors.add_rule(document, len(document.document.rules) - 1)
            self._docks.raise_("editorDock")
            self._docks.raise_("previewDock")

    def add_reference(self) -> None:
        """Begin a reference."""
        if self._current is not None:
            self._editors.add_reference(self._current)
            self._docks.raise_("editorDock")

    def template_values(self) -> None:
        """Ask for values of templates."""
        document = self._current
        if document is not None:
            self._workspace.questions.template_values(document, document.set_template_values)


class PrefixCommands(CommandGroup):
    """Opens the editor of prefixes with the parts of the document that are selected somewhere."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._docks = workspace.docks
        self._hierarchy = workspace.hierarchy
        self._editors = workspace.editors
        self._navigation = workspace.navigation

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.replace_prefix)

    def connect_editors(self) -> None:
        """Begin where an editor asks for it."""
        self._editors.prefixWanted.connect(self.replace_prefix)

    def replace_prefix(self) -> None:
        """Begin with what is selected in the pane that has the keyboard; with all keys elsewhere."""
        if self._current is not None:
            self.begin(self._current, "")

    def lead_elsewhere(self, document: OpenDocument, old: str) -> None:
        """Begin to replace `old`; where templates and rules give it, show where the files lie instead."""
        state = document.document
        if state is None:
            return
        texts = (*state.refs.table.urls, *state.places.values(), *(rule.url or "" for rule in state.rules))
        if any(text.startswith(old) for text in texts):
            self.begin(document, old)
        else:
            self._workspace.show_places(document, old)

    def begin(self, document: OpenDocument, old: str) -> None:
        """Begin to replace `old`, or what the URLs have in common when it is empty."""
        from refbrowser.references.content.url_prefixes import PrefixScope

        self._centre.references.tell_now()
        rows, item = self._of_rows(), self._of_item(document)
        chosen = PrefixScope()
        if not old and rows is not None and self._centre.references.table.hasFocus():
            chosen = rows[1]
        elif not old and item is not None and self._hierarchy.tree.hasFocus():
            chosen = item[1]
        scopes = [scope for scope in (rows, item) if scope is not None]
        self._docks.raise_("editorDock")
        self._docks.raise_("previewDock")
        self._editors.replace_prefix(document, scopes, chosen, old)

    def _of_rows(self) -> tuple[str, PrefixScope] | None:
        """Return the selected rows as a part of the document: more than one, or those of one rule."""
        from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind

        chosen = self._centre.references.selected_rows()
        if chosen.count > 1 or (chosen.count and chosen.generated):
            title = counted_spaced(chosen.count, "selected reference")
            return title, PrefixScope(ScopeKind.ENTRIES, runs=chosen.entries)
        if not chosen.count and len(chosen.rules) == 1:
            return f"Gen rule {chosen.rules[0]}", PrefixScope(ScopeKind.RULE, number=chosen.rules[0])
        return None

    def _of_item(self, document: OpenDocument) -> tuple[str, PrefixScope] | None:
        """Return the selected row of the tree as a part of the document."""
        from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind

        item = self._navigation.item()
        if item is None or item.document is not document:
            return None
        if item.kind in (ItemKind.ARRAY, ItemKind.GROUP):
            noun = "Array" if item.kind is ItemKind.ARRAY else "Group"
            return f"{noun} {item.place}", PrefixScope(ScopeKind.UNDER, str(item.place))
        if item.kind is ItemKind.TEMPLATE:
            return f"Template {item.place}", PrefixScope(ScopeKind.TEMPLATE, str(item.place))
        if item.kind is ItemKind.RULE:
            return f"Gen rule {item.place}", PrefixScope(ScopeKind.RULE, number=int(item.place))
        return None


class PackingCommands(CommandGroup):
    """Opens the sheet for the array that is selected, from the menus and from its line *Packing*."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        workspace.attributes.packingWanted.connect(self.pack_otherwise)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.pack_otherwise)

    def pack_otherwise(self) -> None:
        """Show what the metadata of the selected array would be with its packing said otherwise."""
        from refbrowser.app.dialogs.packing_sheet import PackingSheet

        item = self._workspace.navigation.item()
        node = None if item is None else item.node
        packing = other_packing(node) if isinstance(node, ArrayNode) else ""
        if item is None or not isinstance(node, ArrayNode) or not packing:
            self._workspace.say("Select an array with scale_factor or add_offset, or with codecs for packing")
            return
        workspace = self._workspace
        sheet = PackingSheet(
            item.document, node, packing, lambda: workspace.export_as(""), workspace.window()
        )
        sheet.open()


#: Keys of which more are not deleted without being asked.
ASKED = 20
#: Actions whose keys belong to the table alone: elsewhere they mean something else.
TABLE_KEYS = ("rename_reference", "duplicate_references", "delete_references")


class ReferenceCommands(CommandGroup):
    """Renames, duplicates, deletes and overrides keys; each is one step of the history."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._docks = workspace.docks
        self._hierarchy = workspace.hierarchy
        self._editors = workspace.editors
        self._actions = workspace.actions_

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        edits = (
            self.rename_reference,
            self.duplicate_references,
            self.change_references,
            self.delete_references,
        )
        return by_name(*edits, self.changed_only, self.go_to_rule, self.override_key)

    def conditions(self) -> dict[str, bool]:
        """Return what is ticked."""
        return {"shows_changed_only": self._pane.changed_only.isChecked()}

    def connect_table(self) -> None:
        """Act on the keys and buttons of the table."""
        for name in TABLE_KEYS:
            action = self._actions[name]
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            self._pane.table.addAction(action)
        self._pane.renameWanted.connect(self._rename)
        self._pane.changedOnlyToggled.connect(lambda _on: self._workspace.update_actions())
        self._pane.generated.ruleWanted.connect(self.go_to_rule)
        self._pane.generated.overrideWanted.connect(self.override_key)
        self._editors.changesWanted.connect(self.show_changed)

    @property
    def _pane(self) -> ReferencesPane:
        return self._centre.references

    # Renaming

    def rename_reference(self) -> None:
        """Edit the current key in its place."""
        self._centre.tabs.setCurrentIndex(REFERENCES)
        self._pane.tell_now()
        row, key = self._pane.current_row(), self._pane.current_key()
        state = None if self._current is None else self._current.document
        if state is None or row is None or key is None:
            self._say_nothing()
        elif row >= state.expansion.refs_rows:
            self._say_generated()
        else:
            self._pane.rename_current()

    def _rename(self, old: str, new: str) -> None:
        from refbrowser.references.edits.edits import RenameReference

        if self._current is not None and self._current.apply(RenameReference(old, new)):
            self._pane.go_to_key(new)

    # Many keys

    def delete_references(self) -> None:
        """Delete the selected keys; asks first where they are many, or not seen."""
        chosen = self._chosen()
        if chosen is None:
            return
        seen = self._centre.tabs.currentIndex() == REFERENCES
        self._centre.tabs.setCurrentIndex(REFERENCES)
        if chosen.count <= ASKED and seen:
            self._delete(chosen)
            return
        stay = (
            f" {rows_of_rules(chosen)} too, and stay: they come from gen rules." if chosen.generated else ""
        )
        self._workspace.questions.delete_keys(
            chosen.count, f"It is one step, which Undo takes back.{stay}", lambda: self._delete(chosen)
        )

    def _delete(self, chosen: SelectedRows) -> None:
        from refbrowser.references.edits.edits import RemoveReference
        from refbrowser.references.edits.many_edits import RemoveReferences

        document = self._current
        if document is None or document.document is None:
            return
        stay = f"; {rows_of_rules(chosen)} stay" if chosen.generated else ""
        if chosen.count == 1:
            key = document.document.refs.key(chosen.entries[0][0])
            if document.apply(RemoveReference(key)):
                self._workspace.say(f"{one_line(key)} deleted; Undo takes it back{stay}")
            return
        words = f"{count_text(chosen.count)} keys deleted; Undo takes it back{stay}"
        document.apply_later(RemoveReferences(chosen.entries), lambda: self._workspace.say(words))

    def duplicate_references(self) -> None:
        """Add copies of the selected keys; the key of a single one can be typed at once."""
        from refbrowser.references.edits.many_edits import MOST_COPIES, CopyReferences, copy_key

        chosen, document = self._chosen(), self._current
        if chosen is None or document is None or document.document is None:
            return
        if chosen.count > MOST_COPIES:
            self._workspace.say(f"At most {count_text(MOST_COPIES)} keys are duplicated at once")
            return
        self._centre.tabs.setCurrentIndex(REFERENCES)
        state: Document = document.document
        taken: set[str] = set()
        pairs = []
        for start, stop in chosen.entries:
            for key in state.refs.keys(start, stop):
                copy = copy_key(key, taken, state.refs)
                taken.add(copy)
                pairs.append((key, copy))
        first = len(state.refs)

        def done() -> None:
            self._pane.show_row(first)
            self._pane.table.setFocus()
            self._workspace.say(f"{count_text(len(pairs))} duplicated; F2 gives a key another name")
            if len(pairs) == 1:
                self._pane.rename_current()

        document.apply_later(CopyReferences(tuple(pairs)), done)

    def change_references(self) -> None:
        """Change URL, offset and length of the selected references, as one step."""
        from refbrowser.app.dialogs.reference_changes_dialog import ReferenceChangesDialog
        from refbrowser.references.edits.reference_changes import MOST_CHANGED, ChangeReferences

        chosen, document = self._chosen(), self._current
        if chosen is None or document is None or document.document is None:
            return
        self._centre.tabs.setCurrentIndex(REFERENCES)
        if chosen.count > MOST_CHANGED:
            self._workspace.say(f"At most {count_text(MOST_CHANGED)} references are changed at once")
            return

        def apply(edit: ChangeReferences) -> None:
            words = f"{counted_spaced(chosen.count, 'reference')} changed; Undo takes it back"
            document.apply_later(edit, lambda: self._workspace.say(words))

        stay = f" {rows_of_rules(chosen)} stay, too: change the rule." if chosen.generated else ""
        dialog = ReferenceChangesDialog(document.document, chosen, stay, self._workspace.window())
        dialog.wanted.connect(apply)
        dialog.open()

    def _chosen(self) -> SelectedRows | None:
        """Return the selected entries; None, and why is said, where there are none."""
        chosen: SelectedRows = self._pane.selected_rows()
        if chosen.count:
            return chosen
        self._centre.tabs.setCurrentIndex(REFERENCES)
        if chosen.generated:
            self._say_generated()
        else:
            self._say_nothing()
        return None

    def _say_nothing(self) -> None:
        self._workspace.say("Select keys in References first")

    def _say_generated(self) -> None:
        words = "This key comes from a gen rule: change the rule, or override the key"
        state = None if self._current is None else self._current.document
        if state is not None and state.rules_are_made:
            words = "This key is a chunk, and stays as it is"
        self._workspace.say(words)

    # What changed

    def changed_only(self) -> None:
        """Show only the keys that differ from the saved state, or all again."""
        self._centre.tabs.setCurrentIndex(REFERENCES)
        self._pane.show_changed_only(not self._pane.changed_only.isChecked())

    def show_changed(self) -> None:
        """Show the keys that differ from the saved state."""
        self._centre.tabs.setCurrentIndex(REFERENCES)
        self._pane.show_changed_only(True)
        self._pane.table.setFocus()

    # Keys of rules

    def _origin(self) -> tuple[int, int] | None:
        """Return the rule of the current key and the row in it; None, and why is said, where it has none."""
        row = self._pane.current_row()
        state = None if self._current is None else self._current.document
        if state is None or row is None:
            self._say_nothing()
            return None
        if row < state.expansion.refs_rows:
            self._workspace.say("This key is in refs, not in a gen rule")
            return None
        rule, inner = state.expansion.origin(row)
        return rule, inner

    def go_to_rule(self) -> None:
        """Show the rule of the current key, and its row in the preview."""
        origin = self._origin()
        if origin is not None:
            self._show_rule(*origin)

    def _show_rule(self, rule: int, row: int) -> None:
        document = self._current
        if document is None:
            return
        identity = (document.number, str(ItemKind.RULE), rule)
        self._hierarchy.select_index(self._hierarchy.model.find_identity(identity))
        self._docks.raise_("editorDock")
        self._docks.raise_("previewDock")
        preview = self._editors.preview()
        if preview is not None:
            preview.go_to_row(row)
        self._editors.focus_editor()

    def override_key(self) -> None:
        """Add a rule of one row for the current key, at the end: there it counts."""
        from refbrowser.errors import RefbrowserError
        from refbrowser.references.edits.edits import overriding_rule

        origin, document = self._origin(), self._current
        if origin is None or document is None or document.document is None:
            return
        state = document.document
        try:
            edit = overriding_rule(state, *origin)
        except RefbrowserError as error:
            document.editFailed.emit(error)
            return
        if document.apply(edit):
            self._pane.show_row(document.document.expansion.rows - 1)
            self._editors.show_rule(document, len(state.rules))
            self._docks.raise_("editorDock")
            self._editors.focus_editor()
            self._workspace.say("A gen rule of one row gives this key now; change it in the editor")


def rows_of_rules(chosen: SelectedRows) -> str:
    """Return how many of the selected rows come from rules, as ``3 rows of gen rules 0, 2``."""
    rules = ", ".join(str(number) for number in chosen.rules[:4]) + ("…" if len(chosen.rules) > 4 else "")
    rows = counted_spaced(chosen.generated, "row")
    return f"{rows} of gen {plural(len(chosen.rules), 'rule')} {rules}"
