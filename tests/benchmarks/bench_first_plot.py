"""From opening a small document to its first picture, in an open window and from the process start."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import figure, heading
from window import Gaps, pause, shown_window, wait

from refbrowser.app.shell.main_window import MainWindow

RUNS = 9
SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample" / "sea_surface.json"
ARRAY = "/ocean/sst"

#: The program itself, ended when the picture is painted.
COLD = f"""
import os
from PySide6.QtCore import QTimer
from refbrowser.app.shell import launch
from refbrowser.app.shell.main_window import MainWindow
show = MainWindow.show
def look(window):
    plot = window.centre.plot if window.is_complete else None
    if plot is not None and plot.array() is not None and plot.is_settled() and plot.picture() is not None:
        plot.canvas.viewport().repaint()
        os._exit(0)
def shown(window):
    window.timer = QTimer(window, interval=5)
    window.timer.timeout.connect(lambda: look(window))
    window.timer.start()
    show(window)
MainWindow.show = shown
launch.run([{str(SAMPLE)!r}], array={ARRAY!r})
"""


def cold(home: str) -> float:
    """Return the seconds from the process start to the painted picture."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": home,
        "XDG_STATE_HOME": home,
    }
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", COLD], env=environment, capture_output=True, check=True)
    return time.perf_counter() - start


def opened(window: MainWindow) -> float:
    """Open the document and return the seconds to its painted picture."""
    plot = window.centre.plot
    assert plot is not None
    start = time.perf_counter()
    document = window.open_path(str(SAMPLE), ARRAY)
    wait(lambda: plot.array() is not None and plot.picture() is not None and plot.is_settled())
    plot.canvas.viewport().repaint()
    seconds = time.perf_counter() - start
    wait(lambda: not window.tasks.busy())
    window.documents.close(document)
    pause(0.2)
    return seconds


def main() -> None:
    """Print the figures."""
    heading("First picture of a small document (no peer)")
    with tempfile.TemporaryDirectory() as home:
        cold(home)
        times = [cold(home) for _ in range(RUNS)]
        figure("from the process start, median", 1e3 * statistics.median(times), "ms")
        with shown_window(Path(home)) as window:
            opened(window)
            with Gaps() as gaps:
                warm = [opened(window) for _ in range(RUNS)]
        figure("in a window that is open, median", 1e3 * statistics.median(warm), "ms")
        figure("in a window that is open, slowest", 1e3 * max(warm), "ms")
        gaps.report("event loop meanwhile")


if __name__ == "__main__":
    main()
