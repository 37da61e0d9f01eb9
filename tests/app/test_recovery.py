"""A process that is killed loses no edit: the next one offers them, and does nothing by itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtWidgets import QPushButton, QTreeWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.recovery import RecoveryBar, RecoveryPreview
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.io.files.journal import journal_folder
from refbrowser.references.edits.edits import SetReference

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]

EDITOR = """
import sys
from PySide6.QtCore import QCoreApplication, Qt
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.references.edits.edits import Compound, RenameTemplate, SetReference, SetRule, SetTemplate

application = QCoreApplication([])
document = OpenDocument(sys.argv[1], Tasks(), template_values={"u": "secret.bin"})

def edit():
    rule = document.document.rule_nodes[0].to_python()
    document.apply(SetTemplate("u", "other.bin"))
    document.apply(SetRule(0, {**rule, "offset": "{{i * 24}}"}))
    document.apply(Compound("Two", (SetReference("new/0", ["a", 1, 2]), SetReference("depth/1", "text"))))
    document.apply(SetReference("gone", "x"))
    document.undo()
    print(repr(document.document.to_bytes()), flush=True)

document.openFailed.connect(lambda error: print(error, file=sys.stderr))
document.hierarchyChanged.connect(edit, type=Qt.ConnectionType.SingleShotConnection)
document.open()
application.exec()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the document: a journal knows it by its path."""
    return tmp_path_factory.mktemp("edited")


@pytest.fixture
def small(folder: Path) -> Path:
    """A small document with its data beside it, as it is at the start of each test."""
    return write_small(folder)


def edited(small: Path, **environment: str) -> subprocess.Popen[str]:
    """Start another program that edits the document, prints its text, and stays open."""
    command = [sys.executable, "-c", EDITOR, str(small)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})


class Killed(NamedTuple):
    """What is left of a program: the text of its document, the name of its journal, and what is in it."""

    text: bytes
    name: str
    journal: bytes


@pytest.fixture(scope="module")
def killed(folder: Path) -> Killed:
    """A program that was killed after its edits were in the journal."""
    state = folder / "state"
    with edited(write_small(folder), XDG_STATE_HOME=str(state)) as program:
        assert program.stdout is not None
        text = eval(program.stdout.readline())
        assert isinstance(text, bytes)
        deadline = time.monotonic() + 30
        while not (found := [path for path in state.rglob("*") if path.is_file()]) or lines(*found) < 6:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(program.pid, signal.SIGKILL)
    (journal,) = found
    return Killed(text, journal.name, journal.read_bytes())


@pytest.fixture
def lost(small: Path, killed: Killed) -> bytes:
    """The text of a document whose program was killed; its journal is where the next one looks."""
    journal_folder().mkdir(parents=True)
    (journal_folder() / killed.name).write_bytes(killed.journal)
    return killed.text


def write_small(folder: Path) -> Path:
    (folder / "data.bin").write_bytes(bytes(range(56)))
    path = folder / "small.json"
    path.write_text(json.dumps(small_document(), indent=1))
    return path


def lines(*journals: Path) -> int:
    """Return how many lines all journals have; none where one is being removed at this moment."""
    try:
        return sum(path.read_bytes().count(b"\n") for path in journals or journal_folder().iterdir())
    except FileNotFoundError:
        return 0


def bar_of(window: MainWindow) -> RecoveryBar:
    return window.centre.recovery_bar


def click(parent: object, name: str) -> None:
    button = parent.findChild(QPushButton, name)  # type: ignore[attr-defined]
    assert button is not None, name
    assert button.isEnabled()
    button.click()


def text_of(document: OpenDocument) -> bytes:
    assert document.document is not None
    return document.document.to_bytes()


@pytest.mark.slow
def test_what_a_killed_program_had_edited_is_restored(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle
) -> None:
    before = small.read_bytes()
    document = opened(small)
    settle()
    assert bar_of(window).isVisible()
    assert "3 unsaved edits" in bar_of(window).text()
    assert text_of(document) == before
    assert not document.is_dirty
    click(window, "recoveryRestoreButton")
    assert text_of(document) == lost
    assert document.is_dirty
    assert small.read_bytes() == before
    assert not bar_of(window).isVisible()
    assert document.can_redo
    for _ in range(3):
        assert document.can_undo
        document.undo()
    assert text_of(document) == before
    assert not document.is_dirty
    settle()


def test_template_values_are_not_in_the_journal(lost: bytes) -> None:
    (path,) = journal_folder().iterdir()
    assert b"secret" not in path.read_bytes()


def test_restored_edits_are_kept_again(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    (before,) = journal_folder().iterdir()
    opened(small)
    settle()
    click(window, "recoveryRestoreButton")
    qtbot.waitUntil(lambda: not before.exists())
    assert lines() == 6
    settle()


@pytest.mark.slow
def test_a_program_that_still_runs_keeps_its_edits(
    small: Path,
    window: MainWindow,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
) -> None:
    with edited(small) as program:
        assert program.stdout is not None
        program.stdout.readline()
        qtbot.waitUntil(lambda: lines() == 6)
        document = opened(small)
        settle()
        assert document.journal.recoveries == ()
        assert not bar_of(window).isVisible()
        program.kill()


def test_edits_that_do_not_fit_the_changed_file_can_only_be_looked_at(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle
) -> None:
    changed = json.loads(small.read_bytes())
    changed["gen"] = []
    small.write_text(json.dumps(changed))
    document = opened(small)
    settle()
    assert "changed since" in bar_of(window).text()
    assert not window.findChild(QPushButton, "recoveryRestoreButton").isVisible()
    click(window, "recoveryPreviewButton")
    dialog = window.findChild(RecoveryPreview)
    assert not dialog.findChild(QPushButton, "recoveryPreviewRestoreButton").isEnabled()
    dialog.reject()
    assert not document.is_dirty


def test_the_preview_lists_what_was_done(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle
) -> None:
    document = opened(small)
    settle()
    click(window, "recoveryPreviewButton")
    dialog = window.findChild(RecoveryPreview)
    view = dialog.findChild(QTreeWidget, "recoveryList")
    rows = [view.topLevelItem(row) for row in range(view.topLevelItemCount())]
    assert [row.text(1) for row in rows] == [
        "Change template u", "Change gen rule 0", "Two", "Change gone", "Undo",
    ]  # fmt: skip
    assert "other.bin" in rows[0].text(2)
    click(dialog, "recoveryPreviewRestoreButton")
    assert text_of(document) == lost
    settle()


def test_discard_asks_and_removes_the_journal(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(small)
    settle()
    click(window, "recoveryDiscardButton")
    assert lines()
    click(window, "discardQuestionYes")
    assert not bar_of(window).isVisible()
    qtbot.waitUntil(lambda: not lines())
    assert not document.is_dirty


def test_edits_follow_those_that_were_made_before_they_were_restored(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, killed: Killed
) -> None:
    document = opened(small)
    settle()
    document.apply(SetReference("mine", "x"))
    click(window, "recoveryRestoreButton")
    settle()
    text = json.loads(text_of(document))
    assert text["refs"]["mine"] == "x"
    restored = json.loads(lost)
    del text["refs"]["mine"]
    assert text == restored
    assert document.history is not None
    assert document.history.entries[-1] == "Restore 3 edits"
    assert not bar_of(window).isVisible()
    qtbot.waitUntil(lambda: not (journal_folder() / killed.name).exists())
    document.undo()
    assert json.loads(text_of(document))["refs"]["mine"] == "x"


def test_a_save_of_other_edits_loses_nothing(
    lost: bytes, small: Path, window: MainWindow, opened: Open, settle: Settle
) -> None:
    document = opened(small)
    settle()
    document.apply(SetReference("mine", "x"))
    document.saving.save()
    settle()
    assert "The file has changed since" in bar_of(window).text()
    click(window, "recoveryRestoreButton")
    text, restored = json.loads(text_of(document)), json.loads(lost)
    assert text["refs"].pop("mine") == "x"
    assert text == restored
    settle()


def test_a_closed_document_leaves_no_journal(
    small: Path, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(small)
    document.apply(SetReference("mine", "x"))
    document.journal.flush()
    qtbot.waitUntil(lambda: lines() == 2)
    settle()
    window.documents.close(document)
    assert not lines()


def test_an_unexpected_error_writes_the_journal(
    small: Path, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(small)
    document.apply(SetReference("mine", "x"))
    window.show_unexpected(ValueError("something"))
    qtbot.waitUntil(lambda: lines() == 2)
    settle()


def test_a_journal_that_cannot_be_written_is_told(
    small: Path, window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    journal_folder().parent.mkdir(parents=True, exist_ok=True)
    journal_folder().write_text("in the way")
    document = opened(small)
    document.apply(SetReference("mine", "x"))
    document.journal.flush()
    qtbot.waitUntil(window.centre.error_bar.isVisible)
    assert "not kept" in window.centre.error_bar.text()
    settle()


def test_what_a_killed_save_left_is_removed(small: Path, opened: Open, settle: Settle) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    left = small.with_name(f".{small.name}.refbrowser-{gone.pid}-01234567")
    left.write_bytes(b"half")
    opened(small)
    settle()
    assert not left.exists()
