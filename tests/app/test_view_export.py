"""Export view: the dialog, and what the files hold."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from documents_of_values import NAMES, value_document
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.frame.centre import PLOT, TABLE
from refbrowser.app.plot.colour_bar import ColourStrip
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme

MARGIN = theme.LARGE
Settle = Callable[[], None]
Show = Callable[..., None]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def show(window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path) -> Show:
    """Open the document, and show one of its arrays in a tab."""
    window.prepare_plot()
    made = value_document(tmp_path)
    made.add("lost", np.arange(4.0), ["l"], (2,))
    made.refs["lost/1"] = ["nowhere.bin", 0, 16]
    document = opened(made.write())
    settle()

    def shown(name: str, tab: int = PLOT) -> None:
        assert window.hierarchy.select_node(document, f"/{name}")
        window.centre.show_tab(tab)
        settle()
        table = window.centre.table
        assert table is not None
        qtbot.waitUntil(table.is_settled)

    return shown


def write(window: MainWindow, settle: Settle, path: Path) -> Path:
    write_now(window, path)
    settle()
    return path


def write_now(window: MainWindow, path: Path) -> None:
    values = window.groups[ValueCommands]
    view = values.freeze()
    assert view is not None
    values.write(view, str(path))


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


class TestDialog:
    def dialog(self, window: MainWindow, qtbot: QtBot) -> QFileDialog:
        window.activateWindow()
        QTest.keyClick(
            window.hierarchy.tree,
            Qt.Key.Key_E,
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier,
        )
        qtbot.waitUntil(lambda: window.findChild(QFileDialog, "exportViewDialog") is not None)
        found = window.findChild(QFileDialog, "exportViewDialog")
        assert isinstance(found, QFileDialog)
        return found

    def test_offers_values_of_the_plot(
        self, window: MainWindow, show: Show, qtbot: QtBot, tmp_path: Path
    ) -> None:
        show("cube")
        dialog = self.dialog(window, qtbot)
        assert Path(dialog.selectedFiles()[0]) == tmp_path / "cube_0_0.csv"
        dialog.reject()

    def test_offers_values_of_the_table(self, window: MainWindow, show: Show, qtbot: QtBot) -> None:
        show("cube", TABLE)
        dialog = self.dialog(window, qtbot)
        assert Path(dialog.selectedFiles()[0]).name == "cube_0_0.csv"
        dialog.reject()

    def test_another_form_changes_the_suffix(
        self, window: MainWindow, show: Show, qtbot: QtBot, tmp_path: Path
    ) -> None:
        show("cube")
        dialog = self.dialog(window, qtbot)
        dialog.filterSelected.emit("Values for numpy (*.npy)")
        assert Path(dialog.selectedFiles()[0]).name == "cube_0_0.npy"
        dialog.accept()
        # What the dialog does when it is accepted may come after the window is at rest.
        qtbot.waitUntil(lambda: window.status.text().startswith("Written"))
        assert np.load(tmp_path / "cube_0_0.npy").shape == (4, 5)

    def test_a_suffix_that_is_not_known(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path
    ) -> None:
        show("cube")
        path = write(window, settle, tmp_path / "cube.xls")
        assert not path.exists()
        assert "needs one of these suffixes" in window.status.text()
        dialog = window.findChild(QFileDialog, "exportViewDialog")
        assert isinstance(dialog, QFileDialog)
        assert Path(dialog.selectedFiles()[0]) == path, "the name that was typed is kept"
        assert ".pdf" in dialog.labelText(QFileDialog.DialogLabel.FileName)
        dialog.reject()


class TestFrozen:
    """The view goes on after it was asked for: what is written is what was seen then."""

    def test_play_stops_before_the_dialog(
        self, window: MainWindow, show: Show, settle: Settle, qtbot: QtBot, tmp_path: Path
    ) -> None:
        show("cube")
        plot = window.centre.plot
        assert plot is not None
        plot.tools.animation.set_speed(60)
        plot.tools.animation.play(0)
        qtbot.waitSignal(plot.tools.animation.frameShown).wait()
        window.groups[ValueCommands].export_view()
        assert not plot.tools.is_playing
        picture = plot.picture()
        assert picture is not None
        run, level = picture.plan.slice.indices[:2]
        dialog = window.findChild(QFileDialog, "exportViewDialog")
        assert isinstance(dialog, QFileDialog)
        assert Path(dialog.selectedFiles()[0]).name == f"cube_{run}_{level}.csv"
        assert f"run {run}" in dialog.windowTitle()
        dialog.reject()

    @pytest.mark.slow
    def test_what_was_seen_is_written(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path
    ) -> None:
        show("cube")
        values, plot = window.groups[ValueCommands], window.centre.plot
        view, suffixes = values.freeze(), (".csv", ".npy", ".npz", ".png", ".svg")
        assert plot is not None
        assert view is not None
        for suffix in suffixes:
            values.write(view, str(tmp_path / f"first{suffix}"))
            settle()
        plot.set_index(0, 1)
        settle()
        for suffix in suffixes:
            values.write(view, str(tmp_path / f"later{suffix}"))
            write(window, settle, tmp_path / f"now{suffix}")
            first, later, now = (
                without_numbers((tmp_path / f"{name}{suffix}").read_bytes())
                for name in ("first", "later", "now")
            )
            assert first == later
            assert first != now

    @pytest.mark.slow
    def test_a_frame_that_has_not_come_is_not_what_is_seen(
        self, window: MainWindow, show: Show, settle: Settle
    ) -> None:
        show("cube")
        plot = window.centre.plot
        assert plot is not None
        plot.set_index(0, 1)
        view = window.groups[ValueCommands].freeze()
        assert view is not None
        assert view.shown.name == "cube_0_0"
        settle()
        view = window.groups[ValueCommands].freeze()
        assert view is not None
        assert view.shown.name == "cube_1_0"


def without_numbers(content: bytes) -> bytes:
    """Return an SVG without the numbers that Qt gives to its patterns."""
    return re.sub(rb"texpattern_[0-9a-f]+", b"", content)


class TestNames:
    """What is written says of which array and at what it is, inside."""

    def test_in_pictures(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("cube")
        image = QImage(str(write(window, settle, tmp_path / "out.png")))
        assert image.text("Title") == "cube [K]"
        assert image.text("Description") == "/cube   run 0   lev 0"
        root = ET.parse(write(window, settle, tmp_path / "out.svg")).getroot()
        assert [each.text for each in root.iter(f"{SVG}title")] == ["cube [K]"]
        assert [each.text for each in root.iter(f"{SVG}desc")] == ["/cube   run 0   lev 0"]
        assert write(window, settle, tmp_path / "out.pdf").read_bytes().startswith(b"%PDF-")

    def test_in_an_archive(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("cube")
        found = np.load(write(window, settle, tmp_path / "out.npz"))
        assert str(found["selection"]) == "cube [K] at run 0, lev 0"
        assert found["values"].shape == (4, 5)
        assert found["coordinate_lat"].shape == (4,)


class TestValues:
    def test_csv(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("cube")
        found = rows(write(window, settle, tmp_path / "out.csv"))
        held = "cube [K] at run 0, lev 0: "
        assert found[0][:2] == [held + r"lat [degrees_north] \ lon [degrees_east]", "0.0"]
        assert found[2] == ["20.0", "5.5", "5.6", "", "5.8", "5.9"]

    def test_npy_is_what_is_drawn(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path
    ) -> None:
        show("cube")
        found = np.load(write(window, settle, tmp_path / "out.npy"))
        assert window.centre.plot is not None
        picture = window.centre.plot.picture()
        assert picture is not None
        wanted = picture.values[:2] * 0.1 + 5.0
        wanted[1, 2] = np.nan
        np.testing.assert_allclose(found[:2], wanted)
        assert np.isnan(found[2:]).all()

    def test_as_stored(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("cube")
        assert window.centre.plot is not None
        window.centre.plot.set_decoded(False)
        settle()
        found = np.load(write(window, settle, tmp_path / "out.npy"))
        assert found.dtype == np.dtype("i2")
        assert found[1].tolist() == [5, 6, 7, 8, 9]

    def test_texts(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("names")
        assert np.load(write(window, settle, tmp_path / "out.npy")).tolist() == NAMES.tolist()
        assert [row[1] for row in rows(write(window, settle, tmp_path / "out.csv"))[1:]] == NAMES.tolist()

    def test_two_at_once(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("cube")
        write_now(window, tmp_path / "a.csv")
        write_now(window, tmp_path / "b.csv")
        settle()
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()

    def test_a_failed_chunk_leaves_no_file(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path
    ) -> None:
        show("lost")
        before = tmp_path / "out.npy"
        before.write_bytes(b"before")
        write(window, settle, before)
        assert before.read_bytes() == b"before"
        assert window.centre.error_bar.isVisible()


class TestPictures:
    @pytest.mark.slow
    @pytest.mark.parametrize("scheme", [theme.LIGHT, theme.DARK])
    def test_png(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path, scheme: theme.Colors
    ) -> None:
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        theme.apply(application, scheme)
        try:
            show("cube")
            image = QImage(str(write(window, settle, tmp_path / "out.png")))
        finally:
            theme.apply(application, theme.LIGHT)
        assert window.centre.plot is not None
        assert image.width() > 2 * window.centre.plot.canvas.width()
        assert image.pixelColor(1, 1) == QColor(scheme.surface)
        colours = {image.pixel(x, y) for x in range(0, image.width(), 9) for y in range(0, image.height(), 9)}
        assert len(colours) > 20

    @pytest.mark.slow
    @pytest.mark.parametrize("is_map", [True, False])
    def test_colours_are_as_high_as_the_picture(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path, is_map: bool
    ) -> None:
        show("cube")
        plot = window.centre.plot
        assert plot is not None
        plot.look().set_aspect(is_map)
        settle()
        image = QImage(str(write(window, settle, tmp_path / "out.png")))
        box = plot.canvas.box_rect()
        # In the middle of the colours, which lie beside the canvas.
        column = 2 * (MARGIN + plot.canvas.width() + theme.MEDIUM + 10)
        surface = image.pixelColor(1, 1)
        first = next(y for y in range(image.height()) if image.pixelColor(MARGIN * 2 + 3, y) != surface)
        coloured = [y for y in range(image.height()) if image.pixelColor(column, y) != surface]
        strip_of_it = [y for y in coloured if y > first + 40]
        assert (strip_of_it[-1] - strip_of_it[0]) / 2 == pytest.approx(box.height(), abs=2 * 9)
        (canvas, above), (strip, top) = plot.drawn_parts()
        assert canvas is plot.canvas
        assert above + box.top() < 40, "nothing is free above the picture"
        assert isinstance(strip, ColourStrip)
        assert top + strip.handle_at(1) == pytest.approx(above + box.top(), abs=1)
        assert top + strip.handle_at(0) == pytest.approx(above + box.bottom(), abs=2)

    def test_svg_has_texts_and_the_image(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path
    ) -> None:
        show("cube")
        path = write(window, settle, tmp_path / "out.svg")
        assert QSvgRenderer(str(path)).isValid()
        root = ET.parse(path).getroot()
        texts = ["".join(each.itertext()).strip() for each in root.iter(f"{SVG}text")]
        assert "cube [K]" in texts
        assert any("run 0" in text for text in texts)
        assert list(root.iter(f"{SVG}image"))
        # Fields and buttons are no part of a picture.
        assert "Auto" not in texts

    def test_svg_of_the_table(self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path) -> None:
        show("stations", TABLE)
        root = ET.parse(write(window, settle, tmp_path / "out.svg")).getroot()
        texts = ["".join(each.itertext()).strip() for each in root.iter(f"{SVG}text")]
        assert {"id", "name", "lat", "ok", "bb", "−30"} <= set(texts)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["line", "scalar", "names", "flags"])
    def test_every_kind(
        self, window: MainWindow, show: Show, settle: Settle, tmp_path: Path, name: str
    ) -> None:
        show(name)
        image = QImage(str(write(window, settle, tmp_path / "out.png")))
        colours = {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
        assert len(colours) > 2
        assert QSvgRenderer(str(write(window, settle, tmp_path / "out.svg"))).isValid()
