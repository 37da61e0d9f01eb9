"""Figures without a window: for the command line and for programs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from refbrowser.app.plot.colours.colour_maps import all_maps
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import theme
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.tools.figure.figure_report import FigureReport
from refbrowser.tools.figure.film_files import write_film
from refbrowser.tools.figure.window.figure_drawing import FigureDrawing, png_bytes
from refbrowser.tools.figure.window.figure_plot import LOST, FigurePlot, FigureSource
from refbrowser.tools.figure.window.film_recorder import FilmRecorder
from refbrowser.views.figures.figure_form import FigureForm, FigureWords
from refbrowser.views.figures.film_plan import FilmPlan
from refbrowser.views.maps.projections import INDEX
from refbrowser.views.plot_states.plot_state import PlotState

#: It is looked whether the user cancelled so often, in milliseconds.
_LOOK = 100
#: Held for as long as the process runs: Qt has one.
_application: list[QApplication] = []


def draw(
    dataset: Dataset,
    document: str,
    state: PlotState,
    form: FigureForm,
    words: FigureWords,
    suffix: str,
    control: JobControl,
) -> tuple[bytes, FigureReport]:
    """Return a figure of what a state tells as a file, and what is to be said of it.

    Parameters
    ----------
    document
        What the caption calls the dataset.
    suffix
        ``.pdf``, ``.svg`` or ``.png``.

    Raises
    ------
    RefbrowserError
        There is no such array, or nothing of it could be read.
    """
    with shown(dataset, document, state, control) as plot:
        if not plot.is_drawn:
            raise plot.error()
        drawing = FigureDrawing([plot], form, words)
        if suffix == ".png":
            data = png_bytes(drawing.png())
        else:
            data = drawing.pdf() if suffix == ".pdf" else drawing.svg()
        pixels, lost, losses = drawing.pixels, plot.pane.lost_coordinates(), drawing.losses()
        return data, FigureReport(
            size=drawing.inches,
            pixels=(pixels.width(), pixels.height()),
            title=drawing.title,
            caption=drawing.caption,
            losses=(*(text for _state, text in losses), *lost),
            is_lossy=bool(lost) or any(state in LOST for state, _text in losses),
        )


def film(
    dataset: Dataset,
    document: str,
    state: PlotState,
    plan: FilmPlan,
    form: FigureForm,
    words: FigureWords,
    target: str,
    control: JobControl,
) -> FigureReport:
    """Write a film of what a state tells, and return what is to be said of it.

    Raises
    ------
    RefbrowserError
        There is no such array, its dimension is on an axis, or the film cannot be written.
    """
    with shown(dataset, document, state, control) as plot:
        layout = plot.layout
        if layout is not None and plan.dimension not in layout.slice.sliders:
            name = layout.slice.names[plan.dimension]
            message = f"the dimension {quoted(name)} is on an axis of the plot: no film runs along it"
            raise RefbrowserError(ErrorKind.USAGE, message)
        recorder = FilmRecorder(plot, plan, form, words, None)
        return record(recorder, plan, plot, target, control)


def record(
    recorder: FilmRecorder, plan: FilmPlan, plot: FigurePlot, target: str, control: JobControl
) -> FigureReport:
    """Have a film drawn here and written by another thread; return when it is there."""
    loop, errors = QEventLoop(), list[BaseException]()
    reports: list[FigureReport] = []
    recorder.began.connect(reports.append)

    def write(own: JobControl) -> None:
        write_film(
            target, recorder.frames(control.token), plan.rate, len(plan.indices), plot.colours(), "", own
        )

    tasks = Tasks()

    def failed(error: BaseException) -> None:
        errors.append(error)
        loop.quit()

    timer = QTimer()
    timer.setInterval(_LOOK)
    timer.timeout.connect(lambda: loop.quit() if control.token.cancelled else None)
    timer.start()
    recorder.start()
    tasks.run("film", f"Write {target}", write, lambda _none: loop.quit(), failed)
    loop.exec()
    timer.stop()
    recorder.stop()
    tasks.close()
    control.check()
    if errors:
        raise errors[0]
    lost = plot.pane.lost_coordinates()
    return replace(
        reports[0],
        target=target,
        losses=(*recorder.losses, *lost),
        failed_frames=tuple(recorder.failed),
        is_lossy=bool(recorder.failed or lost),
    )


@contextmanager
def shown(dataset: Dataset, document: str, state: PlotState, control: JobControl) -> Iterator[FigurePlot]:
    """Have a plot that shows what a state tells; all of it has come."""
    start_qt()
    source = FigureSource(dataset)
    plot = FigurePlot(source, document)
    try:
        plot.show(replace(state, colour_map=_colour_map(state.colour_map)))
        wait(plot, control)
        _check_drawn(plot, state)
        yield plot
    finally:
        plot.close()
        source.close()


def _colour_map(text: str) -> str:
    """Return the title of the colour map that is called so."""
    wanted = text.strip().lower().replace("-", "–")
    titles = list(all_maps())
    found = next((title for title in titles if title.lower().replace("-", "–") == wanted), None)
    if text and found is None:
        message = f"there is no colour map {quoted(text)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(titles)}")
    return found or ""


def _check_drawn(plot: FigurePlot, state: PlotState) -> None:
    """Raise `E_USAGE` where what was asked for by its name cannot be drawn for what is shown."""
    if not plot.is_drawn:
        return
    options = plot.pane.look().options
    lacking = [name for name, on in state.overlays.items() if on and name not in options.overlaid]
    if state.projection not in {"", INDEX, *(row.name for row in options.projections)}:
        lacking.append(f"the projection {state.projection}")
    if lacking:
        message = f"{state.node} cannot be drawn with {', '.join(lacking)}"
        raise RefbrowserError(
            ErrorKind.USAGE, message, advice="it is for what lies on the Earth, or has levels"
        )


def wait(plot: FigurePlot, control: JobControl) -> None:
    """Return when a plot is ready; raise what cancels it."""
    loop, timer = QEventLoop(), QTimer()
    plot.ready.connect(loop.quit)
    timer.setInterval(_LOOK)
    timer.timeout.connect(lambda: loop.quit() if control.token.cancelled else None)
    timer.start()
    loop.exec()
    timer.stop()
    plot.ready.disconnect(loop.quit)
    control.check()


def start_qt() -> None:
    """Have Qt draw off screen, unless the process has windows already.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: this is not the thread in which Qt draws.
    """
    if threading.current_thread() is not threading.main_thread():
        message = "figures are drawn in the main thread alone"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="call it there, or in a process of its own")
    if QGuiApplication.instance() is not None:
        return
    before = os.environ.get("QT_QPA_PLATFORM")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        _application.append(QApplication([*sys.argv[:1], "-style", "Fusion"]))
    finally:
        if before is None:
            del os.environ["QT_QPA_PLATFORM"]
        else:
            os.environ["QT_QPA_PLATFORM"] = before
    theme.choose(_application[0], "light")
