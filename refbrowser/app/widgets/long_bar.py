"""A scroll bar over any number of steps: Qt's counts to 2^31."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar

#: A scroll bar counts to this number at most; above it one step of the bar is many rows.
SCROLL_STEPS = 1 << 30


class LongBar(QObject):
    """Which row (or column) is the first one seen, of any number, kept in step with a scroll bar.

    Signals
    -------
    moved()
        The user moved the bar; `first` is another one.
    """

    moved = Signal()

    def __init__(self, area: QAbstractScrollArea, orientation: Qt.Orientation) -> None:
        super().__init__(area)
        # A bar of our own: that of the area is known to Python by its address alone, where another one of a
        # closed window may have been before.
        bar = self._bar = QScrollBar(orientation, area)
        is_vertical = orientation is Qt.Orientation.Vertical
        (area.setVerticalScrollBar if is_vertical else area.setHorizontalScrollBar)(bar)
        self._last = 0
        self._page = 1
        self._from_bar = True
        self.first = 0
        bar.setSingleStep(1)
        bar.valueChanged.connect(self._bar_moved)

    def set_extent(self, count: int, page: int) -> None:
        """Take how many there are, and how many are seen at once; `first` stays where that is possible."""
        self._last = max(0, count - page)
        self._page = page
        self._from_bar = False
        self._bar.setRange(0, min(self._last, SCROLL_STEPS))
        self._bar.setPageStep(max(1, min(page, SCROLL_STEPS)))
        self._from_bar = True
        self.set_first(self.first)

    def set_first(self, first: int) -> None:
        """Scroll; what is beyond the ends is held at them."""
        self.first = max(0, min(first, self._last))
        steps = self._bar.maximum()
        self._from_bar = False
        self._bar.setValue(self.first if steps == self._last else self.first * steps // self._last)
        self._from_bar = True

    def see(self, position: int) -> None:
        """Scroll as little as needed to see one of them; one that is far away comes to the middle."""
        first, page = self.first, self._page
        if first <= position < first + page:
            return
        if not -page < position - first < 2 * page:
            self.set_first(position - page // 2)
        else:
            self.set_first(position if position < first else position - page + 1)

    def _bar_moved(self, value: int) -> None:
        if self._from_bar:
            steps = self._bar.maximum()
            self.first = value if steps == self._last else value * self._last // max(1, steps)
            self.moved.emit()
