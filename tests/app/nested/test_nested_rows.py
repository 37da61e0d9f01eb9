"""Rows of nested values in the window: unfolded, gone through by keys and mouse, copied, where some fail."""

from __future__ import annotations

import json
from typing import Any

import awkward as ak
import numpy as np
import pytest
from nested_double import events, made_node
from nested_in_window import Plot, Show, rest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed

from refbrowser.app.nested.nested_pane import NestedPane
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nested import NestedFault
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.table import Mark


def lines(pane: NestedPane, count: int) -> list[list[str]]:
    """Return the first lines as they are read."""
    return [pane.table.row_text(row) for row in range(count)]


def press(qtbot: QtBot, pane: NestedPane, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(pane.table, key)


def test_fields_are_columns_and_lists_are_shortened(show: Show) -> None:
    pane = show(made_node(events()))
    assert [column.title for column in pane.table.model().columns] == [
        "Row", "Length", "met", "name", "particles",
    ]  # fmt: skip
    assert pane.type.text() == (
        "200 * {met: ?float64, name: string, particles: var * {pt: float64, eta: float64, id: int64}}"
    )
    pane = show(made_node([[float(number) for number in range(9)], [], [1.5]]))
    assert lines(pane, 3) == [
        ["0", "9", "[0, 1, 2, 3, … 8]"],
        ["1", "0", "[]"],
        ["2", "1", "[1.5]"],
    ]


def test_lists_of_records_have_their_fields_as_columns(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([[{"x": 1, "y": [1.5]}, {"x": 2, "y": []}], []]))
    assert lines(pane, 2) == [["0", "2", "[1, 2]", "[[1.5], []]"], ["1", "0", "[]", "[]"]]
    pane.table.set_current(0)
    press(qtbot, pane, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert pane.table.current() == 1
    assert lines(pane, 4)[1:] == [["0", "", "1", "[1.5]"], ["1", "", "2", "[]"], ["1", "0", "[]", "[]"]]
    press(qtbot, pane, Qt.Key.Key_Right)
    assert lines(pane, 3)[2] == ["y", "1", "[1.5]"]
    press(qtbot, pane, Qt.Key.Key_Down)
    assert pane.status.text() == "[0][0].y   1 element   [1.5]"


def test_unfolding_by_keys(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([[[1, 2], [3]], [[4]]]))
    table = pane.table
    table.set_current(0)
    press(qtbot, pane, Qt.Key.Key_Plus)
    assert table.model().row_count() == 4
    press(qtbot, pane, Qt.Key.Key_Plus)
    assert table.model().row_count() == 7
    assert [text[0] for text in lines(pane, 7)] == ["0", "0", "0", "1", "1", "0", "1"]
    table.set_current(3)
    press(qtbot, pane, Qt.Key.Key_Left)
    assert table.current() == 1, "left goes to what a value is in"
    press(qtbot, pane, Qt.Key.Key_Left)
    assert table.model().row_count() == 5, "and folds it then"
    press(qtbot, pane, Qt.Key.Key_Return)
    assert table.model().row_count() == 7
    press(qtbot, pane, Qt.Key.Key_Minus)
    assert table.model().row_count() == 5


def test_unfolding_by_the_mouse_and_by_buttons(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([[[1, 2], [3]], [[4]]]))
    table = pane.table
    assert not pane.unfold.isEnabled()
    at = table.row_rect(1)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at.topLeft() + QPoint(12, 10))
    assert table.model().row_count() == 3
    qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at.topLeft() + QPoint(300, 10))
    assert table.model().row_count() == 2
    table.set_current(0)
    pane.unfold.click()
    pane.unfold.click()
    assert table.model().row_count() == 7
    table.set_current(5)
    pane.fold.click()
    assert table.model().row_count() == 2
    assert table.current() == 0
    assert not pane.fold.isEnabled()


