"""Arrows of two components: which arrays are such, how long each arrow is, and which way it points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.numbers import nice_step, value_text
from refbrowser.views.plot.coordinates import attribute_text

_Floats = npt.NDArray[np.float64]
#: Arrows are so far apart, in pixels; the longest reach this part of it; more are never drawn.
APART, _REACH, ARROWS_MOST = 26.0, 0.95, 6_000
#: The arrow whose length is told has this place among all, so that a few long ones do not shorten the rest.
_TOLD = 0.95
#: Shorter ones, in pixels, are dots.
_LEAST = 1.0
#: A head is so long beside its arrow, at most so long in pixels, and this far open to each side, in radians.
_HEAD, _HEAD_MOST, _OPEN = 0.35, 6.0, 0.42


@dataclass(frozen=True, slots=True)
class ArrowScale:
    """What a length stands for.

    Attributes
    ----------
    pixels
        Of one unit.
    told
        The round number whose arrow is drawn beside the others.
    """

    pixels: float
    told: float

    @property
    def text(self) -> str:
        """The number that is told."""
        return value_text(self.told, 6)

    @classmethod
    def of(cls, speeds: _Floats, apart: float = APART) -> ArrowScale | None:
        """Return a scale that suits speeds; None where none of them is above zero."""
        known = speeds[np.isfinite(speeds) & (speeds > 0)]
        if not len(known):
            return None
        great = float(np.quantile(known, _TOLD))
        if not 1e-300 < great < 1e300:
            return None
        # At most one and a half times as long as the room between arrows.
        told = nice_step(great, 1, (1, 2, 5, 10))
        return cls(_REACH * apart / great, told if told <= 1.5 * great else told / 2)


def apart(
    places: _Floats, seen_part: Sequence[tuple[float, float]], size: tuple[float, float]
) -> npt.NDArray[np.int64]:
    """Return which of many places have arrows, so that no two stand in one square of the view.

    Parameters
    ----------
    places
        On the plot, (n, 2); those that are not seen have none.
    seen_part
        What is seen of the plot, across and upwards.
    size
        Its width and height in pixels.
    """
    squares, seen = np.zeros((2, len(places)), np.int64), np.ones(len(places), bool)
    for axis in (0, 1):
        low, high = seen_part[axis]
        part = (places[:, axis] - low) / (high - low)
        seen &= (part >= 0) & (part <= 1)
        squares[axis] = np.floor(np.where(seen, part, 0) * size[axis] / APART)
    _first, numbers = np.unique(squares[0] * 100_000 + squares[1] + ~seen * 10**12, return_index=True)
    return np.sort(numbers[seen[numbers]])


def arrow_strokes(
    feet: _Floats, east: _Floats, north: _Floats, u: _Floats, v: _Floats, scale: ArrowScale
) -> tuple[_Floats, npt.NDArray[Any]]:
    """Return the strokes of arrows, and the feet of those that are too short to have any.

    Parameters
    ----------
    feet
        Where the values are, in pixels, (n, 2): the middle of an arrow.
    east, north
        In which direction each component points in the view, (n, 2); their lengths do not matter.
    u, v
        The components, (n,).

    Returns
    -------
    strokes
        Shafts and both sides of each head, (k, 2, 2).
    dots
        Places of those that are too short, (m, 2).
    """
    speeds = np.hypot(u, v)
    directions = u[:, None] * _unit(east) + v[:, None] * _unit(north)
    known = np.isfinite(feet).all(axis=1) & np.isfinite(directions).all(axis=1)
    feet, directions, speeds = feet[known], directions[known], speeds[known]
    lengths = speeds * scale.pixels
    is_dot = lengths < _LEAST
    dots, feet, lengths = feet[is_dot], feet[~is_dot], lengths[~is_dot]
    # Where the axes are not at right angles in the view, the length stays that of the value.
    way = _unit(directions[~is_dot])
    shafts = way * lengths[:, None]
    tails, tips = feet - shafts / 2, feet + shafts / 2
    heads = np.minimum(lengths * _HEAD, _HEAD_MOST)[:, None]
    strokes = [np.stack([tails, tips], axis=1)]
    for turn in (np.pi - _OPEN, np.pi + _OPEN):
        cos, sin = np.cos(turn), np.sin(turn)
        back = np.stack([way[:, 0] * cos - way[:, 1] * sin, way[:, 0] * sin + way[:, 1] * cos], axis=1)
        strokes.append(np.stack([tips, tips + back * heads], axis=1))
    return np.concatenate(strokes), dots


def _unit(directions: _Floats) -> _Floats:
    lengths = np.hypot(directions[:, 0], directions[:, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return directions / lengths[:, None]


#: Names are looked through so far.
_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Components:
    """Two arrays that are the components of one vector.

    Attributes
    ----------
    across, upwards
        Paths of the component along x or eastwards, and of that along y or northwards.
    on_earth
        They point east and north, not along the axes of the grid.
    """

    across: str
    upwards: str
    on_earth: bool = False


#: Parts of standard names that tell of the first component, and what is in the same place of the other.
_STANDARD = (
    (re.compile(r"(?<![a-z])eastward(?![a-z])"), "northward", True),
    (re.compile(r"(?<![a-z])x(?![a-z])"), "y", False),
)
#: The same of names of arrays: a letter by itself, or at an end, alone or before a number, `wind`, `vel`...
_NAMED = tuple(
    (re.compile(pattern, re.IGNORECASE), {"u": "v", "U": "V", "x": "y", "X": "Y"})
    for pattern in (
        r"^(u)(?=$|[-_\d.]|as$|a$|o$|grd|gos|wnd|wind|vel|ice|flx|comp)",
        r"(?<=[-_])(u)(?=$|[-_\d])",
        r"(?<=[-_a-z])(x)$",
        r"^(x)(?=[-_]|wind|vel)",
        r"(?<=[-_])(x)(?=[-_])",
    )
)


def components_among(arrays: Sequence[ArrayNode]) -> list[Components]:
    """Return which arrays are components of one vector, by their standard names, else by their names."""
    found: dict[tuple[str, str], Components] = {}
    by_standard: dict[tuple[str, tuple[str | None, ...]], ArrayNode] = {}
    by_name: dict[tuple[str, str], ArrayNode] = {}
    for array in arrays:
        standard = attribute_text(array.attributes, "standard_name")[:_NAME_LENGTH]
        by_standard.setdefault((standard, array.dimensions), array)
        by_name.setdefault((array.path.rpartition("/")[0], array.name), array)
    for array in arrays:
        standard = attribute_text(array.attributes, "standard_name")[:_NAME_LENGTH]
        for pattern, other, on_earth in _STANDARD:
            if pattern.search(standard):
                key = pattern.sub(other, standard, count=1), array.dimensions
                _take(found, array, by_standard.get(key), on_earth=on_earth)
    for array in arrays:
        for pattern, letters in _NAMED:
            match = pattern.search(array.name[:_NAME_LENGTH])
            if match is not None:
                other_name = f"{array.name[: match.start(1)]}{letters[match[1]]}{array.name[match.end(1) :]}"
                _take(found, array, by_name.get((array.path.rpartition("/")[0], other_name)))
    return list(found.values())


def chosen_components(arrays: Sequence[ArrayNode], chosen: tuple[str, str]) -> Components | None:
    """Return the components that were chosen by their paths, else the likeliest; None where none is."""
    found, paths = components_among(arrays), {array.path for array in arrays}
    if not paths.issuperset(chosen):
        return next(iter(found), None)
    same = (each for each in found if (each.across, each.upwards) == chosen)
    return next(same, Components(*chosen))


def _take(
    found: dict[tuple[str, str], Components],
    one: ArrayNode,
    other: ArrayNode | None,
    *,
    on_earth: bool = False,
) -> None:
    if other is None or other is one or other.shape != one.shape:
        return
    if attribute_text(other.attributes, "units") != attribute_text(one.attributes, "units"):
        return
    if not any(one.path in key or other.path in key for key in found):
        # Called u and v alone, they may be along the axes: of a map these are east and north.
        found[one.path, other.path] = Components(one.path, other.path, on_earth)
