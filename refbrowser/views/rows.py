"""Rows of a table as pages of text with their marks, and columns: what a `VirtualTable` shows, without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Flag
from typing import Protocol, runtime_checkable

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
    #: Leave the middle of a long text out, not its end.
    elide_middle: bool = False


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
