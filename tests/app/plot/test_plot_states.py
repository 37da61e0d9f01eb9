"""The state of a plot: told by one pane, shown by another."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.levels import Levels
from refbrowser.views.plot_states.plot_state import PlotState

SHAPE = (5, 40, 60)


@pytest.fixture
def document(qtbot: QtBot, tasks: Tasks, tmp_path: Path) -> Iterator[OpenDocument]:
    """A document with a cube of temperatures, a line, and a picture in colour."""
    refs: dict[str, str] = {".zgroup": '{"zarr_format": 2}'}
    cube = np.linspace(200, 300, np.prod(SHAPE), dtype="<f4").reshape(SHAPE)
    arrays = {
        "t2m": (cube, ["time", "y", "x"]),
        "x": (np.arange(60, dtype="<f4") * 2, ["x"]),
        "line": (np.arange(50, dtype="<f4"), ["z"]),
        "photo": (np.zeros((20, 30, 3), "|u1"), ["y", "x", "rgb"]),
    }
    for name, (values, dimensions) in arrays.items():
        metadata = {
            "zarr_format": 2,
            "shape": values.shape,
            "chunks": values.shape,
            "dtype": values.dtype.str,
        }
        metadata |= {"compressor": None, "filters": None, "fill_value": None, "order": "C"}
        refs[f"{name}/.zarray"] = json.dumps(metadata)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dimensions})
        key = ".".join("0" * values.ndim)
        refs[f"{name}/{key}"] = "base64:" + base64.b64encode(values.tobytes()).decode()
    path = tmp_path / "cube.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    document = OpenDocument(str(path), tasks)
    document.open()
    qtbot.waitUntil(lambda: document.hierarchy is not None)
    yield document
    document.close()


@pytest.fixture
def other(qtbot: QtBot, pane: PlotPane) -> Iterator[PlotPane]:
    """Another pane, as another window has."""
    other = PlotPane()
    other.resize(500, 400)
    other.show()
    qtbot.waitExposed(other)
    yield other
    other.clear()
    other.close()
    other.deleteLater()


def shown(qtbot: QtBot, pane: PlotPane, document: OpenDocument, path: str) -> None:
    assert document.hierarchy is not None
    node = document.hierarchy.find(path)
    assert isinstance(node, ArrayNode)
    pane.set_array(document, node)
    qtbot.waitUntil(lambda: pane.is_settled() and pane.page() is pane.canvas)


def state_of(pane: PlotPane) -> PlotState:
    state = pane.state()
    assert state is not None
    return state


def change_all(pane: PlotPane) -> None:
    pane.set_index(0, 3)
    look = pane.look()
    look.set_map("Magma")
    look.set_reverse(True)
    look.set_log(True)
    look.set_levels(Levels(210, 290))
    look.set_histogram(True)
    look.set_aspect(True)


def test_an_empty_pane_has_no_state(pane: PlotPane) -> None:
    assert pane.state() is None


def test_another_pane_shows_the_same(
    qtbot: QtBot, pane: PlotPane, other: PlotPane, document: OpenDocument
) -> None:
    shown(qtbot, pane, document, "/t2m")
    change_all(pane)
    qtbot.waitUntil(pane.is_settled)
    state = state_of(pane)
    assert (state.path, state.node, state.selection) == (document.path, "/t2m", "3,:,:")
    assert (state.levels, state.are_levels_set, state.log, state.view) == ((210, 290), True, True, None)
    other.restore(document, PlotState.from_json(json.loads(json.dumps(state.to_json()))))
    qtbot.waitUntil(other.is_settled)
    assert state_of(other) == state
    for one, two in zip(pane.look().options.__slots__, other.look().options.__slots__, strict=True):
        assert getattr(pane.look().options, one) == getattr(other.look().options, two)
    drawing = other._presenter.drawing
    assert drawing.palette.map_title == "Magma"
    assert drawing.keeper.levels == Levels(210, 290, log=True)


def test_exchanged_axes_and_what_is_in_sight_come_back(
    qtbot: QtBot, pane: PlotPane, other: PlotPane, document: OpenDocument
) -> None:
    shown(qtbot, pane, document, "/t2m")
    pane._presenter.choose_x(1)
    qtbot.waitUntil(pane.is_settled)
    pane.canvas.show_range((10.25, 20.5), (5.0, 30.0))
    state = state_of(pane)
    assert state.axes == (2, 1)
    assert state.view == (10.25, 20.5, 5.0, 30.0)
    other.restore(document, state)
    qtbot.waitUntil(other.is_settled)
    assert state_of(other) == state


def test_what_is_in_sight_waits_for_coordinates_that_come_late(
    qtbot: QtBot, pane: PlotPane, document: OpenDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = pane._presenter.coordinates
    held: list[Any] = []
    read = reader.read
    monkeypatch.setattr(reader, "read", lambda *asked: held.append(asked))
    pane.restore(document, PlotState(document.path, "/t2m", view=(10.25, 20.5, 5.0, 30.0)))
    qtbot.waitUntil(lambda: pane.page() is pane.canvas)
    # The picture was shown without them.
    read(*held[0])
    qtbot.waitUntil(lambda: not reader.waits and pane.is_settled())
    assert reader.coordinates[2].values is not None
    assert state_of(pane).view == (10.25, 20.5, 5.0, 30.0)


def test_a_line_comes_back(qtbot: QtBot, pane: PlotPane, other: PlotPane, document: OpenDocument) -> None:
    shown(qtbot, pane, document, "/t2m")
    pane._presenter.choose_y(None)
    pane.set_index(1, 7)
    qtbot.waitUntil(pane.is_settled)
    state = state_of(pane)
    assert (state.selection, state.axes) == ("0,7,:", (2,))
    other.restore(document, state)
    qtbot.waitUntil(other.is_settled)
    assert state_of(other) == state


def test_colours_that_were_one_band_stay_one_band(
    qtbot: QtBot, pane: PlotPane, other: PlotPane, document: OpenDocument
) -> None:
    shown(qtbot, pane, document, "/photo")
    assert state_of(pane).in_colour is True
    pane.look().set_colour(False)
    qtbot.waitUntil(pane.is_settled)
    state = state_of(pane)
    other.restore(document, state)
    qtbot.waitUntil(other.is_settled)
    assert state_of(other) == state
    assert state.in_colour is False


def test_levels_that_nobody_set_stay_those_of_the_first_picture(
    qtbot: QtBot, pane: PlotPane, other: PlotPane, document: OpenDocument
) -> None:
    shown(qtbot, pane, document, "/t2m")
    first = state_of(pane).levels
    moved = replace(state_of(pane), levels=(195.0, 225.0))
    other.restore(document, moved)
    qtbot.waitUntil(other.is_settled)
    # They suit the values as well; those of the picture itself would be others.
    assert first != (195.0, 225.0)
    assert state_of(other).levels == (195.0, 225.0)
    assert not state_of(other).are_levels_set


def test_an_array_that_is_not_there_is_told_and_nothing_changes(
    qtbot: QtBot, pane: PlotPane, document: OpenDocument
) -> None:
    shown(qtbot, pane, document, "/t2m")
    before = state_of(pane)
    with pytest.raises(RefbrowserError, match="no array '/gone'") as caught:
        pane.restore(document, replace(before, node="/gone"))
    assert caught.value.kind is ErrorKind.REF
    assert state_of(pane) == before


def test_a_selection_that_does_not_fit_any_more_shows_the_array_from_its_beginning(
    qtbot: QtBot, pane: PlotPane, document: OpenDocument
) -> None:
    shown(qtbot, pane, document, "/line")
    with pytest.raises(RefbrowserError):
        pane.restore(document, PlotState(document.path, "/t2m", selection="9,:,:"))
    qtbot.waitUntil(pane.is_settled)
    assert state_of(pane).selection == "0,:,:"


def test_arrays_in_memory_have_no_state_without_a_dataset(
    qtbot: QtBot, pane: PlotPane, plotted: Callable[..., MemoryDocument]
) -> None:
    document = plotted(array("/field", np.ones((4, 5)), ("y", "x")))
    document.dataset = None
    assert pane.state() is None


@pytest.mark.long
def test_no_state_that_can_be_written_breaks_a_pane(
    qtbot: QtBot, pane: PlotPane, document: OpenDocument
) -> None:
    random = np.random.default_rng(1)

    def one(*values: Any) -> Any:
        return values[random.integers(len(values))]

    for _ in range(400):
        said = {
            "path": document.path,
            "node": one("/t2m", "/line", "/photo", "/"),
            "selection": one(
                "", "0,:,:", ":", "1,2,3", "0:0,:,:", ":,:,:", "9" * 4000, "x", "...", "4,:5,7:"
            ),
            "axes": one([], [0], [2, 1], [1, 2], [0, 31], [31]),
            "part": one("", "real", "x"),
            "in_colour": one(None, True, False),
            "decoded": one(True, False),
            "colour_map": one("", "Magma", "none such"),
            "reverse": one(True, False),
            "log": one(True, False),
            "levels": one(None, [0, 1], [-5, 5], [1e-300, 1e300], [-1e308, 0], [1e307, 1.1e307]),
            "are_levels_set": one(True, False),
            "extremes": one(True, False),
            "histogram": one(True, False),
            "aspect": one(True, False),
            "switches": one([], ["upright"], ["none such"]),
            "overlays": one({}, {"coastlines": True}, {"none such": True}),
            "projection": one("", "robinson", "none such"),
            "centre": one(None, [0, 0], [1e300, -1e300], [361, 91]),
            "size_choice": one("", "middle", "sampled", "all"),
            "is_level_fixed": one(True, False),
            "view": one(None, [0, 1, 0, 1], [1e300, -1e300, 5, 6], [-1e-300, 1e-300, 0, 1e308]),
        }
        with suppress(RefbrowserError):
            pane.restore(document, PlotState.from_json(said))
        qtbot.waitUntil(pane.is_settled)
        pane.canvas.grab()
        state = pane.state()
        assert state is None or PlotState.from_json(json.loads(json.dumps(state.to_json()))) == state, said
