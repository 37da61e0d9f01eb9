"""Lines on the Earth: coasts and borders that come with the program, meridians; as they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from refbrowser.bundled import resource
from refbrowser.views.longitudes import wrap_longitudes
from refbrowser.views.maps.layouts import EarthPart
from refbrowser.views.maps.mesh import vectors
from refbrowser.views.numbers import degrees_text

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Extent = tuple[float, float]
#: Steps of the stored numbers in one degree.
_STEPS = 500
#: Parts of a line are no longer than this, in degrees: a parallel is no straight line in most projections.
_LONGEST = 1.0
#: So far from a cut lie the ends on both of its sides, in degrees.
_BESIDE = 1e-6
#: From how many pixels to a degree the finer lines are drawn.
_FINE_FROM = 4.0


@dataclass(frozen=True, eq=False)
class EarthLines:
    """Lines of points.

    Attributes
    ----------
    longitudes, latitudes
        Of all points, in degrees.
    joined
        Whether a point is joined to the next one.
    """

    longitudes: Floats
    latitudes: Floats
    joined: npt.NDArray[np.bool_]

    def cut_at(self, meridian: float) -> EarthLines:
        """Return the same lines, cut where they cross a meridian: with one end on each of its sides."""
        east = (self.longitudes - meridian) % 360.0
        step = np.diff(east)
        crossing = np.flatnonzero((np.abs(step) > 180.0) & self.joined[:-1])
        if not len(crossing):
            return self
        # At the one side the meridian is 0, at the other 360.
        is_eastward = step[crossing] < 0
        before, after = east[crossing], east[crossing + 1]
        length = np.where(is_eastward, 360.0 - before + after, before + 360.0 - after)
        part = np.where(is_eastward, 360.0 - before, before) / np.maximum(length, _BESIDE)
        below, above = self.latitudes[crossing], self.latitudes[crossing + 1]
        latitudes = below + np.clip(part, 0.0, 1.0) * (above - below)
        near, far = meridian - _BESIDE, meridian + _BESIDE
        ends = np.where(is_eastward, near, far), np.where(is_eastward, far, near)
        at = np.repeat(crossing + 1, 2)
        joined = self.joined.copy()
        return EarthLines(
            np.insert(self.longitudes, at, np.stack(ends, 1).ravel()),
            np.insert(self.latitudes, at, np.repeat(latitudes, 2)),
            np.insert(joined, at, np.tile([False, True], len(crossing))),
        )


@cache
def earth_lines(kind: str, *, is_fine: bool) -> EarthLines:
    """Return the coasts or the borders of the Earth, read once.

    Parameters
    ----------
    kind
        ``coasts`` or ``borders``.
    is_fine
        Of the scale 1:50m, else 1:110m.

    Raises
    ------
    RefbrowserError
        They are not installed.
    """
    scale = "50m" if is_fine else "110m"
    with np.load(resource("coastlines.npz")) as packed:
        steps, lengths = packed[f"{kind}_{scale}_steps"], packed[f"{kind}_{scale}_lengths"]
    longitudes, latitudes = np.cumsum(steps, axis=1) / _STEPS
    joined = np.ones(len(longitudes), bool)
    joined[np.cumsum(lengths) - 1] = False
    return _dense(EarthLines(longitudes, latitudes, joined))


def is_fine(degrees: float) -> bool:
    """Whether a view shows the finer lines: so many degrees take one pixel."""
    return degrees * _FINE_FROM < 1.0


def _dense(lines: EarthLines) -> EarthLines:
    """Return lines with points between those that are far apart."""
    across = np.diff(lines.longitudes)
    upwards = np.diff(lines.latitudes)
    # Points on both sides of 180 degrees are near each other.
    parts = np.ceil(np.maximum(np.abs(wrap_longitudes(across)), np.abs(upwards)) / _LONGEST)
    parts = np.append(np.where(lines.joined[:-1] & (np.abs(across) < 180.0), parts, 1.0), 1.0)
    counts = np.maximum(parts, 1.0).astype(np.int64)
    first = np.cumsum(counts) - counts
    place = np.repeat(np.arange(len(counts)), counts)
    share = (np.arange(len(place)) - first[place]) / counts[place]
    following = np.minimum(place + 1, len(counts) - 1)
    last = np.zeros(len(place), bool)
    last[first + counts - 1] = True
    return EarthLines(
        lines.longitudes[place] + share * (lines.longitudes[following] - lines.longitudes[place]),
        lines.latitudes[place] + share * (lines.latitudes[following] - lines.latitudes[place]),
        np.where(last, lines.joined[place], True),
    )


#: Steps of a net of lines, in degrees; the last is that of a view of the whole Earth.
_NET = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
#: A meridian or parallel has so many points.
_NET_POINTS = 361


def net_step(degrees: float) -> float:
    """Return the step of a net with about six lines across a view that is so many degrees wide."""
    return next((step for step in _NET if step * 6.5 >= degrees), _NET[-1])


def net_lines(
    step: float,
    longitudes: tuple[float, float] = (-180.0, 180.0),
    latitudes: tuple[float, float] = (-90.0, 90.0),
) -> EarthLines:
    """Return meridians and parallels of round numbers, in a part of the Earth.

    Parameters
    ----------
    step
        From line to line, in degrees.
    """
    across = _multiples(step, *longitudes)
    upwards = _multiples(step, *latitudes)
    upwards = upwards[np.abs(upwards) < 90.0]
    # Meridians end near the poles, where they would be one black spot.
    end = 90.0 - min(step, 10.0) if step >= 5.0 else 90.0
    along_meridian = np.linspace(max(latitudes[0], -end), min(latitudes[1], end), _NET_POINTS)
    along_parallel = np.linspace(*longitudes, _NET_POINTS)
    east = [np.repeat(across, _NET_POINTS), np.tile(along_parallel, len(upwards))]
    north = [np.tile(along_meridian, len(across)), np.repeat(upwards, _NET_POINTS)]
    joined = np.ones(_NET_POINTS * (len(across) + len(upwards)), bool)
    joined[_NET_POINTS - 1 :: _NET_POINTS] = False
    return EarthLines(np.concatenate(east), np.concatenate(north), joined)


def net_names(step: float, part: EarthPart) -> list[tuple[float, float, str]]:
    """Return where the lines of a net are named, and how: longitude, latitude, text.

    Meridians are named beside the parallel in the middle of a part of the Earth, parallels beside its middle
    meridian.
    """
    east, north = (
        step * (np.floor(sum(ends) / 2 / step) + 0.5) for ends in (part.longitudes, part.latitudes)
    )
    names = [
        (float(each), north, degrees_text(wrap_longitudes(float(each)), step, "E", "W"))
        for each in _multiples(step, *part.longitudes)
    ]
    return names + [
        (east, float(each), degrees_text(float(each), step, "N", "S"))
        for each in _multiples(step, *part.latitudes)
        if abs(each) < 90.0
    ]


def _multiples(step: float, low: float, high: float) -> Floats:
    numbers = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    # Once around the Earth the first is the last.
    return numbers[:-1] if len(numbers) > 1 and numbers[-1] - numbers[0] >= 360.0 else numbers


#: Beyond the view lines are drawn for a part of it, so that their ends are not seen.
_MARGIN = 0.05
#: So many places in the view tell how large a degree is there.
_LOOKED_AT = 5


def seen_lines(
    across: Floats,
    upwards: Floats,
    joined: Bools,
    view: tuple[Extent, Extent],
    pixels: tuple[int, int],
    jump: Extent,
) -> tuple[Floats, Floats, Bools]:
    """Return the points of lines that are seen, and which of them are joined to the next one.

    Parameters
    ----------
    across, upwards
        Positions of points; NaN where they are not seen.
    view, pixels
        What is visible across and upwards, and its size.
    jump
        Points that are farther apart than this lie on both sides of a seam.
    """
    on_screen = []
    beside = np.zeros(max(0, len(across) - 1), bool)
    far = np.zeros_like(beside)
    with np.errstate(invalid="ignore"):
        for places, ends, size, most in zip((across, upwards), view, pixels, jump, strict=True):
            low, high = sorted(ends)
            margin = (high - low) * _MARGIN
            below, above = places < low - margin, places > high + margin
            beside |= (below[:-1] & below[1:]) | (above[:-1] & above[1:])
            far |= np.abs(np.diff(places)) > most
            on_screen.append((places - low) * (max(1, size) / max(high - low, 1e-300)))
    known = np.isfinite(across) & np.isfinite(upwards)
    linked = joined.copy()
    linked[-1:] = False
    linked[:-1] &= known[:-1] & known[1:] & ~beside & ~far
    before = np.concatenate([[False], linked[:-1]])
    keep = linked | before
    with np.errstate(invalid="ignore"):
        # In the same pixel as the one before it, and between two.
        cells = [np.floor(places) for places in on_screen]
    same = np.zeros(len(across), bool)
    same[1:] = (cells[0][1:] == cells[0][:-1]) & (cells[1][1:] == cells[1][:-1])
    keep &= ~(same & before & linked)
    return across[keep], upwards[keep], linked[keep]


def degree_size(longitudes: Floats, latitudes: Floats) -> float:
    """Return how many degrees lie between two neighbouring places, the usual; NaN where none is known.

    Parameters
    ----------
    longitudes, latitudes
        Of some places (first axis) and those beside them (second axis, two long).
    """
    points = vectors(longitudes, latitudes)
    apart = np.degrees(np.linalg.norm(points[:, 0] - points[:, 1], axis=-1))
    apart = apart[np.isfinite(apart)]
    return float(np.median(apart)) if len(apart) else float("nan")


def beside_each_other(view: tuple[Extent, Extent], pixels: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return positions all over a view, each with one that is a pixel away, shape (n, 2)."""
    (left, right), (low, high) = view
    parts = (np.arange(_LOOKED_AT) + 0.5) / _LOOKED_AT
    grid = np.meshgrid(left + parts * (right - left), low + parts * (high - low))
    across, upwards = (positions.ravel() for positions in grid)
    step = (right - left) / max(1, pixels[0])
    return np.stack([across, across + step], 1), np.stack([upwards, upwards], 1)