def test_missing_unreadable_and_nan_are_told_apart(show: Show) -> None:
    broken = RefbrowserError(ErrorKind.DECODE, "its bytes are damaged")
    array = ak.Array([{"a": 1.5, "b": None}, {"a": None, "b": None}, {"a": float("nan"), "b": None}])
    pane = show(made_node(array, faults=(NestedFault("b", broken),)))
    model = pane.table.nested()
    assert model is not None
    marks = [[cell.mark for cell in model.line(row).cells] for row in range(3)]
    assert marks == [
        [Mark.VALUE, Mark.FAILED], [Mark.MISSING, Mark.FAILED], [Mark.NO_VALUE, Mark.FAILED],
    ]  # fmt: skip
    assert lines(pane, 3) == [
        ["0", "1.5", "! unreadable"], ["1", "missing", "! unreadable"], ["2", "nan", "! unreadable"],
    ]  # fmt: skip


def test_unions_tuples_texts_and_bytes(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([1, "two", [3.5], None, (4, b"\x01\xff")]))
    assert [text[2] for text in lines(pane, 5)] == ["1", "two", "[3.5]", "missing", "(4, 0x01ff)"]
    pane.table.set_current(4)
    press(qtbot, pane, Qt.Key.Key_Right)
    assert [text[0] for text in lines(pane, 7)[5:]] == ["0", "1"]


