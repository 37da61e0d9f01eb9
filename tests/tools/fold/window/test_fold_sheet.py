"""The sheet that folds: what it shows before, one step of the history after, and what cannot be folded."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QCheckBox, QLabel, QPlainTextEdit, QProgressBar, QTreeWidget
from pytestqt.qtbot import QtBot
from window_fixtures import button

import refbrowser
from refbrowser.app.actions.menus import menus
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.document import fold
from refbrowser.references.edits.edits import SetReference
from refbrowser.tools.fold.window.fold_sheet import FoldSheet

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


def show(window: MainWindow) -> FoldSheet:
    window.actions_["fold_references"].trigger()
    sheet = window.findChild(FoldSheet)
    assert sheet is not None
    return sheet


def text(sheet: FoldSheet, name: str) -> str:
    label = sheet.findChild(QLabel, name)
    assert label is not None
    return label.text().replace("\N{NARROW NO-BREAK SPACE}", " ")


def rows(sheet: FoldSheet) -> list[list[str]]:
    """Return the texts of all lines, those below others with an indent."""
    view = sheet.findChild(QTreeWidget, "foldList")
    assert view is not None
    found: list[list[str]] = []
    for number in range(view.topLevelItemCount()):
        item = view.topLevelItem(number)
        assert item is not None
        below = [item.child(each) for each in range(item.childCount())]
        found.append([item.text(column) for column in range(2)])
        found += [["  " + each.text(0), each.text(1)] for each in below]
    return found


@pytest.mark.slow
def test_folding_is_shown_first_and_one_step_then(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "many.json"
    refs: dict[str, Any] = {f"a/{n}": [f"s3://bucket/of/data/f_{n:03d}.nc", 10 * n, 10] for n in range(200)}
    refs |= {f"b/{n}": ["s3://bucket/of/data/other.nc", n * n, 7] for n in range(40)}
    path.write_text(json.dumps({".zgroup": '{"zarr_format": 2}', **refs}))
    before = path.read_bytes()
    document = opened(path)
    settle()
    sheet = show(window)
    apply = button(sheet, "foldApplyButton")
    qtbot.waitUntil(apply.isEnabled)
    assert "200 references in 1 gen rule, 1 template." in text(sheet, "foldSummary")
    assert "Proved: all 240 references with a URL" in text(sheet, "foldProof")
    assert "only with simple_templates=False" in text(sheet, "foldNotes")
    assert "becomes Version 1" in text(sheet, "foldNotes")
    assert rows(sheet) == [
        ["Gen rules", "200"],
        ["  a/{{i}}   i = 0 … 199", "200"],
        ["Templates", ""],
        ["  {{u}}   s3://bucket/of/data/other.nc", ""],
        ["Stays in refs", "41"],
        ["  No rule gives 8 or more of them in half the bytes", "40"],
        ["  Inline values and metadata", "1"],
    ]
    whole = sheet.findChild(QPlainTextEdit, "foldWhole")
    assert whole is not None
    assert json.loads(whole.toPlainText())["url"] == "s3://bucket/of/data/f_{{'%03d' % i}}.nc"
    view = sheet.findChild(QTreeWidget, "foldList")
    assert view is not None
    stays = view.topLevelItem(2)
    assert stays is not None
    view.setCurrentItem(stays.child(0))
    assert whole.toPlainText().startswith("b/0, b/1, b/2, …\n\nOffsets and lengths of compressed chunks")
    # Templates alone, which all software reads.
    rules = sheet.findChild(QCheckBox, "foldRules")
    assert rules is not None
    rules.click()
    assert not apply.isEnabled()
    qtbot.waitUntil(apply.isEnabled)
    assert next(row[0] for row in rows(sheet)) == "Templates"
    assert ["  References, which are not folded", "240"] in rows(sheet)
    assert "simple_templates" not in text(sheet, "foldNotes")
    rules.click()
    # What is edited beneath it is folded too.
    document.apply(SetReference("a/100", ["elsewhere", 1, 1]))
    qtbot.waitUntil(lambda: "199 references" in text(sheet, "foldSummary"))
    qtbot.waitUntil(apply.isEnabled)
    apply.click()
    settle()
    state = document.document
    assert state is not None
    assert len(state.rules) == 2
    assert refbrowser.expand(state)["a/100"] == ["elsewhere", 1, 1]
    assert document.history is not None
    assert document.history.entries[-1] == "Fold into rules"
    document.undo()
    document.undo()
    settle()
    assert document.document is not None
    assert document.document.to_bytes() == before


@pytest.mark.slow
def test_what_cannot_be_folded_is_said_and_long_work_ends(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "few.json"
    path.write_text('{"a/0": ["u", 1, 2]}')
    opened(path)
    settle()
    sheet = show(window)
    qtbot.waitUntil(lambda: "Nothing to fold" in text(sheet, "foldSummary"))
    assert not button(sheet, "foldApplyButton").isEnabled()
    sheet.reject()
    settle()
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"version": 1, "templates": [], "refs": {"a/0": ["u", 1, 2]}}')
    opened(wrong)
    settle()
    sheet = show(window)
    qtbot.waitUntil(lambda: "cannot be folded. The member templates" in text(sheet, "foldSummary"))
    sheet.reject()
    settle()
    # It shows how far it is, and closing the sheet ends what it waits for.
    begun, ended = threading.Event(), threading.Event()

    def long(document: Any, watch: fold.Watch, **_: Any) -> None:
        watch.stage("looking for rules")
        watch.progress(300, 1000)
        begun.set()
        try:
            while True:
                watch.check()
        finally:
            ended.set()

    monkeypatch.setattr(fold, "folded", long)
    sheet = show(window)
    assert begun.wait(20)
    qtbot.waitUntil(lambda: text(sheet, "foldSummary") == "Looking for rules…")
    qtbot.waitUntil(lambda: text(sheet, "foldProof").startswith("300 of 1 000 references"))
    bar = sheet.findChild(QProgressBar, "foldProgress")
    assert bar is not None
    assert (bar.value(), bar.maximum()) == (300, 1000)
    sheet.reject()
    assert ended.wait(20)
    settle()
    # A store has no references that somebody wrote.
    store = tmp_path / "s.zarr"
    store.mkdir()
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    opened(store)
    settle()
    assert not window.actions_["fold_references"].isEnabled()


def test_the_command_stands_apart_in_the_menu() -> None:
    names = ["" if spec is None else spec.name for spec in menus()["&References"]]
    at = names.index("fold_references")
    assert names[at - 2 : at + 3] == ["override_key", "", "fold_references", "", "template_values"]
