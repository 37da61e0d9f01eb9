"""Three bands as red, green and blue: which ones, and what colours they give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import Coordinate
from refbrowser.views.plot.drawn_slice import DrawnSlice
from refbrowser.views.plot.levels import FARTHEST, Levels
from refbrowser.views.plot.slicing import SliceState

_Floats = npt.NDArray[np.float64]
#: What is left out at both ends of each band at first, and at most, in per cent.
USUAL_CLIP, MOST_CLIP = 2.0, 25.0
#: Indices of a dimension that are offered.
INDICES_MOST = 2_000
#: Wavelengths of red, green and blue, in nanometres, and how far from them a band may be.
_WAVES, _FAR = (660.0, 560.0, 480.0), 60.0
_UNITS = {"nm": 1.0, "nanometer": 1.0, "nanometre": 1.0, "um": 1e3, "micrometer": 1e3, "micrometre": 1e3}
_BANDS = re.compile(
    r"(spectral_?)?(band|channel|chan|wave(length)?|wvl?|lambda|freq(uency)?)s?", re.IGNORECASE
)
#: Names of three arrays: by colours, and by the numbers that sensors have them under.
_NAMED = (
    (r"(^|[^a-z])red([^a-z]|$)", r"(^|[^a-z])green([^a-z]|$)", r"(^|[^a-z])blue([^a-z]|$)"),
    (r"(^|[^a-z0-9])b0?4$", r"(^|[^a-z0-9])b0?3$", r"(^|[^a-z0-9])b0?2$"),
    (r"band_?0?4$", r"band_?0?3$", r"band_?0?2$"),
    (r"^r$", r"^g$", r"^b$"),
)


@dataclass(frozen=True, slots=True)
class Composite:
    """Which three bands.

    Attributes
    ----------
    dimension
        Along which they are indices of the array that is shown; empty: they are arrays on its grid.
    bands
        Indices as text, or paths: of red, green and blue; empty where nobody chose any.
    clip
        How much of the values of each is left out at both ends, in per cent.
    """

    dimension: str = ""
    bands: tuple[str, str, str] = ("", "", "")
    clip: float = USUAL_CLIP

    @classmethod
    def of(cls, said: str) -> Composite:
        """Return what a text says: the clip, the dimension and the bands in lines.

        Raises
        ------
        ValueError
            It says no such thing.
        """
        if not said:
            return cls()
        lines = said.split("\n")
        if len(lines) != 5 or any(len(line) > LIMITS.key_length for line in lines):
            raise ValueError("five lines are expected: clip, dimension, red, green, blue")
        clip = float(lines[0])
        if not 0 <= clip <= MOST_CLIP:
            raise ValueError(f"0 to {MOST_CLIP:g} per cent can be left out")
        return cls(lines[1], (lines[2], lines[3], lines[4]), clip)

    @property
    def text(self) -> str:
        """The text that says it; empty where nobody chose anything."""
        if self == Composite():
            return ""
        return "\n".join((f"{self.clip:g}", self.dimension, *self.bands))

    def holds(self, drawn: DrawnSlice) -> bool:
        """Whether its bands are there."""
        if not all(self.bands):
            return False
        if not self.dimension:
            paths = {drawn.shown.node.path, *(array.path for array in drawn.others)}
            return paths.issuperset(self.bands)
        axis = _axis(drawn.state, self.dimension)
        return axis is not None and all(
            band.isascii() and band.isdecimal() and len(band) < 12 and int(band) < drawn.state.shape[axis]
            for band in self.bands
        )


#: Nobody chose any bands.
USUAL_COMPOSITE = Composite()


def _axis(state: SliceState, dimension: str) -> int | None:
    """Return a dimension that has a slider, by its name."""
    return next((axis for axis in state.sliders if state.names[axis] == dimension), None)


def band_axes(state: SliceState) -> list[int]:
    """Return the dimensions that can have three bands."""
    return [axis for axis in state.sliders if 3 <= state.shape[axis] <= INDICES_MOST]


def proposed(drawn: DrawnSlice, chosen: Composite) -> Composite | None:
    """Return the bands that are drawn: the chosen ones, else the likeliest; None where there are none."""
    if chosen.holds(drawn):
        return chosen
    for axis in band_axes(drawn.state):
        if _are_bands(drawn.coordinates[axis]):
            return replace(chosen, dimension=drawn.state.names[axis], bands=_first(drawn.coordinates[axis]))
    arrays = [array for array in (drawn.shown.node, *drawn.others) if _is_alike(array, drawn.shown.node)]
    for patterns in _NAMED:
        found = [
            next((array.path for array in arrays if re.search(pattern, array.name, re.IGNORECASE)), "")
            for pattern in patterns
        ]
        if all(found):
            return replace(chosen, dimension="", bands=(found[0], found[1], found[2]))
    for axis in band_axes(drawn.state):
        return replace(chosen, dimension=drawn.state.names[axis], bands=_first(drawn.coordinates[axis]))
    if len(arrays) < 3:
        return None
    return replace(chosen, dimension="", bands=(arrays[0].path, arrays[1].path, arrays[2].path))


def _is_alike(array: ArrayNode, shown: ArrayNode) -> bool:
    """Whether an array has the dimensions of another one: coordinates of the grid have fewer."""
    return array.shape == shown.shape and "flag_meanings" not in array.attributes


def _are_bands(coordinate: Coordinate) -> bool:
    return _BANDS.fullmatch(coordinate.name) is not None or coordinate.units.lower() in _UNITS


def _first(coordinate: Coordinate) -> tuple[str, str, str]:
    """Return the indices of red, green and blue: those of their wavelengths, else the first three."""
    scale = _UNITS.get(coordinate.units.lower().rstrip("s"))
    if scale is not None and coordinate.values is not None:
        waves = np.asarray(coordinate.values, np.float64) * scale
        nearest = [int(np.argmin(np.abs(waves - wave))) for wave in _WAVES]
        near = (abs(waves[at] - wave) <= _FAR for at, wave in zip(nearest, _WAVES, strict=True))
        if len(set(nearest)) == 3 and all(near):
            return str(nearest[0]), str(nearest[1]), str(nearest[2])
    return "0", "1", "2"


def band_levels(sample: npt.NDArray[Any], clip: float) -> Levels | None:
    """Return the values of a band that are dark and bright; None where none is finite."""
    known = sample[np.isfinite(sample)]
    if not len(known):
        return None
    low, high = (float(end) for end in np.quantile(known.astype(np.float64), [clip / 100, 1 - clip / 100]))
    low, high = max(low, -FARTHEST), min(high, FARTHEST)
    # One value everywhere is half bright.
    return Levels(low, high) if low < high else Levels(low - max(1.0, abs(low)), low + max(1.0, abs(low)))


def colours_of(bands: Sequence[_Floats], levels: Sequence[Levels]) -> npt.NDArray[np.uint8]:
    """Return the colours of three bands, RGBA of shape (rows, columns, 4).

    They are transparent where one of the bands is missing.
    """
    found = np.full((*bands[0].shape, 4), 255, np.uint8)
    for number, (band, ends) in enumerate(zip(bands, levels, strict=True)):
        with np.errstate(invalid="ignore", over="ignore"):
            part = (band - ends.low) * (255.0 / (ends.high - ends.low))
        found[..., number] = np.rint(np.clip(np.nan_to_num(part, nan=0.0), 0, 255)).astype(np.uint8)
    found[~np.logical_and.reduce([np.isfinite(band) for band in bands])] = 0
    return found
