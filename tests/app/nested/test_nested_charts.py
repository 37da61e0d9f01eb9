"""Plots of nested values in the window: each kind, by mouse and keys, what they say of how much they hold."""

from __future__ import annotations

import threading

import awkward as ak
import numpy as np
import pytest
from nested_double import events, made_node
from nested_in_window import ShowCharts, rest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed

from refbrowser.app.plot import nested_charts as charts_pane
from refbrowser.app.plot.nested_charts import ChartKind, ChartsPane
from refbrowser.app.widgets import theme
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nested import NestedFault
from refbrowser.views.nested import nested_tally as nested_collect


def charts(pane: ChartsPane, qtbot: QtBot, kind: ChartKind, *fields: str) -> None:
    """Show a plot of fields."""
    pane.choice.choose(kind, *fields)
    rest(pane, qtbot)


@pytest.mark.slow
def test_a_histogram_counts_every_number_once(show_charts: ShowCharts, qtbot: QtBot) -> None:
    array = events()
    pane = show_charts(made_node(array))
    charts(pane, qtbot, ChartKind.HISTOGRAM, "particles.pt")
    bars = pane.stage.bars
    assert pane.stage.currentWidget() is bars
    numbers = ak.to_numpy(ak.flatten(array.particles.pt))
    assert bars.bars().total == len(numbers)
    counts, _edges = np.histogram(numbers, bars.bars().edges)
    assert counts.tolist() == bars.bars().counts.tolist()
    assert bars.accessibleName() == "How often values of particles.pt occur"
    assert "most frequent" in bars.accessibleDescription()


@pytest.mark.slow
def test_facts_beside_the_plot(show_charts: ShowCharts, qtbot: QtBot) -> None:
    array = events()
    pane = show_charts(made_node(array))
    charts(pane, qtbot, ChartKind.HISTOGRAM, "met")
    met = ak.to_numpy(ak.drop_none(array.met))
    facts = pane.facts.facts()
    assert facts["Rows"] == "200"
    assert facts["Values"] == str(len(met))
    assert facts["Missing"] == str(200 - len(met))
    assert facts["Greatest"] == f"{met.max():.6g}"
    charts(pane, qtbot, ChartKind.HISTOGRAM, "particles.eta")
    sizes = ak.to_numpy(ak.num(array.particles))
    facts = pane.facts.facts()
    assert facts["Lists"] == "200"
    assert facts["Length"] == f"0 to {sizes.max()}"
    assert facts["Mean length"] == f"{sizes.mean():.4g}"
    assert "kB" in facts["Memory"]
    assert pane.extent.text() == "All 200 rows"


def test_bars_are_reached_by_keys_and_pointer(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node([[1, 2, 2], [2, 5]]))
    charts(pane, qtbot, ChartKind.HISTOGRAM)
    bars = pane.stage.bars
    assert bars.bars().counts.tolist() == [1, 3, 0, 0, 1]
    said: list[str] = []
    pane.said.connect(said.append)
    qtbot.keyClick(bars, Qt.Key.Key_Right)
    assert said[-1] == "1: 1 values"
    qtbot.keyClick(bars, Qt.Key.Key_Right)
    assert said[-1] == "2: 3 values"
    middle = bars.mapFromScene(bars.box.mapViewToScene(bars.box.viewRect().center()))
    qtbot.mouseMove(bars.viewport(), middle)
    qtbot.mouseMove(bars.viewport(), middle + QPoint(1, 1))
    assert said[-1] == "3: 0 values"


@pytest.mark.slow
def test_logarithmic_counts(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node([[0] * 1000 + [1]]))
    charts(pane, qtbot, ChartKind.HISTOGRAM)
    choice, bars = pane.choice, pane.stage.bars
    assert not bars.upwards.log
    qtbot.mouseClick(choice.log, Qt.MouseButton.LeftButton)
    assert bars.upwards.log
    assert bars.bars().counts.tolist() == [1000, 1]


