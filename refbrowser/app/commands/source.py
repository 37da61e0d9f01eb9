"""The text of the document, from what is selected to its place there and back; and search in all texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QLineEdit

from refbrowser.app.frame.centre import REFERENCES, SOURCE
from refbrowser.app.frame.navigation import array_of_key, rule_of_row
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.tree_items import Item
    from refbrowser.app.source.source_pane import SourcePane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.errors import Place
    from refbrowser.references.content.content import ReferenceText
    from refbrowser.references.content.finding_places import Positions
    from refbrowser.views.editing.preview import PreviewSource
    from refbrowser.views.searching.text_search import TextHit
    from refbrowser.views.source.text_places import TextPlace

#: What is selected is sought where it has at most so many bytes.
_SOUGHT = 200


class SourceCommands(CommandGroup):
    """Shows places in the text, and what stands at a place of it in the other panes."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._navigation = workspace.navigation
        self._centre.sourceMade.connect(self._connect)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.show_in_source)

    def _connect(self, source: SourcePane) -> None:
        source.placeChosen.connect(self._show_chosen)
        source.editor.previewChanged.connect(self._preview)
        self._workspace.hierarchy.selected.connect(self._offer_keys)
        self._workspace.navigation.followed.connect(self._offer_keys)
        self._offer_keys(self._navigation.item())
        self._workspace.findings.model.modelReset.connect(source.mark_findings)

    def _offer_keys(self, item: Item | None) -> None:
        """Let the text of a store be that of the metadata of what is selected."""
        source, document = self._centre.source, self._current
        if source is None or document is None or document.document is None:
            return
        node = None if item is None or item.document is not document else item.node
        is_text = document.document.own_text is not None or not document.document.has_keys
        source.show_keys(() if is_text else tuple(getattr(node, "metadata_keys", ())))

    def _preview(self, document: OpenDocument, source: PreviewSource) -> None:
        self._workspace.editors.show_preview(document, source)
        self._workspace.docks.show_instead("previewDock", "chunkMapDock")

    @property
    def is_in_front(self) -> bool:
        """Whether the text is what is looked at."""
        return self._centre.tabs.currentIndex() == SOURCE

    def can_show(self, document: OpenDocument) -> bool:
        """Whether a document has a text in which places can be shown."""
        state = document.document
        return state is not None and state.own_text is not None

    def show_in_source(self) -> None:
        """Show what is selected in the text: the key where References are in front, else that of the tree."""
        document = self._current
        if document is None or document.document is None:
            return
        key = self._centre.references.current_key()
        if self._centre.tabs.currentIndex() == REFERENCES and key is not None:
            self._show_key(document, key)
        else:
            self._show_item(document, self._navigation.item())

    def show_place(self, place: Place) -> None:
        """Show the place of a finding in the text."""
        from refbrowser.references.content.finding_places import position_of

        self.show(one_line(place.key or place.pointer or ""), partial(position_of, place=place))

    def _show_key(self, document: OpenDocument, key: str) -> None:
        from refbrowser.views.source.text_places import key_position, rule_position

        row = self._centre.references.current_row()
        number = None if row is None else rule_of_row(document, row)
        if number is None:
            self.show(key, partial(key_position, key=key))
        else:
            self.show(key, partial(rule_position, number=number))

    def _show_item(self, document: OpenDocument, item: Item | None) -> None:
        from refbrowser.views.source import text_places

        hierarchy = document.hierarchy
        kind = ItemKind.DOCUMENT if item is None or item.document is not document else item.kind
        place = "" if item is None else item.place
        if kind is ItemKind.RULE:
            self.show(f"Gen rule {place}", partial(text_places.rule_position, number=int(place)))
        elif kind is ItemKind.TEMPLATE:
            self.show(f"Template {place}", partial(text_places.template_position, name=str(place)))
        elif kind in (ItemKind.TEMPLATES, ItemKind.RULES):
            name = "templates" if kind is ItemKind.TEMPLATES else "gen"
            self.show(name, partial(text_places.member_position, name=name))
        elif kind in (ItemKind.ARRAY, ItemKind.GROUP) and hierarchy is not None:
            find = partial(text_places.node_position, hierarchy=hierarchy, path=str(place))
            self.show(str(place), find)
        else:
            self._centre.show_tab(SOURCE)

    def selected_text(self) -> str:
        """Return what is selected in the text, where that is in front and it is one short line."""
        source = self._centre.source
        if source is None or not self.is_in_front:
            return ""
        start, stop = source.view.selection()
        chosen = source.text.read(start, stop) if 0 < stop - start <= _SOUGHT else b""
        return "" if b"\n" in chosen else chosen.decode("utf-8", "replace")

    def show(self, what: str, find: Callable[[ReferenceText, Positions], int | None]) -> None:
        """Show the place that `find` returns; the keyboard stays where it is."""
        self._centre.tabs.setCurrentIndex(SOURCE)
        self._centre.make_source().show_place(
            find, lambda: self._workspace.say(f"{one_line(what)} has no place of its own in the text")
        )

    def _show_chosen(self, place: TextPlace) -> None:
        """Show what stands at a place of the text in the pane that it belongs to."""
        from refbrowser.views.source.text_places import PlaceKind

        document = self._current
        if document is None:
            return
        if place.kind is PlaceKind.RULE:
            self._navigation.go_to_rule(document, place.number)
        elif place.kind is PlaceKind.TEMPLATE:
            identity = (document.number, str(ItemKind.TEMPLATE), place.name)
            hierarchy = self._workspace.hierarchy
            hierarchy.select_index(hierarchy.model.find_identity(identity))
            self._workspace.docks.raise_("editorDock")
        else:
            from refbrowser.model.metadata_keys import is_metadata_key

            path = array_of_key(document, place.name)
            if path is not None and is_metadata_key(place.name):
                self._navigation.go_to_node(document, path)
            else:
                self._navigation.show_key(place.name)


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
        from refbrowser.views.searching.text_search import TextKind

        workspace = self._workspace
        if hit.kind in (TextKind.NAME, TextKind.ATTRIBUTE):
            workspace.hierarchy.select_node(document, hit.at)
            workspace.docks.raise_("attributesDock")
        elif hit.kind in (TextKind.RULE, TextKind.TEMPLATE):
            kind = ItemKind.RULE if hit.kind is TextKind.RULE else ItemKind.TEMPLATE
            place = hit.number if hit.kind is TextKind.RULE else hit.at
            identity = (document.number, str(kind), place)
            workspace.hierarchy.select_index(workspace.hierarchy.model.find_identity(identity))
            workspace.docks.raise_("editorDock")
            if hit.kind is TextKind.RULE:
                workspace.editors.show_rule_place(hit.name, None)
        else:
            workspace.centre.tabs.setCurrentIndex(REFERENCES)
            workspace.centre.references.go_to_key(hit.at, focus=False)

    def _show_in_source(self, document: OpenDocument, hit: TextHit) -> bool:
        """Show a place in the text, where it has one there."""
        from refbrowser.views.searching.text_search import TextKind
        from refbrowser.views.source import text_places

        hierarchy = document.hierarchy
        if hit.kind is TextKind.RULE:
            self._source.show(hit.where, partial(text_places.rule_position, number=hit.number))
        elif hit.kind is TextKind.TEMPLATE:
            self._source.show(hit.at, partial(text_places.template_position, name=hit.at))
        elif hit.kind in (TextKind.NAME, TextKind.ATTRIBUTE):
            if hierarchy is None:
                return False
            find = partial(text_places.node_position, hierarchy=hierarchy, path=hit.at)
            self._source.show(hit.at, find)
        else:
            self._source.show(hit.at, partial(text_places.key_position, key=hit.at))
        return True
