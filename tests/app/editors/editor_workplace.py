"""An editor beside its preview on an off-screen window, and the document that the tests begin with."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField
from refbrowser.app.editors.form import EditorForm
from refbrowser.app.editors.gen_editor import GenEditor
from refbrowser.app.editors.prefix_editor import PrefixEditor
from refbrowser.app.editors.preview_view import PreviewView
from refbrowser.app.editors.reference_editor import ReferenceEditor
from refbrowser.app.editors.templates_editor import TemplatesEditor
from refbrowser.app.frame.keyboard import UndoKeys
from refbrowser.app.widgets.rows import OutcomeLine
from refbrowser.views.editing.preview import NoSource

RULE = {
    "key": "temp/{{t}}.{{y}}.0",
    "url": "s3://bucket/{{u}}/{{t}}.nc",
    "offset": "{{100 + (t * 3 + y) * 10}}",
    "length": "10",
    "dimensions": {"t": {"stop": 2}, "y": {"start": 0, "stop": 3, "step": 1}},
}
OTHER = {"key": "salt/{{t}}", "url": "{{u}}", "dimensions": {"t": [4, 5]}}
DOCUMENT = {
    "version": 1,
    "templates": {"u": "era5", "f": "server/{{c}}/{{d}}"},
    "gen": [RULE, OTHER],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "a/0": ["http://{{u}}/a.nc", 0, 10],
        "a/1": ["http://{{f(c='x', d=1)}}", 10, 10],
        "b": "base64:AAEC",
        "c/0": ["whole.nc"],
    },
}


class Workplace:
    """A document, an editor and the preview that follows it, on an off-screen window."""

    def __init__(self, document: OpenDocument, editor: EditorForm) -> None:
        self.document = document
        self.editor = editor
        self.preview = PreviewView()
        editor.previewChanged.connect(self.preview.show_source)
        if isinstance(editor, GenEditor):
            self.preview.reported.connect(lambda report: editor.take_findings(report.findings))
        self.window = QWidget()
        UndoKeys(self.window)
        layout = QHBoxLayout(self.window)
        layout.addWidget(editor)
        layout.addWidget(self.preview, 1)
        self.window.resize(1200, 700)
        self.window.show()
        self.window.activateWindow()
        QTest.qWaitForWindowActive(self.window)

    def close(self) -> None:
        """Show no document any more, as the window does when it closes one, and end its work."""
        if isinstance(self.editor, GenEditor):
            self.editor.set_rule(None, 0)
        elif isinstance(self.editor, TemplatesEditor | PrefixEditor):
            self.editor.set_document(None)
        elif isinstance(self.editor, ReferenceEditor):
            self.editor.set_key(None, None)
        self.preview.show_source(None, NoSource())
        self.document.tasks.close()

    def child(self, kind: type, name: str) -> Any:
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def field(self, name: str) -> JinjaField:
        return self.child(JinjaField, name)

    def put(self, name: str, text: str) -> None:
        """Replace what a field holds by typing, a key at a time."""
        field = self.field(name)
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)

    def type_at(self, name: str, before: str, keys: str) -> None:
        """Type in a field before the first occurrence of a text."""
        field = self.field(name)
        field.setFocus()
        cursor = field.textCursor()
        cursor.setPosition(field.text().index(before))
        field.setTextCursor(cursor)
        QTest.keyClicks(field, keys)

    def press(self, key: Qt.Key, widget: QWidget, modifier: Any = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(widget, key, modifier)

    def rows(self, start: int = 0, stop: int = 12) -> list[list[str]]:
        """Return the texts of rows as the table shows them."""
        model = self.preview.table().model()
        return model.page(start, min(stop, model.row_count()))

    def chip(self, name: str) -> str:
        return self.child(QToolButton, name).text()

    def outcome(self, name: str) -> str:
        return self.child(OutcomeLine, name).text()
