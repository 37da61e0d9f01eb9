"""What is selected, and how the panes follow each other: tree, table of keys, plot, attributes, editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT, RAW, REFERENCES
from refbrowser.app.panes.tree_items import Item
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.engine.links import Link
from refbrowser.errors import RefbrowserError
from refbrowser.model.data_type import RowType
from refbrowser.model.selection import Selection
from refbrowser.views.arrangement.arrangement import Side
from refbrowser.views.hierarchy import ItemKind, detail_text, extent_text, size_words, type_text
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.frame.centre import Centre
    from refbrowser.app.frame.editor_stack import EditorStack
    from refbrowser.app.frame.frame import Frame
    from refbrowser.app.panes.attributes_pane import AttributesPane
    from refbrowser.app.panes.hierarchy_pane import HierarchyPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.settings.preferences import Preferences
    from refbrowser.app.settings.settings import Settings
    from refbrowser.app.widgets.docks import Docks
    from refbrowser.app.widgets.elided_label import ElidedLabel
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.editing.template_source import TemplateUse


class Navigation(QObject):
    """Keeps the panes of one window in step.

    Signals
    -------
    followed(object)
        The `Item` that became current because another pane is about it.
    """

    followed = Signal(object)

    def __init__(
        self,
        frame: Frame,
        *,
        centre: Centre,
        docks: Docks,
        hierarchy: HierarchyPane,
        attributes: AttributesPane,
        editors: EditorStack,
        settings: Settings,
        preferences: Preferences,
        summary: ElidedLabel,
    ) -> None:
        super().__init__(frame.window())
        self._frame = frame
        self._centre = centre
        self._docks = docks
        self._hierarchy = hierarchy
        self._attributes = attributes
        self._editors = editors
        self._settings = settings
        self._preferences = preferences
        self._summary = summary
        self._item: Item | None = None
        #: Whether the tree chose the document: it stays where it is.
        self._is_selecting = False
        #: What is to be selected in documents, by their numbers, once they are read.
        self._wanted: dict[int, Link] = {}
        #: The array of which a part is to be seen once it is plotted, and which part.
        self._part: tuple[OpenDocument, str, str] | None = None
        self._finding = Latest(self, "selection")
        self._begun: set[int] = set()
        # Each in a turn of the event loop of its own: all panes in one would hold the window.
        self._soon = one_shot(self, 0, self.refresh)
        self._plot_soon = one_shot(self, 0, self.plot_current)
        self._hierarchy.selected.connect(self._item_selected)
        self._hierarchy.edited.connect(self._item_edited)
        self._centre.references.keySelected.connect(self._key_selected)
        self._centre.references.keyActivated.connect(self._key_activated)
        self._editors.ruleChosen.connect(self._rule_chosen)
        self._frame.documents.removed.connect(self._document_removed)
        self._attributes.ruleWanted.connect(self.go_to_rule)
        self._attributes.nodeWanted.connect(self.go_to_node)
        self._editors.useChosen.connect(self._use_chosen)
        self._editors.keyChosen.connect(self._centre.references.go_to_key)
        self._centre.tabs.currentChanged.connect(self._tab_shown)
        self._centre.plotChosen.connect(self.follow_view)

    @property
    def _plotted(self) -> tuple[OpenDocument, ArrayNode] | None:
        """The array that the active view is to show, and its document."""
        plot = self._centre.plot
        return None if plot is None else cast("tuple[OpenDocument, ArrayNode] | None", plot.asked())

    def plotted(self) -> str | None:
        """Return the path of the array that is plotted."""
        return None if self._plotted is None else self._plotted[1].path

    def item(self) -> Item | None:
        """Return what is selected."""
        return self._item

    def select_when_read(self, document: OpenDocument, path: str, selection: str = "") -> None:
        """Select and plot an array, or a part of it, as soon as the document's structure is known."""
        self._wanted[document.number] = Link(document.path, "/" + path.strip("/"), selection)
        if document.hierarchy is not None:
            self.refresh()

    def leave_alone(self, document: OpenDocument) -> None:
        """Select nothing in a document by itself once it is read."""
        self._begun.add(document.number)

    def refresh_soon(self) -> None:
        """Show the current document's newest structure in every pane, after what is under way."""
        self._soon.start()

    def refresh(self) -> None:
        """Show the current document's newest structure in every pane."""
        self._soon.stop()
        document = self._frame.documents.current
        if document is None or document.hierarchy is None:
            return
        link, find = self._wanted.pop(document.number, None), document.hierarchy.find
        wanted = None
        if link is not None:
            link = link.among(lambda path: find(path) is not None)
            wanted = link.node
            self._part = (document, wanted, link.selection) if link.selection else None
        elif document.number not in self._begun:
            wanted = self._first_wanted(document)
        self._begun.add(document.number)
        before = self._item
        if wanted is not None and not self._hierarchy.select_node(document, wanted):
            self._frame.say(f"There is no array {one_line(wanted)}")
        if self._item is not before:
            # It was not selected before: all panes show it.
            return
        item = self._hierarchy.current_item()
        self._item = item if item is None or item.document is document else None
        self._attributes.set_item(self._item)
        self._show_summary(self._item)
        self._plot_soon.start()

    def _first_wanted(self, document: OpenDocument) -> str | None:
        """Return the array to begin with: that of last time, else the first of data; None for no choice.

        The user chose something else already where not the document itself is selected.
        """
        from refbrowser.views.dimensions import first_array

        hierarchy = document.hierarchy
        item = self._hierarchy.current_item()
        is_free = item is None or item.document is not document or item.kind is ItemKind.DOCUMENT
        if hierarchy is None or not is_free or not self._preferences.is_on("first_picture"):
            return None
        before = self._settings.array(document.path)
        if before and hierarchy.find(before) is not None:
            return before
        first = first_array(hierarchy)
        return None if first is None else first.path

    def plot_current(self) -> None:
        """Plot what is selected at once: the plot pane was just made, or its cursor is to be placed."""
        self._plot(self._item)

    def select_key(self, key: str) -> None:
        """Select a key in the table of references; tabs and keyboard stay where they are."""
        self._centre.references.go_to_key(key, focus=False)

    def show_key(self, key: str) -> None:
        """Show a key in the table of references."""
        self._centre.show_tab(REFERENCES)
        self._centre.references.go_to_key(key)

    def plotted_document(self) -> OpenDocument | None:
        """Return the document whose array is plotted."""
        return None if self._plotted is None else self._plotted[0]

    def chunk_of_key(self, key: str) -> tuple[str, tuple[int, ...]] | None:
        """Return array and coordinates of the chunk that a key is; None where it is none."""
        from refbrowser.formats.expansion_manifest import single_manifests
        from refbrowser.model.nodes import ArrayNode

        document = self._frame.documents.current
        path = None if document is None else array_of_key(document, key)
        if path is None or document is None or document.hierarchy is None:
            return None
        node = document.hierarchy.find(path)
        if not isinstance(node, ArrayNode) or not node.has_manifest:
            return None
        for each in single_manifests(node.manifest):
            if key.startswith(each.prefix):
                coords = each.encoding.decode(key[len(each.prefix) :], len(each.grid_shape))
                if coords is not None and all(
                    at < size for at, size in zip(coords, each.grid_shape, strict=True)
                ):
                    return path, coords
        return None

    def show_chunk(self, coords: tuple[int, ...]) -> None:
        """Plot a chunk of the array that is plotted, and select its key; the keyboard stays where it is."""
        plot = self._centre.plot
        node = None if plot is None else plot.array()
        if plot is None or node is None or not node.has_manifest:
            return
        self._centre.references.go_to_key(node.manifest.key(coords), focus=False)
        plot.show_chunk(coords)

    def follow(self, document: OpenDocument, path: str) -> None:
        """Select a group or array that another pane is about; the table of keys and the keyboard stay."""
        if self._is_selected(document, path):
            return
        self._hierarchy.show_node(document, path)
        self._item = self._hierarchy.current_item()
        self._attributes.set_item(self._item)
        self._show_summary(self._item)
        plot = self._centre.plot
        shown = None if plot is None else plot.array()
        if self.plotted_document() is not document or shown is None or shown.path != path:
            self._plot(self._item)
        self.followed.emit(self._item)

    def show_row(self, row: int) -> None:
        """Show a row of the Version 0 view in the table of references."""
        self._centre.show_tab(REFERENCES)
        self._centre.references.show_row(row)

    def go_to_node(self, document: OpenDocument, path: str) -> None:
        """Select a group or array, and put the keyboard in the tree."""
        self._frame.documents.set_current(document)
        self._hierarchy.select_node(document, path)
        self._docks.raise_("hierarchyDock")
        self._hierarchy.tree.setFocus()

    def go_to_rule(self, document: OpenDocument, number: int) -> None:
        """Select a gen rule, and edit it."""
        self._frame.documents.set_current(document)
        identity = (document.number, str(ItemKind.RULE), number)
        self._hierarchy.select_index(self._hierarchy.model.find_identity(identity))
        self._docks.raise_("editorDock")
        self._editors.focus_editor()

    def _use_chosen(self, use: TemplateUse) -> None:
        document = self._editors.document()
        if document is None:
            return
        if use.rule is not None:
            self.go_to_rule(document, use.rule)
            if use.field is not None:
                self._editors.go_to_rule_field(use.field)
        elif use.key is not None:
            self._frame.documents.set_current(document)
            self.show_key(use.key)

    # Reactions

    def _item_selected(self, item: Item | None) -> None:
        self._item = item
        if item is None:
            self._attributes.set_item(None)
            self._show_summary(None)
            return
        plot = self._centre.plot
        if plot is not None and item.kind is ItemKind.ARRAY and plot.source() is not item.document:
            # The array is shown in this view, not in one that shows something of its document already.
            plot.clear()
        self._is_selecting = True
        self._frame.documents.set_current(item.document)
        self._is_selecting = False
        self._attributes.set_item(item)
        self._show_summary(item)
        if item.kind in (ItemKind.ARRAY, ItemKind.GROUP, ItemKind.DIMENSION, ItemKind.DOCUMENT):
            self._docks.show_before("attributesDock", "editorDock")
            self._docks.show_instead("chunkMapDock", "previewDock")
        if item.kind in (ItemKind.ARRAY, ItemKind.GROUP):
            self._centre.references.show_array(str(item.place))
            self._plot_soon.start()
        elif item.kind in (ItemKind.TEMPLATE, ItemKind.TEMPLATES):
            self._editors.show_templates(item.document, str(item.place) or None)
            self._docks.show_before("editorDock", "attributesDock")
            self._show_preview()
        elif item.kind is ItemKind.RULE:
            self._show_rule(item.document, int(item.place))

    def _item_edited(self, item: Item) -> None:
        if item.kind is ItemKind.ARRAY:
            self._centre.show_tab(PLOT)
        elif item.kind in (ItemKind.TEMPLATE, ItemKind.TEMPLATES, ItemKind.RULE):
            self._item_selected(item)
            self._docks.raise_("editorDock")
            self._docks.raise_("previewDock")
            self._editors.focus_editor()

    def _show_rule(self, document: OpenDocument, number: int) -> None:
        self._editors.show_rule(document, number)
        self._docks.show_before("editorDock", "attributesDock")
        self._show_preview()
        self._centre.references.show_rule(number)

    def _show_preview(self) -> None:
        self._docks.show_instead("previewDock", "chunkMapDock")

    def _rule_chosen(self, number: int) -> None:
        document = self._editors.document()
        if document is not None:
            identity = (document.number, str(ItemKind.RULE), number)
            self._hierarchy.select_index(self._hierarchy.model.find_identity(identity))

    def _key_selected(self, key: str, row: int) -> None:
        document = self._frame.documents.current
        if document is None or document.document is None:
            return
        self._centre.raw.set_key(document, key)
        path = array_of_key(document, key)
        if path is not None:
            self.follow(document, path)
        rule = rule_of_row(document, row)
        if rule is None:
            self._editors.show_reference(document, key)
        elif document.document.rules_are_made:
            # Nobody wrote the rule that stands for it.
            self._editors.clear("This key is a chunk of the store, and stays as it is.")
        else:
            self._editors.show_rule(document, rule)

    def _tab_shown(self, number: int) -> None:
        """Show the bytes of the current key, which the tree may have chosen."""
        document, centre = self._frame.documents.current, self._centre
        if number == RAW and document is not None and document.is_open:
            key = centre.references.current_key()
            if key is not None and key != centre.raw.key():
                centre.raw.set_key(document, key)

    def open_view(self, item: Item, side: Side) -> None:
        """Show an array in a new view; the active one goes back to what it showed before it was selected."""
        views = self._centre.views
        if views is None:
            return
        if self._is_selected(item.document, str(item.place)):
            views.active.go_back()
        before = views.active
        views.open(side).begin_like(before)
        self._plot_soon.stop()
        self._plot(item)
        self.follow_view(views.active)
        self._centre.show_tab(PLOT)

    def follow_view(self, plot: PlotPane) -> None:
        """Let all panes be about what the view shows that is active now."""
        shown = self._plotted
        if shown is None or plot.array() is None or self._is_selecting:
            return
        document, path = shown[0], shown[1].path
        # First in the tree: the current document selects itself there where nothing of it is.
        self._hierarchy.show_node(document, path)
        self._frame.documents.set_current(document)
        self.follow(document, path)

    def _document_removed(self, document: OpenDocument) -> None:
        """Hold nothing of a closed document: it may be large."""
        self._wanted.pop(document.number, None)
        self._begun.discard(document.number)
        if self._item is not None and self._item.document is document:
            self._item_selected(None)

    def _is_selected(self, document: OpenDocument, path: str) -> bool:
        item = self._item
        return item is not None and item.document is document and item.place == path

    def _key_activated(self, key: str, row: int) -> None:
        self._key_selected(key, row)
        self._docks.raise_("editorDock")
        self._editors.focus_editor()

    def _plot(self, item: Item | None) -> None:
        """Plot an array; the plot pane itself follows edits of the array that it shows."""
        plot = self._centre.plot
        if plot is None:
            return
        if item is not None and item.kind is ItemKind.ARRAY:
            target = (item.document, cast("ArrayNode", item.node))
            part = self._part_of(plot, *target)
            if (
                self._plotted is None
                # It may have gone for a while, with an edit.
                or plot.array() is None
                or target[0] is not self._plotted[0]
                or target[1].path != self._plotted[1].path
            ):
                plot.set_array(*target, part)
                self._settings.set_array(target[0].path, target[1].path)
            elif part is not None:
                _show_part(plot, *target, part)
        elif self._plotted is not None and self._plotted[0] is not self._frame.documents.current:
            # A group or rule has no picture: the last array stays, as long as its document is shown.
            plot.clear()

    def _part_of(self, plot: PlotPane, document: OpenDocument, node: ArrayNode) -> Selection | None:
        """Return what of an array is to be seen; what coordinates tell is shown when they are read."""
        part, self._part = self._part, None
        if part is None or part[:2] != (document, node.path):
            return None
        path, text = part[1:]

        def failed(error: BaseException) -> None:
            self._centre.error_bar.show_error(f"This part of {one_line(path)} is not shown", error)

        def read(control: TaskControl) -> Selection:
            from refbrowser.views.plot.named_selection import selection_of

            assert document.dataset is not None
            return selection_of(document.dataset.array(path), text, control.token)

        def show(selection: Selection) -> None:
            if self._plotted is not None and self._plotted[0] is document and self.plotted() == path:
                _show_part(plot, document, node, selection)

        from refbrowser.views.plot.named_selection import is_named

        if is_named(text):
            self._finding.run(document, f"Find {one_line(text)}", read, show, failed)
            return None
        try:
            return Selection.from_text(text, node.shape)
        except RefbrowserError as error:
            failed(error)
            return None

    def _show_summary(self, item: Item | None) -> None:
        self._summary.set_text("" if item is None else summary_of(item))
        node = item.node if item is not None and item.kind is ItemKind.ARRAY else None
        why_not = "" if node is None else cast("ArrayNode", node).not_referencable
        self._centre.make_bar.set_array("" if node is None else node.path, why_not)


