"""The colours of one plot."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.app.plot.colours.colour_maps import DEFAULT_MAP, Table, flag_table, map_named, table
from refbrowser.app.widgets import theme
from refbrowser.views.plot.bands import Bands, TrueColouring, white_of
from refbrowser.views.plot.colouring import Colouring, FlagColouring, LevelColouring
from refbrowser.views.plot.levels import LevelKeeper, Scale


class Palette:
    """The colours of one plot: what the user chose of them, and the levels that they are kept at."""

    def __init__(self) -> None:
        self.keeper = LevelKeeper()
        self.map_title = DEFAULT_MAP
        self.reverse = False
        #: Whether values are named by flags, which then have the colours.
        self.by_flags = False
        #: The bands that are colours, and the number that is full intensity, None before any is known.
        self.bands: Bands | None = None
        self.white: float | None = None
        #: The number of the only flag that is coloured, None for all.
        self.chosen_flag: int | None = None

    def forget(self) -> None:
        """Begin anew with another variable."""
        self.keeper.forget()
        self.chosen_flag = self.white = None

    @property
    def is_diverging(self) -> bool:
        """Whether the colour map has a middle, which stands for zero."""
        return map_named(self.map_title).diverging

    def colouring(self) -> Colouring | None:
        """Return how elements are coloured; None before there is any."""
        if self.bands is not None:
            return None if self.white is None else TrueColouring(self.bands, self.white)
        if self.by_flags:
            return FlagColouring(self.chosen_flag)
        keeper = self.keeper
        return None if keeper.levels is None else LevelColouring(keeper.levels, keeper.edges)

    def table(self) -> Table | None:
        """Return the colours, the same object for the same ones; None where the values are colours."""
        if self.bands is not None:
            return None
        if self.by_flags:
            return flag_table(theme.colors().surface)
        return table(self.map_title, self.reverse)

    def take(self, numbers: npt.NDArray[Any], complete: bool) -> None:
        """Look at numbers that have come, for levels."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.take(numbers, complete)

    def take_white(self, numbers: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
        """Look at numbers of bands that have come; white stays as long as none is greater."""
        self.white = max(self.white or 0.0, white_of(numbers, dtype))

    def auto(self, numbers: npt.NDArray[Any]) -> None:
        """Take the levels from these numbers."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.auto(numbers)

    def set_log(self, log: bool, numbers: npt.NDArray[Any]) -> None:
        """Use logarithmic levels, or linear ones."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.set_log(log, numbers)

    def set_scale(self, scale: Scale, numbers: npt.NDArray[Any] | None) -> None:
        """Lay the colours otherwise; levels that the user did not set are taken from numbers."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.set_scale(scale, numbers)
