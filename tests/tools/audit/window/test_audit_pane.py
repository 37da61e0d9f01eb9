"""The page Audit: what it costs, what is found, gone to, explained, drawn, repaired and written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from audited_set import HEAD, ROW, STEPS, AuditedSet
from event_loop import GAP, GapGuard
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot
from servers.http_server import Fault, HttpServer
from window_fixtures import Open, button

import refbrowser
from refbrowser.app.controller.document_audit import Given
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.audit.audit_plan import AuditCost, AuditRequest, Level
from refbrowser.engine.audit.audit_result import AuditResult, Grouping
from refbrowser.engine.findings.chunk_table import ChunkMarks
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import UNDECODABLE
from refbrowser.references.edits.edits import RemoveReference
from refbrowser.tools.audit.window.audit_pane import AuditPane
from refbrowser.tools.audit.window.audit_table import FINDING, PLACES, SEVERITY
from refbrowser.tools.audit.window.commands import AuditCommands
from refbrowser.tools.explain.window.commands import ExplainCommands
from refbrowser.tools.move.window.move_page import MovePage

Settle = Callable[[], None]


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    made = AuditedSet(tmp_path)
    made.damage()
    return made.write()


@pytest.fixture
def pane(window: MainWindow, settle: Settle) -> AuditPane:
    settle()
    assert window.groups[AuditCommands].dock.pane is not None
    return window.groups[AuditCommands].dock.pane


@pytest.fixture
def shown(window: MainWindow, pane: AuditPane, damaged: Path, opened: Open, settle: Settle) -> OpenDocument:
    document = opened(damaged)
    window.actions_["show_audit"].trigger()
    settle()
    return document


def choose(pane: AuditPane, level: Level, settle: Settle) -> None:
    box = pane.order.level
    box.setCurrentIndex(box.findData(level))
    box.activated.emit(box.currentIndex())
    settle()


def start(pane: AuditPane, level: Level, settle: Settle) -> None:
    choose(pane, level, settle)
    button(pane, "auditStartButton").click()
    settle()


def texts(pane: AuditPane) -> list[str]:
    return [f"{line.count} {line.text}" for line in pane.table.lines.page.lines]


def go(pane: AuditPane, code: str, where: str, settle: Settle) -> None:
    """Make the line of a code that names a file or key current, unfolded where it was folded."""
    for _ in range(3):
        for number, line in enumerate(pane.table.lines.page.lines):
            if line.kind.code != code:
                continue
            if line.finding is not None and where in f"{line.text} {line.where}":
                pane.table.setCurrentIndex(pane.table.lines.index(number, FINDING))
                return
            if line.is_folded:
                pane.table.turnWanted.emit(line)
                settle()
                break
    raise AssertionError(f"there is no {code} at {where}: {texts(pane)}")


@pytest.mark.slow
def test_it_begins_with_what_the_document_alone_tells(shown: OpenDocument, pane: AuditPane) -> None:
    assert texts(pane) == ["2 Range past the end of its file", "1 data/salt.bin", "1 data/t3.bin"]
    assert shown.audit.result is not None
    assert shown.audit.result.level is Level.SET
    # The next level's cost is told before anything is asked.
    words = pane.order.words.text()
    assert words.startswith(f"Costs {2 * STEPS + 1} requests, 0 B, ")
    assert f"{2 * STEPS + 1} files asked about" in words


@pytest.mark.slow
def test_the_cost_follows_what_is_chosen(
    window: MainWindow, shown: OpenDocument, pane: AuditPane, settle: Settle
) -> None:
    choose(pane, Level.SET, settle)
    assert "no file is asked about or read" in pane.order.words.text()
    window.hierarchy.select_node(shown, "/wind")
    settle()
    assert pane.order.arrays.itemText(1) == "/wind alone"
    pane.order.arrays.setCurrentIndex(1)
    pane.order.sample.setValue(2)
    choose(pane, Level.SAMPLE, settle)
    assert pane.order.request() == AuditRequest(Level.SAMPLE, ("/wind",), 2)
    assert f"{STEPS} files asked about, 2 chunks read" in pane.order.words.text()


@pytest.mark.slow
def test_files_are_compared_with_the_lock(
    window: MainWindow, pane: AuditPane, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    path = AuditedSet(tmp_path).write()
    refbrowser.lock(path)
    opened(path)
    window.actions_["show_audit"].trigger()
    settle()
    assert pane.order.lock.isVisible()
    replaced = tmp_path / "data" / "w1.bin"
    replaced.write_bytes(bytes(byte ^ 1 for byte in replaced.read_bytes()))
    pane.order.lock.click()
    choose(pane, Level.SET, settle)
    assert f"{2 * STEPS + 1} files compared with the lock" in pane.order.words.text()
    button(pane, "auditStartButton").click()
    settle()
    go(pane, "stale-file", "w1.bin", settle)
    # A document without a lock is offered no comparison.
    opened(AuditedSet(tmp_path / "other").write())
    settle()
    assert not pane.order.lock.isVisible()


@pytest.mark.slow
def test_findings_are_gone_to_explained_and_drawn(
    window: MainWindow, shown: OpenDocument, pane: AuditPane, settle: Settle, qtbot: QtBot
) -> None:
    start(pane, Level.FULL, settle)
    assert texts(pane)[:4] == [
        "2 Range past the end of its file",
        "1 data/salt.bin",
        "1 data/t3.bin",
        "2 Chunk that cannot be decoded",
    ]
    go(pane, "undecodable", "data/t1.bin", settle)
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    settle()
    assert window.centre.tabs.currentIndex() == REFERENCES
    assert window.centre.references.current_key() == "temp/1.0"
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/temp"
    qtbot.keyClick(pane.table, Qt.Key.Key_E)
    settle()
    assert window.groups[ExplainCommands].pane.document() is shown
    assert window.docks["explainDock"].isVisible()
    go(pane, "undecodable", "data/t1.bin", settle)
    button(pane, "auditMapButton").click()
    settle()
    map_pane = window.chunk_map.pane
    assert map_pane is not None
    assert map_pane.current_chunk() == (shown, "temp/1.0")
    coloured = map_pane.view.coloured()
    assert coloured is not None
    counts = {entry.label: entry.count for entry in coloured.legend if entry.count}
    assert counts == {
        "missing file": 2,
        "chunk that cannot be decoded": 2,
        "range past the end of its file": 1,
        "read, and sound": 2 * STEPS - 5,
    }
    assert "audit: chunk that cannot be decoded" in map_pane.foot.readout.text()
    # The tree tells of it as of findings.
    assert shown.findings.found.badge(("array", "/temp")).faults == 3
    assert {url: code for url, code in shown.audit.states.items() if code and "/t" in url} == {
        "data/t2.bin": "url-dead",
        "data/t3.bin": "range-past-end",
    }


@pytest.mark.slow
def test_a_click_shows_the_place_and_leaves_the_keyboard_in_the_list(
    window: MainWindow, shown: OpenDocument, pane: AuditPane, settle: Settle, qtbot: QtBot
) -> None:
    start(pane, Level.STAT, settle)
    table = pane.table
    for code, where in (("range-past-end", "salt.bin"), ("url-dead", "template"), ("url-dead", "t2.bin")):
        table.setFocus()
        go(pane, code, where, settle)
        at = table.visualRect(table.currentIndex()).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
        settle()
        assert QApplication.focusWidget() is table
    assert window.docks["editorDock"].isVisible()
    # What is typed then is for the list: the blank folds, the arrow moves, and no field takes either.
    table.setCurrentIndex(table.lines.index(0, FINDING))
    before = texts(pane)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    settle()
    assert len(texts(pane)) < len(before)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert table.currentIndex().row() == 1
    assert not window.editors.currentWidget().is_pending
    assert shown.pending_count == 0


@pytest.mark.slow
def test_a_finding_is_repaired_and_goes_and_comes_back(
    shown: OpenDocument, pane: AuditPane, settle: Settle
) -> None:
    start(pane, Level.STAT, settle)
    go(pane, "url-dead", "data/t2.bin", settle)
    fix = button(pane, "auditFixButton")
    assert fix.accessibleName() == "Point 2 references to kept/t2.bin"
    fix.click()
    settle()
    assert shown.pending_count == 1
    assert "data/t2.bin" not in " ".join(texts(pane))
    stale = pane.findChild(object, "auditStale")
    assert "edited since" in stale.text()
    shown.undo()
    settle()
    assert "2 data/t2.bin" in texts(pane)


@pytest.mark.slow
def test_the_room_that_the_page_takes_is_given_back(
    window: MainWindow, pane: AuditPane, damaged: Path, opened: Open, settle: Settle
) -> None:
    window.resize(1280, 800)
    window.actions_["show_problems"].trigger()
    opened(damaged)
    settle()
    findings, audit = window.docks["problemsDock"], window.docks["auditDock"]
    window.resizeDocks([findings], [180], Qt.Orientation.Vertical)
    settle()
    before = findings.height()
    window.actions_["show_audit"].trigger()
    settle()
    assert audit.height() > before
    window.actions_["show_problems"].trigger()
    settle()
    assert findings.height() == before
    # A height that the user gave it meanwhile stays.
    window.actions_["show_audit"].trigger()
    settle()
    window.resizeDocks([audit], [audit.height() - 40], Qt.Orientation.Vertical)
    settle()
    chosen = audit.height()
    window.actions_["show_problems"].trigger()
    settle()
    assert findings.height() == chosen


@pytest.mark.slow
def test_the_page_has_its_room_where_the_lower_panes_were_folded(
    window: MainWindow, pane: AuditPane, damaged: Path, opened: Open, settle: Settle
) -> None:
    window.resize(960, 800)
    window.actions_["show_problems"].trigger()
    opened(damaged)
    settle()
    unfolded = window.docks["problemsDock"].height()
    window.docks.fold(is_folded=True)
    settle()
    window.actions_["show_audit"].trigger()
    settle()
    assert window.docks["auditDock"].height() >= 300
    window.actions_["show_problems"].trigger()
    settle()
    assert window.docks["problemsDock"].height() == unfolded


@pytest.mark.slow
def test_files_that_rules_name_are_led_elsewhere_where_they_lie(
    window: MainWindow, tmp_path: Path, opened: Open, pane: AuditPane, settle: Settle
) -> None:
    path = AuditedSet(tmp_path).write()
    shutil.rmtree(tmp_path / "data")
    # No text of the document begins with the folder: a template and the rule give it together.
    document = json.loads(path.read_text())
    rule = document["gen"][0] | {"url": "{{d}}ta/w{{t}}.bin"}
    refs = {key: value for key, value in document["refs"].items() if isinstance(value, str)}
    path.write_text(json.dumps(document | {"templates": {"d": "da"}, "gen": [rule], "refs": refs}))
    opened(path)
    window.actions_["show_audit"].trigger()
    settle()
    start(pane, Level.STAT, settle)
    pane.table.turnWanted.emit(pane.table.lines.line(0))
    settle()
    go(pane, "url-dead", "data/w0.bin", settle)
    button(pane, "auditFixButton").click()
    settle()
    page = window.findChild(MovePage)
    assert page is not None
    assert page.place.startswith("data")
    page.close()


@pytest.mark.slow
def test_all_of_one_kind_are_repaired_by_one_step(
    window: MainWindow, pane: AuditPane, tmp_path: Path, opened: Open, settle: Settle
) -> None:
    made = AuditedSet(tmp_path)
    made.refs |= {f"temp/{STEPS + step}.0": ["data/t0.bin", 0, 4] for step in range(30)}
    made.refs |= {f"salt/{STEPS + step}.0": ["data/t0.bin", 0, 4] for step in range(12)}
    document = opened(made.write())
    window.actions_["show_audit"].trigger()
    settle()
    assert document.audit.result is not None
    assert document.audit.result.counts() == {"chunk-outside-grid": 42}
    pane.table.setCurrentIndex(pane.table.lines.index(0, FINDING))
    fix_all = button(pane, "auditFixAllButton")
    assert fix_all.text() == "Fix all 42 of this kind"
    fix_all.click()
    settle()
    assert document.pending_count == 1
    assert texts(pane) == []
    document.undo()
    settle()
    assert document.audit.result.counts() == {"chunk-outside-grid": 42}


@pytest.mark.slow
def test_the_filter_the_order_and_the_copy(
    window: MainWindow, shown: OpenDocument, pane: AuditPane, settle: Settle, qtbot: QtBot
) -> None:
    start(pane, Level.STAT, settle)
    pane.filter.words.setText("t2.bin")
    settle()
    assert texts(pane) == ["2 Missing file"]
    pane.table.clearSelection()
    pane.copy()
    assert QGuiApplication.clipboard().text() == "fault[url-dead] Missing file (data/t2.bin): 2 places"
    pane.filter.words.setText("")
    pane.sorting.setCurrentIndex(1)
    pane.sorting.activated.emit(1)
    settle()
    assert texts(pane)[0] == f"{STEPS + 2} Missing file"
    row = [pane.table.lines.index(0, each).data() for each in (SEVERITY, FINDING, PLACES)]
    assert (row[0], row[2]) == ("", str(STEPS + 2))
    # Folded and unfolded by the keyboard.
    lines = len(texts(pane))
    pane.table.setCurrentIndex(pane.table.lines.index(0, FINDING))
    qtbot.keyClick(pane.table, Qt.Key.Key_Left)
    settle()
    assert len(texts(pane)) == lines - 2
    qtbot.keyClick(pane.table, Qt.Key.Key_Right)
    settle()
    assert len(texts(pane)) == lines


def served_set(folder: Path, server: HttpServer) -> Path:
    """Return a set whose compressed files a server has; one of them changed its name there."""
    made = AuditedSet(folder)
    for key, value in made.refs.items():
        if isinstance(value, list):
            made.refs[key] = [server.url(f"/{value[0]}"), *value[1:]]
    return made.write()


@pytest.mark.slow
def test_permissions_are_asked_for_and_a_cancelled_audit_goes_on(
    window: MainWindow, pane: AuditPane, tmp_path: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    with HttpServer(root=tmp_path / "set") as server:
        document = opened(served_set(tmp_path / "set", server))
        window.actions_["show_audit"].trigger()
        settle()
        permissions, resume = button(pane, "auditPermissionsButton"), button(pane, "auditResumeButton")
        assert f"Not checked without your permission: {STEPS} files" in pane.order.words.text()
        assert not permissions.isHidden()
        assert resume.isHidden()
        document.allow(document.wants)
        settle()
        assert permissions.isHidden()
        choose(pane, Level.FULL, settle)
        # It answers that it is there, and nothing more.
        server.faults["/data/t5.bin"] = Fault("silent", after=1)
        button(pane, "auditStartButton").click()
        qtbot.waitUntil(lambda: document.audit.status is not None and document.audit.status.done > 2 * STEPS)
        assert pane.order.cancel.isVisible()
        assert "%" in pane.order.words.text()
        assert not pane.order.level.isEnabled()
        button(pane, "auditCancelButton").click()
        settle()
        assert not document.audit.is_running
        assert not resume.isHidden()
        assert "An audit with these settings was interrupted" in pane.order.words.text()
        server.faults.clear()
        server.requests.clear()
        resume.click()
        settle()
        assert document.audit.result is not None
        assert document.audit.result.is_complete
        assert texts(pane) == []
        # They are there: that was known.
        assert {each.method for each in server.requests} == {"GET"}
        assert resume.isHidden()


@pytest.mark.slow
def test_a_report_is_written(
    window: MainWindow, shown: OpenDocument, pane: AuditPane, tmp_path: Path, settle: Settle
) -> None:
    start(pane, Level.STAT, settle)
    button(pane, "auditReportButton").click()
    dialog = window.findChild(QFileDialog, "saveReportDialog")
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "found.json"))
    dialog.close()
    settle()
    told = json.loads((tmp_path / "found.json").read_text())
    assert told["counts"] == {"range-past-end": 2, "url-dead": STEPS + 2}
    assert told["exit_code"] == 2


@pytest.mark.slow
def test_a_broken_set_is_understood_and_repaired(
    window: MainWindow, shown: OpenDocument, pane: AuditPane, damaged: Path, settle: Settle, qtbot: QtBot
) -> None:
    """What the issue asks for: five damages, each told with what to do, until nothing is found."""
    start(pane, Level.FULL, settle)

    def what_to_do(code: str, where: str) -> str:
        go(pane, code, where, settle)
        return pane.about.text()

    assert f"the first {HEAD}, not {HEAD + ROW}" in what_to_do("range-past-end", "salt.bin")
    assert "Bring the whole file back" in what_to_do("range-past-end", "t3.bin")
    assert "'kept/t2.bin' has the same name" in what_to_do("url-dead", "t2.bin")
    assert f"template 'w' names {STEPS} files" in what_to_do("url-dead", "/templates/w")
    assert "the file is a different one" in what_to_do("undecodable", "data/t1.bin")

    # The template is gone to, and corrected by its button.
    go(pane, "url-dead", "/templates/w", settle)
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    item = window.hierarchy.current_item()
    assert item is not None
    assert (item.kind, item.place) == ("template", "w")
    assert button(pane, "auditFixButton").accessibleName() == "Correct template 'w'"
    button(pane, "auditFixButton").click()
    settle()
    assert not any("wnd" in text for text in texts(pane))
    # So are the moved file and the rule.
    for code, where, words in (
        ("url-dead", "t2.bin", "Point 2 references to kept/t2.bin"),
        ("range-past-end", "salt.bin", f"Shift gen rule 1 back by {ROW} bytes"),
    ):
        go(pane, code, where, settle)
        assert button(pane, "auditFixButton").accessibleName() == words
        button(pane, "auditFixButton").click()
        settle()
    assert shown.pending_count == 3
    # What is cut short and what is lost: their keys go.
    for key in ("temp/1.0", "temp/1.1", "temp/3.1"):
        assert shown.apply(RemoveReference(key))
    settle()
    start(pane, Level.FULL, settle)
    assert [line.kind.code for line in pane.table.lines.page.lines if line.is_fault] == []
    shown.saving.save()
    settle()
    assert refbrowser.audit(damaged, level="full").exit_code() == 0


@pytest.mark.slow
def test_a_large_result_leaves_the_window_free(
    shown: OpenDocument, pane: AuditPane, settle: Settle, qtbot: QtBot
) -> None:
    grouping, marks = Grouping(), ChunkMarks()
    for number in range(100_000):
        place = Place(key=f"temp/{number}.0", path="/temp", url=f"{number % 9000}.nc")
        grouping.add(
            Finding(
                severity=Severity.FAULT, kind=ErrorKind.DECODE, message="x", place=place, what=UNDECODABLE
            )
        )
    marks.add("/temp", "undecodable", np.stack([np.arange(10**6) % STEPS, np.arange(10**6) % 2], axis=1))
    groups = grouping.groups()
    result = AuditResult(Level.FULL, groups, marks=marks, asked=groups)
    assert shown.dataset is not None
    guard = GapGuard()
    shown.audit.take(Given(result, AuditCost(), shown.dataset))
    settle()
    pane.filter.words.setText("77.nc")
    settle()
    pane.filter.words.setText("")
    settle()
    pane.table.turnWanted.emit(pane.table.lines.page.lines[0])
    settle()
    assert len(pane.table.lines.page.lines) == 9001
    button(pane, "auditMapButton").click()
    settle()
    assert guard.worst() < GAP