def _show_part(plot: PlotPane, document: OpenDocument, node: ArrayNode, part: Selection) -> None:
    """Show a part of the array that is plotted; of an image another level of it may be on the screen."""
    shown = plot.array()
    if shown is not None and shown.path == node.path:
        plot.show_selection(part)
    else:
        plot.set_array(document, node, part)


def summary_of(item: Item) -> str:
    """Return what is selected: an array with dimensions, type and shape, a rule with its number of rows."""
    if item.kind is ItemKind.DOCUMENT:
        return item.document.path
    if item.kind is ItemKind.ARRAY and item.node is not None:
        node = cast("ArrayNode", item.node)
        if node.nested is not None:
            return one_line(f"{node.path}   {detail_text(node)}")
        own = (node.type.dimension,) if isinstance(node.type, RowType) else ()
        names = ", ".join(str(name or "-") for name in (*node.dimensions, *own))
        return one_line(f"{node.path}   [{names}]   {type_text(node)}   {extent_text(node)}")
    if item.kind is ItemKind.GROUP:
        return one_line(str(item.place))
    if item.dimension is not None:
        return one_line(f"Dimension {item.place}   {size_words(item.dimension)}")
    state = item.document.document
    if item.kind is ItemKind.RULE and state is not None and int(item.place) < len(state.rules):
        rule = state.rules[int(item.place)]
        return one_line(f"Gen rule {item.place}   {rule.key or ''}   {count_text(rule.count)} rows")
    if item.kind is ItemKind.TEMPLATE and state is not None:
        text = state.templates.texts.get(str(item.place), "")
        return one_line(f"Template {item.place}   {text}")
    return item.document.path


def array_of_key(document: OpenDocument, key: str) -> str | None:
    """Return the path of the array (or group) that a key belongs to, or None."""
    hierarchy = document.hierarchy
    if hierarchy is None:
        return None
    parts = key.split("/")[:-1]
    for depth in range(len(parts), -1, -1):
        node = hierarchy.find("/".join(parts[:depth]))
        if node is not None:
            # Below a group only its own metadata belongs to it; the root of all is no answer for a stray key.
            return node.path if depth or not hasattr(node, "groups") else None
    return None


def rule_of_row(document: OpenDocument, row: int) -> int | None:
    """Return the number of the gen rule that a row of the Version 0 view comes from; None for `refs`."""
    state = document.document
    if state is None:
        return None
    start = state.expansion.refs_rows
    for number, rows in enumerate(state.expansion.gen_rows):
        if start <= row < start + rows:
            return number
        start += rows
    return None
