"""Every dialog fits a screen of 1024 x 600: its buttons can be reached."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import small_widgets
from refbrowser.tools.compare.window.commands import CompareCommands
from refbrowser.tools.compare.window.compare_window import CompareWindow
from refbrowser.tools.make.window.commands import MakeCommands

SAMPLE = Path(__file__).resolve().parents[3] / "resources" / "sample"
APP = Path(small_widgets.__file__).parents[1]
#: What a desktop leaves of such a screen, without the frame of a window.
ROOM = QSize(1008, 560)
#: Dialogs that are opened by what is triggered below.
OPENED = {
    "AboutDialog",
    "CompareWindow",
    "ExportDialog",
    "CombineSheet",
    "FoldSheet",
    "MakeSheet",
    "ManualWindow",
    "MovePage",
    "OpenUrlDialog",
    "PreferencesDialog",
    "ShortcutList",
}


def dialogs() -> list[QDialog]:
    found = [
        each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()
    ]
    return [each for each in found if not isinstance(each, QFileDialog)]


def close_all() -> None:
    for each in QApplication.topLevelWidgets():
        if isinstance(each, QDialog):
            each.close()
    QApplication.processEvents()


@pytest.mark.slow
def test_every_dialog_fits_a_small_screen(
    window: MainWindow, opened: Open, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_widgets, "room_for_window", lambda widget: ROOM)
    shutil.copytree(SAMPLE, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "sea_surface.json"
    document = opened(path)
    window.hierarchy.select_node(document, "/ocean/sst")
    other = tmp_path / "other.json"
    shutil.copy(path, other)
    files = sorted(map(str, (tmp_path / "data").rglob("*.*")))[:2] or [str(path), str(other)]
    window.update_actions()
    steps: list[Callable[[], object]] = [
        action.trigger
        for _spec, action in window.actions_.all()
        if action.text().endswith("…") and action.isEnabled()
    ]
    steps += [
        *(window.actions_[name].trigger for name in ("shortcuts", "manual", "about")),
        lambda: window.groups[MakeCommands].make_of(files),
        lambda: window.groups[MakeCommands].combine_of(files),
        lambda: window.groups[CompareCommands].compare_paths([str(path), str(other)]),
    ]
    seen, too_large = set(), {}
    for step in steps:
        step()
        QApplication.processEvents()
        if step is steps[-1]:
            qtbot.waitUntil(lambda: any(isinstance(each, CompareWindow) for each in dialogs()))
        for each in dialogs():
            seen.add(type(each).__name__)
            for size in (each.minimumSizeHint(), each.size()):
                if size.width() > ROOM.width() or size.height() > ROOM.height():
                    too_large[type(each).__name__] = size.toTuple()
        close_all()
    assert too_large == {}
    assert seen >= OPENED


def test_no_dialog_is_made_larger_than_the_screen() -> None:
    """What is not opened above has a size that fits, or one that is held to the screen."""
    found = {}
    for path in APP.rglob("*.py"):
        for wide, high in re.findall(r"self\.resize\((\d+), (\d+)\)", path.read_text(encoding="utf-8")):
            if int(wide) > ROOM.width() or int(high) > ROOM.height():
                found[path.name] = (wide, high)
    assert found == {}
