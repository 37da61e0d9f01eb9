"""What can be switched about the look of a plot, and how it is now."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlotOptions:
    """One state of the switches, for the header and the menu.

    Attributes
    ----------
    has_plot
        A line or an image is shown.
    has_image
        It is an image.
    has_levels
        Its colours stand for numbers, not for flags.
    has_coding
        The CF conventions make a difference.
    extremes
        The ends of the colours are the least and the greatest value, not percentiles.
    is_dates
        The numbers are shown as dates.
    """

    has_plot: bool = False
    has_image: bool = False
    has_levels: bool = False
    has_coding: bool = False
    decoded: bool = True
    log: bool = False
    extremes: bool = False
    histogram: bool = False
    aspect: bool = False
    reverse: bool = False
    is_dates: bool = False

    @property
    def can_log(self) -> bool:
        """Whether there is anything that a logarithmic scale could be for."""
        return self.has_plot and not self.is_dates and (self.has_levels or not self.has_image)
