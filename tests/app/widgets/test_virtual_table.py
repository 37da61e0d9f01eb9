from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from refbrowser.app.panes.raw_value import HexRows
from refbrowser.app.widgets.virtual_table import PAGES_KEPT, VirtualTable
from refbrowser.formats.references import open_references
from refbrowser.views.references import ExpansionRows
from refbrowser.views.rows import PAGE_ROWS, Column, NoRows, RowStyle
from refbrowser.views.words import CELL_LIMIT, one_line


class Numbers:
    """Rows that are computed: their number, and its square."""

    columns = (Column("Row", 90, right=True), Column("Square", 120, 1))

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[range] = []

    def row_count(self) -> int:
        return self.count

    def page(self, start: int, stop: int) -> list[list[str]]:
        self.asked.append(range(start, stop))
        return [[str(row), str(row * row)] for row in range(start, stop)]

    def styles(self, start: int, stop: int) -> list[RowStyle]:
        return [RowStyle.FAULT if row % 3 == 0 else RowStyle.NONE for row in range(start, stop)]


@pytest.fixture
def table(qtbot: QtBot, styled: QApplication) -> VirtualTable:
    table = VirtualTable()
    qtbot.addWidget(table)
    table.resize(500, 400)
    table.show()
    return table


@pytest.mark.parametrize("count", [10**9, 10**12, 2**70])
def test_any_number_of_rows_opens_and_jumps_at_once(table: VirtualTable, count: int) -> None:
    model = Numbers(count)
    start = time.perf_counter()
    table.set_model(model)
    table.viewport().repaint()
    for row in (0, count // 2, count - 1):
        table.set_current(row)
        table.viewport().repaint()
        assert table.row_text(row) == [str(row), str(row * row)]
        assert table.top_row() <= row < table.top_row() + table.visible_rows()
    assert time.perf_counter() - start < 8
    assert sum(len(asked) for asked in model.asked) <= 12 * PAGE_ROWS


def test_keyboard_moves_selects_and_copies(table: VirtualTable) -> None:
    table.set_model(Numbers(10**9))
    moves = []
    table.currentChanged.connect(moves.append)
    QTest.keyClick(table, Qt.Key.Key_Home)
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert table.selected() == range(1, 3)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "1\t1\n2\t4"
    QTest.keyClick(table, Qt.Key.Key_End)
    QTest.keyClick(table, Qt.Key.Key_PageUp)
    assert moves == [0, 1, 2, 10**9 - 1, 10**9 - 1 - table.visible_rows()]
    assert "Square" in table.accessibleDescription()
    top = table.top_row()
    QTest.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert table.selected() == range(10**9)
    assert table.top_row() == top


def test_return_and_double_click_activate(table: VirtualTable, qtbot: QtBot) -> None:
    table.set_model(Numbers(50))
    table.set_current(4)
    with qtbot.waitSignal(table.activated) as told:
        QTest.keyClick(table, Qt.Key.Key_Return)
    assert told.args == [4]
    where = table.row_rect(7).center()
    with qtbot.waitSignal(table.activated) as told:
        QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, where.y()))
    assert told.args == [7]


def test_scroll_bar_reaches_the_last_row_of_any_number(table: VirtualTable) -> None:
    table.set_model(Numbers(10**15))
    bar = table.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert table.top_row() + table.visible_rows() == 10**15
    bar.setValue(0)
    assert table.top_row() == 0


def test_refresh_asks_again_and_forgets_a_row_that_is_gone(table: VirtualTable) -> None:
    model = Numbers(100)
    table.set_model(model)
    table.set_current(90)
    model.count = 50
    table.refresh()
    assert table.current() is None
    assert table.row_text(49) == ["49", "2401"]


def test_pages_are_bounded(table: VirtualTable) -> None:
    table.set_model(Numbers(10**7))
    for row in range(0, 10**7, 10**5):
        table.row_text(row)
    assert len(table._pages) <= PAGES_KEPT


def test_columns_fit_until_one_is_dragged(table: VirtualTable) -> None:
    table.set_model(Numbers(10))
    assert sum(table.column_widths()) == table.viewport().width()
    table.set_column_widths([60, 70])
    table.resize(900, 400)
    assert table.column_widths() == [60, 70]


