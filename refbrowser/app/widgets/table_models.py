"""Models of tables: rows as pages of text with their marks, and columns of fixed titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Flag
from typing import Any, ClassVar, Protocol, runtime_checkable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

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


#: Rows asked of a model at once.
PAGE_ROWS = 128


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, least width, share of the room that is left, and how its text stands."""

    title: str
    width: int = 120
    stretch: int = 0
    right: bool = False
    mono: bool = True
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight


class RowStyle(Flag):
    """Marks of one row, beside its text."""

    NONE = 0
    #: Differs from the saved state: bold, with a bar at the left edge.
    CHANGED = 1
    #: Cannot be read: in the colour of faults, with a ``!`` at the left edge.
    FAULT = 2
    #: Does not count (a later row has the same key): struck out and muted.
    REPLACED = 4


class RowModel(Protocol):
    """What a `VirtualTable` shows.

    `page` must be quick (a few milliseconds for `PAGE_ROWS` rows); it is called on the GUI thread.
    """

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, left to right."""
        ...

    def row_count(self) -> int:
        """Return the number of rows, a Python integer of any size."""
        ...

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows `start` to `stop`, one list per row."""
        ...


@runtime_checkable
class StyledRowModel(Protocol):
    """A row model that also marks rows."""

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows `start` to `stop`."""
        ...


@runtime_checkable
class MeasuredRowModel(Protocol):
    """A row model that knows how wide its numbers get, before they are asked for."""

    def widest(self) -> Mapping[int, str]:
        """Return the widest number that can come in a column, by column."""
        ...


class NoRows:
    """A model without rows."""

    def __init__(self, columns: Sequence[Column] = ()) -> None:
        self._columns = columns

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, left to right."""
        return self._columns

    def row_count(self) -> int:
        """Return 0."""
        return 0

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return no rows."""
        return []


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
