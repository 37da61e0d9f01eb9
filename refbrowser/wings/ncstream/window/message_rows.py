"""The messages of a stream as rows of a table, their words, and the filter above them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.errors import Severity
from refbrowser.views.rows import Column, RowStyle
from refbrowser.views.words import one_line
from refbrowser.wings.ncstream.reading.messages import (
    ByteOrder,
    MessageKind,
    MessageTable,
    Payload,
    StreamFault,
    StreamIndex,
)
from refbrowser.wings.ncstream.views.supplied_sections import messages_of
from refbrowser.words import count_text

KINDS = {
    MessageKind.HEADER: "header",
    MessageKind.DATA: "data",
    MessageKind.DATA_COLUMN: "column",
    MessageKind.ERROR: "error",
    MessageKind.POINT: "point",
    MessageKind.DAMAGED: "damaged",
}
ORDERS = {ByteOrder.ABSENT: "absent", ByteOrder.LITTLE: "little", ByteOrder.BIG: "big"}
_CONTENTS = {
    Payload.NONE: "",
    Payload.REGULAR: "plain",
    Payload.VARIABLE: "objects",
    Payload.STRUCTURE: "rows",
    Payload.SEQUENCE: "sequence",
    Payload.COLUMN: "columns",
}
#: Kinds that carry values.
DATA_KINDS = (MessageKind.DATA, MessageKind.DATA_COLUMN)


def section_words(section: tuple[range, ...] | None) -> str:
    """Return a section as it is written for ``--select``: ``0:10, 5, 0:100:2``."""
    if not section:
        return ""
    return ", ".join(range_words(part) for part in section)


def range_words(part: range) -> str:
    """Return one range of a section."""
    if len(part) == 1:
        return str(part.start)
    step = f":{part.step}" if part.step > 1 else ""
    return f"{part.start}:{part.stop}{step}"


def codec_words(table: MessageTable, row: int) -> str:
    """Return how the payload of a message is stored."""
    payload = Payload(int(table.payload[row]))
    if bool(table.deflated[row]):
        return "deflate"
    return _CONTENTS[payload]


def crc_words(table: MessageTable, row: int) -> str:
    """Return the checksum that a message names."""
    found = int(table.crc32[row])
    return "" if found < 0 else f"{found:08x}"


def order_words(table: MessageTable, row: int) -> str:
    """Return what a data message says of its byte order."""
    if MessageKind(int(table.kind[row])) not in DATA_KINDS:
        return ""
    return ORDERS[ByteOrder(int(table.byte_order[row]))]


def name_of(table: MessageTable, row: int) -> str:
    """Return the path of the variable that a message is of; empty where it is of none."""
    at = int(table.variable[row])
    return table.names[at] if at >= 0 else ""


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


#: Variables that are listed by name.
NAMES_MOST = 500
ALL, PLOTTED, FAULTY, HEADERS = "all", "plotted", "faulty", "headers"


class MessageFilter(QWidget):
    """The choice, a field to go to a message, and how many are listed.

    Signals
    -------
    changed()
        Another choice was made.
    wanted(int)
        A message was asked for by its number.
    """

    changed = Signal()
    wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = QComboBox()
        self.choice.setObjectName("messagesFilter")
        self.choice.setAccessibleName("Messages that are listed")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(10)
        self.choice.currentIndexChanged.connect(lambda _at: self.changed.emit())
        self.go = QLineEdit()
        self.go.setObjectName("messagesGoTo")
        self.go.setAccessibleName("Go to a message")
        self.go.setPlaceholderText("Go to message")
        self.go.setToolTip("The number of a message; Return goes to it")
        self.go.setMinimumWidth(116)
        self.go.returnPressed.connect(self._go)
        self._count = plain_label("", role="muted", wrap=False)
        self._count.setObjectName("messagesCount")
        self._count.setToolTip("Messages listed, of all in the stream")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.choice, 2)
        layout.addWidget(self.go, 1)
        layout.addWidget(self._count)

    def set_index(self, index: StreamIndex | None) -> None:
        """Offer the variables of a stream; the choice stays where it is there, too."""
        kept = self.choice.currentData()
        self.choice.blockSignals(True)
        self.choice.clear()
        for what, text in ((ALL, "All messages"), (PLOTTED, "Of the selected array")):
            self.choice.addItem(text, what)
        self.choice.addItem("Headers", HEADERS)
        self.choice.addItem("With faults or warnings", FAULTY)
        for name in () if index is None else sorted(index.table.names)[:NAMES_MOST]:
            self.choice.addItem(one_line(name), name)
        self.choice.setCurrentIndex(max(0, self.choice.findData(kept)))
        self.choice.blockSignals(False)

    def numbers(
        self, index: StreamIndex, faults: Faults, plotted: str | None
    ) -> npt.NDArray[np.int64] | None:
        """Return the messages that are listed; None for all of them."""
        what = self.choice.currentData()
        if what in (ALL, None):
            return None
        if what == HEADERS:
            return np.flatnonzero(index.table.kind == MessageKind.HEADER)
        if what == FAULTY:
            return faults.numbers(len(index.table))
        name = plotted if what == PLOTTED else what
        return np.zeros(0, np.int64) if name is None else messages_of(index, name)

    @property
    def follows_plot(self) -> bool:
        """Whether the messages of the plotted array are listed, whichever that is."""
        return bool(self.choice.currentData() == PLOTTED)

    def show_all(self) -> None:
        """List all messages."""
        self.choice.setCurrentIndex(0)

    def say_count(self, shown: int, total: int) -> None:
        """Say how many messages are listed."""
        self._count.setText(f"{count_text(shown)} of {count_text(total)}")

    def _go(self) -> None:
        text = _digits(self.go.text())
        if text:
            self.wanted.emit(int(text))


def _digits(text: str) -> str:
    """Return a number without what people put between thousands; empty where it is none."""
    plain = "".join(each for each in text if each not in ", _#\N{NARROW NO-BREAK SPACE}")
    return plain if plain.isascii() and plain.isdigit() and len(plain) <= 18 else ""
