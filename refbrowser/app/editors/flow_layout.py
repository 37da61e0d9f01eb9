"""A layout that puts its parts side by side and goes on in the next line where the width ends."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Parts in reading order, each in its own size, wrapped at the width."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 4) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def insert(self, index: int, widget: QWidget) -> None:
        """Put a widget before the one at a position."""
        # Qt makes the item and deletes it: one that is made here would be deleted twice.
        self.addWidget(widget)
        self._items.insert(index, self._items.pop())
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Return the height that the parts need in the width of `rect`."""
        x, y = rect.x(), rect.y()
        line: list[tuple[QLayoutItem, int]] = []
        for item in self._items:
            if item.isEmpty():
                continue
            width = item.sizeHint().width()
            if line and x + width > rect.right() + 1:
                x, y = rect.x(), y + self._place_line(line, y, move=move) + self.spacing()
                line = []
            line.append((item, x))
            x += width + self.spacing()
        return y + self._place_line(line, y, move=move) - rect.y()

    @staticmethod
    def _place_line(line: list[tuple[QLayoutItem, int]], y: int, *, move: bool) -> int:
        """Put parts beside each other, their middles in line; return the height of the highest."""
        height = max((item.sizeHint().height() for item, _x in line), default=0)
        for item, x in line if move else ():
            size = item.sizeHint()
            item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
        return height
