"""The documents that were opened lately: in the menu File, newest first, opened by a click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from window_fixtures import Open

from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.settings.settings import RECENT
from refbrowser.app.shell.main_window import MainWindow

Settle = Callable[[], None]


def listed(window: MainWindow) -> list[str]:
    """Return what the submenu shows when it is opened."""
    menu = window.actions_.menu("Open &recent")
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if action.objectName().startswith("action_recent_")]


@pytest.mark.slow
def test_newest_first_and_opened_by_a_click(
    window: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    other = small.with_name("a&b.json")
    other.write_text(small.read_text())
    for path in (small, other):
        opened(path)
        settle()
    shown = listed(window)
    assert [text[:2] for text in shown] == ["&1", "&2"]
    # Long paths are cut at their beginning; & is no mnemonic.
    assert [text.rpartition("/")[2] for text in shown] == ["a&&b.json", "small.json"]
    for document in window.documents.all():
        window.documents.close(document)
    menu = window.actions_.menu("Open &recent")
    next(action for action in menu.actions() if action.objectName() == "action_recent_1").trigger()
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]


@pytest.mark.slow
def test_what_is_opened_together_is_one_entry(window: MainWindow, small: Path, settle: Settle) -> None:
    others = [small.with_name(f"{name}.json") for name in "ab"]
    for other in others:
        other.write_text(small.read_text())
    paths = [str(small), *map(str, others)]
    window.open_all(paths)
    settle()
    (shown,) = listed(window)
    assert shown.endswith("small.json  and 2 more")
    window.groups[SaveCommands].close_all()
    window.open_recent(str(small))
    settle()
    assert [document.path for document in window.documents.all()] == paths
    window.groups[SaveCommands].close_all()
    # Alone it is an entry of its own.
    window.open_all([str(small)])
    settle()
    assert [text.rpartition("/")[2] for text in listed(window)] == ["small.json"]


def test_what_could_not_be_opened_is_not_listed(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    opened(tmp_path / "none.json")
    settle()
    assert listed(window) == []
    assert not window.actions_["clear_recent"].isEnabled()


def test_the_list_is_bounded_and_cleared(window: MainWindow) -> None:
    for number in range(RECENT + 3):
        window.settings.add_recent(f"/data/{number}.json")
    window.settings.add_recent(f"/data/{RECENT}.json")
    shown = listed(window)
    assert len(shown) == RECENT
    assert shown[0].endswith(f"/data/{RECENT}.json")
    assert window.actions_["clear_recent"].isEnabled()
    window.actions_["clear_recent"].trigger()
    assert listed(window) == []
    assert window.settings.recent() == []
