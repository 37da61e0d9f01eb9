"""Groups, arrays and dimensions renamed and deleted in the tree: by key, menu and dialog, with undo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.rename_dialog import RenameDialog
from refbrowser.app.shell.main_window import MainWindow


def metadata(**more: object) -> str:
    return json.dumps({"zarr_format": 3, **more})


def array(*dimensions: str) -> str:
    return metadata(
        node_type="array",
        shape=[2] * len(dimensions),
        data_type="int32",
        chunk_grid={"name": "regular", "configuration": {"chunk_shape": [2] * len(dimensions)}},
        chunk_key_encoding={"name": "default"},
        fill_value=0,
        codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],
        dimension_names=dimensions,
    )


REFS = {
    "zarr.json": metadata(node_type="group"),
    "t/zarr.json": array("t"),
    "t/c/0": ["data.bin", 0, 8],
    "g/zarr.json": metadata(node_type="group"),
    "g/inner/zarr.json": metadata(node_type="group"),
    "g/inner/v/zarr.json": array("t", "x"),
    "g/inner/v/c/0/0": ["data.bin", 0, 16],
    "g/w/zarr.json": array("x"),
    "g/w/c/0": ["data.bin", 8, 8],
}


@pytest.fixture
def document(window: MainWindow, opened: Open, tmp_path: Path) -> OpenDocument:
    """A document with groups, arrays and dimensions."""
    path = tmp_path / "set.json"
    path.write_text(json.dumps(REFS))
    return opened(path)


def select(window: MainWindow, document: OpenDocument, path: str) -> None:
    assert window.hierarchy.select_node(document, path)
    window.hierarchy.tree.setFocus()


def asked(window: MainWindow, qtbot: QtBot) -> RenameDialog:
    """Return the dialog, which F2 shows."""
    QTest.keyClick(window.hierarchy.tree, Qt.Key.Key_F2)
    qtbot.waitUntil(lambda: bool(window.findChildren(RenameDialog)))
    return window.findChildren(RenameDialog)[-1]


def type_name(dialog: RenameDialog, name: str) -> tuple[bool, str]:
    """Type a name; returns whether it can be taken, and what is said about it."""
    field, answer = dialog.findChild(QLineEdit, "renameField"), dialog.findChild(QLabel, "renameAnswer")
    button = dialog.findChild(QPushButton, "renameTakeButton")
    assert isinstance(field, QLineEdit)
    assert isinstance(answer, QLabel)
    assert isinstance(button, QPushButton)
    field.selectAll()
    QTest.keyClicks(field, name)
    return button.isEnabled(), answer.text()


def keys(document: OpenDocument) -> list[str]:
    assert document.document is not None
    refs = document.document.refs
    return refs.keys(0, len(refs))


def test_f2_renames_an_array_and_undo_gives_it_back(
    window: MainWindow, document: OpenDocument, qtbot: QtBot
) -> None:
    select(window, document, "/g/w")
    dialog = asked(window, qtbot)
    assert type_name(dialog, "inner") == (False, "inner already exists.")
    assert type_name(dialog, "zarr.json") == (False, "This name cannot be used: Zarr uses it itself.")
    assert type_name(dialog, "a/b") == (False, "This name cannot be used: it has a /.")
    assert type_name(dialog, "wind") == (True, "")
    with qtbot.waitSignal(document.hierarchyChanged):
        QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert keys(document)[-2:] == ["g/wind/zarr.json", "g/wind/c/0"]
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/g/wind"
    assert document.history is not None
    assert document.history.entries == ["Rename /g/w to /g/wind"]
    document.undo()
    assert keys(document) == list(REFS)


@pytest.mark.parametrize("along", [True, False])
def test_a_coordinate_variable_takes_its_dimension_along(
    window: MainWindow, document: OpenDocument, qtbot: QtBot, along: bool
) -> None:
    select(window, document, "/t")
    dialog = asked(window, qtbot)
    tick = dialog.findChild(QCheckBox, "renameAlong")
    assert isinstance(tick, QCheckBox)
    assert tick.isChecked()
    tick.setChecked(along)
    type_name(dialog, "time")
    with qtbot.waitSignal(document.hierarchyChanged):
        dialog.accept()
    assert document.hierarchy is not None
    name = "time" if along else "t"
    for path, dimensions in (("/time", (name,)), ("/g/inner/v", (name, "x"))):
        node = document.hierarchy.find(path)
        assert node is not None
        assert getattr(node, "dimensions", None) == dimensions
    assert document.history is not None
    assert len(document.history.entries) == 1


def test_a_dimension_is_renamed_in_the_tree(window: MainWindow, document: OpenDocument, qtbot: QtBot) -> None:
    model = window.hierarchy.model
    window.hierarchy.select_index(model.find_identity((document.number, "dimension", "/t")))
    window.hierarchy.tree.setFocus()
    dialog = asked(window, qtbot)
    assert type_name(dialog, "time")[0]
    with qtbot.waitSignal(document.hierarchyChanged):
        dialog.accept()
    assert "time/zarr.json" in keys(document)
    assert document.hierarchy is not None
    assert list(document.hierarchy.root.dimensions) == ["time"]


def test_del_deletes_an_array_at_once_and_a_group_after_a_question(
    window: MainWindow, document: OpenDocument, qtbot: QtBot
) -> None:
    select(window, document, "/t")
    with qtbot.waitSignal(document.hierarchyChanged):
        QTest.keyClick(window.hierarchy.tree, Qt.Key.Key_Delete)
    assert "t/zarr.json" not in keys(document)
    select(window, document, "/g")
    QTest.keyClick(window.hierarchy.tree, Qt.Key.Key_Delete)
    box = window.findChild(QMessageBox, "deleteGroupQuestion")
    assert isinstance(box, QMessageBox)
    assert box.informativeText().startswith("2 arrays and 1 group would go with it.")
    yes = box.findChild(QPushButton, "deleteGroupQuestionYes")
    assert isinstance(yes, QPushButton)
    with qtbot.waitSignal(document.hierarchyChanged):
        yes.click()
    assert keys(document) == ["zarr.json"]
    document.undo()
    document.undo()
    assert keys(document) == list(REFS)


def test_the_document_itself_is_neither_renamed_nor_deleted(
    window: MainWindow, document: OpenDocument, qtbot: QtBot
) -> None:
    model = window.hierarchy.model
    window.hierarchy.select_index(model.find_identity((document.number, "document", "")))
    for name in ("rename_node", "delete_node"):
        window.actions_[name].trigger()
    assert not document.is_dirty
    assert not window.findChildren(RenameDialog)


def test_nodes_of_a_store_stay_as_they_are(window: MainWindow, opened: Open, tmp_path: Path) -> None:
    store = tmp_path / "s.zarr"
    (store / "v").mkdir(parents=True)
    (store / "zarr.json").write_text(REFS["zarr.json"])  # type: ignore[arg-type]
    (store / "v" / "zarr.json").write_text(array("x"))
    opened(store)
    assert not window.actions_["rename_node"].isEnabled()
    assert not window.actions_["delete_node"].isEnabled()
