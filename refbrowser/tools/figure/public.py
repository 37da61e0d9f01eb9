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
    size: str = "page",
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
        The file to be made: ``.pdf`` and ``.svg``, whose words are text, or ``.png``.
    select
        What of the array is drawn, as ``--select`` takes it: ``time=2024-03,lat=40:60``. Without it, what the
        window shows first.
    size
        Width, or width and height: ``85mm``, ``170x120mm``, ``7x5in``, ``1920x1080px``, or one of ``column``,
        ``page``, ``a4``, ``a4-upright`` and ``slide``. Without a height it is as high as it needs to be.
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
    )
    with dataset_of(dataset, allow) as opened:
        return write_figure(
            opened.array(array), select, path_of(target), asked, control_of(progress), force=force
        )


def write_figure(
    array: Array, select: str, target: str, asked: FigureRequest, control: JobControl, *, force: bool
) -> FigureReport:
    """Draw an array, and write that to a file.

    Raises
    ------
    RefbrowserError
        As `figure` says.
    """
    from dataclasses import replace

    from refbrowser.io.files.atomic import write_atomically
    from refbrowser.tools.figure.figure_states import state_of

    suffix = suffix_of(target, force=force)
    form = asked.form
    state = state_of(array, select, asked, control.token)
    draw = load("refbrowser.tools.figure.window.off_screen:draw")
    document = os.path.basename(array.dataset.path.rstrip("/\\")) or "dataset"
    data, report = draw(array.dataset, document, state, form, asked.words, suffix, control)
    write_atomically(target, [data], cancel=control.token)
    return replace(report, target=target)


def suffix_of(target: str, *, force: bool) -> str:
    """Return the suffix of a target, which says what is written.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: nothing is written so. `E_IO`: it is there.
    """
    suffix, place = os.path.splitext(target)[1].lower(), Place(path=target)
    if suffix not in FIGURES:
        message = f"a figure cannot be written as {suffix or 'a file without a suffix'}"
        raise RefbrowserError(ErrorKind.USAGE, message, place, f"give {either(FIGURES)}")
    if os.path.lexists(target) and not force:
        raise TargetExistsError(
            ErrorKind.IO, "the target exists already", place, "give --force to replace it"
        )
    return suffix
