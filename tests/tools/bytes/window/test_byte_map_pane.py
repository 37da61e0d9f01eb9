"""Byte map, plan and costs as a user meets them: the window, a real document, mouse and keyboard."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from event_loop import GAP as LONGEST
from event_loop import GapGuard
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.chunk_map_controls import look_of
from refbrowser.app.panes.quick_list import QuickList
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.io.plan import AUTOMATIC, PlanChoice
from refbrowser.references.edits.edits import ReplaceUrlPrefix
from refbrowser.tools.bytes.report.byte_map import PlaceKind
from refbrowser.tools.bytes.report.file_source import DOCUMENT
from refbrowser.tools.bytes.window.byte_map_pane import ByteMapPane
from refbrowser.tools.bytes.window.byte_map_view import ByteMapView
from refbrowser.tools.bytes.window.commands import ByteCommands
from refbrowser.tools.bytes.window.cost_pane import CostPane
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.views.chunks.chunk_colouring import MapClass
from refbrowser.words import size_text

Key, Modifier = Qt.Key, Qt.KeyboardModifier
HEADER, GAP = 500, 40


def write_document(folder: Path) -> Path:
    """Write ``/temp`` and ``/salt`` of 4 x 2 x 2 chunks in one file, ``/mask`` in another.

    There is a gap before each time, and ``salt/3.1.1`` begins within ``salt/3.1.0``.
    """
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    metadata = {
        "zarr_format": 2, "chunks": [1, 10, 20], "shape": [4, 20, 40], "dtype": "<i2",
        "compressor": {"id": "zlib", "level": 1}, "filters": None, "fill_value": -1, "order": "C",
    }  # fmt: skip
    data = bytearray(HEADER)
    for name in ("temp", "salt"):
        refs[f"{name}/.zarray"] = json.dumps(metadata)
        refs[f"{name}/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["time", "y", "x"]}'
    rng = np.random.default_rng(1)
    for time in range(4):
        data += bytes(GAP if time else 0)
        for name in ("temp", "salt"):
            for coords in np.ndindex(2, 2):
                chunk = zlib.compress(rng.integers(0, 99, 200).astype("<i2").tobytes())
                key = f"{name}/{time}.{coords[0]}.{coords[1]}"
                refs[key] = ["ocean.bin", len(data), len(chunk)]
                data += chunk
    refs["salt/3.1.1"][1] -= 30
    refs["mask/.zarray"] = json.dumps(metadata | {"shape": [10, 20], "chunks": [10, 20], "compressor": None})
    refs["mask/0.0"] = ["mask.bin", 0, 400]
    (folder / "ocean.bin").write_bytes(data + bytes(70))
    (folder / "mask.bin").write_bytes(bytes(400))
    path = folder / "ocean.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


class Shown(SimpleNamespace):
    """A window whose byte map is in front."""

    window: MainWindow
    document: OpenDocument
    pane: ByteMapPane
    cost: CostPane
    settle: Callable[[], None]
    qtbot: QtBot
    refs: dict[str, Any]

    @property
    def view(self) -> ByteMapView:
        return self.pane.view

    def show(self, path: str) -> None:
        """Select an array in the tree."""
        assert self.window.hierarchy.select_node(self.document, path)
        self.wait()

    def wait(self) -> None:
        """Wait until the window and both panes are at rest."""
        self.settle()
        self.qtbot.waitUntil(
            lambda: self.pane.is_settled() and self.cost.is_settled() and not self.window.tasks.busy()
        )

    def place(self, byte: int) -> QPoint:
        """Return where a byte is in the view."""
        return self.view.place_of(byte).toPoint()

    def hover(self, byte: int) -> str:
        """Point at a byte; return what is said of it."""
        self.qtbot.mouseMove(self.view, self.place(byte))
        return self.view.accessibleDescription()

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Modifier.NoModifier) -> str:
        """Press a key in the map; return what is said then."""
        self.qtbot.keyClick(self.view, key, modifier)
        return self.view.accessibleDescription()

    def turn(self, widget: QWidget, place: QPointF, notches: int) -> None:
        """Turn the wheel at a place of a widget."""
        event = QWheelEvent(
            place, widget.mapToGlobal(place), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
            Modifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(widget, event)

    def legend(self) -> list[str]:
        return [entry.text.split("  ")[0] for entry in self.pane.legend._entries]


@pytest.fixture
def shown(
    window: MainWindow, qtbot: QtBot, opened: Open, settle: Callable[[], None], tmp_path: Path
) -> Iterator[Shown]:
    """The window with ``/temp`` plotted and its bytes in front, with room for all parts of the pane."""
    path = write_document(tmp_path)
    document = opened(path)
    docks = window.groups[ByteCommands].docks
    window.actions_["show_byte_map"].trigger()
    qtbot.waitUntil(lambda: docks.bytes is not None)
    assert docks.bytes is not None
    assert docks.cost is not None
    assert window.centre.plot is not None
    window.centre.plot.set_prefetch(False)
    window.resizeDocks([window.docks["byteMapDock"]], [420], Qt.Orientation.Vertical)
    found = Shown(
        window=window,
        document=document,
        pane=docks.bytes,
        cost=docks.cost,
        settle=settle,
        qtbot=qtbot,
        refs=json.loads(path.read_text())["refs"],
    )
    found.show("/temp")
    qtbot.waitUntil(lambda: found.view.isVisible() and found.pane.loader.tried is not None)
    found.wait()
    yield found
    found.wait()


class TestBytes:
    @pytest.mark.slow
    def test_whose_they_are_is_told_in_words(self, shown: Shown) -> None:
        assert shown.pane.file() == "ocean.bin"
        assert "32 ranges" in shown.pane.about.text()
        assert "1 range begins within another (30 B held twice)" in shown.pane.faults.text()
        names = ["requested", "used by the view", "before data", "3 gaps", "behind data"]
        assert shown.legend()[0] == "overlap"
        assert sorted(shown.legend()[1:3]) == ["/salt", "/temp"]
        assert shown.legend()[3:] == names
        start, size = shown.refs["temp/0.0.1"][1:]
        said = shown.hover(start + size // 2)
        assert "temp/0.0.1 (/temp)" in said
        assert "used by the view" in said
        assert "request 1 of" in said
        assert "before the first reference" in shown.hover(HEADER // 2)
        assert "gap" in shown.hover(shown.refs["temp/1.0.0"][1] - GAP // 2)
        assert "used by the view" not in shown.hover(shown.refs["salt/1.0.0"][1] + 5)
        said = shown.hover(shown.refs["salt/3.1.1"][1] + 15)
        assert "overlap of 2" in said
        assert "salt/3.1.0" in said
        assert "salt/3.1.1" in said

    @pytest.mark.slow
    def test_the_view_that_is_plotted_is_marked(self, shown: Shown) -> None:
        used = shown.pane.loader.used
        assert used is not None
        assert used.at(shown.refs["temp/0.1.1"][1]) is not None
        assert used.at(shown.refs["temp/2.0.0"][1]) is None
        shown.window.centre.plot.set_index(0, 2)
        shown.wait()
        used = shown.pane.loader.used
        assert used is not None
        assert used.at(shown.refs["temp/0.1.1"][1]) is None
        assert used.at(shown.refs["temp/2.0.0"][1]) is not None

    @pytest.mark.slow
    def test_it_follows_what_is_plotted_until_a_file_is_chosen(self, shown: Shown) -> None:
        shown.show("/mask")
        assert shown.pane.file() == "mask.bin"
        shown.show("/salt")
        assert shown.pane.file() == "ocean.bin"
        shown.pane.choose_file()
        dialog = shown.window.findChild(QuickList, "byteMapFiles")
        assert dialog is not None
        assert [answer.data for answer in dialog.answers()] == ["ocean.bin", "mask.bin", DOCUMENT]
        assert dialog.answers()[0].detail.startswith("32 ranges")
        shown.qtbot.keyClicks(dialog.field, "mask")
        assert [answer.data for answer in dialog.answers()] == ["mask.bin"]
        shown.qtbot.keyClick(dialog.field, Key.Key_Return)
        shown.wait()
        assert shown.pane.file() == "mask.bin"
        assert not shown.pane.follow.isChecked()
        shown.show("/temp")
        assert shown.pane.file() == "mask.bin"
        shown.pane.follow.click()
        shown.wait()
        assert shown.pane.file() == "ocean.bin"

    @pytest.mark.slow
    def test_an_edit_is_followed(self, shown: Shown) -> None:
        shown.document.apply(ReplaceUrlPrefix("ocean.bin", "moved.bin"))
        shown.wait()
        shown.qtbot.waitUntil(lambda: shown.pane.file() == "moved.bin")
        shown.document.undo()
        shown.wait()
        shown.qtbot.waitUntil(lambda: shown.pane.file() == "ocean.bin")

    @pytest.mark.slow
    def test_values_within_the_document(self, shown: Shown) -> None:
        shown.pane.show_file(DOCUMENT)
        shown.wait()
        assert "metadata" in shown.legend()


class TestPointing:
    @pytest.mark.slow
    def test_a_click_selects_the_key_and_plots_the_chunk(self, shown: Shown) -> None:
        start, size = shown.refs["temp/2.1.0"][1:]
        shown.qtbot.mouseClick(shown.view, Qt.MouseButton.LeftButton, pos=shown.place(start + size // 2))
        shown.wait()
        assert shown.window.centre.references.current_key() == "temp/2.1.0"
        assert shown.window.centre.plot.slice_state().indices[0] == 2
        item = shown.view.cursor_item
        assert item is not None
        assert item.extent == (start, start + size)

    @pytest.mark.slow
    def test_a_click_on_bytes_of_another_array_plots_that(self, shown: Shown) -> None:
        start = shown.refs["salt/1.0.1"][1]
        shown.qtbot.mouseClick(shown.view, Qt.MouseButton.LeftButton, pos=shown.place(start + 9))
        shown.qtbot.waitUntil(lambda: shown.window.navigation.plotted() == "/salt")
        shown.wait()
        assert shown.window.centre.references.current_key() == "salt/1.0.1"

    @pytest.mark.slow
    def test_a_double_click_opens_the_key(self, shown: Shown) -> None:
        start = shown.refs["temp/3.0.0"][1]
        shown.qtbot.mouseDClick(shown.view, Qt.MouseButton.LeftButton, pos=shown.place(start + 9))
        shown.wait()
        centre = shown.window.centre
        assert centre.tabs.tabText(centre.tabs.currentIndex()).replace("&", "") == "References"
        assert centre.references.current_key() == "temp/3.0.0"

    @pytest.mark.slow
    def test_a_key_that_is_selected_elsewhere_gets_the_cursor(self, shown: Shown) -> None:
        shown.window.navigation.select_key("salt/2.1.1")
        shown.wait()
        shown.qtbot.waitUntil(lambda: shown.view.cursor_item is not None)
        assert shown.pane.current_key() == "salt/2.1.1"

    @pytest.mark.slow
    def test_keys_of_the_keyboard(self, shown: Shown) -> None:
        first = shown.refs["temp/0.0.0"]
        assert "before the first reference" in shown.key(Key.Key_Home)
        assert "temp/0.0.0" in shown.key(Key.Key_Right)
        assert shown.view.cursor_byte == first[1]
        assert "temp/0.0.1" in shown.key(Key.Key_Right)
        assert "temp/0.0.0" in shown.key(Key.Key_Left)
        assert "after the last reference" in shown.key(Key.Key_End)
        assert "overlap" in shown.key(Key.Key_O)
        assert shown.view.viewport.is_fitted
        shown.key(Key.Key_Z)
        assert not shown.view.viewport.is_fitted
        assert shown.pane.fit.isVisible()
        shown.key(Key.Key_R)
        assert shown.view.viewport.is_fitted
        before = shown.view.viewport.scale
        shown.key(Key.Key_Plus)
        assert shown.view.viewport.scale < before
        shown.key(Key.Key_Home)
        shown.key(Key.Key_Right)
        shown.key(Key.Key_C, Modifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == "temp/0.0.0"
        assert "temp/1.0.0" in shown.key(Key.Key_N) or "temp" in shown.view.accessibleDescription()
        shown.key(Key.Key_Return)
        shown.wait()
        assert shown.window.centre.references.current_key() == shown.pane.current_key()

    @pytest.mark.slow
    def test_wheel_and_drag(self, shown: Shown) -> None:
        view = shown.view
        place = QPointF(shown.place(3000))
        byte = view.found_at(place)
        for _ in range(6):
            shown.turn(view, place, 1)
        after = view.found_at(place)
        assert byte is not None
        assert after is not None
        assert abs(after[0] - byte[0]) <= 12
        first = view.viewport.first
        shown.qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=place.toPoint())
        shown.qtbot.mouseMove(view, place.toPoint() + QPoint(0, -60))
        shown.qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=place.toPoint() + QPoint(0, -60))
        assert view.viewport.first > first
        assert view.cursor_item is None

    @pytest.mark.slow
    def test_the_overview_leads_to_other_parts_of_the_file(self, shown: Shown) -> None:
        overview, viewport = shown.pane.overview, shown.view.viewport
        assert not overview.isVisible()
        shown.view.zoom_to(shown.pane.loader.shown.at(shown.refs["temp/0.0.0"][1] + 9))
        assert overview.isVisible()
        area = overview._area()

        def at(byte: float) -> QPoint:
            return QPoint(round(area.left() + area.width() * byte / viewport.size), round(area.center().y()))

        start, size = shown.refs["salt/3.0.0"][1:]
        shown.qtbot.mouseClick(overview, Qt.MouseButton.LeftButton, pos=at(start + size // 2))
        assert viewport.first < start + size // 2 < viewport.stop
        assert f"of {size_text(viewport.size)} are seen" in overview.accessibleDescription()
        # It is held where it was pressed: the frame does not jump to the pointer.
        first, middle = viewport.first, overview.frame().center().toPoint()
        shown.qtbot.mousePress(overview, Qt.MouseButton.LeftButton, pos=middle + QPoint(1, 0))
        assert viewport.first == pytest.approx(first, abs=viewport.scale)
        shown.qtbot.mouseMove(overview, middle - QPoint(99, 0))
        shown.qtbot.mouseRelease(overview, Qt.MouseButton.LeftButton, pos=middle - QPoint(99, 0))
        assert first - viewport.first == pytest.approx(100 / area.width() * viewport.size, abs=viewport.scale)
        picture = overview.grab().toImage()
        overlap = shown.refs["salt/3.1.1"][1] + 15
        of = [
            picture.pixelColor(at(byte)).getRgb()[:3]
            for byte in (
                HEADER // 2,
                shown.refs["temp/0.0.0"][1] + 99,
                shown.refs["salt/0.0.0"][1] + 99,
                overlap,
            )
        ]
        assert len(set(of)) == 4
        assert of[3][0] > of[3][1] + 50
        shown.key(Key.Key_R)
        assert not overview.isVisible()

    @pytest.mark.slow
    def test_the_legend_leads_to_places(self, shown: Shown) -> None:
        button = shown.pane.findChild(QToolButton, "byteMapLegendOverlap")
        assert button is not None
        button.click()
        assert shown.view.cursor_item is not None
        assert shown.view.cursor_item.kind is PlaceKind.OVERLAP
        for name, kind in (("Header", PlaceKind.HEADER), ("Gap", PlaceKind.GAP), ("Tail", PlaceKind.TAIL)):
            shown.pane.legend.wanted.emit(
                next(entry.number for entry in shown.pane.legend._entries if entry.name.endswith(name))
            )
            assert shown.view.cursor_item.kind is kind

    @pytest.mark.slow
    def test_the_menu(self, shown: Shown) -> None:
        place = shown.place(shown.refs["temp/0.0.0"][1] + 9)
        where = shown.view.mapToGlobal(place)
        QApplication.sendEvent(
            shown.view, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, where, Modifier.NoModifier)
        )
        menu = shown.pane.findChild(QMenu, "byteMapMenu")
        assert menu is not None
        texts = [action.text().split("\t")[0] for action in menu.actions()]
        assert texts[0] == "Select the key"
        menu.actions()[texts.index("Copy URL, offset and length")].trigger()
        assert json.loads(QGuiApplication.clipboard().text()) == shown.refs["temp/0.0.0"]
        menu.actions()[texts.index("Explain the key")].trigger()
        shown.wait()
        assert shown.window.docks.is_seen("explainDock")
        menu.close()

    @pytest.mark.slow
    def test_everything_has_a_name(self, shown: Shown) -> None:
        assert unnamed(shown.pane) == []
        assert unnamed(shown.cost) == []

    @pytest.mark.slow
    def test_both_themes_are_painted(self, shown: Shown, qapp: QApplication) -> None:
        def colours() -> set[int]:
            shown.wait()
            picture = shown.view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
            step = range(0, min(picture.width(), 600), 3)
            return {picture.pixel(x, y) for x in step for y in range(0, picture.height(), 3)}

        light = colours()
        try:
            theme.apply(qapp, theme.DARK)
            dark = colours()
        finally:
            theme.apply(qapp, theme.LIGHT)
        assert len(light) > 6
        assert len(dark - light) > 3


class TestLarge:
    @pytest.mark.slow
    def test_the_event_loop_is_not_held(self, shown: Shown, opened: Open, tmp_path: Path) -> None:
        metadata = json.loads(shown.refs["mask/.zarray"]) | {"shape": [300, 400], "chunks": [1, 1]}
        refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}', "many/.zarray": json.dumps(metadata)}
        for number, (row, column) in enumerate(np.ndindex(300, 400)):
            refs[f"many/{row}.{column}"] = ["many.bin", number * 5, 2]
        path = tmp_path / "many.json"
        path.write_text(json.dumps({"version": 1, "refs": refs}))
        shown.document = opened(path)
        shown.show("/many")
        shown.qtbot.waitUntil(lambda: shown.pane.loader.files is not None)
        shown.pane.show_file(DOCUMENT)
        shown.wait()
        guard = GapGuard()
        shown.pane.show_file("many.bin")
        shown.qtbot.waitUntil(lambda: shown.pane.loader.shown is not None)
        shown.wait()
        for _ in range(20):
            shown.view.zoom_by(1)
            shown.view.repaint()
        assert guard.worst() < LONGEST
        found = shown.pane.loader.shown
        assert found is not None
        assert found.count == 120_000

    @pytest.mark.slow
    def test_bytes_of_many_arrays_are_no_gap(
        self, shown: Shown, opened: Open, tmp_path: Path, qapp: QApplication
    ) -> None:
        metadata = json.dumps(json.loads(shown.refs["mask/.zarray"]) | {"shape": [1, 50], "chunks": [1, 50]})
        refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
        for number in range(60):
            refs[f"a{number}/.zarray"] = metadata
            refs[f"a{number}/0.0"] = ["many.bin", number * 100, 100]
        (tmp_path / "many.bin").write_bytes(bytes(6000))
        path = tmp_path / "many.json"
        path.write_text(json.dumps({"version": 1, "refs": refs}))
        shown.document = opened(path)
        shown.show("/a0")
        shown.qtbot.waitUntil(lambda: shown.pane.loader.shown is not None)
        shown.wait()
        assert "40 other arrays" in shown.legend()
        try:
            for scheme in (theme.DARK, theme.LIGHT):
                theme.apply(qapp, scheme)
                shown.wait()
                image = shown.view.grab().toImage()
                # Above the name that is in the middle.
                place = shown.place(5_050)
                ratio = image.devicePixelRatio()
                seen = image.pixelColor(round(place.x() * ratio), round((place.y() - 5) * ratio))
                gap = look_of(MapClass("gap"))[0]
                assert abs(seen.lightness() - gap.lightness()) > 50
        finally:
            theme.apply(qapp, theme.LIGHT)


class TestPlan:
    @pytest.mark.slow
    def test_automatic_is_what_is_read(self, shown: Shown) -> None:
        plan = shown.pane.loader.tried
        assert plan is not None
        picture = shown.window.centre.plot.picture()
        node = shown.window.centre.plot.array()
        dataset = shown.document.dataset
        assert dataset is not None
        assert (
            plan.plan.requests == dataset.session.plan(node, dataset.access, picture.plan.selection).requests
        )

    @pytest.mark.slow
    def test_sliders_try_other_plans(self, shown: Shown) -> None:
        panel = shown.pane.panel
        panel.sliders["gap"].setValue(panel.sliders["gap"].maximum())
        shown.wait()
        tried, usual = shown.pane.loader.tried, shown.pane.loader.usual
        assert tried is not None
        assert usual is not None
        assert panel.choice().gap is not None
        assert tried.plan.wasted_bytes >= usual.plan.wasted_bytes
        assert "still reads by its own plan" in panel.note.text()
        panel.reset.click()
        shown.wait()
        assert panel.choice() == AUTOMATIC
        assert shown.pane.loader.tried is shown.pane.loader.usual
        panel.set_choice(PlanChoice(block=1 << 14, connections=4))
        assert panel.sliders["connections"].accessibleDescription() == "4"
        shown.wait()


class TestCost:
    @pytest.mark.slow
    def test_table_and_export(self, shown: Shown) -> None:
        shown.window.actions_["show_cost"].trigger()
        shown.qtbot.waitUntil(lambda: shown.cost.isVisible() and shown.cost.table is not None)
        shown.wait()
        grid = shown.cost.grid
        rows = [grid.verticalHeaderItem(row).text() for row in range(grid.rowCount())]
        assert rows == ["One map\ny, x", "One series\ntime", "Whole array\ntime, y, x"]
        assert grid.horizontalHeaderItem(0).text() == "Now: 1 × 10 × 20"
        shown.qtbot.keyClicks(shown.cost.own, "4,20,:")
        shown.wait()
        shown.qtbot.waitUntil(
            lambda: grid.horizontalHeaderItem(grid.columnCount() - 1).text().startswith("Yours")
        )
        assert shown.cost.chunking().shape == (4, 20, 40)
        assert "chunks 4 × 20 × 40" in shown.cost.detail.text()
        shown.cost.export.click()
        dialog = shown.window.findChild(ExportDialog)
        assert dialog is not None
        assert dialog.arrays.chunks() == {"/temp": "4,20,40"}
        assert dialog.order().options["array_chunks"] == ("/temp=4,20,40",)
        shown.wait()
        dialog.close()
        grid.setCurrentCell(0, 0)
        assert not shown.cost.export.isEnabled()
        shown.qtbot.keyClicks(shown.cost.own, ",7")
        shown.wait()
        assert "sides" in shown.cost.detail.text()
