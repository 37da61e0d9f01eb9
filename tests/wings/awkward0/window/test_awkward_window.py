"""Awkward 0 files in the window: the tree, expressions and their links, bytes, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from awkward_files import write_events, write_hostile
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QTreeWidget
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed
from window_fixtures import Open, button, drop

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT, RAW
from refbrowser.app.panes.tree_rows import DETAIL_ROLE
from refbrowser.app.shell.format_places import FormatPlaces
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.views.hierarchy import ItemKind
from refbrowser.wings.awkward0.window.expressions_link import ExpressionsLink
from refbrowser.wings.awkward0.window.safety_dialogs import AllowDialog, SafetyDialog

Settle = Callable[[], None]


@pytest.fixture
def events(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> OpenDocument:
    document = opened(write_events(tmp_path))
    settle()
    return document


@pytest.fixture
def hostile(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> OpenDocument:
    document = opened(write_hostile(tmp_path, tmp_path / "mark"))
    settle()
    return document


def link_of(window: MainWindow) -> ExpressionsLink:
    assert window.pages.get("expressions") is not None
    return window.pages["expressions"]


def rows_below(window: MainWindow, document: OpenDocument, path: str) -> list[tuple[str, str]]:
    model = window.hierarchy.model
    index = model.find_node(document, path)
    assert index.isValid()
    children = [model.index(row, 0, index) for row in range(model.rowCount(index))]
    return [(child.data(), child.data(DETAIL_ROLE)) for child in children]


def show(window: MainWindow, document: OpenDocument, path: str, settle: Settle) -> ExpressionsLink:
    """Select an array and bring its expressions to the front."""
    assert window.hierarchy.select_node(document, path)
    window.actions_["show_expressions"].trigger()
    settle()
    return link_of(window)


def current(link: ExpressionsLink) -> str:
    graph, number = link.pane.graph(), link.pane.view.current()
    assert graph is not None
    assert number is not None
    return graph.path_words(number)


def choose(link: ExpressionsLink, words: str) -> None:
    graph = link.pane.graph()
    assert graph is not None
    number = next(each for each in range(len(graph)) if graph.path_words(each) == words)
    link.pane.view.show_number(number)


# The tree


def test_an_array_and_its_parts_are_one_row(window: MainWindow, events: OpenDocument) -> None:
    model = window.hierarchy.model
    root = model.find_identity((events.number, str(ItemKind.DOCUMENT), ""))
    assert root.data(DETAIL_ROLE) == "Awkward 0"
    names = [model.index(row, 0, root).data() for row in range(model.rowCount(root))]
    assert names == ["events", "nodes", "grid"]
    parts = rows_below(window, events, "/events")
    assert parts[:6] == [
        ("run", "80 * int64"),
        ("pt", "80 * var * float64"),
        ("mass", "80 * ?float64"),
        ("label", "80 * string"),
        ("mixed", "80 * union[int64, float64]"),
        ("before", "80 * int64"),
    ]
    assert ("node4-counts", "80 i8 zlib") in parts
    assert [name for name, _ in rows_below(window, events, "/nodes")] == ["node2-counts"]
    assert model.find_node(events, "/grid").data(DETAIL_ROLE) == "4 * 3 * float64"
    assert model.find_node(events, "/events/node2-data").isValid()
    tip = model.find_node(events, "/events/node2-data").data(Qt.ItemDataRole.ToolTipRole)
    assert "Buffer: data of node 2" in tip


def test_the_filter_finds_parts(window: MainWindow, events: OpenDocument) -> None:
    model = window.hierarchy.model
    model.set_filter("pt")
    assert model.first_match().data() == "pt"
    assert model.find_node(events, "/events/pt").isValid()
    assert not model.find_node(events, "/grid").isValid()
    model.set_filter("")


def test_an_array_that_is_found_hides_no_other_one_below_its_parts(
    window: MainWindow, events: OpenDocument
) -> None:
    pane, field = window.hierarchy, window.hierarchy.findChild(QLineEdit, "hierarchyFilter")
    array = pane.model.find_node(events, "/events")
    for text, expanded in (("event", False), ("pt", True)):
        field.setText(text)
        pane._apply_filter()
        array = pane.model.find_node(events, "/events")
        assert pane.tree.isExpanded(array) is expanded
    field.setText("")
    pane._apply_filter()


@pytest.mark.slow
def test_what_is_known_of_an_array_is_in_the_attributes(
    window: MainWindow, events: OpenDocument, settle: Settle
) -> None:
    window.hierarchy.select_node(events, "/events/pt")
    settle()
    shown = window.attributes.values()
    assert (shown["Type"], shown["Rows"]) == ("var * float64", "80")
    assert shown["Contents"] == "lists"
    assert shown["Buffers"].startswith("2, ")
    assert window.summary.text() == "/events/pt   80 * var * float64"
    window.hierarchy.select_node(events, "/events/node4-counts")
    settle()
    assert window.attributes.values()["Buffer"] == "counts of node 4"


def test_a_file_is_dropped(window: MainWindow, tmp_path: Path, qtbot: QtBot, settle: Settle) -> None:
    drop(window, QUrl.fromLocalFile(str(write_events(tmp_path))))
    assert "the Awkward 0 file events.awkd" in window.parts.drops.overlay.text()
    (document,) = window.documents.all()
    qtbot.waitUntil(lambda: document.is_open)
    settle()
    assert [array.name for array in document.part.arrays] == ["events", "nodes", "grid"]
    assert not document.can_save_in_place
    assert window.groups[FormatPlaces].is_offered("expressions")
    window.documents.close(document)
    settle()
    assert not window.groups[FormatPlaces].is_offered("expressions")


# Expressions


@pytest.mark.slow
def test_the_expressions_follow_the_tree(window: MainWindow, events: OpenDocument, settle: Settle) -> None:
    link = show(window, events, "/events", settle)
    assert link.pane.caption.text() == "events · awkward0 0.15.5 · 56 expressions · 11 blobs · Made for tests"
    assert current(link) == "events"
    assert link.pane.view.hasFocus()
    window.hierarchy.select_node(events, "/events/node4-counts")
    settle()
    assert current(link) == "events > pairs > pt > counts"
    window.hierarchy.select_node(events, "/events/mass")
    settle()
    assert current(link) == "events > pairs > mass"
    window.hierarchy.select_node(events, "/nodes")
    settle()
    assert current(link) == "nodes"
    assert unnamed(link.pane) == []


@pytest.mark.slow
def test_the_tree_follows_the_expressions(window: MainWindow, events: OpenDocument, settle: Settle) -> None:
    link = show(window, events, "/events", settle)
    link.pane.view.setFocus()
    choose(link, "events > pairs > mass > content > buffer")
    settle()
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/events/node9-data"
    assert current(link) == "events > pairs > mass > content > buffer"
    choose(link, "events > pairs > pt > counts > buffer > data")
    settle()
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/events/node4-counts"
    choose(link, "events > pairs > label")
    settle()
    item = window.hierarchy.current_item()
    assert item is not None
    assert item.place == "/events/label"
    assert link.pane.view.hasFocus()
    assert window.centre.is_in_front(window.pages["expressions"].pane)


@pytest.mark.slow
def test_a_link_is_followed_and_left_again(window: MainWindow, events: OpenDocument, settle: Settle) -> None:
    link = show(window, events, "/nodes", settle)
    choose(link, "nodes > content")
    settle()
    assert button(link.pane, "expressionFollowButton").isEnabled()
    assert [(start, stop, lit) for start, stop, lit in link.pane.view.arrows() if lit] == [
        (link.pane.view.current(), 0, True)
    ]
    assert "a cycle" in "\n".join(link.pane.facts.lines())
    QTest.keyClick(link.pane.view, Qt.Key.Key_Return)
    settle()
    assert current(link) == "nodes"
    button(link.pane, "expressionBackButton").click()
    assert current(link) == "nodes > content"
    assert not button(link.pane, "expressionBackButton").isEnabled()


@pytest.mark.slow
def test_the_bytes_of_a_blob_are_shown(window: MainWindow, events: OpenDocument, settle: Settle) -> None:
    link = show(window, events, "/events", settle)
    choose(link, "events > pairs > run > buffer")
    settle()
    lines = "\n".join(link.pane.facts.lines())
    assert "Blob  events-5.raw" in lines
    assert "640 B at byte" in lines
    button(link.pane, "expressionBytesButton").click()
    settle()
    assert window.centre.tabs.currentIndex() == RAW
    assert window.centre.raw.key() == "events/node5-data/0"
    assert len(window.centre.raw.data()) == 640
    assert window.centre.references.current_key() == "events/node5-data/0"


@pytest.mark.slow
def test_return_folds_what_has_parts(window: MainWindow, events: OpenDocument, settle: Settle) -> None:
    link = show(window, events, "/events", settle)
    index = link.pane.view.currentIndex()
    assert link.pane.view.isExpanded(index)
    QTest.keyClick(link.pane.view, Qt.Key.Key_Return)
    assert not link.pane.view.isExpanded(index)


@pytest.mark.slow
def test_in_a_narrow_pane_the_facts_stand_below(
    window: MainWindow, events: OpenDocument, settle: Settle
) -> None:
    link = show(window, events, "/events", settle)
    for width, orientation in ((900, Qt.Orientation.Horizontal), (500, Qt.Orientation.Vertical)):
        link.pane.resize(width, 500)
        assert link.pane._split.orientation() == orientation


@pytest.mark.slow
def test_a_schema_that_cannot_be_read_is_an_error_of_its_own(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    import zipfile

    path = write_events(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("broken.json", b'{"awkward0": "0.15.5", "schema": {"call": ["x", "y"], "read": "z"}')
    document = opened(path)
    settle()
    link = show(window, document, "/broken", settle)
    assert "cannot be read" in link.pane._error.heading()
    window.hierarchy.select_node(document, "/nodes")
    settle()
    assert current(link) == "nodes"


# Safety


@pytest.mark.slow
def test_a_hostile_file_opens_inert_and_says_what_it_tried(
    window: MainWindow, hostile: OpenDocument, settle: Settle, tmp_path: Path
) -> None:
    bar = link_of(window).bar
    assert bar.isVisible()
    assert bar.text().startswith("This file names 4 functions and 1 pickle that were refused")
    button(bar, "safetyReviewButton").click()
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, SafetyDialog)
    assert unnamed(dialog) == []
    button(dialog, "safetyCopyButton").click()
    text = QGuiApplication.clipboard().text()
    for name in (
        "os.system  refused",
        "posix.mkdir  refused",
        "subprocess.check_call  refused",
        "/etc/passwd",
    ):
        assert name in text
    assert "awkward0.numpy.frombuffer  allowed" in text
    dialog.reject()
    settle()
    for path in ("/bad", "/bad/evil", "/bad/sparse", "/bad/virtual", "/bad/lazy", "/bad/good"):
        window.hierarchy.select_node(hostile, path)
        settle()
    assert not (tmp_path / "mark").exists()
    button(bar, "safetyDismissButton").click()
    window.hierarchy.select_node(hostile, "/grid")
    settle()
    assert not bar.isVisible()


@pytest.mark.slow
def test_the_report_goes_to_the_expression(window: MainWindow, hostile: OpenDocument, settle: Settle) -> None:
    window.actions_["safety_report"].trigger()
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, SafetyDialog)
    (found,) = dialog.findChild(QTreeWidget, "safetyList").findItems(
        "os.system", Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive
    )
    dialog.findChild(QTreeWidget, "safetyList").setCurrentItem(found)
    assert "nothing else is ever run." in dialog.findChild(QLabel, "safetyWhy").text()
    assert not button(dialog, "safetyAllowButton").isEnabled()
    button(dialog, "safetyShowButton").click()
    settle()
    assert window.centre.is_in_front(window.pages["expressions"].pane)
    assert current(link_of(window)) == "bad > pairs > evil"


@pytest.mark.slow
def test_a_function_of_the_table_is_allowed(
    window: MainWindow, hostile: OpenDocument, settle: Settle, tmp_path: Path
) -> None:
    window.actions_["allow_function"].trigger()
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, AllowDialog)
    assert unnamed(dialog) == []
    view = dialog.findChild(QTreeWidget, "allowList")
    assert [view.topLevelItem(row).text(0) for row in range(view.topLevelItemCount())] == ["bz2.decompress"]
    assert not button(dialog, "allowUseButton").isEnabled()
    dialog.findChild(QLineEdit, "allowPatterns").setText("os.* , *")
    assert dialog.patterns() == ("os.*", "*")
    button(dialog, "allowUseButton").click()
    settle()
    assert hostile.part.allow_functions == ("os.*", "*")
    rows = {row.name: row.state for row in hostile.part.rows or ()}
    assert rows["bz2.decompress"] == "opened by the user"
    # No pattern opens what is not in the table.
    assert rows["os.system"] == "refused"
    window.hierarchy.select_node(hostile, "/bad/packed")
    settle()
    assert window.attributes.values()["Type"] == "int64"
    assert not (tmp_path / "mark").exists()


def test_a_sound_file_has_no_bar(window: MainWindow, events: OpenDocument, settle: Settle) -> None:
    assert not link_of(window).bar.isVisible()
    window.actions_["safety_report"].trigger()
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, SafetyDialog)
    assert dialog.findChild(QLabel, "safetySummary").text().startswith("Nothing was refused")
    dialog.reject()


@pytest.mark.slow
def test_with_unsaved_edits_nothing_can_be_allowed(
    window: MainWindow, hostile: OpenDocument, settle: Settle
) -> None:
    from refbrowser.references.edits.edits import RemoveReference

    assert hostile.apply(RemoveReference("grid/.zattrs"))
    settle()
    window.actions_["allow_function"].trigger()
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, AllowDialog)
    dialog.findChild(QLineEdit, "allowPatterns").setText("bz2.*")
    assert not button(dialog, "allowUseButton").isEnabled()
    assert "would be lost" in dialog.findChild(QLabel, "allowWhy").text()
    dialog.reject()


@pytest.mark.slow
def test_other_documents_have_no_expressions(
    window: MainWindow, small: Path, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    opened(small)
    settle()
    assert not window.groups[FormatPlaces].is_offered("expressions")
    for name in ("show_expressions", "safety_report", "allow_function"):
        assert not window.actions_[name].isEnabled()
    document = opened(write_events(tmp_path))
    settle()
    show(window, document, "/nodes", settle)
    window.documents.set_current(window.documents.all()[0])
    settle()
    assert window.centre.tabs.currentIndex() == PLOT
