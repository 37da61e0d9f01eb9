"""Arrows of two components: how long each is in a view, which way it points, and what a length means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.views.numbers import nice_step, value_text

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


def arrow_pieces(
    feet: _Floats, east: _Floats, north: _Floats, u: _Floats, v: _Floats, scale: ArrowScale
) -> tuple[_Floats, npt.NDArray[Any]]:
    """Return the pieces of arrows, and the feet of those that are too short to have any.

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
    pieces
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
    pieces = [np.stack([tails, tips], axis=1)]
    for turn in (np.pi - _OPEN, np.pi + _OPEN):
        cos, sin = np.cos(turn), np.sin(turn)
        back = np.stack([way[:, 0] * cos - way[:, 1] * sin, way[:, 0] * sin + way[:, 1] * cos], axis=1)
        pieces.append(np.stack([tips, tips + back * heads], axis=1))
    return np.concatenate(pieces), dots


def _unit(directions: _Floats) -> _Floats:
    lengths = np.hypot(directions[:, 0], directions[:, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return directions / lengths[:, None]
