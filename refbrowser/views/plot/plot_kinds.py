"""The kinds of plots: one table.

Kinds of other packages come by the entry points of the group `GROUP`, each of which leads to a `PlotKind`;
they are trusted as the packages are that the user installed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from refbrowser.plugins import Plugins, plugins
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.plot_kind import Control, Page, PlotKind, Sought
from refbrowser.views.plot.slicing import SliceState

#: The group of entry points by which other packages add kinds.
GROUP = "refbrowser.plots"

_ROOM = "refbrowser.app.plot.kinds"


def _band_texts(shown: Interpretation, state: SliceState, value: Any) -> str:
    """Return the bands of an element by name, those that are colours first."""
    assert state.bands is not None
    names, first = state.band_names, state.bands.colours
    order = (*first, *(index for index in range(len(names)) if index not in first))
    return ", ".join(f"{names[index]} {shown.text(value[index])}" for index in order)


#: Those of this package.
BUILT_IN = (
    PlotKind(name="values", suits=lambda sought: 1, page=Page.VALUES),
    PlotKind(name="charts", suits=lambda sought: 10 * sought.is_charted, page=Page.CHARTS),
    PlotKind(
        name="line",
        suits=lambda sought: 10 * (sought.is_drawable and sought.axes == 1),
        drawn_by=f"{_ROOM}.line_kind:LineKind",
        controls=frozenset({Control.AXES, Control.LOG}),
    ),
    PlotKind(
        name="image",
        suits=lambda sought: 10 * (sought.is_drawable and sought.axes == 2),
        drawn_by=f"{_ROOM}.image_kind:ImageKind",
        controls=frozenset(Control),
    ),
    PlotKind(
        name="colours",
        suits=lambda sought: 20 * (sought.is_drawable and _has_bands(sought)),
        drawn_by=f"{_ROOM}.image_kind:ColourKind",
        controls=frozenset({Control.AXES, Control.BANDS, Control.PROPORTIONS}),
        text=_band_texts,
    ),
)
_NAMED = {kind.name: kind for kind in BUILT_IN}


def _has_bands(sought: Sought) -> bool:
    return sought.state is not None and sought.axes == 2 and sought.state.bands is not None


@cache
def foreign() -> Plugins[PlotKind]:
    """Return the kinds of other packages; they are looked for once."""
    return plugins(GROUP, PlotKind, _NAMED)


def kinds() -> tuple[PlotKind, ...]:
    """Return all kinds, those of other packages last: once they were looked for, which takes a while."""
    is_known = foreign.cache_info().currsize
    return (*BUILT_IN, *foreign().values) if is_known else BUILT_IN


def best(sought: Sought) -> PlotKind:
    """Return the kind that shows something best."""
    return max(reversed(kinds()), key=lambda kind: _score(kind, sought))


def _score(kind: PlotKind, sought: Sought) -> float:
    try:
        return kind.suits(sought)
    except Exception:
        if kind in BUILT_IN:
            raise
        # It is not ours: it shows nothing.
        return 0
