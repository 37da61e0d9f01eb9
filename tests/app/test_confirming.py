"""Members of archives of which parts are shown are confirmed in the background."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStatusBar, QToolButton
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer

import refbrowser
from refbrowser.app.controller.followers import DocumentConfirming
from refbrowser.app.frame.status_line import StatusLine
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS

VALUES = np.arange(40_000, dtype="<i4")
METADATA = (
    '{"zarr_format": 2, "shape": [40000], "chunks": [40000], "dtype": "<i4", "compressor": null,'
    ' "filters": null, "fill_value": 0, "order": "C"}'
)


class Document(QObject):
    """What of an opened document is needed here."""

    title, number = "a.zarr.zip", 1
    readsTurned = Signal()

    def __init__(self, tasks: Tasks, dataset: Dataset) -> None:
        super().__init__()
        self.tasks, self.dataset = tasks, dataset
        dataset.access.memory.news.follow(self.readsTurned.emit)

    def owner(self, what: str) -> str:
        return what

    def show(self) -> Any:
        """Read a part in a task, as panes do."""
        array = self.dataset.with_access(self.dataset.access.at_once())["a"]
        seen: list[Any] = []
        self.tasks.run("plot", "Read", lambda _control: array[5], seen.append)
        return seen


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    assert made.close()


def archive(path: Path, *, is_damaged: bool) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(".zgroup", '{"zarr_format": 2}')
        made.writestr("a/.zarray", METADATA)
        made.writestr("a/0", VALUES.tobytes())
    if is_damaged:
        data = bytearray(path.read_bytes())
        data[data.index(VALUES[-9:].tobytes())] ^= 1
        path.write_bytes(data)
    return path


def test_parts_are_shown_at_once_and_confirmed_after_that(tmp_path: Path, tasks: Tasks, qtbot: QtBot) -> None:
    for is_damaged in (False, True):
        with refbrowser.open(archive(tmp_path / "a.zarr.zip", is_damaged=is_damaged)) as dataset:
            document = Document(tasks, dataset)
            confirming: Any = DocumentConfirming(document)  # type: ignore[arg-type]
            failed: list[None] = []
            confirming.failed.connect(lambda failed=failed: failed.append(None))
            seen = document.show()
            qtbot.waitUntil(lambda seen=seen: bool(seen))
            assert seen == [5]
            qtbot.waitUntil(lambda now=confirming: not tasks.busy() and not now.is_running)
            assert not dataset.access.memory.archives.unconfirmed
            assert not confirming.waiting
            assert bool(failed) is is_damaged
            if is_damaged:
                with pytest.raises(RefbrowserError, match="CRC-32"):
                    dataset.with_access(dataset.access.at_once())["a"][5]


def test_large_members_of_servers_are_marked_until_that_is_asked_for(
    tmp_path: Path, tasks: Tasks, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(LIMITS, zip_confirmed_remote=1 << 16)
    monkeypatch.setattr("refbrowser.engine.reading.found_members.LIMITS", limits)
    data = archive(tmp_path / "a.zarr.zip", is_damaged=False).read_bytes()
    with HttpServer({"/a.zarr.zip": data}) as server, refbrowser.open(server.url("/a.zarr.zip")) as dataset:
        document = Document(tasks, dataset)
        confirming: Any = DocumentConfirming(document)  # type: ignore[arg-type]
        bar = QStatusBar()
        qtbot.addWidget(bar)
        status = StatusLine(bar, tasks)
        confirming.changed.connect(lambda: status.show_unconfirmed(confirming.waiting))
        status.confirmWanted.connect(confirming.confirm)
        mark = bar.findChild(QToolButton, "statusUnconfirmedButton")
        seen = document.show()
        qtbot.waitUntil(lambda: bool(seen) and not mark.isHidden())
        assert mark.text() == "Not confirmed yet"
        assert "a/0 (160 kB)" in mark.toolTip()
        sent = sum(stop - start for start, stop in (request.range for request in server.requests[-1:]))
        assert sent < 1000
        assert not tasks.busy()
        mark.click()
        qtbot.waitUntil(mark.isHidden)
        assert not confirming.waiting
