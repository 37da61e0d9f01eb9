"""Pictures in colour are shown as they look, and band by band."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from documents_of_values import ValueDocument
from plot_memory import MemoryDocument, array, source_error
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.frame.centre import TABLE
from refbrowser.app.panes.chunk_map_pane import plotted_parts
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.reading.parts import PartState
from refbrowser.views.plot.picture import ChunkState

Plotted = Callable[..., MemoryDocument]
Settle = Callable[[], None]


def photograph() -> np.ndarray:
    rows, columns = np.mgrid[0:12, 0:18]
    return np.stack([rows * 20, columns * 14, (rows + columns) % 2 * 255], -1).astype("u1")


def drawn_at(pane: PlotPane, row: int, column: int) -> tuple[int, int, int]:
    """Return the colour on the screen in the middle of an element."""
    canvas = pane.canvas
    canvas.box.update()
    place = canvas.mapFromScene(canvas.box.mapViewToScene(QPointF(column, row)))
    pixel = canvas.grab().toImage().pixelColor(place * canvas.devicePixelRatioF())
    return pixel.red(), pixel.green(), pixel.blue()


@pytest.mark.slow
def test_a_picture_is_drawn_as_it_looks(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = photograph()
    plotted(array("/photo", values, ("y", "x", "rgb"), (5, 7, 3)))
    options = pane.look().options
    assert options.can_colour
    assert options.colour
    assert not options.has_levels
    assert not pane.bar.isVisible(), "a number has no colour of a map"
    assert not pane.sliders.isVisible()
    # Photographs have proportions of their own.
    assert options.aspect
    for row, column in ((1, 2), (5, 9), (11, 17)):
        assert drawn_at(pane, row, column) == tuple(values[row, column].tolist())
    said: list[str] = []
    pane.elementHovered.connect(said.append)
    pane.point_at((5, 9))
    assert said[-1].startswith("red 100, green 126, blue 0   y [5]")
    assert pane.stored().tolist() == [100, 126, 0]
    # One band alone, with the map of colours, and back.
    qtbot.keyClick(pane.canvas, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: pane.is_settled() and pane.look().options.has_levels)
    assert pane.bar.isVisible()
    assert pane.header.colour.isVisible()
    assert not pane.header.colour.isChecked()
    pane.set_index(2, 1)
    qtbot.waitUntil(pane.is_settled)
    assert pane.coordinates()[2].text(1) == "green"
    pane.point_at((5, 9))
    assert said[-1].startswith("126   y [5]")
    pane.header.colour.click()
    qtbot.waitUntil(lambda: pane.is_settled() and pane.look().options.colour)
    qtbot.waitUntil(lambda: drawn_at(pane, 5, 9) == (100, 126, 0))


@pytest.mark.slow
def test_the_choice_is_kept_for_the_array_alone(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    values = photograph()
    document = plotted(
        array("/photo", values, ("y", "x", "rgb")),
        array("/other", values, ("y", "x", "rgb")),
        array("/heat", values.astype("u2"), ("y", "x", "rgb"), units="K"),
    )
    pane.look().set_colour(False)
    for name, possible, colour in (("other", True, True), ("heat", False, False), ("photo", True, False)):
        pane.set_array(document, document.node(name))  # type: ignore[arg-type]
        qtbot.waitUntil(pane.is_settled)
        options = pane.look().options
        assert (options.can_colour, options.colour) == (possible, colour), name
    assert pane.tools.can_profile
    pane.look().set_colour(True)
    assert not pane.tools.can_profile, "a profile is of numbers"


@pytest.mark.slow
def test_bands_in_chunks_of_their_own(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    planar = np.moveaxis(photograph(), -1, 0)[::-1].copy()

    def lose(document: MemoryDocument) -> None:
        lost = source_error()
        # The middle band of the right half.
        document.session.fate = lambda path, at: (
            lost if (path, at) == ("/planar", (1, 0, 1)) else PartState.DONE
        )

    plotted(
        array("/planar", planar, ("channel", "y", "x"), (1, 12, 9)),
        array("/channel", np.array(["blue", "green", "red"]), ("channel",)),
        prepare=lose,
    )
    # In the order that their names give.
    qtbot.waitUntil(lambda: drawn_at(pane, 5, 3) == (100, 42, 0))
    pane.point_at((5, 3))
    assert pane.element() == (0, 5, 3)
    # All of them are plotted.
    node = pane.array()
    assert node is not None
    assert plotted_parts(pane, node) == (range(3), range(1), range(2))
    assert "could not be read (1)" in pane.legend._entries[ChunkState.FAILED][1].text()
    said: list[str] = []
    pane.elementHovered.connect(said.append)
    pane.point_at((5, 12))
    assert said[-1].startswith("could not be read")


@pytest.mark.slow
def test_values_of_a_picture_leave_as_they_are_shown(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    values = photograph()
    window.prepare_plot()
    made = ValueDocument(tmp_path)
    made.add("photo", values, ["y", "x", "rgb"], (5, 7, 3))
    document = opened(made.write())
    window.hierarchy.select_node(document, "/photo")
    settle()
    commands = window.groups[ValueCommands]
    view = commands.freeze()
    assert view is not None
    for suffix in (".csv", ".npy"):
        commands.write(view, str(tmp_path / f"out{suffix}"))
        settle()
    found = np.load(tmp_path / "out.npy")
    assert (found == values).all()
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].split(",")[:5] == ["y \\ x", "0 red", "0 green", "0 blue", "1 red"]
    assert lines[2].split(",")[:5] == ["1", "20", "0", "255", "20"]
    # The table has a column for each band, of whole elements.
    window.centre.show_tab(TABLE)
    settle()
    table = window.centre.table
    assert table is not None
    assert table.layout_shown().columns == 18 * 3  # type: ignore[union-attr]
