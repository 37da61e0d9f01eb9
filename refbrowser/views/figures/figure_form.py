"""What a figure looks like, whatever it shows, and what is written in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.views.figures.figure_size import FigureSize, parse_size
from refbrowser.views.words import one_line

#: The grounds on which figures are drawn.
SCHEMES = ("light", "dark")
#: Points of the letters: at least and at most.
LEAST_POINTS, MOST_POINTS = 4.0, 48.0
#: A title and a caption are cut at so many characters.
_LONGEST_TITLE, _LONGEST_CAPTION = 300, 2_000


@dataclass(frozen=True, slots=True)
class FigureForm:
    """What is remembered from one figure to the next.

    Attributes
    ----------
    dpi
        Dots per inch, of what is made of pixels.
    points
        Size of the letters.
    scheme
        One of `SCHEMES`.
    title, caption, labels, bar, overlays, charts
        Whether these are drawn; `labels` are the names of the axes, `charts` those below the picture.
    """

    size: FigureSize = field(default_factory=lambda: FigureSize(170.0))
    dpi: int = 300
    points: float = 9.0
    scheme: str = "light"
    title: bool = True
    caption: bool = True
    labels: bool = True
    bar: bool = True
    overlays: bool = True
    charts: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            name.name: str(self.size) if name.name == "size" else getattr(self, name.name)
            for name in fields(self)
        }

    @classmethod
    def from_json(cls, kept: object) -> FigureForm:
        """Return what was kept; what is of no use in it is left out."""
        form = cls()
        if not isinstance(kept, Mapping):
            return form
        for name in fields(cls):
            value = kept.get(name.name)
            if name.name == "size" and isinstance(value, str):
                try:
                    form = replace(form, size=parse_size(value))
                except RefbrowserError:
                    continue
            elif name.name != "size" and type(value) is type(getattr(form, name.name)):
                changes: dict[str, Any] = {name.name: value}
                form = replace(form, **changes)
        points = min(MOST_POINTS, max(LEAST_POINTS, form.points))
        return replace(form, points=points, scheme=form.scheme if form.scheme in SCHEMES else SCHEMES[0])


@dataclass(frozen=True, slots=True)
class FigureWords:
    """What is written in a figure, each as what it shows says it where None.

    Attributes
    ----------
    across, upwards, bar
        At the axes, and at the bar of colours.
    """

    title: str | None = None
    caption: str | None = None
    across: str | None = None
    upwards: str | None = None
    bar: str | None = None


def title_of(label: str, held: Sequence[str]) -> str:
    """Return the title of a figure: what is shown, and what each index that is held stands for."""
    return one_line(", ".join(filter(None, (label, *held))))[:_LONGEST_TITLE]


def caption_of(document: str, path: str, selection: str, held: Sequence[str]) -> str:
    """Return the caption of a figure: where its values come from, and which they are.

    Parameters
    ----------
    document
        Its name.
    selection
        As ``--select`` takes it.
    held
        What each index that is held stands for.
    """
    which = f"{path}[{selection}]" if selection else path
    return one_line("  ·  ".join(filter(None, (document, which, *held))))[:_LONGEST_CAPTION]
