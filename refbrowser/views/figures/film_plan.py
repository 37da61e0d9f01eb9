"""Which frames a film has, and how they follow each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: Frames per second: at least and at most.
LEAST_RATE, MOST_RATE = 0.1, 60.0
#: Suffixes of films, and what stands for a folder of frames.
GIF, MP4, FRAMES = ".gif", ".mp4", ""
_SPAN = re.compile(r"(-?[0-9]{1,18})?:(-?[0-9]{1,18})?(?::([0-9]{1,18}))?")


class FilmLevels(StrEnum):
    """Which levels the colours of the frames have."""

    #: Those of the picture that is shown first, for all.
    SHOWN = "shown"
    #: From the least to the greatest level of any frame, for all.
    ALL = "all"
    #: Each frame its own.
    EACH = "each"


@dataclass(frozen=True, slots=True)
class FilmPlan:
    """The frames of a film.

    Attributes
    ----------
    dimension
        The number of the dimension along which it runs.
    indices
        Along it, one for each frame.
    rate
        Frames per second.
    """

    dimension: int
    indices: range
    rate: float = 10.0
    levels: FilmLevels = FilmLevels.SHOWN

    def __post_init__(self) -> None:
        if not self.indices:
            raise RefbrowserError(ErrorKind.USAGE, "the film has no frames")
        if len(self.indices) > LIMITS.film_frames:
            raise RefbrowserError(
                ErrorKind.BUDGET,
                f"a film of {len(self.indices):,} frames is too long",
                advice=f"at most {LIMITS.film_frames:,} are drawn: take every n-th",
            )
        if not LEAST_RATE <= self.rate <= MOST_RATE:
            message = f"{self.rate:g} frames per second are not {LEAST_RATE:g} to {MOST_RATE:g}"
            raise RefbrowserError(ErrorKind.USAGE, message)

    @property
    def seconds(self) -> float:
        """How long it runs."""
        return len(self.indices) / self.rate


def indices_of(text: str, size: int) -> range:
    """Return the indices that a slice says of a dimension: ``0:100``, ``::5``; all where it is empty.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no slice.
    """
    match = _SPAN.fullmatch(text.strip() or ":")
    if match is None or match[3] == "0":
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is no slice", advice="give START:STOP:STEP")
    return range(size)[slice(*(None if part is None else int(part) for part in match.groups()))]
