"""Animation: frames one after the other, each shown; play, pause, speed, direction, ending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plot_memory import MemoryDocument, array, source_error
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSlider, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.animation import Animation
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.plot.reader import HOLD

Plotted = Callable[..., MemoryDocument]
LEFT = Qt.MouseButton.LeftButton


def child(pane: PlotPane, kind: type, name: str) -> Any:
    found = pane.findChild(kind, name)
    assert found is not None, name
    return found


def frames(times: int = 6, levels: int = 3) -> np.ndarray:
    return np.broadcast_to(
        np.arange(times * levels, dtype="f8").reshape(times, levels, 1, 1), (times, levels, 10, 12)
    ).copy()


@pytest.fixture
def movie(plotted: Plotted, pane: PlotPane) -> MemoryDocument:
    return plotted(array("/field", frames(), ("time", "level", "y", "x"), (1, 1, 10, 12)))


class Watch:
    """The indices and values of the frames that were on the screen."""

    def __init__(self, pane: PlotPane, dimension: int = 0) -> None:
        self.pane, self.dimension = pane, dimension
        self.indices: list[int] = []
        self.values: list[float] = []
        pane.tools.animation.frameShown.connect(self.note)

    def note(self) -> None:
        picture = self.pane.picture()
        assert picture is not None
        assert picture.all_done
        self.indices.append(picture.plan.slice.indices[self.dimension])
        self.values.append(float(picture.values[0, 0]))


def play(qtbot: QtBot, pane: PlotPane, dimension: str = "time") -> Animation:
    qtbot.mouseClick(child(pane, QToolButton, f"play_{dimension}"), LEFT)
    animation = pane.tools.animation
    assert animation.is_playing
    animation.set_speed(60)
    return animation


def test_every_frame_is_shown_in_its_order(movie: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    watch = Watch(pane)
    animation = play(qtbot, pane)
    qtbot.waitUntil(lambda: len(watch.indices) >= 14)
    animation.pause()
    assert watch.indices[:14] == [1, 2, 3, 4, 5, 0] * 2 + [1, 2]
    assert watch.values[:3] == [3, 6, 9]
    count = len(watch.indices)
    qtbot.wait(80)
    assert len(watch.indices) == count


def test_space_plays_and_pauses_the_slider_in_use(
    movie: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    watch = Watch(pane, 1)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Space)
    animation = pane.tools.animation
    assert animation.is_playing
    assert animation.dimension == 1, "the slider that the keyboard steps"
    qtbot.waitUntil(lambda: len(watch.indices) >= 2)
    assert watch.indices[:2] == [1, 2]
    button = child(pane, QToolButton, "play_level")
    assert button.accessibleName() == "Pause level"
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Space)
    assert not animation.is_playing
    assert button.accessibleName() == "Play along level"
    assert child(pane, QWidget, "animationReached").text() == "paused"


@pytest.mark.parametrize("ahead", [True, False])
def test_a_frame_that_is_late_is_waited_for(
    movie: MemoryDocument, pane: PlotPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, ahead: bool
) -> None:
    if not ahead:
        # As where the frames are too large to be read before they are due.
        monkeypatch.setattr("refbrowser.views.plot.plan.AHEAD_CHUNKS", 0)
    movie.session.gate.clear()
    movie.session.held = lambda path, coords: coords[0] == 3
    watch = Watch(pane)
    play(qtbot, pane)
    qtbot.waitUntil(lambda: watch.indices[-1:] == [2])
    qtbot.wait(250)
    assert watch.indices == [1, 2]
    reads = [selection.axes[0][0] for _path, selection in movie.session.reads]
    assert reads.count(3) == 1, "it is not read twice"
    assert pane.picture().plan.slice.indices[0] == 2, "the frame before it stays, whole"  # type: ignore[union-attr]
    movie.session.gate.set()
    qtbot.waitUntil(lambda: len(watch.indices) >= 5)
    assert watch.indices[:5] == [1, 2, 3, 4, 5]
    words = child(pane, QWidget, "animationReached")
    assert "frames/s reached" in words.text()
    assert "limited by loading" in words.text()


def test_frames_are_read_before_they_are_due(movie: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    movie.session.reads.clear()
    animation = play(qtbot, pane)
    animation.set_speed(0.5)

    def read() -> list[int]:
        return [selection.axes[0][0] for _path, selection in movie.session.reads]

    qtbot.waitUntil(lambda: set(read()) >= {1, 2, 3, 4, 5})
    assert pane.slice_state().indices[0] <= 1  # type: ignore[union-attr]
    qtbot.wait(50)
    assert [read().count(index) for index in (2, 3, 4, 5)] == [1, 1, 1, 1], "each once"


def test_back_and_forth_once_and_backwards(movie: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    pane.set_index(0, 4)
    qtbot.waitUntil(pane.is_settled)
    watch, animation = Watch(pane), pane.tools.animation
    ending = child(pane, QComboBox, "animationEnding")
    ending.setCurrentText("Back and forth")
    ending.activated.emit(ending.currentIndex())
    play(qtbot, pane)
    qtbot.waitUntil(lambda: len(watch.indices) >= 4)
    assert watch.indices[:4] == [5, 4, 3, 2]
    animation.pause()
    qtbot.waitUntil(pane.is_settled)
    pane.set_index(0, 4)
    qtbot.waitUntil(pane.is_settled)
    watch.indices.clear()
    ending.setCurrentText("Once")
    ending.activated.emit(ending.currentIndex())
    play(qtbot, pane)
    qtbot.waitUntil(lambda: not animation.is_playing)
    assert watch.indices == [5]
    watch.indices.clear()
    play(qtbot, pane)
    qtbot.waitUntil(lambda: not animation.is_playing)
    assert watch.indices == [0, 1, 2, 3, 4, 5], "from the beginning again"
    watch.indices.clear()
    qtbot.mouseClick(child(pane, QToolButton, "animationBackwards"), LEFT)
    play(qtbot, pane)
    qtbot.waitUntil(lambda: not animation.is_playing)
    assert watch.indices == [4, 3, 2, 1, 0]


def test_the_speed_is_kept(movie: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    watch = Watch(pane)
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Space)
    field = child(pane, QDoubleSpinBox, "animationSpeed")
    assert field.isVisible()
    field.setValue(20)
    assert pane.tools.animation.speed == 20
    with qtbot.waitSignals([pane.tools.animation.frameShown] * 12):
        pass
    reached = pane.tools.animation.tempo.reached
    assert reached is not None
    assert reached < 40, "not as quick as it can"
    assert watch.indices


@pytest.mark.parametrize("how", ["escape", "array", "edit", "clear", "axes", "close"])
def test_what_ends_it(
    movie: MemoryDocument, pane: PlotPane, qtbot: QtBot, how: str, plotted: Plotted
) -> None:
    animation = play(qtbot, pane)
    with qtbot.waitSignals([animation.frameShown] * 2):
        pass
    if how == "escape":
        qtbot.keyClick(pane.canvas, Qt.Key.Key_Escape)
    elif how == "array":
        plotted(array("/other", frames(3), ("time", "level", "y", "x")))
    elif how == "edit":
        node, _values = array("/field", frames(), ("time", "level", "y", "x"), (1, 1, 10, 12), units="K")
        movie.set_nodes({"field": node})
        movie.hierarchyChanged.emit()
    elif how == "clear":
        pane.clear()
    elif how == "axes":
        pane.header.yChosen.emit(0)
    else:
        qtbot.mouseClick(child(pane, QToolButton, "animationClose"), LEFT)
        assert not child(pane, QWidget, "animationBar").isVisible()
    assert not animation.is_playing
    assert pane._presenter.loader.hold == HOLD
    qtbot.waitUntil(pane.is_settled)
    state = pane.slice_state()
    qtbot.wait(100)
    assert pane.slice_state() == state


def test_the_keys_of_the_plot_work_after_a_click_on_play(
    movie: MemoryDocument, pane: PlotPane, qtbot: QtBot
) -> None:
    slider = child(pane, QSlider, "slider_time")
    slider.setFocus()
    animation = play(qtbot, pane)
    assert pane.focusWidget() is pane.canvas
    qtbot.keyClick(pane.focusWidget(), Qt.Key.Key_Space)
    assert not animation.is_playing
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Escape):
        animation.play(0)
        qtbot.keyClick(slider, key)
        assert not animation.is_playing, key
    qtbot.waitUntil(pane.is_settled)
    qtbot.keyClick(slider, Qt.Key.Key_P)
    assert pane.tools.is_profile
    qtbot.keyClick(slider, Qt.Key.Key_S)
    assert pane.tools.is_series


def test_it_stops_where_nothing_can_be_read(movie: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    movie.session.fate = lambda path, coords: source_error()
    animation = play(qtbot, pane)
    qtbot.waitUntil(lambda: not animation.is_playing)
    assert pane.page() is pane.cards


def test_it_goes_on_from_where_the_user_moves_it(movie: MemoryDocument, pane: PlotPane, qtbot: QtBot) -> None:
    watch = Watch(pane)
    animation = play(qtbot, pane)
    animation.set_speed(2)
    with qtbot.waitSignal(animation.frameShown):
        pass
    pane.set_index(0, 4)
    watch.indices.clear()
    animation.set_speed(60)
    qtbot.waitUntil(lambda: len(watch.indices) >= 3)
    assert watch.indices[:2] in ([4, 5], [5, 0])
    animation.pause()


def test_without_a_slider_there_is_nothing_to_play(plotted: Plotted, pane: PlotPane, qtbot: QtBot) -> None:
    plotted(array("/field", np.ones((4, 5)), ("y", "x")))
    qtbot.keyClick(pane.canvas, Qt.Key.Key_Space)
    assert not pane.tools.animation.is_playing
    assert not pane.tools.can_series
