"""The width of the column of names in the attributes pane."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from refbrowser.app.panes.attributes_tree import NAME, AttributesTree
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
