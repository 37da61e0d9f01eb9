"""Which colours are used: a map with its levels, or the colours of flags."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from refbrowser.app.plot.colour_maps import DEFAULT_MAP, MAPS, Table, flag_table, table
from refbrowser.app.widgets import theme
from refbrowser.views.plot.colouring import Colouring, FlagColouring, LevelColouring
from refbrowser.views.plot.levels import LevelKeeper, Levels


class Palette:
    """The colours of one plot: what the user chose of them, and the levels that they are kept at."""

    def __init__(self) -> None:
        self.keeper = LevelKeeper()
        self.map_title = DEFAULT_MAP
        self.reverse = False
        #: Whether values are named by flags, which then have the colours.
        self.by_flags = False
        #: The number of the only flag that is coloured, None for all.
        self.chosen_flag: int | None = None

    def forget(self) -> None:
        """Begin anew with another variable."""
        self.keeper.forget()
        self.chosen_flag = None

    @property
    def is_diverging(self) -> bool:
        """Whether the colour map has a middle, which stands for zero."""
        return MAPS[self.map_title].diverging

    def colouring(self) -> Colouring | None:
        """Return how elements are coloured; None before there is any."""
        if self.by_flags:
            return FlagColouring(self.chosen_flag)
        return None if self.keeper.levels is None else LevelColouring(self.keeper.levels)

    def table(self) -> Table:
        """Return the colours; the same object for the same ones."""
        if self.by_flags:
            return flag_table(theme.colors().surface)
        return table(self.map_title, self.reverse)

    def take(self, numbers: npt.NDArray[Any], complete: bool) -> None:
        """Look at numbers that have come, for levels."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.take(numbers, complete)

    def auto(self, numbers: npt.NDArray[Any]) -> None:
        """Take the levels from these numbers."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.auto(numbers)

    def set_log(self, log: bool, numbers: npt.NDArray[Any]) -> None:
        """Use logarithmic levels, or linear ones."""
        self.keeper.symmetric = self.is_diverging
        self.keeper.set_log(log, numbers)

    def set_levels(self, levels: Levels) -> None:
        """Hold the levels that the user set."""
        self.keeper.set_by_user(levels)
