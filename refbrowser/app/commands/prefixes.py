"""Beginning to replace URL prefixes, over what is selected where the keyboard is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.references.edits.url_prefixes import PrefixScope


class PrefixCommands(CommandGroup):
    """Opens the editor of prefixes with the parts of the document that are selected somewhere."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.replace_prefix)

    def connect_editors(self) -> None:
        """Begin where an editor asks for it."""
        self._window.editors.prefixWanted.connect(self.replace_prefix)

    def replace_prefix(self) -> None:
        """Begin with what is selected in the pane that has the keyboard; with all keys elsewhere."""
        if self._current is not None:
            self.begin(self._current, "")

    def begin(self, document: OpenDocument, old: str) -> None:
        """Begin to replace `old`, or what the URLs have in common when it is empty."""
        from refbrowser.references.edits.url_prefixes import PrefixScope

        window = self._window
        window.centre.references.tell_now()
        rows, item = self._of_rows(), self._of_item(document)
        chosen = PrefixScope()
        if not old and rows is not None and window.centre.references.table.hasFocus():
            chosen = rows[1]
        elif not old and item is not None and window.hierarchy.tree.hasFocus():
            chosen = item[1]
        scopes = [scope for scope in (rows, item) if scope is not None]
        window.docks.raise_("editorDock")
        window.docks.raise_("previewDock")
        window.editors.replace_prefix(document, scopes, chosen, old)

    def _of_rows(self) -> tuple[str, PrefixScope] | None:
        """Return the selected rows as a part of the document: more than one, or those of one rule."""
        from refbrowser.references.edits.url_prefixes import PrefixScope, ScopeKind

        chosen = self._window.centre.references.selected_rows()
        if chosen.count > 1 or (chosen.count and chosen.generated):
            title = f"{count_text(chosen.count)} selected reference{'' if chosen.count == 1 else 's'}"
            return title, PrefixScope(ScopeKind.ENTRIES, runs=chosen.entries)
        if not chosen.count and len(chosen.rules) == 1:
            return f"Gen rule {chosen.rules[0]}", PrefixScope(ScopeKind.RULE, number=chosen.rules[0])
        return None

    def _of_item(self, document: OpenDocument) -> tuple[str, PrefixScope] | None:
        """Return the selected row of the tree as a part of the document."""
        from refbrowser.references.edits.url_prefixes import PrefixScope, ScopeKind

        item = self._window.navigation.item()
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
