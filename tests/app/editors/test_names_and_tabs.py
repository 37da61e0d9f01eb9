"""Every part that a user acts on has a stable name, one for screen readers, and a place in the Tab order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QHeaderView, QScrollBar, QWidget

Make = Callable[..., Workplace]


def acted_on(window: QWidget) -> list[QWidget]:
    """Return the widgets that take the keyboard and are not part of another one that does."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not widget.objectName().startswith("qt_")
        and not isinstance(widget, (QHeaderView, QScrollBar))
        and not is_inside(widget)
    ]


def is_inside(widget: QWidget) -> bool:
    """Whether a widget is a part that Qt made of a list or a box."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, (QAbstractItemView, QComboBox)):
            return True
        parent = parent.parentWidget()
    return False


@pytest.mark.parametrize("kind", ["gen", "templates", "reference"])
def test_every_part_is_named(request: pytest.FixtureRequest, kind: str) -> None:
    place = request.getfixturevalue(kind)()
    nameless = [type(widget).__name__ for widget in acted_on(place.window) if not widget.objectName()]
    mute = [widget.objectName() for widget in acted_on(place.window) if not widget.accessibleName()]
    assert nameless == []
    assert mute == []
    names = [widget.objectName() for widget in acted_on(place.window)]
    assert sorted(names) == sorted(set(names))


def test_the_fields_are_reached_by_tab_alone(gen: Make) -> None:
    place = gen()
    place.editor.setFocus()
    seen = []
    for _ in range(40):
        focused: Any = QApplication.focusWidget()
        seen.append(focused.objectName())
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    order = ["genKeyField", "genUrlField", "genOffsetField", "genLengthField", "genDimensionsTable"]
    assert seen[0] == "genKeyField"
    assert [name for name in seen if name in order][:5] == order
    assert "previewTable" in seen
    assert "previewGoto" in seen


def test_a_dimension_is_edited_by_keys_alone(gen: Make) -> None:
    from refbrowser.app.editors.dimensions_table import DimensionsTable

    place = gen()
    table = place.child(DimensionsTable, "genDimensionsTable")
    table.setFocus()
    table.setCurrentIndex(table.model().index(0, 3))
    QTest.keyClick(table, Qt.Key.Key_F2)
    editor: Any = table.findChild(QWidget, "genDimensionCell")
    editor.selectAll()
    QTest.keyClicks(editor, "5")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert place.preview.source().count == 15
    QTest.keyClick(table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(place.document.history.entries) == 1


def test_dark_and_light_follow_the_application(gen: Make, qapp: Any) -> None:
    from refbrowser.app.widgets import theme

    place = gen()
    try:
        theme.apply(qapp, theme.DARK)
        field = place.field("genOffsetField")
        formats = field.document().firstBlock().layout().formats()
        inks = {part.format.foreground().color().name() for part in formats}
        assert theme.DARK.syntax_number in inks
        theme.apply(qapp, theme.LIGHT)
        formats = field.document().firstBlock().layout().formats()
        assert theme.LIGHT.syntax_number in {part.format.foreground().color().name() for part in formats}
    finally:
        qapp.setStyleSheet("")
        qapp.setPalette(qapp.style().standardPalette())


def test_making_the_parts_opens_no_window_of_its_own(qtbot: Any) -> None:
    from PySide6.QtCore import QEvent, QObject

    from refbrowser.app.editors.gen_editor import GenEditor
    from refbrowser.app.editors.preview_view import PreviewView
    from refbrowser.app.editors.reference_editor import ReferenceEditor
    from refbrowser.app.editors.templates_editor import TemplatesEditor

    shown: list[str] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                shown.append(type(watched).__name__)
            return False

    watch = Watch()
    application: Any = QApplication.instance()
    application.installEventFilter(watch)
    try:
        for kind in (GenEditor, TemplatesEditor, ReferenceEditor, PreviewView):
            made = kind()
            qtbot.addWidget(made)
    finally:
        application.removeEventFilter(watch)
    assert shown == []