class Ranges(NoRows):
    """Rows of an offset far into a large file each, beside a key."""

    def __init__(self, offset: int) -> None:
        super().__init__([Column("Key", 60, 1), Column("Offset", 40, right=True)])
        self.offset = offset

    def row_count(self) -> int:
        return 300

    def page(self, start: int, stop: int) -> list[list[str]]:
        return [["x/0.0", str(self.offset + row)] for row in range(start, stop)]


def test_columns_of_numbers_have_room_for_those_that_are_seen(table: VirtualTable) -> None:
    table.set_model(Ranges(0))
    table.grab()
    QApplication.processEvents()
    small = table.column_widths()[1]
    table.set_model(Ranges(9_007_199_254_740_000))
    table.grab()
    QApplication.processEvents()
    wide = QFontMetrics(table._mono_bold).horizontalAdvance("9007199254740000")
    assert table.column_widths()[1] >= wide + 16 > small
    assert sum(table.column_widths()) == table.viewport().width()


def test_numbers_are_whole_also_where_the_widths_were_chosen(table: VirtualTable) -> None:
    """A width that was kept of a small document, or drawn by hand, never cuts a number."""
    table.set_model(Ranges(0))
    table.set_column_widths([60, 50])
    table.grab()
    QApplication.processEvents()
    assert table.column_widths() == [60, 50]
    table.set_model(Ranges(9_007_199_254_740_000))
    table.grab()
    QApplication.processEvents()
    needed = QFontMetrics(table._mono_bold).horizontalAdvance("9007199254740000") + 16
    assert table.column_widths() == [60, needed]
    table._header.resizeSection(1, 30)
    assert table.column_widths() == [60, needed]
    table._header.resizeSection(0, 30)
    assert table.column_widths() == [30, needed]


def test_titles_of_columns_are_whole(table: VirtualTable) -> None:
    table.set_model(Titled())
    needed = QFontMetrics(table._header.font()).horizontalAdvance("Messages") + 16
    assert table.column_widths()[0] >= needed > 40


class Titled(NoRows):
    """A narrow column of numbers with a long title."""

    def __init__(self) -> None:
        super().__init__([Column("Messages", 40, right=True), Column("Key", 60, 1)])


class Measured(Numbers):
    def widest(self) -> dict[int, str]:
        return {0: str(self.count - 1)}


def test_columns_of_numbers_stay_while_one_scrolls_where_the_widest_is_known(table: VirtualTable) -> None:
    table.set_model(Measured(10**12))
    table.grab()
    QApplication.processEvents()
    widths = table.column_widths()
    assert widths[0] >= QFontMetrics(table._mono_bold).horizontalAdvance(str(10**12 - 1)) + 16
    table.set_current(10**12 - 1)
    table.grab()
    QApplication.processEvents()
    assert table.column_widths() == widths


def test_references_tell_their_widest_numbers(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    ranges = {f"x/{row}": ["data", row * 10**12, 77] for row in range(1200)}
    path.write_text(json.dumps({"version": 1, "refs": {".zgroup": '{"zarr_format": 2}', **ranges}}))
    rows = ExpansionRows(open_references(path), None, lambda: None)
    assert rows.widest() == {0: "1\u202f200", 4: str(1199 * 10**12), 5: "77"}
    last = rows.page(1200, 1201)[0]
    assert {at: last[at] for at in (0, 4, 5)} == rows.widest()


def test_text_of_files_is_one_plain_line() -> None:
    assert one_line("a\nb\x00c") == "a↵b·c"
    assert len(one_line("x" * 10_000)) == CELL_LIMIT + 1


def test_no_rows_shows_the_words(table: VirtualTable, tmp_path: Path) -> None:
    table.set_model(NoRows(Numbers.columns))
    table.set_placeholder("Nothing here")
    before = table.grab().toImage()
    table.set_placeholder("")
    assert table.grab().toImage() != before


def test_hex_rows() -> None:
    rows = HexRows(bytes(range(60, 80)))
    assert rows.row_count() == 2
    assert rows.page(0, 2)[1] == ["00000010", "4c 4d 4e 4f  ", "LMNO"]
