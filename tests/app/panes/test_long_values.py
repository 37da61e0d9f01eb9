"""Long values of attributes: read, and edited, wrapped below their row."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.panes.attribute_cells import LineCell, LongCell, WholeText
from refbrowser.app.panes.attributes_tree import NAME, TYPE, VALUE, AttributesTree
from refbrowser.views.attributes import Row, Section

LONG = "Derived from level 1 data, then regridded and checked by hand, " * 8
LINES = '"First line.\\nSecond\\u00a0line."'
SHIFT = Qt.KeyboardModifier.ShiftModifier


def row(name: str, value: str, kind: str = "char") -> Row:
    return Row(name, value, name, type=kind)


@pytest.fixture
def tree(qtbot: QtBot) -> AttributesTree:
    result = AttributesTree()
    qtbot.addWidget(result)
    result.resize(360, 400)
    values = {"history": LONG, "comment": LINES.replace("\\u00a0", "\N{NO-BREAK SPACE}"), "units": "K"}
    rows = tuple(row(name, value) for name, value in values.items())
    result.show_sections([Section("Attributes", rows, has_attributes=True)], anew=True)
    result.set_editable(True)
    result.show()
    qtbot.waitExposed(result)
    return result


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


def opened(tree: AttributesTree, name: str) -> LineCell | LongCell:
    tree.choose(name)
    tree.setFocus()
    press(tree, Qt.Key.Key_Return)
    cell = tree.open_cell()
    assert cell is not None
    return cell


def test_the_column_of_types_is_as_narrow_as_its_words(tree: AttributesTree) -> None:
    narrow = tree.columnWidth(TYPE)
    assert tree.sizeHintForColumn(TYPE) <= narrow < 80
    assert tree.columnWidth(VALUE) == tree.viewport().width() - tree.columnWidth(NAME) - narrow
    rows = (row("a", "1", "a type with a name of very many words"),)
    tree.show_sections([Section("Attributes", rows, has_attributes=True)], anew=True)
    assert tree.columnWidth(TYPE) == 80


def test_long_text_is_edited_in_lines_and_short_text_in_one(tree: AttributesTree) -> None:
    changed: list[tuple[str, object]] = []
    typed: list[tuple[str, int, object]] = []
    tree.valueTyped.connect(lambda name, value: changed.append((name, value)))
    tree.typed.connect(lambda *words: typed.append(words))
    assert isinstance(opened(tree, "units"), LineCell)
    for name, text in (("history", LONG), ("comment", "First line.\nSecond\N{NO-BREAK SPACE}line.")):
        cell = opened(tree, name)
        assert isinstance(cell, LongCell)
        assert cell.text() == text
        assert cell.width() == tree.viewport().width()
        assert cell.verticalScrollBar().maximum() == 0, "all lines are seen where there is room"
        assert cell.height() >= 3 * cell.fontMetrics().lineSpacing()
        assert tree.viewport().rect().contains(cell.geometry())
        assert cell.geometry().top() > tree.visualRect(tree.index_of(name)).top()
        typed.clear()
        press(cell, Qt.Key.Key_Return)
        assert tree.open_cell() is None
        assert changed == [], "nothing was typed"
    cell = opened(tree, "comment")
    cell.select(len(cell.text()), len(cell.text()))
    QTest.keyClick(cell, Qt.Key.Key_Return, SHIFT)
    QTest.keyClicks(cell, "end")
    assert tree.beside.isVisible()
    assert not tree.beside.geometry().intersects(cell.geometry()), "the verdict follows a field that grows"
    wanted = "First line.\nSecond\N{NO-BREAK SPACE}line.\nend"
    assert typed[-1] == ("comment", VALUE, wanted)
    press(cell, Qt.Key.Key_Escape)
    assert (changed, typed[-1]) == ([], ("comment", VALUE, None))
    cell = opened(tree, "comment")
    cell.select(len(cell.text()), len(cell.text()))
    QTest.keyClick(cell, Qt.Key.Key_Enter, SHIFT)
    QTest.keyClicks(cell, "end")
    press(cell, Qt.Key.Key_Return)
    assert changed == [("comment", wanted)]


def test_what_cannot_be_stays_open_and_what_was_typed_comes_back(tree: AttributesTree) -> None:
    cell = opened(tree, "history")
    cell.selectAll()
    QTest.keyClicks(cell, "[1, 2")
    press(cell, Qt.Key.Key_Return)
    assert tree.open_cell() is cell
    assert tree.beside.text().startswith("✕ column 6: ")
    tree.end_edit()
    tree.kept = lambda _name, _column: "kept\nlines"
    cell = opened(tree, "units")
    assert isinstance(cell, LongCell)
    assert cell.text() == "kept\nlines"


def test_a_value_that_cannot_be_edited_is_read_whole(tree: AttributesTree, qtbot: QtBot) -> None:
    tree.set_editable(False)

    def shown() -> list[WholeText]:
        found = tree.viewport().findChildren(WholeText)
        return [one for one in found if not one.isHidden()]

    for key in (Qt.Key.Key_Return, Qt.Key.Key_F2):
        tree.setCurrentIndex(tree.index_of("comment", VALUE))
        tree.setFocus()
        press(tree, key)
        (whole,) = shown()
        assert whole.verticalScrollBar().maximum() == 0
        assert whole.isReadOnly()
        assert whole.toPlainText().startswith("First line.\nSecond")
        press(whole, Qt.Key.Key_Escape)
        assert not shown()
        qtbot.waitUntil(lambda: not tree.viewport().findChildren(WholeText))
    tree.setCurrentIndex(tree.index_of("units", VALUE))
    press(tree, Qt.Key.Key_Return)
    assert not shown()
    index = tree.index_of("comment", VALUE)
    assert "First line.\nSecond" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert tree.open_cell() is None


def test_a_value_without_a_type_goes_on_where_the_type_would_be(tree: AttributesTree) -> None:
    room, more = tree.columnWidth(VALUE), tree.columnWidth(TYPE)
    words = "x" * ((room + more // 2) // tree.fontMetrics().horizontalAdvance("x"))
    rows = Row("Codecs", words, "Codecs"), Row("title", words, "title", type="char")
    tree.show_sections([Section("Array", rows)], anew=True)
    QApplication.processEvents()
    assert (tree.columnWidth(VALUE), tree.columnWidth(TYPE)) == (room, more)
    section = tree.model().index(0, 0)
    plain, typed = (tree.model().index(place, VALUE, section) for place in range(2))
    assert not tree._delegate.is_long(plain, words)
    assert tree._delegate.is_long(typed, words)
    picture = tree.viewport().grab().toImage()
    tail = tree.visualRect(plain.siblingAtColumn(TYPE))
    assert len({picture.pixel(x, tail.center().y()) for x in range(tail.left(), tail.right())}) > 1
