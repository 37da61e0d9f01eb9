"""The table of 1,000,000,000 keys in the real window: jumps to a row and to a key, and gaps meanwhile."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from report import figure, heading
from window import Gaps, pause, shown_window, wait

from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.shell.main_window import MainWindow

JUMPS = 60
AIM = "at most 16 ms"
RULE = {
    "key": "a/{{i}}.{{j}}",
    "url": "s3://bucket/{{i // 100}}.nc",
    "offset": "{{4096 + (i * 1000 + j) * 4096}}",
    "length": "4096",
    "dimensions": {"i": {"stop": 10**6}, "j": {"stop": 1000}},
}


def places(count: int) -> list[int]:
    """Return rows all over the table, each far from the one before."""
    return [(number * 618_033_989 + 12_345) % 10**9 for number in range(count)]


def report(what: str, times: list[float]) -> None:
    figure(f"{what}, median of {len(times)}", statistics.median(times), "ms", aim=AIM)
    figure(f"{what}, slowest", max(times), "ms")


def scrolled(window: MainWindow) -> None:
    """Scroll to rows far away, as with the scroll bar: the rows are made and painted."""
    table = window.centre.references.table
    times = []
    with Gaps() as gaps:
        for row in places(JUMPS):
            start = time.perf_counter()
            table.set_top_row(row)
            table.viewport().repaint()
            times.append(1e3 * (time.perf_counter() - start))
            pause(0.016)
        wait(lambda: not window.tasks.busy())
    report("jump to a row", times)
    gaps.report("event loop meanwhile")


def stepped(window: MainWindow) -> None:
    """Page down with the key, as fast as it repeats."""
    table = window.centre.references.table
    table.setFocus()
    times = []
    with Gaps() as gaps:
        for _ in range(JUMPS):
            start = time.perf_counter()
            QTest.keyClick(table, Qt.Key.Key_PageDown)
            table.viewport().repaint()
            times.append(1e3 * (time.perf_counter() - start))
            pause(0.03)
        wait(lambda: not window.tasks.busy())
    report("page down", times)
    gaps.report("event loop meanwhile")


def gone_to(window: MainWindow, texts: list[tuple[str, int]], what: str) -> None:
    """Type where to go and press Return: until the row is current and painted."""
    table = window.centre.references.table
    field = window.findChild(QLineEdit, "goToKeyField")
    times = []
    with Gaps() as gaps:
        for text, row in texts:
            field.setText(text)
            start = time.perf_counter()
            QTest.keyClick(field, Qt.Key.Key_Return)
            wait(lambda row=row: table.current() == row)
            table.viewport().repaint()
            times.append(1e3 * (time.perf_counter() - start))
            pause(0.05)
        wait(lambda: not window.tasks.busy())
    report(what, times)
    gaps.report("event loop meanwhile")


def main() -> None:
    """Print the figures."""
    heading("Table of 1,000,000,000 keys (no peer has one)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "rule.json"
        path.write_text(json.dumps({"version": 1, "gen": [RULE], "refs": {}}))
        with shown_window(folder) as window:
            document = window.open_path(str(path))
            wait(lambda: document.is_open or document.error is not None)
            window.centre.show_tab(REFERENCES)
            wait(lambda: not window.tasks.busy())
            assert window.centre.references.table.model().row_count() == 10**9
            pause(0.5)
            scrolled(window)
            stepped(window)
            keys = [(f"a/{row // 1000}.{row % 1000}", row) for row in places(30)]
            gone_to(window, keys, "go to a key")


if __name__ == "__main__":
    main()
