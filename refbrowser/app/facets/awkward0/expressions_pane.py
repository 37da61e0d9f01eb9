"""The tab of expressions: the graph of one array, and all that is known of the chosen expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.facets.awkward0.expression_view import ExpressionView
from refbrowser.app.facets.stream.fields_view import FieldsView
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import push_button
from refbrowser.formats.awkward0.expressions import ExpressionKind
from refbrowser.views.expressions import ExpressionGraph
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.formats.awkward0.expressions import SchemaDocument

#: In a pane narrower than this, facts stand below the tree.
_NARROW = 760
NOTHING = "Select an array in the hierarchy: the expressions that it is made of appear here."


class ExpressionsPane(QWidget):
    """Graph and facts, side by side.

    Signals
    -------
    chosen(object)
        The expression that became current, or None.
    bytesWanted(int)
        The bytes that an expression reads are to be shown.
    safetyWanted()
        The safety report of the file is to be shown.
    """

    chosen = Signal(object)
    bytesWanted = Signal(int)
    safetyWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("expressionsPane")
        self._before: list[int] = []
        self.view = ExpressionView()
        self.facts = FieldsView()
        self.facts.setObjectName("expressionFacts")
        self.facts.setAccessibleName("Facts of the expression")
        self.caption = ElidedLabel("expressionsCaption", role="muted")
        self._back = push_button("Back", "expressionBackButton", self.go_back)
        self._back.setToolTip("Go back to where the last reference was followed (Alt+Left)")
        self._back.setShortcut("Alt+Left")
        self._follow = push_button("Follow", "expressionFollowButton", self.follow)
        self._follow.setToolTip("Go to what the reference leads to (Return)")
        self._bytes = push_button("Bytes", "expressionBytesButton", self._show_bytes)
        self._bytes.setToolTip("Show the stored bytes of the blob (Return)")
        self._safety = push_button("Safety…", "expressionSafetyButton", self.safetyWanted.emit)
        self._safety.setToolTip("List the functions, pickles and targets that the file names")
        self._card = Card("function", "No expressions", NOTHING)
        self._error = ErrorCard()
        self._build()
        self.view.chosen.connect(self._chosen)
        self.view.activated_.connect(self._activated)
        self.setFocusProxy(self.view)
        self.set_graph(None)

    def _build(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setObjectName("expressionsSplitter")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.view)
        self._split.addWidget(self.facts)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 1)
        self._split.setSizes([680, 320])
        self._pages = QStackedWidget()
        self._card_page, self._error_page = centred(self._card), centred(self._error)
        for page in (self._card_page, self._error_page, self._split):
            self._pages.addWidget(page)
        top = QHBoxLayout()
        top.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, 0)
        top.setSpacing(theme.MEDIUM)
        top.addWidget(self.caption, 1)
        for button in (self._back, self._follow, self._bytes, self._safety):
            top.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(top)
        layout.addWidget(self._pages, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < _NARROW
        wanted = Qt.Orientation.Vertical if is_narrow else Qt.Orientation.Horizontal
        if self._split.orientation() != wanted:
            self._split.setOrientation(wanted)
            self._split.setSizes([680, 320])

    # What is shown

    def set_graph(self, graph: ExpressionGraph | None) -> None:
        """Show the expressions of an array; none where it is None."""
        self._before = []
        self._pages.setCurrentWidget(self._card_page if graph is None else self._split)
        self.caption.set_text("" if graph is None else caption_of(graph))
        self.view.set_graph(graph)

    def show_error(self, name: str, error: BaseException) -> None:
        """Say why the expressions of an array cannot be shown."""
        self.set_graph(None)
        self._error.set_error(f"The expressions of {name} cannot be read", error, can_retry=False)
        self._pages.setCurrentWidget(self._error_page)

    def graph(self) -> ExpressionGraph | None:
        """Return what is shown."""
        return self.view.graph()

    def show_number(self, number: int) -> None:
        """Make an expression current, without telling others."""
        graph = self.graph()
        if graph is not None and self.view.current() != number:
            self.view.show_number(number, quiet=True)
            self._show_facts(number)

    # Reactions

    def _chosen(self, number: int | None) -> None:
        self._show_facts(number)
        self.chosen.emit(number)

    def _show_facts(self, number: int | None) -> None:
        graph = self.graph()
        if graph is None or number is None:
            self.facts.say("")
        else:
            self.facts.show_fields(graph.facts(number))
            self.facts.setHeaderLabels(["Fact", "Value"])
        self._follow.setEnabled(graph is not None and number is not None and graph.target(number) is not None)
        self._bytes.setEnabled(graph is not None and number is not None and self._has_bytes(graph, number))
        self._back.setEnabled(bool(self._before))

    @staticmethod
    def _has_bytes(graph: ExpressionGraph, number: int) -> bool:
        return graph.blob(number) is not None or graph.basic_array(number) is not None

    def _activated(self, number: int) -> None:
        """Follow a reference, show the bytes of a blob, or fold what has parts."""
        graph = self.graph()
        if graph is None:
            return
        if graph.target(number) is not None:
            self.follow()
        elif graph.expression(number).kind is ExpressionKind.READ:
            self._show_bytes()
        else:
            index = self.view.rows.index_of(number)
            self.view.setExpanded(index, not self.view.isExpanded(index))

    def follow(self) -> None:
        """Go to what the current reference leads to."""
        graph, number = self.graph(), self.view.current()
        target = None if graph is None or number is None else graph.target(number)
        if target is not None and number is not None:
            self._before.append(number)
            self.view.show_number(target)

    def go_back(self) -> None:
        """Go back to the reference that was followed last."""
        if self._before:
            self.view.show_number(self._before.pop())

    def _show_bytes(self) -> None:
        number = self.view.current()
        if number is not None and self._bytes.isEnabled():
            self.bytesWanted.emit(number)


def caption_of(graph: ExpressionGraph) -> str:
    """Return which array it is, who wrote it, and of how many expressions it is made."""
    schema: SchemaDocument = graph.schema
    blobs = {name for name in map(graph.blob_name, range(len(graph))) if name is not None}
    parts = [
        graph.role(0),
        f"{schema.signature} {schema.version}".strip(),
        f"{count_text(len(graph))} expression{'' if len(graph) == 1 else 's'}",
        f"{count_text(len(blobs))} blob{'' if len(blobs) == 1 else 's'}",
        schema.doc,
    ]
    return " · ".join(part for part in parts if part)
