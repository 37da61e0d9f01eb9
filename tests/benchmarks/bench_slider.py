"""A slider step in the real window, with its chunks in memory: from the key to the painted picture."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from documents import write_array
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget
from report import figure, heading
from window import Gaps, pause, shown_window, wait

from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow

COUNT, SIDE = 8, 1000
STEPS = 40
#: A key that is held repeats after this long, in seconds.
REPEAT = 0.033


class Paints(QObject):
    """Counts the paintings of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count a painting that is about to be done."""
        self.count += event.type() == QEvent.Type.Paint
        return False


def press(plot: PlotPane, key: Qt.Key) -> None:
    """Press a key in the plot."""
    none = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(plot.canvas, QKeyEvent(QEvent.Type.KeyPress, key, none))


def shown_index(plot: PlotPane) -> int:
    """Return the index of the picture on the screen."""
    picture = plot.picture()
    return -1 if picture is None or not plot.is_settled() else picture.plan.slice.indices[0]


def index(plot: PlotPane) -> int:
    """Return the index that is asked for."""
    state = plot.slice_state()
    assert state is not None
    return state.indices[0]


def steps(window: MainWindow, path: Path, what: str) -> None:
    """Measure single steps, and the event loop while the key is held."""
    document = window.open_path(str(path))
    wait(lambda: document.is_open)
    window.hierarchy.select_node(document, "/field")
    plot = window.centre.plot
    assert plot is not None
    wait(lambda: plot.picture() is not None and plot.is_settled())
    plot.canvas.setFocus()
    for place in [*range(COUNT), 0]:
        plot.set_index(0, place)
        wait(lambda: shown_index(plot) == index(plot))
    paints = Paints(plot.canvas.viewport())
    times = []
    for step in range(STEPS):
        pause(0.3)
        key = Qt.Key.Key_Right if step // (COUNT - 1) % 2 == 0 else Qt.Key.Key_Left
        paints.count, start = 0, time.perf_counter()
        press(plot, key)
        wait(lambda: shown_index(plot) == index(plot) and paints.count > 0)
        times.append(1e3 * (time.perf_counter() - start))
    figure(f"{what}: median of {STEPS}", statistics.median(times), "ms", aim="at most 30 ms")
    figure(f"{what}: slowest", max(times), "ms")
    with Gaps() as gaps:
        for step in range(STEPS):
            press(plot, Qt.Key.Key_Right if step // (COUNT - 1) % 2 == 0 else Qt.Key.Key_Left)
            pause(REPEAT)
    gaps.report("event loop while the key is held")
    window.documents.close(document)


def main() -> None:
    """Print the figures for plain and for packed numbers."""
    heading(f"Slider step, {SIDE} x {SIDE}, chunks in memory, from the key to the painted picture")
    smooth = np.cumsum(np.random.default_rng(0).normal(size=(COUNT, SIDE, SIDE)), axis=2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        floats = write_array(folder, "floats", smooth.astype("<f4"), (1, 500, 500), units="K")
        packed = (smooth * 10).astype("<i2")
        packing = {"scale_factor": 0.1, "_FillValue": -9999}
        shorts = write_array(folder, "packed", packed, (1, 250, 250), **packing)
        with shown_window(folder) as window:
            window.resize(1920, 1200)
            steps(window, floats, "float32 in 4 chunks")
            steps(window, shorts, "packed int16 in 16 chunks")


if __name__ == "__main__":
    main()
