"""What is drawn over a picture: offered where it suits, switched, told what is shown, taken away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from plot_memory import MemoryDocument, array
from PySide6.QtWidgets import QToolButton

from refbrowser.app.plot.canvas import View
from refbrowser.app.plot.drawing import DrawnOverlay
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.views.overlays import overlay_table
from refbrowser.views.overlays.overlay import Overlay
from refbrowser.views.plot.picture import Picture

Plotted = Callable[..., MemoryDocument]
TOLD: list[str] = []


class Telling(DrawnOverlay):
    """Notes what it is asked."""

    def set_slice(self) -> None:
        assert self._drawing.slice is not None
        TOLD.append(f"slice {self._drawing.slice.text()}")

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        TOLD.append("picture" if base is not None else "no picture")

    def draw(self, view: View) -> None:
        TOLD.append("drawn")

    def clear(self) -> None:
        TOLD.append("cleared")


@pytest.fixture(autouse=True)
def _one_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    TOLD.clear()
    telling = Overlay(
        name="telling",
        text="Telling",
        tip="Tells what it is asked",
        suits=lambda drawn: drawn.shown.units == "K",
        drawn_by=f"{__name__}:Telling",
    )
    monkeypatch.setattr(overlay_table, "OVERLAYS", (telling,))


def field(units: str = "K", shape: tuple[int, ...] = (4, 6, 8)) -> tuple:
    node, values = array(
        "/t", np.arange(np.prod(shape), dtype=float).reshape(shape), ("z", "y", "x")[-len(shape) :]
    )
    node.attributes["units"] = units
    return node, values


def entries(pane: PlotPane) -> list[tuple[str, bool]]:
    button = pane.findChild(QToolButton, "overlaysButton")
    assert button is not None
    if button.isHidden():
        return []
    return [(entry.text(), entry.isChecked()) for entry in button.menu().actions()]


def test_it_is_offered_where_it_suits(plotted: Plotted, pane: PlotPane) -> None:
    plotted(field())
    assert entries(pane) == [("Telling", False)]
    plotted(field("m"))
    assert entries(pane) == []


def test_lines_have_none(plotted: Plotted, pane: PlotPane) -> None:
    plotted(field(shape=(8,)))
    assert entries(pane) == []


def test_it_is_drawn_once_it_is_chosen(plotted: Plotted, pane: PlotPane) -> None:
    plotted(field())
    assert TOLD == []
    pane.header.overlays.menu().actions()[0].trigger()
    assert TOLD == ["slice 0,:,:", "picture", "drawn"]
    assert entries(pane) == [("Telling", True)]
    assert pane.look().options.overlaid == {"telling"}


def test_it_follows_the_slider(plotted: Plotted, pane: PlotPane, qtbot) -> None:
    plotted(field())
    pane.look().set_overlay("telling", True)
    TOLD.clear()
    pane.set_index(0, 2)
    qtbot.waitUntil(pane.is_settled)
    assert [told for told in TOLD if told != "drawn"][:2] == ["slice 2,:,:", "picture"]
    assert TOLD[-1] == "drawn"


def test_the_choice_is_kept_for_the_next_array(plotted: Plotted, pane: PlotPane) -> None:
    plotted(field())
    pane.look().set_overlay("telling", True)
    TOLD.clear()
    plotted(field("m"))
    assert TOLD[-1] == "cleared"
    TOLD.clear()
    plotted(field())
    assert TOLD[-1] == "drawn"


def test_it_is_taken_away(plotted: Plotted, pane: PlotPane) -> None:
    plotted(field())
    pane.look().set_overlay("telling", True)
    TOLD.clear()
    pane.look().set_overlay("telling", False)
    assert TOLD == ["cleared"]
    pane.look().set_overlay("telling", True)
    TOLD.clear()
    pane.clear()
    assert TOLD[-1] == "cleared"
