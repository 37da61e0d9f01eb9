"""The menu Data: what it switches, when it can be used, and the keys that it shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow


@pytest.fixture
def fields(tmp_path: Path) -> Path:
    """A document with an image, a line, flags and a text."""
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}

    def add(name: str, values: np.ndarray, dimensions: list[str], **attributes: Any) -> None:
        shape = list(values.shape)
        members = {"shape": shape, "chunks": shape, "dtype": values.dtype.str, "order": "C"}
        members |= {"zarr_format": 2, "compressor": None, "filters": None, "fill_value": None}
        refs[f"{name}/.zarray"] = json.dumps(members)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dimensions, **attributes})
        data = values.tobytes()
        (tmp_path / f"{name}.bin").write_bytes(data)
        refs[f"{name}/{'.'.join('0' * values.ndim)}"] = [f"{name}.bin", 0, len(data)]

    add("image", np.arange(1, 101, dtype="<i2").reshape(10, 10), ["y", "x"], scale_factor=0.5)
    add("line", np.arange(1, 11, dtype="<f4"), ["x"])
    flags = {"flag_values": [0, 1], "flag_meanings": "off on"}
    add("flags", np.arange(100, dtype="|i1").reshape(10, 10) % 2, ["y", "x"], **flags)
    add("word", np.array([b"word"]), ["n"])
    add("photo", np.arange(300, dtype="u2").astype("u1").reshape(10, 10, 3), ["y", "x", "rgb"])
    add("cube", np.arange(48, dtype="<i2").reshape(3, 4, 4), ["t", "y", "x"])
    path = tmp_path / "fields.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


Show = Callable[[str], PlotPane]


@pytest.fixture
def show(window: MainWindow, opened: Open, settle: Callable[[], None], fields: Path) -> Show:
    document = opened(fields)
    settle()

    def plot(name: str) -> PlotPane:
        window.hierarchy.select_node(document, name)
        settle()
        assert window.centre.plot is not None
        return window.centre.plot

    return plot


SWITCHES = {
    "toggle_coding": "decoded",
    "toggle_log": "log",
    "toggle_histogram": "histogram",
    "toggle_aspect": "aspect",
    "toggle_reverse": "reverse",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_ticked_as_the_plot_is(window: MainWindow, show: Show, name: str) -> None:
    plot = show("/image")
    action = window.actions_[name]
    before = getattr(plot.look().options, SWITCHES[name])
    assert action.isEnabled()
    assert action.isChecked() is before
    action.trigger()
    assert getattr(plot.look().options, SWITCHES[name]) is not before
    assert action.isChecked() is not before
    action.trigger()
    assert action.isChecked() is before


def test_the_header_and_the_menu_agree(window: MainWindow, show: Show, qtbot: QtBot) -> None:
    plot = show("/image")
    plot.header.log.click()
    assert window.actions_["toggle_log"].isChecked()
    window.actions_["toggle_aspect"].trigger()
    assert plot.header.aspect.isChecked()


@pytest.mark.parametrize(
    ("array", "possible"),
    [
        ("/image", {*SWITCHES, "next_map", "auto_levels", "toggle_extremes", "reset_view"}),
        ("/line", {"toggle_log", "reset_view"}),
        ("/flags", {"toggle_coding", "toggle_aspect", "reset_view"}),
        ("/word", set()),
    ],
)
def test_only_what_does_something_can_be_chosen(
    window: MainWindow, show: Show, array: str, possible: set[str]
) -> None:
    show(array)
    names = {*SWITCHES, "next_map", "auto_levels", "toggle_extremes", "reset_view"}
    assert {name for name in names if window.actions_[name].isEnabled()} == possible


@pytest.mark.slow
def test_bands_are_shown_as_colours(window: MainWindow, show: Show, settle: Callable[[], None]) -> None:
    plot = show("/photo")
    action = window.actions_["toggle_colour"]
    assert action.isEnabled()
    assert action.isChecked()
    assert action.text().endswith("\tB")
    action.trigger()
    settle()
    assert not plot.look().options.colour
    assert not action.isChecked()
    show("/image")
    assert not window.actions_["toggle_colour"].isEnabled()


def test_colours_and_view(window: MainWindow, show: Show) -> None:
    plot = show("/image")
    window.actions_["next_map"].trigger()
    assert plot.header.map.currentText() == "Cividis"
    plot.canvas.show_range((1, 2), (1, 2))
    window.actions_["reset_view"].trigger()
    assert plot.canvas.view()[0] == pytest.approx((-0.5, 9.5))
    plot.bar.low_field.setText("10")
    plot.bar.low_field.setModified(True)
    plot.bar.low_field.editingFinished.emit()
    assert plot.bar.strip.levels is not None
    assert plot.bar.strip.levels.low == 10
    window.actions_["auto_levels"].trigger()
    assert plot.bar.strip.levels.low < 2


def test_keys_act_in_the_plot_and_nowhere_else(window: MainWindow, show: Show, qtbot: QtBot) -> None:
    plot = show("/image")
    assert window.actions_["toggle_log"].text().endswith("\tL")
    assert window.actions_["toggle_log"].shortcut().isEmpty()
    field = window.hierarchy.findChild(QLineEdit, "hierarchyFilter")
    assert field is not None
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_L)
    qtbot.keyClick(window.hierarchy.tree, Qt.Key.Key_H)
    assert not plot.look().options.log
    assert not plot.look().options.histogram
    qtbot.keyClick(plot.canvas, Qt.Key.Key_L)
    qtbot.keyClick(plot.canvas, Qt.Key.Key_H)
    assert plot.look().options.log
    assert plot.look().options.histogram
    assert window.actions_["toggle_histogram"].isChecked()


def test_a_slider_that_moves_leaves_the_menus_alone(
    show: Show, window: MainWindow, settle: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plot, updates = show("/cube"), []
    update, cancel = window.actions_.update, window.actions_["cancel_newest"]
    monkeypatch.setattr(window.actions_, "update", lambda now: (updates.append(now), update(now)))
    were: list[bool] = []
    cancel.enabledChanged.connect(were.append)
    plot.sliders.step(0, 1)
    settle()
    assert plot.picture() is not None
    assert plot.picture().plan.slice.indices[0] == 1
    assert updates == []
    assert were
    assert were == [True, False] * (len(were) // 2), "only what tells whether anything runs"
    show("/image")
    assert updates, "another array"
