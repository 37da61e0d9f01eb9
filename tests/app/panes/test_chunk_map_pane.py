"""The chunk map as a user meets it: the window, a real document, mouse and keyboard."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from map_in_window import Mapped
from PySide6.QtCore import SIGNAL, QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QMenu, QSpinBox, QToolTip
from unnamed_widgets import unnamed
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.references.edits.edits import ReplaceUrlPrefix
from refbrowser.views.chunks.chunk_map import ChunkMapValues
from refbrowser.words import count_text

Key, Modifier = Qt.Key, Qt.KeyboardModifier


def choose(mapped: Mapped, name: str, text: str) -> None:
    """Choose an entry of a combo box with the keyboard."""
    combo = mapped.window.findChild(QComboBox, name)
    assert combo is not None
    at = combo.findText(text)
    assert at >= 0, [combo.itemText(n) for n in range(combo.count())]
    combo.setFocus()
    mapped.qtbot.keyClick(combo, Key.Key_Home)
    for _ in range(at):
        mapped.qtbot.keyClick(combo, Key.Key_Down)
    assert combo.currentText() == text
    mapped.wait()


class TestStates:
    def test_what_is_stored_missing_inline_and_read(self, mapped: Mapped) -> None:
        # The slice that is plotted, time 0, is read: four of its chunks are on the map (x 0).
        assert mapped.legend() == {"stored": 10, "read": 4, "inline": 1, "missing": 1}
        assert mapped.pane.foot.counts.text() == "14 stored, 1 inline, 1 missing"
        assert [text.split()[0] for text in mapped.pane.legend.texts()] == [
            "stored", "read", "inline", "missing",
        ]  # fmt: skip

    def test_a_chunk_that_cannot_be_read(self, mapped: Mapped) -> None:
        mapped.window.centre.plot.set_index(0, 3)
        mapped.wait()
        mapped.qtbot.waitUntil(lambda: mapped.legend().get("could not be read") == 1)
        assert mapped.legend()["read"] == 7
        said = mapped.hover(3, 3)
        assert "could not be read" in said
        assert "gone.bin" in said

    def test_chunks_that_are_being_read(self, mapped: Mapped, monkeypatch: pytest.MonkeyPatch) -> None:
        from refbrowser.io.fetching.fetch import Fetcher

        gate, fetch = threading.Event(), Fetcher.fetch

        def held(self: Fetcher, *arguments: object, **options: object) -> object:
            gate.wait(20)
            return fetch(self, *arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(Fetcher, "fetch", held)
        mapped.window.centre.plot.set_index(0, 1)
        mapped.qtbot.waitUntil(lambda: mapped.legend().get("being read") == 3)
        gate.set()
        mapped.wait()
        mapped.qtbot.waitUntil(lambda: "being read" not in mapped.legend())
        assert mapped.legend()["read"] == 7

    def test_each_state_has_a_look_of_its_own_beside_its_colour(self, mapped: Mapped) -> None:
        from refbrowser.app.panes.chunk_map_controls import GLYPHS, look_of

        for style in ("read", "inline", "missing", "pending", "failed", "changed", "added", "removed"):
            assert GLYPHS[style]
        from refbrowser.views.chunks.chunk_colouring import MapClass

        patterns = {style: look_of(MapClass(style))[2] for style in ("missing", "pending", "failed", "whole")}
        assert len(set(patterns.values())) == 4
        assert all(patterns.values())


class TestPointing:
    def test_hover_says_key_and_reference(self, mapped: Mapped) -> None:
        said = mapped.hover(0, 1)
        bytes_ = f"bytes {count_text(1200)} to {count_text(1600)}"
        for part in ("field/0.1.0", "field.bin", bytes_, "400 B", "read in"):
            assert part in said, said
        assert mapped.pane.foot.readout.text().startswith("field/0.1.0")
        assert "missing" in mapped.hover(1, 2)
        assert "inline" in mapped.hover(2, 0)

    def test_the_tool_tip_says_all_of_it_in_lines(self, mapped: Mapped) -> None:
        mapped.hover(0, 1)
        place = mapped.place(0, 1)
        event = QHelpEvent(QEvent.Type.ToolTip, place, mapped.view.mapToGlobal(place))
        QApplication.sendEvent(mapped.view, event)
        assert "field/0.1.0\nfield.bin\nbytes" in QToolTip.text()
        QToolTip.hideText()

    def test_leaving_goes_back_to_the_cursor(self, mapped: Mapped) -> None:
        mapped.key(Key.Key_Home, Modifier.ControlModifier)
        mapped.hover(2, 2)
        mapped.qtbot.mouseMove(mapped.window.menuBar())
        mapped.qtbot.mouseMove(mapped.view, QPoint(mapped.view.width() - 2, mapped.view.height() - 2))
        mapped.qtbot.waitUntil(lambda: mapped.view.accessibleDescription().startswith("field/0.0.0"))

    def test_a_click_selects_the_key_and_plots_the_chunk(self, mapped: Mapped) -> None:
        mapped.click(2, 3)
        assert mapped.window.centre.references.current_key() == "field/2.3.0"
        state = mapped.window.centre.plot.slice_state()
        assert state.indices[0] == 2
        assert mapped.view.cursor_item == (2, 3)
        # The plot shows this chunk alone: 20 columns of it.
        (left, right), _rows = mapped.window.centre.plot.canvas.box.viewRange()
        assert right - left < 45

    def test_the_outline_follows_the_plot(self, mapped: Mapped) -> None:
        assert mapped.view.painting.outline == ((0, 1, 0, 4),)
        mapped.window.centre.plot.set_index(0, 2)
        mapped.wait()
        assert mapped.view.painting.outline == ((2, 3, 0, 4),)

    def test_a_map_that_nobody_sees_follows_the_plot_when_it_is_seen_again(self, mapped: Mapped) -> None:
        plot, changes = mapped.window.centre.plot, SIGNAL("viewChanged()")
        followers = plot.receivers(changes)
        mapped.window.docks["chunkMapDock"].hide()
        plot.set_index(0, 1)
        assert plot.receivers(changes) == followers - 1
        plot.set_index(0, 2)
        assert mapped.view.painting.outline == ((0, 1, 0, 4),)
        mapped.window.docks.raise_("chunkMapDock")
        mapped.wait()
        assert mapped.view.painting.outline == ((2, 3, 0, 4),)
        assert plot.receivers(changes) == followers

    def test_menu(self, mapped: Mapped) -> None:
        mapped.key(Key.Key_Home, Modifier.ControlModifier)
        mapped.wait()
        mapped.qtbot.keyClick(mapped.view, Key.Key_Menu)
        place = mapped.view.mapToGlobal(mapped.place(0, 0))
        mapped.pane._show_menu(place)
        menu = mapped.window.findChild(QMenu, "chunkMapMenu")
        assert menu is not None
        titles = {action.text().split("\t")[0]: action for action in menu.actions()}
        titles["Copy the URL"].trigger()
        assert QGuiApplication.clipboard().text() == "field.bin"
        menu.close()


class TestKeyboard:
    def test_arrows_ends_and_pages_move_the_cursor_and_say_where_it_is(self, mapped: Mapped) -> None:
        mapped.view.setFocus()
        steps = (
            (Key.Key_Right, (0, 0)), (Key.Key_Right, (0, 1)), (Key.Key_Down, (1, 1)),
            (Key.Key_End, (1, 3)), (Key.Key_Up, (0, 3)), (Key.Key_Home, (0, 0)),
            (Key.Key_PageDown, (3, 0)), (Key.Key_PageUp, (0, 0)),
        )  # fmt: skip
        for key, cell in steps:
            mapped.key(key)
            assert mapped.view.cursor_item == cell, key
            said = mapped.view.accessibleDescription()
            assert said.startswith(f"field/{cell[0]}.{cell[1]}.0"), said
        mapped.key(Key.Key_End, Modifier.ControlModifier)
        assert mapped.view.cursor_item == (3, 3)

    def test_enter_selects_and_plots(self, mapped: Mapped) -> None:
        mapped.view.setFocus()
        mapped.key(Key.Key_Home, Modifier.ControlModifier)
        mapped.key(Key.Key_Down)
        mapped.key(Key.Key_Return)
        mapped.wait()
        assert mapped.window.centre.references.current_key() == "field/1.0.0"
        assert mapped.window.centre.plot.slice_state().indices[0] == 1
        assert mapped.view.hasFocus()

    def test_copy_and_next_alike(self, mapped: Mapped) -> None:
        mapped.view.setFocus()
        mapped.key(Key.Key_Home, Modifier.ControlModifier)
        mapped.key(Key.Key_N)
        assert mapped.view.cursor_item == (0, 1)
        mapped.key(Key.Key_C, Modifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == "field/0.1.0"

    def test_the_legend_goes_to_chunks_of_its_kind(self, mapped: Mapped) -> None:
        mapped.qtbot.mouseClick(mapped.button("chunkMapLegend_missing"), Qt.MouseButton.LeftButton)
        assert mapped.view.cursor_item == (1, 2)


class TestMoving:
    def test_wheel_drag_and_fit(self, mapped: Mapped) -> None:
        mapped.show("/line")
        view = mapped.view.viewport
        fitted = view.across
        fit = mapped.button("chunkMapFit")
        assert not fit.isVisible()
        mapped.wheel(3, 7, 12)
        assert view.across > 2 * fitted
        assert fit.isVisible()
        left, top = view.left, view.top
        middle = QPoint(mapped.view.width() // 2, mapped.view.height() // 2)
        mapped.qtbot.mousePress(mapped.view, Qt.MouseButton.LeftButton, pos=middle)
        mapped.qtbot.mouseMove(mapped.view, middle + QPoint(40, 25))
        mapped.qtbot.mouseMove(mapped.view, middle + QPoint(60, 30))
        assert (view.left, view.top) != (left, top)
        mapped.qtbot.mouseMove(mapped.view, middle)
        mapped.qtbot.mouseRelease(mapped.view, Qt.MouseButton.LeftButton, pos=middle)
        # It came back to its start: a drag none the less, not a click.
        assert mapped.view.cursor_item is None
        mapped.qtbot.mouseClick(fit, Qt.MouseButton.LeftButton)
        assert view.across == fitted
        assert not fit.isVisible()

    def test_keys_zoom(self, mapped: Mapped) -> None:
        mapped.show("/line")
        fitted = mapped.view.viewport.across
        mapped.view.setFocus()
        mapped.qtbot.keyClicks(mapped.view, "+++")
        assert mapped.view.viewport.across > fitted
        mapped.qtbot.keyClicks(mapped.view, "-")
        mapped.qtbot.keyClicks(mapped.view, "r")
        assert mapped.view.viewport.across == fitted

    def test_what_is_under_the_pointer_stays_when_the_wheel_turns(self, mapped: Mapped) -> None:
        mapped.show("/line")
        place = mapped.place(2, 9)
        before = mapped.view.item_at(place.toPointF())
        for _ in range(6):
            mapped.wheel(*before, 1)
        near = mapped.place(*before) - place
        assert near.manhattanLength() < 120
        assert mapped.view.item_at(mapped.place(*before).toPointF()) == before


class TestSlices:
    @pytest.mark.slow
    def test_the_map_takes_the_axes_of_the_plot_and_keeps_what_is_chosen(self, mapped: Mapped) -> None:
        plot = mapped.window.centre.plot
        mapped.show("/line")
        mapped.show("/field")
        assert mapped.pane.chunk_slice().axes == plot.slice_state().axes == (1, 2)
        plot.header.xChosen.emit(0)
        mapped.wait()
        assert mapped.pane.chunk_slice().axes == (1, 0)
        choose(mapped, "chunkMapAcross", "x")
        plot.set_index(2, 30)
        mapped.wait()
        assert mapped.pane.chunk_slice().axes == (0, 2)

    def test_axes_and_fields(self, mapped: Mapped) -> None:
        pane = mapped.pane
        assert (pane.chunk_slice().y, pane.chunk_slice().x) == (0, 1)
        choose(mapped, "chunkMapAcross", "x")
        assert (pane.chunk_slice().y, pane.chunk_slice().x) == (0, 2)
        field = mapped.window.findChild(QSpinBox, "chunkMapIndex_y")
        field.setFocus()
        field.selectAll()
        mapped.qtbot.keyClicks(field, "2")
        mapped.qtbot.keyClick(field, Key.Key_Return)
        mapped.wait()
        assert pane.chunk_slice().indices[1] == 2
        assert mapped.hover(1, 0).startswith("field/1.2.0")
        assert mapped.legend()["missing"] == 1

    def test_one_dimension_alone_is_wrapped(self, mapped: Mapped) -> None:
        choose(mapped, "chunkMapDown", "wrapped")
        assert mapped.pane.chunk_slice().y is None
        mapped.show("/line")
        layout = mapped.view.layout_
        assert (layout.rows, layout.columns) == (3, 50)
        assert mapped.window.findChild(QLabel, "chunkMapWrapped").text() == "time, 50 chunks in a row"
        mapped.view.setFocus()
        mapped.key(Key.Key_End)
        mapped.key(Key.Key_End)
        assert mapped.view.accessibleDescription().startswith("line/49")
        mapped.key(Key.Key_Right)
        assert mapped.view.accessibleDescription().startswith("line/50")
        # The last row is short.
        mapped.key(Key.Key_End, Modifier.ControlModifier)
        assert mapped.view.accessibleDescription().startswith("line/119")
        # All of it is plotted: an outline would say nothing.
        assert mapped.view.painting.outline == ()

    def test_a_single_chunk(self, mapped: Mapped) -> None:
        mapped.show("/point")
        mapped.click(0, 0)
        assert mapped.window.centre.references.current_key() == "point/0"

    @pytest.mark.parametrize(("path", "word"), [("/none", "no chunks"), ("/bad", "metadata")])
    def test_no_chunks_are_said_in_words(self, mapped: Mapped, path: str, word: str) -> None:
        mapped.show(path)
        hints = [label.text() for label in mapped.pane.findChildren(QLabel) if label.isVisible()]
        assert any(word in hint for hint in hints), hints


class TestColours:
    def test_sizes_urls_and_times(self, mapped: Mapped) -> None:
        choose(mapped, "chunkMapColour", "URL")
        assert mapped.legend() == {"missing": 1, "inline": 1, "field.bin": 13, "gone.bin": 1}
        choose(mapped, "chunkMapColour", "Size")
        assert any("400" in text for text in mapped.pane.legend.texts())
        choose(mapped, "chunkMapColour", "Time to read")
        assert mapped.legend()["not read"] == 11
        assert sum(entry.count for entry in mapped.pane.view.coloured().legend if entry.style == "scale") == 4
        choose(mapped, "chunkMapColour", "State")
        assert mapped.legend()["read"] == 4


class TestEdits:
    @pytest.mark.slow
    def test_a_replaced_prefix_shows_what_changed_until_it_is_undone(self, mapped: Mapped) -> None:
        changes = mapped.button("chunkMapChanges")
        assert not changes.isVisible()
        mapped.document.apply(ReplaceUrlPrefix("field", "moved"))
        mapped.wait()
        mapped.qtbot.waitUntil(changes.isVisible)
        assert changes.text().endswith("13 changed")
        # What was read before is another file now.
        assert "read" not in mapped.legend()
        assert "saved: field.bin" in mapped.hover(0, 0)
        mapped.qtbot.mouseClick(changes, Qt.MouseButton.LeftButton)
        mapped.wait()
        assert mapped.legend() == {"missing": 1, "as saved": 2, "changed": 13}
        assert mapped.pane.controls.by.currentText() == "Unsaved changes"
        mapped.qtbot.mouseClick(changes, Qt.MouseButton.LeftButton)
        mapped.wait()
        assert mapped.pane.controls.by.currentText() == "State"
        mapped.qtbot.keyClick(mapped.window, Key.Key_Z, Modifier.ControlModifier)
        mapped.wait()
        mapped.qtbot.waitUntil(lambda: not changes.isVisible())
        assert mapped.legend()["read"] == 4

    def test_added_and_removed_chunks(self, mapped: Mapped) -> None:
        from refbrowser.references.edits.edits import RemoveReference, SetReference

        mapped.document.apply(SetReference("field/1.2.0", ["field.bin", 0, 400]))
        mapped.document.apply(RemoveReference("field/0.3.0"))
        mapped.wait()
        choose(mapped, "chunkMapColour", "Unsaved changes")
        assert mapped.legend() == {"as saved": 14, "added": 1, "removed": 1}

    @pytest.mark.slow
    def test_what_was_read_stays_known_when_the_document_is_saved(
        self, mapped: Mapped, tmp_path: Path
    ) -> None:
        from refbrowser.exporting.saving.save import SaveOrder
        from refbrowser.references.edits.edits import SetReference

        mapped.window.centre.plot.set_index(0, 1)
        mapped.wait()
        before, timed = mapped.legend()["read"], mapped.hover(0, 1)
        assert before == 7
        assert "read in" in timed
        for order in (None, SaveOrder(str(tmp_path / "other.json"))):
            mapped.document.apply(SetReference("line/0", ["line.bin", 0 if order else 8, 8]))
            mapped.wait()
            with mapped.qtbot.waitSignal(mapped.document.saved):
                mapped.document.saving.save(order)
            mapped.wait()
            assert mapped.legend()["read"] == before, order
            assert mapped.hover(0, 1) == timed, order
        # Its data are looked for in another folder now: other files.
        (tmp_path / "there").mkdir()
        with mapped.qtbot.waitSignal(mapped.document.saved):
            mapped.document.saving.save(SaveOrder(str(tmp_path / "there" / "map.json")))
        mapped.wait()
        assert "read" not in mapped.legend()

    def test_the_map_is_not_blank_meanwhile(self, mapped: Mapped) -> None:
        mapped.document.apply(ReplaceUrlPrefix("field", "moved"))
        assert mapped.view.painting.maps
        mapped.wait()

    def test_slice_and_cursor_stay(self, mapped: Mapped) -> None:
        mapped.pane.set_index(2, 1)
        mapped.wait()
        mapped.view.setFocus()
        mapped.key(Key.Key_End)
        mapped.key(Key.Key_Down)
        before = mapped.view.cursor_item
        mapped.document.apply(ReplaceUrlPrefix("field", "moved"))
        mapped.wait()
        assert mapped.pane.chunk_slice().indices[2] == 1
        assert mapped.view.cursor_item == before


class TestPane:
    def test_everything_is_computed_on_other_threads(
        self, mapped: Mapped, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        threads, fill = set(), ChunkMapValues.fill

        def noted(self: ChunkMapValues, check: object) -> object:
            threads.add(threading.current_thread())
            return fill(self, check)  # type: ignore[arg-type]

        monkeypatch.setattr(ChunkMapValues, "fill", noted)
        mapped.show("/line")
        assert threads
        assert threading.main_thread() not in threads

    def test_low_docks_have_every_part_inside(self, mapped: Mapped) -> None:
        for height in (330, 200, 150):
            dock = mapped.window.docks["chunkMapDock"]
            mapped.window.resizeDocks([dock], [height], Qt.Orientation.Vertical)
            mapped.wait()
            pane = mapped.pane
            parts = [pane.controls, pane.view, pane.foot, pane.legend]
            for part in parts:
                if part.isVisible():
                    place = part.mapTo(pane, QPoint(0, 0))
                    assert place.y() >= 0, (height, part)
                    assert place.y() + part.height() <= pane.height(), (height, part)
            assert pane.view.height() >= 32
            assert pane.legend.isVisible()
            shown = pane.legend.texts()
            assert len(shown) >= 3, (height, shown)
            texts = [button for button in pane.legend._buttons if not button.isHidden()]
            assert all(button.geometry().bottom() <= pane.legend.height() for button in texts)

    def test_every_widget_is_named(self, mapped: Mapped) -> None:
        mapped.document.apply(ReplaceUrlPrefix("field", "moved"))
        mapped.wait()
        assert unnamed(mapped.pane) == []
        assert mapped.view.accessibleName()

    def test_the_view_is_reached_with_tab(self, mapped: Mapped) -> None:
        mapped.pane.controls.by.setFocus()
        for _ in range(8):
            mapped.qtbot.keyClick(mapped.window.focusWidget(), Key.Key_Tab)
            if mapped.view.hasFocus():
                return
        pytest.fail("the map was not reached")

    @pytest.mark.slow
    def test_themes_paint_other_colours(self, mapped: Mapped, styled: object) -> None:
        light = mapped.view.grab().toImage()
        theme.apply(styled, theme.DARK)  # type: ignore[arg-type]
        try:
            mapped.wait()
            dark = mapped.view.grab().toImage()
            assert _brightness(dark) < _brightness(light)
        finally:
            theme.apply(styled, theme.LIGHT)  # type: ignore[arg-type]
            mapped.wait()

    def test_a_closed_document_leaves_words(self, mapped: Mapped) -> None:
        mapped.window.documents.close(mapped.document)
        mapped.wait()
        assert mapped.pane.array() is None
        assert mapped.pane.view.coloured() is None


def _brightness(image: QImage) -> float:
    small = image.scaled(1, 1, mode=Qt.TransformationMode.SmoothTransformation)
    return small.pixelColor(0, 0).lightnessF()


def test_the_dock_has_words_before_anything_is_opened(window: MainWindow) -> None:
    words = [label.text() for label in window.docks["chunkMapDock"].findChildren(QLabel)]
    assert any("chunks" in text for text in words)


def test_without_permission_the_map_is_there(
    window: MainWindow, opened: Open, settle: object, qtbot: object, tmp_path: Path
) -> None:
    import json

    refs = {".zgroup": '{"zarr_format": 2}', "a/0": ["https://example.invalid/a", 0, 8]}
    refs["a/.zarray"] = (
        '{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": null, '
        '"filters": null, "fill_value": 0, "order": "C"}'
    )
    path = tmp_path / "far.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    document = opened(path)
    window.docks.raise_("chunkMapDock")
    window.hierarchy.select_node(document, "/a")
    qtbot.waitUntil(lambda: window.chunk_map.pane is not None)  # type: ignore[attr-defined]
    settle()  # type: ignore[operator]
    pane = window.chunk_map.pane
    qtbot.waitUntil(lambda: pane.view.coloured() is not None and pane.is_settled())  # type: ignore[attr-defined]
    shown = pane.view.coloured()
    assert (shown.stored, shown.missing) == (1, 1)


class TestShards:
    def test_inner_chunks_are_a_level_of_their_own(
        self, mapped: Mapped, opened: Open, tmp_path: Path
    ) -> None:
        zarr = pytest.importorskip("zarr")
        level = mapped.window.findChild(QComboBox, "chunkMapLevel")
        assert not level.isVisibleTo(mapped.pane), "the array has no shards"
        array = zarr.create_array(
            str(tmp_path / "s.zarr"), name="a", shape=(16, 16), chunks=(4, 4), shards=(8, 8), dtype="<i4"
        )
        array[:8] = 1
        mapped.document = opened(tmp_path / "s.zarr")
        mapped.show("/a")
        assert level.isVisibleTo(mapped.pane)
        assert mapped.pane.chunk_slice().shape == (2, 2)
        choose(mapped, "chunkMapLevel", "inner chunks")
        level.activated.emit(1)
        mapped.wait()
        assert mapped.pane.chunk_slice().shape == (4, 4)
        assert mapped.legend() == {"stored": 8, "missing": 8}
        # What is plotted is told in shards.
        with mapped.qtbot.waitSignal(mapped.pane.chunkChosen) as chosen:
            mapped.pane.view.chosen.emit((1, 3))
        assert chosen.args == [(0, 1)]
        mapped.pane.show_chunk((1, 1))
        assert mapped.pane.current_chunk()[1] == "a/c/1/1"
