"""Statistics beside the sliders: the picture is that of the expression, of all of a dimension or a part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.model.expressions.grammar import NamedArray
from refbrowser.views.derived.reductions import AxisReduction, reduced_text, reductions_of
from refbrowser.views.plot import series

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


def test_the_expression_of_statistics() -> None:
    time = AxisReduction("time", "mean", "2024-03..2024-05")
    assert time.words == "mean over time (2024-03..2024-05)"
    text = reduced_text(NamedArray("", "/a/t"), (time, AxisReduction("dim 1", "std", "@0:3")))
    assert text == "t_mean_std = std(mean(/a/t[time=2024-03..2024-05,dim 1@0:3], time), 'dim 1')"
    told = reductions_of("t_mean = mean(/a/t[time=2024-03..2024-05], time)")
    assert told == ("/a/t", (time,))
    assert reductions_of("t_mean = mean(/a/t - 1, time)") is None


@pytest.fixture
def plotted(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> OpenDocument:
    monkeypatch.chdir(tmp_path)
    document = opened(tmp_path / refbrowser.sample())
    settle()
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    return document


def choose(window: MainWindow, statistic: str) -> None:
    assert window.centre.plot is not None
    along = window.centre.plot.sliders.findChild(QComboBox, "along_time")
    assert along is not None
    along.setCurrentIndex(along.findText(statistic))
    along.activated.emit(along.currentIndex())


def values_shown(window: MainWindow) -> np.ndarray:
    assert window.centre.plot is not None
    picture = window.centre.plot.picture()
    assert picture is not None
    return picture.values


@pytest.mark.slow
def test_a_statistic_is_shown_in_the_place_of_the_array(
    window: MainWindow, plotted: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    with refbrowser.open(plotted.path) as dataset:
        whole = refbrowser.compute(dataset, "mean(/ocean/sst, time)")[...]
        part = refbrowser.compute(dataset, "max(/ocean/sst[time=2024-03..2024-05], time)")[...]
    plot = window.centre.plot
    assert plot is not None
    choose(window, "mean")
    qtbot.waitUntil(lambda: plot.source() is not plotted)
    settle()
    np.testing.assert_array_equal(values_shown(window), whole)
    assert plot.header.title.text().endswith("mean over time")
    first = plot.source()
    field = plot.sliders.findChild(QLineEdit, "part_time")
    assert field is not None
    field.setText("2024-03..2024-05")
    choose(window, "maximum")
    qtbot.waitUntil(lambda: plot.source() is not first)
    settle()
    np.testing.assert_array_equal(values_shown(window), part)
    # The one before is closed: it was made on the way.
    assert len(window.documents.all()) == 2
    field = plot.sliders.findChild(QLineEdit, "part_time")
    assert field is not None
    assert field.text() == "2024-03..2024-05"
    field.setText("1999")
    QTest.keyClick(field, "\r")
    qtbot.waitUntil(lambda: window.centre.error_bar.isVisibleTo(window.centre))
    choose(window, "one place")
    qtbot.waitUntil(lambda: plot.source() is plotted)
    settle()
    assert window.documents.all() == [plotted]
    assert plot.array() is not None
    assert plot.array().path == "/ocean/sst"


@pytest.mark.slow
def test_what_is_large_is_asked_about(
    window: MainWindow,
    plotted: OpenDocument,
    settle: Settle,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(series, "ASK_LOCAL_BYTES", 1000)
    plot = window.centre.plot
    assert plot is not None
    choose(window, "sum")
    qtbot.waitUntil(lambda: window.findChild(QMessageBox, "costQuestion") is not None)
    box = window.findChild(QMessageBox, "costQuestion")
    assert box is not None
    assert "Reads 24 chunks" in box.informativeText()
    assert plot.source() is plotted
    button(box, "costQuestionYes").click()
    qtbot.waitUntil(lambda: plot.source() is not plotted)
    settle()
