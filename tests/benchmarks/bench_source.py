"""The text of a document of 100 MB on one line in the real window: opened, scrolled, searched, edited."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from report import figure, heading
from window import Gaps, pause, shown_window, wait

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.source.source_pane import SourcePane

ROWS = 1_300_000
STEPS = 120
FRAME = "at most 16.7 ms"


def document(folder: Path) -> Path:
    """Return a document of 1.3 million references, as kerchunk writes it: on one line."""
    path = folder / "large.json"
    entries = (
        f'"lat/{number}.0.0":["s3://bucket/some/long/path/file_{number // 1000}.nc",{number * 4000},4000]'
        for number in range(ROWS)
    )
    path.write_text('{"version":1,"refs":{".zgroup":"{\\"zarr_format\\":2}",' + ",".join(entries) + "}}")
    return path


def opened(window: MainWindow) -> SourcePane:
    """Show the text: until its first rows are painted, and until all are known."""
    with Gaps() as gaps:
        start = time.perf_counter()
        window.actions_["show_source"].trigger()
        source = window.centre.make_source()
        wait(lambda: source.view.rows.count > 0)
        source.view.viewport().repaint()
        figure("first rows painted", 1e3 * (time.perf_counter() - start), "ms", aim="at most 200 ms")
        wait(lambda: source.view.rows.is_complete and source.text.size > 0)
        figure("all rows known", time.perf_counter() - start, "s")
        wait(lambda: not window.tasks.busy())
    gaps.report("event loop meanwhile")
    return source


def painted(source: SourcePane, what: str, step: Callable[[int], object]) -> None:
    times = []
    spent = 0.0
    with Gaps() as gaps:
        for number in range(STEPS):
            start, begun = time.perf_counter(), time.thread_time()
            step(number)
            source.view.viewport().repaint()
            times.append(1e3 * (time.perf_counter() - start))
            spent += time.thread_time() - begun
            pause(0.005)
    figure(f"{what}, CPU of each", 1e3 * spent / STEPS, "ms", aim=FRAME)
    figure(f"{what}, median of {STEPS}", statistics.median(times), "ms", aim=FRAME)
    figure(f"{what}, slowest", max(times), "ms")
    gaps.report("event loop meanwhile")


def scrolled(source: SourcePane) -> None:
    """Scroll by pages, and to places far away."""
    view = source.view
    view.setFocus()
    painted(source, "page down", lambda _number: QTest.keyClick(view, Qt.Key.Key_PageDown))
    size = source.text.size
    painted(source, "jump", lambda number: view.set_top(number * 618_033_989 % size))
    view.fold_all()
    view.unfold_all()


def found(window: MainWindow, source: SourcePane) -> None:
    """Find a key near the end of the text, and search in all texts."""
    with Gaps() as gaps:
        source.view.go_to(0)
        start = time.perf_counter()
        source.open_find()
        source.find_bar.field.setText("lat/1299999.")
        wait(lambda: source.view.selection()[0] > 0)
        figure("find in the text, to the last row", time.perf_counter() - start, "s")
        source.find_bar.close_bar()
        wait(lambda: not window.tasks.busy())
    gaps.report("event loop meanwhile")
    with Gaps() as gaps:
        start = time.perf_counter()
        window.search.field.setText("lat/1299999.")
        window.search.search()
        wait(lambda: not window.tasks.busy())
        figure("search in all texts", time.perf_counter() - start, "s", aim="about 1 s")
    gaps.report("event loop meanwhile")


def edited(window: MainWindow, source: SourcePane) -> None:
    """Edit the row of a key: until it is checked, applied, and the new text is seen."""
    opened = window.documents.current
    assert opened is not None
    position = source.text.size // 2
    source.view.go_to(position)
    with Gaps() as gaps:
        source.edit()
        start = time.perf_counter()
        source.editor.field.setPlainText(source.editor.field.text().replace("4000]", "4001]"))
        wait(lambda: source.editor.apply_button.isEnabled() and "changed" in source.editor.outcome.text())
        figure("checked after a keystroke", 1e3 * (time.perf_counter() - start), "ms")
        start = time.perf_counter()
        source.editor.apply()
        figure("applied", 1e3 * (time.perf_counter() - start), "ms")
        wait(lambda: not window.tasks.busy())
        figure("seen in the text", time.perf_counter() - start, "s")
    gaps.report("event loop meanwhile")


def main() -> None:
    """Print the figures."""
    heading("The text of a document of 100 MB")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = document(folder)
        with shown_window(folder) as window:
            large = window.open_path(str(path))
            wait(lambda: large.is_open or large.error is not None)
            wait(lambda: not window.tasks.busy())
            pause(0.5)
            source = opened(window)
            scrolled(source)
            found(window, source)
            edited(window, source)


if __name__ == "__main__":
    main()
