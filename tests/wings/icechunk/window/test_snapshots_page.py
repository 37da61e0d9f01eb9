"""The page of an Icechunk repository: its history, another snapshot in place, two compared."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest
from refbrowser.tools.compare.window.compare_window import CompareWindow
from refbrowser.tools.export.window.export_work import Order, cost_of
from refbrowser.wings.icechunk.window.snapshots_page import SnapshotsPage


@pytest.mark.slow
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
    repository.create_branch("side", repository.lookup_branch("main"))
    writing = repository.writable_session("side")
    zarr.open_group(writing.store, mode="a").create_array("y", shape=(4,), dtype="<i4")
    side = writing.commit("a longer message than fits a row of the table\n\nand more")
    document = opened(tmp_path / "r")
    qtbot.waitUntil(lambda: window.pages.get("snapshots") is not None)
    page = window.pages["snapshots"]
    assert isinstance(page, SnapshotsPage)
    rows = page.pane.rows
    qtbot.waitUntil(lambda: rows.topLevelItemCount() == 4)
    listed = [rows.topLevelItem(row) for row in range(4)]
    messages = [row.text(1) for row in listed if row is not None]
    assert messages[1:] == ["message 1", "message 0", "Repository initialized"]
    assert [row.text(2) for row in listed if row is not None] == ["side", "main", "", ""]
    newest = repository.lookup_branch("main")
    assert page.pane.id() == newest, "that which is open"
    qtbot.waitUntil(lambda: page.pane.changes.toPlainText() == "1 chunk of /x")
    qtbot.waitUntil(lambda: "1 manifest of 1 reference" in page.pane.manifests.toPlainText())
    qtbot.waitUntil(lambda: page.pane.operations.toPlainText() != "")
    first = next(each.id for each in repository.ancestry(branch="main") if each.message == "message 0")
    rows.choose(first)
    assert page.pane.id() == first
    other = page.pane.findChild(QComboBox, "snapshotOther")
    compare = page.pane.findChild(QPushButton, "snapshotCompareButton")
    assert isinstance(other, QComboBox)
    assert isinstance(compare, QPushButton)

    def differences(words: str) -> tuple[list[str], CompareWindow]:
        """Compare the chosen snapshot with what is called so, and return the differences that are listed."""
        at = [row for row in range(other.count()) if other.itemText(row).startswith(words)]
        other.setCurrentIndex(at[0])
        compare.click()
        shown = next(each for each in window.findChildren(CompareWindow) if each.isVisible())
        qtbot.waitUntil(lambda: shown.found is not None)
        assert shown.found is not None
        return [f"{each.what} {each.path}" for each in shown.found.entries], shown

    found, shown = differences("what is open")
    assert found == ["references /x"]
    assert shown.windowTitle() == f"Compare r with snapshot {first}"
    assert shown.taking.reasons()[1] == f"Not to the right: snapshot {first} stays as it is"
    shown.close()
    # Any two: this one and that before it; one of another branch, which is not open either.
    found, shown = differences("the snapshot before it")
    assert found == ["array /x"]
    assert shown.taking.reasons()[0] == f"Not to the left: snapshot {first} stays as it is"
    shown.close()
    names = page.pane.findChild(QComboBox, "snapshotNames")
    assert isinstance(names, QComboBox)
    names.setCurrentIndex(names.findText("branch side"))
    names.activated.emit(names.currentIndex())
    assert page.pane.id() == side
    qtbot.waitUntil(lambda: page.pane.changes.toPlainText().endswith("and more\n\nnew /y"))
    # Two that are chosen.
    row = next(each for each in listed if each is not None and each.text(4) == first)
    row.setSelected(True)
    assert page.pane.rows.chosen() == [side, first]
    assert not other.isVisibleTo(page.pane)
    found, shown = differences("what is open")
    assert found == ["array /y", "references /x"]
    shown.close()
    names.activated.emit(names.currentIndex())
    assert page.pane.rows.chosen() == [side]
    # What nothing uses is listed when it is asked for.
    unused = page.pane.findChild(QPushButton, "snapshotUnusedButton")
    assert isinstance(unused, QPushButton)
    unused.click()
    qtbot.waitUntil(lambda: "unused: 0 objects, 0 B" in page.pane.unused.toPlainText())
    # What is compared with itself cannot be.
    other.setCurrentIndex(other.findText("branch side"))
    assert not compare.isEnabled()
    page.open("snapshot", first)
    qtbot.waitUntil(lambda: document.document is not None and document.document.opened_with != {})
    assert document.document is not None
    assert document.document.opened_with == {"snapshot": first}
    assert document.dataset is not None
    np.testing.assert_array_equal(document.dataset["/x"][:2], [1, 1])
    # The graph stays, and what is chosen in it.
    qtbot.waitUntil(lambda: page._origin is not None and page._origin.snapshot.facts.id == first)
    assert rows.topLevelItemCount() == 4
    assert page.pane.id() == side


def test_a_commit_to_a_repository_that_is_there_replaces_nothing_and_is_not_asked_about(
    tmp_path: Path,
) -> None:
    pytest.importorskip("icechunk")
    import zarr

    zarr.open_group(str(tmp_path / "s.zarr"), mode="w", zarr_format=3).create_array("x", shape=4, dtype="<i4")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with open_dataset(OpenRequest(str(tmp_path / "s.zarr"))) as dataset:
        made = tmp_path / "r.icechunk"
        run_export(dataset, ExportRequest(str(made), "icechunk"))

        def order(target: Path) -> Order:
            return Order(str(target), "icechunk", None, force=False, resume=False, skip_bad=False)

        assert "1 chunk" in cost_of(dataset, order(made), cast(TaskControl, JobControl())).text()
        with pytest.raises(RefbrowserError, match="not an Icechunk repository"):
            cost_of(dataset, order(tmp_path / "other"), cast(TaskControl, JobControl()))
