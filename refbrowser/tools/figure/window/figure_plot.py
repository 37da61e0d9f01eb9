"""One plot of a figure: a pane that nobody sees, which shows an array as the panes of the window do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont

from refbrowser.app.plot.legends import STATE_NAMES
from refbrowser.app.plot.overlays.scene_item import SceneItem
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nodes import Hierarchy
from refbrowser.views.figures.figure_form import FigureForm, FigureWords, caption_of
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import Levels
from refbrowser.views.plot.picture import STALE_NAME, ChunkState
from refbrowser.views.plot.table import TableLayout
from refbrowser.views.plot_states.plot_state import PlotState
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.plot.colour_bar import ColourStrip

#: It is looked whether everything has come so often, in milliseconds; and at rest it is, after so many looks.
_LOOK, _CALM = 5, 3
#: States of chunks that a figure tells of.
_TOLD = (ChunkState.PENDING, ChunkState.MISSING, ChunkState.FILLED, ChunkState.FAILED)
#: Those of them whose values should be there.
LOST = frozenset({ChunkState.PENDING, ChunkState.FAILED})


class FigureSource(QObject):
    """A dataset as it is now: what the window does with its document afterwards changes no figure.

    Its reads are jobs of their own, so that they take the place of none in the window.
    """

    hierarchyChanged = Signal(object)

    def __init__(self, dataset: Dataset, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.dataset: Dataset | None = dataset
        self.tasks = Tasks(self)

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Groups and arrays."""
        return None if self.dataset is None else self.dataset.hierarchy

    def owner(self, what: str) -> str:
        """Return the owner name for tasks."""
        return f"figure-{what}"

    def close(self) -> None:
        """End all reads."""
        self.tasks.close()


