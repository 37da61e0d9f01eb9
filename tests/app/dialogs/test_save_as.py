"""Save as: Version 1 and 0, packed or not, what it means told first; copies; and undo works through it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QRadioButton
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_fixtures import Open, button

from refbrowser.app.dialogs.save_dialogs import FORMS, Form, SavePreviewDialog, path_for
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetReference

Settle = Callable[[], None]


def choose(
    window: MainWindow, path: Path, version: int, suffix: str = ".json", *, copy: bool = False
) -> None:
    """Answer the dialog that asks for a path and a form."""
    window.actions_["save_copy" if copy else "save_as"].trigger()
    dialog = window.findChild(QFileDialog, "saveCopyDialog" if copy else "saveAsDialog")
    assert dialog is not None
    dialog.selectNameFilter(next(title for title, form in FORMS.items() if form == Form(version, suffix)))
    dialog.fileSelected.emit(str(path))
    dialog.close()


def preview(window: MainWindow, qtbot: QtBot) -> SavePreviewDialog:
    """Wait for the dialog that says what the save means."""
    qtbot.waitUntil(lambda: window.findChild(SavePreviewDialog) is not None)
    found = window.findChild(SavePreviewDialog)
    assert isinstance(found, SavePreviewDialog)
    return found


def label(dialog: SavePreviewDialog, name: str) -> str:
    found = dialog.findChild(QLabel, name)
    assert found is not None, name
    return found.text()


@pytest.mark.slow
def test_version_0_says_how_large_it_becomes_and_is_the_document_from_then_on(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    document = opened(small)
    settle()
    before, target = small.read_bytes(), tmp_path / "rows.json"
    choose(window, target, 0)
    dialog = preview(window, qtbot)
    assert "all 11 rows are written out, about" in label(dialog, "savePreviewVersion")
    assert not target.exists()
    qtbot.mouseClick(button(dialog, "savePreviewSaveButton"), Qt.MouseButton.LeftButton)
    settle()
    rows = json.loads(target.read_text())
    assert rows["temp/1.1"] == ["data.bin", 36, 12]
    assert "version" not in rows
    assert small.read_bytes() == before
    assert (document.path, document.is_dirty) == (str(target), False)
    assert window.windowTitle().startswith("rows.json")
    assert window.status.text() == f"Saved {target}"
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert window.actions_["undo"].isEnabled()
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert document.document is not None
    assert document.document.version == 1
    assert document.is_dirty


@pytest.mark.slow
def test_nothing_is_written_where_it_is_refused(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    document = opened(small)
    settle()
    choose(window, tmp_path / "rows.json", 0)
    qtbot.keyClick(preview(window, qtbot), Qt.Key.Key_Escape)
    settle()
    assert not (tmp_path / "rows.json").exists()
    assert document.path == str(small)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "unpacked"),
    [
        (".json", bytes),
        (".json.gz", gzip.decompress),
        (".json.zst", lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
    ],
)
def test_packed_forms_hold_the_same_bytes_and_open_again(
    window: MainWindow,
    small: Path,
    opened: Open,
    settle: Settle,
    tmp_path: Path,
    suffix: str,
    unpacked: Callable[[bytes], bytes],
) -> None:
    document = opened(small)
    settle()
    choose(window, tmp_path / "packed", 1, suffix)
    settle()
    target = tmp_path / f"packed{suffix}"
    assert unpacked(target.read_bytes()) == small.read_bytes()
    assert document.path == str(target)
    window.documents.close(document)
    again = opened(target)
    assert again.document is not None
    assert again.document.to_bytes() == small.read_bytes()


@pytest.mark.slow
def test_version_1_of_version_0_is_the_document_from_then_on(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps({".zgroup": '{"zarr_format": 2}', "a/0": ["data.bin", 0, 4]}))
    document = opened(old)
    settle()
    before, target = old.read_bytes(), tmp_path / "new.json"
    choose(window, target, 1)
    settle()
    assert json.loads(target.read_text())["version"] == 1
    assert old.read_bytes() == before
    assert (document.path, document.is_dirty) == (str(target), False)
    document.undo()
    assert document.document is not None
    assert document.document.version == 0


@pytest.mark.slow
def test_a_copy_leaves_the_document_and_offers_to_open_it(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    document = opened(small)
    settle()
    document.apply(SetReference("depth/0", ["data.bin", 8, 4]))
    settle()
    target = tmp_path / "copy.json"
    choose(window, target, 1, copy=True)
    settle()
    assert json.loads(target.read_text())["refs"]["depth/0"] == ["data.bin", 8, 4]
    assert (document.path, document.is_dirty) == (str(small), True)
    assert window.centre.copy_bar.isVisible()
    assert str(target) in window.centre.copy_bar.text()
    qtbot.mouseClick(button(window, "copyOpenButton"), Qt.MouseButton.LeftButton)
    settle()
    assert [each.path for each in window.documents.all()] == [str(small), str(target)]
    assert window.documents.current is not document


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "url"), [("savePreviewRewrite", "../data.bin"), ("savePreviewKeep", "data.bin")]
)
def test_relative_urls_are_asked_about_in_another_folder(
    window: MainWindow,
    small: Path,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    choice: str,
    url: str,
) -> None:
    opened(small)
    settle()
    (tmp_path / "below").mkdir()
    target = tmp_path / "below" / "moved.json"
    choose(window, target, 1)
    dialog = preview(window, qtbot)
    assert "data.bin" in label(dialog, "savePreviewRelative")
    picked = dialog.findChild(QRadioButton, choice)
    assert picked is not None
    picked.click()
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    settle()
    written = ReferenceDocument.of(target.read_bytes()).expansion
    assert {written.reference(key).url for key in ("temp/0.0", "temp/1.1", "depth/0")} == {url}


@pytest.mark.slow
def test_a_file_that_another_tab_holds_is_not_replaced(
    window: MainWindow, small: Path, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps(small_document()))
    before = other.read_bytes()
    opened(other)
    opened(small)
    settle()
    choose(window, other, 1)
    settle()
    assert other.read_bytes() == before
    assert "open in this window" in window.centre.error_bar.text()


@pytest.mark.parametrize(
    ("typed", "form", "path"),
    [
        ("a", Form(1, ".json"), "a.json"),
        ("a.refs", Form(1, ".json"), "a.refs"),
        ("a.json", Form(0, ".json.gz"), "a.json.gz"),
        ("a", Form(1, ".json.zst"), "a.json.zst"),
        ("a.json.GZ", Form(1, ".json.zst"), "a.json.GZ"),
    ],
)
def test_the_suffix_is_what_was_chosen_unless_another_was_typed(typed: str, form: Form, path: str) -> None:
    assert path_for(typed, form) == path
