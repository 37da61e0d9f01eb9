"""A document of 5,000,000 references: when its first rows are on the screen, and how fast its table moves."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from documents import small_document, write_large
from report import figure, heading
from window import PATIENCE, pause, shown_window, wait

from refbrowser.app.shell.main_window import MainWindow

ROWS = 5_000_000
RUNS = 5
#: A whole process: prints how long after its first paint the first rows are painted, and ends.
COLD = """
import os, sys, time
from refbrowser.app.shell import launch
from refbrowser.app.shell.main_window import MainWindow
show = MainWindow.show
def shown(window):
    painted = []
    window.firstPainted.connect(lambda: painted.append(time.perf_counter()))
    def first_rows(rows):
        window.centre.references.table.viewport().repaint()
        print(time.perf_counter() - painted[0], flush=True)
        os._exit(0)
    # After the program's own reaction, which opens the document.
    window.ready.connect(lambda: window.documents.all()[0].firstRows.connect(first_rows))
    show(window)
MainWindow.show = shown
launch.run([sys.argv[1]])
"""


def cold(path: Path, home: str) -> float:
    """Return the seconds from the first paint of a new process to its first painted rows."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": home,
        "XDG_STATE_HOME": home,
    }
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return float(done.stdout)


def drop(window: MainWindow, path: Path) -> tuple[float, float]:
    """Drop a document on the window; return the seconds to its first painted rows and to all of them."""
    seen: list[float] = []
    start = time.perf_counter()
    window.open_all([str(path)])
    document = window.documents.all()[-1]

    def painted(_rows: object) -> None:
        window.centre.references.table.viewport().repaint()
        seen.append(time.perf_counter() - start)

    document.firstRows.connect(painted)
    wait(lambda: document.is_open)
    whole = time.perf_counter() - start
    wait(lambda: not window.tasks.busy())
    return seen[0], whole


def running(window: MainWindow, path: Path, small: Path) -> None:
    """Measure drops on a window that has opened a document before, and jumps in the table."""
    drop_small = window.open_path(str(small))
    wait(lambda: drop_small.is_open and not window.tasks.busy())
    times = []
    for number in range(RUNS):
        times.append(drop(window, path))
        if number < RUNS - 1:
            window.documents.close(window.documents.all()[-1])
            pause(0.3)
    first, whole = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    figure("first rows painted after the drop", first, "ms", aim="at most 100 ms")
    figure("all of it open after the drop", whole / 1e3, "s")
    table = window.centre.references.table
    jumps = []
    for row in range(0, ROWS, ROWS // 50):
        start = time.perf_counter()
        table.set_current(row)
        table.viewport().repaint()
        jumps.append(time.perf_counter() - start)
        pause(0.01)
    figure("jump in the table, painted", 1e3 * statistics.median(jumps), "ms", aim="at most 16 ms")


def main() -> None:
    """Print the figures."""
    heading(f"A document of {ROWS:,} references (median of {RUNS})")
    with tempfile.TemporaryDirectory() as folder:
        path = write_large(Path(folder) / "large.json", ROWS)
        small = Path(folder) / "small.json"
        small.write_text(small_document())
        cold(path, folder)
        times = [cold(path, folder) for _ in range(RUNS)]
        after = 1e3 * statistics.median(times)
        figure("first rows painted after the first paint, cold start", after, "ms", aim="at most 400 ms")
        with shown_window(Path(folder)) as window:
            running(window, path, small)


if __name__ == "__main__":
    main()