class FigurePlot(QObject):
    """Shows an array off the screen.

    Parameters
    ----------
    document
        What its document is called.

    Signals
    -------
    ready()
        All that is to be seen has come, or failed.
    """

    ready = Signal()

    def __init__(self, source: FigureSource, document: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source, self._document = source, document
        self.pane = pane = PlotPane()
        pane.set_prefetch(False)
        self.canvas = canvas = pane.canvas
        # By itself it has the size that it is given, and is laid out as if it were seen.
        canvas.setParent(None)
        canvas.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        canvas.setFrameShape(canvas.Shape.NoFrame)
        canvas.show()
        self._has_overlays = True
        self._overlaid: Iterable[str] = ()
        self._calm, self._is_refined = 0, False
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK)
        self._timer.timeout.connect(self._look)

    def close(self) -> None:
        """Let go of everything."""
        self._timer.stop()
        self.pane.clear()
        self.canvas.deleteLater()
        self.pane.deleteLater()

    def show(self, state: PlotState) -> None:
        """Show what a state tells; `ready` tells when it has come.

        Raises
        ------
        RefbrowserError
            As `refbrowser.app.plot.plot_pane.PlotPane.restore` does.
        """
        self.pane.restore(self.source, replace(state, profile=False, series=False))
        self.wait()

    def wait(self) -> None:
        """Wait until all has come that is wanted."""
        self._calm, self._is_refined = 0, False
        self._timer.start()

    def set_index(self, dimension: int, index: int) -> None:
        """Move along a dimension that is not on an axis; `ready` tells when that has come."""
        self.pane.set_index(dimension, index)
        self.wait()

    def _look(self) -> None:
        cards = self.pane.cards
        if self.pane.page() is cards and cards.shown() == "question":
            # Nobody is there to answer; that a sample is drawn is said beside it.
            cards.choiceMade.emit("sampled")
            self._calm = 0
            return
        at_rest = self.pane.is_settled() and not self.source.tasks.busy()
        if at_rest and not self._is_refined:
            # What a window reads a little later, when the view stands still.
            self._is_refined = True
            self.pane.refine()
            return
        self._calm = self._calm + 1 if at_rest else 0
        if self._calm >= _CALM:
            self._timer.stop()
            self.ready.emit()

    # Levels

    def own_levels(self) -> Levels | None:
        """Return the levels that the picture has by itself; None where it has none."""
        look = self.pane.look()
        if not self.is_drawn or not look.options.has_levels:
            return None
        look.auto_levels()
        return self.pane.levels()

    def hold_levels(self) -> None:
        """Keep the levels as they are, whatever is shown."""
        levels = self.pane.levels()
        if levels is not None and self.pane.look().options.has_levels:
            self.pane.look().set_levels(levels)

    # What is said of it

    @property
    def is_drawn(self) -> bool:
        """Whether there is something to be seen, no card."""
        return self.pane.page() is self.canvas

    @property
    def layout(self) -> TableLayout | None:
        """What is shown: array, slice, coordinates and meaning."""
        node, state = self.pane.array(), self.pane.slice_state()
        if node is None or state is None:
            return None
        shown = Interpretation(node, self.pane.is_decoded())
        return TableLayout(node, state, self.pane.coordinates(), shown)

    @property
    def label(self) -> str:
        """What is shown, with its units."""
        layout, title = self.layout, self.pane.header.title.text()
        units = "" if layout is None else layout.shown.units
        return f"{title} [{units}]" if units else title

    @property
    def held(self) -> tuple[str, ...]:
        """What each index that is held stands for, in words."""
        layout = self.layout
        return () if layout is None else layout.held

    def losses(self) -> list[tuple[ChunkState | None, str]]:
        """Return what of the picture shows no values of its own, in words; None for values of stale files."""
        picture = self.pane.picture()
        if picture is None:
            return []
        counts = [(state, STATE_NAMES[state], picture.count(state)) for state in _TOLD]
        found: list[tuple[ChunkState | None, str]] = [
            (state, f"{name} ({count_text(count)})") for state, name, count in counts if count
        ]
        stale = int(picture.stale_done.sum())
        return [*found, (None, f"{STALE_NAME} ({count_text(stale)})")] if stale else found

    def failure(self) -> str:
        """Return why nothing is seen; empty where something is."""
        pane, cards, layout = self.pane, self.pane.cards, self.layout
        if self.is_drawn:
            return ""
        if pane.page() is cards or layout is None:
            return f"{cards.heading()}: {cards.text()}"
        shown = "charts" if pane.page() is pane.charts else "a table or a text"
        return f"{layout.node.path} has no picture: its values are shown as {shown}"

    def error(self) -> RefbrowserError:
        """Return the same as an error: that of the read where it was one."""
        picture = self.pane.picture()
        errors = () if picture is None else (*picture.errors.values(), picture.error)
        found = next((error for error in errors if isinstance(error, RefbrowserError)), None)
        return found or RefbrowserError(ErrorKind.USAGE, self.failure())

    def colours(self) -> list[list[int]]:
        """Return the colours that values have, as (red, green, blue); none where values are colours."""
        strip = self.strip()
        return [] if strip is None else strip.colours[:-1, :3].tolist()

    def strip(self) -> ColourStrip | None:
        """Return the colours that tell what values they are; None where there are none."""
        bar = self.pane.bar
        return None if bar.isHidden() else bar.strip

    def flags(self) -> list[tuple[list[int], str]]:
        """Return the colour, RGBA, and the words of each flag; none where values are no flags."""
        return [] if self.pane.flags.isHidden() else self.pane.flags.entries()

    @property
    def note(self) -> str:
        """What else there is to know about the picture."""
        return self.pane.legend.note.text() if self.is_drawn else ""

    @property
    def caption(self) -> str:
        """Where the values come from, and which they are."""
        layout = self.layout
        path = "" if layout is None else layout.node.path
        selection = self.pane.selection_text()
        is_all = not selection.strip(":,")
        return caption_of(self._document, path, "" if is_all else selection, self.held)

    def symbols(self) -> list[str]:
        """Return the symbols of what `flags` returns: none, they are colours alone."""
        return []

    # How it looks

    @property
    def proportions(self) -> float | None:
        """How many times as wide as high it is; None where it fills what room there is."""
        return self.canvas.proportions

    def redraw(self) -> None:
        """Draw everything again."""
        self.pane.redraw()

    def restyle(self, form: FigureForm, words: FigureWords, font: QFont) -> None:
        """Take colours and fonts of the figure, which are in force."""
        pane, canvas = self.pane, self.canvas
        for axis, label in ((canvas.across, words.across), (canvas.upwards, words.upwards)):
            axis.rename(label if form.labels else "")
        self._switch_overlays(form.overlays)
        canvas.setFont(font)
        canvas.message.setFont(font)
        canvas.restyle()
        # The figure draws one frame, whose lines are as wide on all sides.
        canvas.box.setBorder(None)
        for axis in (canvas.across, canvas.upwards):
            axis.set_line("#00000000")
        for item in canvas.scene().items():
            if isinstance(item, SceneItem):
                item.font = font
        pane.redraw()

    def _switch_overlays(self, on: bool) -> None:
        """Draw over the picture what the pane had over it, or nothing."""
        look = self.pane.look()
        if on == self._has_overlays:
            return
        self._has_overlays = on
        if not on:
            self._overlaid = look.options.overlaid
        for name in self._overlaid:
            look.set_overlay(name, on)

    def resize(self, size: QSize, density: float) -> None:
        """Take a size in pixels of the screen, each of which is so many of the figure."""
        self.canvas.density = density
        self.canvas.resize(size)
        self.canvas.settle()
        self.pane.draw()

    @property
    def margins(self) -> tuple[int, int]:
        """How much room is left beside the axes, across and upwards."""
        return self.canvas.margins
