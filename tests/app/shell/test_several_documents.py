"""Several documents in one window: roots of one tree, each with its own history, picture and file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, Qt, QUrl
from PySide6.QtWidgets import QTreeWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_fixtures import Open, button, drop

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.save_dialogs import UnsavedDialog
from refbrowser.app.frame.centre import RAW
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.dropped_items import DROP_LIMIT, Drop, read_drop
from refbrowser.references.edits.edits import SetReference, SetTemplate
from refbrowser.views.hierarchy import ItemKind

Settle = Callable[[], None]
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def two(window: MainWindow, small: Path, opened: Open, settle: Settle) -> tuple[OpenDocument, OpenDocument]:
    """Two documents of the same shape; the second is shown."""
    other = small.with_name("second.json")
    other.write_text(json.dumps(small_document("data.bin"), indent=1))
    first, second = opened(small), opened(other)
    settle()
    return first, second


def plotted(window: MainWindow) -> str | None:
    plot = window.centre.plot
    node = None if plot is None else plot.array()
    return None if node is None else node.path


def roots(window: MainWindow) -> list[str]:
    model = window.hierarchy.model
    return [model.index(row, 0).data() for row in range(model.rowCount())]


@pytest.mark.slow
def test_each_is_a_root_and_save_acts_on_the_selected_one(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle, qtbot: QtBot
) -> None:
    first, second = two
    before = Path(second.path).read_bytes()
    assert len(roots(window)) == 2
    for document in two:
        document.apply(SetTemplate("u", "else.bin"))
    second.apply(SetReference("depth/0", ["data.bin", 8, 4]))
    assert [document.pending_count for document in two] == [1, 2]
    window.hierarchy.select_node(first, "/temp")
    settle()
    assert window.windowTitle().startswith("small.json")
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_S, CONTROL)
    settle()
    assert json.loads(Path(first.path).read_text())["templates"]["u"] == "else.bin"
    assert Path(second.path).read_bytes() == before
    assert [document.is_dirty for document in two] == [False, True]
    window.hierarchy.select_node(second, "/temp")
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    assert [document.pending_count for document in two] == [0, 1]


@pytest.mark.slow
def test_the_picture_comes_back_with_its_document(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle
) -> None:
    first, second = two
    window.hierarchy.select_node(second, "/temp")
    settle()
    assert plotted(window) == "/temp"
    model = window.hierarchy.model
    window.hierarchy.select_index(model.find_identity((first.number, str(ItemKind.RULE), 0)))
    settle()
    assert plotted(window) is None
    window.hierarchy.select_node(second, "/temp")
    settle()
    assert plotted(window) == "/temp"
    assert window.centre.plot is not None


@pytest.mark.slow
def test_raw_value_is_that_of_the_key_that_the_tree_chose(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle
) -> None:
    window.hierarchy.select_node(two[1], "/temp")
    settle()
    window.centre.tabs.setCurrentIndex(RAW)
    settle()
    assert window.centre.raw.key() == window.centre.references.current_key()
    assert (window.centre.raw.key() or "").startswith("temp/")
    assert window.centre.raw.data()


@pytest.mark.slow
def test_all_panes_are_about_the_document_that_is_shown(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle
) -> None:
    first, second = two
    window.hierarchy.select_node(second, "/temp")
    settle()
    # As dropping it again does.
    assert window.open_path(first.path) is first
    settle()
    item = window.hierarchy.current_item()
    assert item is not None
    assert (item.document, item.kind) == (first, ItemKind.DOCUMENT)
    assert window.summary.text() == first.path
    assert window.navigation.item() == item


@pytest.mark.slow
def test_names_that_are_the_same_are_told_apart(
    window: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    folder = small.parent / "other"
    folder.mkdir()
    (folder / "small.json").write_text(small.read_text())
    opened(small)
    opened(folder / "small.json")
    settle()
    titles = [document.title for document in window.documents.all()]
    assert len(set(titles)) == 2
    assert all(title.startswith("small.json (") for title in titles)
    window.documents.close(window.documents.all()[0])
    assert [document.title for document in window.documents.all()] == ["small.json"]


@pytest.mark.slow
def test_closing_one_shows_the_next(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle, qtbot: QtBot
) -> None:
    first, second = two
    window.hierarchy.select_node(second, "/depth")
    settle()
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_W, CONTROL)
    settle()
    assert window.documents.all() == [first]
    assert window.documents.current is first
    assert window.windowTitle().startswith("small.json")
    assert plotted(window) is None or window.navigation.plotted_document() is first


@pytest.mark.slow
def test_closing_the_window_asks_once_for_all(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle, qtbot: QtBot
) -> None:
    first, second = two
    before = Path(second.path).read_bytes()
    for document in two:
        document.apply(SetTemplate("u", "else.bin"))
    window.close()
    assert window.isVisible()
    dialog = window.findChild(UnsavedDialog)
    assert dialog is not None
    listed = dialog.findChild(QTreeWidget, "unsavedList")
    assert listed is not None
    assert [listed.topLevelItem(row).text(0) for row in range(2)] == ["small.json", "second.json"]
    listed.topLevelItem(1).setCheckState(0, Qt.CheckState.Unchecked)
    qtbot.mouseClick(button(dialog, "unsavedSaveAllButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible())
    assert json.loads(Path(first.path).read_text())["templates"]["u"] == "else.bin"
    assert Path(second.path).read_bytes() == before


@pytest.mark.slow
def test_others_and_all_are_closed(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle, qtbot: QtBot
) -> None:
    first, second = two
    first.apply(SetTemplate("u", "else.bin"))
    window.actions_["close_others"].trigger()
    dialog = window.findChild(UnsavedDialog)
    assert dialog is not None
    dialog.reject()
    assert window.documents.all() == [first, second]
    window.actions_["close_others"].trigger()
    dialog = window.findChildren(UnsavedDialog)[-1]
    qtbot.mouseClick(button(dialog, "unsavedSaveAllButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.documents.all() == [second])
    assert window.documents.current is second
    assert json.loads(Path(first.path).read_text())["templates"]["u"] == "else.bin"
    assert not window.actions_["close_others"].isEnabled()
    window.open_path(first.path)
    settle()
    window.actions_["close_all"].trigger()
    assert window.documents.all() == []
    assert window.isVisible()


@pytest.mark.slow
def test_the_filter_hides_documents_in_which_nothing_matches(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle
) -> None:
    model, pane = window.hierarchy.model, window.hierarchy
    pane._filter.setText("second")
    pane._apply_filter()
    assert roots(window) == ["second.json"]
    assert model.rowCount(model.index(0, 0)) > 2, "it is shown whole"
    pane._filter.setText("depth")
    pane._apply_filter()
    assert roots(window) == ["small.json", "second.json"]
    pane._filter.setText("nowhere")
    pane._apply_filter()
    assert roots(window) == []
    pane._filter.clear()
    pane._apply_filter()
    assert roots(window) == ["small.json", "second.json"]


@pytest.mark.parametrize(
    ("names", "alike"),
    [
        (("tas_200101.nc", "tas_200102.nc"), True),
        (("A1.NC", "a2.nc"), True),
        (("tas_2001.nc", "pr_2001.nc"), False),
        (("tas_2001.nc", "tas_2001.tif"), False),
        (("tas_2001.nc",), False),
        (("a1.json", "a2.json"), False),
    ],
)
def test_files_that_are_called_alike_are_offered_as_one(names: tuple[str, ...], alike: bool) -> None:
    dropped = Drop(tuple(f"/data/{name}" for name in names))
    assert dropped.is_alike is alike
    assert ("combined into one dataset" in dropped.words(False)[1]) is alike


@pytest.mark.slow
def test_files_and_urls_are_dropped_together(window: MainWindow, small: Path, qtbot: QtBot) -> None:
    url = "http://127.0.0.1:9/refs.json"
    drop(window, QUrl.fromLocalFile(str(small)), QUrl(url))
    qtbot.waitUntil(lambda: not window.tasks.busy())
    assert [document.path for document in window.documents.all()] == [str(small), url]


@pytest.mark.slow
def test_lines_of_text_are_dropped(window: MainWindow, small: Path, qtbot: QtBot) -> None:
    other = small.with_name("se cond.json")
    other.write_text(small.read_text())
    drop(window, text=f"{small}\n\nfile://{QUrl.fromLocalFile(str(other)).path()}\nnothing of ours\n")
    qtbot.waitUntil(lambda: all(document.is_open for document in window.documents.all()))
    assert [document.path for document in window.documents.all()] == [str(small), str(other)]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("file:///data/a%20b.json", ("/data/a b.json",)),
        ("~/refs.json", ()),
        ("see https://x.org/a.json", ()),
        ("https://x.org/a.json\r\nhttps://x.org/a.json", ("https://x.org/a.json",)),
        ("s3://bucket/a.json", ("s3://bucket/a.json",)),
    ],
)
def test_what_text_names(text: str, targets: tuple[str, ...]) -> None:
    data = QMimeData()
    data.setText(text)
    assert read_drop(data).targets == targets


def test_too_many_at_once_are_refused_in_words(window: MainWindow) -> None:
    data = QMimeData()
    data.setUrls([QUrl(f"https://x.org/{number}.json") for number in range(DROP_LIMIT + 1)])
    found = read_drop(data)
    assert not found.is_accepted
    assert "too many" in found.words(False)[0]


@pytest.mark.slow
def test_documents_are_put_in_another_order(
    window: MainWindow, two: tuple[OpenDocument, OpenDocument], settle: Settle
) -> None:
    model, tree = window.hierarchy.model, window.hierarchy.tree
    window.hierarchy.select_node(two[1], "/temp")
    settle()
    # Dragged above the first one, and then below all.
    data = model.mimeData([model.index(1, 0)])
    move = Qt.DropAction.MoveAction
    model.dropMimeData(data, move, 0, 0, QModelIndex())
    assert roots(window) == ["second.json", "small.json"]
    assert window.documents.all() == [two[1], two[0]]
    current = window.hierarchy.current_item()
    assert current is not None
    assert (current.document, current.place) == (two[1], "/temp")
    model.dropMimeData(data, move, -1, -1, QModelIndex())
    assert roots(window) == ["small.json", "second.json"]
    # Onto a row, or something else: nothing.
    model.dropMimeData(data, move, 0, 0, model.index(0, 0))
    model.dropMimeData(QMimeData(), move, 0, 0, QModelIndex())
    assert roots(window) == ["small.json", "second.json"]
    assert model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsDragEnabled
    assert not model.flags(tree.currentIndex()) & Qt.ItemFlag.ItemIsDragEnabled
