"""The sheets of figures and films: what they show, what they write, and what they leave."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLabel, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.cli.program import main
from refbrowser.tools.figure import film_files
from refbrowser.tools.figure.window import film_job
from refbrowser.tools.figure.window.figure_sheet import FigureSheet
from refbrowser.tools.figure.window.film_sheet import FilmSheet

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def plotted(window: MainWindow, opened: Open, settle: Settle, document: Callable[..., str]) -> MainWindow:
    """The window with a plot of the first of three slices."""
    shown = opened(document(np.arange(72, dtype="<f4").reshape(3, 4, 6)))
    settle()
    window.hierarchy.select_node(shown, "/t")
    settle()
    return window


def figure_sheet(window: MainWindow, qtbot: QtBot) -> FigureSheet:
    window.actions_["export_figure"].trigger()
    sheet = window.findChild(FigureSheet)
    assert sheet is not None
    qtbot.waitUntil(lambda: sheet.drawing is not None)
    return sheet


def field(sheet: FigureSheet, name: str) -> QLineEdit:
    found = sheet.findChild(QLineEdit, name)
    assert found is not None
    return found


@pytest.mark.slow
def test_the_sheet_shows_what_it_writes(
    plotted: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    sheet = figure_sheet(plotted, qtbot)
    assert field(sheet, "figure_title").text() == "Temperature [K], time 0"
    assert field(sheet, "figure_caption").text() == "made.json  ·  /t[0,:,:]  ·  time 0"
    title = field(sheet, "figure_title")
    title.setText("Mine")
    title.textEdited.emit("Mine")
    qtbot.waitUntil(lambda: sheet.drawing is not None and sheet.drawing.title == "Mine")
    sizes = sheet.findChild(QComboBox, "figureNamedSize")
    assert sizes is not None
    sizes.setCurrentIndex(sizes.findData("column"))
    sizes.activated.emit(sizes.currentIndex())
    facts = sheet.findChild(QLabel, "figureFacts")
    assert facts is not None
    qtbot.waitUntil(lambda: facts.text().startswith("85 ×"))
    preview = sheet._preview.image
    assert preview is not None
    target = tmp_path / "f.png"
    sheet.write(str(target))
    settle()
    with Image.open(target) as written:
        assert written.size[0] == round(85 / 25.4 * 300)
        assert written.size[1] / written.size[0] == pytest.approx(
            preview.height() / preview.width(), abs=0.01
        )
        assert written.info["Title"] == "Mine"
        assert written.info["dpi"][0] == pytest.approx(300, abs=1)


@pytest.mark.slow
def test_the_command_line_draws_the_same(
    plotted: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    plot = plotted.centre.plot
    assert plot is not None
    plot.set_index(0, 2)
    settle()
    sheet = figure_sheet(plotted, qtbot)
    sheet.write(str(tmp_path / "window.png"))
    settle()
    command = ["figure", str(tmp_path / "made.json"), "/t", "--select", "2", "-o", str(tmp_path / "line.png")]
    assert main(command) == 0
    with Image.open(tmp_path / "window.png") as window, Image.open(tmp_path / "line.png") as line:
        assert window.size == line.size
        assert window.tobytes() == line.tobytes()


@pytest.mark.slow
def test_it_is_light_in_a_dark_window_and_choices_stay(
    plotted: MainWindow, settle: Settle, qtbot: QtBot, qapp: object
) -> None:
    dark = theme.DARK
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theme, "LIGHT", theme.LIGHT)
        sheet = figure_sheet(plotted, qtbot)
        assert sheet.drawing is not None
        corner = sheet.drawing.image().pixelColor(1, 1)
        assert corner == QColor(theme.LIGHT.surface)
    ground, points = (
        sheet.findChild(QComboBox, "figureScheme"),
        sheet.findChild(QDoubleSpinBox, "figurePoints"),
    )
    caption = sheet.findChild(QCheckBox, "figureShow_caption")
    assert ground is not None
    assert points is not None
    assert caption is not None
    ground.setCurrentIndex(ground.findData("dark"))
    ground.activated.emit(ground.currentIndex())
    points.setValue(7.5)
    caption.setChecked(False)

    def is_dark() -> bool:
        return sheet.drawing is not None and sheet.drawing.image().pixelColor(1, 1) == QColor(dark.surface)

    qtbot.waitUntil(is_dark)
    sheet.reject()
    settle()
    assert theme.colors() in (theme.LIGHT, theme.DARK)
    again = figure_sheet(plotted, qtbot)
    assert again._form.points == 7.5
    assert again._form.scheme == "dark"
    assert not again._form.caption
    again.reject()


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said(plotted: MainWindow, qtbot: QtBot) -> None:
    sheet = figure_sheet(plotted, qtbot)
    dpi, width = sheet.findChild(QSpinBox, "figureDpi"), sheet.findChild(QDoubleSpinBox, "figureWidth")
    assert dpi is not None
    assert width is not None
    dpi.setValue(2400)
    width.setValue(2000)
    export = button(sheet, "figureExportButton")
    qtbot.waitUntil(lambda: not export.isEnabled())
    assert "too large" in sheet._preview.accessibleDescription()
    width.setValue(100)
    qtbot.waitUntil(export.isEnabled)
    sheet.reject()


@pytest.mark.slow
def test_the_clipboard_gets_picture_and_drawing(plotted: MainWindow, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().clear()
    plotted.actions_["copy_figure"].trigger()
    qtbot.waitUntil(lambda: plotted.status.text() == "Figure copied")
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasImage()
    assert b"<svg" in data.data("image/svg+xml").data()
    assert data.data("application/pdf").data().startswith(b"%PDF")


@pytest.fixture
def film_sheet(plotted: MainWindow, qtbot: QtBot) -> FilmSheet:
    plotted.actions_["export_film"].trigger()
    sheet = plotted.findChild(FilmSheet)
    assert sheet is not None
    qtbot.waitUntil(button(sheet, "filmExportButton").isEnabled)
    return sheet


@pytest.mark.slow
def test_a_film_is_made_while_the_window_goes_on(
    plotted: MainWindow, film_sheet: FilmSheet, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    facts = film_sheet.findChild(QLabel, "filmFacts")
    size = film_sheet.findChild(QComboBox, "filmSize")
    assert facts is not None
    assert size is not None
    assert facts.text().startswith("3 frames, 0.3 s")
    size.setCurrentIndex(size.findData("960x540px"))
    target = tmp_path / "film"
    film_sheet.order(str(target))
    plot = plotted.centre.plot
    assert plot is not None
    state = plot.slice_state()
    qtbot.waitUntil(lambda: plotted.status.text().startswith("Written"), timeout=20_000)
    assert sorted(path.name for path in target.iterdir()) == [f"frame_000{n}.png" for n in (1, 2, 3)]
    with Image.open(target / "frame_0001.png") as frame:
        assert frame.size == (960, 540)
    # The plot in the window stays where it is.
    assert plot.slice_state() == state


@pytest.mark.slow
def test_a_film_that_is_cancelled_leaves_nothing(
    plotted: MainWindow, film_sheet: FilmSheet, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, goes_on = threading.Event(), threading.Event()
    original = film_files._followed

    def followed(frames: Iterator[film_files.Frame], *others: object) -> Iterator[film_files.Frame]:
        for frame in original(frames, *others):  # type: ignore[arg-type]
            began.set()
            goes_on.wait(10)
            yield frame

    monkeypatch.setattr(film_files, "_followed", followed)
    target = tmp_path / "film"
    film_sheet.order(str(target))
    qtbot.waitUntil(began.is_set)
    job = plotted.findChild(film_job.FilmJob)
    assert job is not None
    number = next(
        status.number for status in plotted.tasks.statuses() if "Write the film" in status.job.title
    )
    plotted.tasks.cancel(number)
    goes_on.set()
    qtbot.waitUntil(lambda: plotted.findChild(film_job.FilmJob) is None)
    assert [path for path in tmp_path.iterdir() if "film" in path.name] == []


@pytest.mark.slow
def test_a_film_that_needs_more_says_what_to_install(
    film_sheet: FilmSheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    film_sheet.order(str(tmp_path / "film.mp4"))
    facts = film_sheet.findChild(QLabel, "filmFacts")
    assert facts is not None
    assert "install" in facts.text()
    assert film_sheet.isVisible()
    film_sheet.reject()
