"""What can be asked of a figure, on the command line and in Python."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.option_fields import Item, Kind, documented, one_of, option
from refbrowser.views.figures.figure_form import (
    LEAST_POINTS,
    MOST_POINTS,
    SCHEMES,
    FigureForm,
    FigureWords,
)
from refbrowser.views.figures.figure_size import (
    LEAST_DPI,
    MOST_DPI,
    NAMED_SIZES,
    PIXELS_DPI,
    FigureSize,
    parse_size,
)
from refbrowser.views.figures.film_plan import LEAST_RATE, MOST_RATE, FilmLevels
from refbrowser.views.plot.levels import FARTHEST, STEPS_MOST


def _points(text: str) -> float:
    return _number(text, LEAST_POINTS, MOST_POINTS, "is no size of letters in points")


def _rate(text: str) -> float:
    return _number(text, LEAST_RATE, MOST_RATE, "is no number of frames per second")


def _number(text: str, least: float, most: float, refusal: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} {refusal}: {least:g} to {most:g}")
    return number


def _levels(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        levels = float(low), float(high)
    except ValueError:
        levels = 0.0, 0.0
    if not levels[0] < levels[1] or not abs(levels[0]) < 1e300 or not abs(levels[1]) < 1e300:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} are no levels", advice="give LOW:HIGH")
    return levels


def _centre(text: str) -> float:
    return _number(text, -FARTHEST, FARTHEST, "is no value")


def _components(text: str) -> tuple[str, str]:
    u, _, v = (part.strip() for part in text.partition(","))
    if not u or not v:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} are no two arrays", advice="give U,V")
    return u, v


@documented
@dataclass(frozen=True, slots=True)
class FigureRequest:
    """How a figure looks."""

    size: str = field(
        default="",
        metadata=option(
            "--size SIZE",
            "85mm, 170x120mm, 7x5in, 1920x1080px; column, page, a4, a4-upright or slide; "
            "without a height it is as high as it needs to be; page without it, slide for a film",
            about="Width, or width and height: ``85mm``, ``170x120mm``, ``7x5in``, ``1920x1080px``, or one "
            "of ``column``, ``page``, ``a4``, ``a4-upright`` and ``slide``.",
        ),
    )
    dpi: int | None = field(
        default=None,
        metadata=option(
            "--dpi N",
            "dots per inch of what is made of pixels",
            kind=Kind.NUMBER,
            limits=(LEAST_DPI, MOST_DPI),
        ),
    )
    points: float | None = field(
        default=None, metadata=option("--font-size POINTS", "size of the letters, in points", parse=_points)
    )
    scheme: str = field(
        default=SCHEMES[0],
        metadata=option(
            "--ground GROUND",
            "light or dark",
            kind=Kind.CHOICE,
            items=tuple(Item(scheme, scheme.capitalize()) for scheme in SCHEMES),
            parse=one_of("ground", SCHEMES),
        ),
    )
    title: str | None = field(
        default=None,
        metadata=option(
            "--title TEXT", "write this over it; '' for nothing", about="The title; empty for none."
        ),
    )
    caption: str | None = field(
        default=None,
        metadata=option(
            "--caption TEXT", "write this below it; '' for nothing", about="The caption; empty for none."
        ),
    )
    labels: bool = field(
        default=True,
        metadata=option("--no-labels", "leave out the names of the axes", kind=Kind.TICK, means=False),
    )
    bar: bool = field(
        default=True,
        metadata=option("--no-bar", "leave out the bar of colours", kind=Kind.TICK, means=False),
    )
    colour_map: str = field(
        default="", metadata=option("--colour-map NAME", "the colours, as the window calls them: Viridis")
    )
    reverse: bool = field(
        default=False,
        metadata=option(
            "--reverse", "run through the colours from their other end", kind=Kind.TICK, means=True
        ),
    )
    levels: tuple[float, float] | None = field(
        default=None, metadata=option("--levels LOW:HIGH", "values at the ends of the colours", parse=_levels)
    )
    log: bool = field(
        default=False,
        metadata=option("--log", "a logarithmic scale", kind=Kind.TICK, means=True),
    )
    extremes: bool = field(
        default=False,
        metadata=option(
            "--extremes",
            "colours from the least value to the greatest, not of 2 to 98 %",
            kind=Kind.TICK,
            means=True,
        ),
    )
    raw: bool = field(
        default=False,
        metadata=option("--raw", "values as they are stored, without CF", kind=Kind.TICK, means=True),
    )
    projection: str = field(
        default="", metadata=option("--projection NAME", "the map projection, as the window calls it")
    )
    overlays: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--overlay NAME", "draw this over it: coastlines, contours (repeatable)", kind=Kind.TEXTS
        ),
    )
    contours: str = field(
        default="",
        metadata=option(
            "--contours VALUES",
            "draw lines of equal values over it: '0,5,20', or 'every 4'",
            about="Values of lines over it, ``0, 5, 20`` or ``every 4``; round ones where it is empty and "
            "contours are drawn.",
        ),
    )
    arrows: tuple[str, str] | None = field(
        default=None,
        metadata=option(
            "--arrows U,V", "draw arrows of these two components over it: /u,/v", parse=_components
        ),
    )
    steps: int = field(
        default=0,
        metadata=option("--steps N", "about so many colours", kind=Kind.NUMBER, limits=(2, STEPS_MOST)),
    )
    centre: float | None = field(
        default=None,
        metadata=option("--centre VALUE", "this value in the middle of the colours", parse=_centre),
    )
    x: str = field(
        default="", metadata=option("--x DIM", "this dimension across; without --y a line along it")
    )
    y: str = field(default="", metadata=option("--y DIM", "this dimension upwards"))

    along: str = field(
        default="",
        metadata=option(
            "--along DIM",
            "a film along this dimension: .gif, .mp4, or a folder of pictures",
            about="The dimension along which a film runs; none for a figure.",
        ),
    )
    frames: str = field(
        default="",
        metadata=option(
            "--frames START:STOP:STEP",
            "of a film: these indices along its dimension; all without it",
            about="Of a film: a slice of the indices along its dimension, ``0:100:5``; all when empty.",
        ),
    )
    rate: float = field(
        default=10.0, metadata=option("--rate N", "of a film: frames per second", parse=_rate)
    )
    levels_of: str = field(
        default=FilmLevels.SHOWN.value,
        metadata=option(
            "--levels-of WHICH",
            "of a film: the levels of its first frame (shown), of all frames, or of each its own",
            kind=Kind.CHOICE,
            items=tuple(Item(levels.value, levels.value) for levels in FilmLevels),
            parse=one_of("choice of levels", tuple(levels.value for levels in FilmLevels)),
            about="Of a film: the colours have the levels of the first frame (``shown``), of ``all``, or of "
            "``each`` frame.",
        ),
    )

    @property
    def form(self) -> FigureForm:
        """What it looks like.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the size is none.
        """
        name = self.size.strip().lower() or ("slide" if self.along else "page")
        size: FigureSize = parse_size(name)
        usual = FigureForm()
        dpi = PIXELS_DPI if size.unit == "px" else usual.dpi
        named = NAMED_SIZES.get(name, (size, dpi, usual.points))
        return FigureForm(
            size=size,
            dpi=self.dpi or named[1],
            points=self.points or named[2],
            scheme=self.scheme,
            title=self.title != "",
            caption=self.caption != "",
            labels=self.labels,
            bar=self.bar,
        )

    @property
    def words(self) -> FigureWords:
        """What is written in it."""
        return FigureWords(title=self.title, caption=self.caption)
