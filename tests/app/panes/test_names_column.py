"""The width of the column of names in the attributes pane."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from refbrowser.app.panes.attributes_tree import NAME, TYPE, AttributesTree
from refbrowser.views.attributes import Row, Section

LONG = "time_coverage_duration"


@pytest.fixture
def tree(qtbot: QtBot) -> AttributesTree:
    result = AttributesTree()
    qtbot.addWidget(result)
    result.resize(420, 300)
    result.show()
    qtbot.waitExposed(result)
    return result


def show(tree: AttributesTree, names: Sequence[str]) -> None:
    tree.show_sections([Section("Attributes", tuple(Row(name, "x") for name in names))], anew=True)


def width(tree: AttributesTree) -> int:
    return tree.header().sectionSize(NAME)


def test_names_are_not_cut_where_half_of_the_width_is_enough(tree: AttributesTree) -> None:
    show(tree, ["units"])
    narrow = width(tree)
    show(tree, ["units", LONG])
    assert width(tree) > narrow
    assert width(tree) >= tree.sizeHintForColumn(NAME)
    show(tree, ["units", LONG * 9])
    assert width(tree) == tree.viewport().width() // 2


def test_it_follows_the_width_of_the_pane(tree: AttributesTree, qtbot: QtBot) -> None:
    show(tree, [LONG])
    tree.resize(180, 300)
    qtbot.waitUntil(lambda: width(tree) == tree.viewport().width() // 2)
    tree.resize(420, 300)
    qtbot.waitUntil(lambda: width(tree) >= tree.sizeHintForColumn(NAME))


def test_what_the_user_draws_stays_until_the_layout_is_reset(tree: AttributesTree, qtbot: QtBot) -> None:
    show(tree, [LONG])
    fitted, bar = width(tree), tree.header().viewport()
    edge = QPoint(fitted - 1, bar.height() // 2)
    QTest.mouseMove(bar, edge)
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(bar, edge - QPoint(40, 0))
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=edge - QPoint(40, 0))
    drawn = width(tree)
    assert drawn < fitted
    show(tree, [LONG, "units"])
    assert width(tree) == drawn
    tree.name_column.forget()
    assert width(tree) == fitted


def test_values_have_the_room_before_their_types(tree: AttributesTree, qtbot: QtBot) -> None:
    """In a narrow pane, as at twice the scale, types give way where they would cut a value."""

    def show_values(*values: str) -> None:
        names = [f"standard_name_{at}" for at in range(len(values))]
        pairs = zip(names, values, strict=True)
        rows = [Row(name, value, name, type="char") for name, value in pairs]
        tree.show_sections([Section("Attributes", tuple(rows), has_attributes=True)], anew=True)

    tree.resize(250, 300)
    show_values("K", "degC")
    assert not tree.isColumnHidden(TYPE)
    show_values("K", "air_temperature")
    assert tree.isColumnHidden(TYPE)
    needed = tree.fontMetrics().horizontalAdvance("air_temperature")
    assert tree.columnViewportPosition(1) + needed <= tree.viewport().width()
    assert "char" in tree.index_of("standard_name_1").data(Qt.ItemDataRole.ToolTipRole)
    tree.resize(420, 300)
    qtbot.waitUntil(lambda: not tree.isColumnHidden(TYPE))
    show_values("a text that is much longer than any pane is wide, and can be read below its row")
    assert not tree.isColumnHidden(TYPE)


def test_the_title_of_the_values_is_whole(tree: AttributesTree) -> None:
    rows = tuple(Row(f"a_long_field_{at}", "", type="compound") for at in range(3))
    for width in range(150, 400, 10):
        tree.resize(width, 300)
        tree.show_sections([Section("Fields", rows)], anew=True)
        if not tree.isColumnHidden(TYPE):
            assert tree.header().sectionSize(1) >= tree.header().sectionSizeHint(1)
    assert not tree.isColumnHidden(TYPE)
