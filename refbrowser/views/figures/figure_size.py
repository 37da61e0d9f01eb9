"""How large a figure is: in millimetres, inches or pixels, and how many of these make an inch."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS

#: Units of a size, and how many of each make an inch; pixels are as many as the figure has per inch.
UNITS = {"mm": 25.4, "in": 1.0, "px": None}
#: Sides of a figure, in inches: at least and at most.
LEAST, MOST = 0.5, 120.0
#: Dots per inch.
LEAST_DPI, MOST_DPI = 36, 2400
_SIDE = r"([0-9]{1,5}(?:\.[0-9]{1,4})?)"
_SIZE = re.compile(rf"{_SIDE} *(mm|in|px)?(?: *[x×] *{_SIDE} *(mm|in|px)?)?", re.IGNORECASE)
#: Dots per inch of a size in pixels, where nothing else is said.
PIXELS_DPI = 144


@dataclass(frozen=True, slots=True)
class FigureSize:
    """Width and height.

    Attributes
    ----------
    height
        None: as high as what is drawn wants to be.
    unit
        One of `UNITS`.
    """

    width: float
    height: float | None = None
    unit: str = "mm"

    def inches(self, length: float, dpi: int) -> float:
        """Return a length of this size's unit in inches."""
        return length / (UNITS[self.unit] or dpi)

    def __str__(self) -> str:
        sides = [self.width] if self.height is None else [self.width, self.height]
        return f"{'x'.join(f'{side:g}' for side in sides)}{self.unit}"


#: Sizes by name, each with what suits it: dots per inch, and points of the letters.
NAMED_SIZES = {
    "column": (FigureSize(85.0), 300, 8.0),
    "page": (FigureSize(170.0), 300, 9.0),
    "a4": (FigureSize(297.0, 210.0), 300, 12.0),
    "a4-upright": (FigureSize(210.0, 297.0), 300, 12.0),
    "slide": (FigureSize(1920.0, 1080.0, "px"), 144, 16.0),
}


def parse_size(text: str) -> FigureSize:
    """Return the size that a text says: a name of `NAMED_SIZES`, ``85mm``, ``170x120mm`` or ``1920x1080``.

    Without a unit it is pixels.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it says none.
    """
    named = NAMED_SIZES.get(text.strip().lower())
    if named is not None:
        return named[0]
    match = _SIZE.fullmatch(text.strip())
    units = set() if match is None else {unit.lower() for unit in (match[2], match[4]) if unit}
    if match is None or len(units) > 1:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"{quoted(text)} is not the size of a figure",
            advice=f"give 85mm, 170x120mm, 7x5in, 1920x1080px, or one of {', '.join(NAMED_SIZES)}",
        )
    height = None if match[3] is None else float(match[3])
    return FigureSize(float(match[1]), height, units.pop() if units else "px")


def check_size(width: float, height: float, dpi: int, frames: int = 1) -> None:
    """Make sure that a figure, or each of a film's frames, is not larger than can be drawn.

    Parameters
    ----------
    width, height
        In inches.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: a side is too short or too long. `E_BUDGET`: there are too many pixels.
    """
    if not (LEAST <= width <= MOST and LEAST <= height <= MOST):
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"a figure of {width * 25.4:.4g} by {height * 25.4:.4g} mm cannot be drawn",
            advice=f"each side has {LEAST * 25.4:.3g} to {MOST * 25.4:.0f} mm",
        )
    if not LEAST_DPI <= dpi <= MOST_DPI:
        raise RefbrowserError(ErrorKind.USAGE, f"{dpi} dots per inch are not {LEAST_DPI} to {MOST_DPI}")
    pixels = round(width * dpi) * round(height * dpi)
    if pixels > LIMITS.figure_pixels:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"a picture of {round(width * dpi)} by {round(height * dpi)} pixels is too large",
            advice=f"at most {LIMITS.figure_pixels // 1_000_000} million pixels are drawn: "
            "ask for fewer dots per inch",
        )
    if pixels * frames > LIMITS.film_pixels:
        raise RefbrowserError(
            ErrorKind.BUDGET,
            f"{frames} frames of {round(width * dpi)} by {round(height * dpi)} pixels are too many",
            advice="take fewer frames, or smaller ones",
        )
