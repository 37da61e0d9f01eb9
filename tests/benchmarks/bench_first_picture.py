"""From dropping a netCDF-4 file of 1 GiB to its first picture, and from the process start; beside silx view.

silx shows numbers of such a variable until somebody asks for a picture: here it is asked at once, and told
which variable. Each draws on the display there is (``DISPLAY``; without one off screen). ``SILX_PYTHON``
names an interpreter that has silx, where this one has not. The file is dragged into our window a second
before it is dropped.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import netCDF4
import numpy as np
from report import figure, heading

RUNS = 5
#: Milliseconds that a window is left alone before something is dropped: it loads what it needs meanwhile.
ALONE = 8000
#: Steps of time, rows and columns of the only variable: 1 GiB of float32, a chunk for each step.
SHAPE = (256, 1024, 1024)

#: Both print when the picture was painted, by the clock that all processes share; in a window that was open
#: for some seconds, when it was dropped, too.
OURS = """
import os, sys, time
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from refbrowser.app.shell import launch
path, is_dropped = sys.argv[1], sys.argv[2] == "drop"
begun = 0.0
def look(window):
    plot = window.centre.plot if window.is_complete else None
    if plot is not None and plot.array() is not None and plot.is_settled() and plot.picture() is not None:
        plot.canvas.viewport().repaint()
        print(begun, time.perf_counter(), plot.array().path, flush=True)
        os._exit(0)
def send(window, kind, place):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path)])
    action, button, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, kind(place, action, data, button, keys))
def drop(window):
    global begun
    begun = time.perf_counter()
    send(window, QDropEvent, QPointF(300, 300))
prepare = launch._import_uninspected
def prepared():
    prepare()
    from refbrowser.app.shell.main_window import MainWindow
    show = MainWindow.show
    def shown(window):
        window.timer = QTimer(window, interval=2)
        window.timer.timeout.connect(lambda: look(window))
        window.timer.start()
        show(window)
        if is_dropped:
            dragged = lambda: send(window, QDragEnterEvent, QPoint(300, 300))
            QTimer.singleShot(int(sys.argv[3]) - 1000, dragged)
            QTimer.singleShot(int(sys.argv[3]), lambda: drop(window))
    MainWindow.show = shown
launch._import_uninspected = prepared
launch.run([] if is_dropped else [path])
"""
SILX = """
import os, sys, time
import PySide6.QtCore
from PySide6.QtCore import QTimer
path, is_dropped = sys.argv[1] + "::/tas", sys.argv[2] == "drop"
begun = 0.0
from silx.app.view import main
create = main.createWindow
def drop(window):
    global begun
    begun = time.perf_counter()
    window.appendFile(path)
def created(**options):
    from silx.app.view.Viewer import Viewer
    from silx.gui.data import DataViews
    from silx.gui.data.DataViewer import DataViewer
    from silx.gui.plot.backends.BackendMatplotlib import BackendMatplotlibQt
    show_data = Viewer.displayData
    def shown(viewer, data):
        show_data(viewer, data)
        viewer.findChild(DataViewer).setDisplayMode(DataViews.IMAGE_MODE)
    Viewer.displayData = shown
    paint = BackendMatplotlibQt.paintEvent
    def painted(canvas, event):
        paint(canvas, event)
        plot = canvas._plotRef()
        if plot.getAllImages() and not plot._getDirtyPlot():
            print(begun, time.perf_counter(), "/tas", flush=True)
            os._exit(0)
    BackendMatplotlibQt.paintEvent = painted
    window = create(**options)
    window.resize(1280, 800)
    if is_dropped:
        QTimer.singleShot(int(sys.argv[3]), lambda: drop(window))
    return window
main.createWindow = created
main.main(["silx view", "--fresh", *([] if is_dropped else [path])])
"""


def write(path: Path) -> None:
    """Write the file."""
    with netCDF4.Dataset(path, "w") as file:
        for name, size in zip(("time", "lat", "lon"), SHAPE, strict=True):
            file.createDimension(name, size)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(SHAPE[0])
        values = file.createVariable("tas", "f4", ("time", "lat", "lon"), chunksizes=(1, *SHAPE[1:]))
        values.units = "K"
        step = np.random.default_rng(0).random(SHAPE[1:], dtype="f4")
        for number in range(SHAPE[0]):
            values[number] = step + number


def peer() -> str | None:
    """Return the interpreter that has silx."""
    here = sys.executable if importlib.util.find_spec("silx") else None
    return os.environ.get("SILX_PYTHON", here)


def seconds(python: str, code: str, path: Path, how: str, home: str) -> float:
    """Return the seconds to the picture of the variable: from the drop, or from the process start."""
    screen = {} if os.environ.get("DISPLAY") else {"QT_QPA_PLATFORM": "offscreen"}
    places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), home)
    start = time.perf_counter()
    done = subprocess.run(
        [python, "-c", code, str(path), how, str(ALONE)],
        env={**os.environ, **screen, **places},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    begun, painted, shown = done.stdout.splitlines()[-1].split()
    assert shown == "/tas"
    return float(painted) - (float(begun) or start)


def main() -> None:
    """Print the least of each, runs of both by turns."""
    heading("First picture of a netCDF-4 file of 1 GiB, against silx view")
    silx = peer()
    if silx is None:
        print("  silx is not installed: SILX_PYTHON may name an interpreter that has it")
    programs = [(sys.executable, OURS), *([(silx, SILX)] if silx else [])]
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "large.nc"
        write(path)
        (Path(home) / "refbrowser").mkdir()
        for how, what in (("drop", "from the drop, first of a window"), ("start", "from the process start")):
            for python, code in programs:
                seconds(python, code, path, how, home)
            runs = [[seconds(*each, path, how, home) for each in programs] for _ in range(RUNS)]
            ours, *other = (min(times) for times in zip(*runs, strict=True))
            against = other[0] if other else None
            figure(f"{what}, least", 1e3 * ours, "ms", other=against and 1e3 * against, aim="at most 0.2")


if __name__ == "__main__":
    main()
