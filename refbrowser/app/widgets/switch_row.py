"""A row of buttons at the right edge; those that have no room are entries of a menu."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from refbrowser.app.widgets.small_widgets import tool_button

_GAP = 2


class SwitchRow(QWidget):
    """Buttons beside each other, and one widget after them that takes the room that is left.

    Those that are hidden take no room. Of the others, the first ones in the order of `add` stay longest.

    Parameters
    ----------
    last
        What stands at the right edge; it is never left out, and as narrow as it may be first.
    """

    def __init__(self, name: str, last: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._last = last
        last.setParent(self)
        self._buttons: list[QToolButton] = []
        self._left_out: dict[QToolButton, Qt.FocusPolicy] = {}
        self.more = tool_button(name, "More switches of this plot", "⋯")
        self.more.setParent(self)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.hide()
        menu = QMenu(self.more)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(menu)

    def add(self, *buttons: QToolButton) -> None:
        """Add buttons at the right, before the last widget."""
        for button in buttons:
            button.setParent(self)
            button.installEventFilter(self)
            self._buttons.append(button)
        self._chain()

    def add_first(self, button: QToolButton) -> None:
        """Add a button at the left."""
        button.setParent(self)
        button.installEventFilter(self)
        self._buttons.insert(0, button)
        self._chain()
        self.updateGeometry()

    def _chain(self) -> None:
        """Let the keyboard go from the left to the right."""
        for before, after in pairwise([*self._buttons, self.more, self._last]):
            QWidget.setTabOrder(before, after)

    def left_out(self) -> list[QToolButton]:
        """Return the buttons that are entries of the menu."""
        return list(self._left_out)

    def _wanted(self) -> list[QToolButton]:
        return [button for button in self._buttons if not button.isHidden()]

    def _width(self, buttons: list[QToolButton], last: int) -> int:
        return sum(button.sizeHint().width() + _GAP for button in buttons) + last

    def _last_widths(self) -> tuple[int, int]:
        """Return how wide the last widget is at least, and at most."""
        if self._last.isHidden():
            return 0, 0
        least = max(self._last.minimumWidth(), self._last.minimumSize().width())
        return least, max(least, min(self._last.sizeHint().width(), self._last.maximumWidth()))

    def sizeHint(self) -> QSize:
        heights = [each.sizeHint().height() for each in (*self._wanted(), self._last) if not each.isHidden()]
        return QSize(self._width(self._wanted(), self._last_widths()[1]), max(heights, default=0))

    def minimumSizeHint(self) -> QSize:
        more = self.more.sizeHint().width() + _GAP if self._wanted() else 0
        return QSize(more + self._last_widths()[0], self.sizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # At once, as layouts do: whoever shows a button may click it.
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self._place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        # Buttons have another size, in another style for example.
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._place()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Lay the buttons out from the right; the ones that come last leave first."""
        least, most = self._last_widths()
        wanted, shown = self._wanted(), self._wanted()
        while shown and self._more_width(wanted, shown) + self._width(shown, least) > self.width():
            shown.pop()
        taken = self._more_width(wanted, shown) + self._width(shown, 0)
        wide = max(least, min(most, self.width() - taken))
        left = self.width() - wide
        self._put(self._last, left, wide)
        if len(shown) < len(wanted):
            left -= self.more.sizeHint().width() + _GAP
            self._put(self.more, left, self.more.sizeHint().width())
        self.more.setVisible(len(shown) < len(wanted))
        for button in reversed(shown):
            left -= button.sizeHint().width() + _GAP
            self._put(button, left, button.sizeHint().width())
        self._leave_out([button for button in wanted if button not in shown])

    def _more_width(self, wanted: list[QToolButton], shown: list[QToolButton]) -> int:
        return 0 if len(shown) == len(wanted) else self.more.sizeHint().width() + _GAP

    def _put(self, widget: QWidget, left: int, wide: int) -> None:
        high = min(self.height(), widget.sizeHint().height())
        widget.setGeometry(QRect(left, (self.height() - high) // 2, wide, high))

    def _leave_out(self, buttons: list[QToolButton]) -> None:
        """Take buttons out of sight and out of the way of the keyboard, or give them back."""
        for button, policy in list(self._left_out.items()):
            if button not in buttons:
                button.setFocusPolicy(policy)
                # Also one that is hidden, and shown before it is laid out.
                button.resize(button.sizeHint())
                del self._left_out[button]
        for button in buttons:
            if button not in self._left_out:
                self._left_out[button] = button.focusPolicy()
                button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setGeometry(QRect(-1, -1, 0, 0))

    def _fill_menu(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for button in (each for each in self._buttons if each in self._left_out):
            own: QMenu | None = button.menu()
            if own is not None:
                menu.addMenu(own).setText(button.text() or button.toolTip().split(":")[0])
                continue
            entry = menu.addAction(button.toolTip().split(":")[0])
            entry.setToolTip(button.toolTip())
            entry.setCheckable(button.isCheckable())
            entry.setChecked(button.isChecked())
            entry.setEnabled(button.isEnabled())
            entry.triggered.connect(lambda _on=False, button=button: button.click())
