"""Figures and films as a function."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, control_of, dataset_of, path_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, native_errors
from refbrowser.loading import load
from refbrowser.words import either

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.figure.figure_report import FigureReport
    from refbrowser.tools.figure.request import FigureRequest

#: Suffixes of the files that a figure is written as.
FIGURES = (".pdf", ".svg", ".png")


@native_errors()
def figure(
    dataset: Dataset | Path,
    array: str,
    target: Path,
    select: str = "",
    *,
    size: str = "",
    dpi: int | None = None,
    points: float | None = None,
    scheme: str = "light",
    title: str | None = None,
    caption: str | None = None,
    labels: bool = True,
    bar: bool = True,
    colour_map: str = "",
    reverse: bool = False,
    levels: tuple[float, float] | None = None,
    log: bool = False,
    extremes: bool = False,
    raw: bool = False,
    projection: str = "",
    overlays: Sequence[str] = (),
    contours: str = "",
    arrows: tuple[str, str] | None = None,
    steps: int = 0,
    centre: float | None = None,
    x: str = "",
    y: str = "",
    along: str = "",
    frames: str = "",
    rate: float = 10.0,
    levels_of: str = "shown",
    force: bool = False,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> FigureReport:
    """Draw an array as the window does, and write it as a figure. Needs Qt; no display.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    array
        Path of the array.
    target
        The file to be made: ``.pdf`` and ``.svg``, whose words are text, or ``.png``. Of a film ``.gif``,
        ``.mp4``, or a folder of pictures.
    select
        What of the array is drawn, as ``--select`` takes it: ``time=2024-03,lat=40:60``. Without it, what the
        window shows first.
    size
        Width, or width and height: ``85mm``, ``170x120mm``, ``7x5in``, ``1920x1080px``, or one of ``column``,
        ``page``, ``a4``, ``a4-upright`` and ``slide``. Without a height it is as high as it needs to be. When
        empty, ``page``, and ``slide`` for a film.
    dpi, points
        Dots per inch of what is made of pixels, and size of the letters; what suits the size when None.
    scheme
        ``light`` or ``dark``.
    title, caption
        What is written over and below it; empty for nothing, when None what the window says.
    labels, bar
        Whether the names of the axes, and the bar of colours, are drawn.
    colour_map, reverse
        As the window calls it; what suits the values when empty. Whether it runs from its other end.
    levels
        Values at the ends of the colours.
    log, extremes
        A logarithmic scale; and colours from the least value to the greatest, not of 2 to 98 %.
    raw
        Values as they are stored, without the CF conventions.
    projection
        The map projection, as the window calls it.
    overlays
        Names of what is drawn over it; what the window draws where none is given.
    contours, arrows
        Values of lines over it, ``0, 5, 20`` or ``every 4``; and paths of the two components of arrows.
    steps, centre
        About how many colours there are, all of the map when 0; and the value in their middle.
    x, y
        The dimensions across and upwards, those that the window takes when empty; of a line `x` alone.
    along
        The dimension along which a film runs; empty for a figure.
    frames, rate
        Of a film: a slice of the indices along its dimension, ``0:100:5``, all when empty; and frames per
        second.
    levels_of
        Of a film: the colours have the levels of the first frame (``shown``), of ``all``, or of ``each``
        frame.
    force
        Replace the target.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total)`.

    Returns
    -------
    FigureReport
        Its size, and `losses`: what of it could not be read, which the figure marks.

    Raises
    ------
    RefbrowserError
        There is no such array, nothing of it can be read, or it cannot be drawn so large; the target is there
        or cannot be written.

    Examples
    --------
    >>> import refbrowser
    >>> report = refbrowser.figure("sea_surface.json", "/ocean/sst", "sst.pdf", size="85mm")
    >>> round(report.size[0] * 25.4)
    85
    """
    from refbrowser.tools.figure.request import FigureRequest

    asked = FigureRequest(
        size=size,
        dpi=dpi,
        points=points,
        scheme=scheme,
        title=title,
        caption=caption,
        labels=labels,
        bar=bar,
        colour_map=colour_map,
        reverse=reverse,
        levels=levels,
        log=log,
        extremes=extremes,
        raw=raw,
        projection=projection,
        overlays=tuple(overlays),
        contours=contours,
        arrows=arrows,
        steps=steps,
        centre=centre,
        x=x,
        y=y,
        along=along,
        frames=frames,
        rate=rate,
        levels_of=levels_of,
    )
    with dataset_of(dataset, allow) as opened:
        return write_figure(
            opened.array(array), select, path_of(target), asked, control_of(progress), force=force
        )


def write_figure(
    array: Array, select: str, target: str, asked: FigureRequest, control: JobControl, *, force: bool
) -> FigureReport:
    """Draw an array, and write that to a file; or a film of it.

    Raises
    ------
    RefbrowserError
        As `figure` says.
    """
    from dataclasses import replace

    from refbrowser.io.files.atomic import write_atomically
    from refbrowser.tools.figure.figure_states import plan_of, state_of

    check_target(target, asked, force=force)
    state = state_of(array, select, asked, control.token)
    what = array.dataset, os.path.basename(array.dataset.path.rstrip("/\\")) or "dataset", state
    if asked.along:
        film = load("refbrowser.tools.figure.window.off_screen:film")
        made: FigureReport = film(*what, plan_of(array, asked), asked.form, asked.words, target, control)
        return made
    draw = load("refbrowser.tools.figure.window.off_screen:draw")
    suffix = os.path.splitext(target)[1].lower()
    data, report = draw(*what, asked.form, asked.words, suffix, control)
    write_atomically(target, [data], cancel=control.token)
    return replace(report, target=target)


def check_target(target: str, asked: FigureRequest, *, force: bool) -> None:
    """Make sure that what is asked can be written, before it is drawn.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: nothing is written so. `E_IO`: it is there.
    NotInstalledError
        What writes it is not installed.
    """
    if asked.along:
        from refbrowser.tools.figure.film_files import check_target as check_film

        check_film(target, force=force)
        return
    suffix, place = os.path.splitext(target)[1].lower(), Place(path=target)
    if suffix not in FIGURES:
        message = f"a figure cannot be written as {suffix or 'a file without a suffix'}"
        advice = f"give {either(FIGURES)}; a film runs along a dimension: --along DIM"
        raise RefbrowserError(ErrorKind.USAGE, message, place, advice)
    if os.path.lexists(target) and not force:
        message = "the target exists already"
        raise TargetExistsError(ErrorKind.IO, message, place, "give --force to replace it")
