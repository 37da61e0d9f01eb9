"""From the start of the process to the first painted window, ours against an empty window of Qt."""

from __future__ import annotations

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

OURS = """
import os
from refbrowser.app import launch
from refbrowser.app.main_window import MainWindow
MainWindow.complete = lambda window: os._exit(0)
launch.run([])
"""


def seconds(code: str, home: str) -> float:
    """Return how long a process takes until it has painted its window and ends itself."""
    environment = {**os.environ, "XDG_CONFIG_HOME": home}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Print the medians, runs of both by turns."""
    heading("start: process to first painted window")
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "refbrowser").mkdir()
        seconds(EMPTY, home)
        seconds(OURS, home)
        pairs = [(seconds(EMPTY, home), seconds(OURS, home)) for _ in range(RUNS)]
    empty = statistics.median(pair[0] for pair in pairs)
    ours = statistics.median(pair[1] for pair in pairs)
    figure("window painted", ours, "s", other=empty, aim="1.5")


if __name__ == "__main__":
    main()
