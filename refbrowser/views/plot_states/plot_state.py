"""All that one plot shows, as a value that JSON holds: array, part, colours, levels, what is in sight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refbrowser.limits import LIMITS
from refbrowser.views.overlays.marks import Marks
from refbrowser.views.plot.levels import Scale
from refbrowser.views.plot_states.json_fields import (
    JsonValue,
    choice_of,
    is_on,
    json_field,
    many_of,
    maybe,
    named,
    numbers_of,
    text_of,
)

#: Positions on a canvas are not farther away than this, nor nearer to each other, in parts of themselves.
_FARTHEST, _NEAREST = 1e30, 1e-12


def _rising(value: Any) -> tuple[float, ...]:
    low, high = numbers_of(2)(value)
    if not low < high or not math.isfinite(high - low):
        raise ValueError("two numbers are expected, the lower one first")
    return low, high


def _box(value: Any) -> tuple[float, ...]:
    box = numbers_of(4)(value)
    if not can_be_seen(box):
        raise ValueError("left, right, bottom and top are expected, and something between them")
    return box


def can_be_seen(box: Sequence[float]) -> bool:
    """Whether a part of a plot (left, right, bottom, top) has a size that a canvas can show."""
    sizes = abs(box[1] - box[0]), abs(box[3] - box[2])
    return max(map(abs, box)) <= _FARTHEST and min(sizes) >= _NEAREST * max(1e-30, *map(abs, box))


def _scale(value: Any) -> dict[str, Any]:
    return Scale.of(value).said()


def _marks(value: Any) -> dict[str, str]:
    return Marks.of(value).said()


def _axes(value: Any) -> tuple[int, ...]:
    is_list = isinstance(value, list) and len(value) <= 2
    if not is_list or not all(type(axis) is int and 0 <= axis < LIMITS.rank for axis in value):
        raise ValueError("numbers of one or two dimensions are expected")
    if len(set(value)) != len(value):
        raise ValueError("numbers of different dimensions are expected")
    return tuple(value)


_name, _path = text_of(200), text_of(LIMITS.url_length)
#: Characters of an expression; names in one member, such as overlays.
_EXPRESSION, _NAMES = 65_536, 64


@dataclass(frozen=True)
class PlotState(JsonValue):
    """What one plot shows; a member that is not given is what a plot begins with.

    Attributes
    ----------
    path
        Of the document, or of the one that `expression` is about.
    expression, documents
        What computes the array, empty where it is stored; and the paths of other documents that it names, by
        their labels.
    node
        Path of the array that is shown.
    part
        The part of its elements that is shown, by its name; empty for all of each.
    units
        Those that its values are shown in; empty for its own.
    selection
        What of the array is in sight, as ``--select`` takes it; empty for what is seen first.
    axes
        The dimensions on the axes by their numbers: ``(y, x)``, ``(x,)`` for a line; none where the selection
        tells them.
    in_colour
        Whether bands are shown together as colours; None for what suits the array.
    decoded
        Whether the CF conventions are applied.
    colour_map, reverse
        Title of the colour map (empty for the one that suits), and whether it runs from its other end.
    log
        Whether levels, or the values of a line, are logarithmic.
    levels, are_levels_set
        The numbers at the ends of the colours, None before there are any; and whether the user holds them
        there. Else they stay as long as they suit what is shown.
    scale
        How colours are laid over the values, where not as usual: the members that `Scale.said` has.
    extremes
        Whether levels are the least and the greatest value, not percentiles.
    histogram
        Whether it is shown how often values occur.
    aspect, map_aspect
        Whether images are shown in their true proportions: those that are no maps, and maps.
    switches
        Names of the switches of kinds of plots that are on.
    size_choice
        What is read of an array that is too large: its middle, a sample, or all; empty: ask.
    is_level_fixed
        Whether the user chose the level of a multiscale image; else the one that fills the view is shown.
    overlays
        What is drawn over pictures (true) or is not (false) as the user chose, by name.
    marks
        Of what lines and arrows over pictures are, where not as usual: the members that `Marks.said` has.
    projection, centre
        Name of the map projection (empty for the one that suits, ``index`` for the grid as it is stored), and
        longitude and latitude of its centre in degrees; None for the usual one.
    regions, region_over, region_measure
        Regions whose statistics are shown, as text; the dimension over all of which they are, empty for the
        slice; and what their chart shows along it, empty for a histogram.
    profile, series
        Whether the values along a line, and those of elements along a dimension, are shown below.
    view
        What is in sight exactly, on the axes of the plot: left, right, bottom, top; None for the whole slice.
    """

    NOUN = "a plot"

    path: str = json_field(_path)
    node: str = json_field(text_of(LIMITS.key_length))
    expression: str = json_field(text_of(_EXPRESSION), "")
    documents: Mapping[str, str] = json_field(named(_path, _NAMES), {}, "with")
    part: str = json_field(text_of(LIMITS.key_length), "")
    units: str = json_field(_name, "")
    selection: str = json_field(text_of(LIMITS.key_length), "")
    axes: tuple[int, ...] = json_field(_axes, ())
    in_colour: bool | None = json_field(maybe(is_on), None)
    decoded: bool = json_field(is_on, True)
    colour_map: str = json_field(_name, "")
    reverse: bool = json_field(is_on, False)
    log: bool = json_field(is_on, False)
    levels: tuple[float, float] | None = json_field(maybe(_rising), None)
    are_levels_set: bool = json_field(is_on, False)
    scale: Mapping[str, Any] = json_field(_scale, {})
    extremes: bool = json_field(is_on, False)
    histogram: bool = json_field(is_on, False)
    aspect: bool = json_field(is_on, False)
    map_aspect: bool = json_field(is_on, True)
    switches: tuple[str, ...] = json_field(many_of(_name, _NAMES), ())
    size_choice: str = json_field(choice_of("", "middle", "sampled", "all"), "")
    is_level_fixed: bool = json_field(is_on, False)
    overlays: Mapping[str, bool] = json_field(named(is_on, _NAMES), {})
    marks: Mapping[str, str] = json_field(_marks, {})
    projection: str = json_field(_name, "")
    centre: tuple[float, float] | None = json_field(maybe(numbers_of(2)), None)
    regions: tuple[str, ...] = json_field(many_of(text_of(_EXPRESSION), _NAMES), ())
    region_over: str = json_field(_name, "")
    region_measure: str = json_field(_name, "")
    profile: bool = json_field(is_on, False)
    series: bool = json_field(is_on, False)
    view: tuple[float, float, float, float] | None = json_field(maybe(_box), None)
