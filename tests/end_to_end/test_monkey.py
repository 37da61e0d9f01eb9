"""Random actions at the window: nothing fails, nothing freezes, and undoing gives the bytes back."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from deep import is_long
from monkey import Monkey, make_documents
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer

from refbrowser.app.shell.main_window import MainWindow

#: Seconds of CPU after which the GUI thread counts as hanging; how much less it takes, the benchmark shows.
WORK = 3.0
#: What one monkey does.
STEPS = 2000 if is_long() else 100


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_a_monkey_breaks_nothing(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    with HttpServer() as server:
        monkey = Monkey(window, make_documents(tmp_path, server), server, seed)
        monkey.act(STEPS)
        monkey.undo_everything()
        assert monkey.differing == []
        errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert errors == []
        work, doing = max(monkey.gaps.works)
        assert work < WORK, doing
        assert min(monkey.done.values()) > STEPS // 600, "each kind of action was tried"
