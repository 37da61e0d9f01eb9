"""The window for whole jobs: each has one of its own."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from window_fixtures import (
    fresh_window,
    garbage_stays_here,
    opened,
    settings_folder,
    settings_of_worker,
    settle,
    styled,
)

from refbrowser.app.shell.main_window import MainWindow

__all__ = ["garbage_stays_here", "opened", "settings_folder", "settings_of_worker", "settle", "styled"]


@pytest.fixture
def window(styled: QApplication, qtbot: QtBot) -> Iterator[MainWindow]:
    """A window in which nothing was done."""
    yield from fresh_window()
