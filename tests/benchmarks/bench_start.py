"""From process start to first painted window, beside an empty window of Qt and silx view."""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import figure, heading

RUNS = 9

EMPTY = """
import os
from PySide6.QtWidgets import QApplication, QMainWindow
from PySide6.QtCore import QTimer
application = QApplication([])
class Window(QMainWindow):
    def paintEvent(self, event):
        super().paintEvent(event)
        QTimer.singleShot(0, lambda: os._exit(0))
window = Window()
window.resize(1280, 800)
window.show()
application.exec()
"""

#: `firstPainted` is told before anything is made that was not painted. The window's module is imported when
#: the program itself does it: before, PySide6 would look through the source of each module.
OURS = """
import os, sys
from refbrowser.app.shell import launch
def painted():
    heavy = ("numpy", "pyqtgraph", "zarr", "jinja2", "fsspec")
    print(*(name for name in heavy if name in sys.modules), flush=True)
    os._exit(0)
prepare = launch._import_uninspected
def prepared():
    prepare()
    from refbrowser.app.shell.main_window import MainWindow
    show = MainWindow.show
    def shown(window):
        window.firstPainted.connect(painted)
        show(window)
    MainWindow.show = shown
launch._import_uninspected = prepared
launch.run([])
"""

#: The viewer of HDF5 files that silx has, the way its own command starts it.
SILX = """
import os
import PySide6.QtCore
from PySide6.QtCore import QTimer
from silx.app.view import main, Viewer
def painted(window, event):
    super(Viewer.Viewer, window).paintEvent(event)
    QTimer.singleShot(0, lambda: os._exit(0))
Viewer.Viewer.paintEvent = painted
main.main(["silx view", "--fresh"])
"""


def started(code: str, home: str) -> tuple[float, str]:
    """Return how long a process takes until it has painted its window and ends itself, and what it prints."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": home}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def main() -> None:
    """Print the medians, runs of both by turns."""
    heading("Process start to first painted window (other: an empty window of PySide6)")
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "refbrowser").mkdir()
        started(EMPTY, home)
        loaded = started(OURS, home)[1].split()
        codes = [EMPTY, OURS, *([SILX] if importlib.util.find_spec("silx") else [])]
        started(codes[-1], home)
        runs = [[started(code, home)[0] for code in codes] for _ in range(RUNS)]
    empty, ours, *silx = (statistics.median(times) for times in zip(*runs, strict=True))
    figure("window painted", ours, "s", other=empty, aim="at most 1.5")
    for peer in silx:
        figure("the same, against silx view", ours, "s", other=peer)
    figure("heavy libraries loaded by then", len(loaded), "", aim="0: they come after")


if __name__ == "__main__":
    main()
