"""The list of all keys (F1)."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.help.keys import sections
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label


class ShortcutList(QDialog):
    """Every key by where it acts; a field filters them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcutDialog")
        self.setWindowTitle("Keyboard shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(640, 680)
        self._field = QLineEdit()
        self._field.setObjectName("shortcutFilter")
        self._field.setAccessibleName("Filter the shortcuts")
        self._field.setPlaceholderText("Filter by what a key does, or by the key")
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._filter)
        self._tree = QTreeWidget()
        self._tree.setObjectName("shortcutList")
        self._tree.setAccessibleName("Keyboard shortcuts")
        self._tree.setHeaderLabels(["Action", "Keys"])
        self._tree.setRootIsDecorated(False)
        self._tree.header().setStretchLastSection(False)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._nothing = plain_label("No key does that.", role="muted")
        self._nothing.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._field)
        layout.addWidget(self._nothing)
        layout.addWidget(self._tree, 1)
        self._fill()

    def rows(self) -> list[tuple[str, str]]:
        """Return what is shown: action and keys."""
        return [
            (item.text(0), item.text(1))
            for section in self._sections()
            for item in _children(section)
            if not item.isHidden()
        ]

    def _fill(self) -> None:
        for where, keys in sections().items():
            section = QTreeWidgetItem([where, ""])
            font = section.font(0)
            font.setBold(True)
            section.setFont(0, font)
            section.setFlags(Qt.ItemFlag.ItemIsEnabled)
            section.setSizeHint(0, QSize(0, theme.ROW + theme.MEDIUM))
            for key in keys:
                row = QTreeWidgetItem([key.what, _native(key.keys)])
                row.setSizeHint(0, QSize(0, theme.ROW))
                section.addChild(row)
            self._tree.addTopLevelItem(section)
        self._tree.expandAll()

    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        is_any = False
        for section in self._sections():
            is_seen = False
            for item in _children(section):
                words = f"{section.text(0)} {item.text(0)} {item.text(1)}".casefold()
                item.setHidden(not all(word in words for word in wanted))
                is_seen |= not item.isHidden()
            section.setHidden(not is_seen)
            is_any |= is_seen
        self._nothing.setVisible(not is_any)

    def _sections(self) -> list[QTreeWidgetItem]:
        items = (self._tree.topLevelItem(number) for number in range(self._tree.topLevelItemCount()))
        return [item for item in items if item is not None]


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    children = (item.child(number) for number in range(item.childCount()))
    return [child for child in children if child is not None]


def _native(keys: str) -> str:
    """Return keys as they are written on this system."""
    native = QKeySequence.SequenceFormat.NativeText
    return ", ".join(QKeySequence(key).toString(native) or key for key in keys.split(", "))
