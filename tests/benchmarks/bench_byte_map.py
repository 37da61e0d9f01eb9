"""The byte map of 1,000,000 ranges of a file in the real window: first paint, pan, zoom, gaps meanwhile."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from report import figure, heading
from window import Gaps, pause, shown_window, wait

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.io.plan import AUTOMATIC, PlanChoice
from refbrowser.tools.bytes.window.byte_map_pane import ByteMapPane
from refbrowser.tools.bytes.window.byte_map_view import ByteMapView
from refbrowser.tools.bytes.window.commands import ByteCommands

#: Chunks of each of four arrays, which take turns in the file.
GRID = (250, 1000)
ARRAYS = 4
STEPS = 60
PAINT_AIM, STEP_AIM = "at most 100 ms", "at most 16 ms"
URL = "s3://b/all.nc"


def write_set(path: Path) -> Path:
    """Write the arrays ``v0`` to ``v3``, 1,000,000 ranges of one file, with a gap after each fiftieth."""
    metadata = {
        "zarr_format": 2, "shape": [GRID[0] * 8, GRID[1] * 8], "chunks": [8, 8], "dtype": "<f4",
        "compressor": None, "filters": None, "fill_value": None, "order": "C",
    }  # fmt: skip
    with path.open("w") as file:
        file.write('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"')
        for number in range(ARRAYS):
            file.write(f', "v{number}/.zarray": {json.dumps(json.dumps(metadata))}')
            for row in range(GRID[0]):
                places = ((row * GRID[1] + column) * ARRAYS + number for column in range(GRID[1]))
                file.writelines(
                    f', "v{number}/{row}.{column}": ["{URL}", {8192 + at * 260 + at // 50 * 900}, 256]'
                    for column, at in enumerate(places)
                )
        file.write("}}")
    return path


class Paints(QObject):
    """Notes when bytes were painted."""

    def __init__(self, view: ByteMapView) -> None:
        super().__init__()
        self._view = view
        self.times: list[float] = []
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._view.painting.shown is not None:
            # The time is that of the end of the paint: it is done here, once.
            self._view.removeEventFilter(self)
            QCoreApplication.sendEvent(watched, event)
            self._view.installEventFilter(self)
            self.times.append(time.perf_counter())
            return True
        return False


def first_paint(pane: ByteMapPane, rounds: int = 8) -> None:
    """From the file that is chosen to its first painted bytes, by the clock and by the processor."""
    firsts, spent = [], []
    paints = Paints(pane.view)
    with Gaps() as gaps:
        for _ in range(rounds):
            pane.show_file("")
            wait(pane.is_settled)
            paints.times.clear()
            start, began = time.perf_counter(), time.process_time()
            pane.show_file(URL)
            wait(lambda: bool(paints.times) and pane.loader.shown is not None)
            spent.append(1e3 * (time.process_time() - began))
            firsts.append(1e3 * (paints.times[0] - start))
            wait(pane.is_settled)
    pane.view.removeEventFilter(paints)
    figure(f"first paint, median of {rounds}", statistics.median(firsts), "ms", aim=PAINT_AIM)
    figure("first paint, slowest", max(firsts), "ms")
    figure("first paint, processor, median", statistics.median(spent), "ms")
    gaps.report("event loop meanwhile")


def step(work: Callable[[], object], view: ByteMapView) -> tuple[float, float]:
    """Do something, paint; return the milliseconds to the end of that, by the clock and by the processor."""
    start, began = time.perf_counter(), time.thread_time()
    work()
    view.repaint()
    return 1e3 * (time.perf_counter() - start), 1e3 * (time.thread_time() - began)


def report_steps(what: str, steps: list[tuple[float, float]]) -> None:
    times, spent = zip(*steps, strict=True)
    figure(f"{what}, median of {len(times)}", statistics.median(times), "ms", aim=STEP_AIM)
    figure(f"{what}, slowest", max(times), "ms")
    figure(f"{what}, processor, median", statistics.median(spent), "ms")


def dragged(view: ByteMapView) -> list[tuple[float, float]]:
    """Drag the map with the mouse; return what each move takes."""
    times = []
    place = QPoint(view.width() // 2, view.height() // 2)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=place)
    for number in range(STEPS):
        place += QPoint(9, 7) if number < STEPS // 2 else QPoint(-9, -7)
        times.append(step(lambda: QTest.mouseMove(view, place), view))  # noqa: B023
        pause(0.016)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=place)
    return times


def turn(view: ByteMapView, notches: int) -> tuple[float, float]:
    """Turn the wheel in the middle of the map; return what it takes."""
    place = QPointF(view.width() / 2, view.height() / 2)
    event = QWheelEvent(
        place, view.mapToGlobal(place), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    return step(lambda: QApplication.sendEvent(view, event), view)


def moving(pane: ByteMapPane) -> None:
    """Zoom, pan and step, at many and at few bytes for each pixel."""
    view = pane.view
    view.fit()
    with Gaps() as gaps:
        zooms = []
        for _ in range(26):
            zooms.append(turn(view, 1))
            pause(0.016)
            if len(zooms) in (1, 13, 26):
                report_steps(f"pan, {view.viewport.scale:.2g} bytes for a pixel", dragged(view))
        report_steps("zoom", zooms)
        view.fit()
        view.setFocus()
        walks = []
        for number in range(STEPS):
            key = Qt.Key.Key_Right if number % 5 else Qt.Key.Key_PageDown
            walks.append(step(lambda: QTest.keyClick(view, key), view))  # noqa: B023
            pause(0.016)
        report_steps("step of the cursor", walks)
    gaps.report("event loop meanwhile")


def planning(window: MainWindow, pane: ByteMapPane) -> None:
    """From a slider to the plan of all 250,000 chunks of an array that is drawn."""
    from refbrowser.model.selection import Selection

    document = window.documents.current
    assert document is not None
    assert document.hierarchy is not None
    node = document.hierarchy.find("/v0")
    pane.loader.find_needs(document, node, Selection.whole(node.shape))  # type: ignore[arg-type, union-attr]
    wait(lambda: pane.loader.needs is not None and pane.is_settled())
    times = []
    with Gaps() as gaps:
        for power in range(10, 20):
            start = time.perf_counter()
            pane.panel.set_choice(PlanChoice(gap=1 << power))
            wait(pane.is_settled)
            times.append(1e3 * (time.perf_counter() - start))
    pane.panel.set_choice(AUTOMATIC)
    figure("a slider to the plan of 250,000 chunks, median", statistics.median(times), "ms")
    gaps.report("event loop meanwhile")


def main() -> None:
    heading("The byte map of 1,000,000 ranges")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_set(folder / "set.json")
        with shown_window(folder / "settings") as window:
            window.resize(1600, 1000)
            document = window.open_path(str(path))
            wait(lambda: document.hierarchy is not None and not window.tasks.busy())
            docks = window.groups[ByteCommands].docks
            docks.show_byte_map()
            wait(lambda: docks.bytes is not None)
            pane = docks.bytes
            assert pane is not None
            window.resizeDocks([window.docks["byteMapDock"]], [500], Qt.Orientation.Vertical)
            assert window.hierarchy.select_node(document, "/v0")
            wait(lambda: pane.loader.files is not None and pane.is_settled() and not window.tasks.busy())
            first_paint(pane)
            moving(pane)
            planning(window, pane)


if __name__ == "__main__":
    main()
