"""What a kind of plot is: what it suits, its controls, what draws it, how it is read out and exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.slicing import SliceState


@dataclass(frozen=True, slots=True)
class Sought:
    """What is to be shown.

    Attributes
    ----------
    shown
        The array, and what its elements mean.
    state
        The slice, whatever the indices at which it is held; None before there is one.
    is_charted
        The user wants charts of nested values, where there is a choice.
    """

    shown: Interpretation
    state: SliceState | None
    is_charted: bool = False

    def is_like(self, other: Sought | None) -> bool:
        """Return whether something else is shown best by the same kind, wherever its slice is held."""
        if other is None or (self.shown, self.is_charted) != (other.shown, other.is_charted):
            return False
        return self.state == other.state or (self.state is not None and self.state.is_parallel(other.state))

    @property
    def is_drawable(self) -> bool:
        """Whether there are numbers along an axis."""
        return not self.is_charted and bool(self.shown.node.shape) and self.shown.is_number

    @property
    def axes(self) -> int:
        """How many axes the slice has; 1 before there is one."""
        return 1 if self.state is None else len(self.state.axes)


class Page(StrEnum):
    """Where a kind is shown."""

    CANVAS = "canvas"
    VALUES = "values"
    CHARTS = "charts"


class Control(StrEnum):
    """What of the header and the menu does something for a kind.

    `LEVELS` and `LOG` of colours do nothing where these stand for flags.
    """

    AXES = "axes"
    BANDS = "bands"
    LEVELS = "levels"
    LOG = "log"
    PROFILE = "profile"
    PROPORTIONS = "proportions"


@dataclass(frozen=True, slots=True)
class Switch:
    """A control of a kind alone: what draws it asks the drawing whether it is on.

    Attributes
    ----------
    name
        Of the setting; the button is ``<name>Button``.
    text
        What stands on the button.
    tip
        What it does.
    """

    name: str
    text: str
    tip: str


@dataclass(frozen=True, slots=True)
class Export:
    """A form in which values of a view are written to a file.

    Attributes
    ----------
    suffix
        Of its files.
    words
        Of the dialog.
    written_by
        What yields the bytes of a file, given `ShownValues`: ``module:function``, loaded with the first file.
    """

    suffix: str
    words: str
    written_by: str


#: What values of every kind can be written as.
EXPORTS = (
    Export(".csv", "Values with coordinates (*.csv)", "refbrowser.views.plot.slice_files:csv_blocks"),
    Export(".npy", "Values for numpy (*.npy)", "refbrowser.views.plot.slice_files:npy_blocks"),
    Export(
        ".npz", "Values with coordinates for numpy (*.npz)", "refbrowser.views.plot.slice_files:npz_blocks"
    ),
)


def plain_text(shown: Interpretation, _state: SliceState, value: Any) -> str:
    """Return an element with its units."""
    return shown.text_with_units(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotKind:
    """One kind of plot.

    Attributes
    ----------
    name
        No two share one.
    suits
        Scores how well it shows something: 0 for not at all. What scores best is shown; of equals, the later.
    page
        Where it is shown.
    drawn_by
        What draws it on the canvas: ``module:class``, a `refbrowser.app.plot.drawing.DrawnKind`.
    controls
        Those of the header that do something for it.
    switches
        Those of it alone.
    text
        Returns one element in words, for the readout: of the meaning, the slice, and the element as stored.
    exports
        What its values can be written as.
    """

    name: str
    suits: Callable[[Sought], float]
    page: Page = Page.CANVAS
    drawn_by: str = ""
    controls: frozenset[Control] = frozenset()
    switches: tuple[Switch, ...] = ()
    text: Callable[[Interpretation, SliceState, Any], str] = plain_text
    exports: tuple[Export, ...] = EXPORTS

    @property
    def is_drawn(self) -> bool:
        """Whether it is drawn on the canvas."""
        return self.page is Page.CANVAS
