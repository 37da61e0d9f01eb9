"""Models of tables: rows as pages of text with their marks, and columns of fixed titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from refbrowser.views.rows import Column

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class TitledModel(QAbstractTableModel):
    """Tells the columns; what is derived from it tells rows and cells.

    Attributes
    ----------
    titles
        Of the columns.
    """

    titles: ClassVar[Sequence[str]]

    def columnCount(self, parent: Index = ROOT) -> int:
        return len(self.titles)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.titles[section]
        return self.alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def alignment(self, column: int) -> Qt.AlignmentFlag | None:
        """Return where a title stands, and the texts of its column; None where Qt puts them."""
        return None


class HeaderModel(QAbstractTableModel):
    """The titles of the columns, for the header alone."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._columns: Sequence[Column] = ()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other titles."""
        self.beginResetModel()
        self._columns = columns
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if self._columns[section].right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> Any:
        return None
