"""What profile and series have in common: a line of words and buttons over a small chart."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from refbrowser.app.plot.chart import LineChart
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.parts import plain_label


class ChartPane(QWidget):
    """A chart with its title, what is under its cursor, and Copy, Export and Close.

    Parameters
    ----------
    name
        Begins the object names (``profile``: ``profileView``, ``profileCopy`` and so on).
    title
        What stands over it.

    Signals
    -------
    copyRequested(), exportRequested()
        The values are to be put on the clipboard, or into a file.
    closeRequested()
        The pane is to be hidden.
    """

    copyRequested = Signal()
    exportRequested = Signal()
    closeRequested = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName(f"{name}Pane")
        self.chart = LineChart(f"{name}View", title)
        self.title = plain_label(title, role="paneTitle", wrap=False)
        self.said = ElidedLabel(f"{name}Readout", role="muted")
        self.said.setMinimumWidth(1)
        self.copy = self.tool_button("Copy", f"Copy the values of the {name}")
        self.export = self.tool_button("Export", f"Write the values of the {name} to a file (CSV)")
        self.close_ = self.tool_button("Close", f"Hide the {name}")
        #: Where the pane's own controls go, between title and words.
        self.controls = QHBoxLayout()
        self.controls.setSpacing(theme.SMALL)
        head = QHBoxLayout()
        head.setSpacing(theme.SMALL)
        head.addWidget(self.title)
        head.addLayout(self.controls)
        head.addWidget(self.said, 1)
        for button in (self.copy, self.export, self.close_):
            head.addWidget(button)
        #: Strips between the line of words and the chart.
        self.strips = QVBoxLayout()
        #: The chart, and what the pane has beside it.
        self.body = QHBoxLayout()
        self.body.setSpacing(theme.MEDIUM)
        self.body.addWidget(self.chart, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addLayout(self.strips)
        layout.addLayout(self.body, 1)
        self.copy.clicked.connect(lambda _checked=False: self.copyRequested.emit())
        self.export.clicked.connect(lambda _checked=False: self.exportRequested.emit())
        self.close_.clicked.connect(lambda _checked=False: self.closeRequested.emit())
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the theme."""
        self.copy.setIcon(icons.icon("copy"))
        self.export.setIcon(icons.icon("export"))
        self.close_.setIcon(icons.icon("cancel"))
        self.chart.restyle()

    def tool_button(self, name: str, tip: str) -> QToolButton:
        """Return a named button without text."""
        button = QToolButton()
        button.setObjectName(f"{self._name}{name}")
        button.setAccessibleName(tip)
        button.setToolTip(tip)
        # Narrow, so that the words beside it have the room.
        button.setStyleSheet("padding: 3px 4px")
        return button
