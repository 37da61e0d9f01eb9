"""The chunk map of 1,000,000 chunks in the real window: first paint, pan, zoom, and gaps meanwhile."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from documents import write_large
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from report import figure, heading
from window import Gaps, pause, shown_window, wait

from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
from refbrowser.app.panes.chunk_map_view import ChunkMapView
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.chunks.chunk_colouring import ColourBy

GRID = (1000, 1000)
STEPS = 60
PAINT_AIM, STEP_AIM = "at most 100 ms", "at most 16 ms"


class Paints(QObject):
    """Notes when the map was painted with cells."""

    def __init__(self, view: ChunkMapView) -> None:
        super().__init__()
        self._view = view
        self.times: list[float] = []
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._view.painting.maps:
            # The time is that of the end of the paint: it is done here, once.
            self._view.removeEventFilter(self)
            QCoreApplication.sendEvent(watched, event)
            self._view.installEventFilter(self)
            self.times.append(time.perf_counter())
            return True
        return False


def settled(window: MainWindow, pane: ChunkMapPane) -> Callable[[], bool]:
    plot = window.centre.plot
    return lambda: pane.is_settled() and not window.tasks.busy() and (plot is None or plot.is_settled())


def first_paint(window: MainWindow, pane: ChunkMapPane, rounds: int = 8) -> None:
    """From the array that is set to its first painted cells, and to all of them."""
    document = window.documents.current
    assert document is not None
    assert document.hierarchy is not None
    node = document.hierarchy.find("/v00")
    firsts, wholes = [], []
    view = pane.view
    paints = Paints(view)
    with Gaps() as gaps:
        for _ in range(rounds):
            pane.clear()
            pause(0.1)
            paints.times.clear()
            start = time.perf_counter()
            pane.set_array(document, node)  # type: ignore[arg-type]
            wait(lambda: bool(paints.times))
            firsts.append(1e3 * (paints.times[0] - start))
            wait(lambda: (shown := view.coloured()) is not None and shown.is_complete and pane.is_settled())
            wholes.append(1e3 * (time.perf_counter() - start))
    view.removeEventFilter(paints)
    figure(f"first paint, median of {rounds}", statistics.median(firsts), "ms", aim=PAINT_AIM)
    figure("first paint, slowest", max(firsts), "ms")
    figure("every chunk looked at and painted, median", statistics.median(wholes), "ms")
    gaps.report("event loop meanwhile")


def report_steps(what: str, times: list[float]) -> None:
    figure(f"{what}, median of {len(times)}", statistics.median(times), "ms", aim=STEP_AIM)
    figure(f"{what}, slowest", max(times), "ms")


def dragged(view: ChunkMapView) -> list[float]:
    """Drag the map with the mouse; the milliseconds from each move to the end of its paint."""
    times = []
    place = QPoint(view.width() // 2, view.height() // 2)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=place)
    for step in range(STEPS):
        place += QPoint(9, 3) if step < STEPS // 2 else QPoint(-9, -3)
        start = time.perf_counter()
        QTest.mouseMove(view, place)
        view.repaint()
        times.append(1e3 * (time.perf_counter() - start))
        pause(0.016)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=place)
    return times


def turn(view: ChunkMapView, notches: int) -> float:
    """Turn the wheel in the middle of the map; return the milliseconds to the end of the paint."""
    place = QPointF(view.width() / 2, view.height() / 2)
    event = QWheelEvent(
        place, view.mapToGlobal(place), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    start = time.perf_counter()
    QApplication.sendEvent(view, event)
    view.repaint()
    return 1e3 * (time.perf_counter() - start)


def walked(view: ChunkMapView) -> list[float]:
    """Move the cursor by keys; the milliseconds from each key to the end of the paint."""
    view.setFocus()
    times = []
    for step in range(STEPS):
        start = time.perf_counter()
        QTest.keyClick(view, Qt.Key.Key_Right if step % 5 else Qt.Key.Key_PageDown)
        view.repaint()
        times.append(1e3 * (time.perf_counter() - start))
        pause(0.016)
    return times


def moving(window: MainWindow, pane: ChunkMapPane, what: str) -> None:
    """Zoom, pan and step, at few and at many pixels for each chunk."""
    view = pane.view
    view.fit()
    wait(settled(window, pane))
    with Gaps() as gaps:
        zooms = []
        for notch in (2, *[1] * 16):
            zooms.append(turn(view, notch))
            pause(0.016)
            if len(zooms) in (1, 8, 17):
                report_steps(f"{what}: pan, {view.viewport.across:.2g} pixels for a chunk", dragged(view))
        report_steps(f"{what}: zoom", zooms)
        view.fit()
        report_steps(f"{what}: step of the cursor", walked(view))
        wait(settled(window, pane))
    gaps.report(f"{what}: event loop meanwhile")


def recolouring(window: MainWindow, pane: ChunkMapPane) -> None:
    """From a choice of colours to the painted map."""
    times = []
    with Gaps() as gaps:
        for by in (ColourBy.URL, ColourBy.SIZE, ColourBy.STATE) * 4:
            start = time.perf_counter()
            pane.colour_by(by)
            wait(lambda by=by: (shown := pane.view.coloured()) is not None and shown.by is by)
            pane.view.repaint()
            times.append(1e3 * (time.perf_counter() - start))
            pause(0.05)
    figure(f"other colours, median of {len(times)}", statistics.median(times), "ms")
    gaps.report("event loop meanwhile")


def main() -> None:
    """Print the figures."""
    heading("Chunk map of 1,000,000 chunks (no peer has one)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_large(folder / "large.json", GRID[0] * GRID[1], GRID, run=5_000)
        with shown_window(folder) as window:
            for size in ((1280, 800), (2560, 1440)):
                window.resize(*size)
                document = window.open_path(str(path), array="/v00")
                wait(lambda document=document: document.is_open or document.error is not None)
                wait(lambda: window.chunk_map.pane is not None)
                pane = window.chunk_map.pane
                assert pane is not None
                window.docks.raise_("chunkMapDock")
                wait(lambda pane=pane: pane.array() is not None)
                wait(settled(window, pane))
                print(f"  {size[0]} x {size[1]}: map of {pane.view.width()} x {pane.view.height()} pixels")
                first_paint(window, pane)
                moving(window, pane, f"{size[0]} x {size[1]}")
                recolouring(window, pane)
                window.documents.close(document)
                pause(0.3)


if __name__ == "__main__":
    main()
