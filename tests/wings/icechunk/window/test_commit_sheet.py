"""Edits of a repository in the window: the sheet that Save shows, conflicts, and the new snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.rename_dialog import RenameDialog
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.io.access.access import Want
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.references.merging.merge import Choice
from refbrowser.wings.icechunk.window.commit_sheet import CommitSheet

icechunk = pytest.importorskip("icechunk")
pytest.importorskip("xarray")

from repositories_made import VIRTUAL, colleague_commits, library_group, messages, repository_in  # noqa: E402

pytestmark = pytest.mark.slow


def set_attribute(document: OpenDocument, path: str, **attributes: Any) -> None:
    """Edit attributes as the attributes pane does."""
    import json

    assert document.document is not None
    key = f"{path}/zarr.json".removeprefix("/")
    before = json.loads(document.document.expansion.value(key) or b"{}")
    document.apply(SetMetadata(key, {**before, "attributes": {**before["attributes"], **attributes}}))


def saved_by_sheet(window: MainWindow, document: OpenDocument, qtbot: QtBot) -> CommitSheet:
    """Save, and return the sheet once it has looked."""
    qtbot.waitUntil(lambda: document.dataset is not None and document.dataset.document is document.document)
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: bool(window.findChildren(CommitSheet)))
    (sheet,) = window.findChildren(CommitSheet)
    qtbot.waitUntil(lambda: sheet.found is not None)
    return sheet


def click(sheet: CommitSheet, name: str) -> None:
    button = sheet.findChild(QPushButton, name)
    assert isinstance(button, QPushButton)
    assert button.isEnabled()
    button.click()


def test_an_attribute_is_mended_and_committed(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
) -> None:
    path = repository_in(tmp_path)
    document = opened(path)
    assert not window.actions_["commit"].isEnabled()
    set_attribute(document, "v", units="degC")
    set_attribute(document, "", title="mended")
    colleague_commits(path, lambda group: group["x"].attrs.update({"units": "m"}))
    sheet = saved_by_sheet(window, document, qtbot)
    assert "Others have committed since" in sheet.summary()
    assert sheet.message.placeholderText() == 'attribute title: "a test" -> "mended" and 1 more'
    assert [sheet.changes.topLevelItem(row).text(0) for row in (0, 1)] == ["/", "/v"]  # type: ignore[union-attr]
    sheet.message.setText("Mend units")
    with qtbot.waitSignal(document.reloaded):
        click(sheet, "commitStartButton")
    assert messages(path)[:2] == ["Mend units", "a colleague's"]
    group = library_group(path)
    assert (group["v"].attrs["units"], group["x"].attrs["units"]) == ("degC", "m")
    assert not document.is_dirty
    assert document.hierarchy is not None
    found = document.hierarchy.find("/x")
    assert found is not None
    assert found.attributes["units"] == "m"


def test_conflicts_are_settled_and_steps_become_commits(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
) -> None:
    path = repository_in(tmp_path)
    document = opened(path)
    set_attribute(document, "v", units="ours")
    set_attribute(document, "v", comment="ours")
    colleague_commits(path, lambda group: group["v"].attrs.update({"units": "theirs"}))
    sheet = saved_by_sheet(window, document, qtbot)
    assert "1 conflict to settle" in sheet.summary()
    start = sheet.findChild(QPushButton, "commitStartButton")
    assert isinstance(start, QPushButton)
    assert not start.isEnabled()
    sheet.take(Choice.THEIRS)

    def listed() -> list[str]:
        items = sheet.changes.topLevelItem(0)
        return [] if items is None else [items.child(row).text(0) for row in range(items.childCount())]

    qtbot.waitUntil(lambda: listed() == ['attribute comment: "ours" (new)'])
    sheet.take(Choice.OURS)
    sheet.steps.setChecked(True)
    with qtbot.waitSignal(document.reloaded):
        click(sheet, "commitStartButton")
    assert dict(library_group(path)["v"].attrs)["units"] == "ours"
    assert dict(library_group(path)["v"].attrs)["comment"] == "ours"
    assert messages(path)[:3] == ["Change v/zarr.json", "Change v/zarr.json", "a colleague's"]


def test_a_sheet_that_is_given_up_commits_nothing(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
) -> None:
    path = repository_in(tmp_path)
    document = opened(path)
    set_attribute(document, "v", units="ours")
    sheet = saved_by_sheet(window, document, qtbot)
    click(sheet, "commitCancelButton")
    assert document.is_dirty
    assert messages(path)[0] == "made"
    document.undo()
    assert not document.is_dirty


@pytest.mark.parametrize("is_given_up", [False, True])
def test_closing_asks_and_goes_on_after_the_commit(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot, is_given_up: bool
) -> None:
    path = repository_in(tmp_path)
    document = opened(path)
    set_attribute(document, "v", units="ours")
    qtbot.waitUntil(lambda: document.dataset is not None and document.dataset.document is document.document)
    window.actions_["close_document"].trigger()
    box = window.findChild(QMessageBox, "unsavedQuestion")
    assert isinstance(box, QMessageBox)
    save = box.findChild(QPushButton, "unsavedSaveButton")
    assert isinstance(save, QPushButton)
    save.click()
    qtbot.waitUntil(lambda: bool(window.findChildren(CommitSheet)))
    (sheet,) = window.findChildren(CommitSheet)
    qtbot.waitUntil(lambda: sheet.found is not None)
    if is_given_up:
        click(sheet, "commitCancelButton")
        assert window.documents.all() == [document]
        assert document.is_dirty
        # Nothing waits for a save any more.
        document.undo()
        return
    click(sheet, "commitStartButton")
    qtbot.waitUntil(lambda: not window.documents.all())
    assert library_group(path)["v"].attrs["units"] == "ours"


def not_allowed(document: OpenDocument) -> list[Want]:
    """Return what the bar asks for."""
    return [want for want in document.wants if not want.allowed]


def test_what_was_allowed_this_time_still_is_after_a_commit(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
) -> None:
    document = opened(repository_in(tmp_path))
    assert not_allowed(document)
    document.allow(document.wants)
    qtbot.waitUntil(lambda: not not_allowed(document))
    assert document.access is not None
    allowed = document.access.allowed
    set_attribute(document, "v", units="degC")
    sheet = saved_by_sheet(window, document, qtbot)
    asked: list[Want] = []
    document.trustChanged.connect(lambda: asked.extend(not_allowed(document)))
    with qtbot.waitSignal(document.reloaded):
        click(sheet, "commitStartButton")
    assert document.access.allowed == allowed
    assert not asked
    # What somebody else may have written is asked about.
    with qtbot.waitSignal(document.reloaded):
        document.reload()
    assert not_allowed(document)


def test_an_array_that_was_renamed_in_the_tree_is_moved(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
) -> None:
    path = repository_in(tmp_path)
    document = opened(path)
    assert window.hierarchy.select_node(document, "/v")
    window.actions_["rename_node"].trigger()
    (dialog,) = window.findChildren(RenameDialog)
    field = dialog.findChild(QLineEdit, "renameField")
    assert isinstance(field, QLineEdit)
    field.setText("temperature")
    with qtbot.waitSignal(document.hierarchyChanged):
        dialog.accept()
    set_attribute(document, "temperature", units="degC")
    sheet = saved_by_sheet(window, document, qtbot)
    assert sheet.found is not None
    assert list(sheet.found.changes.lines()) == [
        ("/v", "renamed to /temperature"),
        ("/temperature", 'attribute units: "K" -> "degC"'),
    ]
    with qtbot.waitSignal(document.reloaded):
        click(sheet, "commitStartButton")
    group = library_group(path)
    assert sorted(group.keys()) == ["g", "temperature", "x"]
    assert group["temperature"][...].tolist() == VIRTUAL.tolist()
