"""Search in all texts: the pane that does it, and going to what it found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QLineEdit

from refbrowser.app.commands.source import SourceCommands
from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.views.searching.text_search import TextHit


class SearchCommands(CommandGroup):
    """Shows the pane Search, and what is chosen in it in the panes that it belongs to."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._source = workspace.groups[SourceCommands]
        self._pane = workspace.search
        self._pane.chosen.connect(self._show)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.search_texts)

    def search_texts(self) -> None:
        """Bring the search to the front, with what is selected where the keyboard is."""
        field = QApplication.focusWidget()
        chosen = field.selectedText() if isinstance(field, QLineEdit) else self._source.selected_text()
        self._workspace.docks.raise_("searchDock")
        self._pane.begin(chosen)

    def _show(self, document: OpenDocument, hit: TextHit) -> None:
        """Show a place that was found; the keyboard stays in the list."""
        self._workspace.documents.set_current(document)
        if (
            self._source.is_in_front
            and self._source.can_show(document)
            and self._show_in_source(document, hit)
        ):
            return
        from refbrowser.views.searching.text_search import HitKind

        workspace = self._workspace
        if hit.kind in (HitKind.NAME, HitKind.ATTRIBUTE):
            workspace.hierarchy.select_node(document, hit.at)
            workspace.docks.raise_("attributesDock")
        elif hit.kind in (HitKind.RULE, HitKind.TEMPLATE):
            kind = ItemKind.RULE if hit.kind is HitKind.RULE else ItemKind.TEMPLATE
            place = hit.number if hit.kind is HitKind.RULE else hit.at
            identity = (document.number, str(kind), place)
            workspace.hierarchy.select_index(workspace.hierarchy.model.find_identity(identity))
            workspace.docks.raise_("editorDock")
            if hit.kind is HitKind.RULE:
                workspace.editors.show_rule_place(hit.name, None)
        else:
            workspace.centre.tabs.setCurrentIndex(REFERENCES)
            workspace.centre.references.go_to_key(hit.at, focus=False)

    def _show_in_source(self, document: OpenDocument, hit: TextHit) -> bool:
        """Show a place in the text, where it has one there."""
        from refbrowser.views.searching.text_search import HitKind
        from refbrowser.views.source import text_places

        hierarchy = document.hierarchy
        if hit.kind is HitKind.RULE:
            self._source.show(hit.where, partial(text_places.rule_position, number=hit.number))
        elif hit.kind is HitKind.TEMPLATE:
            self._source.show(hit.at, partial(text_places.template_position, name=hit.at))
        elif hit.kind in (HitKind.NAME, HitKind.ATTRIBUTE):
            if hierarchy is None:
                return False
            find = partial(text_places.node_position, hierarchy=hierarchy, path=hit.at)
            self._source.show(hit.at, find)
        else:
            self._source.show(hit.at, partial(text_places.key_position, key=hit.at))
        return True
