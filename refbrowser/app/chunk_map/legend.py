"""What colours and patterns of the map mean, with counts; each entry goes to the next chunk of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from refbrowser.app import theme
from refbrowser.app.chunk_map.patterns import swatch
from refbrowser.app.chunk_map.words import class_text
from refbrowser.app.editors.flow_layout import FlowLayout
from refbrowser.app.widgets import plain_label

if TYPE_CHECKING:
    from refbrowser.engine.views.chunk_colouring import ColouredMap, MapClass

#: Entries that are shown; of more, those with most chunks.
ENTRIES_MOST = 9


class MapLegend(QWidget):
    """One button for each class that is on the map.

    Signals
    -------
    wanted(int)
        The next chunk of a class (its number) is wanted.
    """

    wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chunkMapLegend")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._flow = FlowLayout(self, spacing=2)
        self._buttons: list[QToolButton] = []
        self._more = plain_label("", role="muted", wrap=False)
        self._more.setObjectName("chunkMapMore")
        self._more.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        self._flow.addWidget(self._more)
        self._shown: ColouredMap | None = None

    def set_map(self, shown: ColouredMap | None, note: str = "") -> None:
        """Explain a map; `note` is said beside the entries."""
        self._shown = shown
        entries = [] if shown is None else _shown_entries(shown)
        while len(self._buttons) < len(entries):
            self._add_button()
        for place, button in enumerate(self._buttons):
            button.setVisible(place < len(entries))
            if place < len(entries) and shown is not None:
                self._fill(button, *entries[place], shown)
        hidden = 0 if shown is None else sum(1 for each in shown.legend[1:] if each.count) - len(entries)
        words = [f"and {hidden} more"] if hidden > 0 else []
        self._more.setText("   ".join([*words, note]) if note else "".join(words))
        self._more.setVisible(bool(self._more.text()))
        self.updateGeometry()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        note = self._more.text()
        self.set_map(self._shown)
        self._more.setText(note)
        self._more.setVisible(bool(note))

    def texts(self) -> list[str]:
        """Return the entries that are shown."""
        return [button.text() for button in self._buttons if not button.isHidden()]

    def note(self) -> str:
        """Return what is said beside the entries."""
        return self._more.text()

    def _add_button(self) -> None:
        button = QToolButton(self)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(20, 14))
        button.setAutoRaise(True)
        button.clicked.connect(lambda _checked=False: self.wanted.emit(button.property("class")))
        place = len(self._buttons)
        self._buttons.append(button)
        # Before the words at the end.
        self._flow.insert(place, button)

    def _fill(self, button: QToolButton, number: int, entry: MapClass, shown: ColouredMap) -> None:
        text = class_text(entry, shown.by)
        count = theme.count_text(entry.count)
        button.setObjectName(f"chunkMapLegend_{entry.style}{entry.number if entry.total > 1 else ''}")
        button.setProperty("class", number)
        button.setIcon(QIcon(swatch(entry, self.devicePixelRatioF())))
        button.setText(f"{text}  {count}")
        chunks = "chunk" if entry.count == 1 else "chunks"
        button.setAccessibleName(f"{text}: {count} {chunks}; go to the next one")
        whole = entry.label if entry.style == "url" else text
        button.setToolTip(theme.plain_tooltip(f"{whole}: {count} {chunks}. Click to go to the next one."))


def _shown_entries(shown: ColouredMap) -> list[tuple[int, MapClass]]:
    """Return the classes to be shown with their numbers: those of most chunks, in the order of the legend."""
    present = [(number, entry) for number, entry in enumerate(shown.legend) if number and entry.count]
    if len(present) <= ENTRIES_MOST:
        return present
    kept = sorted(present, key=lambda each: (each[1].style != "url", each[1].count), reverse=True)[
        :ENTRIES_MOST
    ]
    return sorted(kept)
