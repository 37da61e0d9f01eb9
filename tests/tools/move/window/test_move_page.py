"""The page "Files and locations": the tree, what a move comes to as it is typed, its test, one step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QTabWidget,
    QTreeView,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer
from window_fixtures import button

from refbrowser.app.actions.menus import menus
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.trust import TrustSheet
from refbrowser.app.editors.prefix_editor import PrefixEditor
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.rows import OutcomeLine
from refbrowser.io.access.access import Source
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.tools.move.report.prefix_tree import prefix_tree
from refbrowser.tools.move.window.move_page import MovePage
from refbrowser.tools.move.window.prefix_model import PAGE, PrefixModel

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


class User:
    """Looks at the page and works it."""

    def __init__(self, window: MainWindow, qtbot: QtBot, settle: Settle) -> None:
        self.window, self.qtbot, self.settle = window, qtbot, settle
        window.actions_["move_files"].trigger()
        page = window.findChild(MovePage)
        assert page is not None
        self.page = page
        settle()

    def part(self, kind: type[Any], name: str) -> Any:
        found = self.page.findChild(kind, name)
        assert found is not None, name
        return found

    def rows(self, parent: QModelIndex | None = None, depth: int = 0) -> list[str]:
        """Return place, files, references and health of each row."""
        model = self.part(QTreeView, "moveTree").model()
        parent, lines = parent or QModelIndex(), []
        while model.canFetchMore(parent):
            model.fetchMore(parent)
        for row in range(model.rowCount(parent)):
            texts = [model.index(row, column, parent).data() for column in (0, 1, 2, 4)]
            lines.append("  " * depth + " ".join(texts))
            lines += self.rows(model.index(row, 0, parent), depth + 1)
        return lines

    def choose(self, prefix: str) -> None:
        view = self.part(QTreeView, "moveTree")
        view.setCurrentIndex(view.model().find(prefix))
        self.settle()

    def type(self, text: str) -> None:
        field = self.part(QLineEdit, "moveNew")
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
        self.settle()

    def outcome(self) -> str:
        return str(self.part(OutcomeLine, "moveOutcome").text()).replace("\N{NARROW NO-BREAK SPACE}", " ")

    def list(self, name: str) -> list[list[str]]:
        view: QTreeWidget = self.part(QTreeWidget, name)
        items = [view.topLevelItem(at) for at in range(view.topLevelItemCount())]
        return [[item.text(column) for column in range(3)] for item in items if item is not None]

    def tab(self) -> str:
        tabs = self.part(QTabWidget, "moveTabs")
        return str(tabs.tabText(tabs.currentIndex()))

    def click(self, name: str) -> None:
        found: QPushButton = button(self.page, name)
        assert found.isEnabled(), name
        found.click()
        self.settle()


@pytest.fixture
def start(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> Callable[[dict[str, Any]], tuple[User, OpenDocument]]:
    """Return what opens a document and the page over it."""

    def begin(value: dict[str, Any]) -> tuple[User, OpenDocument]:
        path = tmp_path / "doc.json"
        path.write_text(json.dumps(value))
        document = opened(path)
        settle()
        return User(window, qtbot, settle), document

    return begin


Start = Callable[[dict[str, Any]], tuple[User, OpenDocument]]
RULE = {
    "key": "b/{{i}}",
    "url": "{{u}}/y{{i}}.nc",
    "offset": "0",
    "length": "4",
    "dimensions": {"i": {"stop": 2}},
}


@pytest.mark.slow
def test_a_place_moves_as_one_step_after_it_was_tried(start: Start, qtbot: QtBot, tmp_path: Path) -> None:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        for name in ("x.nc", "y0.nc", "y1.nc"):
            (tmp_path / folder / name).write_bytes(b"1234")
    (tmp_path / "new" / "y1.nc").unlink()
    (tmp_path / "new" / "y0.nc").write_bytes(b"123")
    refs = {".zgroup": '{"zarr_format": 2}', "a/0": ["{{u}}/x.nc", 0, 4], "c": ["s3://bucket/z.nc", 0, 1]}
    user, document = start({"version": 1, "templates": {"u": "old"}, "gen": [RULE], "refs": refs})
    assert document.document is not None
    before = document.document.to_bytes()
    assert user.rows() == [
        "Relative to the document 3 3 not looked at",
        "  old/ 3 3 not looked at",
        "    x.nc 1 1 not looked at",
        "    y0.nc 1 1 not looked at",
        "    y1.nc 1 1 not looked at",
        "s3://bucket/ 1 1 needs permission",
        "  z.nc 1 1 needs permission",
    ]
    # What an audit tells meanwhile is news.
    document.audit.states = {"old/x.nc": "url-dead", "old/y0.nc": ""}
    document.audit.statesChanged.emit()
    qtbot.waitUntil(lambda: "    x.nc 1 1 gone" in user.rows())
    assert user.rows()[1:4] == ["  old/ 3 3 1 gone of 3", "    x.nc 1 1 gone", "    y0.nc 1 1 ok"]
    assert user.outcome().startswith("→ type the new place of these files")
    user.choose("old/")
    assert user.part(QLineEdit, "moveNew").text() == "old/"
    assert not button(user.page, "moveApplyButton").isEnabled()
    user.type("new/")
    assert user.outcome() == "→ 3 files, 3 references; 1 template is rewritten"
    assert user.list("moveChanges") == [
        ["template u", "old", "new"],
        ["URL", "old/x.nc", "new/x.nc"],
        ["URL", "old/y0.nc", "new/y0.nc"],
        ["URL", "old/y1.nc", "new/y1.nc"],
    ]
    user.click("moveTestButton")
    assert user.tab() == "Test of the new place: 2 of 3 not right"
    assert [row[:2] for row in user.list("moveProbed")] == [
        ["differs", "new/y0.nc"], ["not there", "new/y1.nc"], ["same", "new/x.nc"],
    ]  # fmt: skip
    assert button(user.page, "moveApplyButton").text() == "Move anyway"
    user.click("moveApplyButton")
    assert document.document.templates.texts["u"] == "new"
    assert document.history is not None
    assert document.history.entries == ["Move old/ to new/"]
    assert user.outcome() == "→ moved, as one step of the history"
    assert user.part(QLineEdit, "moveNew").text() == "new/"
    assert user.list("moveProbed") == []
    user.click("moveUndoButton")
    assert document.document.to_bytes() == before
    assert user.part(QLineEdit, "moveNew").text() == "old/"
    assert not button(user.page, "moveUndoButton").isVisible()


@pytest.mark.slow
def test_the_test_asks_for_permission_and_goes_on(start: Start, window: MainWindow, settle: Settle) -> None:
    with HttpServer() as server:
        server.files["/x.nc"] = b"1234"
        user, document = start({"version": 1, "refs": {"a/0": ["s3://bucket/x.nc", 0, 4]}})
        user.type(server.url("/"))
        warning = user.part(QLabel, "moveWarnings").text()
        assert warning == f"! Reading there needs your permission: {server.origin}"
        user.click("moveTestButton")
        sheet = window.findChild(TrustSheet)
        assert sheet is not None
        assert server.request_count == 0
        sheet.reject()
        settle()
        assert (server.request_count, user.list("moveProbed")) == (0, [])
        user.click("moveTestButton")
        (sheet,) = [each for each in window.findChildren(TrustSheet) if each.isVisible()]
        view = sheet.findChild(QTreeWidget, "trustList")
        assert view is not None
        (row,) = [view.topLevelItem(at) for at in range(view.topLevelItemCount())]
        assert row is not None
        assert row.text(0) == server.origin
        row.setCheckState(0, Qt.CheckState.Checked)
        button(sheet, "trustThisTimeButton").click()
        settle()
        assert user.list("moveProbed") == [
            ["there", server.url("/x.nc"), "4 bytes; nothing is known about the old place"]
        ]
        # What was typed and found stays, though the tree was made anew.
        assert button(user.page, "moveApplyButton").isEnabled()
        assert document.access is not None
        assert Origin.parse(server.origin) in document.access.allowed


@pytest.mark.slow
def test_what_it_cannot_say_is_refused_as_it_is_typed(start: Start) -> None:
    refs = {"a/0": ["s3://bucket/x.nc", 0, 4], "a/1": ["/data/near.nc", 0, 4], "a/2": ["gs://b/x.nc"]}
    user, _ = start({"version": 1, "templates": {"t": "z"}, "refs": refs})
    user.choose("s3://bucket/")
    user.type("s3://{{x}}/")
    assert user.outcome().startswith("✕ ")
    assert not button(user.page, "moveApplyButton").isEnabled()
    user.type("gs://b/")
    assert "two become one" in user.part(QLabel, "moveWarnings").text()
    user.type("ftp://b/")
    assert "cannot be read" in user.part(QLabel, "moveWarnings").text()
    user.type("s3://other")
    assert "follows directly, as in s3://otherx.nc" in user.part(QLabel, "moveWarnings").text()


@pytest.mark.slow
def test_a_place_becomes_a_template(start: Start) -> None:
    user, document = start(
        {"version": 1, "templates": {"t": "z", "u": "y"}, "refs": {"a/0": ["s3://bucket/x.nc", 0, 4]}}
    )
    as_template = user.part(QCheckBox, "moveAsTemplate")
    assert not user.part(QLineEdit, "moveTemplate").isVisible()
    as_template.click()
    name = user.part(QLineEdit, "moveTemplate")
    assert name.text() == "u2"
    name.setText("t")
    user.settle()
    assert user.outcome() == "✕ A template 't' exists already"
    name.setText("place")
    user.settle()
    user.click("moveApplyButton")
    assert document.document is not None
    assert document.document.templates.texts["place"] == "s3://bucket/"
    assert document.document.refs.table.urls == ("{{place}}x.nc",)
    assert not as_template.isChecked()


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["/data/here", "/data/here/"])
def test_a_chosen_folder_is_the_new_place(start: Start, chosen: str) -> None:
    user, _ = start({"version": 1, "refs": {"a/0": ["s3://bucket/d/x.nc", 0, 4]}})
    menu: QMenu = user.part(QMenu, "moveWriteAsMenu")
    menu.actions()[-1].trigger()
    dialog: QFileDialog = user.part(QFileDialog, "moveFolderDialog")
    dialog.fileSelected.emit(chosen)
    dialog.reject()
    assert user.part(QLineEdit, "moveNew").text() == "/data/here/"


@pytest.mark.slow
def test_other_spellings_are_offered_and_settings_go_with_them(start: Start, window: MainWindow) -> None:
    url = "https://bucket.s3.eu-west-1.amazonaws.com/d/x.nc"
    user, _ = start({"version": 1, "refs": {"a/0": [url, 0, 4], "a/1": ["s3://secret/x.nc", 0, 4]}})
    menu: QMenu = user.part(QMenu, "moveWriteAsMenu")
    assert [each.text() for each in menu.actions()] == [
        "As a bucket of S3: s3://bucket/d/", "", "A folder on this computer…",
    ]  # fmt: skip
    menu.actions()[0].trigger()
    user.settle()
    carry: QCheckBox = user.part(QCheckBox, "moveCarry")
    assert carry.isVisible()
    assert carry.text() == "Connect to s3://bucket with region eu-west-1"
    user.click("moveApplyButton")
    assert window.documents.settings[Origin("s3", "bucket")] == ConnectionSettings(region="eu-west-1")
    # Credentials go to another bucket only as the user says.
    given = ConnectionSettings(anonymous=False, profile="mine")
    window.documents.use_settings({Origin("s3", "secret"): given})
    user.choose("s3://secret/")
    user.type("s3://further/")
    assert carry.text() == "Connect to s3://further with profile mine"
    assert not carry.isChecked()
    user.click("moveApplyButton")
    assert Origin("s3", "further") not in window.documents.settings


@pytest.mark.slow
def test_text_is_replaced_in_the_editor_instead(start: Start, window: MainWindow) -> None:
    user, _ = start({"version": 1, "refs": {"a/0": ["s3://bucket/x.nc", 0, 4]}})
    user.click("movePrefixButton")
    editor = window.findChild(PrefixEditor)
    assert editor is not None
    assert editor.findChild(QLineEdit, "urlPrefixOld").text() == "s3://bucket/"  # type: ignore[union-attr]


@pytest.mark.slow
def test_every_part_has_a_name_and_is_reached_by_the_keyboard(start: Start) -> None:
    user, _ = start({"version": 1, "refs": {"a/0": ["s3://bucket/x.nc", 0, 4]}})
    named = [each for each in user.page.findChildren(QWidget) if each.objectName().startswith("move")]
    for each in named:
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus:
            assert each.accessibleName(), each.objectName()
    view = user.part(QTreeView, "moveTree")
    assert view.hasFocus()
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert user.part(QLineEdit, "moveNew").hasFocus()


@pytest.mark.slow
def test_a_document_without_files_says_so(start: Start) -> None:
    user, _ = start({"version": 1, "refs": {".zgroup": '{"zarr_format": 2}'}})
    assert user.rows() == []
    assert user.outcome() == "! this document refers to no files"


@pytest.mark.slow
def test_rows_of_large_folders_are_made_as_they_are_looked_at(qtbot: QtBot) -> None:
    roots = prefix_tree(Source(f"s3://b/d/{n:04d}") for n in range(PAGE + 20))
    model = PrefixModel()
    model.set_roots(roots)
    root = model.index(0, 0)
    assert (model.hasChildren(root), model.rowCount(root), model.canFetchMore(root)) == (True, 0, True)
    model.fetchMore(root)
    assert (model.rowCount(root), model.canFetchMore(root)) == (PAGE, True)
    # It looks at all of it, and at what is inserted then.
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.fetchMore(root)
    assert (model.rowCount(root), model.canFetchMore(root)) == (PAGE + 20, False)
    assert model.find("s3://b/d/0003").data() == "0003"
    assert model.find("gs://nowhere").data() == "s3://b/d/"
    assert model.parent(model.index(3, 2, root)) == root
    tester.deleteLater()


def test_the_command_stands_beside_that_of_prefixes() -> None:
    names = ["" if spec is None else spec.name for spec in menus()["&Edit"]]
    at = names.index("move_files")
    assert names[at - 1 : at + 2] == ["replace_prefix", "move_files", "pack_otherwise"]
