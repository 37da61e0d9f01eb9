"""The export dialog after an export was cancelled: there is a way on from each state, and words for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zarr
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.exporting import tasks
from refbrowser.exporting.folder import partial_of
from refbrowser.tools.export.window.export_dialog import ExportDialog

VALUES = list(range(8))


class Exports:
    """The dialog over a document of four chunks, without a window, as a user has it."""

    def __init__(self, folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
        facts = {"zarr_format": 2, "shape": [8], "chunks": [2], "dtype": "|i1", "order": "C"}
        refs = {".zgroup": '{"zarr_format": 2}'}
        refs["a/.zarray"] = json.dumps(facts | {"compressor": None, "filters": None, "fill_value": 0})
        refs |= {f"a/{number}": chr(2 * number) + chr(2 * number + 1) for number in range(4)}
        path = folder / "source.json"
        path.write_text(json.dumps(refs))
        self.qtbot, self.monkeypatch = qtbot, monkeypatch
        self.document = OpenDocument(str(path), Tasks())
        self.document.open()
        qtbot.waitUntil(lambda: self.document.hierarchy is not None)
        self.dialog = ExportDialog(self.document, None)
        self.dialog._pause.setInterval(0)
        self.dialog.show()

    @property
    def words(self) -> str:
        return self.dialog.findChild(QLabel, "exportCost").text()

    @property
    def resume(self) -> QCheckBox:
        return self.dialog.findChild(QCheckBox, "exportResume")

    def press(self, name: str) -> None:
        self.dialog.findChild(QPushButton, name).click()

    def ready(self) -> None:
        """Wait until what is asked for can be started."""
        start = self.dialog.findChild(QPushButton, "exportStartButton")
        self.qtbot.waitUntil(lambda: start.isEnabled() and not self.document.tasks.busy())

    def choose(self, format: str, target: Path) -> None:
        """Choose what is written, and where; wait for its cost."""
        self.dialog.choose_format(format)
        self.dialog.findChild(QLineEdit, "exportTarget").setText(str(target))
        self.ready()

    def interrupt(self) -> None:
        """Start the export, and cancel it when its chunks are written, before it has its name."""
        copy_task, written = tasks.copy_task, threading.Event()

        def copy(run: Any, array: Any, number: int) -> None:
            copy_task(run, array, number)
            written.set()
            ended = threading.Event()
            run.token.on_cancel(ended.set)
            ended.wait(20)
            run.token.check()

        with self.monkeypatch.context() as patched:
            patched.setattr(tasks, "copy_task", copy)
            self.press("exportStartButton")
            self.qtbot.waitUntil(written.is_set)
            # Put away meanwhile, it comes back with what became of the export.
            self.dialog.reject()
            assert not self.dialog.isVisible()
            self.press("exportCancelButton")
            self.qtbot.waitUntil(lambda: self.words.startswith("Cancelled"))
            assert self.dialog.isVisible()
        self.ready()

    def start(self) -> None:
        """Start the export, and wait for its end; nothing is asked."""
        self.press("exportStartButton")
        assert self.dialog.findChild(QMessageBox, "exportLeftover") is None
        self.qtbot.waitUntil(lambda: self.words.startswith("Done"))

    def answer(self, button: str) -> str:
        """Start the export, answer what is asked by pressing a button, and return the question."""
        self.press("exportStartButton")
        box = self.dialog.findChild(QMessageBox, "exportLeftover")
        assert box is not None
        text = f"{box.text()} {box.informativeText()}"
        box.findChild(QPushButton, f"exportLeftover{button}").click()
        return text


@pytest.fixture
def exports(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exports]:
    made = Exports(tmp_path, qtbot, monkeypatch)
    yield made
    made.dialog.close()
    made.document.close()


def test_there_is_a_way_on_from_every_state_after_a_cancelled_export(
    exports: Exports, tmp_path: Path
) -> None:
    target = tmp_path / "out.zarr"
    exports.choose("zarr-v3", target)
    exports.interrupt()
    assert exports.resume.isChecked()
    assert "Export continues from there" in exports.words

    # Another format at another name: formats that cannot go on are not asked to.
    for format in ("ncstream", "parquet", "awkward0", "refs-v1"):
        exports.choose(format, tmp_path / f"other-{format}.awkd")
        assert not exports.resume.isEnabled()
        exports.start()
    assert partial_of(str(target)).is_dir()

    # The same export again goes on, and says so before.
    exports.choose("zarr-v3", target)
    assert "it can continue" in exports.words
    assert exports.resume.isChecked()
    exports.start()
    assert "4 kept from before" in exports.words
    assert zarr.open_group(target, mode="r")["a"][...].tolist() == VALUES
    assert not partial_of(str(target)).exists()


def test_another_format_under_the_name_of_an_interrupted_export_is_asked_about(
    exports: Exports, tmp_path: Path
) -> None:
    target = tmp_path / "out.zarr"
    exports.choose("zarr-v3", target)
    exports.interrupt()
    # The name stays the same: what is told is of this format all the same.
    exports.choose("zarr-v2", target)
    assert "A different export to this target was interrupted" in exports.words
    assert "another format" in exports.answer("Cancel")
    exports.ready()
    assert partial_of(str(target)).is_dir()
    assert not target.exists()
    exports.answer("Anew")
    exports.qtbot.waitUntil(lambda: exports.words.startswith("Done"))
    assert zarr.open_group(target, mode="r", zarr_format=2)["a"][...].tolist() == VALUES
    assert not partial_of(str(target)).exists()


def test_an_interrupted_export_goes_on_or_begins_anew_as_the_user_says(
    exports: Exports, tmp_path: Path
) -> None:
    for button, kept in (("Anew", False), ("Resume", True)):
        target = tmp_path / f"{button}.zarr"
        exports.choose("zarr-v3", target)
        exports.resume.setChecked(False)
        exports.ready()
        exports.interrupt()
        exports.resume.setChecked(False)
        exports.ready()
        assert "was interrupted" in exports.answer(button)
        exports.qtbot.waitUntil(lambda: exports.words.startswith("Done"))
        assert ("kept from before" in exports.words) == kept
        assert zarr.open_group(target, mode="r")["a"][...].tolist() == VALUES


def test_a_stream_under_the_name_of_an_interrupted_store_removes_what_that_left(
    exports: Exports, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    exports.choose("zarr-v3", target)
    exports.interrupt()
    exports.choose("ncstream", target)
    exports.answer("Anew")
    exports.qtbot.waitUntil(lambda: exports.words.startswith("Done"))
    assert target.is_file()
    assert not partial_of(str(target)).exists()
    # And after a stream nothing offers to go on.
    assert not exports.resume.isEnabled()
