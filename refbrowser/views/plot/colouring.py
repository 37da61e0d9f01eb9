"""How elements of a picture become colours: quantities, positions in a table, fewer elements a pixel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.levels import Levels

#: Longer names are not looked through.
_NAME_LENGTH = 300


class Quantity(StrEnum):
    """How the numbers of an array relate to zero."""

    PLAIN = "plain"
    #: Both signs mean something, and zero is the middle: anomalies, components of wind.
    SIGNED = "signed"
    #: The greatest number is next to the least: directions.
    CYCLIC = "cyclic"


_SIGNED = re.compile(
    r"(: (real|imaginary)( ;|$)|anomal|difference|\bbias\b|tendency|vorticity|divergence|increment|residual"
    r"|\b(east|north)ward\b|\b[xy] (wind|velocity|component)|\b[uv] component|velocity component"
    r"|\b(zonal|meridional|upward air|vertical) (wind|velocity)|lagrangian tendency)"
)
#: With the parts of complex numbers, which are named after a colon.
_CYCLIC = re.compile(r"(: phase( ;|$)|\bdirection\b|\bazimuth|\bphase angle\b|wave phase)")
_SPEED = re.compile(r"\b(speed|magnitude|variance|deviation|absolute|count|number)\b")


def quantity_of(node: ArrayNode) -> Quantity:
    """Return the kind of an array's numbers by its standard name, long name and name."""
    names = [attribute_text(node.attributes, "standard_name"), attribute_text(node.attributes, "long_name")]
    text = " ; ".join(name[:_NAME_LENGTH] for name in (*names, node.name))
    text = text.replace("_", " ").replace("-", " ").lower()
    if _SPEED.search(text):
        return Quantity.PLAIN
    if _CYCLIC.search(text):
        return Quantity.CYCLIC
    return Quantity.SIGNED if _SIGNED.search(text) else Quantity.PLAIN


#: Colours of a table; the entry after them is transparent and stands for no value.
COLOURS = 255
NO_VALUE = 255
#: A line of more points than this per pixel is drawn by its extremes.
POINTS_PER_PIXEL = 4
#: A side of an image is drawn with at most twice so many cells.
PIXELS_MOST = 1200
#: Levels less far apart than this are compared in double precision; less than the second, as if so far.
_NEAREST, _LEAST = 1e-30, 1e-300


def colour_indices(numbers: npt.NDArray[Any], levels: Levels) -> npt.NDArray[np.uint8]:
    """Return the position of each number in a colour table: 0 to 254 between the levels, 255 for NaN.

    Numbers outside the levels take the colour of the nearer end; on a logarithmic scale those of zero and
    below are outside.
    """
    reach = levels.high - levels.low
    # Levels far apart or near each other are none in single precision.
    fits = numbers.dtype.itemsize <= 4 and _NEAREST < reach < 1 / _NEAREST
    kind = np.float32 if fits else np.float64
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        if levels.log or levels.linear:
            scaled = levels.along(numbers, kind)
            low, high = levels.along(np.array([levels.low, levels.high]), np.float64).tolist()
            scaled -= kind(low)
            scaled *= kind(COLOURS / (high - low))
        else:
            scaled = np.subtract(numbers, levels.low, dtype=kind)
            scaled *= kind(COLOURS / max(reach, _LEAST))
        np.clip(scaled, 0, COLOURS - 1, out=scaled)
        np.copyto(scaled, NO_VALUE, where=np.isnan(scaled))
    return scaled.astype(np.uint8)


def step_places(steps: int) -> npt.NDArray[np.uint8]:
    """Return the position in a colour table of each of so many steps: they have all of its colours."""
    return np.rint(np.linspace(0, COLOURS - 1, steps) if steps > 1 else [(COLOURS - 1) / 2]).astype(np.uint8)


def step_indices(numbers: npt.NDArray[Any], edges: Sequence[float]) -> npt.NDArray[np.uint8]:
    """Return the position of each number in a colour table by the step that it is in, 255 for NaN.

    A number on an edge is of the step above; numbers outside the edges are of the nearest step.
    """
    places = step_places(len(edges) - 1)
    # Before the first inner edge, between two, and behind the last.
    found = places[np.searchsorted(np.asarray(edges[1:-1], np.float64), numbers, "right")]
    found[np.isnan(numbers)] = NO_VALUE
    return found


