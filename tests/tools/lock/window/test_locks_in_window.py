"""Locks in the window: what marks stale files, accepting them, and writing a lock."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QCheckBox, QLabel, QTreeWidget, QWidget
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.actions.menus import menus
from refbrowser.app.commands.findings import FindingCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT, TABLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.tasks.tasks import TaskControl, Tasks
from refbrowser.app.widgets import theme
from refbrowser.engine.findings.listed_finding import Badge
from refbrowser.engine.jobs import JobControl
from refbrowser.io.fetching.lock_format import read_lock
from refbrowser.io.locks.lock import Lock, LockEntry
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.tools.lock.window.accept_sheet import AcceptSheet

Settle = Callable[[], None]
SIDE = 20


def write(folder: Path) -> Path:
    """Write a document of an array of 2 × 2 chunks, a file each."""
    folder.mkdir(exist_ok=True)
    array = {
        "zarr_format": 2, "shape": [2 * SIDE, 2 * SIDE], "chunks": [SIDE, SIDE], "dtype": "<f8",
        "compressor": None, "filters": None, "fill_value": None, "order": "C",
    }  # fmt: skip
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array)}
    for number in range(4):
        (folder / f"f{number}").write_bytes(np.full(SIDE * SIDE, number, "<f8").tobytes())
        refs[f"t/{number // 2}.{number % 2}"] = [f"f{number}", 0, 8 * SIDE * SIDE]
    path = folder / "doc.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


@pytest.fixture
def stale(window: MainWindow, qtbot: QtBot, settle: Settle, tmp_path: Path) -> OpenDocument:
    """A document that is plotted, of which two files are not those of the lock."""
    path = write(tmp_path)
    refbrowser.lock(path)
    (tmp_path / "f1").write_bytes(np.full(SIDE * SIDE, 7, "<f8").tobytes())
    with (tmp_path / "f2").open("ab") as file:
        file.write(b"more")
    document = window.open_path(str(path), "/t")
    qtbot.waitUntil(lambda: window.centre.plot is not None and window.centre.plot.array() is not None)
    settle()
    qtbot.waitUntil(lambda: document.findings.found.count == 1)
    settle()
    return document


def label(window: QWidget, name: str) -> QLabel:
    found = window.findChild(QLabel, name)
    assert found is not None
    return found


def bar(window: MainWindow) -> str:
    shown = window.centre.lock_bar
    return "" if shown.isHidden() else shown.text()


def stale_legend(window: MainWindow) -> str:
    found = label(window, "legend_stale")
    return "" if found.isHidden() else found.text()


def stale_chunks(window: MainWindow) -> list[list[int]]:
    """Return the places, row and column, of the chunks of the picture whose files differ from the lock."""
    plot = window.centre.plot
    assert plot is not None
    picture = plot.picture()
    assert picture is not None
    return np.argwhere(picture.stale_done).tolist()


def is_hatched(window: MainWindow) -> bool:
    """Tell whether the colour of the hatch is on the plot."""
    plot = window.centre.plot
    assert plot is not None
    image = plot.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)[..., 2::-1].astype(int)
    colour = QColor(theme.colors().stale)
    near = np.abs(pixels - [colour.red(), colour.green(), colour.blue()]).max(axis=-1) < 12
    return int(near.sum()) > 20


def sheet_of(window: MainWindow) -> AcceptSheet:
    found = window.findChild(AcceptSheet)
    assert found is not None
    return found


@pytest.mark.slow
def test_stale_files_are_marked_wherever_they_show_until_they_are_accepted(
    window: MainWindow, stale: OpenDocument, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    # Tree, bar, plot, its legend, the chunk map.
    assert stale.findings.found.badge(("array", "/t")) == Badge(0, 1)
    assert "2 files differ from the lock" in bar(window)
    assert "f1 (other first bytes)" in bar(window)
    assert stale_chunks(window) == [[0, 1], [1, 0]]
    assert is_hatched(window)
    assert stale_legend(window) == "changed since the lock (2)"
    pane = window.chunk_map.pane
    assert pane is not None
    qtbot.waitUntil(lambda: pane.loader.whole is not None and bool(pane.loader.whole.stale.any()))
    # The table, profile and series, and what is said of the values there.
    plot, table = window.centre.plot, window.centre.table
    assert plot is not None
    assert table is not None
    plot.tools.toggle_profile()
    assert plot.tools.profile().pane.said.text().startswith("14 values ringed: changed since the lock, ")
    window.centre.show_tab(TABLE)
    settle()
    table.grid.set_current((0, SIDE))
    assert "7 (changed since the lock)" in table.status.text()
    assert table.grid.accessibleDescription().endswith("7 (changed since the lock)")
    assert table.grid.cells_seen().stale.any()
    assert not table.stale.isHidden()
    window.centre.show_tab(PLOT)
    # From the finding: its file is ticked.
    (finding,) = stale.findings.found.items
    window.groups[FindingCommands].fix(stale, finding)
    sheet = sheet_of(window)
    assert sheet.ticked() == ["f1"]
    view = sheet.findChild(QTreeWidget, "acceptList")
    assert view is not None
    first, second = (view.topLevelItem(number) for number in range(2))
    assert [first.text(0), first.text(2)] == ["f1", "3\N{NARROW NO-BREAK SPACE}200"]
    assert second.child(0).text(2) == "3\N{NARROW NO-BREAK SPACE}204"
    before = read_lock(tmp_path / "doc.json.lock.json")[0]
    with qtbot.waitSignal(stale.lock.written):
        button(sheet, "acceptApplyButton").click()
    settle()
    after = read_lock(tmp_path / "doc.json.lock.json")[0]
    assert after.entries["f2"] == before.entries["f2"]
    assert after.entries["f1"] != before.entries["f1"]
    qtbot.waitUntil(lambda: "1 file differs from the lock" in bar(window))
    assert stale_chunks(window) == [[1, 0]]
    assert stale_legend(window) == "changed since the lock (1)"
    # From the bar, the rest: then nothing is marked any more.
    button(window, "lockAcceptButton").click()
    sheet = sheet_of(window)
    assert sheet.ticked() == ["f2"]
    with qtbot.waitSignal(stale.lock.written):
        sheet.apply()
    qtbot.waitUntil(lambda: stale.findings.found.count == 0)
    settle()
    assert bar(window) == ""
    assert stale_chunks(window) == []
    assert not is_hatched(window)
    assert "ringed" not in plot.tools.profile().pane.said.text()
    assert not table.grid.cells_seen().stale.any()
    assert table.stale.isHidden()
    assert stale_legend(window) == ""
    assert not window.actions_["accept_stale"].isEnabled()


def test_the_sheet_ticks_and_counts(window: MainWindow, stale: OpenDocument) -> None:
    window.actions_["accept_stale"].trigger()
    sheet = sheet_of(window)
    summary = label(window, "acceptSummary")
    assert (sheet.ticked(), summary.text()) == ([], "0 of 2 files ticked")
    accept = button(sheet, "acceptApplyButton")
    assert not accept.isEnabled()
    button(sheet, "acceptAllButton").click()
    assert (sheet.ticked(), accept.text()) == (["f1", "f2"], "Accept 2 files")
    button(sheet, "acceptNoneButton").click()
    view = sheet.findChild(QTreeWidget, "acceptList")
    assert view is not None
    view.topLevelItem(1).setCheckState(0, Qt.CheckState.Checked)
    assert sheet.ticked() == ["f2"]
    sheet.reject()
    assert stale.lock.stale


def test_files_that_an_edit_led_away_from_are_no_more_of_the_document(
    window: MainWindow, stale: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    assert "2 files" in bar(window)
    stale.apply(RemoveReference("t/0.1"))
    settle()
    assert [each.url for each in stale.lock.stale] == ["f2"]
    assert "f2" in bar(window)
    assert "f1" not in bar(window)
    stale.lock.accept([each.url for each in stale.lock.stale])
    settle()
    assert bar(window) == ""
    stale.undo()
    settle()
    qtbot.waitUntil(lambda: [each.url for each in stale.lock.stale] == ["f1"])
    settle()
    assert "f1" in bar(window)


def test_a_dismissed_bar_comes_back_with_news(
    window: MainWindow,
    stale: OpenDocument,
    opened: Callable[[Path], OpenDocument],
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    button(window, "lockDismissButton").click()
    stale.findings.look_again()
    settle()
    assert bar(window) == ""
    # The marks stay.
    assert is_hatched(window)
    assert stale_legend(window) == "changed since the lock (2)"
    assert stale.dataset is not None
    locked = stale.dataset.access.memory.locked
    assert locked is not None
    locked.replace(Lock({**locked.lock.entries, "f3": LockEntry(1)}))
    assert window.centre.plot is not None
    window.centre.plot.read_again()
    settle()
    qtbot.waitUntil(lambda: "3 files differ from the lock" in bar(window))
    # It is that of the document in front.
    other = opened(write(tmp_path / "other"))
    settle()
    assert bar(window) == ""
    window.documents.set_current(stale)
    settle()
    assert "3 files" in bar(window)
    window.documents.close(other)


def test_explain_leads_to_the_sheet(
    window: MainWindow, stale: OpenDocument, settle: Settle, qtbot: QtBot
) -> None:
    from refbrowser.tools.explain.report.explain import Question
    from refbrowser.tools.explain.window.commands import ExplainCommands

    pane = window.groups[ExplainCommands].pane
    window.docks.raise_("explainDock")
    pane.explain(stale, Question(key="t/0.1"))
    settle()
    assert pane.explanation() is not None
    button(window, "explain_accept_button").click()
    sheet = sheet_of(window)
    assert sheet.ticked() == ["f1"]
    with qtbot.waitSignal(stale.lock.written):
        sheet.apply()
    settle()
    # What was explained is explained again.
    qtbot.waitUntil(lambda: str(getattr(pane.explanation(), "kind", "")) == "readable")


def test_what_is_exported_bears_no_marks_so_stale_files_are_refused(
    stale: OpenDocument, tmp_path: Path
) -> None:
    from refbrowser.tools.export.window.export_work import Order, carry_out

    def order(name: str, selection: str) -> Order:
        return Order(str(tmp_path / name), "zarr-v2", [("/t", selection)], False, False, False)

    assert stale.dataset is not None
    with pytest.raises(refbrowser.RefbrowserError, match="not the one that was locked"):
        carry_out(stale.dataset, order("a.zarr", ""), TaskControl(JobControl(), lambda _news: None))
    # What needs none of them is written; the window goes on to show all.
    assert (
        carry_out(
            stale.dataset, order("b.zarr", "0:20,0:20"), TaskControl(JobControl(), lambda _news: None)
        ).chunks
        == 1
    )
    assert stale.dataset.access.memory.locked.allow


def test_the_export_dialog_offers_to_read_stale_files_where_there_are_any(
    qtbot: QtBot, tmp_path: Path
) -> None:
    path = write(tmp_path / "of")
    refbrowser.lock(path)
    document = OpenDocument(str(path), Tasks())
    document.open()
    qtbot.waitUntil(lambda: document.hierarchy is not None)
    dialog = ExportDialog(document, None)
    dialog._pause.setInterval(0)
    dialog.show()
    tick, start = dialog.findChild(QCheckBox, "exportAllowStale"), button(dialog, "exportStartButton")
    words = label(dialog, "exportCost")
    assert not tick.isVisible()
    # Nobody has looked at the file that was replaced before the export does.
    (tmp_path / "of" / "f1").write_bytes(np.full(SIDE * SIDE, 7, "<f8").tobytes())
    qtbot.waitUntil(start.isEnabled)
    start.click()
    qtbot.waitUntil(tick.isVisible)
    assert "f1" in words.text()
    assert "tick “Read files that differ from the lock”" in words.text()
    tick.click()
    dialog.findChild(QCheckBox, "exportResume").click()
    qtbot.waitUntil(start.isEnabled)
    start.click()
    qtbot.waitUntil(lambda: words.text().startswith("Done"))
    assert "1 file differs from the lock, and what is written of it may be wrong: f1" in words.text()
    with refbrowser.open(tmp_path / "of" / "doc.zarr") as written:
        assert written["t"][0, SIDE] == 7
    # The next one knows.
    again = ExportDialog(document, None)
    assert not again.findChild(QCheckBox, "exportAllowStale").isHidden()
    for each in (dialog, again):
        each.close()
    document.close()


def test_a_lock_is_written_on_request_and_when_it_is_preferred(
    window: MainWindow, opened: Callable[[Path], OpenDocument], settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    path, lock = write(tmp_path), tmp_path / "doc.json.lock.json"
    document = opened(path)
    with qtbot.waitSignal(document.lock.written):
        window.actions_["write_lock"].trigger()
    assert len(read_lock(lock)[0].entries) == 4
    lock.unlink()
    document.apply(SetReference("t/1.1", ["f0", 0, 8 * SIDE * SIDE]))
    settle()
    with qtbot.waitSignal(document.saved):
        window.actions_["save"].trigger()
    settle()
    assert not lock.exists()
    window.preferences.set("lock_on_save", True)
    document.apply(SetReference("t/1.1", ["gone", 0, 8]))
    settle()
    with qtbot.waitSignal(document.lock.written):
        window.actions_["save"].trigger()
    settle()
    found = read_lock(lock)[0]
    assert (set(found.entries), set(found.not_locked)) == ({"f0", "f1", "f2"}, {"gone"})
    assert "gone could not be checked: the lock was written without them" in window.centre.error_bar.text()


def test_commands_of_locks_stand_together_in_the_menu() -> None:
    names = ["" if spec is None else spec.name for spec in menus()["&Tools"]]
    at = names.index("write_lock")
    assert names[at - 2 : at + 3] == ["previous_problem", "", "write_lock", "accept_stale", ""]
