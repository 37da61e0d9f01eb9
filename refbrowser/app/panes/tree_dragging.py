"""Rows of the tree that are dragged to another place in it, as numbers; nothing else is taken."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
#: The type of what is dragged: the number of a document.
_TYPE = "application/x-refbrowser-document"


class DraggedRows(QAbstractItemModel):
    """A model some of whose rows below none can be dragged among each other."""

    def dragged(self, index: Index) -> int | None:
        """Return the number that a row is dragged as; None for a row that stays."""
        raise NotImplementedError

    def drop_document(self, number: int, row: int) -> None:
        """Take what was dragged before a row; below all where that is less than 0."""
        raise NotImplementedError

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = super().flags(index)
        if not index.isValid():
            return usual | Qt.ItemFlag.ItemIsDropEnabled
        return usual if self.dragged(index) is None else usual | Qt.ItemFlag.ItemIsDragEnabled

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [_TYPE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        number = self.dragged(indexes[0]) if indexes else None
        if number is not None:
            data.setData(_TYPE, str(number).encode())
        return data

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Take what is dropped between rows below none; Qt is not to remove the row that was dragged."""
        number = bytes(data.data(_TYPE).data()).decode("ascii", "replace")
        if number.isdigit() and not parent.isValid():
            self.drop_document(int(number), row)
        return False
