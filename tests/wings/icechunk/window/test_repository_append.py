"""Files added to the repository that is open, as one commit, by the sheet of the menu File."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.node_edits import RenameNode
from refbrowser.wings.icechunk.window.repository_append import RepositoryAppendSheet

icechunk = pytest.importorskip("icechunk")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

from monthly_files import Archive, write_month  # noqa: E402
from repositories_made import library_repository, messages  # noqa: E402

pytestmark = pytest.mark.slow
ARCHIVE = Archive(years=(2015, 2015), missing=(), era=(2018,))


def month(folder: Path, number: int) -> Path:
    file = folder / f"t2m_2015-{number:02d}.nc"
    write_month(file, 2015, number, ARCHIVE)
    return file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A repository of two months."""
    files = [month(tmp_path, number) for number in (1, 2)]
    refbrowser.combine(files, tmp_path / "all.json", concat="time")
    refbrowser.export(tmp_path / "all.json", tmp_path / "r.icechunk", format="icechunk")
    return tmp_path / "r.icechunk"


@pytest.fixture
def document(opened: Open, path: Path, qtbot: QtBot) -> OpenDocument:
    """It in the window, with its files allowed."""
    found = opened(path)
    found.allow(found.wants)
    qtbot.waitUntil(lambda: all(want.allowed for want in found.wants))
    return found


def sheets(window: MainWindow) -> list[RepositoryAppendSheet]:
    return window.findChildren(RepositoryAppendSheet)


@pytest.mark.parametrize("native", [False, True])
def test_the_next_month_is_added_by_a_commit(
    window: MainWindow, document: OpenDocument, path: Path, qtbot: QtBot, native: bool
) -> None:
    window.actions_["append_files"].trigger()
    (sheet,) = sheets(window)
    sheet.add([str(month(path.parent, 3))])
    message, tick = sheet.findChild(QLineEdit, "appendMessage"), sheet.findChild(QCheckBox, "appendNative")
    start = next(each for each in sheet.findChildren(QPushButton) if each.text() == "Append")
    assert isinstance(message, QLineEdit)
    assert isinstance(tick, QCheckBox)
    message.setText("March")
    tick.setChecked(native)
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    with qtbot.waitSignal(document.reloaded, timeout=30_000):
        start.click()
    assert messages(path)[0] == "March"
    assert document.hierarchy is not None
    time = document.hierarchy.find("/time")
    assert getattr(time, "shape", None) == (90,)
    assert not document.is_dirty
    assert all(want.allowed for want in document.wants)
    session = library_repository(path).readonly_session("main")
    assert str(session.chunk_type("/t2m", (59, 0, 0))).endswith("VIRTUAL") != native
    qtbot.waitUntil(lambda: not sheets(window))


def test_edits_are_committed_first(
    window: MainWindow, document: OpenDocument, path: Path, qtbot: QtBot
) -> None:
    assert document.apply(RenameNode("t2m", "temperature"))
    window.actions_["append_files"].trigger()
    assert not sheets(window)
    document.undo()
    window.actions_["append_files"].trigger()
    (sheet,) = sheets(window)
    sheet.add([str(month(path.parent, 3))])
    start = next(each for each in sheet.findChildren(QPushButton) if each.text() == "Append")
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    assert document.apply(RenameNode("t2m", "temperature"))
    sheet.start()
    assert len(messages(path)) == 2
    sheet.close()
    document.undo()


def test_a_snapshot_of_no_branch_takes_no_files(
    window: MainWindow, document: OpenDocument, path: Path, qtbot: QtBot
) -> None:
    snapshot = library_repository(path).lookup_branch("main")
    document.choose("snapshot", snapshot)
    with qtbot.waitSignal(document.reloaded):
        document.reload()
    window.actions_["append_files"].trigger()
    assert not sheets(window)
