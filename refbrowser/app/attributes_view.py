"""The attributes pane: attributes and metadata of what is selected in the tree."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app import theme
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.docks import hint_of
from refbrowser.app.hierarchy_model import Item, ItemKind, shape_text
from refbrowser.app.plain_text import one_line
from refbrowser.app.tasks import TaskControl
from refbrowser.app.widgets import hint_label

#: Attributes that are listed at most; a document may hold any number.
ATTRIBUTES_SHOWN = 2_000
#: The full value is kept for the clipboard and the tool tip.
VALUE_ROLE = Qt.ItemDataRole.UserRole + 1

Rows = list[tuple[str, str]]


class AttributesPane(QWidget):
    """Names and values in sections."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = QStandardItemModel(0, 2, self)
        self._tree = _Tree()
        self._tree.setModel(self._model)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self._tree.header().resizeSection(0, 128)
        self._empty = hint_label(hint_of("attributesDock"))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._tree)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self._stored: QStandardItem | None = None

    def set_item(self, item: Item | None) -> None:
        """Show what is known about an item of the tree."""
        self._model.clear()
        self._model.setHorizontalHeaderLabels(["Name", "Value"])
        self._tree.header().resizeSection(0, 128)
        self._stored = None
        self._pages.setCurrentWidget(self._empty if item is None else self._tree)
        if item is None:
            return
        if item.kind is ItemKind.DOCUMENT:
            self._show_document(item.document)
        elif item.node is not None:
            self._show_node(item)
        elif item.document.document is not None:
            self._show_entry(item)
        self._tree.expandAll()

    def values(self) -> dict[str, str]:
        """Return every name and its full value, as shown."""
        result = {}
        for section in range(self._model.rowCount()):
            parent = self._model.item(section)
            for row in range(parent.rowCount()):
                result[parent.child(row, 0).text()] = str(parent.child(row, 1).data(VALUE_ROLE))
        return result

    def _show_document(self, document: OpenDocument) -> None:
        rows: Rows = [("Path", document.path)]
        state = document.document
        if state is not None:
            rows += document_rows(state)
        self._add_section("Document", rows)
        if document.template_values:
            self._add_section("Template values", list(document.template_values.items()))
        root = None if document.hierarchy is None else document.hierarchy.root
        if root is not None:
            self._add_attributes(root.attributes)

    def _show_node(self, item: Item) -> None:
        node: Any = item.node
        if node.error is not None:
            self._add_section("Error", [("What", str(node.error)), ("Advice", node.error.advice)])
        if node.attributes:
            self._add_attributes(node.attributes)
        if item.kind is ItemKind.ARRAY:
            rows = array_rows(node)
            if node.unreadable is not None:
                rows.insert(0, ("Not readable", str(node.unreadable)))
            section = self._add_section("Array", rows)
            self._count_stored(item, section)
        else:
            rows = [("Path", node.path), ("Arrays", str(len(node.arrays))), ("Groups", str(len(node.groups)))]
            self._add_section("Group", rows)

    def _show_entry(self, item: Item) -> None:
        state = item.document.document
        if state is None:
            return
        if item.kind is ItemKind.TEMPLATE:
            self._add_section(
                "Template",
                [
                    ("Name", str(item.place)),
                    ("Text", str(state.templates.templates.get(str(item.place), ""))),
                ],
            )
        elif item.kind is ItemKind.RULE:
            rule = state.rules[int(item.place)]
            fields = ("key", "url", "offset", "length")
            rows = [
                ("URL" if name == "url" else name.capitalize(), str(getattr(rule, name)))
                for name in fields
                if getattr(rule, name) is not None
            ]
            rows += [(f"Dimension {name}", dimension_text(values)) for name, values in rule.dimensions]
            self._add_section("Gen rule", [*rows, ("Rows", theme.count_text(rule.count))])
        elif item.kind is ItemKind.TEMPLATES:
            self._add_section(
                "Templates", [(name, str(text)) for name, text in state.templates.templates.items()]
            )
        elif item.kind is ItemKind.RULES:
            rows = [
                (f"Rule {n}", f"{rule.key}  ({theme.count_text(rule.count)} rows)")
                for n, rule in enumerate(state.rules)
            ]
            self._add_section("Gen rules", rows)
        problem = item.document.problem_at(str(item.kind), item.place)
        if problem:
            self._add_section("Fault", [("What", problem)])

    def _add_attributes(self, attributes: Mapping[str, Any]) -> None:
        rows = [(str(name), value_text(value)) for name, value in list(attributes.items())[:ATTRIBUTES_SHOWN]]
        if len(attributes) > ATTRIBUTES_SHOWN:
            rows.append(("…", f"{len(attributes) - ATTRIBUTES_SHOWN} more"))
        self._add_section(f"Attributes ({len(attributes)})", rows or [("", "none")])

    def _add_section(self, title: str, rows: Iterable[tuple[str, str]]) -> QStandardItem:
        section = QStandardItem(title)
        font = section.font()
        font.setBold(True)
        section.setFont(font)
        for name, value in rows:
            if value:
                section.appendRow([_cell(name), _cell(value)])
        self._model.appendRow([section, QStandardItem("")])
        self._tree.setFirstColumnSpanned(self._model.rowCount() - 1, QModelIndex(), True)
        return section

    def _count_stored(self, item: Item, section: QStandardItem) -> None:
        node: Any = item.node
        if node.manifest is None or node.grid is None:
            return
        value = _cell("counting…")
        section.appendRow([_cell("Stored chunks"), value])
        self._stored = value
        total = node.grid.size

        def count(_control: TaskControl) -> int | None:
            stored: int | None = node.manifest.stored()
            return stored

        def done(stored: int | None) -> None:
            if self._stored is value:
                _set_text(value, stored_text(stored, total))

        def failed(error: BaseException) -> None:
            if self._stored is value:
                _set_text(value, f"not counted: {error}")

        document = item.document
        document.tasks.run(document.owner("stored"), f"Count the chunks of {node.path}", count, done, failed)


