"""Dimensions, coordinate variables and compound types in the tree and the attributes pane."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nczarr_documents import nczarr_document
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.tree_rows import DETAIL_ROLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import icons, theme
from refbrowser.views.hierarchy import ItemKind

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def buoys(tmp_path: Path, opened: Open, settle: Settle) -> OpenDocument:
    """The document of two groups, read."""
    path = tmp_path / "buoys.json"
    path.write_text(json.dumps(nczarr_document()))
    document = opened(path)
    settle()
    return document


def row(window: MainWindow, document: OpenDocument, kind: str, place: str) -> QModelIndex:
    index = window.hierarchy.model.find_identity((document.number, kind, place))
    assert index.isValid(), place
    return index


def children(window: MainWindow, parent: QModelIndex) -> list[tuple[str, str, str]]:
    model = window.hierarchy.model
    rows = [model.index(number, 0, parent) for number in range(model.rowCount(parent))]
    items = [(model.item(index), index.data(), index.data(DETAIL_ROLE)) for index in rows]
    return [(str(item.kind), name, detail) for item, name, detail in items if item is not None]


def test_dimensions_are_nodes_of_their_group(window: MainWindow, buoys: OpenDocument) -> None:
    root = row(window, buoys, "document", "")
    found = [(name, detail) for kind, name, detail in children(window, root) if kind == "dimension"]
    assert found == [("time", "4 unlimited"), ("lat", "3")]
    group = row(window, buoys, "group", "/deep")
    assert ("dimension", "layer", "2") in children(window, group)
    index = row(window, buoys, "dimension", "/deep/layer")
    assert index.parent() == group
    assert not window.hierarchy.model.hasChildren(index)
    words = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert words == "dimension layer 2"


def test_choosing_one_shows_the_variables_that_share_it(
    window: MainWindow, buoys: OpenDocument, settle: Settle
) -> None:
    window.hierarchy.select_index(row(window, buoys, "dimension", "/time"))
    settle()
    values = window.attributes.values()
    assert (values["Size"], values["Unlimited"]) == ("4", "yes")
    assert values["/temp"] == "4×3"
    assert "/station" not in values
    window.hierarchy.select_index(row(window, buoys, "dimension", "/lat"))
    settle()
    values = window.attributes.values()
    assert values["Unlimited"] == "no"
    assert {"/lat", "/temp", "/station", "/deep/salt"} <= set(values)
    assert "Dimension /lat" in window.summary.text()


def cell(window: MainWindow, text: str, section: str) -> QModelIndex:
    model = window.attributes.tree.model()
    for number in range(model.rowCount()):
        parent = model.index(number, 0)
        if not parent.data().startswith(section):
            continue
        for place in range(model.rowCount(parent)):
            if model.index(place, 0, parent).data() == text:
                return model.index(place, 0, parent)
    raise AssertionError(text)


@pytest.mark.parametrize("way", ["click", "return"])
def test_a_variable_of_a_dimension_is_gone_to(
    window: MainWindow, buoys: OpenDocument, settle: Settle, qtbot: QtBot, way: str
) -> None:
    window.hierarchy.select_index(row(window, buoys, "dimension", "/lat"))
    settle()
    tree, index = window.attributes.tree, cell(window, "/deep/salt", "Variables")
    if way == "click":
        QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(index).center())
    else:
        tree.setFocus()
        tree.setCurrentIndex(index)
        QTest.keyClick(tree, Qt.Key.Key_Return)
    item = window.hierarchy.current_item()
    assert item is not None
    assert (item.kind, item.place) == (ItemKind.ARRAY, "/deep/salt")


def test_coordinate_variables_are_marked(window: MainWindow, buoys: OpenDocument, settle: Settle) -> None:
    time, temp = row(window, buoys, "array", "/time"), row(window, buoys, "array", "/temp")
    mark = icons.icon("coordinate", theme.colors().accent)
    assert time.data(Qt.ItemDataRole.DecorationRole).cacheKey() == mark.cacheKey()
    assert temp.data(Qt.ItemDataRole.DecorationRole).cacheKey() != mark.cacheKey()
    words = "Coordinate variable of dimension time"
    assert words in time.data(Qt.ItemDataRole.ToolTipRole)
    assert words in time.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "Coordinate" not in temp.data(Qt.ItemDataRole.ToolTipRole)
    window.hierarchy.select_index(row(window, buoys, "dimension", "/time"))
    settle()
    assert cell(window, "/time", "Coordinates").siblingAtColumn(1).data() == "coordinate variable"


def test_the_filter_finds_dimensions(window: MainWindow, buoys: OpenDocument, qtbot: QtBot) -> None:
    field = window.findChild(QLineEdit, "hierarchyFilter")
    field.setText("layer")
    model = window.hierarchy.model
    qtbot.waitUntil(model.is_filtered)
    root = row(window, buoys, "document", "")
    assert [name for _kind, name, _detail in children(window, root)] == ["deep"]
    match = model.item(model.first_match())
    assert match is not None
    assert match.place == "/deep/layer"


def test_a_chosen_dimension_stays_chosen_over_an_edit(
    window: MainWindow, buoys: OpenDocument, settle: Settle
) -> None:
    from refbrowser.references.edits.edits import SetMetadata

    window.hierarchy.select_index(row(window, buoys, "dimension", "/deep/layer"))
    settle()
    assert buoys.apply(SetMetadata("deep/.zattrs", {"_nczarr_group": {"dimensions": {"layer": 2}}}))
    settle()
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/deep/layer"


def test_fields_of_a_compound_type(window: MainWindow, buoys: OpenDocument, settle: Settle) -> None:
    window.hierarchy.select_node(buoys, "/station")
    settle()
    values = window.attributes.values()
    assert values["place.lat"] == "bytes 9 to 16"
    assert values["counts"] == "2 values, bytes 17 to 20"
    assert cell(window, "place", "Fields (3)").siblingAtColumn(2).data() == "compound"
    assert row(window, buoys, "array", "/station").data(DETAIL_ROLE) == "3 compound"


def test_flavour_and_age_are_told(window: MainWindow, buoys: OpenDocument, settle: Settle) -> None:
    window.hierarchy.select_index(row(window, buoys, "document", ""))
    settle()
    words = "NCZarr (netcdf-c 4.9.3 or later), as references of Version 1"
    assert window.attributes.values()["Format"] == words
    root = row(window, buoys, "document", "")
    assert words in root.data(Qt.ItemDataRole.ToolTipRole)
    assert root.data(DETAIL_ROLE) == "V1"
