"""The tab of values in the whole window, over a file of Awkward 0."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from awkward0_encoder import Encoder, zipped
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed
from window_fixtures import Open

from refbrowser.app.frame.centre import PLOT, TABLE
from refbrowser.app.plot.nested_charts import ChartKind
from refbrowser.app.shell.format_places import FormatPlaces
from refbrowser.app.shell.main_window import MainWindow

Settle = Callable[[], None]


@pytest.fixture
def particles(tmp_path: Path) -> Path:
    """A file with lists of records of which one field cannot be read, and an array beside them."""
    made = Encoder("mu")
    pt, eta = made.basic([1.5, 2.5, 3.5]), made.basic([0.1, 0.2, 0.3])
    broken = made.call(["os", "system"], "true")
    table = made.table(pt=pt, eta=eta, bad=broken)
    members = made.members(made.make("JaggedArray.fromcounts", made.basic([2, 0, 1], "i8"), table))
    other = Encoder("met")
    members |= other.members(other.basic([10.0, np.nan, 30.0]))
    path = tmp_path / "particles.awkd"
    path.write_bytes(zipped(members))
    return path


@pytest.mark.slow
def test_a_file_in_the_window(
    window: MainWindow, particles: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(particles)
    settle()
    assert not window.groups[FormatPlaces].is_offered("values")
    assert not window.actions_["show_values"].isEnabled()
    assert window.hierarchy.select_node(document, "/mu")
    settle()
    assert window.groups[FormatPlaces].is_offered("values")
    assert window.actions_["show_values"].shortcut().toString() == "Ctrl+7"
    window.actions_["show_values"].trigger()
    settle()
    pane = window.pages["values"].pane
    assert pane is not None
    qtbot.waitUntil(pane.is_settled)
    assert window.centre.is_in_front(pane)
    assert pane.table.row_text(0) == ["0", "2", "[1.5, 2.5]", "[0.1, 0.2]", "! unreadable"]
    assert pane.table.row_text(1)[1] == "0"
    pane.table.set_current(0)
    pane.table.unfold_current()
    assert pane.table.row_text(1) == ["0", "", "1.5", "0.1", "! unreadable"]

    window.centre.show_tab(PLOT)
    settle()
    plot = window.centre.plot
    assert plot is not None
    qtbot.waitUntil(plot.is_settled)
    charts = plot.charts.pane
    assert plot.page() is plot.charts
    assert charts is not None
    assert charts.stage.bars.bars().total == 3, "of the first field"
    charts.choice.choose(ChartKind.FIELDS, "pt", "met")
    qtbot.waitUntil(plot.is_settled)
    across, upwards = charts.stage.points.points()
    assert across.tolist() == [10, 10, 30]
    assert upwards.tolist() == [1.5, 2.5, 3.5]
    assert unnamed(window) == []

    window.centre.show_tab(TABLE)
    settle()
    window.centre.show_page(window.pages["values"].pane)
    settle()
    assert pane.table.model().row_count() == 5, "what is unfolded stays"
    window.hierarchy.select_node(document, "/met")
    settle()
    assert not window.groups[FormatPlaces].is_offered("values")
    assert not window.centre.is_in_front(window.pages["values"].pane)


Shown = Callable[[str], list[str]]


@pytest.fixture
def shown(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle, qtbot: QtBot) -> Shown:
    """Select an array of a file with several kinds; returns the words of the choice of what is plotted."""
    made = Encoder("all")
    members = made.members(
        made.table(
            ragged=made.jagged(made.basic([2, 1], "i8"), made.basic([1.5, 2.5, 3.5])),
            texts=made.strings(["a", "bc"]),
            number=made.make("MaskedArray", made.basic([False, True]), made.basic([4.5, 5.5])),
        )
    )
    path = tmp_path / "all.awkd"
    path.write_bytes(zipped(members))
    document = opened(path)

    def shown(name: str) -> list[str]:
        assert window.hierarchy.select_node(document, name)
        settle()
        assert window.centre.plot is not None
        qtbot.waitUntil(window.centre.plot.is_settled)
        part = window.centre.plot.header.part
        return [part.itemText(row) for row in range(part.count())]

    return shown


@pytest.mark.slow
def test_lists_of_numbers_are_charts_or_rows_or_lengths(
    window: MainWindow, shown: Shown, qtbot: QtBot
) -> None:
    assert shown("/all/ragged") == ["charts", "rows", "lengths of rows"]
    plot = window.centre.plot
    assert plot is not None
    charts = plot.charts.pane
    assert charts is not None
    assert charts.stage.bars.bars().total == 3
    for part, page in (("rows", plot.values), ("length", plot.canvas), ("", plot.charts)):
        plot.choose_part(part)
        qtbot.waitUntil(plot.is_settled)
        assert plot.page() is page, plot.cards.text()
        assert charts.tools.isVisible() == (page is plot.charts)
        if part == "length":
            assert plot.picture().values.tolist() == [2, 1]  # type: ignore[union-attr]
    assert plot.drawn_parts() == [(charts.stage.bars, 0)]
    window.centre.show_tab(PLOT)
    assert charts.choice.kind.hasFocus()


@pytest.mark.slow
def test_numbers_and_texts_are_values_or_charts(window: MainWindow, shown: Shown, qtbot: QtBot) -> None:
    assert shown("/all/texts") == ["values", "charts"]
    plot = window.centre.plot
    assert plot is not None
    assert plot.page() is plot.values
    assert shown("/all/number") == ["values", "charts"]
    assert plot.page() is plot.canvas
    plot.choose_part("charts")
    qtbot.waitUntil(plot.is_settled)
    assert plot.page() is plot.charts
    assert plot.charts.pane is not None
    assert plot.charts.pane.facts.facts()["Missing"] == "1"
    assert shown("/all") == []
    assert plot.page() is plot.charts


@pytest.mark.slow
def test_the_table_sends_to_values_what_no_cell_can_show(
    window: MainWindow, shown: Shown, settle: Settle
) -> None:
    shown("/all/number")
    window.centre.show_tab(TABLE)
    settle()
    table = window.centre.table
    assert table is not None
    assert table.grid.model().rows == 2
    shown("/all")
    # What of a record cannot be read would be taken for missing there.
    assert "tab Values" in table.grid._placeholder
