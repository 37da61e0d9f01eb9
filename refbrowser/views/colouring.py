"""How the elements of a picture become positions in a table of colours: by levels, or by flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.views.interpretation import Interpretation
from refbrowser.views.levels import Levels
from refbrowser.views.painting import NO_VALUE, colour_indices

#: Position of values that no flag names, or of those that the chosen flag does not hold for.
OTHER = 254


class Colouring(Protocol):
    """A value that tells how elements are coloured; equal ones colour alike."""

    def positions(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        """Return the position of each element in a table of 256 colours, 255 for no value."""
        ...


@dataclass(frozen=True, slots=True)
class LevelColouring:
    """By the place of the number between two levels."""

    levels: Levels

    def positions(self, raw: npt.NDArray[Any], shown: Interpretation) -> npt.NDArray[np.uint8]:
        """Return positions as `colour_indices` does."""
        return colour_indices(shown.numbers(raw), self.levels)


@dataclass(frozen=True, slots=True)
class FlagColouring:
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
