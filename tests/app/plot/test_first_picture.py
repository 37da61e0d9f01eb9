"""A document that is opened is seen in the tree, and its first variable of data is drawn at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer
from small_documents import small_document

from refbrowser.app.commands.files import PermissionCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.document.extent import EVERYTHING

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


@pytest.fixture
def eager(window: MainWindow) -> MainWindow:
    """A window as users begin with it."""
    window.preferences.set("first_picture", True)
    return window


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "data.bin").write_bytes(bytes(range(56)))
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small_document()))
    return path


def shown(window: MainWindow) -> tuple[str, str] | None:
    """Return which array the plot shows, and on which page."""
    plot = window.centre.plot
    node = None if plot is None else plot.array()
    if plot is None or node is None:
        return None
    return node.path, "canvas" if plot.page() is plot.canvas else "cards"


@pytest.mark.slow
@pytest.mark.fresh
def test_the_first_variable_of_data_is_drawn_and_seen_in_the_tree(
    eager: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    assert "Select an array" in eager.centre._plot_card.text()
    filter_box = eager.findChild(QLineEdit, "hierarchyFilter")
    many = small.with_name("many.json")
    refs = small_document()["refs"]
    more = {f"line{n}/.zarray": refs["depth/.zarray"] for n in range(60)}  # type: ignore[index]
    many.write_text(json.dumps({"version": 1, "refs": {".zgroup": '{"zarr_format": 2}', **more}}))
    opened(many)
    assert "Loading the plotting library" in eager.centre._plot_card.text()
    settle()
    assert shown(eager) == ("/line0", "canvas")
    filter_box.setText("line5")
    settle()
    document = opened(small)
    settle()
    assert shown(eager) == ("/temp", "canvas"), "of two dimensions, not the line"
    assert filter_box.text() == "", "it would hide what was opened"
    tree, model = eager.hierarchy.tree, eager.hierarchy.model
    item = eager.hierarchy.current_item()
    assert item is not None
    assert (item.document, item.place) == (document, "/temp")
    view = tree.viewport().rect()
    for index in (tree.currentIndex(), eager.hierarchy._root_of(document)):
        assert view.contains(tree.visualRect(index).center()), model.item(index)
    # The choice of last time, when it is opened again.
    eager.hierarchy.select_node(document, "/depth")
    settle()
    eager.documents.close(document)
    opened(small)
    settle()
    assert shown(eager) == ("/depth", "canvas")


def test_what_the_user_wants_goes_first(eager: MainWindow, small: Path, qtbot: QtBot, settle: Settle) -> None:
    document = eager.open_path(str(small), "/depth")
    qtbot.waitUntil(lambda: document.is_open)
    settle()
    assert shown(eager) == ("/depth", "canvas")
    # An edit chooses nothing anew.
    eager.hierarchy.select_index(eager.hierarchy._root_of(document))
    document.hierarchyChanged.emit(EVERYTHING)
    settle()
    item = eager.hierarchy.current_item()
    assert item is not None
    assert item.place == ""


def test_what_is_opened_is_shown_in_several_turns(eager: MainWindow, small: Path, settle: Settle) -> None:
    """All panes in one turn of the event loop would hold the window, work done twice the processors."""
    before = {status.number for status in eager.tasks.statuses()}

    def begun(title: str) -> int:
        new = [status for status in eager.tasks.statuses() if status.number not in before]
        return sum(status.job.title.startswith(title) for status in new)

    turns: list[tuple[str, object]] = []

    def look() -> None:
        item = eager.hierarchy.current_item()
        turns.append(("" if item is None else str(item.place), shown(eager)))

    document = eager.open_path(str(small))
    document.trustChanged.connect(look)
    document.trustChanged.connect(lambda: turns.append(("checks", begun("Check for problems"))))
    eager.hierarchy.selected.connect(lambda _item: look())
    settle()
    assert turns == [("", None), ("checks", 1), ("/temp", None)]
    assert shown(eager) == ("/temp", "canvas")
    assert begun("Read the metadata of /temp") == 1


def test_of_several_the_last_one_is_drawn(
    eager: MainWindow, small: Path, qtbot: QtBot, settle: Settle
) -> None:
    paths = [small.with_name(f"{n}.json") for n in range(3)]
    for path in paths:
        path.write_bytes(small.read_bytes())
    eager.open_all([str(path) for path in paths])
    qtbot.waitUntil(lambda: all(document.is_open for document in eager.documents.all()))
    settle()
    assert eager.documents.current is not None
    assert eager.documents.current.name == "2.json"
    assert shown(eager) == ("/temp", "canvas")


@pytest.mark.slow
def test_nothing_is_read_that_was_not_allowed(
    eager: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    with HttpServer() as server:
        server.files["/data.bin"] = bytes(48)
        small.write_text(json.dumps(small_document(server.url("/data.bin"))))
        opened(small)
        settle()
        assert server.requests == []
        assert eager.centre.trust_bar.isVisible()
        assert shown(eager) == ("/temp", "cards")
        assert eager.centre.plot is not None
        assert eager.centre.plot.cards.shown() == "blocked"
    # Data of another folder: drawn as soon as that is allowed.
    folder = small.parent / "documents"
    folder.mkdir()
    (folder / "far.json").write_text(json.dumps(small_document(str(small.parent / "data.bin"))))
    opened(folder / "far.json")
    settle()
    assert shown(eager) == ("/temp", "cards")
    eager.groups[PermissionCommands].allow_this_time()
    settle()
    assert shown(eager) == ("/temp", "canvas")
