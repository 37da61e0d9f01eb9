"""The line under the map: the chunk pointed at, what edits changed, and how many chunks there are."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from refbrowser.app.panes.chunk_map.patterns import GLYPHS
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import plain_label, tool_button
from refbrowser.views.words import count_text

#: Buttons in a line of text: as high as it.
_LOW = "QToolButton { padding: 1px 5px; }"


class MapFoot(QWidget):
    """One line: words to the left, buttons that are there when they can be used, counts.

    Signals
    -------
    fitAsked()
        The whole map is to be seen.
    changesAsked(bool)
        The chunks that edits changed are to be seen, or no longer.
    """

    fitAsked = Signal()
    changesAsked = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.readout = ElidedLabel("chunkMapReadout", role="muted")
        self.readout.setMargin(theme.SMALL)
        self.readout.setFont(theme.mono_font(-0.5))
        self.fit = _button("chunkMapFit", "See all chunks", "See all chunks (R)")
        self.fit.setText("Fit")
        self.fit.clicked.connect(lambda _checked=False: self.fitAsked.emit())
        self.changes = _button("chunkMapChanges", "", "")
        self.changes.setCheckable(True)
        self.changes.clicked.connect(self.changesAsked)
        self.counts = plain_label("", role="muted", wrap=False)
        self.counts.setObjectName("chunkMapCounts")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.readout, 1)
        for part in (self.fit, self.changes, self.counts):
            layout.addWidget(part)
        self.set_zoomed(False)
        self.set_changed(0)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.fit.setIcon(icons.icon("retry"))

    def set_zoomed(self, zoomed: bool) -> None:
        """Offer to see the whole map, where a part of it is seen."""
        self.fit.setVisible(zoomed)

    def set_changed(self, count: int) -> None:
        """Tell how many chunks edits changed."""
        number, chunks = count_text(count), "chunk" if count == 1 else "chunks"
        self.changes.setText(f"{GLYPHS['changed']} {number} changed")
        self.changes.setAccessibleName(f"Show the {number} {chunks} changed since the document was saved")
        self.changes.setToolTip(self.changes.accessibleName())
        self.changes.setVisible(bool(count))

    def set_showing_changes(self, on: bool) -> None:
        """Show whether the map is coloured by changes."""
        self.changes.setChecked(on)


def _button(name: str, title: str, tip: str) -> QToolButton:
    button = tool_button(name, tip)
    button.setAccessibleName(title)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setStyleSheet(_LOW)
    return button
