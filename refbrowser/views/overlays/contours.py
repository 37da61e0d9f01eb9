"""Lines of equal values over a field: at which values, where they run, and where each is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.views.numbers import log_ticks, nice_numbers, value_text
from refbrowser.views.plot.levels import FARTHEST, Levels

#: About so many lines are drawn where nobody says which; at most so many in any case.
USUAL, LEVELS_MOST = 10, 60
#: Strokes of all lines together: of more, every second row and column is left out, and so on.
STROKES_MOST = 12_000
#: A cell that is looked at is about so wide, in pixels.
CELL = 3.0
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spacing:
    """At which values there are lines, as the user chose it.

    Attributes
    ----------
    values
        These; none where they follow the field.
    every
        At multiples of this; 0 where they follow the field.
    """

    values: tuple[float, ...] = ()
    every: float = 0.0

    @classmethod
    def of(cls, text: str) -> Spacing:
        """Return what a text says: ``0, 5, 20``, or ``every 4``; nothing: what follows the field.

        Raises
        ------
        ValueError
            It says neither.
        """
        words = text.replace(",", " ").replace(";", " ").split()
        is_step = bool(words) and words[0].lower() == "every"
        try:
            numbers = [float(word) for word in words[is_step:]]
        except ValueError:
            raise ValueError("type numbers with commas between them, or every and a number") from None
        if any(not abs(number) <= FARTHEST for number in numbers):
            raise ValueError("a line is at a finite value")
        if len(numbers) > LEVELS_MOST:
            raise ValueError(f"there are at most {LEVELS_MOST} lines")
        if not is_step:
            return cls(tuple(sorted(set(numbers))))
        if len(numbers) != 1 or not numbers[0] > 0:
            raise ValueError("type one number above zero after every")
        return cls(every=numbers[0])

    @property
    def text(self) -> str:
        """The text that says it."""
        if self.every:
            return f"every {self.every:.10g}"
        return ", ".join(f"{value:.10g}" for value in self.values)

    def between(self, levels: Levels, edges: Sequence[float] = ()) -> tuple[float, ...]:
        """Return the values of lines over a field that lies about between levels.

        Parameters
        ----------
        edges
            Of the steps of its colours, where these are drawn in steps: lines run along them.
        """
        if self.values:
            return self.values
        if self.every:
            first, last = np.ceil(levels.low / self.every), np.floor(levels.high / self.every)
            count = max(0, min(int(last - first) + 1, LEVELS_MOST)) if np.isfinite(last - first) else 0
            return tuple(float(first + number) * self.every for number in range(count))
        if edges:
            return tuple(edges)[:LEVELS_MOST]
        if levels.log:
            return tuple(value for value, _text in log_ticks(levels.low, levels.high, USUAL))
        return tuple(nice_numbers(levels.low, levels.high, USUAL)[0])


#: Lines follow the field.
FOLLOWING = Spacing()


@dataclass(frozen=True, slots=True, eq=False)
class Contours:
    """Lines of equal values, in strokes.

    Attributes
    ----------
    values
        The value of each line, rising.
    strokes
        The ends of each stroke: shape (n, 2, 2), (row, column) of its first and its second end.
    lines
        Which of `values` each stroke is of, shape (n,).
    """

    values: tuple[float, ...]
    strokes: _Floats
    lines: npt.NDArray[np.int64]

    @property
    def texts(self) -> list[str]:
        """What each line is called."""
        return [value_text(float(value), 6) for value in self.values]


#: Which two sides of a cell a line joins, by which corners are above it (1 top left, 2 top right, 4 bottom
#: right, 8 bottom left); the sides are 0 top, 1 right, 2 bottom, 3 left. Of 5 and 10 it is one of two ways.
_FIRST = np.array([0, 3, 0, 3, 1, 3, 0, 3, 2, 0, 0, 1, 1, 0, 3, 0])
_SECOND = np.array([0, 0, 1, 1, 2, 0, 2, 2, 3, 2, 1, 2, 3, 1, 0, 0])
#: The two lines through such a cell: where its middle is below, and where it is above and joins the corners.
_SADDLES = {5: (((3, 0), (1, 2)), ((0, 1), (2, 3))), 10: (((0, 1), (2, 3)), ((3, 0), (1, 2)))}


def contours_of(values: _Floats, at: Sequence[float]) -> Contours:
    """Return the lines at which a field has certain values, by the positions of its elements.

    A field is taken as linear along the sides of its cells. There is no line in a cell with a corner that is
    not finite.
    """
    found, lines = [], []
    if min(values.shape) > 1:
        corners = values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]
        least, most = np.minimum.reduce(corners), np.maximum.reduce(corners)
        known = np.isfinite(least) & np.isfinite(most)
        # Comparisons of NaN are false: neither end holds there.
        least, most = np.where(known, least, np.inf), np.where(known, most, -np.inf)
        for number, value in enumerate(at):
            rows, columns = np.nonzero((least < value) & (most >= value))
            strokes = _strokes(values, value, rows, columns)
            found.append(strokes)
            lines.append(np.full(len(strokes), number))
    if not found:
        return Contours(tuple(at), np.zeros((0, 2, 2)), np.zeros(0, np.int64))
    return Contours(tuple(at), np.concatenate(found), np.concatenate(lines))


def _strokes(values: _Floats, value: float, rows: Any, columns: Any) -> _Floats:
    """Return the strokes of one line in the cells that it crosses."""
    corners = np.stack(
        [
            values[rows, columns],
            values[rows, columns + 1],
            values[rows + 1, columns + 1],
            values[rows + 1, columns],
        ]
    )
    away = corners - value
    above = away >= 0
    cases = (above * np.array([1, 2, 4, 8])[:, None]).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # How far along each side, from the corner at which it begins clockwise.
        parts = away / (away - np.roll(away, -1, axis=0))
    places = np.empty((4, len(rows), 2))
    places[0] = np.stack([rows, columns + parts[0]], axis=1)
    places[1] = np.stack([rows + parts[1], columns + 1], axis=1)
    places[2] = np.stack([rows + 1, columns + 1 - parts[2]], axis=1)
    places[3] = np.stack([rows + 1 - parts[3], columns], axis=1)
    each = np.arange(len(rows))
    found = np.stack([places[_FIRST[cases], each], places[_SECOND[cases], each]], axis=1)
    more = []
    is_middle_above = corners.mean(axis=0) >= value
    for case, (apart, joined) in _SADDLES.items():
        for is_above, (first, second) in ((False, apart), (True, joined)):
            cells = each[(cases == case) & (is_middle_above == is_above)]
            found[cells] = np.stack([places[first[0], cells], places[first[1], cells]], axis=1)
            more.append(np.stack([places[second[0], cells], places[second[1], cells]], axis=1))
    return np.concatenate([found, *more])


def thinned_contours(values: _Floats, at: Sequence[float]) -> Contours:
    """Return lines in at most `STROKES_MOST` strokes: else those of every second element, and so on."""
    step = 1
    while True:
        found = contours_of(values[::step, ::step], at)
        if len(found.lines) <= STROKES_MOST or min(values.shape) <= 4 * step:
            break
        step *= 2
    kept = slice(STROKES_MOST)
    return Contours(found.values, found.strokes[kept] * step, found.lines[kept])


# Names of lines

#: A line has a name about this often, in pixels, where it is so long at least; names are so far apart.
_OFTEN, _LONG, _APART = 170.0, 45.0, 46.0
#: The direction of a name is that of its line so far around it, in pixels.
_AROUND = 12.0
_NAMES_MOST = 60


@dataclass(frozen=True, slots=True)
class LineName:
    """Where a line is named.

    Attributes
    ----------
    line
        Which one.
    x, y
        The middle of its name, in pixels.
    angle
        By which it is turned, in degrees clockwise, -90 to 90.
    """

    line: int
    x: float
    y: float
    angle: float


def line_names(strokes: _Floats, lines: npt.NDArray[np.int64], size: tuple[float, float]) -> list[LineName]:
    """Return where lines are named in a view, the longest first.

    Parameters
    ----------
    strokes
        In pixels from the top left, (n, 2, 2): (x, y) of each end.
    lines
        Which line each is of.
    size
        Width and height of the view.
    """
    middles = strokes.mean(axis=1)
    along = strokes[:, 1] - strokes[:, 0]
    lengths = np.hypot(along[:, 0], along[:, 1])
    inside = np.isfinite(middles).all(axis=1) & (lengths > 0)
    for axis in (0, 1):
        inside &= (middles[:, axis] > _APART / 2) & (middles[:, axis] < size[axis] - _APART / 2)
    middles, along, lengths, lines = middles[inside], along[inside], lengths[inside], lines[inside]
    if not len(lines):
        return []
    cells = np.floor(middles / _OFTEN).astype(np.int64)
    keys = (lines * 10_000 + cells[:, 0]) * 10_000 + cells[:, 1]
    _found, which = np.unique(keys, return_inverse=True)
    long = np.bincount(which, lengths)
    names: list[LineName] = []
    for place in np.argsort(-long, kind="stable"):
        if long[place] < _LONG or len(names) >= _NAMES_MOST:
            break
        members = np.flatnonzero(which == place)
        towards = np.abs(middles[members] - (cells[members[0]] + 0.5) * _OFTEN).sum(axis=1)
        chosen = members[int(np.argmin(towards))]
        x, y = middles[chosen].tolist()
        if any(np.hypot(x - other.x, y - other.y) < _APART for other in names):
            continue
        near = members[np.hypot(*(middles[members] - middles[chosen]).T) < _AROUND]
        names.append(LineName(int(lines[chosen]), x, y, _direction(along[near])))
    return names


def under_names(
    strokes: _Floats, names: Sequence[LineName], sizes: Sequence[tuple[float, float]]
) -> npt.NDArray[np.bool_]:
    """Return which strokes, (n, 2, 2) in pixels, lie under names of certain widths and heights."""
    across = (strokes[:, 0, 0] + strokes[:, 1, 0]) / 2
    down = (strokes[:, 0, 1] + strokes[:, 1, 1]) / 2
    found = np.zeros(len(strokes), bool)
    for name, (width, height) in zip(names, sizes, strict=True):
        near = np.flatnonzero(np.abs(across - name.x) < width)
        right, below = across[near] - name.x, down[near] - name.y
        cos, sin = np.cos(np.radians(name.angle)), np.sin(np.radians(name.angle))
        is_along = np.abs(right * cos + below * sin) < width / 2
        found[near[is_along & (np.abs(below * cos - right * sin) < height / 2)]] = True
    return found


def _direction(along: _Floats) -> float:
    """Return the mean direction of strokes, whichever way each runs, in degrees from -90 to 90."""
    angles = 2 * np.arctan2(along[:, 1], along[:, 0])
    weights = np.hypot(along[:, 0], along[:, 1])
    mean = np.arctan2((np.sin(angles) * weights).sum(), (np.cos(angles) * weights).sum()) / 2
    return float(np.degrees(mean))
