"""What is to be said of a figure or a film that was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import Outcome
from refbrowser.words import counted


@dataclass(frozen=True, slots=True)
class FigureReport:
    """What was drawn.

    Attributes
    ----------
    size
        Width and height, in inches.
    pixels
        Width and height as a picture.
    losses
        What shows no values of its own, in words: chunks that could not be read, missing ones, a sample.
    is_lossy
        Whether values are lost that should be there.
    frames
        Of a film; 0 for a figure.
    failed_frames
        Those of which something could not be read, by their place in the film; they are marked in it.
    target
        The file, or the folder of frames.
    """

    size: tuple[float, float]
    pixels: tuple[int, int]
    title: str = ""
    caption: str = ""
    losses: tuple[str, ...] = ()
    is_lossy: bool = False
    frames: int = 0
    failed_frames: tuple[int, ...] = ()
    target: str = ""

    def lines(self) -> Iterable[str]:
        """Return it as lines of text."""
        width, height = (side * 25.4 for side in self.size)
        what = f"{counted(self.frames, 'frame')} of" if self.frames else f"{width:.4g} by {height:.4g} mm,"
        yield f"{self.target}: {what} {self.pixels[0]} by {self.pixels[1]} pixels"

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "target": self.target,
            "width_mm": round(self.size[0] * 25.4, 4),
            "height_mm": round(self.size[1] * 25.4, 4),
            "pixels": list(self.pixels),
            "title": self.title,
            "caption": self.caption,
            "frames": self.frames,
            "failed_frames": list(self.failed_frames),
            "lost": list(self.losses),
        }

    def exit_code(self) -> int:
        """Return the exit code: 4 where something could not be read."""
        return Outcome.FAILED.exit_code if self.is_lossy else Outcome.OK.exit_code
