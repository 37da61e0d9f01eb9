"""A save tells that nothing changed but what counts as saved: the structure is not read again for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetReference

Settle = Callable[[], None]


@pytest.mark.slow
def test_a_save_makes_no_new_hierarchy(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, small: Path
) -> None:
    document = opened(small)
    settle()
    document.apply(SetReference("note", "text"))
    settle()
    row = next(row for row in range(document.document.expansion.rows) if document.is_row_changed(row))
    dataset, told = document.dataset, []
    document.hierarchyChanged.connect(lambda: told.append("hierarchy"))
    document.differenceChanged.connect(lambda: told.append("difference"))
    with qtbot.waitSignal(document.saved):
        window.actions_["save"].trigger()
    settle()
    assert told == ["difference"]
    assert document.dataset is dataset
    assert not document.is_row_changed(row)
    assert not document.is_dirty
    assert json.loads(small.read_text("utf-8"))["refs"]["note"] == "text"


@pytest.mark.slow
def test_what_was_edited_meanwhile_still_differs(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, small: Path
) -> None:
    document = opened(small)
    settle()
    document.apply(SetReference("note", "text"))
    settle()
    with qtbot.waitSignal(document.saved):
        window.actions_["save"].trigger()
        document.apply(SetReference("later", "text"))
    settle()
    expansion = document.document.expansion
    keys = expansion.items(0, expansion.rows).keys
    changed = [key for row, key in enumerate(keys) if document.is_row_changed(row)]
    assert document.is_dirty
    assert changed == ["later"]