@pytest.mark.slow
def test_lengths_of_lists_by_level(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node([[[1, 2], []], [[3]], []]))
    charts(pane, qtbot, ChartKind.LENGTHS)
    choice, bars = pane.choice, pane.stage.bars
    assert bars.bars().counts.tolist() == [1, 1, 1]
    assert choice.levels.isVisible()
    choice.levels.setCurrentIndex(1)
    choice.levels.activated.emit(1)
    assert bars.bars().counts.tolist() == [1, 1, 1]
    assert bars.bars().total == 3
    choice.levels.setCurrentIndex(0)
    choice.levels.activated.emit(0)
    assert [int(edge) for edge in bars.bars().edges] == [0, 0, 1, 2]


def test_values_by_row(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node([[1.5, 2.5], [], [3.5]]))
    charts(pane, qtbot, ChartKind.INDEX)
    points = pane.stage.points
    across, upwards = points.points()
    assert across.tolist() == [0, 0.5, 2], "values of a row lie side by side"
    assert upwards.tolist() == [1.5, 2.5, 3.5]
    said: list[str] = []
    pane.said.connect(said.append)
    for _ in range(3):
        qtbot.keyClick(points, Qt.Key.Key_Right)
    assert said[-1] == "row 2   events 3.5"


@pytest.mark.slow
def test_a_field_against_another(show_charts: ShowCharts, qtbot: QtBot) -> None:
    array = events()
    pane = show_charts(made_node(array))
    charts(pane, qtbot, ChartKind.FIELDS, "particles.pt", "particles.eta")
    points = pane.stage.points
    across, upwards = points.points()
    assert np.allclose(across, ak.to_numpy(ak.flatten(array.particles.eta)))
    assert np.allclose(upwards, ak.to_numpy(ak.flatten(array.particles.pt)))
    assert points.accessibleName() == "particles.pt against particles.eta"
    charts(pane, qtbot, ChartKind.FIELDS, "particles.pt", "met")
    across, upwards = points.points()
    met = ak.to_numpy(ak.fill_none(array.met, np.nan))
    assert np.array_equal(across, np.repeat(met, ak.to_numpy(ak.num(array.particles))), equal_nan=True)
    position = points.box.mapViewToScene(points.box.viewRect().center())
    qtbot.mouseMove(points.viewport(), points.mapFromScene(position))


def test_an_array_against_one_beside_it(show_charts: ShowCharts, qtbot: QtBot) -> None:
    here, other = made_node([[1, 2], [3]]), made_node([[4.5, 5.5], [6.5]], path="/other")
    pane = show_charts(here, other, made_node([[1]], path="/shorter"))
    across = pane.choice.across
    charts(pane, qtbot, ChartKind.FIELDS, "", "other")
    assert [across.itemText(row) for row in range(across.count())] == ["events", "other"]
    assert [each.tolist() for each in pane.stage.points.points()] == [[4.5, 5.5, 6.5], [1, 2, 3]]


@pytest.mark.slow
def test_fields_that_do_not_belong_together(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node([{"a": [1, 2], "b": [1]}, {"a": [3], "b": [4, 5]}]))
    charts(pane, qtbot, ChartKind.FIELDS, "a", "b")
    assert pane.cards.isVisible()
    assert "different lengths" in pane.cards.text()
    charts(pane, qtbot, ChartKind.FIELDS, "a", "a")
    assert pane.stage.isVisible()


