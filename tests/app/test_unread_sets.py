"""Sets of very many references in the window: opened without them, which are read when the user says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import REFERENCES
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats import parquet_text, references
from refbrowser.formats.parquet_records import ArrayRecords
from refbrowser.formats.parquet_references import write_parquet
from refbrowser.formats.references import open_references
from refbrowser.limits import Limits
from refbrowser.references.content import content
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.views import words
from refbrowser.views.attributes import document_pairs
from refbrowser.views.key_search import search

Open = Callable[[str | Path], OpenDocument]
ARRAY = {"zarr_format": 2, "shape": [4], "chunks": [1], "dtype": "<i2", "compressor": None}
ARRAY |= {"filters": None, "fill_value": 0, "order": "C"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of four references."""
    (tmp_path / "data.bin").write_bytes(bytes(range(8)))
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(ARRAY)}
    refs |= {f"a/{number}": ["data.bin", 2 * number, 2] for number in range(4)}
    path = tmp_path / "refs.parq"
    write_parquet(open_references(json.dumps(refs).encode()), path, record_size=2)
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the record files that are read, as they are; such a set counts as a large one."""
    found: list[int] = []
    plain = ArrayRecords.read
    monkeypatch.setattr(
        ArrayRecords, "read", lambda self, number: (found.append(number), plain(self, number))[1]
    )
    for module in (content, references):
        monkeypatch.setattr(module, "LIMITS", Limits(references_described=3))
    return found


def unread(window: MainWindow) -> tuple[str, QPushButton]:
    """Return what is said of references that were not read, and the button that reads them."""
    bar = window.centre.references.unread
    assert bar.isVisibleTo(window)
    button = bar.findChild(QPushButton, "readAllButton")
    assert isinstance(button, QPushButton)
    said = bar.findChild(QLabel, "unreadText")
    assert isinstance(said, QLabel)
    return said.text(), button


def test_a_set_is_opened_without_its_references(
    window: MainWindow, folder: Path, read: list[int], opened: Open, settle: Callable[[], None], qtbot: QtBot
) -> None:
    document = opened(folder)
    settle()
    assert document.hierarchy is not None
    assert document.hierarchy.find("/a") is not None
    assert document.document is not None
    assert ("References", "4, read as needed") in document_pairs(document, document.document)
    assert not read
    window.centre.tabs.setCurrentIndex(REFERENCES)
    said, button = unread(window)
    assert said.startswith("4 references are read as you look at arrays.")
    assert "takes about 0 s and 920 B of memory" in said
    assert window.centre.references.table.model().row_count() == 0
    assert [hit.text for hit in search(document.document, document.hierarchy, "a").hits] == ["/a"]
    with pytest.raises(RefbrowserError, match="press “Read all”") as raised:
        document.document.expansion.find("a/0")
    assert raised.value.kind is ErrorKind.BUDGET
    assert document.document.left
    # As when an element of the plot is explained: the key cannot be shown, and that is no error.
    window.centre.references.go_to_key("a/0", focus=False)
    settle()
    assert document.document.left
    assert not window.centre.error_bar.isVisibleTo(window)
    button.click()
    qtbot.waitUntil(lambda: window.centre.references.table.model().row_count() == 6)
    assert not window.centre.references.unread.isVisibleTo(window)
    assert document.document.left == 0
    assert not window.centre.error_bar.isVisibleTo(window)


def test_an_attribute_is_edited_and_undone_without_reading(
    window: MainWindow, folder: Path, read: list[int], opened: Open, settle: Callable[[], None], qtbot: QtBot
) -> None:
    document = opened(folder)
    settle()
    assert document.apply(SetMetadata("a/.zattrs", {"units": "K"}))
    settle()
    assert document.hierarchy is not None
    node = document.hierarchy.find("/a")
    assert node is not None
    assert node.attributes["units"] == "K"
    qtbot.waitUntil(lambda: document.changes.count_below("/a") == 1)
    document.undo()
    settle()
    assert document.changes.count_below("/a") is None
    document.redo()
    settle()
    assert not read
    window.centre.tabs.setCurrentIndex(REFERENCES)
    unread(window)[1].click()
    # Once all is read, the edit is one of its rows.
    qtbot.waitUntil(lambda: window.centre.references.table.model().row_count() == 7)
    qtbot.waitUntil(lambda: document.changes.rows is not None and document.changes.rows.count == 1)


def test_a_set_beyond_what_a_document_can_hold_says_so(
    window: MainWindow,
    folder: Path,
    read: list[int],
    opened: Open,
    settle: Callable[[], None],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (parquet_text, words):
        monkeypatch.setattr(module, "LIMITS", Limits(references=3))
    document = opened(folder)
    settle()
    window.centre.tabs.setCurrentIndex(REFERENCES)
    said, button = unread(window)
    assert said.endswith("which may be more than the 3 that one document can hold.")
    button.click()
    answer = window.centre.references.findChild(QLabel, "goToKeyAnswer")
    assert isinstance(answer, QLabel)
    qtbot.waitUntil(lambda: "more than 3 references" in answer.text())
    assert document.document is not None
    assert document.document.left == 4
    assert button.isEnabled()