def test_going_to_a_row(show: Show, qtbot: QtBot) -> None:
    node = made_node([[number] for number in range(5_000)])
    pane = show(node)
    qtbot.keyClicks(pane.go_to, "-10")
    qtbot.keyClick(pane.go_to, Qt.Key.Key_Return)
    rest(pane, qtbot)
    assert pane.table.current() == 4_990
    assert pane.table.row_text(4_990) == ["4990", "1", "[4990]"]
    read: list[tuple[int, int]] = node.nested.read  # type: ignore[union-attr]
    assert sum(stop - start for start, stop in read) < 1_000, "only what is seen is read"
    for text in ("5000", "x"):
        pane.go_to.clear()
        qtbot.keyClicks(pane.go_to, text)
        qtbot.keyClick(pane.go_to, Qt.Key.Key_Return)
        assert pane.table.current() == 4_990
    qtbot.keyClick(pane.table, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert pane.focusWidget() is pane.go_to


def test_copying_values(plot: Plot, show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([{"x": [1.5, None], "s": "é"}, {"x": [float("inf")], "s": ""}]))
    pane.table.set_current(0)
    qtbot.keyClick(pane.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(pane.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not plot.source().tasks.busy())
    copied = QGuiApplication.clipboard().text().split("\n")
    assert [json.loads(line) for line in copied] == [
        {"x": [1.5, None], "s": "é"}, {"x": ["Infinity"], "s": ""},
    ]  # fmt: skip
    pane.table.set_current(0)
    press(qtbot, pane, Qt.Key.Key_Right, Qt.Key.Key_Right)
    pane.table.copy_selected()
    qtbot.waitUntil(lambda: not plot.source().tasks.busy())
    assert QGuiApplication.clipboard().text() == "[1.5, null]"


def test_huge_and_empty_arrays(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node(ak.Array([[1]])[:0]))
    assert pane.table.model().row_count() == 0
    assert not pane.go_to.isEnabled()
    rows = 3_000_000_000
    tiles = ak.Array(ak.contents.RegularArray(ak.contents.EmptyArray(), 0, zeros_length=rows))
    pane = show(made_node(tiles))
    assert pane.table.model().row_count() == rows
    press(qtbot, pane, Qt.Key.Key_Down, Qt.Key.Key_End)
    rest(pane, qtbot)
    assert pane.table.row_text(rows - 1) == [str(rows - 1), "0", "[]"]


@pytest.mark.slow
def test_what_is_too_much_to_unfold_is_not(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([np.arange(50_000), [1]]))
    pane.table.set_current(0)
    press(qtbot, pane, Qt.Key.Key_Plus)
    assert pane.table.model().row_count() == 2
    press(qtbot, pane, Qt.Key.Key_Right)
    assert pane.table.model().row_count() == 50_002, "one list is unfolded, however long it is"


def test_errors_are_cards_with_another_try(show: Show, qtbot: QtBot) -> None:
    fails = [True]

    def refuse(start: int, stop: int) -> None:
        if fails[0]:
            raise RefbrowserError(ErrorKind.SOURCE, "the server does not answer")

    pane = show(made_node([[1], [2]], refuse=refuse))
    assert pane.cards.isVisible()
    assert pane.cards.heading() == "/events could not be read"
    assert "does not answer" in pane.cards.text()
    fails[0] = False
    pane.cards.retryRequested.emit()
    rest(pane, qtbot)
    assert pane.table.isVisible()
    assert lines(pane, 2)[1] == ["1", "1", "[2]"]


def test_rows_around_one_that_fails_are_read(show: Show) -> None:
    def refuse(start: int, stop: int) -> None:
        if start <= 3 < stop:
            raise RefbrowserError(ErrorKind.RANGE, "its list reaches beyond the content")

    pane = show(made_node([[number] for number in range(20)], refuse=refuse))
    texts = [text[2] for text in lines(pane, 6)]
    assert texts == ["[0]", "[1]", "[2]", "! unreadable", "[4]", "[5]"]
    pane.table.set_current(3)
    assert "its list reaches beyond the content" in pane.status.text()


def test_what_is_unfolded_stays_while_the_structure_is_read_again(show: Show) -> None:
    pane = show(made_node([[1, 2], [3]]))
    pane.table.set_current(0)
    pane.table.unfold_current()
    assert show(made_node([[1, 2], [3]])).table.model().row_count() == 4
    assert show(made_node([[1, 2], [3], [4]])).table.model().row_count() == 3


def test_nothing_is_shown_of_other_arrays(plot: Plot, show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([[1, 2], [3]]))
    plot.show(ArrayNode(path="/plain", shape=(3,)))
    rest(pane, qtbot)
    assert pane.node() is None
    assert pane.table.model().row_count() == 0
    assert pane.type.text() == ""


def test_everything_has_a_name(show: Show) -> None:
    pane = show(made_node(events()))
    assert unnamed(pane) == []
    pane.table.set_current(2)
    assert "row 2 of 200" in pane.table.accessibleDescription()


@pytest.mark.parametrize("array", [[[["deep"] * 3] * 3] * 3, [{"a": {"b": {"c": [1]}}}], [True, None]])
def test_any_shape_unfolds_to_its_end(show: Show, array: Any) -> None:
    pane = show(made_node(array))
    pane.table.set_current(0)
    model = pane.table.nested()
    assert model is not None
    for _ in range(6):
        model.unfold_level((0,))
    pane.table.refresh()
    last = model.line(model.row_count() - len(array))
    assert not last.below


def test_the_menu_copies_unfolds_and_folds(plot: Plot, show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([[[1, 2]], [[3]]]))
    pane.table.customContextMenuRequested.emit(pane.table.row_rect(0).center())
    assert pane.table.findChild(QMenu, "contextMenu") is None, "nothing is chosen yet"
    pane.table.set_current(0)
    pane.table.customContextMenuRequested.emit(pane.table.row_rect(0).center())
    menu = pane.table.findChild(QMenu, "contextMenu")
    assert isinstance(menu, QMenu)
    named = {action.objectName(): action for action in menu.actions()}
    menu.close()
    named["nestedUnfoldAction"].trigger()
    assert pane.table.model().row_count() == 3
    named["nestedFoldAction"].trigger()
    assert pane.table.model().row_count() == 2
    named["nestedCopyAction"].trigger()
    qtbot.waitUntil(lambda: not plot.source().tasks.busy())
    assert QGuiApplication.clipboard().text() == "[[1, 2]]"


def test_fields_without_a_column_are_seen_when_unfolded(show: Show, qtbot: QtBot) -> None:
    pane = show(made_node([{f"field{number}": number for number in range(130)}]))
    assert len(pane.table.model().columns) == 101
    pane.table.set_current(0)
    press(qtbot, pane, Qt.Key.Key_Right)
    assert pane.table.model().row_count() == 31
    assert pane.table.row_text(30) == ["field129", "129"]
