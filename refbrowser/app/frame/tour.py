"""The tour: four cards over the sample, each beside what it tells of; offered once, skipped with a click."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import Card

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.widgets.docks import Docks

#: Height of the lowest part of the centre that a card leaves free.
_SLIDERS = 80


class Step(NamedTuple):
    """One card.

    Attributes
    ----------
    icon, heading, text
        What it shows.
    dock
        The name of the dock that it tells of, which comes to the front; empty for what is in the centre.
    """

    icon: str
    heading: str
    text: str
    dock: str = ""


OFFER = Step(
    "document",
    "New here?",
    "Four cards over the sample, in a minute: see, ask why, edit, export. Nothing is read from the network.",
)
STEPS = (
    Step(
        "array",
        "See",
        "Select an array in the hierarchy: its chunks are plotted as they arrive. Move the slider below the "
        "plot to go through the year; the chunk map at the bottom shows which chunks were read.",
    ),
    Step(
        "option",
        "Ask why",
        "Click an element of the plot, or press E there. Explain says in one sentence why it has its value, "
        "or none, and which bytes of which file it comes from.",
        "explainDock",
    ),
    Step(
        "rules",
        "Edit",
        "Select a template or a gen rule in the hierarchy. The preview shows what changes before anything "
        "does; Ctrl+Z takes it back, and only Ctrl+S writes.",
        "editorDock",
    ),
    Step(
        "export",
        "Export",
        "Ctrl+E writes the data as Zarr or netCDF, or the references as another document, and compares what "
        "was written. F1 lists all keys; Help has the manual, with tutorials.",
    ),
)


class Tour(Card):
    """The cards, one at a time, over a window.

    Signals
    -------
    begun()
        The user wants to see the cards: the sample is to be opened.
    """

    begun = Signal()

    def __init__(self, window: QWidget, centre: QWidget, docks: Docks) -> None:
        super().__init__(OFFER.icon, OFFER.heading, OFFER.text, window)
        self._window, self._centre, self._docks = window, centre, docks
        #: Number of the card that is shown; -1 is the offer.
        self._at = -1
        self._skip = self.add_button("Skip", "tourSkipButton", self.end)
        self._back = self.add_button("Back", "tourBackButton", lambda: self.show_step(self._at - 1))
        self._next = self.add_button("Show me", "tourNextButton", self._go_on, default=True)
        self._back.hide()
        self.setAccessibleName("Tour")
        for watched in self._watched():
            watched.installEventFilter(self)
        self._place()
        self.show()
        self.raise_()

    def show_step(self, number: int) -> None:
        """Show a card, and what it tells of."""
        self._at = number
        step = STEPS[number]
        self.set_content(step.icon, f"{step.heading}  ({number + 1} of {len(STEPS)})", step.text)
        self._back.setVisible(number > 0)
        self._skip.setVisible(number < len(STEPS) - 1)
        self._next.setText("Next" if number < len(STEPS) - 1 else "Done")
        if step.dock:
            self._docks.raise_(step.dock)
        self._place()
        self.raise_()
        self._next.setFocus()

    def end(self) -> None:
        """Take the card away."""
        for watched in self._watched():
            watched.removeEventFilter(self)
        self.hide()
        self.deleteLater()

    def _watched(self) -> tuple[QWidget, QWidget]:
        return self._window, self._centre

    def _go_on(self) -> None:
        if self._at == len(STEPS) - 1:
            self.end()
            return
        if self._at < 0:
            self.begun.emit()
        self.show_step(self._at + 1)

    def _place(self) -> None:
        """Stand beside the dock that is told of, else low in the centre."""
        width = min(self.maximumWidth(), 420, self._window.width() - 2 * theme.HUGE)
        self.setFixedWidth(width)
        height = self.heightForWidth(width)
        self.resize(width, max(height, self.sizeHint().height()))
        named = STEPS[self._at].dock if self._at >= 0 else ""
        if named:
            corner = self._docks[named].mapTo(self._window, QPoint())
            left = corner.x() - self.width() - theme.MEDIUM
            if left < theme.MEDIUM:
                # Docks of small windows are on the left.
                left = corner.x() + self._docks[named].width() + theme.MEDIUM
            top = corner.y() + theme.HUGE
        else:
            place = QRect(self._centre.mapTo(self._window, QPoint()), self._centre.size())
            left = place.center().x() - self.width() // 2
            # Sliders below the plot stay in sight.
            top = place.bottom() - self.height() - _SLIDERS
        room = self._window.rect()
        self.move(
            max(theme.MEDIUM, min(left, room.right() - self.width() - theme.MEDIUM)),
            max(theme.MEDIUM, min(top, room.bottom() - self.height() - theme.MEDIUM)),
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)
