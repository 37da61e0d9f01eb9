"""A table model whose columns have fixed titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

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
