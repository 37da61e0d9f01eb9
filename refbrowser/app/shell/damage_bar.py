"""The bar that says where a stream or an archive is damaged, and offers to write what is sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import IconLabel, plain_label, push_button
from refbrowser.formats.ncstream.left_out import left_out
from refbrowser.views.words import count_text, one_line, size_text

if TYPE_CHECKING:
    from refbrowser.errors import Finding
    from refbrowser.formats.awkward0.origin import Awkward0Origin
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
        self._dismissed: object = None
        self._source: object = None
        self._text = plain_label("")
        self._text.setObjectName("damageText")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("warning", "warning"))
        layout.addWidget(self._text, 1)
        self._repair = push_button("Repair…", "damageRepairButton", self.repair.emit)
        layout.addWidget(self._repair)
        layout.addWidget(push_button("Dismiss", "damageDismissButton", self._dismiss))
        self.hide()

    def set_document(self, document: OpenDocument | None) -> None:
        """Say where the file of this document is damaged; nothing where it is sound."""
        shown = document if document is not None and document.is_open else None
        index = None if shown is None else shown.stream.index
        origin = None if shown is None else shown.awkward.origin
        dataset = None if shown is None else shown.dataset
        damage = () if dataset is None else dataset.damage
        self._source = index or origin or shown
        words, can_repair = "", origin is not None
        if shown is not None and damage:
            if index is not None:
                words = damage_words(shown.name, index, grows=shown.file.has_grown)
                can_repair = bool(words)
                words = words or repaired_words(shown.name, index)
            else:
                rescued = "" if origin is None else rescue_words(shown.name, origin)
                words = rescued or source_words(shown.name, damage)
        self._repair.setText("Repair…" if origin is None else "Save what is left…")
        self._repair.setVisible(can_repair)
        self._text.setText(words)
        self.setVisible(bool(words) and self._source is not self._dismissed)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _dismiss(self) -> None:
        self._dismissed = self._source
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
    told = "What is sound is shown; what may be lost is an error, and never taken for empty."
    return " ".join([*parts, told]) if parts else ""


def repaired_words(name: str, index: StreamIndex) -> str:
    """Return what repairs have left out of a stream; nothing of one that was not repaired."""
    lost = list(left_out(index.definition))
    if not lost:
        return ""
    first = lost[0]
    section = f" [{one_line(first.section)}]" if first.section else ""
    about = "any variable" if first.variable is None else f"{one_line(first.variable)}{section}"
    more = f" Problems lists {count_text(len(lost) - 1)} more." if len(lost) > 1 else ""
    return f"{one_line(name)} was repaired. What was lost of {about} reads as the fill value.{more}"


def source_words(name: str, damage: Sequence[Finding]) -> str:
    """Return what is damaged in a source of any other format."""
    more = f" Problems lists {count_text(len(damage) - 1)} more." if len(damage) > 1 else ""
    return f"{one_line(name)} is damaged: {one_line(damage[0].message)}.{more}"


def rescue_words(name: str, origin: Awkward0Origin) -> str:
    """Return what is lost of an archive whose directory cannot be read; nothing of any other file."""
    container = origin.container
    if not getattr(container, "is_rescued", False):
        return ""
    members = sum(1 for _ in container.names())
    found = f"{count_text(members)} member{'' if members == 1 else 's'} of it were found one by one"
    parts = [f"The directory of {one_line(name)} cannot be read: {found}."]
    # What the directory itself has is told first.
    lost = [each.place for each in container.findings[1:] if each.place.start is not None]
    if lost:
        size = sum((place.stop or 0) - (place.start or 0) for place in lost)
        where = f"from byte {count_text(lost[0].start or 0)}{' on' if len(lost) == 1 else ''}"
        stretches = where if len(lost) == 1 else f"in {count_text(len(lost))} stretches, the first {where}"
        parts.append(f"{size_text(size)} are lost, {stretches}.")
    arrays, sound = len(origin.arrays), sum(1 for array in origin.arrays if array.error is None)
    opened = f"{count_text(sound)} of {count_text(arrays)} array{'' if arrays == 1 else 's'} can be opened"
    return " ".join([*parts, f"{opened if arrays else 'No array is left'}."])


def _where(cut: StreamFault) -> str:
    if cut.number == 0:
        return "within its first message"
    return f"after message {cut.number - 1}, within the next one"
