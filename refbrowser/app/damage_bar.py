"""The bar that says where a stream is damaged, or ends within a message, and offers to repair it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app import theme
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plain_text import one_line
from refbrowser.app.theme import count_text
from refbrowser.app.widgets import IconLabel, plain_label, push_button

if TYPE_CHECKING:
    from refbrowser.formats.ncstream.messages import StreamFault, StreamIndex

_CUT = "truncated"


class DamageBar(QFrame):
    """Tells of one document, until it is repaired or the bar is dismissed.

    Signals
    -------
    repair()
        The user wants to write what is sound.
    """

    repair = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("damageBar")
        self.setProperty("role", "trustStrip")
        self._dismissed: StreamIndex | None = None
        self._index: StreamIndex | None = None
        self._text = plain_label("")
        self._text.setObjectName("damageText")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("warning", "warning"))
        layout.addWidget(self._text, 1)
        layout.addWidget(push_button("Repair…", "damageRepairButton", self.repair.emit))
        layout.addWidget(push_button("Dismiss", "damageDismissButton", self._dismiss))
        self.hide()

    def set_document(self, document: OpenDocument | None) -> None:
        """Say where the stream of this document is damaged; nothing where it is sound."""
        index = None if document is None or not document.is_open else document.stream.index
        self._index = index
        words = ""
        if document is not None and index is not None:
            words = damage_words(document.name, index, grows=document.file.has_grown)
        self._text.setText(words)
        self.setVisible(bool(words) and index is not self._dismissed)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _dismiss(self) -> None:
        self._dismissed = self._index
        self.hide()


def damage_words(name: str, index: StreamIndex, *, grows: bool = False) -> str:
    """Return where a stream is damaged, in words; nothing where it is sound.

    Where it `grows` it may end within a message: the rest is on its way.
    """
    faults = [fault for fault in index.faults if fault.severity == "fault"]
    cut = next((fault for fault in faults if fault.code == _CUT), None)
    others = [fault for fault in faults if fault is not cut]
    cut = None if grows else cut
    parts = [f"{one_line(name)} ends at byte {count_text(index.size)}, {_where(cut)}."] if cut else []
    if others:
        count = f"{count_text(len(others))} fault{'' if len(others) == 1 else 's'}"
        first = f"the first in message {others[0].number} at byte {count_text(others[0].offset)}"
        parts.append(f"{'It' if cut else one_line(name)} is damaged: {count}, {first}.")
    return " ".join([*parts, "Everything that is sound is shown."]) if parts else ""


def _where(cut: StreamFault) -> str:
    if cut.number == 0:
        return "within its first message"
    return f"after message {cut.number - 1}, within the next one"
