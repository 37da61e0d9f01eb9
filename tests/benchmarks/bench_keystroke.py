"""From a key pressed in a field of a gen rule to the painted preview, without a peer: there is none."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from report import figure, heading

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField
from refbrowser.app.editors.gen_editor import GenEditor
from refbrowser.app.editors.preview_view import PreviewView
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import theme
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History

AIM = "at most 16 ms"
AFFINE = "{{4096 + (t * 721 + y) * 4147200}}"
CONDITION = "{{4096 + (t * 721 + y) * 4147200 if y > 0 else 512}}"
SUMS = f"{{{{4096 + {[number * 7919 % 90_000 + 100_000 for number in range(50_000)]}[:t]|sum + y}}}}"
CASES = (
    ("offset of 10^12 running sums of 50,000 lengths", "genOffsetField", SUMS, "temp/{{t}}.{{y}}.0"),
    ("offset of 10^12 affine rows", "genOffsetField", AFFINE, "temp/{{t}}.{{y}}.0"),
    ("offset of 10^12 rows with a condition", "genOffsetField", CONDITION, "temp/{{t}}.{{y}}.0"),
    ("key of 10^12 affine rows", "genKeyField", AFFINE, "temp/{{t}}.{{y}}.0"),
    ("key of 10^12 rows with a condition", "genKeyField", AFFINE, "temp/{{t if t else 0}}.{{y}}.0"),
)


class Painted(QObject):
    """Counts the paint events of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.count += 1
        return False


def opened(offset: str, key: str) -> OpenDocument:
    """Return a document of one rule of 10^12 rows and 1,000 references."""
    import json

    rule = {
        "key": key,
        "url": "s3://bucket/{{u}}/temp_{{t}}.nc",
        "offset": offset,
        "length": "4147200",
        "dimensions": {"t": {"stop": 10**6}, "y": {"stop": 10**6}},
    }
    refs = {f"other/{number}": ["s3://bucket/a.nc", number, 1] for number in range(1_000)}
    text = json.dumps({"version": 1, "templates": {"u": "era5"}, "gen": [rule], "refs": refs})
    document = OpenDocument("bench.json", Tasks())
    document.history = History(ReferenceDocument.of(text.encode()))
    return document


def keystrokes(name: str, offset: str, key: str) -> list[float]:
    """Return the milliseconds from each key to the painted preview."""
    document = opened(offset, key)
    window = QWidget()
    layout = QHBoxLayout(window)
    editor, preview = GenEditor(), PreviewView()
    layout.addWidget(editor)
    layout.addWidget(preview, 1)
    editor.previewChanged.connect(preview.show_source)
    window.resize(1400, 900)
    window.show()
    editor.set_rule(document, 0)
    QTest.qWait(300)
    field: Any = editor.findChild(JinjaField, name)
    field.setFocus()
    cursor = field.textCursor()
    cursor.setPosition(field.shown_text().rindex("}}"))
    field.setTextCursor(cursor)
    painted = Painted(preview.table().viewport())
    times = []
    for number in range(60):
        before = painted.count
        start = time.perf_counter()
        QTest.keyClick(field, Qt.Key.Key_1 if number % 2 == 0 else Qt.Key.Key_Backspace)
        while painted.count == before:
            QApplication.processEvents()
        times.append((time.perf_counter() - start) * 1000)
        QTest.qWait(30 if number % 5 else 200)
    document.tasks.close()
    window.close()
    return times


def main() -> None:
    """Print the median and the slowest keystroke of each case."""
    application = QApplication.instance() or QApplication([])
    theme.apply(application, theme.LIGHT)  # type: ignore[arg-type]
    heading("Keystroke to preview on screen (no peer)")
    for title, name, offset, key in CASES:
        times = keystrokes(name, offset, key)
        figure(f"{title}, median", statistics.median(times), "ms", aim=AIM)
        figure(f"{title}, slowest of {len(times)}", max(times), "ms")


if __name__ == "__main__":
    main()
