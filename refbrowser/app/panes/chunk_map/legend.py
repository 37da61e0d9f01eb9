"""What colours and patterns of the map mean, with counts; each entry goes to the next chunk of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from refbrowser.app.editors.flow_layout import FlowLayout
from refbrowser.app.panes.chunk_map.patterns import swatch
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label
from refbrowser.views.chunks.chunk_facts import class_text
from refbrowser.views.words import count_text

if TYPE_CHECKING:
    from refbrowser.views.chunks.chunk_colouring import ColouredMap, MapClass

#: Entries that are shown; of more, those with most chunks.
ENTRIES_MOST = 12
#: Lines that they take at most under the map; beside it they have its height.
LINES_MOST = 2
_UNLIMITED = 16777215
_GAP = 2
_LOW = "QToolButton { padding: 0 5px 0 1px; }"


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
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._flow = FlowLayout(self, spacing=_GAP)
        self._buttons: list[QToolButton] = []
        self._more = plain_label("", role="muted", wrap=False)
        self._more.setObjectName("chunkMapMore")
        self._more.setContentsMargins(theme.SMALL, 0, theme.SMALL, 0)
        self._flow.addWidget(self._more)
        self._shown: ColouredMap | None = None
        self._note = ""
        self._used = self._present = 0
        self._beside = False

    def set_beside(self, beside: bool) -> None:
        """Stand as a column beside the map, where it is low, or as lines under it."""
        if beside != self._beside:
            self._beside = beside
            self._flow.setSpacing(0 if beside else _GAP)
            fixed, ignored = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored
            self.setSizePolicy(*((fixed, ignored) if beside else (ignored, fixed)))
            self.setMinimumSize(0, 0)
            self.setMaximumSize(_UNLIMITED, _UNLIMITED)
            self._fit()

    def set_map(self, shown: ColouredMap | None, note: str = "") -> None:
        """Explain a map; `note` is said beside the entries."""
        self._shown, self._note = shown, note
        entries = [] if shown is None else _shown_entries(shown)
        self._present = 0 if shown is None else sum(1 for each in shown.legend[1:] if each.count)
        while len(self._buttons) < len(entries):
            self._add_button()
        self._used = len(entries)
        for button, (number, entry) in zip(self._buttons, entries, strict=False):
            assert shown is not None
            self._fill(button, number, entry, shown)
        self._fit()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.set_map(self._shown, self._note)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as many entries as fit, with the note behind them where there is room for it."""
        kept, note = self._used, "" if self._beside else self._note
        if self._beside:
            # First of all: it may call this method again.
            self.setFixedWidth(max((each.sizeHint().width() for each in self._buttons[:kept]), default=0))
        line = max(part.sizeHint().height() for part in (*self._buttons, self._more)) + self._flow.spacing()
        most = max(1, self.height() // line) if self._beside else LINES_MOST
        while True:
            hidden = self._present - kept
            words = [f"and {hidden} more"] if hidden > 0 else []
            self._more.setText("   ".join([*words, note] if note else words))
            parts = [*self._buttons[:kept], *([self._more] if self._more.text() else [])]
            lines = self._lines([part.sizeHint().width() for part in parts])
            if lines <= most or not kept:
                break
            kept -= 1
        for place, button in enumerate(self._buttons):
            button.setVisible(place < kept)
        self._more.setVisible(bool(self._more.text()))
        if not self._beside:
            self.setFixedHeight(lines * line)

    def _lines(self, widths: list[int]) -> int:
        """Return how many lines parts of these widths need."""
        lines, x = 1, 0
        for width in widths:
            if x and x + width > self.width():
                lines, x = lines + 1, 0
            x += width + self._flow.spacing()
        return lines

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
        button.setStyleSheet(_LOW)
        button.clicked.connect(lambda _checked=False: self.wanted.emit(button.property("class")))
        place = len(self._buttons)
        self._buttons.append(button)
        # Before the words at the end.
        self._flow.insert(place, button)

    def _fill(self, button: QToolButton, number: int, entry: MapClass, shown: ColouredMap) -> None:
        text = class_text(entry, shown.by)
        count = count_text(entry.count)
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
