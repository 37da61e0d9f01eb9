"""The grid: any number of rows and columns, the keyboard, the mouse, widths of columns."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from refbrowser.app.widgets.table_cells import ColumnKind
from refbrowser.app.widgets.table_grid import GridView
from refbrowser.views.plot.table import Cells, Mark

KEY, CONTROL, SHIFT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Numbers:
    """Cells that tell where they are; counts how many were asked for."""

    corner = ("y", "x")

    def __init__(
        self, rows: int, columns: int, kinds: tuple[ColumnKind, ...] = (ColumnKind("10", 10),)
    ) -> None:
        self.rows, self.columns, self.kinds = rows, columns, kinds
        self.asked = 0

    def row_header(self, row: int) -> tuple[str, str]:
        return (str(row), "")

    def column_header(self, column: int) -> tuple[str, str]:
        return (str(column), "")

    def cells(self, rows: range, columns: range) -> Cells:
        self.asked += len(rows) * len(columns)
        texts = [[f"{row}:{column}" for column in columns] for row in rows]
        shape = len(rows), len(columns)
        return Cells(texts, np.full(shape, Mark.VALUE, np.uint8), np.zeros(shape, bool))

    def describe(self, row: int, column: int) -> str:
        return f"{row}:{column}"


@pytest.fixture
def grid(styled: QApplication, qtbot: QtBot) -> Iterator[GridView]:
    grid = GridView()
    qtbot.addWidget(grid)
    grid.resize(600, 400)
    grid.show()
    grid.set_model(Numbers(10**9, 10**9))
    grid.setFocus()
    yield grid
    grid.close()


def press(
    grid: GridView, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.keyClick(grid, key, modifier)


def middle(grid: GridView, row: int, column: int) -> QPoint:
    return grid.cell_rect(row, column).center()


def click(
    grid: GridView, place: QPoint, button: Qt.MouseButton = Qt.MouseButton.LeftButton, **more: object
) -> None:
    modifier = more.get("modifier", Qt.KeyboardModifier.NoModifier)
    QTest.mouseClick(grid.viewport(), button, modifier, place)  # type: ignore[call-overload]


class TestAnyNumber:
    def test_jumps_ask_only_for_what_is_seen(self, grid: GridView) -> None:
        model = grid.model()
        assert isinstance(model, Numbers)
        grid.grab()
        model.asked = 0
        started = time.perf_counter()
        for row in (10**9 - 1, 5 * 10**8, 7, 123_456_789):
            grid.set_current((row, row // 2))
            rows, columns = grid.seen()
            assert row in rows
            assert row // 2 in columns
            grid.grab()
        assert time.perf_counter() - started < 20
        assert model.asked < 4 * 2 * 40 * 40

    def test_the_last_cell_is_seen_whole(self, grid: GridView) -> None:
        press(grid, KEY.Key_End, CONTROL)
        assert grid.current() == (10**9 - 1, 10**9 - 1)
        assert grid.viewport().rect().contains(grid.cell_rect(10**9 - 1, 10**9 - 1))

    def test_scroll_bars_reach_both_ends(self, grid: GridView) -> None:
        bar = grid.verticalScrollBar()
        bar.setValue(bar.maximum())
        assert grid.seen()[0].stop == 10**9
        bar.setValue(0)
        assert grid.seen()[0].start == 0

    def test_a_wheel_moves_by_rows_and_with_shift_by_columns(self, grid: GridView) -> None:
        turn(grid, -120)
        assert grid.seen()[0].start == 3
        turn(grid, -120, SHIFT)
        assert grid.seen()[1].start == 1


def turn(grid: GridView, angle: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = QPoint(100, 100)
    event = QWheelEvent(
        place,
        place,
        QPoint(),
        QPoint(0, angle),
        Qt.MouseButton.NoButton,
        modifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(grid.viewport(), event)


class TestKeyboard:
    def test_arrows(self, grid: GridView) -> None:
        grid.set_current((5, 5))
        for key, cell in (
            (KEY.Key_Up, (4, 5)),
            (KEY.Key_Left, (4, 4)),
            (KEY.Key_Down, (5, 4)),
            (KEY.Key_Right, (5, 5)),
        ):
            press(grid, key)
            assert grid.current() == cell

    def test_the_first_key_marks_the_first_cell(self, grid: GridView) -> None:
        press(grid, KEY.Key_Down)
        assert grid.current() == (0, 0)
        press(grid, KEY.Key_Up)
        assert grid.current() == (0, 0)

    def test_far(self, grid: GridView) -> None:
        grid.set_current((5, 5))
        press(grid, KEY.Key_Right, CONTROL)
        assert grid.current() == (5, 10**9 - 1)
        press(grid, KEY.Key_Home)
        assert grid.current() == (5, 0)
        press(grid, KEY.Key_Home, CONTROL)
        assert grid.current() == (0, 0)

    def test_pages(self, grid: GridView) -> None:
        grid.set_current((0, 0))
        press(grid, KEY.Key_PageDown)
        current = grid.current()
        assert current is not None
        assert current[0] > 5
        press(grid, KEY.Key_PageUp)
        assert grid.current() == (0, 0)

    def test_shift_selects(self, grid: GridView) -> None:
        grid.set_current((5, 5))
        press(grid, KEY.Key_Down, SHIFT)
        press(grid, KEY.Key_Left, SHIFT)
        chosen = grid.selection()
        assert chosen is not None
        assert (chosen.rows, chosen.columns) == (range(5, 7), range(4, 6))
        press(grid, KEY.Key_A, CONTROL)
        chosen = grid.selection()
        assert chosen is not None
        assert chosen.size == 10**18

    def test_return_and_copy_are_told(self, grid: GridView, qtbot: QtBot) -> None:
        grid.set_current((5, 5))
        with qtbot.waitSignal(grid.activated) as caught:
            press(grid, KEY.Key_Return)
        assert caught.args == [(5, 5)]
        with qtbot.waitSignal(grid.copyRequested):
            press(grid, KEY.Key_C, CONTROL)

    def test_screen_readers_hear_the_cell(self, grid: GridView) -> None:
        grid.set_current((5, 6))
        assert grid.accessibleDescription() == "row 5 , column 6 : 5:6"


class TestMouse:
    def test_click_and_drag(self, grid: GridView) -> None:
        click(grid, middle(grid, 2, 1))
        assert grid.current() == (2, 1)
        click(grid, middle(grid, 4, 3), modifier=SHIFT)
        chosen = grid.selection()
        assert chosen is not None
        assert chosen.size == 9

    def test_headers_select_rows_columns_all(self, grid: GridView) -> None:
        cell = grid.cell_rect(2, 1)
        click(grid, QPoint(cell.center().x(), 4))
        chosen = grid.selection()
        assert chosen is not None
        assert (chosen.columns, len(chosen.rows)) == (range(1, 2), 10**9)
        click(grid, QPoint(4, cell.center().y()))
        chosen = grid.selection()
        assert chosen is not None
        assert (chosen.rows, len(chosen.columns)) == (range(2, 3), 10**9)
        click(grid, QPoint(4, 4))
        chosen = grid.selection()
        assert chosen is not None
        assert chosen.size == 10**18

    def test_right_button_selects_unless_inside(self, grid: GridView) -> None:
        click(grid, middle(grid, 2, 1))
        click(grid, middle(grid, 4, 3), modifier=SHIFT)
        click(grid, middle(grid, 3, 2), Qt.MouseButton.RightButton)
        chosen = grid.selection()
        assert chosen is not None
        assert chosen.size == 9
        click(grid, middle(grid, 6, 0), Qt.MouseButton.RightButton)
        assert grid.current() == (6, 0)

    def test_a_double_click_activates(self, grid: GridView, qtbot: QtBot) -> None:
        with qtbot.waitSignal(grid.activated) as caught:
            QTest.mouseDClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=middle(grid, 2, 1))
        assert caught.args == [(2, 1)]


class TestWidths:
    KINDS = (ColumnKind("a", 8), ColumnKind("b", 20, right=False))

    def drag(self, grid: GridView, column: int, by: int) -> None:
        border = QPoint(grid.cell_rect(0, column).right() + 1, 5)
        QTest.mousePress(grid.viewport(), Qt.MouseButton.LeftButton, pos=border)
        QTest.mouseMove(grid.viewport(), border + QPoint(by, 0))
        QTest.mouseRelease(grid.viewport(), Qt.MouseButton.LeftButton, pos=border + QPoint(by, 0))

    def test_dragging_a_border(self, grid: GridView, qtbot: QtBot) -> None:
        grid.set_model(Numbers(10, 6, self.KINDS))
        narrow, wide = grid.column_width(0), grid.column_width(1)
        assert narrow < wide
        with qtbot.waitSignal(grid.widthsChanged):
            self.drag(grid, 1, 37)
        assert (grid.column_width(0), grid.column_width(1), grid.column_width(3)) == (
            narrow,
            wide + 37,
            wide + 37,
        )
        self.drag(grid, 0, -1000)
        assert 20 < grid.column_width(0) <= narrow

    def test_widths_are_kept_by_kind(self, grid: GridView) -> None:
        grid.set_model(Numbers(10, 6, self.KINDS))
        self.drag(grid, 1, 37)
        wide = grid.column_width(1)
        grid.set_model(Numbers(10, 6))
        assert grid.column_width() != wide
        grid.set_model(Numbers(20, 1, (self.KINDS[1],)))
        assert grid.column_width() == wide
        assert grid.widths_kept() == {"b": wide}

    def test_a_double_click_on_a_border_fits(self, grid: GridView) -> None:
        grid.set_model(Numbers(10, 6, self.KINDS))
        border = QPoint(grid.cell_rect(0, 1).right() + 1, 5)
        QTest.mouseDClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=border)
        assert grid.column_width(1) < grid.column_width(0)

    def test_the_current_cell_is_seen_whole_whatever_the_widths(self, grid: GridView) -> None:
        sizes = (45, 30, 8, 8, 8, 8)
        kinds = tuple(ColumnKind(str(number), size) for number, size in enumerate(sizes))
        grid.set_model(Numbers(10, 60, kinds))
        grid.set_current((0, 0))
        for _ in range(12):
            press(grid, KEY.Key_Right)
            current = grid.current()
            assert current is not None
            assert grid.viewport().rect().contains(grid.cell_rect(*current)), current

    def test_cells_of_all_kinds_are_where_they_are_painted(self, grid: GridView) -> None:
        grid.set_model(Numbers(10, 6, self.KINDS))
        for row in range(3):
            for column in range(3):
                assert grid.cell_at(middle(grid, row, column)) == (row, column)
        assert grid.cell_at(QPoint(1, 100)) is None


def test_nothing_says_so(grid: GridView) -> None:
    grid.set_model(Numbers(0, 0))
    grid.set_placeholder("Nothing here")
    grid.grab()
    press(grid, KEY.Key_Down)
    click(grid, QPoint(50, 50))
    assert grid.current() is None
    assert grid.cell_at(QPoint(50, 50)) is None
