"""The parts of the plot pane, as those that drive them see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from refbrowser.app.plot.canvas import PlotCanvas
from refbrowser.app.plot.colour_bar import ColourBar
from refbrowser.app.plot.header import PlotHeader
from refbrowser.app.plot.legends import FlagLegend, StateLegend
from refbrowser.app.plot.plot_cards import PlotCards
from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.app.plot.values_view import ChartsPage, ValuesView


@dataclass(frozen=True, slots=True)
class PaneParts:
    """Widgets of one pane; `show_page` brings `cards`, `canvas`, `values` or `charts` to the front."""

    header: PlotHeader
    canvas: PlotCanvas
    bar: ColourBar
    flags: FlagLegend
    cards: PlotCards
    values: ValuesView
    charts: ChartsPage
    legend: StateLegend
    sliders: DimensionSliders
    show_page: Callable[[QWidget], None]
