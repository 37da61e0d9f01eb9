"""Expressions of the current Awkward 0 file in the window: what the pane shows, where it leads, and a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.frame.bars import NoteBar
from refbrowser.app.frame.centre import RAW
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.workspace.format_page import FormatPage
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.hierarchy import ItemKind
from refbrowser.wings.awkward0.views.expressions import node_of_expression, number_of_node
from refbrowser.wings.awkward0.views.safety_rows import refused_words
from refbrowser.wings.awkward0.window.document_awkward import awkward_of
from refbrowser.wings.awkward0.window.expressions_pane import ExpressionsPane

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.panes.tree_items import Item
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
    from refbrowser.wings.awkward0.reading.opening import Awkward0Origin
    from refbrowser.wings.awkward0.views.expressions import ExpressionGraph


class ExpressionsLink(FormatPage):
    """The expressions of the current file: between one window and its pane of them."""

    def __init__(self, workspace: Workspace) -> None:
        self._window = workspace
        self.pane = ExpressionsPane()
        self.bar = NoteBar("safety", ("lock", "warning"), "trustStrip", "Review", "Safety report…")
        super().__init__(workspace, self.pane, (self.bar,))
        self._document: OpenDocument | None = None
        self._origin: Awkward0Origin | None = None
        self._array: Awkward0Array | None = None
        self._graph_read = Latest(self, "expressions")
        self._stale = False
        #: The expression that is to be shown when the graph is there.
        self._wanted: int | None = None
        self.pane.chosen.connect(self._chosen)
        self.pane.bytesWanted.connect(self._show_bytes)
        self.pane.safetyWanted.connect(self.show_report)
        self.bar.wanted.connect(self.show_report)
        workspace.hierarchy.selected.connect(self._selected)
        workspace.navigation.followed.connect(self._selected)
        workspace.centre.tabs.currentChanged.connect(lambda _tab: self._show_if_seen())

    # What the file names

    def show_report(self) -> None:
        """Show what the current file names, and what was refused."""
        from refbrowser.wings.awkward0.window.safety_dialogs import SafetyDialog

        document = self._window.documents.current
        known = awkward_of(document)
        if document is None or known is None or known.rows is None:
            return
        dialog = SafetyDialog(document, known.rows, self._window.window())
        dialog.allowWanted.connect(self.ask_for_functions)
        dialog.placeWanted.connect(lambda path, number: self.go_to(document, path, number))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def ask_for_functions(self, name: str = "") -> None:
        """Ask which functions are to be allowed in the current file; `name` is ticked beforehand."""
        from refbrowser.wings.awkward0.window.safety_dialogs import AllowDialog

        document = self._window.documents.current
        known = awkward_of(document)
        if document is None or known is None or known.rows is None:
            return
        rows = [row for row in known.rows if row.can_be_allowed]
        dialog = AllowDialog(document, rows, name, self._window.window())
        dialog.accepted.connect(lambda: known.allow(dialog.patterns()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # What is shown

    def set_document(self, document: OpenDocument | None) -> None:
        """Show the expressions of a file; none where it is None."""
        known = awkward_of(document)
        if known is not None:
            known.look()
        origin = None if known is None else known.origin
        rows = None if known is None else known.rows
        self.bar.show_for(origin, refused_words(rows or ()))
        if origin is not self._origin:
            self._document, self._origin, self._array = document, origin, None
            self._graph_read.cancel()
            self.pane.set_graph(None)
        self._selected(self._window.navigation.item())

    def _selected(self, item: Item | None) -> None:
        """Show the array that is selected, or a part of which is; the one before, where it is none."""
        document, known = self._document, awkward_of(self._document)
        if document is None or known is None:
            return
        found = None
        if item is not None and item.document is document and item.kind in (ItemKind.ARRAY, ItemKind.GROUP):
            found = known.array_of(str(item.place))
        found = found or self._array or next(iter(known.arrays), None)
        if found is not self._array:
            self._array, self._stale = found, True
            self._graph_read.cancel()
        self._show_if_seen()

    def _show_if_seen(self) -> None:
        """Make the graph of the array when it is looked at."""
        if not self._is_in_front():
            return
        if self._stale:
            self._make_graph()
        else:
            self._show_item()

    def _make_graph(self) -> None:
        document, origin, array = self._document, self._origin, self._array
        if document is None or origin is None or array is None:
            return
        self._stale = False

        def make(_control: TaskControl) -> ExpressionGraph:
            from refbrowser.wings.awkward0.views.expressions import graph_of

            return graph_of(origin, array)

        def made(graph: ExpressionGraph) -> None:
            self.pane.set_graph(graph)
            self._show_item()
            self._take_focus()

        def failed(error: BaseException) -> None:
            self.pane.show_error(array.name or array.path, error)

        title = f"Read the expressions of {array.name or array.path}"
        self._graph_read.run(document, title, make, made, failed)

    def _take_focus(self) -> None:
        """Put the keyboard in the tree, where it waits at its tab."""
        bar = self._window.centre.tabs.tabBar()
        if bar.hasFocus() and self._is_in_front():
            self.pane.view.setFocus()

    def _is_in_front(self) -> bool:
        return self._window.centre.is_in_front(self.pane)

    def _show_item(self) -> None:
        """Make the expression current that is wanted, else the one that is selected in the tree."""
        if self._wanted is not None and self.pane.graph() is not None:
            wanted, self._wanted = self._wanted, None
            self.pane.show_number(wanted)
            return
        item, graph = self._window.navigation.item(), self.pane.graph()
        if item is None or graph is None or item.document is not self._document or item.node is None:
            return
        number, current = number_of_node(graph, item.node), self.pane.view.current()
        # A part of a buffer, such as its blob, is shown by the same row of the tree.
        if number is not None and (current is None or self._path(current) != item.node.path):
            self.pane.show_number(number)

    # What is chosen

    def go_to(self, document: OpenDocument, path: str, number: int) -> None:
        """Show an expression of an array in the tab."""
        self._wanted = number
        self._window.navigation.follow(document, path)
        self._window.centre.show_page(self.pane)
        self._show_if_seen()

    def _path(self, number: int) -> str | None:
        """Return the node of the tree that an expression makes; None where there is none."""
        document, graph = self._document, self.pane.graph()
        hierarchy = None if document is None else document.hierarchy
        if hierarchy is None or graph is None:
            return None
        node = node_of_expression(graph, hierarchy, number)
        return None if node is None else node.path

    def _chosen(self, number: int | None) -> None:
        """Select in the tree what an expression makes; the keyboard stays where it is."""
        document = self._document
        path = None if number is None else self._path(number)
        if document is not None and path is not None:
            self._window.navigation.follow(document, path)

    def _show_bytes(self, number: int) -> None:
        """Show the stored bytes that an expression reads: the key of its buffer, else the blob itself."""
        document, graph = self._document, self.pane.graph()
        if document is None or graph is None or document.hierarchy is None:
            return
        node = node_of_expression(graph, document.hierarchy, number)
        key = None if graph.basic_array(number) is None else _first_key(node)
        name = key or graph.blob_name(number)
        if name is None:
            return
        if key is not None:
            self._window.navigation.select_key(key)
        self._window.centre.raw.set_key(document, name)
        self._window.centre.show_tab(RAW)


def _first_key(node: object) -> str | None:
    if not isinstance(node, ArrayNode) or not node.has_manifest:
        return None
    return node.manifest.key((0,) * len(node.manifest.grid_shape))
