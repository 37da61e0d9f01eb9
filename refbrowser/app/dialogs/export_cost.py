"""What an export costs and loses, and what became of it, in words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label

#: What the command line calls its options, and what they are called here.
_OPTIONS = {
    "--skip-bad": "“Leave out what cannot be read”",
    "--zip-folder": "“Keys: Below one folder”",
    "--force": "“Replace what is there”",
    "--resume": "“Go on with an interrupted export”",
}
#: Lines that are seen at once.
_LINES = 6


class CostCard(QFrame):
    """Some lines of text, which scroll."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._text = plain_label("Computing the cost…")
        self._text.setObjectName("exportCost")
        self._text.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.LARGE, theme.MEDIUM)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        area = QScrollArea()
        area.setObjectName("exportCostArea")
        area.setAccessibleName("What the export costs and loses")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self._text)
        inside = QVBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(area)
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 2 * theme.MEDIUM)

    def say(self, text: str, role: str) -> None:
        """Show a text, as that of a role of the theme; options are called as they are in the dialog."""
        self._text.setProperty("role", role)
        self._text.style().unpolish(self._text)
        self._text.style().polish(self._text)
        for option, words in _OPTIONS.items():
            text = text.replace(option, words)
        self._text.setText(text)
