"""Explaining what is on the screen, and following the links of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT, RAW, REFERENCES, TABLE
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.tools.explain.window.explain_pane import ExplainPane
from refbrowser.views.hierarchy import ItemKind

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.findings.listed_finding import ListedFinding
    from refbrowser.tools.explain.report.explain import Question
    from refbrowser.tools.explain.report.explanation import Link

_DOCK = "explainDock"
NOTHING = "Point at an element of the plot, or select a cell, a key or a problem, to have it explained"


class ExplainCommands(CommandGroup):
    """What is asked: by the pane that has the keyboard, else by the view in front."""

    actions = (
        ActionSpec(
            "explain",
            "E&xplain",
            shortcut="Ctrl+I",
            when="has_document",
            tip="Explain why the current element, cell, key, chunk or problem looks as it does (E in the "
            "plot)",
            menu="&Data",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._docks = workspace.docks
        self._hierarchy = workspace.hierarchy
        self._attributes = workspace.attributes
        self._editors = workspace.editors
        self.pane = ExplainPane()
        self._findings = workspace.findings
        self._navigation = workspace.navigation
        self._chunk_map = workspace.chunk_map
        self._actions = workspace.actions_
        self._permissions = workspace.groups[PermissionCommands]
        self._docks.fill({_DOCK: self.pane})
        self._docks.follow_sight(_DOCK, self.pane.set_seen)
        self.pane.linkActivated.connect(self._follow)
        workspace.documents.added.connect(self._added)
        workspace.documents.removed.connect(self.pane.forget)
        workspace.chunk_map.made.connect(lambda pane: pane.explainWanted.connect(self._explain_chunk))
        self._centre.plotMade.connect(self._connect_plot)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.explain)

    def _connect_plot(self, plot: PlotPane) -> None:
        """Explain what is clicked in the plot, and what E asks for there."""
        from PySide6.QtCore import Qt

        plot.keys.add(Qt.Key.Key_E, self.explain_element)
        plot.elementChosen.connect(self._ask)
        plot.elementPointed.connect(self._pointed)

    def offer_actions(self) -> None:
        """Explain keys and findings from their menus."""
        self._offer(self._centre.references.table)
        self._offer(self._findings.table)
        self._editors.previewMade.connect(lambda preview: self._offer(preview.table()))

    def _added(self, document: OpenDocument) -> None:
        document.hierarchyChanged.connect(lambda: self.pane.refresh(document))
        document.lock.written.connect(lambda _written: self.pane.refresh(document))

    def _offer(self, widget: QWidget) -> None:
        """Explain from the menu of a widget what is current there."""
        from PySide6.QtCore import Qt

        widget.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        widget.addAction(self._actions["explain"])

    # Asking

    def explain(self) -> None:
        """Explain what is current in the pane that has the keyboard, else in the view in front."""
        if not any(ask() for ask in self._ways()):
            self._docks.raise_(_DOCK)
            self._workspace.say(NOTHING)

    def explain_element(self) -> bool:
        """Explain the element under the plot's cursor; whether there is one."""
        plot = self._centre.plot
        index = None if plot is None else plot.settle_cursor()
        if index is None:
            return self._explain_unreadable()
        return self._raise_and_ask(index)

    def _ways(self) -> Iterator[Callable[[], bool]]:
        """Yield what may be asked about, the likeliest first."""
        centre, focus = self._centre, self._workspace.window().focusWidget()
        for pane, ask in (
            (self._editors.preview_slot, self._explain_row),
            (self._chunk_map.pane, self._explain_chunk),
            (self._findings, self._explain_finding),
        ):
            if pane is not None and focus is not None and pane.isAncestorOf(focus):
                yield ask
        if centre.tabs.currentIndex() in (REFERENCES, RAW):
            yield self._explain_selected_key
        if centre.tabs.currentIndex() == TABLE:
            yield self._explain_cell
        yield self.explain_element
        yield self._explain_selected_key

    def _explain_row(self) -> bool:
        """Explain the key of the current row of the Version 0 preview."""
        from refbrowser.app.editors.drafts import drafts_of
        from refbrowser.tools.explain.report.explain import Question

        preview, document = self._editors.preview(), self._editors.document()
        row = None if preview is None else preview.current_row()
        if row is None or document is None:
            return False
        pending = ""
        if drafts_of(document).count:
            where = f" from byte {row.offset}" if row.offset else ""
            length = f"{row.length} bytes" if row.length.isdecimal() else row.length
            pending = row.note or f"{length}{where} of {row.url}".strip()
        self._show(document, Question(key=row.key, pending=pending))
        return True

    def _explain_chunk(self) -> bool:
        """Explain the chunk under the cursor of the chunk map."""
        pane = self._chunk_map.pane
        found = None if pane is None else pane.current_chunk()
        return found is not None and self._explain_key(*found)

    def _explain_finding(self) -> bool:
        """Explain the finding that is selected."""
        from refbrowser.tools.explain.report.explain import Question

        row = self._findings.current()
        if row is None:
            return False
        self._show(row.document, Question(finding=row.finding))
        return True

    def explain_found(self, document: OpenDocument, finding: ListedFinding) -> None:
        """Explain what was found: the chunk that it is about, else the finding itself."""
        from refbrowser.tools.explain.report.explain import Question

        key = finding.place.key
        is_chunk = key is not None and finding.place.rule is None
        self._show(document, Question(key=key) if is_chunk else Question(finding=finding))

    def _explain_selected_key(self) -> bool:
        document, key = self._current, self._centre.references.current_key()
        return document is not None and key is not None and self._explain_key(document, key)

    def _explain_cell(self) -> bool:
        """Explain the current cell of the table."""
        plot, table = self._centre.plot, self._centre.table
        layout = None if table is None else table.layout_shown()
        cell = None if table is None else table.grid.current()
        state = None if plot is None else plot.slice_state()
        if layout is None or cell is None or state is None:
            return False
        index = list(state.indices)
        for axis, at in zip(layout.slice.axes, layout.element(*cell), strict=True):
            index[axis] = at
        return self._raise_and_ask(tuple(index))

    def _explain_unreadable(self) -> bool:
        """Explain an array that is selected and has no plot because it cannot be read."""
        plot, document = self._centre.plot, self._plotted()
        node = None if plot is None else plot.array()
        if document is None or node is None or (node.error or node.unreadable) is None:
            return False
        from refbrowser.tools.explain.report.explain import Question

        self._show(document, Question(array=node.path, index=(0,) * len(node.shape)))
        return True

    def explain_key(self, key: str) -> None:
        """Explain a key of the current document."""
        if self._current is not None:
            self._explain_key(self._current, key)

    def _explain_key(self, document: OpenDocument, key: str) -> bool:
        from refbrowser.tools.explain.report.explain import Question

        self._show(document, Question(key=key))
        return True

    def _raise_and_ask(self, index: tuple[int, ...]) -> bool:
        question, document = self._question(index, read=True), self._plotted()
        if question is None or document is None:
            return False
        self._show(document, question)
        return True

    def _show(self, document: OpenDocument, question: Question) -> None:
        """Explain in sight; what is explained already gets the keyboard when it is asked for again."""
        pane = self.pane
        again = pane.shows(document, question)
        self._docks.raise_(_DOCK)
        pane.explain(document, question)
        if again:
            pane.focus_steps()

    def _ask(self, index: tuple[int, ...]) -> None:
        """Explain an element as soon as the pane is seen."""
        question, document = self._question(index, read=True), self._plotted()
        if question is not None and document is not None:
            self.pane.explain(document, question)

    def _pointed(self, index: tuple[int, ...] | None) -> None:
        if index is None or not self.pane.follows:
            return
        question, document = self._question(index, read=False), self._plotted()
        if question is not None and document is not None:
            self.pane.point(document, question)

    def _plotted(self) -> OpenDocument | None:
        plot = self._centre.plot
        return None if plot is None else cast("OpenDocument | None", plot.source())

    def _question(self, index: tuple[int, ...], *, read: bool) -> Question | None:
        from refbrowser.tools.explain.report.explain import Question

        plot = self._centre.plot
        node = None if plot is None else plot.array()
        if plot is None or node is None:
            return None
        places = tuple(coordinate.text(at) for coordinate, at in zip(plot.coordinates(), index, strict=False))
        return Question(
            array=node.path,
            index=index,
            places=places if len(places) == len(index) else (),
            decoded=plot.is_decoded(),
            read=read,
            seen=None if read else self._stored(plot, index),
        )

    @staticmethod
    def _stored(plot: PlotPane, index: tuple[int, ...]) -> object:
        """Return an element as it is stored, of a picture in colour that of one band."""
        stored, state = plot.stored(), plot.slice_state()
        if stored is None or state is None or state.bands is None:
            return stored
        return stored[index[state.bands.dimension]]

    # Links

    def _follow(self, link: Link) -> None:
        document = self.pane.document() or self._current
        if document is None:
            return
        self._workspace.documents.set_current(document)
        actions: dict[str, Callable[[], object]] = {
            "key": lambda: self._navigation.show_key(str(link.target)),
            "rule": lambda: self._edit(document, ItemKind.RULE, cast("int", link.target)),
            "template": lambda: self._edit(document, ItemKind.TEMPLATE, str(link.target)),
            "reference": lambda: self._edit_reference(document, str(link.target)),
            "attributes": lambda: self._show_attributes(document, str(link.target)),
            "permissions": self._permissions.review_trust,
            "accept": lambda: self._workspace.accept_stale(document, str(link.target)),
        }
        actions[link.kind]()

    def _edit(self, document: OpenDocument, kind: ItemKind, place: str | int) -> None:
        self._hierarchy.select_index(self._hierarchy.model.find_identity((document.number, str(kind), place)))
        self._docks.raise_("editorDock")
        self._editors.focus_editor()

    def _edit_reference(self, document: OpenDocument, key: str) -> None:
        self._editors.show_reference(document, key)
        self._docks.raise_("editorDock")
        self._editors.focus_editor()

    def _show_attributes(self, document: OpenDocument, path: str) -> None:
        self._hierarchy.select_node(document, path)
        self._centre.tabs.setCurrentIndex(PLOT)
        self._docks.raise_("attributesDock")
        self._attributes.setFocus()
