"""The messages of a stream as rows of a virtual table: all of them, or those of one variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt

from refbrowser.app.row_model import Column, RowStyle
from refbrowser.app.stream.message_words import (
    KINDS,
    codec_words,
    crc_words,
    name_of,
    order_words,
    section_words,
)
from refbrowser.app.theme import count_text
from refbrowser.errors import Severity
from refbrowser.formats.ncstream.messages import MessageKind, StreamFault, StreamIndex

COLUMNS = (
    Column("No.", 40, right=True),
    Column("Offset", 62, right=True),
    Column("Kind", 66, mono=False),
    Column("Variable", 66, 2, elide=Qt.TextElideMode.ElideMiddle),
    Column("Section", 106, 3),
    Column("Bytes", 54, right=True),
    Column("Codec", 68, mono=False),
    Column("Order", 62, mono=False),
    Column("CRC-32", 76),
    Column("Notes", 44, 4, mono=False),
)
#: Widths of a character and of what is around a text, in pixels, about.
_CHARACTER, _AROUND = 8, 18
#: Characters of a name that have room at first, and names that are looked at.
_NAME, _NAMES = 14, 500


def columns_for(index: StreamIndex) -> Sequence[Column]:
    """Return the columns, with room for the numbers and names of a stream."""
    table = index.table
    longest = int((table.stop - table.offset).max()) if len(table) else 0
    characters = {
        "No.": len(count_text(len(table))),
        "Offset": len(str(index.size)),
        "Bytes": len(count_text(longest)),
        "Variable": min(_NAME, max(map(len, table.names[:_NAMES]), default=0)),
    }
    return [
        replace(each, width=max(each.width, _CHARACTER * characters.get(each.title, 0) + _AROUND))
        for each in COLUMNS
    ]


class MessageRows:
    """Rows of some messages of a stream.

    Parameters
    ----------
    numbers
        Of the messages, ascending; all of them where None.
    faults
        What is wrong with each message that something is wrong with.
    last
        Messages after this one do not count now: they are struck out.
    """

    def __init__(
        self,
        index: StreamIndex,
        numbers: npt.NDArray[np.int64] | None,
        faults: Faults,
        last: Callable[[], int | None],
    ) -> None:
        self.index, self._numbers, self._faults, self._last = index, numbers, faults, last
        self.columns = columns_for(index)

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self.index.table) if self._numbers is None else len(self._numbers)

    def message(self, row: int) -> int:
        """Return the number of the message in a row."""
        return row if self._numbers is None else int(self._numbers[row])

    def row_of(self, message: int) -> int | None:
        """Return the row that a message is in, or None."""
        if self._numbers is None:
            return message if 0 <= message < self.row_count() else None
        at = int(np.searchsorted(self._numbers, message))
        return at if at < len(self._numbers) and int(self._numbers[at]) == message else None

    def page(self, start: int, stop: int) -> list[list[str]]:
        """Return the texts of rows."""
        return [self._texts(self.message(row)) for row in range(start, stop)]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        return [self._style(self.message(row)) for row in range(start, stop)]

    def _texts(self, message: int) -> list[str]:
        table = self.index.table
        return [
            count_text(message),
            str(int(table.offset[message])),
            KINDS[MessageKind(int(table.kind[message]))],
            name_of(table, message),
            section_words(table.ranges(message)),
            count_text(int(table.stop[message]) - int(table.offset[message])),
            codec_words(table, message),
            order_words(table, message),
            crc_words(table, message),
            self._faults.words(message),
        ]

    def _style(self, message: int) -> RowStyle:
        last = self._last()
        style = RowStyle.NONE if last is None or message <= last else RowStyle.REPLACED
        if self._faults.is_fault(message) or int(self.index.table.kind[message]) == MessageKind.DAMAGED:
            style |= RowStyle.FAULT
        return style


class Faults:
    """What is wrong with the messages of a stream, by their numbers."""

    def __init__(self, faults: Sequence[StreamFault]) -> None:
        self._faults = faults

    @cached_property
    def _by_number(self) -> dict[int, list[StreamFault]]:
        found: dict[int, list[StreamFault]] = {}
        for fault in self._faults:
            found.setdefault(fault.number, []).append(fault)
        return found

    def words(self, message: int) -> str:
        """Return what is wrong with a message, empty where nothing is."""
        return "; ".join(f"{fault.code}: {fault.message}" for fault in self._by_number.get(message, ()))

    def is_fault(self, message: int) -> bool:
        """Tell whether more than a warning is wrong with a message."""
        return any(fault.severity is Severity.FAULT for fault in self._by_number.get(message, ()))

    def numbers(self, count: int) -> npt.NDArray[np.int64]:
        """Return the numbers of those of `count` messages that something is wrong with, ascending."""
        return np.array(sorted(number for number in self._by_number if 0 <= number < count), np.int64)
