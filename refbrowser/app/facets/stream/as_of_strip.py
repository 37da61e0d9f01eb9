"""The slider that shows a stream as it was after one of its messages."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QSpinBox, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import one_shot, plain_label, push_button
from refbrowser.views.words import count_text

#: A slider that rests so long, in milliseconds, is taken at its word.
REST = 160
_LARGEST = 2**31 - 1


class AsOfStrip(QWidget):
    """A slider and a number field over the messages, and the way back to all of them.

    Signals
    -------
    wanted(object)
        The number of the last message that is to count; None for all of them.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesAsOf")
        self._count = 0
        self._quiet = False
        label = plain_label("As it was after message", wrap=False)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("messagesAsOfSlider")
        self.slider.setAccessibleName("Last message that counts")
        self.field = QSpinBox()
        self.field.setObjectName("messagesAsOfField")
        self.field.setAccessibleName("Number of the last message that counts")
        self.field.setKeyboardTracking(False)
        label.setBuddy(self.field)
        self._of = plain_label("", role="muted", wrap=False)
        self.all = push_button("All", "messagesAsOfAllButton", self._show_all)
        self.all.setAccessibleName("Show the stream with all its messages")
        self.all.setToolTip("Show the stream with all its messages")
        self._rest = one_shot(self, REST, self._tell)
        self.slider.valueChanged.connect(self._slid)
        self.field.valueChanged.connect(self._typed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(label)
        layout.addWidget(self.slider, 1)
        for widget in (self.field, self._of, self.all):
            layout.addWidget(widget)

    def set_stream(self, count: int, last: int | None, why_fixed: str) -> None:
        """Show how many messages there are and which is the last that counts (None: all).

        `why_fixed` tells why that cannot be changed now; empty where it can.
        """
        self._rest.stop()
        self._quiet = True
        self._count = count
        most = max(0, min(count - 1, _LARGEST))
        for control in (self.slider, self.field):
            control.setRange(0, most)
            control.setValue(most if last is None else min(last, most))
            control.setEnabled(count > 1 and not why_fixed)
        self.slider.setPageStep(max(1, count // 10))
        self._of.setText(f"of {count_text(most)}" if count else "")
        self.all.setEnabled(last is not None and not why_fixed)
        self.setToolTip(why_fixed or "Show the data as they were before later messages came")
        self._quiet = False

    def _slid(self, value: int) -> None:
        if not self._quiet:
            self._take(value)
            self._rest.start()

    def _typed(self, value: int) -> None:
        if not self._quiet:
            self._take(value)
            self._tell()

    def _take(self, value: int) -> None:
        self._quiet = True
        self.slider.setValue(value)
        self.field.setValue(value)
        self._quiet = False

    def _tell(self) -> None:
        self._rest.stop()
        value = self.slider.value()
        self.wanted.emit(None if value >= self._count - 1 else value)

    def _show_all(self) -> None:
        self._take(self._count - 1)
        self._tell()
