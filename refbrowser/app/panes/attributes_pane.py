"""The attributes pane: attributes and metadata of what is selected in the tree, and edits of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from refbrowser.app.editors.drafts import Drafts, drafts_of
from refbrowser.app.editors.metadata_editor import MetadataEditor
from refbrowser.app.panes.attribute_cells import NAME, NEW, VALUE
from refbrowser.app.panes.attributes_tree import AttributesTree
from refbrowser.app.panes.tree_items import Item
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.docks import hint_of
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import named, tool_button
from refbrowser.app.widgets.small_widgets import hint_label
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.attributes import (
    PACKING,
    STORED,
    STORED_SIZE,
    dimension_sections,
    node_of,
    sections_of,
    stored_pairs,
)
from refbrowser.views.editing.field_drafts import AttributeDraft
from refbrowser.views.editing.typed_input import DraftKind, Typed

if TYPE_CHECKING:
    from refbrowser.engine.attribute_edits import AttributeChange
    from refbrowser.engine.node_metadata import MetadataText
    from refbrowser.errors import Place
    from refbrowser.model.nodes import Flavour
    from refbrowser.references.document.document import Document
    from refbrowser.views.attributes import StoredChunks
    from refbrowser.views.dimensions import DimensionUse


HINT = "Enter edits, Ins adds, Del removes"
ATTRIBUTES, METADATA = 0, 1

#: A narrower pane would cut the tabs and buttons of the docks that share its place.
_LEAST_WIDTH = 200


class AttributesPane(QWidget):
    """Names and values in sections, and behind a tab the metadata as JSON.

    Signals
    -------
    ruleWanted(object, int)
        The user wants to see a gen rule of an opened document.
    nodeWanted(object, str)
        The user wants to see a node of an opened document.
    packingWanted()
        The user wants to have the packing of the array that is shown said in the other way.
    """

    ruleWanted = Signal(object, int)
    nodeWanted = Signal(object, str)
    packingWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._item: Item | None = None
        self._later: Item | None = None
        self._texts: list[MetadataText] = []
        self._read: Document | None = None
        self._waiting: list[AttributeChange] = []
        self._then: str | None = None
        self._internal = False
        #: What was typed and is to be gone on with as soon as it can be edited, and where it is wrong.
        self._wanted: tuple[Typed, tuple[int, int] | None] | None = None
        self._metadata_read = Latest(self, "metadata")
        self._stored_count = Latest(self, "stored")
        self._variables_search = Latest(self, "dimension")
        self.tree = AttributesTree()
        self.metadata = MetadataEditor()
        self._empty = hint_label(hint_of("attributesDock"))
        self._build()
        self.tree.valueTyped.connect(self._value_typed)
        self.tree.renamed.connect(self._renamed)
        self.tree.added.connect(self._added)
        self.tree.removed.connect(self._removed)
        self.tree.typeChosen.connect(self._type_chosen)
        self.tree.linkChosen.connect(self._link_chosen)
        self.tree.editEnded.connect(self._edit_ended)
        self.tree.typed.connect(self._typed)
        self.tree.kept = self._kept
        self.metadata.ruleWanted.connect(self._rule_wanted)
        self.setMinimumWidth(_LEAST_WIDTH)
        self.set_item(None)

    def _build(self) -> None:
        self.tabs = named(QTabBar(), "attributesTabs", "Attributes or metadata")
        self.tabs.addTab("Attributes")
        self.tabs.addTab("Metadata")
        self.tabs.setExpanding(False)
        self.tabs.currentChanged.connect(self._tab_chosen)
        self._add = tool_button("attributeAdd", "+", "Add an attribute (Insert)", self.tree.begin_new)
        self._remove = tool_button(
            "attributeRemove", "−", "Remove the attribute (Delete)", self.tree.remove_current
        )
        self.hint = ElidedLabel("attributesHint", role="muted")
        self.hint.setMargin(theme.SMALL)
        self._bar = QWidget()
        line = QHBoxLayout(self._bar)
        line.setContentsMargins(theme.SMALL, 0, theme.SMALL, 0)
        line.setSpacing(theme.SMALL)
        for part in (self._add, self._remove):
            line.addWidget(part)
        line.addWidget(self.hint, 1)
        listed = QWidget()
        below = QVBoxLayout(listed)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(theme.SMALL)
        below.addWidget(self.tree, 1)
        below.addWidget(self._bar)
        self._pages = QStackedWidget()
        for page in (listed, self.metadata, self._empty):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self._pages, 1)
        self.tree.selectionModel().currentChanged.connect(lambda *_: self._show_buttons())

    # What is shown

    def set_item(self, item: Item | None) -> None:
        """Show what is known about an item of the tree; an edit that is open is ended by another item."""
        anew = item is None or self._item is None or item.identity != self._item.identity
        if not anew and self.tree.is_editing:
            self._later = item
            return
        self._later = None
        if anew:
            self._waiting = []
        self._item = item
        for work in (self._metadata_read, self._stored_count, self._variables_search):
            work.cancel()
        node = node_of(item)
        self.tabs.setVisible(node is not None)
        self._bar.setVisible(node is not None)
        self.tree.show_sections([] if item is None else self._sections(item, anew), anew=anew)
        self._tell_hidden(node)
        if not anew and self._then is not None:
            self.tree.choose(self._then)
            self._then = None
        if anew:
            self._texts, self._read = [], None
            self.metadata.clear()
            self.tree.set_editable(False)
            self.hint.set_text("")
        self._show_page()
        self._show_buttons()
        if item is not None and node is not None:
            self._read_metadata(item, node, anew)
            self._count_stored(item, node)
        elif item is not None:
            self._find_variables(item)

    def show_internal(self, internal: bool) -> None:
        """Show the attributes that formats keep for themselves, or hide them."""
        if internal != self._internal:
            self._internal = internal
            if self._item is not None:
                self.tree.show_sections(self._sections(self._item, False), anew=False)
                self._tell_hidden(node_of(self._item))

    def _tell_hidden(self, node: Any) -> None:
        there = set() if node is None else {*node.attributes, *node.internal_attributes}
        self.tree.set_hidden(there.difference(self.tree.names()))

    def _sections(self, item: Item, anew: bool) -> list[Any]:
        """Return what is to be shown; counts stay until they are counted anew."""
        from dataclasses import replace

        found = sections_of(item, internal=self._internal)
        if anew:
            return found
        shown = self.tree.values()
        return [
            replace(
                section,
                rows=tuple(
                    replace(row, value=shown[row.name])
                    if row.attribute is None and row.name in (STORED, STORED_SIZE) and row.name in shown
                    else row
                    for row in section.rows
                ),
            )
            for section in found
        ]

    def values(self) -> dict[str, str]:
        """Return every name and its full value, as shown."""
        return self.tree.values()

    def show_metadata(self, key: str | None = None) -> None:
        """Show the metadata as JSON, that under a key where one is given."""
        self.tabs.setCurrentIndex(METADATA)
        if key is not None:
            self.metadata.choose(key)

    def _tab_chosen(self, _number: int) -> None:
        self._show_page()

    def _show_page(self) -> None:
        if self._item is None:
            self._pages.setCurrentWidget(self._empty)
        elif node_of(self._item) is None:
            self._pages.setCurrentIndex(ATTRIBUTES)
        else:
            self._pages.setCurrentIndex(self.tabs.currentIndex())

    def _show_buttons(self) -> None:
        self._add.setEnabled(self.tree.can_edit)
        self._remove.setEnabled(self.tree.can_edit and self.tree.current_attribute() is not None)

    def _edit_ended(self) -> None:
        if self._later is not None:
            self.set_item(self._later)

    def _rule_wanted(self, number: int) -> None:
        if self._item is not None:
            self.ruleWanted.emit(self._item.document, number)

    # Reading, off the GUI thread

    def _read_metadata(self, item: Item, node: Any, anew: bool) -> None:
        opened = item.document
        dataset, document = opened.dataset, opened.document
        if dataset is None or document is None:
            return

        def read(control: TaskControl) -> list[MetadataText]:
            from refbrowser.engine.node_metadata import read_metadata

            return read_metadata(dataset, document, node, control.token)

        def done(texts: list[MetadataText]) -> None:
            self._texts, self._read = texts, document
            self.metadata.show_texts(opened, texts, anew=anew)
            self._show_editable(node)
            self._go_on()
            self._show_wanted()

        title = f"Read the metadata of {node.path}"
        self._metadata_read.run(opened, title, read, done, lambda _error: None)

    def _flavour(self) -> Flavour:
        from refbrowser.model.nodes import Flavour

        hierarchy = None if self._item is None else self._item.document.hierarchy
        return Flavour.ZARR_V2 if hierarchy is None else hierarchy.flavour

    def _attributes_text(self, node: Any) -> MetadataText | None:
        from refbrowser.engine.node_metadata import attributes_key

        key = attributes_key(node, self._flavour())
        return next((text for text in self._texts if text.place.key == key), None)

    def _show_editable(self, node: Any) -> None:
        """Let attributes be edited where their document can be; else say why not."""
        text = self._attributes_text(node)
        can_edit = text is not None and text.place.can_edit and text.json is not None
        if text is None:
            words = ""
        elif not can_edit:
            words = text.place.note if not text.place.can_edit else f"{text.place.key}: {text.fault}"
        else:
            words = text.place.note if text.place.origin in ("elsewhere",) else HINT
        from refbrowser.model.nodes import Flavour

        self.tree.set_editable(can_edit, records_types=self._flavour() == Flavour.NCZARR)
        self.hint.set_text(words)
        self._show_buttons()

    def _count_stored(self, item: Item, node: Any) -> None:
        if not isinstance(node, ArrayNode) or not node.has_manifest or node.nested is not None:
            return

        def count(control: TaskControl) -> StoredChunks | None:
            from refbrowser.views.attributes import stored_chunks

            return stored_chunks(node, control.check)

        def done(found: StoredChunks | None) -> None:
            for name, value in stored_pairs(found).items():
                self.tree.set_text(name, value)

        def failed(error: BaseException) -> None:
            for name in (STORED, STORED_SIZE):
                self.tree.set_text(name, f"not counted: {error}")

        self._stored_count.run(item.document, f"Count the chunks of {node.path}", count, done, failed)

    def _find_variables(self, item: Item) -> None:
        """Look for the variables of the dimension that is shown."""
        hierarchy, path = item.document.hierarchy, str(item.place)
        if item.dimension is None or hierarchy is None:
            return

        def find(control: TaskControl) -> DimensionUse:
            from refbrowser.views.dimensions import variables_of

            return variables_of(hierarchy, path, control.check)

        def done(found: DimensionUse) -> None:
            self.tree.show_sections(dimension_sections(item, found), anew=False)

        title = f"Look for the variables of dimension {path}"
        self._variables_search.run(item.document, title, find, done, lambda _error: None)

    def _link_chosen(self, path: str) -> None:
        if path == PACKING:
            self.packingWanted.emit()
        elif self._item is not None:
            self.nodeWanted.emit(self._item.document, path)

    # What is typed and not applied

    def _draft_at(self, name: str) -> tuple[Drafts, tuple[str, str]] | None:
        """Return the pending edits of the document, and the place of an attribute of the node in them."""
        item, node = self._item, node_of(self._item)
        if item is None or node is None:
            return None
        return drafts_of(item.document), (node.path, "" if name == NEW else name)

    def _typed(self, name: str, column: int, text: str | None) -> None:
        found = self._draft_at(name)
        if found is None:
            return
        drafts, at = found
        if text is None:
            drafts.drop_field(DraftKind.ATTRIBUTE, at)
            return
        if name == NEW:
            typed = (text, "") if column == NAME else (self.tree.new_name, text)
            draft = AttributeDraft(*typed)
        elif column == NAME:
            draft = AttributeDraft(text, None, name)
        else:
            draft = AttributeDraft(None, text, self.tree.values().get(name, ""))
        drafts.put_field(DraftKind.ATTRIBUTE, at, draft)

    def _kept(self, name: str, column: int) -> str | None:
        found = self._draft_at(name)
        draft = None if found is None else found[0].field(DraftKind.ATTRIBUTE, found[1])
        if not isinstance(draft, AttributeDraft):
            return None
        return draft.name if column == NAME else draft.text

    def go_on_typing(self, typed: Typed, place: Place) -> None:
        """Go on with what was typed for the node that is shown, as soon as it can be edited."""
        self._wanted = (typed, place.span)
        self.tabs.setCurrentIndex(METADATA if typed.kind is DraftKind.METADATA else ATTRIBUTES)
        self._show_wanted()

    def _show_wanted(self) -> None:
        node = node_of(self._item)
        if self._wanted is None or node is None or not self._texts:
            return
        (typed, span), self._wanted = self._wanted, None
        if typed.kind is DraftKind.METADATA:
            self.metadata.choose(typed.at)
            self.metadata.show_fault(span)
        elif typed.at[0] == node.path and isinstance(typed.draft, AttributeDraft):
            column = VALUE if typed.draft.name is None or typed.draft.text else NAME
            self.tree.go_on(typed.at[1] or NEW, column, span)

    def applied(self, typed: tuple[Typed, ...]) -> None:
        """Take over that what was typed is a step of the history now."""
        if any(one.kind is DraftKind.ATTRIBUTE for one in typed):
            self.tree.end_edit()
        if any(one.kind is DraftKind.METADATA for one in typed):
            self.metadata.applied()

    # Edits of attributes

    def _value_typed(self, name: str, value: Any) -> None:
        from refbrowser.engine.attribute_edits import AttributeChange

        self._edit(AttributeChange.of_value(name, value))

    def _added(self, name: str, value: Any) -> None:
        from refbrowser.engine.attribute_edits import AttributeChange

        self._edit(AttributeChange.added(name, value), then=name)

    def _removed(self, name: str) -> None:
        from refbrowser.engine.attribute_edits import AttributeChange

        self._edit(AttributeChange.removed(name))

    def _renamed(self, old: str, new: str) -> None:
        from refbrowser.engine.attribute_edits import AttributeChange

        self._edit(AttributeChange.renamed(old, new), then=new)

    def _type_chosen(self, name: str, type_name: str) -> None:
        """Change the type of an attribute, where the other one can hold its value."""
        from refbrowser.engine.attribute_edits import AttributeChange, value_as
        from refbrowser.errors import RefbrowserError

        node = node_of(self._item)
        if node is None or name not in node.attributes:
            return
        try:
            value = value_as(type_name, node.attributes[name])
        except RefbrowserError as error:
            self.tree.refuse(name, error.message)
            return
        self._edit(AttributeChange.of_type(name, value, type_name), then=name)

    def _edit(self, change: AttributeChange, *, then: str | None = None) -> None:
        """Make an edit one step of the history, at once or as soon as the metadata was read anew."""
        self._then = then
        self._waiting.append(change)
        self._go_on()

    def _go_on(self) -> None:
        item, node = self._item, node_of(self._item)
        if item is None or node is None or self._read is not item.document.document:
            return
        if self._waiting:
            self._apply(item, node, self._waiting.pop(0))

    def _apply(self, item: Item, node: Any, change: AttributeChange) -> None:
        from refbrowser.engine.attribute_edits import attributes_edit

        text = self._attributes_text(node)
        if text is None or not text.place.can_edit:
            return
        edit = attributes_edit(node, self._flavour(), self._texts, change)
        if edit is not None and not item.document.apply(edit):
            self.tree.show_sections(sections_of(item, internal=self._internal), anew=True)
