"""Sessions in the window: saved, opened by a colleague, asked about, with documents that are gone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from small_documents import small_document
from window_fixtures import Open, drop

import refbrowser
from refbrowser.app.commands.sessions import SessionCommands
from refbrowser.app.controller.work import Opened, state_of
from refbrowser.app.dialogs.session_bar import SessionBar
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.window_states import restored_window
from refbrowser.app.window_states.told_window import window_state
from refbrowser.references.document.history import History
from refbrowser.tools.read.public import compute
from refbrowser.views.arrangement.arrangement import Side
from refbrowser.views.window_states.session_file import SessionFile, session_text
from refbrowser.views.window_states.window_state import DocumentState, WindowState

Settle = Callable[[], None]


@pytest.fixture
def group(window: MainWindow) -> SessionCommands:
    return window.groups[SessionCommands]


@pytest.fixture
def two_views(window: MainWindow, small: Path, opened: Open, settle: Settle) -> Path:
    """Two documents; the array of each is seen beside that of the other, zoomed and coloured. The folder."""
    other = small.with_name("second.json")
    other.write_text(json.dumps(small_document(), indent=1))
    first, second = opened(small), opened(other)
    settle()
    window.hierarchy.select_node(first, "/temp")
    settle()
    views = window.centre.views
    assert views is not None
    views.active.look().set_map("Magma")
    views.active.canvas.show_range((0.5, 3.5), (0.0, 2.0))
    pane = views.open(Side.RIGHT)
    window.hierarchy.select_node(second, "/temp")
    settle()
    pane.look().set_map("Viridis")
    return small.parent


def shown(window: MainWindow) -> list[tuple[str, str, str, object]]:
    """Return document, array, colour map and visible part of each view."""
    states = [plot.state() for plot in window.centre.plots()]
    return [(Path(each.path).name, each.node, each.colour_map, each.view) for each in states if each]


def close_all(window: MainWindow, settle: Settle) -> None:
    for document in window.documents.all():
        window.documents.close(document)
    settle()


@pytest.mark.slow
def test_a_colleague_sees_the_same(
    window: MainWindow, group: SessionCommands, two_views: Path, settle: Settle, tmp_path: Path
) -> None:
    before, state = shown(window), window_state(window)
    window.docks["hierarchyDock"].hide()
    path = two_views / "study.refbrowser"
    group.write(str(path))
    settle()
    assert str(two_views) not in path.read_text()
    close_all(window, settle)
    window.docks["hierarchyDock"].show()
    theirs = tmp_path / "theirs"
    shutil.copytree(two_views, theirs, ignore=lambda _folder, names: {"theirs"} & set(names))
    group.open_from(str(theirs / path.name))
    settle()
    assert [document.path for document in window.documents.all()] == [
        str(theirs / "small.json"),
        str(theirs / "second.json"),
    ]
    assert shown(window) == before
    assert len(before) == 2
    restored = group._restored
    assert restored is not None
    assert len(restored._documents) == 2
    assert not restored._shown
    after = window_state(window)
    # How many pixels each has depends on the docks, one of which is hidden since.
    for each in (after, state):
        assert each.arrangement["root"].pop("shares")  # type: ignore[index]
    assert after.arrangement == state.arrangement
    assert after.current == state.current
    assert window.docks["hierarchyDock"].isHidden()
    window.docks["hierarchyDock"].show()
    close_all(window, settle)
    # What is closed may be large.
    assert not restored._documents


@pytest.mark.slow
def test_a_dropped_session_takes_the_place_of_what_is_open(
    window: MainWindow, small: Path, opened: Open, settle: Settle, group: SessionCommands
) -> None:
    opened(small)
    settle()
    path = small.with_name("a.refbrowser")
    group.write(str(path))
    settle()
    other = small.with_name("other.json")
    other.write_text(small.read_text())
    close_all(window, settle)
    opened(other)
    settle()
    drop(window, QUrl.fromLocalFile(str(path)))
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]
    entries = [(Path(entry.path).name, entry.more) for entry in window.settings.recent_entries()]
    assert entries[0] == ("a.refbrowser", "  (session)")
    close_all(window, settle)
    window.open_recent(str(path))
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]


def foreign(folder: Path, *paths: str) -> Path:
    """Return the file of a session that somebody else wrote."""
    path = folder / "foreign.refbrowser"
    path.write_bytes(session_text(WindowState(tuple(map(DocumentState, paths)), current=0), str(folder))[0])
    return path


def question(window: MainWindow) -> QMessageBox | None:
    return window.findChild(QMessageBox, "sessionQuestion")


@pytest.mark.slow
def test_what_is_elsewhere_is_asked_about_once(
    window: MainWindow, group: SessionCommands, small: Path, tmp_path: Path, settle: Settle, qtbot: QtBot
) -> None:
    folder = tmp_path / "mail"
    folder.mkdir()
    path = foreign(folder, str(small), "http://127.0.0.1:9/x.json")
    group.open_from(str(path))
    settle()
    box = question(window)
    assert box is not None
    assert str(small.parent) in box.informativeText()
    assert "http://127.0.0.1:9" in box.informativeText()
    assert "private address" in box.informativeText()
    assert window.documents.all() == []
    box.reject()
    qtbot.waitUntil(lambda: question(window) is None)
    assert window.documents.all() == []
    path = foreign(folder, str(small))
    group.open_from(str(path))
    settle()
    box = question(window)
    assert box is not None
    yes = box.findChild(QPushButton, "sessionQuestionYes")
    assert yes is not None
    qtbot.mouseClick(yes, Qt.MouseButton.LeftButton)
    settle()
    assert [document.path for document in window.documents.all()] == [str(small)]
    close_all(window, settle)
    # The same text is not asked about again.
    group.open_from(str(path))
    settle()
    assert len(window.documents.all()) == 1


def test_a_session_brings_no_trust(
    window: MainWindow, group: SessionCommands, tmp_path: Path, settle: Settle
) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "data.bin").write_bytes(bytes(56))
    folder = tmp_path / "mine"
    folder.mkdir()
    document = folder / "doc.json"
    document.write_text(json.dumps(small_document(str(outside / "data.bin"))))
    path = foreign(folder, str(document))
    said = json.loads(path.read_text())
    said |= {"allow": [str(outside)], "permissions": {"doc.json": "always"}}
    said["documents"][0] |= {"allow": [str(outside)], "options": {"allow": "x", "storage_options": "y"}}
    path.write_text(json.dumps(said))
    group.open_from(str(path))
    settle()
    (opened,) = window.documents.all()
    assert opened.wants
    assert opened.options == {}
    assert opened.access is not None
    assert str(outside) not in {each.folder for each in opened.access.allowed}


@pytest.mark.slow
def test_a_document_that_is_gone_costs_its_view_alone_and_is_found(
    window: MainWindow, group: SessionCommands, two_views: Path, settle: Settle
) -> None:
    before = shown(window)
    path = two_views / "study.refbrowser"
    group.write(str(path))
    settle()
    close_all(window, settle)
    moved = two_views / "moved"
    moved.mkdir()
    (two_views / "second.json").rename(moved / "second.json")
    shutil.copy(two_views / "data.bin", moved)
    group.open_from(str(path))
    settle()
    assert [each for each in shown(window) if each[0] == "small.json"] == before[:1]
    bar = window.centre.findChild(SessionBar)
    assert bar is not None
    assert bar.isVisibleTo(window)
    assert "second.json" in bar._text.text()
    group._find(bar._missing)
    dialog = window.findChild(object, "findDocumentDialog")
    assert dialog is not None
    dialog.fileSelected.emit(str(moved / "second.json"))
    dialog.close()
    settle()
    assert shown(window) == before
    assert not bar.isVisibleTo(window)


@pytest.mark.parametrize("text", ["", "[1", '{"refs": {}}', '{"refbrowser": "session", "version": 9}'])
def test_what_is_no_session_is_told_and_nothing_is_closed(
    window: MainWindow, group: SessionCommands, small: Path, opened: Open, settle: Settle, text: str
) -> None:
    opened(small)
    path = small.with_name("bad.refbrowser")
    path.write_text(text)
    group.open_from(str(path))
    settle()
    assert "bad.refbrowser was not opened" in window.centre.error_bar.text()
    assert len(window.documents.all()) == 1


@pytest.mark.slow
def test_sets_and_computed_arrays_come_back(
    window: MainWindow, group: SessionCommands, small: Path, opened: Open, settle: Settle
) -> None:
    from refbrowser.tools.read.window.compute_sheet import ComputeSheet

    document = opened(small)
    settle()
    many = [str(small.with_name(f"month_{number}.json")) for number in range(7)]
    window.documents.add_set(many)
    sheet = ComputeSheet(document, window.documents, window)
    sheet.insert("", "/temp")
    sheet._field.setText("/temp * 2")
    settle()
    sheet.compute()
    settle()
    assert len(window.documents.all()) == 2
    path = small.with_name("study.refbrowser")
    group.write(str(path))
    settle()
    window.documents.remove_set(window.documents.sets[0])
    close_all(window, settle)
    group.open_from(str(path))
    settle()
    assert [files.paths for files in window.documents.sets] == [tuple(many)]
    made = window.documents.all()[-1]
    assert made.is_new
    assert made.hierarchy is not None
    assert made.hierarchy.find("/computed") is not None


@pytest.mark.slow
def test_a_computed_array_takes_no_other_view(
    window: MainWindow, group: SessionCommands, small: Path, opened: Open, settle: Settle
) -> None:
    document = opened(small)
    settle()
    assert document.dataset is not None
    array = compute(document.dataset, "/temp * 2", long_name="Twice as warm")
    made_now = array.dataset
    opened_now = Opened(History(made_now.document), state_of(made_now, None), None)
    window.documents.add_made(str(small.with_name("computed")), opened_now)
    settle()
    window.hierarchy.select_node(window.documents.all()[-1], "/computed")
    settle()
    views = window.centre.views
    assert views is not None
    views.open(Side.RIGHT)
    window.hierarchy.select_node(document, "/temp")
    settle()
    before = [each[1] for each in shown(window)]
    assert before == ["/computed", "/temp"]
    made = window.documents.all()[-1].hierarchy
    assert made is not None
    names = made.find("/computed").attributes  # type: ignore[union-attr]
    path = small.with_name("study.refbrowser")
    group.write(str(path))
    settle()
    close_all(window, settle)
    group.open_from(str(path))
    settle()
    assert [each[1] for each in shown(window)] == before
    made = window.documents.all()[-1].hierarchy
    assert made is not None
    assert made.find("/computed").attributes == names  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_statistic_over_a_slider_and_what_is_around_a_plot_come_back(
    window: MainWindow,
    group: SessionCommands,
    tmp_path: Path,
    opened: Open,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = opened(tmp_path / refbrowser.sample(str(tmp_path / "sample.json")))
    settle()
    window.hierarchy.expand_groups(document, ["/ocean"])
    window.hierarchy.select_node(document, "/ocean/sst")
    settle()
    window.resize(733, 611)
    plot = window.centre.plot
    assert plot is not None
    plot.sliders.reductionChosen.emit("time", "mean", "2024-03..2024-05")
    settle()
    plot.tools.toggle_profile()
    made = plot.source()
    assert made is not None
    title = made.hierarchy.find(plot.array().path).attributes["long_name"]  # type: ignore[union-attr]
    assert "mean over time" in title
    path = tmp_path / "study.refbrowser"
    group.write(str(path))
    settle()
    said = json.loads(path.read_text())
    assert [each.get("expanded") for each in said["documents"]] == [["/ocean"], None]
    # A colour table that only the other one had.
    said["plots"][0]["colour_map"] = "Our own"
    path.write_text(json.dumps(said))
    close_all(window, settle)
    window.resize(600, 500)
    told: list[str] = []
    monkeypatch.setattr(group._workspace, "say", told.append)
    group.open_from(str(path))
    settle()
    assert (window.width(), window.height()) == (733, 611)
    plot = window.centre.plot
    assert plot is not None
    array = plot.array()
    assert array is not None
    assert array.attributes["long_name"] == title
    assert plot.tools.is_profile
    assert window.hierarchy.expanded_groups(window.documents.all()[0]) == ("/ocean",)
    row = plot.sliders.findChild(QLineEdit, "part_time")
    assert row is not None
    assert row.text() == "2024-03..2024-05"
    assert any("Our own" in text for text in told)
    # One place again: that of the array itself.
    plot.sliders.reductionChosen.emit("time", "", "")
    settle()
    assert plot.array().path == "/ocean/sst"  # type: ignore[union-attr]


def test_many_documents_are_opened_in_turns(
    window: MainWindow, group: SessionCommands, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restored_window, "TOGETHER", 2)
    state = WindowState(documents=tuple(DocumentState(f"/nowhere/{name}.json") for name in "abcde"))
    group._begin(SessionFile(state))
    assert [document.title for document in window.documents.all()] == ["a.json", "b.json"]
    group._begin(SessionFile(WindowState(documents=state.documents[:1])))
    settle()
    assert [document.title for document in window.documents.all()] == ["a.json"]
    group._begin(SessionFile(state))
    settle()
    assert len(window.documents.all()) == 5
    # Each tells its own groups, not all groups of all.
    asked: list[object] = []
    rows = window.hierarchy.model.with_children
    monkeypatch.setattr(window.hierarchy.model, "with_children", lambda row: asked.append(row) or rows(row))
    window_state(window)
    assert len(asked) == 5
    close_all(window, settle)
