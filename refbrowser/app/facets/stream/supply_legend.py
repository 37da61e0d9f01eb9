"""What the colours and patterns of the picture of messages mean; an entry goes to its message."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from refbrowser.app.editors.flow_layout import FlowLayout
from refbrowser.app.facets.stream.supply_looks import swatch
from refbrowser.app.widgets import theme
from refbrowser.exporting.streams.supply_classes import ColouredSupply, SupplyClass, SupplyKind
from refbrowser.views.words import count_text

#: Entries for messages that are shown; of more, those with most elements.
ENTRIES_MOST = 8
#: Entries of a scale from the first message to the last.
OF_SCALE = 4
_LOW = "QToolButton { padding: 0 5px 0 1px; }"


class SupplyLegend(QWidget):
    """One button for each class that is in the picture.

    Signals
    -------
    wanted(int)
        A message (its number) is wanted.
    """

    wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messagesLegend")
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._flow = FlowLayout(self, spacing=2)
        self._buttons: list[QToolButton] = []
        self._shown: ColouredSupply | None = None

    def set_supply(self, shown: ColouredSupply | None) -> None:
        """Explain a picture, or nothing."""
        self._shown = shown
        entries = [] if shown is None else legend_entries(shown)
        while len(self._buttons) < len(entries):
            self._add_button()
        for at, button in enumerate(self._buttons):
            button.setVisible(at < len(entries))
            if at < len(entries):
                self._fill(button, *entries[at])
        self.updateGeometry()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.set_supply(self._shown)

    def texts(self) -> list[str]:
        """Return the entries that are shown."""
        return [button.text() for button in self._buttons if not button.isHidden()]

    def _add_button(self) -> None:
        button = QToolButton(self)
        button.setObjectName(f"messagesLegend_{len(self._buttons)}")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(20, 14))
        button.setAutoRaise(True)
        button.setStyleSheet(_LOW)
        # The table leads to each message, too.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda _checked=False: self._wanted(button))
        self._buttons.append(button)
        self._flow.addWidget(button)

    def _wanted(self, button: QToolButton) -> None:
        number = button.property("message")
        if number is not None and number >= 0:
            self.wanted.emit(number)

    def _fill(self, button: QToolButton, entry: SupplyClass, hatched: bool, text: str) -> None:
        button.setProperty("message", -1 if hatched else entry.first)
        button.setIcon(QIcon(swatch(entry, hatched, self.devicePixelRatioF())))
        button.setText(text)
        is_message = entry.kind is SupplyKind.MESSAGE and not hatched
        button.setAccessibleName(f"{text}; go to the message" if is_message else text)
        button.setToolTip(theme.plain_tooltip("Click to go to the message" if is_message else text))


def legend_entries(shown: ColouredSupply) -> list[tuple[SupplyClass, bool, str]]:
    """Return what is explained: a class, whether its hatched pattern is meant, and the words."""
    messages = [each for each in shown.legend if each.kind is SupplyKind.MESSAGE]
    found = [(each, False, _name(each)) for each in _explained(messages)]
    overwritten = [each for each in messages if each.overwritten]
    if overwritten:
        count = count_text(sum(each.overwritten for each in overwritten))
        found.append((overwritten[0], True, f"replaced an earlier message  {count}"))
    words = {
        SupplyKind.NEVER: "never sent: fill value",
        SupplyKind.UNDECIDED: "not found out",
        SupplyKind.LOST: "lost: damaged or cut off",
    }
    found += [
        (each, False, f"{words[each.kind]}  {count_text(each.elements)}")
        for each in shown.legend
        if each.kind in words
    ]
    return found


def _explained(messages: list[SupplyClass]) -> list[SupplyClass]:
    """Return the classes of messages that have an entry: of a scale some, else those of most elements."""
    if any(each.is_scale for each in messages):
        last = len(messages) - 1
        return [messages[round(last * at / (OF_SCALE - 1))] for at in range(OF_SCALE)]
    kept = sorted(messages, key=lambda each: -each.elements)[:ENTRIES_MOST]
    return sorted(kept, key=lambda each: each.first)


def _name(entry: SupplyClass) -> str:
    if not entry.is_scale:
        return f"message {count_text(entry.first)}  {count_text(entry.elements)}"
    return f"messages {count_text(entry.first)} to {count_text(entry.last)}"
