"""A kind of plot of another package: drawn, with its control, its readout and its export; and what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fixture_plot
import numpy as np
import pytest
from documents_of_values import value_document
from pyqtgraph import BarGraphItem
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open, close_shared
from window_reset import SharedWindow

from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow

Settle = Callable[[], None]
VALUES = np.array([3.0, 1.0, -2.0, 4.0])


@pytest.fixture(scope="module", autouse=True)
def a_window_of_their_own(shared: list[SharedWindow]) -> Iterator[None]:
    """Let no window that was made before, or is used after, meet the kinds that come and go here."""
    close_shared()
    yield
    close_shared()


def opened_bars(
    request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path, values: np.ndarray = VALUES
) -> tuple[MainWindow, PlotPane]:
    """Open arrays that are to be bars, and one that is not, in a window; the bars are shown."""
    window: MainWindow = request.getfixturevalue("window")
    opened: Open = request.getfixturevalue("opened")
    settle: Settle = request.getfixturevalue("settle")
    window.prepare_plot()
    made = value_document(tmp_path)
    made.add("bars", values, ["x"], plot="bars")
    made.add("plain", values, ["x"])
    document = opened(made.write())
    settle()
    show(window, document, "bars", settle)
    plot = window.centre.plot
    assert plot is not None
    qtbot.waitUntil(lambda: plot.kind() is not None)
    return window, plot


def show(window: MainWindow, document: Any, name: str, settle: Settle) -> None:
    assert window.hierarchy.select_node(document, f"/{name}")
    settle()


def heights(plot: PlotPane) -> list[float]:
    """Return the heights of the bars on the canvas."""
    drawn = [item for item in plot.canvas.scene().items() if isinstance(item, BarGraphItem)]
    return [float(each) for item in drawn for each in item.opts["height"]]


@pytest.mark.slow
@pytest.mark.fresh
def test_it_is_drawn_with_its_control_and_its_readout(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path
) -> None:
    with fixture_plot.found(monkeypatch):
        window, plot = opened_bars(request, qtbot, tmp_path)
        settle: Settle = request.getfixturevalue("settle")
        qtbot.waitUntil(lambda: heights(plot) == VALUES.tolist())
        assert plot.canvas.line.picture is None
        button = plot.findChild(QToolButton, "absoluteButton")
        assert button.isVisible()
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert heights(plot) == [3, 1, 2, 4]
        assert plot.look().options.switched == {"absolute"}
        plot.point_at((2,))
        assert plot.status.text().startswith("a bar of \N{MINUS SIGN}2")
        assert not plot.header.log.isVisible(), "a control of lines"
        show(window, plot.source(), "plain", settle)
        assert heights(plot) == []
        assert plot.canvas.line.numbers.tolist() == VALUES.tolist()
        assert not button.isVisible()
        plot.point_at((2,))
        assert plot.status.text().startswith("\N{MINUS SIGN}2")


@pytest.mark.slow
@pytest.mark.fresh
def test_it_has_its_export(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path
) -> None:
    with fixture_plot.found(monkeypatch):
        window, plot = opened_bars(request, qtbot, tmp_path, np.abs(VALUES))
        settle: Settle = request.getfixturevalue("settle")
        qtbot.waitUntil(lambda: plot.kind() is fixture_plot.BARS)
        commands = window.groups[ValueCommands]
        commands.export_view()
        dialog = window.findChild(QFileDialog, "exportViewDialog")
        assert dialog.nameFilters()[-1] == "Bars (*.bars)"
        dialog.reject()
        view = commands.freeze()
        assert view is not None
        commands.write(view, str(tmp_path / "view.bars"))
        settle()
        assert (tmp_path / "view.bars").read_text("ascii").split() == ["###", "#", "##", "####"]
        show(window, plot.source(), "plain", settle)
        assert ".bars" not in commands.freeze().forms()


@pytest.mark.slow
@pytest.mark.fresh
def test_what_fails_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path
) -> None:
    names = ("fixture_plot:BROKEN", "fixture_plot:TAKEN", "fixture_plot:missing", "fixture_plot:BARS")
    with fixture_plot.found(monkeypatch, *names):
        window, plot = opened_bars(request, qtbot, tmp_path)
        qtbot.waitUntil(lambda: heights(plot) == VALUES.tolist())
        assert [kind.name for kind in fixture_plot.foreign().values] == ["broken", "bars"]
        assert "cannot be used" in window.centre.error_bar.text()
