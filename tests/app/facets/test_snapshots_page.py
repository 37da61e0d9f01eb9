"""The page of an Icechunk repository: its history, another snapshot in place, two compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QTreeWidget
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.dialogs.compare_dialog import DifferencesDialog
from refbrowser.app.facets.snapshots_page import SnapshotsPage
from refbrowser.app.shell.main_window import MainWindow


def test_another_snapshot_is_opened_and_compared(
    window: MainWindow, opened: Open, tmp_path: Path, qtbot: QtBot
) -> None:
    icechunk = pytest.importorskip("icechunk")
    import zarr

    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "r")))
    for number in range(2):
        writing = repository.writable_session("main")
        group = zarr.open_group(writing.store, mode="a")
        group.require_array("x", shape=(4,), chunks=(2,), dtype="<i4")[:2] = number + 1
        writing.commit(f"message {number}")
    document = opened(tmp_path / "r")
    qtbot.waitUntil(lambda: window.page("snapshots") is not None)
    page = window.page("snapshots")
    assert isinstance(page, SnapshotsPage)
    rows = page.pane.rows
    qtbot.waitUntil(lambda: rows.topLevelItemCount() == 3)
    found = [rows.topLevelItem(row) for row in range(2)]
    assert [row.text(1) for row in found if row is not None] == ["message 1", "message 0"]
    qtbot.waitUntil(lambda: page.pane.changes.toPlainText() == "1 chunk of /x")
    assert found[1] is not None
    rows.setCurrentItem(found[1])
    first = page.pane.id()
    page.compare(first)
    dialog = window.findChild(DifferencesDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.summary() == "Differences: 1 in references.")
    listed = dialog.findChild(QTreeWidget, "compareList")
    assert isinstance(listed, QTreeWidget)
    part = listed.topLevelItem(0)
    assert part is not None
    assert part.child(0).text(0) == "x/c/0"
    dialog.reject()
    page.open("snapshot", first)
    qtbot.waitUntil(lambda: document.document is not None and document.document.opened_with != {})
    assert document.document is not None
    assert document.document.opened_with == {"snapshot": first}
    assert document.dataset is not None
    np.testing.assert_array_equal(document.dataset["/x"][:2], [1, 1])