@pytest.mark.slow
def test_a_plot_of_the_first_rows_says_so(show_charts: ShowCharts, qtbot: QtBot, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(charts_pane, "UNASKED", 1_000)
    monkeypatch.setattr(nested_collect, "HELD", 9_000)
    pane = show_charts(made_node(ak.Array(np.arange(20_000.0))))
    charts(pane, qtbot, ChartKind.HISTOGRAM)
    assert pane.extent.text().startswith("First ")
    assert pane.extent.text().endswith("of 20\N{NARROW NO-BREAK SPACE}000 rows (*)")
    assert pane.stage.bars.bars().total < 20_000
    assert "Values *" in pane.facts.facts()
    assert pane.all.isVisible()
    qtbot.mouseClick(pane.all, Qt.MouseButton.LeftButton)
    rest(pane, qtbot)
    assert pane.extent.text() == "All 20\N{NARROW NO-BREAK SPACE}000 rows"
    assert pane.stage.bars.bars().total == 20_000
    assert not pane.all.isVisible()
    charts(pane, qtbot, ChartKind.INDEX)
    held = len(pane.stage.points.points()[0])
    assert 1_000 < held <= 9_000
    assert pane.extent.text().startswith("First ")
    assert pane.facts.facts()["Values"] == "20\N{NARROW NO-BREAK SPACE}000"


def test_reading_is_cancelled_and_what_came_stays(show_charts: ShowCharts, qtbot: QtBot) -> None:
    waits, goes_on = threading.Event(), threading.Event()

    def hold(start: int, stop: int) -> None:
        if start and not goes_on.is_set():
            waits.set()
            goes_on.wait(20)

    pane = show_charts(made_node([[number] for number in range(600)], refuse=hold))
    qtbot.waitUntil(waits.is_set)
    assert pane.cancel.isVisible()
    qtbot.mouseClick(pane.cancel, Qt.MouseButton.LeftButton)
    goes_on.set()
    rest(pane, qtbot)
    assert not pane.cancel.isVisible()
    assert not pane.progress.isVisible()


@pytest.mark.slow
def test_many_points_are_shown_as_densities(show_charts: ShowCharts, qtbot: QtBot) -> None:
    numbers = np.random.default_rng(1).normal(size=50_000)
    pane = show_charts(made_node(ak.Array(numbers)))
    charts(pane, qtbot, ChartKind.INDEX)
    points = pane.stage.points
    assert len(points.points()[0]) == 50_000
    before = points.box.viewRange()
    points.box.scaleBy((0.5, 0.5))
    assert points.box.viewRange() != before
    qtbot.keyClick(points, Qt.Key.Key_Home)
    assert np.allclose(points.box.viewRange(), before)
    QApplication.processEvents()


def test_texts_have_no_numbers(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node([["a", "b"], ["c"]]))
    rest(pane, qtbot)
    kind = pane.choice.kind
    assert [kind.itemText(row) for row in range(kind.count())] == ["Lengths of lists"]
    assert pane.stage.bars.bars().total == 2
    assert pane.facts.facts()["Values"] == "3"
    pane = show_charts(made_node(["a", "b"]))
    rest(pane, qtbot)
    assert "no numbers" in pane.stage.hint.text()


def test_missing_and_unreadable_values_are_counted_apart(show_charts: ShowCharts, qtbot: QtBot) -> None:
    broken = RefbrowserError(ErrorKind.DECODE, "its bytes are damaged")
    array = ak.Array([{"a": 1.5, "b": None}, {"a": None, "b": None}])
    pane = show_charts(made_node(array, faults=(NestedFault("b", broken),)))
    charts(pane, qtbot, ChartKind.HISTOGRAM, "a")
    assert pane.facts.facts()["Missing"] == "1"
    assert "Unreadable" not in pane.facts.facts()


def test_an_error_is_a_card(show_charts: ShowCharts, qtbot: QtBot) -> None:
    def refuse(start: int, stop: int) -> None:
        raise RefbrowserError(ErrorKind.SOURCE, "the server does not answer")

    pane = show_charts(made_node([[1], [2]], refuse=refuse))
    charts(pane, qtbot, ChartKind.HISTOGRAM)
    assert pane.cards.isVisible()
    assert "does not answer" in pane.cards.text()


@pytest.mark.slow
def test_the_theme_and_the_size_may_change(show_charts: ShowCharts, qtbot: QtBot) -> None:
    pane = show_charts(made_node(events()))
    charts(pane, qtbot, ChartKind.INDEX, "particles.pt")
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    try:
        theme.apply(application, theme.DARK)
        pane.restyle()
        assert pane.stage.points.backgroundBrush().color().name() == theme.DARK.surface
    finally:
        theme.apply(application, theme.LIGHT)
    pane.window().resize(380, 330)
    facts, stage = pane.facts, pane.stage

    def is_below() -> bool:
        return facts.mapTo(pane, QPoint()).y() > stage.mapTo(pane, QPoint()).y() + stage.height()

    qtbot.waitUntil(is_below)
    assert unnamed(pane) == []
