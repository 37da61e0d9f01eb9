"""A chart of a figure: a series or a profile, as it is below the picture of the window."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont

from refbrowser.app.plot.axes.chart import ChartPane
from refbrowser.views.figures.figure_form import FigureForm, FigureWords
from refbrowser.views.plot.picture import ChunkState
from refbrowser.views.words import one_line
from refbrowser.words import count_text


class FigureChart:
    """Shows the lines of a chart as they were when it was made, off the screen."""

    #: It has neither colours that tell values, nor proportions of its own, and is always there.
    is_drawn, proportions, note, caption = True, None, "", ""
    held: tuple[str, ...] = ()

    def __init__(self, pane: ChartPane) -> None:
        self.label = one_line(pane.title.text())
        self._names = [one_line(name) for name in pane.line_names()]
        self.canvas = pane.chart.twin()
        self.canvas.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self.canvas.setFrameShape(self.canvas.Shape.NoFrame)
        self.canvas.show()

    def close(self) -> None:
        """Let go of everything."""
        self.canvas.deleteLater()

    def losses(self) -> list[tuple[ChunkState | None, str]]:
        """Return what could not be read, in words."""
        failed = sum(len(line.failed) for line in self.canvas.lines)
        return (
            [(ChunkState.FAILED, f"points that could not be read ({count_text(failed)})")] if failed else []
        )

    def failure(self) -> str:
        """Return why nothing is seen: something always is."""
        return ""

    def strip(self) -> None:
        """Return that no bar belongs to it."""

    def flags(self) -> list[tuple[list[int], str]]:
        """Return the colour, RGBA, and the name of each line; none for a single one."""
        if len(self._names) < 2:
            return []
        colours = [QColor(line.color) for line in self.canvas.lines]
        return [
            ([colour.red(), colour.green(), colour.blue(), 255], name)
            for colour, name in zip(colours, self._names, strict=False)
        ]

    def symbols(self) -> list[str]:
        """Return the symbols of the lines, as the plotting library calls them."""
        return [line.symbol for line in self.canvas.lines]

    def restyle(self, form: FigureForm, words: FigureWords, font: QFont) -> None:
        """Take colours and fonts of the figure, which are in force."""
        for axis in (self.canvas.across, self.canvas.upwards):
            axis.rename(None if form.labels else "")
        self.canvas.restyle()
        self.canvas.box.setBorder(None)
        for axis in (self.canvas.across, self.canvas.upwards):
            axis.set_line("#00000000")
        self.redraw()

    def redraw(self) -> None:
        """Draw everything again."""
        self.canvas.draw()

    def resize(self, size: QSize, density: float) -> None:
        """Take a size in pixels of the screen."""
        self.canvas.resize(size)
        for _pass in range(2):
            # The axes tell how much room they need when they are drawn.
            self.canvas.grab()
            self.canvas.ci.layout.activate()
        self.canvas.draw()

    @property
    def margins(self) -> tuple[int, int]:
        """How much room is left beside the axes, across and upwards."""
        left, top, right, bottom = self.canvas.ci.layout.getContentsMargins()
        return round(left + right), round(top + bottom)