class _Tree(QTreeView):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("attributesView")
        self.setAccessibleName("Attributes and metadata")
        self.setUniformRowHeights(True)
        self.setIndentation(12)
        self.setRootIsDecorated(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_value()
            return
        super().keyPressEvent(event)

    def copy_value(self) -> None:
        """Put the value of the current row on the clipboard."""
        index = self.currentIndex()
        value = index.siblingAtColumn(1).data(VALUE_ROLE)
        QGuiApplication.clipboard().setText(str(value or index.data() or ""))

    def _menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("Copy value", self.copy_value)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(position))


def _cell(text: str) -> QStandardItem:
    item = QStandardItem()
    _set_text(item, text)
    return item


def _set_text(item: QStandardItem, text: str) -> None:
    item.setText(one_line(text))
    item.setData(text, VALUE_ROLE)
    item.setToolTip(theme.plain_tooltip(text))


def document_rows(document: Any) -> Rows:
    """Return what is told about a document: version, size, how many references, rules and rows."""
    rows: Rows = [("Version", str(document.version))]
    rows.append(("References", theme.count_text(len(document.refs))))
    if document.version == 1:
        rows.append(("Templates", str(len(document.templates.templates))))
        rows.append(("Gen rules", str(len(document.rules))))
        rows.append(("Version 0 rows", theme.count_text(document.expansion.rows)))
    return rows


def array_rows(node: Any) -> Rows:
    """Return the metadata of an array, in the words of the field."""
    rows: Rows = [("Path", node.path), ("Shape", shape_text(node.shape) or "scalar")]
    if node.dimensions:
        pairs = zip(node.dimensions, node.shape, strict=False)
        rows.append(("Dimensions", ", ".join(f"{name or '-'} {size}" for name, size in pairs)))
    rows.append(("Type", node.type_name if node.dtype is None else f"{node.type_name}  ({node.dtype.name})"))
    if node.grid is not None:
        rows.append(
            (
                "Chunks",
                f"{theme.count_text(node.grid.size)} of {shape_text(node.grid.chunk_shape) or 'one value'}",
            )
        )
    codecs = " → ".join(codec_text(codec) for codec in node.codecs)
    rows += [("Codecs", codecs or "none"), ("Order", node.order)]
    rows.append(("Fill value", "none" if node.fill_value is None else str(node.fill_value)))
    if node.dtype is not None:
        size = node.dtype.itemsize
        for length in node.shape:
            size *= int(length)
        rows.append(("Decoded size", theme.size_text(size)))
    rows.append(("Format", node.format))
    return rows


def codec_text(codec: Any) -> str:
    """Return a codec with its configuration on one line."""
    inside = ", ".join(f"{name}={value_text(value)}" for name, value in codec.configuration.items())
    return f"{codec.name}({inside})" if inside else str(codec.name)


def value_text(value: Any) -> str:
    """Return an attribute's value as a person reads it: text as it stands, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def stored_text(stored: int | None, total: int) -> str:
    """Return how many chunks are stored and how many are missing."""
    if stored is None:
        return "not known without reading"
    missing = total - stored
    return (
        f"{theme.count_text(stored)}, {theme.count_text(missing)} missing"
        if missing
        else f"all {theme.count_text(stored)}"
    )


def dimension_text(values: range | tuple[int, ...]) -> str:
    """Return the values of a dimension, short."""
    if isinstance(values, range):
        step = f", step {values.step}" if values.step != 1 else ""
        return f"{values.start} to {values.stop} (not included){step}"
    shown = ", ".join(map(str, values[:12]))
    return f"{shown}, … ({len(values)} values)" if len(values) > 12 else shown
