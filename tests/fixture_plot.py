"""A kind of plot of another package, all of it: bars, for arrays that say that they are such.

Tests find it by an entry point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import foreign_packages
import numpy as np
import pytest
from pyqtgraph import BarGraphItem

from refbrowser.app.plot.canvas import LineLayer, View
from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.kinds.line_kind import LineKind
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plot_kind import EXPORTS, Control, Export, PlotKind, Sought, Switch
from refbrowser.views.plot.plot_kinds import GROUP, foreign
from refbrowser.views.plot.slice_files import ShownValues


def suits(sought: Sought) -> float:
    """Score a line of an array that is called bars."""
    is_one = sought.shown.node.attributes.get("plot") == "bars"
    return 30 * (is_one and sought.is_drawable and sought.axes == 1)


def blocks(values: ShownValues) -> Iterator[bytes]:
    """Yield a row of marks for each value."""
    for value in values.values.tolist():
        yield b"#" * int(value) + b"\n"


class BarsKind(LineKind):
    """Draws each value as a bar."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(drawing)
        # It knows numbers and their range; what it would draw is on no canvas.
        self.layer = LineLayer()
        self.item = BarGraphItem(x=[], height=[], width=0.8)
        drawing.canvas.box.addItem(self.item, ignoreBounds=True)

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Show a picture, or take the bars away."""
        super().set_pictures(base, detail)
        if base is None:
            self.item.setOpts(x=[], height=[])

    def draw(self, view: View) -> None:
        """Draw a bar for each value, of its size alone where that is wanted."""
        super().draw(view)
        heights = np.nan_to_num(self.layer.heights)
        if "absolute" in self._drawing.switched:
            heights = np.abs(heights)
        self.item.setOpts(x=np.arange(len(heights)), height=heights)


BARS = PlotKind(
    name="bars",
    suits=suits,
    drawn_by="fixture_plot:BarsKind",
    controls=frozenset({Control.AXES}),
    switches=(Switch("absolute", "|x|", "Heights without their signs"),),
    text=lambda shown, _state, value: f"a bar of {shown.text_with_units(value)}",
    exports=(*EXPORTS, Export(".bars", "Bars (*.bars)", "fixture_plot:blocks")),
)
#: One that cannot tell what it suits, and one whose name is taken.
BROKEN = PlotKind(name="broken", suits=lambda sought: 1 / 0)
TAKEN = PlotKind(name="line", suits=lambda sought: 100)


def found(monkeypatch: pytest.MonkeyPatch, *values: str) -> AbstractContextManager[None]:
    """Let these be what entry points of the group lead to."""
    return foreign_packages.found(monkeypatch, GROUP, foreign, *(values or ("fixture_plot:BARS",)))
