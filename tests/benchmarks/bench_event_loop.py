"""How late the window's thread is while each kind of work runs: a timer of 5 ms in it, in the real window."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from documents import small_document, write_large
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton
from report import heading
from window import Gaps, pause, shown_window, wait

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from servers.http_server import ServerProcess
from window_rest import is_at_rest

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField
from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.export.window.export_dialog import ExportDialog

SIDE, CHUNK = 1200, 20
RULE = {
    "key": "a/{{i}}.{{j}}",
    "url": "s3://bucket/{{i // 100}}.nc",
    "offset": "{{4096 + (i * 1000 + j) * 4096}}",
    "length": "4096",
    "dimensions": {"i": {"stop": 10**6}, "j": {"stop": 1000}},
}


def many_chunks(folder: Path, origin: str) -> Path:
    """Write an array of 3,600 chunks in one file, and its document."""
    values = np.cumsum(np.random.default_rng(0).normal(size=(SIDE, SIDE)), axis=1).astype("<f4")
    side = SIDE // CHUNK
    blocks = values.reshape(side, CHUNK, side, CHUNK).swapaxes(1, 2)
    (folder / "many.dat").write_bytes(np.ascontiguousarray(blocks).tobytes())
    array = {"zarr_format": 2, "shape": [SIDE, SIDE], "chunks": [CHUNK, CHUNK], "dtype": "<f4"}
    array |= {"compressor": None, "filters": None, "fill_value": None, "order": "C"}
    refs = {".zgroup": '{"zarr_format": 2}', "field/.zarray": json.dumps(array)}
    size = CHUNK * CHUNK * 4
    for place, coords in enumerate(np.ndindex(side, side)):
        refs[f"field/{coords[0]}.{coords[1]}"] = [f"{origin}/many.dat", place * size, size]
    path = folder / "many.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def opened(window: MainWindow, path: Path) -> OpenDocument:
    document = window.open_path(str(path))
    wait(lambda: document.is_open or document.error is not None)
    assert document.error is None, document.error
    return document


def opening(window: MainWindow, path: Path, what: str) -> None:
    with Gaps() as gaps:
        document = opened(window, path)
        wait(lambda: is_at_rest(window))
    gaps.report(what)
    window.documents.close(document)
    pause(0.3)


def plotting(window: MainWindow, path: Path, allow: str) -> OpenDocument:
    """Plot the array of many chunks over HTTP, all of it."""
    document = window.open_path(str(path), allow=[allow])
    wait(lambda: document.is_open and is_at_rest(window))
    with Gaps() as gaps:
        assert window.hierarchy.select_node(document, "/field")
        wait(lambda: window.centre.plot.picture() is not None and is_at_rest(window))
        pause(0.2)
        wait(lambda: is_at_rest(window))
    picture = window.centre.plot.picture()
    assert picture is not None
    assert picture.all_done
    gaps.report(f"plotting {(SIDE // CHUNK) ** 2:,} chunks over HTTP")
    return document


def exporting(window: MainWindow, document: OpenDocument, target: Path) -> None:
    """Export the same array to Zarr v3 through the dialog."""
    dialog = ExportDialog(document, None, window)
    dialog.show()
    field = dialog.findChild(QLineEdit, "exportTarget")
    start = dialog.findChild(QPushButton, "exportStartButton")
    field.setText(str(target))
    wait(lambda: start.isEnabled() and not window.tasks.busy())
    with Gaps() as gaps:
        start.click()
        wait(lambda: (target / "zarr.json").exists() and not window.tasks.busy())
    gaps.report("exporting them to Zarr v3")
    dialog.close()


def type_in(field: JinjaField, count: int) -> None:
    cursor = field.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.movePosition(QTextCursor.MoveOperation.Left, n=2)
    field.setTextCursor(cursor)
    for number in range(count):
        key, text = ((Qt.Key.Key_1, "1"), (Qt.Key.Key_Backspace, ""))[number % 2]
        for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
            QApplication.sendEvent(field, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text))
        pause(0.08)


def typing(window: MainWindow, folder: Path) -> OpenDocument:
    """Type in the offset of a rule of 10^9 rows, as fast as people do."""
    path = folder / "rule.json"
    path.write_text(json.dumps({"version": 1, "gen": [RULE], "refs": {}}))
    document = opened(window, path)
    wait(lambda: is_at_rest(window))
    window.editors.show_rule(document, 0)
    window.docks.show_before("editorDock", "attributesDock")
    window.resizeDocks([window.docks["previewDock"]], [290], Qt.Orientation.Vertical)
    pause(1)
    field = window.findChild(JinjaField, "genOffsetField")
    field.setFocus()
    with Gaps() as gaps:
        type_in(field, 60)
        wait(lambda: is_at_rest(window))
    gaps.report("typing in a rule of 10^9 rows")
    return document


def scrolling(window: MainWindow) -> None:
    """Scroll and jump in the table of the rule's 10^9 rows."""
    window.centre.show_tab(REFERENCES)
    table = window.centre.references.table
    assert table.model().row_count() == 10**9
    with Gaps() as gaps:
        for number in range(300):
            table.set_top_row(number * 3 if number % 10 else number * 3_000_000)
            pause(0.01)
        wait(lambda: is_at_rest(window))
    gaps.report("scrolling 10^9 rows")


def measured(work: Callable[[], object]) -> None:
    """Do some work from a window at rest."""
    pause(0.3)
    work()


def main() -> None:
    """Print the figures."""
    heading("Gaps of the window's event loop")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.json"
        small.write_text(small_document())
        with ServerProcess(folder, latency=0.03, total=4e6) as server, shown_window(folder) as window:
            opened(window, small)
            pause(1)
            for rows in (1_000_000, 5_000_000):
                path = write_large(folder / f"large{rows}.json", rows)
                opening(window, path, f"opening {rows:,} references")
            document = plotting(window, many_chunks(folder, server.origin), server.origin)
            measured(lambda: exporting(window, document, folder / "out.zarr"))
            measured(lambda: typing(window, folder))
            measured(lambda: scrolling(window))


if __name__ == "__main__":
    main()
