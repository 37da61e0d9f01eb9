"""What an edit, undo or a save tells: what it concerns. What it does not is not made anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.commands.files import FileCommands
from refbrowser.app.commands.plotting import DataCommands
from refbrowser.app.commands.references import EditCommands
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.frame.centre import PLOT, REFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.exporting.saving.save import SaveOrder
from refbrowser.references.edits.edits import SetMetadata, SetReference
from refbrowser.views.rows import RowStyle

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


@pytest.mark.slow
def test_undo_and_redo_go_back_to_the_hierarchies_that_are_there(
    opened: Open, settle: Settle, small: Path
) -> None:
    document = opened(small)
    settle()
    first = document.hierarchy
    document.apply(SetReference("depth/0", ["data.bin", 8, 4]))
    settle()
    edited = document.hierarchy
    assert edited is not first
    document.undo()
    settle()
    assert document.hierarchy is first
    document.redo()
    settle()
    assert document.hierarchy is edited
    assert document.is_row_changed(document.document.expansion.find("depth/0"))


@pytest.mark.slow
def test_an_edit_of_one_reference_leaves_the_tree_as_it_is(
    window: MainWindow, opened: Open, settle: Settle, small: Path
) -> None:
    document = opened(small)
    settle()
    model, resets = window.hierarchy.model, []
    model.modelReset.connect(lambda: resets.append(1))
    document.apply(SetReference("depth/0", ["data.bin", 8, 4]))
    settle()
    assert resets == []
    # What is plotted from the tree is read as the references say now.
    shown = model.item(model.find_node(document, "/depth"))
    assert shown.node is document.hierarchy.find("/depth")
    document.apply(SetMetadata("depth/.zattrs", {"title": "x"}))
    settle()
    assert resets


@pytest.mark.slow
def test_commands_that_nothing_concerns_are_not_asked_again(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = opened(small)
    settle()
    asked: list[str] = []
    for kind in (FileCommands, DataCommands, SaveCommands, EditCommands):

        def conditions(self: Any, kind: Any = kind, conditions: Any = kind.conditions) -> dict[str, bool]:
            asked.append(kind.__name__)
            return conditions(self)

        monkeypatch.setattr(kind, "conditions", conditions)
    document.apply(SetReference("note", "text"))
    settle()
    assert set(asked) == {"SaveCommands", "EditCommands"}
    assert window.actions_["save"].isEnabled()
    assert window.actions_["undo"].isEnabled()
    asked.clear()
    with qtbot.waitSignal(document.saved):
        window.actions_["save"].trigger()
    assert set(asked) == {"SaveCommands"}, "the steps are the same"
    assert not window.actions_["save"].isEnabled()
    assert window.actions_["undo"].isEnabled()


@pytest.mark.slow
def test_what_is_saved_is_told_apart_from_that_it_is_being_written(
    opened: Open, settle: Settle, qtbot: QtBot, small: Path, tmp_path: Path
) -> None:
    document, told = opened(small), []
    settle()
    document.apply(SetReference("note", "text"))
    settle()
    document.saving.runningChanged.connect(lambda: told.append(document.saving.is_running))
    document.savedChanged.connect(lambda: told.append("saved"))
    with qtbot.waitSignal(document.saved):
        document.saving.save(SaveOrder(str(tmp_path / "copy.json"), is_copy=True))
    assert told == [True, False], "a copy leaves what is saved as it is"
    with qtbot.waitSignal(document.saved):
        document.saving.save()
    assert told[2:] == [True, False, "saved"]


@pytest.mark.slow
def test_rows_that_nobody_sees_take_their_marks_when_they_are_seen(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, small: Path
) -> None:
    document = opened(small)
    settle()
    window.centre.show_tab(REFERENCES)
    document.apply(SetReference("depth/0", ["data.bin", 8, 4]))
    settle()
    table = window.centre.references.table

    def style(row: int) -> RowStyle:
        return table._page(row // table.page_rows)[1][row % table.page_rows]

    row = document.document.expansion.find("depth/0")
    qtbot.waitUntil(lambda: RowStyle.CHANGED in style(row))
    window.centre.show_tab(PLOT)
    asked: list[str] = []
    table.show_styles, plain = (lambda: asked.append("styles")), table.show_styles
    with qtbot.waitSignal(document.saved):
        window.actions_["save"].trigger()
    settle()
    assert asked == []
    table.show_styles = plain
    window.centre.show_tab(REFERENCES)
    qtbot.waitUntil(lambda: RowStyle.CHANGED not in style(row))


@pytest.mark.slow
def test_chunks_are_mapped_anew_for_an_edit_of_their_array_alone(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, small: Path
) -> None:
    window.prepare_plot()
    document = opened(small)
    settle()
    assert window.hierarchy.select_node(document, "/depth")
    qtbot.waitUntil(lambda: window.chunk_map.pane is not None and window.chunk_map.pane.array() is not None)
    settle()
    pane = window.chunk_map.pane
    assert pane is not None
    before = pane.loader.whole
    document.apply(SetReference("note", "text"))
    settle()
    assert pane.loader.whole is before
    document.apply(SetReference("depth/0", ["data.bin", 8, 4]))
    settle()
    assert pane.loader.whole is not before
