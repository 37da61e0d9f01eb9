"""The arrays of a dataset with a tick and a selection each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from refbrowser.app.widgets import theme
from refbrowser.model.grid import sides_text
from refbrowser.model.nodes import GroupNode
from refbrowser.views.hierarchy import is_buffer, shape_text, type_text
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.model.nodes import ArrayNode, Hierarchy

_NAME, _TYPE, _SHAPE, _SELECTION, _CHUNKS = range(5)


class ArraysTable(QTreeWidget):
    """Which arrays, and which part of each; ticks and selections are edited in place.

    Signals
    -------
    edited()
        A tick or a selection is another one.
    """

    edited = Signal()

    def __init__(self, hierarchy: Hierarchy, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("exportArrays")
        self.setAccessibleName("Arrays to export")
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHeaderLabels(["Array", "Type", "Shape", "Selection", "Chunks"])
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        for section, width in ((_TYPE, 90), (_SHAPE, 150), (_SELECTION, 120), (_CHUNKS, 120)):
            self.header().resizeSection(section, width)
        for node, is_part in arrays_of(hierarchy):
            self.addTopLevelItem(_row(node, is_part))
        self.itemChanged.connect(lambda *_: self.edited.emit())
        self.itemDoubleClicked.connect(
            lambda item, column: self.editItem(item, _CHUNKS if column == _CHUNKS else _SELECTION)
        )

    def tick_all(self, ticked: bool) -> None:
        """Tick or untick every array."""
        self.blockSignals(True)
        for item in self._rows():
            item.setCheckState(_NAME, Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        self.blockSignals(False)
        self.viewport().update()
        self.edited.emit()

    def show_path(self, path: str) -> None:
        """Make an array the current row."""
        for item in self._rows():
            if item.data(_NAME, Qt.ItemDataRole.UserRole) == path:
                self.setCurrentItem(item)

    def set_chunks(self, path: str, text: str) -> None:
        """Type the chunks of an array, which is ticked and made the current row."""
        for item in self._rows():
            if item.data(_NAME, Qt.ItemDataRole.UserRole) == path:
                item.setCheckState(_NAME, Qt.CheckState.Checked)
                item.setText(_CHUNKS, text)
                self.setCurrentItem(item)

    def choices(self) -> list[tuple[str, str]] | None:
        """Return path and selection text of what is ticked; None for the whole dataset."""
        rows = self._rows()
        ticked = [item for item in rows if item.checkState(_NAME) == Qt.CheckState.Checked]
        chosen = [
            (str(item.data(_NAME, Qt.ItemDataRole.UserRole)), item.text(_SELECTION).strip())
            for item in ticked
        ]
        wanted = [item for item in rows if not item.data(_TYPE, Qt.ItemDataRole.UserRole)]
        whole = ticked == wanted and not any(selection for _path, selection in chosen)
        return None if whole else chosen

    def chunks(self) -> dict[str, str]:
        """Return what is typed for the chunks of single arrays that are ticked, by path."""
        return {
            str(item.data(_NAME, Qt.ItemDataRole.UserRole)): item.text(_CHUNKS).strip()
            for item in self._rows()
            if item.checkState(_NAME) == Qt.CheckState.Checked and item.text(_CHUNKS).strip()
        }

    def set_chunks_usable(self, usable: bool) -> None:
        """Show the column of chunks where the format has any to choose."""
        self.setColumnHidden(_CHUNKS, not usable)

    def _rows(self) -> list[QTreeWidgetItem]:
        items = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return [item for item in items if item is not None]


def arrays_of(hierarchy: Hierarchy) -> Iterator[tuple[ArrayNode, bool]]:
    """Yield the arrays that can be exported, and whether each is a field of one before it.

    The buffers of nested values are written with these.
    """
    nested: set[str] = set()
    for node in hierarchy.walk():
        if isinstance(node, GroupNode) or is_buffer(node):
            continue
        above, is_part = node.path.rpartition("/")[0], False
        while above and not is_part:
            is_part = above in nested
            above = above.rpartition("/")[0]
        yield node, is_part
        if node.nested is not None:
            nested.add(node.path)


def _row(node: ArrayNode, is_part: bool) -> QTreeWidgetItem:
    broken = node.error is not None
    type_name = "broken" if broken else type_text(node)
    item = QTreeWidgetItem([one_line(node.path), type_name, shape_text(node.shape) or "scalar", "", ""])
    item.setData(_TYPE, Qt.ItemDataRole.UserRole, is_part)
    item.setToolTip(_TYPE, theme.plain_tooltip(type_name))
    item.setData(_NAME, Qt.ItemDataRole.UserRole, node.path)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsUserCheckable)
    # A field goes along with the records that it is of.
    item.setCheckState(_NAME, Qt.CheckState.Unchecked if is_part else Qt.CheckState.Checked)
    item.setSizeHint(_NAME, QSize(0, theme.ROW))
    item.setToolTip(_NAME, theme.plain_tooltip(node.path))
    names = ", ".join(str(name or "-") for name in node.dimensions)
    item.setToolTip(
        _SELECTION,
        theme.plain_tooltip(f"All of it when empty; else time=2024-03,lat=40..60 or 0,:,10:20:2\n[{names}]"),
    )
    now = sides_text(node.grid) if node.has_grid else ""
    item.setToolTip(
        _CHUNKS,
        theme.plain_tooltip(f"As chosen above when empty; else for example 100,100 or auto:8MiB\nNow {now}"),
    )
    return item
