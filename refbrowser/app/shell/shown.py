"""What is on the screen of a window: the slice that plot and table show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.pane import PlotPane
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.picture import Picture
    from refbrowser.views.plot.table import TableLayout


@dataclass(frozen=True, slots=True)
class Shown:
    """A slice of an array of an opened document.

    Attributes
    ----------
    ranges
        Indices along the axes of the slice; those of the picture where it shows a part or every n-th value.
    picture
        What has been read of it for the plot, or None.
    """

    document: OpenDocument
    layout: TableLayout
    ranges: tuple[range, ...]
    picture: Picture | None

    @property
    def name(self) -> str:
        """A name for a file of it, without suffix: the array's, and the indices."""
        state, node = self.layout.slice, self.layout.node
        indices = "_".join(str(state.indices[axis]) for axis in state.sliders)
        whole = f"{node.name or 'array'}_{indices}" if indices else node.name or "array"
        return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in whole)

    @property
    def text(self) -> str:
        """The slice in words: what each index that is held stands for."""
        layout = self.layout
        held = []
        for axis in layout.slice.sliders:
            index = layout.slice.indices[axis]
            held.append(f"{layout.slice.names[axis]} {layout.coordinates[axis].text(index) or index}")
        return "   ".join(held)


def shown_by(plot: PlotPane | None) -> Shown | None:
    """Return what a plot shows, None where it shows no array."""
    return None if plot is None else _shown(plot, plot.array())


def shown_beside(plot: PlotPane | None) -> Shown | None:
    """Return what the table beside a plot shows: whole elements, also where a part of each is plotted."""
    return None if plot is None else _shown(plot, plot.whole())


def _shown(plot: PlotPane, node: ArrayNode | None) -> Shown | None:
    from refbrowser.views.plot.interpretation import Interpretation
    from refbrowser.views.plot.table import TableLayout

    state, source = plot.slice_state(), plot.source()
    if node is None or state is None or source is None or source.dataset is None:
        return None
    shown = Interpretation(node, plot.is_decoded())
    layout = TableLayout(node, state, plot.coordinates(), shown)
    ranges = tuple(range(state.shape[axis]) for axis in state.axes)
    picture = plot.picture()
    same = picture is not None and picture.node.path == node.path and picture.plan.slice.axes == state.axes
    same = same and picture is not None and picture.node.dtype == node.dtype
    if picture is not None and same and shown.is_number:
        ranges = picture.plan.ranges
    return Shown(cast("OpenDocument", source), layout, ranges, picture if same else None)
