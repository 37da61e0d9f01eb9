"""Generated entries: one row, and a window of rows as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, Reference, WholeFile
from refbrowser.references.rules.dimensions import Int64
from refbrowser.references.rules.text_columns import TextColumn

Texts = TextColumn | list[str | None]
Integers = Int64 | list[int | None]
Faults = Mapping[int, RefbrowserError]


@dataclass(frozen=True, slots=True)
class GenRow:
    """One generated entry: its key where that renders, and a reference or the error of the entry."""

    row: int
    key: str | None
    reference: Reference | None
    error: RefbrowserError | None


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """One field of a window: a column, and the error of each position where it is faulty."""

    values: Texts | Integers
    faults: Faults


class GenRows:
    """A window of generated entries as columns; position k is row `start` + k.

    Lists of Python values are made when they are asked for; `key_column` and the like are the columns as they
    were computed (a `TextColumn` or int64 where the rule is lowered).
    """

    def __init__(self, start: int, size: int, column: Callable[[str], FieldColumn | None]) -> None:
        self.start = start
        self._size = size
        self._make = column
        self._columns: dict[str, FieldColumn | None] = {}

    def __len__(self) -> int:
        return self._size

    def column(self, name: str) -> FieldColumn | None:
        """Return a field as it was computed; None for the offset and length of whole files."""
        if name not in self._columns:
            self._columns[name] = self._make(name)
        return self._columns[name]

    @cached_property
    def keys(self) -> list[str | None]:
        """Key of each row, None where it does not render."""
        return _texts(self.column("key"), self._size)

    @cached_property
    def urls(self) -> list[str | None]:
        """URL of each row, None where it does not render."""
        return _texts(self.column("url"), self._size)

    @cached_property
    def offsets(self) -> list[int | None] | None:
        """Offset of each row, None where it is faulty; None as a whole for rules of whole files."""
        return _integers(self.column("offset"))

    @cached_property
    def lengths(self) -> list[int | None] | None:
        """Length of each row, None where it is faulty; None as a whole for rules of whole files."""
        return _integers(self.column("length"))

    @cached_property
    def faults(self) -> dict[int, RefbrowserError]:
        """Position in the window to the first error of that row."""
        found: dict[int, RefbrowserError] = {}
        for name in ("length", "offset", "url", "key"):
            column = self.column(name)
            if column is not None:
                found.update(column.faults)
        return found

    def reference(self, position: int) -> Reference:
        """Return the reference at a position of the window.

        Raises
        ------
        RefbrowserError
            The entry is faulty.
        """
        if position in self.faults:
            raise self.faults[position]
        url = self.urls[position]
        assert url is not None
        if self.offsets is None or self.lengths is None:
            return WholeFile(url)
        offset, length = self.offsets[position], self.lengths[position]
        assert offset is not None
        assert length is not None
        return ByteRange(url, offset, length)


def _texts(column: FieldColumn | None, size: int) -> list[str | None]:
    if column is None:
        return [None] * size
    values = column.values
    return list(values.texts) if isinstance(values, TextColumn) else values  # type: ignore[return-value]


def _integers(column: FieldColumn | None) -> list[int | None] | None:
    if column is None:
        return None
    values = column.values
    found: list[int | None] = values if isinstance(values, list) else values.tolist()  # type: ignore
    for position in column.faults:
        found[position] = None
    return found
