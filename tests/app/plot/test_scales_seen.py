"""The dialog of scales, what it does to the picture and the colour bar, and what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from refbrowser.app.dialogs.scale_dialog import ScaleDialog
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.views.plot.colouring import step_places
from refbrowser.views.plot.levels import Levels, Scale
from refbrowser.views.plot_states.plot_state import PlotState

Plotted = Callable[..., MemoryDocument]
FIELD = np.linspace(-20, 95, 4 * 30 * 40).reshape(4, 30, 40)


@pytest.fixture
def dialog(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> Iterator[ScaleDialog]:
    plotted(array("/field", FIELD, ("t", "y", "x"), (1, 30, 40)), array("/other", FIELD, ("t", "y", "x")))
    dialog = ScaleDialog(pane)
    dialog.show()
    yield dialog
    dialog.close()


def part(dialog: ScaleDialog, kind: type, name: str) -> Any:
    found = dialog.findChild(kind, name)
    assert found is not None, name
    return found


def choose(dialog: ScaleDialog, name: str, words: str) -> None:
    combo = part(dialog, QComboBox, name)
    combo.setCurrentText(words)
    combo.activated.emit(combo.currentIndex())


def write(dialog: ScaleDialog, name: str, text: str) -> None:
    field = part(dialog, QLineEdit, name)
    field.setText(text)
    field.setModified(True)
    field.editingFinished.emit()


def levels(pane: PlotPane) -> Levels:
    found = pane._presenter.drawing.keeper.levels
    assert found is not None
    return found


def test_steps_are_seen_in_picture_and_bar(dialog: ScaleDialog, pane: PlotPane) -> None:
    choose(dialog, "scaleSteps", "Steps with these edges")
    assert part(dialog, QLineEdit, "scaleEdges").isEnabled()
    assert "two edges" not in part(dialog, QLabel, "scaleFault").text()
    write(dialog, "scaleEdges", "-20, 0; 5 100")
    assert pane.bar.strip.edges == (-20, 0, 5, 100)
    assert [text for _value, text in pane.bar.strip.ticks()] == ["\N{MINUS SIGN}20", "0", "5", "100"]
    drawn = pane.canvas.image.indices
    assert set(np.unique(drawn).tolist()) <= set(step_places(3).tolist())
    first = FIELD[0, :: max(1, 30 // drawn.shape[0])]
    assert ((drawn == step_places(3)[0]) == (first < 0)).all()
    # Each step is as high as the others on the bar.
    span = pane.bar.strip.span
    assert span is not None
    heights = [pane.bar.strip.height_of(span, edge) for edge in pane.bar.strip.edges]
    np.testing.assert_allclose(np.diff(heights), np.diff(heights)[0])
    pane.look().set_histogram(True)
    heights = [pane.bar.strip.height_of(pane.bar.strip.span, edge) for edge in (-20, 0, 5)]
    assert heights[0] - heights[1] == pytest.approx(4 * (heights[1] - heights[2]))
    write(dialog, "scaleEdges", "3 2")
    assert part(dialog, QLabel, "scaleFault").text() == "Edges must rise"
    assert pane.bar.strip.edges == (-20, 0, 5, 100)
    choose(dialog, "scaleSteps", "Steps, about")
    part(dialog, QSpinBox, "scaleCount").setValue(6)
    assert len(pane.bar.strip.edges) == 7
    choose(dialog, "scaleSteps", "All colours of the map")
    assert pane.bar.strip.edges == ()


def test_centred_and_both_signs(dialog: ScaleDialog, pane: PlotPane) -> None:
    part(dialog, QCheckBox, "scaleCentred").click()
    assert levels(pane).low == -levels(pane).high
    write(dialog, "scaleCentre", "10")
    assert levels(pane).low + levels(pane).high == pytest.approx(20)
    choose(dialog, "scaleCurve", "Logarithms on both sides of zero")
    write(dialog, "scaleWithin", "0.5")
    assert levels(pane).linear == 0.5
    texts = [text for _value, text in pane.bar.strip.ticks()]
    assert {"0", "10"} <= set(texts)
    choose(dialog, "scaleCurve", "Logarithms")
    assert levels(pane).log
    assert pane.look().options.log
    part(dialog, QPushButton, "scaleResetButton").click()
    assert pane.look().options.scale == Scale()
    assert not pane.look().options.log
    assert not part(dialog, QCheckBox, "scaleCentred").isChecked()


def test_levels_are_kept_on_every_slice(dialog: ScaleDialog, pane: PlotPane, qtbot: QtBot) -> None:
    before = levels(pane)
    part(dialog, QCheckBox, "scaleFixed").click()
    pane.set_index(0, 3)
    qtbot.waitUntil(pane.is_settled)
    assert levels(pane) == before
    part(dialog, QCheckBox, "scaleFixed").click()
    pane.set_index(0, 2)
    qtbot.waitUntil(pane.is_settled)
    assert levels(pane) != before


def test_levels_of_the_whole_variable(dialog: ScaleDialog, pane: PlotPane, qtbot: QtBot) -> None:
    assert part(dialog, QLabel, "scaleCost").text() == "reads 4 chunks, 38.4 kB once decoded"
    part(dialog, QPushButton, "scaleWholeButton").click()
    qtbot.waitUntil(lambda: levels(pane) == Levels(-20, 95))
    assert pane.bar.high_words.text() == "maximum of all"
    assert pane.look().options.scale.is_fixed
    assert "95" in part(dialog, QLabel, "scaleCost").text()


def test_a_scale_is_remembered_with_its_array(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    document = plotted(array("/field", FIELD, ("t", "y", "x")), array("/other", FIELD * 2, ("t", "y", "x")))
    first, other = (document.hierarchy.find(path) for path in ("/field", "/other"))
    pane.look().set_scale(Scale(edges=(0.0, 10.0, 50.0)))
    told = pane.look().told(PlotState("/x", "/field"))
    pane.set_array(document, other)  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    assert pane.bar.strip.edges == ()
    pane.set_array(document, first)  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    assert pane.bar.strip.edges == (0, 10, 50)
    assert told.to_json()["scale"] == {"edges": [0, 10, 50]}
