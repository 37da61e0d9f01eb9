"""Explaining what is on the screen, and following the links of an explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from refbrowser.app.centre import PLOT
from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.hierarchy_model import ItemKind

if TYPE_CHECKING:
    from refbrowser.app.plot.pane import PlotPane
    from refbrowser.engine.explain.explanation import Link
    from refbrowser.engine.explain.question import Question


class ExplainCommands(CommandGroup):
    """What is asked: the element under the plot's cursor, or the selected key."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.explain)

    def connect_plot(self, plot: PlotPane) -> None:
        """Explain what is clicked in the plot, and what E asks for."""
        from PySide6.QtCore import Qt

        plot.keys.add(Qt.Key.Key_E, self.explain_element)
        plot.elementChosen.connect(self._chosen)
        plot.elementPointed.connect(self._pointed)

    def connect_view(self) -> None:
        """Follow the links of explanations, and explain the selected key from its menu."""
        from PySide6.QtCore import Qt

        window = self._window
        window.explain.linkActivated.connect(self._follow)
        window.docks["explainDock"].visibilityChanged.connect(window.explain.set_seen)
        table = window.centre.references.table
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        table.addAction(window.actions_["explain"])

    # Asking

    def explain(self) -> None:
        """Explain the element under the cursor, or where keys are in front the selected key."""
        centre = self._window.centre
        key = centre.references.current_key()
        shows_keys = centre.tabs.currentWidget() in (centre.references, centre.raw)
        if key is not None and (shows_keys or self._element() is None):
            self.explain_key(key)
        else:
            self.explain_element()

    def explain_key(self, key: str) -> None:
        """Explain a key of the current document."""
        from refbrowser.engine.explain.question import Question

        document = self._current
        self._window.docks.raise_("explainDock")
        if document is not None:
            self._window.explain.explain(document, Question(key=key))

    def explain_element(self) -> None:
        """Explain the element under the plot's cursor."""
        index = self._element()
        self._window.docks.raise_("explainDock")
        if index is None:
            self._window.status.say("Point at an element of the plot, or select a key, to have it explained")
        else:
            self._ask(index)

    def _element(self) -> tuple[int, ...] | None:
        plot = self._window.centre.plot
        return None if plot is None else plot.element()

    def _chosen(self, index: tuple[int, ...]) -> None:
        self._ask(index)

    def _ask(self, index: tuple[int, ...]) -> None:
        """Explain an element as soon as the pane is seen."""
        question, document = self._question(index, read=True), self._plotted()
        if question is not None and document is not None:
            self._window.explain.explain(document, question)

    def _pointed(self, index: tuple[int, ...] | None) -> None:
        if index is None or not self._window.explain.follows:
            return
        question, document = self._question(index, read=False), self._plotted()
        if question is not None and document is not None:
            self._window.explain.point(document, question)

    def _plotted(self) -> OpenDocument | None:
        plot = self._window.centre.plot
        return None if plot is None else cast("OpenDocument | None", plot.source())

    def _question(self, index: tuple[int, ...], *, read: bool) -> Question | None:
        from refbrowser.engine.explain.question import Question

        plot = self._window.centre.plot
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
            seen=None if read else plot.stored(),
        )

    # Links

    def _follow(self, link: Link) -> None:
        document = self._current
        if document is None:
            return
        actions: dict[str, Callable[[], object]] = {
            "key": lambda: self._window.navigation.show_key(str(link.target)),
            "rule": lambda: self._edit(document, ItemKind.RULE, cast("int", link.target)),
            "template": lambda: self._edit(document, ItemKind.TEMPLATE, str(link.target)),
            "reference": lambda: self._edit_reference(document, str(link.target)),
            "attributes": lambda: self._show_attributes(document, str(link.target)),
            "permissions": self._window.commands.permissions.review_trust,
        }
        actions[link.kind]()

    def _edit(self, document: OpenDocument, kind: ItemKind, place: str | int) -> None:
        window = self._window
        window.hierarchy.select_index(
            window.hierarchy.model.find_identity((document.number, str(kind), place))
        )
        window.docks.raise_("editorDock")
        window.editors.focus_editor()

    def _edit_reference(self, document: OpenDocument, key: str) -> None:
        self._window.editors.show_reference(document, key)
        self._window.docks.raise_("editorDock")
        self._window.editors.focus_editor()

    def _show_attributes(self, document: OpenDocument, path: str) -> None:
        self._window.hierarchy.select_node(document, path)
        self._window.centre.tabs.setCurrentIndex(PLOT)
        self._window.docks.raise_("attributesDock")
