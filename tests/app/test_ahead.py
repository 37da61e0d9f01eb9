"""What is made ahead: editors that are there before anything is edited, and nothing that is seen of it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.shell import housekeeping
from refbrowser.app.shell.housekeeping import Ahead
from refbrowser.app.shell.main_window import MainWindow

pytestmark = pytest.mark.fresh
EDITORS = ("genEditor", "templatesEditor", "referenceEditor", "urlPrefixEditor", "previewView")


@pytest.mark.slow
def test_editors_are_made_while_nothing_runs(
    window: MainWindow, opened: Open, small: Path, qtbot: QtBot
) -> None:
    ahead = Ahead(window)
    opened(small)
    qtbot.waitUntil(lambda: ahead.is_done)
    for name in EDITORS:
        made = window.findChildren(QWidget, name)
        assert len(made) == 1, name
        assert not made[0].isVisible(), name


@pytest.mark.slow
def test_the_editor_made_ahead_is_the_one_that_is_used(
    window: MainWindow, opened: Open, small: Path, qtbot: QtBot
) -> None:
    ahead = Ahead(window)
    document = opened(small)
    qtbot.waitUntil(lambda: ahead.is_done)
    made = window.findChild(QWidget, "genEditor")
    window.editors.show_rule(document, 0)
    assert window.editors.currentWidget() is made
    assert window.editors.preview_slot.currentWidget() is window.findChild(QWidget, "previewView")


@pytest.mark.slow
@pytest.mark.parametrize("is_installed", [True, False])
def test_what_projections_need_is_imported_ahead_where_it_is_installed(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def recorded(name: str) -> Any:
        asked.append(name)
        if name == "pyproj" and not is_installed:
            raise ModuleNotFoundError(name)
        return import_module(name)

    monkeypatch.setattr(housekeeping, "import_module", recorded)
    assert "refbrowser.app.plot.plot_pane" in housekeeping.panes()
    assert "pyproj" in asked
