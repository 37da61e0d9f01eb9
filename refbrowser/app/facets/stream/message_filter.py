"""Which messages the table lists: all, those of the plotted array or of another one, those with faults."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from refbrowser.app.facets.stream.message_rows import Faults
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label
from refbrowser.exporting.streams.sections import messages_of
from refbrowser.formats.ncstream.messages import MessageKind, StreamIndex
from refbrowser.views.words import count_text, one_line

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
        self._count.setToolTip("Messages that are listed, of all in the stream")
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
