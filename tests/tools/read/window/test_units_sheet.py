"""Units of a plot in the window: picture, colour bar, readout, table and copied lines are in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.commands.copying import code_for, shown_by
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.jobs import JobControl
from refbrowser.io.cancel import CancelToken
from refbrowser.tools.read.window.units_sheet import UnitsSheet
from refbrowser.views.plot.units import conversion_of, in_units

pytest.importorskip("cf_units")

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.mark.slow
def test_a_plot_in_other_units(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    document = opened(tmp_path / refbrowser.sample())
    settle()
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    plot = window.centre.plot
    assert plot is not None
    window.actions_["choose_units"].trigger()
    sheet = window.findChild(UnitsSheet)
    assert sheet is not None
    choice, outcome = sheet.findChild(QComboBox, "unitsChoice"), sheet.findChild(QLabel, "unitsOutcome")
    assert choice is not None
    assert outcome is not None
    choice.setEditText("m")
    qtbot.waitUntil(lambda: "they measure different things" in outcome.text())
    assert not button(sheet, "unitsButton").isEnabled()
    choice.setEditText("K")
    qtbot.waitUntil(button(sheet, "unitsButton").isEnabled)
    assert outcome.text() == "1 degree_Celsius is 274.15 K"
    assert "degF" in [choice.itemText(row) for row in range(choice.count())]
    button(sheet, "unitsButton").click()
    settle()
    node = plot.array()
    assert node is not None
    assert node.attributes["units"] == "K"
    shown = shown_by(plot)
    assert shown is not None
    lines = code_for(shown, JobControl(CancelToken()), with_xarray=True, is_edited=False)
    assert lines.endswith("values = values * 1.0 + 273.15  # K\n")
    state = plot.state()
    assert state is not None
    assert state.units == "K"
    plot.look().set_units(None)
    settle()
    assert plot.array() is not None
    assert plot.array().attributes["units"] == "degree_Celsius"
    plot.restore(document, state)
    settle()
    assert plot.array().attributes["units"] == "K"


def test_physical_bounds_are_converted_and_stored_values_stay(tmp_path: Path) -> None:
    from refbrowser.model.cf import Packing
    from refbrowser.model.data_type import DataType
    from refbrowser.model.nodes import ArrayNode

    attributes = {"units": "K", "scale_factor": 0.5, "add_offset": 200.0, "valid_range": [210.25, 300.0]}
    node = ArrayNode(path="/t", shape=(4,), type=DataType.of(np.dtype("i2")), attributes=attributes)
    found = in_units(node, conversion_of(node, "degC"))
    values = np.array([0, 20, 21, 300], "i2")
    expected = Packing.of(node).decode(values) - 273.15
    np.testing.assert_allclose(Packing.of(found).decode(values), expected, atol=1e-9)
    assert np.isnan(expected).tolist() == [True, True, False, True]
    assert in_units(found, conversion_of(node, "degC")) is found
