"""A document of 5,000,000 references: first rows, gaps of the event loop, jumps in the table of rows."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from report import figure, heading

ROWS = 5_000_000
COLD = """
import os, sys, time
from refbrowser.app import launch
from refbrowser.app.main_window import MainWindow
from refbrowser.app.references_view import ReferencesPane
painted = []
before = MainWindow._first_painted
def first_painted(window):
    painted.append(time.perf_counter())
    before(window)
MainWindow._first_painted = first_painted
shown = ReferencesPane.show_first_rows
def show(pane, rows):
    shown(pane, rows)
    pane.table.viewport().repaint()
    print(time.perf_counter() - painted[0], flush=True)
    os._exit(0)
ReferencesPane.show_first_rows = show
launch.run([sys.argv[1]])
"""


def make_document(path: Path) -> None:
    """Write a document as kerchunk does, of `ROWS` references in a hundred files."""
    array = {
        "zarr_format": 2,
        "shape": [ROWS],
        "chunks": [1],
        "dtype": "<f4",
        "compressor": None,
        "filters": None,
    }
    with path.open("w") as file:
        file.write('{"version": 1, "refs": {"a/.zarray": ')
        file.write(json.dumps(json.dumps({**array, "fill_value": 0, "order": "C"})))
        for start in range(0, ROWS, 100_000):
            rows = range(start, start + 100_000)
            file.write(
                "".join(f',"a/{row}":["s3://bucket/{row % 100}.nc",{row * 4096},4096]' for row in rows)
            )
        file.write("}}")


class Gaps:
    """How late a timer of 5 ms comes in the window's thread."""

    def __init__(self) -> None:
        from PySide6.QtCore import QTimer

        self.late: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.late.append(now - self._last)
        self._last = now

    def report(self, what: str) -> None:
        """Print the 99th percentile and the worst."""
        late = sorted(self.late)
        figure(f"{what}: event loop gap, p99", 1e3 * late[int(len(late) * 0.99)], "ms", aim="25")
        figure(f"{what}: event loop gap, worst", 1e3 * late[-1], "ms", aim="100")


def wait(until: Callable[[], bool]) -> None:
    from PySide6.QtCore import QCoreApplication, QEventLoop

    while not until():
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)


def warm(path: Path, small: Path) -> None:
    """Drop the document on a running window."""
    from PySide6.QtWidgets import QApplication

    from refbrowser.app import theme
    from refbrowser.app.main_window import MainWindow

    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.follow_system(application)
    window = MainWindow()
    window.show()
    window.complete()
    first = window.open_path(str(small))
    wait(lambda: first.is_open and window.centre.plot is not None and not window.tasks.busy())
    gaps, seen = Gaps(), []
    start = time.perf_counter()
    document = window.open_path(str(path))
    document.firstRows.connect(lambda _rows: window.centre.references.table.viewport().repaint())
    document.firstRows.connect(lambda _rows: seen.append(time.perf_counter() - start))
    wait(lambda: document.is_open and not window.tasks.busy())
    figure("first rows after the drop", 1e3 * seen[0], "ms", aim="100")
    figure("all rows after the drop", time.perf_counter() - start, "s")
    gaps.report("opening 5,000,000 references")
    table = window.centre.references.table
    jumps = []
    for row in range(0, ROWS, ROWS // 50):
        start = time.perf_counter()
        table.set_current(row)
        table.viewport().repaint()
        jumps.append(time.perf_counter() - start)
    figure("jump in the table, painted", 1e3 * statistics.median(jumps), "ms", aim="16")
    window.documents.close(document)
    window.close()


def main() -> None:
    """Print the figures of the window."""
    heading("window: a document of 5,000,000 references")
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "large.json", Path(folder) / "small.json"
        make_document(path)
        small.write_text('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}')
        environment = {**os.environ, "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder}
        command = [sys.executable, "-c", COLD, str(path)]
        subprocess.run(command, env=environment, capture_output=True, check=False)
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        figure("first rows after the first paint, cold start", 1e3 * float(result.stdout), "ms", aim="400")
        os.environ.update(XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder)
        warm(path, small)


if __name__ == "__main__":
    main()
