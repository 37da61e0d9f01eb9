"""The event loop is never held while documents are read, and first rows come early."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from event_loop import GAP, GapGuard
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow

pytestmark = pytest.mark.fresh


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document of 300,000 references."""
    path = tmp_path_factory.mktemp("large") / "large.json"
    array = {"zarr_format": 2, "shape": [300_000], "chunks": [1], "dtype": "<f4", "compressor": None}
    head = json.dumps({"a/.zarray": json.dumps({**array, "filters": None, "fill_value": 0, "order": "C"})})[
        :-1
    ]
    rows = (f', "a/{number}": ["data_{number % 40}.nc", {number * 4096}, 4096]' for number in range(300_000))
    path.write_text('{"version": 1, "refs": ' + head + "".join(rows) + "}}")
    return path


@pytest.mark.slow
def test_reading_a_large_document_shows_first_rows_and_never_freezes(
    window: MainWindow, large: Path, small: Path, opened: Callable[[Path], OpenDocument], qtbot: QtBot
) -> None:
    opened(small)  # loads the libraries
    qtbot.waitUntil(lambda: not window.tasks.busy())
    seen: list[int] = []
    guard = GapGuard()
    document = window.open_path(str(large))
    document.firstRows.connect(lambda rows: seen.append(rows.row_count()))
    qtbot.waitUntil(lambda: document.is_open)
    qtbot.waitUntil(lambda: not window.tasks.busy())
    assert seen
    assert 0 < seen[0] < 300_001
    assert window.centre.references.table.model().row_count() == 300_001
    assert guard.worst() < GAP


@pytest.mark.slow
def test_reading_can_be_cancelled(window: MainWindow, large: Path, qtbot: QtBot) -> None:
    document = window.open_path(str(large))
    document.cancel_open()
    qtbot.waitUntil(lambda: document.error is not None)
    assert not document.is_open
    qtbot.wait(100)
    assert not document.is_open
    assert window.centre.error.isVisible()
