"""Resident memory of the program with an image of 1,000 x 1,000 open, as its user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from documents import write_array
from report import figure, heading

SIDE = 1000
LIMIT = 180
RUNS = 3

#: Waits until the array is drawn and nothing runs, moves the slider, and says what the process holds.
OURS = """
import os, sys
import psutil
from PySide6.QtCore import QTimer
from refbrowser.app.shell import launch
from refbrowser.app.shell.main_window import MainWindow
show = MainWindow.show
def shown(window):
    calm, steps = [0], [2, 1, 0]
    def look():
        plot = window.centre.plot if window.is_complete else None
        drawn = plot is not None and plot.picture() is not None and plot.is_settled()
        calm[0] = calm[0] + 1 if drawn and not window.tasks.busy() else 0
        if calm[0] < 15:
            return
        if steps:
            plot.set_index(0, steps.pop(0))
            calm[0] = 0
            return
        print(psutil.Process().memory_info().rss, flush=True)
        os._exit(0)
    timer = QTimer(window)
    timer.timeout.connect(look)
    timer.start(20)
    show(window)
MainWindow.show = shown
launch.run([sys.argv[1]])
"""

#: What is below all that: the toolkit, an empty window, the plotting library and an empty view of it.
EMPTY = """
import os
import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
application = QApplication([])
import pyqtgraph
window = QMainWindow()
window.setCentralWidget(pyqtgraph.GraphicsLayoutWidget())
window.centralWidget().addViewBox()
window.resize(1280, 800)
window.show()
def done():
    print(psutil.Process().memory_info().rss, flush=True)
    os._exit(0)
QTimer.singleShot(1000, done)
application.exec()
"""


def resident(code: str, home: str, *arguments: str) -> float:
    """Return the memory that a process says it holds, in MiB; the least of some runs."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": home,
        "XDG_STATE_HOME": home,
    }
    command = [sys.executable, "-c", code, *arguments]
    found = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(RUNS)
    ]
    return min(int(text.split()[-1]) for text in found) / 2**20


def main() -> None:
    """Print what the program holds beside its data, against an empty view of the plotting library."""
    heading("Resident memory with an image open (other: an empty window with an empty view of pyqtgraph)")
    values = np.cumsum(np.random.default_rng(0).normal(size=(3, SIDE, SIDE)), axis=2).astype("<f4")
    data = values.nbytes / 2**20
    with tempfile.TemporaryDirectory() as name:
        path = write_array(Path(name), "image", values, (1, 500, 500), units="K")
        empty = resident(EMPTY, name)
        ours = resident(OURS, name, f"{path}::/field")
    figure(f"{SIDE} x {SIDE} float32, {data:.0f} MiB of slices seen", ours, "MiB", other=empty)
    figure("without these slices", ours - data, "MiB", aim=f"at most {LIMIT} MiB")


if __name__ == "__main__":
    main()
