"""The messages of a stream as rows of a virtual table: all of them, or those of one variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QFontMetrics, QGuiApplication

from refbrowser.app.facets.stream.message_words import (
    KINDS,
    codec_words,
    crc_words,
    name_of,
    order_words,
    section_words,
)
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.table_models import Column, RowStyle
from refbrowser.errors import Severity
from refbrowser.formats.ncstream.messages import MessageKind, StreamFault, StreamIndex
from refbrowser.views.words import count_text

COLUMNS = (
    Column("No.", 38, right=True),
    Column("Kind", 44, mono=False),
    Column("Variable", 72, 1),
    Column("Section", 64),
    Column("Bytes", 44, right=True),
    Column("Codec", 54, mono=False),
    Column("Order", 52, mono=False),
    Column("Offset", 52, right=True),
    Column("CRC-32", 62),
    Column("Notes", 50, mono=False),
)
#: Free around a text, in pixels.
_AROUND = 18
#: Rows at either end that are looked at for the widths of columns.
_SAMPLE = 400
#: A column is no wider at first, in pixels; that of the variable has what is left besides.
_WIDEST, _NAME = 180, 120


def columns_for(rows: MessageRows) -> Sequence[Column]:
    """Return the columns, with room for the texts of a stream; what is left is the variable's.

    There are notes only where something is wrong with a message.
    """
    # Of all messages, so that no filter moves the columns.
    count = len(rows.index.table)
    sample = sorted({*range(min(count, _SAMPLE)), *range(max(0, count - _SAMPLE), count)})
    texts = list(zip(*map(rows.texts, sample), strict=True)) or [()] * len(COLUMNS)
    shown = COLUMNS if rows.index.faults else COLUMNS[:-1]
    return [replace(column, width=_width(column, cells)) for column, cells in zip(shown, texts, strict=False)]


def _width(column: Column, texts: Iterable[str]) -> int:
    """Return the least width of a column with some texts."""
    font = QFontMetrics(theme.mono_font() if column.mono else QGuiApplication.font())
    # To measure all would take long; the widest has about as many characters as the longest.
    longest = sorted({text for text in texts if text}, key=len)[-8:]
    widest = max((font.horizontalAdvance(text) + _AROUND for text in longest), default=0)
    return max(column.width, min(widest, _NAME if column.stretch else _WIDEST))


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

    @cached_property
    def columns(self) -> Sequence[Column]:
        """The columns, left to right."""
        return columns_for(self)

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
        return [self.texts(self.message(row)) for row in range(start, stop)]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        """Return the marks of rows."""
        return [self._style(self.message(row)) for row in range(start, stop)]

    def texts(self, message: int) -> list[str]:
        """Return the cells of a message."""
        table = self.index.table
        return [
            count_text(message),
            KINDS[MessageKind(int(table.kind[message]))],
            name_of(table, message),
            section_words(table.ranges(message)).replace(", ", ","),
            count_text(int(table.stop[message]) - int(table.offset[message])),
            codec_words(table, message),
            order_words(table, message),
            str(int(table.offset[message])),
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