def decimation(visible: int, pixels: int) -> int:
    """Return of how many cells a picture takes one: a power of two, so that zooming changes it seldom.

    A cell is then about a pixel wide, at most 4/3; on very wide views more, so that drawing stays quick.
    """
    enough = max(1, min(pixels, PIXELS_MOST) * 3 // 4)
    step = 1
    while visible // (step * 2) >= enough:
        step *= 2
    return step


def window(low: float, high: float, size: int, step: int) -> range:
    """Return the cells to draw for a view from `low` to `high`, with half a view more on each side."""
    margin = (high - low) / 2
    block = step * 16
    start = max(0, int((low - margin) // block) * block)
    stop = min(size, (int((high + margin) // block) + 1) * block)
    return range(min(start, size), max(stop, min(start, size)), step)


def extremes(
    x: npt.NDArray[np.float64], y: npt.NDArray[Any], pixels: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Return a line that looks the same on `pixels` columns: the least and greatest of each run of points.

    NaN in a run is passed over, a run of NaN alone stays a gap.
    """
    run = len(y) // max(1, pixels * POINTS_PER_PIXEL // 2)
    if run < 2:
        return x, y
    runs = len(y) // run
    head = y[: runs * run].reshape(runs, run)
    low = np.fmin.reduce(head, axis=1)
    high = np.fmax.reduce(head, axis=1)
    paired = np.stack([low, high], axis=1).ravel()
    places = np.repeat(x[: runs * run : run], 2)
    rest = slice(runs * run, None)
    return np.concatenate([places, x[rest]]), np.concatenate([paired, y[rest]])


def boxes_of(marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the marked cells as boxes (top, bottom, left, right), few of them: shape (n, 4).

    Neighbours in a row make one box, and so do equal rows below each other.
    """
    if not marked.any():
        return np.zeros((0, 4), np.int64)
    changes = np.flatnonzero((marked[1:] != marked[:-1]).any(axis=1)) + 1
    tops = np.concatenate([[0], changes])
    bottoms = np.concatenate([changes, [len(marked)]])
    rows = np.zeros((len(tops), marked.shape[1] + 2), np.int8)
    rows[:, 1:-1] = marked[tops]
    steps = np.diff(rows, axis=1)
    row, left = np.nonzero(steps == 1)
    right = np.nonzero(steps == -1)[1]
    return np.stack([tops[row], bottoms[row], left, right], axis=1)


#: Position of values that no flag names, or of those that the chosen flag does not hold for.
OTHER = 254


class Colouring(Protocol):
    """A value that tells how elements are coloured; equal ones colour alike."""

    def blank(self, rows: int, columns: int) -> npt.NDArray[np.uint8]:
        """Return what `positions` gives of elements without a value."""
        ...

    def positions(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        """Return the position of each element in a table of 256 colours, 255 for no value; or colours."""
        ...


class _ByTable:
    """What colours of a table have in common."""

    __slots__ = ()

    def blank(self, rows: int, columns: int) -> npt.NDArray[np.uint8]:
        """Return positions of no values."""
        return np.full((rows, columns), NO_VALUE, np.uint8)


@dataclass(frozen=True, slots=True)
class LevelColouring(_ByTable):
    """By the place of the number between two levels, or with `edges` by the step that it is in."""

    levels: Levels
    edges: tuple[float, ...] = ()

    def positions(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        """Return positions as `colour_indices` does, or `step_indices`."""
        if self.edges:
            return step_indices(shown.numbers(raw), self.edges)
        return colour_indices(shown.numbers(raw), self.levels)


@dataclass(frozen=True, slots=True)
class FlagColouring(_ByTable):
    """By the number of the flag that holds, or with `chosen` by whether that flag holds alone.

    Numbers of 254 and more begin again at 0.
    """

    chosen: int | None = None

    def positions(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        """Return the flag's number, `OTHER` where none (or another than the chosen one) holds."""
        assert shown.flags is not None
        stored = shown.stored(raw)
        if self.chosen is None:
            numbers = shown.flags.numbers(stored)
            result = np.where(numbers < 0, OTHER, numbers % OTHER).astype(np.uint8)
        else:
            held = shown.flags.flags[self.chosen].holds(stored)
            result = np.where(held, self.chosen % OTHER, OTHER).astype(np.uint8)
        result[shown.packing.missing_mask(raw)] = NO_VALUE
        return result


def flag_shares(raw: npt.NDArray[Any], shown: Interpretation) -> list[float]:
    """Return for each flag in which part of the values (those that are not missing) it holds."""
    assert shown.flags is not None
    there = ~shown.packing.missing_mask(raw)
    count = int(np.count_nonzero(there))
    stored = shown.stored(raw)
    if not count:
        return [0.0] * len(shown.flags.flags)
    if shown.flags.exclusive:
        numbers = shown.flags.numbers(stored)[there]
        counts = np.bincount(numbers[numbers >= 0], minlength=len(shown.flags.flags))
        return [float(n) / count for n in counts]
    return [float(np.count_nonzero(flag.holds(stored) & there)) / count for flag in shown.flags.flags]
