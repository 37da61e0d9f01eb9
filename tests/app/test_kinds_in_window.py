"""Structures, sequences, ragged rows, named values, texts and bytes of a stream in the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from kinds_stream import PROFILES, STATIONS, profile
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from window_fixtures import Open, drop

from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.frame.centre import TABLE
from refbrowser.app.panes.tree_items import detail_of
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.attributes import sections_of
from refbrowser.views.hierarchy import ItemKind
from refbrowser.words import size_text

Settle = Callable[[], None]


def shown(window: MainWindow, settle: Settle, path: str) -> PlotPane:
    """Select an array of the current document; returns the plot when it shows it."""
    settle()
    document = window.documents.current
    assert document is not None
    assert window.hierarchy.select_node(document, path)
    settle()
    assert window.centre.plot is not None
    return window.centre.plot


def detail(window: MainWindow, path: str) -> str:
    """Return the muted words beside an array in the tree."""
    model, document = window.hierarchy.model, window.documents.current
    assert document is not None
    item = model.item(model.find_node(document, path))
    assert item is not None
    return detail_of(item)


def test_a_dropped_stream_shows_what_its_variables_are(
    window: MainWindow, kinds: Path, settle: Settle, qtbot: QtBot
) -> None:
    drop(window, QUrl.fromLocalFile(str(kinds)))
    qtbot.waitUntil(lambda: window.documents.current is not None and window.documents.current.is_open)
    settle()
    found = {path: detail(window, path) for path in ("/obs", "/lightning", "/sounding", "/weather", "/title")}
    assert found == {
        "/obs": "3 structure",
        "/lightning": "25 sequence",
        "/sounding": f"{PROFILES}×* f4",
        "/weather": "24×36 enum u1",
        "/title": "3 string",
    }
    document = window.documents.current
    assert document is not None
    assert not document.can_save_in_place, "a document must never be saved over its stream"
    assert str(kinds) in window.settings.recent()


def test_a_stream_is_told_of_as_one(window: MainWindow, kinds: Path, settle: Settle, opened: Open) -> None:
    """Nobody wrote the references that it is read by, nor their template."""
    document = opened(kinds)
    settle()
    model = window.hierarchy.model
    root = model.item(model.index(0, 0))
    assert root is not None
    told = {row.name: row.value for row in sections_of(root)[0].rows}
    assert document.part.index is not None
    assert told == {
        "Path": str(kinds),
        "Format": "ncstream",
        "Messages": str(len(document.part.index.table)),
        "Size": size_text(kinds.stat().st_size),
    }

    def kinds_below() -> list[ItemKind]:
        rows = (model.index(row, 0, model.index(0, 0)) for row in range(model.rowCount(model.index(0, 0))))
        return [item.kind for item in map(model.item, rows) if item is not None]

    assert ItemKind.TEMPLATES not in kinds_below()
    assert ItemKind.RULES not in kinds_below()


def test_fields_of_a_structure_are_columns_that_can_be_plotted(
    window: MainWindow, kinds: Path, settle: Settle
) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/obs")
    assert plot.page() is plot.values
    assert plot.values.table.row_text(1) == ["1", "16", "2962", "−7.25", "Zugspitze", "[12, 4]"]
    names = [plot.header.part.itemData(row) for row in range(plot.header.part.count())]
    assert names == ["", "day", "height", "temperature", "wind[0]", "wind[1]"]
    plot.header.part.setCurrentIndex(3)
    plot.header.part.activated.emit(3)
    settle()
    assert plot.page() is plot.canvas
    assert plot.canvas.line.numbers.tolist() == [11.5, -7.25, 9]
    # It stays while others are looked at, and the table shows all fields all the same.
    shown(window, settle, "/lightning")
    plot = shown(window, settle, "/obs")
    assert plot.page() is plot.canvas
    window.centre.show_tab(TABLE)
    settle()
    table = window.centre.table
    assert table is not None
    assert [table.grid.model().column_header(column)[0] for column in range(5)] == [
        "day", "height", "temperature", "name", "wind",
    ]  # fmt: skip


def test_a_cell_of_the_table_plots_its_column(window: MainWindow, kinds: Path, settle: Settle) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/lightning")
    window.centre.show_tab(TABLE)
    settle()
    table = window.centre.table
    assert table is not None
    table.grid.set_current((4, 1))
    table.grid.activated.emit((4, 1))
    settle()
    assert window.centre.tabs.currentIndex() != TABLE
    assert plot.page() is plot.canvas
    assert plot.canvas.line.numbers[4] == 2


def test_ragged_rows_with_a_plot_and_a_histogram(window: MainWindow, kinds: Path, settle: Settle) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/sounding")
    charts, table = plot.values.charts, plot.values.table
    assert charts is not None
    assert table.row_text(2)[:2] == ["2", str(len(profile(2)))]
    assert sum(bar.count for bar in charts.lengths.bars()) == PROFILES
    table.set_current(2)
    (line,) = charts.chart.lines
    assert np.allclose(line.numbers, profile(2))
    charts.all.click()
    (line,) = charts.chart.lines
    known = line.numbers[~np.isnan(line.numbers)]
    assert np.allclose(known, np.concatenate([profile(row) for row in range(PROFILES)]))
    plot.choose_part("length")
    settle()
    assert plot.page() is plot.canvas
    assert plot.canvas.line.numbers.tolist() == [len(profile(row)) for row in range(PROFILES)]


def test_bars_of_lengths_are_reached_by_keys(
    window: MainWindow, kinds: Path, settle: Settle, qtbot: QtBot
) -> None:
    window.open_path(str(kinds))
    charts = shown(window, settle, "/sounding").values.charts
    assert charts is not None
    qtbot.keyClick(charts.lengths, Qt.Key.Key_Right)
    first = charts.lengths.bars()[0]
    assert charts.said.text() == f"length {first.low}: {first.count} rows"


def test_charts_are_gone_for_other_arrays(window: MainWindow, kinds: Path, settle: Settle) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/sounding")
    assert plot.values.charts is not None
    assert plot.values.charts.isVisibleTo(plot.values)
    plot = shown(window, settle, "/title")
    assert not plot.values.charts.isVisibleTo(plot.values)
    assert [plot.values.table.row_text(row)[-1] for row in range(3)] == list(STATIONS)


def test_named_values_are_told_and_coloured(window: MainWindow, kinds: Path, settle: Settle) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/weather")
    assert plot.flags.isVisibleTo(plot)
    plot.point_at((0, 30))
    settle()
    assert "7: thunderstorm" in plot.status.text()


def test_bytes_without_a_meaning_are_hexadecimal(window: MainWindow, kinds: Path, settle: Settle) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/blob")
    texts = [plot.values.table.row_text(row)[-1] for row in range(3)]
    assert texts == ["0x00ff", "no bytes", f"0x{'00' * 32}… 80 bytes"]


def test_a_tile_tells_which_messages_it_is_made_of(
    window: MainWindow, kinds: Path, settle: Settle, qtbot: QtBot
) -> None:
    window.open_path(str(kinds))
    shown(window, settle, "/sounding")
    qtbot.waitUntil(lambda: window.chunk_map.pane is not None)
    pane = window.chunk_map.pane
    assert pane is not None
    qtbot.waitUntil(pane.is_settled)
    pane.view.setFocus()
    qtbot.keyClick(pane.view, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: pane.is_settled() and "stored in" in pane.foot.readout.text())


def test_python_for_a_stream_runs_as_pasted(
    window: MainWindow, kinds: Path, settle: Settle, qtbot: QtBot
) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/field")
    plot.set_index(0, 2)
    settle()
    QGuiApplication.clipboard().clear()
    window.actions_["copy_python"].trigger()
    qtbot.waitUntil(lambda: "refbrowser.open" in QGuiApplication.clipboard().text())
    names: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), names)
    picture = plot.picture()
    assert picture is not None
    assert np.array_equal(names["values"], picture.values)  # type: ignore[arg-type]
    names["dataset"].close()  # type: ignore[attr-defined]


def test_the_table_is_written_with_all_columns_while_one_is_plotted(
    window: MainWindow, kinds: Path, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_path(str(kinds))
    plot = shown(window, settle, "/obs")
    plot.choose_part("height")
    settle()
    values = window.groups[ValueCommands]

    def export(name: str) -> None:
        view = values.freeze()
        assert view is not None
        values.write(view, str(tmp_path / name))

    export("plot.csv")
    window.centre.show_tab(TABLE)
    settle()
    export("table.csv")
    settle()
    assert (tmp_path / "plot.csv").read_text().splitlines()[2] == "1,2962"
    assert (tmp_path / "table.csv").read_text().splitlines()[2] == "1,16,2962,-7.25,Zugspitze,12.0 4.0"
