"""Comparing and merging in the window: what differs, taking over, values, dropping, conflicts."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.controller.compared_side import SavedSide
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.cli.program import main
from refbrowser.references.merging.merge import Choice
from refbrowser.tools.compare.compared_entries import ComparedSection
from refbrowser.tools.compare.window.commands import CompareCommands
from refbrowser.tools.compare.window.compare_window import CompareWindow
from refbrowser.tools.compare.window.source_field import CompareWithDialog
from refbrowser.tools.merge.window.merge_sheet import MergeSheet
from refbrowser.views.side_lines import Sign

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
ARRAY = {
    "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i2", "compressor": None,
    "filters": None, "fill_value": -1, "order": "C",
}  # fmt: skip


def document() -> dict[str, Any]:
    """Return a document with an array of four chunks in one file, and a rule for another one."""
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    for name in ("a", "b"):
        refs[f"{name}/.zarray"] = json.dumps(ARRAY)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"})
    for number in range(4):
        refs[f"a/{number // 2}.{number % 2}"] = ["{{u}}", 12 * number, 12]
    rule = {"key": "b/{{i}}.0", "url": "{{u}}", "offset": "{{ 12 * i }}", "length": "12"}
    rule["dimensions"] = {"i": {"stop": 2}}  # type: ignore[assignment]
    return {"version": 1, "templates": {"u": "data.bin"}, "gen": [rule], "refs": refs}


def written(path: Path, value: dict[str, Any]) -> Path:
    path.write_text(json.dumps(value, indent=1))
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two documents that differ in an attribute, a member, three chunks and a rule."""
    (tmp_path / "data.bin").write_bytes(np.arange(100, dtype="<i2").tobytes())
    other = copy.deepcopy(document())
    other["refs"]["a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "degree"})
    other["refs"]["a/0.0"][1] = 100
    other["refs"]["a/0.1"][2] = 10
    del other["refs"]["a/1.1"]
    other["gen"][0]["offset"] = "{{ 12 * i + 24 }}"
    other["by"] = "me"
    return written(tmp_path / "here.json", document()), written(tmp_path / "there.json", other)


def choose(window: CompareWindow, section: ComparedSection, title: str = "") -> None:
    rows = window.list.rows
    for at in range(rows.topLevelItemCount()):
        top = rows.topLevelItem(at)
        for number in range(top.childCount()):
            rows.setCurrentItem(top.child(number))
            entry = window.list.current()
            if entry is not None and entry.section is section and title in entry.title:
                return
    raise AssertionError(f"{title} is not in {section}")


def listed(window: CompareWindow) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in window.list.shown():
        found.setdefault(entry.section.name, []).append(entry.title)
    return found


@pytest.mark.slow
def test_differences_are_shown_whole_and_taken_over_both_ways(
    window: MainWindow, opened: Open, settle: Settle, pair: tuple[Path, Path]
) -> None:
    here = opened(pair[0])
    window.actions_["compare_with"].trigger()
    dialog = window.findChild(CompareWithDialog)
    assert dialog is not None
    assert not dialog.findChild(type(button(dialog, "compareWithStart")), "compareWithStart").isEnabled()
    dialog.field.set_text(str(pair[1]))
    button(dialog, "compareWithStart").click()
    settle()
    shown = window.findChild(CompareWindow)
    assert shown is not None
    assert shown.summary().startswith("They differ: 3 differences of structure and metadata, 5 references.")
    assert listed(shown) == {
        "ATTRIBUTES": ["/a  units"],
        "METADATA": ["member by"],
        "REFERENCES": ["/a", "/b"],
        "RULES": ["gen rule 0"],
    }
    assert window.documents.current is here
    there = shown.sides[1].document

    # Whole texts beside each other, with what differs marked by sign and place.
    choose(shown, ComparedSection.RULES)
    settle()
    lines = [text.lines() for text in shown.texts.texts]
    changed = [line for line in lines[1] if line.sign == Sign.CHANGED]
    assert [line.text.strip() for line in changed] == ['"offset": "{{ 12 * i + 24 }}",']
    assert [changed[0].text[start:stop] for start, stop in changed[0].spans] == ["+ 24 "]
    assert len(lines[0]) == len(lines[1])

    # The list is found in by words.
    shown.list.filter.setText("units")
    settle()
    assert listed(shown) == {"ATTRIBUTES": ["/a  units"]}
    shown.list.filter.clear()
    settle()

    # To the left, and undone there.
    choose(shown, ComparedSection.ATTRIBUTES)
    assert shown.taking.reasons() == ("", "")
    button(shown, "takeLeftButton").click()
    settle()
    assert here.history is not None
    assert here.history.entries == ["Take over /a  units of there.json"]
    assert here.hierarchy is not None
    assert here.hierarchy.find("/a").attributes["units"] == "degree"  # type: ignore[union-attr]
    assert "ATTRIBUTES" not in listed(shown)
    here.undo()
    settle()
    assert "ATTRIBUTES" in listed(shown)

    # Everything to the right: nothing differs then, and the file is as it was.
    before = pair[1].read_bytes()
    choose(shown, ComparedSection.METADATA)
    shown.taking.scope.setCurrentIndex(shown.taking.scope.count() - 1)
    assert shown.taking.scope.currentText() == "everything (5)"
    button(shown, "takeRightButton").click()
    settle()
    assert there.history is not None
    assert len(there.history.entries) == 1
    assert shown.summary().startswith("Equal: the same ")
    assert listed(shown) == {}
    assert pair[1].read_bytes() == before
    shown.close()


@pytest.mark.slow
def test_chunks_are_a_grid_and_one_of_them_is_taken_over(
    window: MainWindow, opened: Open, settle: Settle, pair: tuple[Path, Path]
) -> None:
    here = opened(pair[0])
    shown = window.groups[CompareCommands].compare(here, str(pair[1]))
    settle()
    choose(shown, ComparedSection.REFERENCES, "/a")
    settle()
    coloured = shown.map.grid.view.coloured()
    assert coloured is not None
    assert {each.label: each.count for each in coloured.legend if each.count} == {
        "same": 1, "moved": 1, "changed": 1, "only here": 1,
    }  # fmt: skip
    assert shown.map.grid.legend.texts() == ["same  1", "moved  1", "changed  1", "only here  1"]
    # The first that differs is shown; arrows go to others.
    assert shown.map.coords == (0, 0)
    assert [text.lines()[0].text for text in shown.map.pair.texts] == [
        '["data.bin", 0, 12]', '["data.bin", 100, 12]',
    ]  # fmt: skip
    QTest.keyClick(shown.map.grid.view, Qt.Key.Key_Right)
    QTest.keyClick(shown.map.grid.view, Qt.Key.Key_Down)
    settle()
    assert shown.map.coords == (1, 1)
    assert shown.map.pair.texts[1].lines()[0].text == "(not there)"
    assert "(not there)" in shown.map.grid.view.accessibleDescription()
    assert shown.taking.scope.currentText() == "chunk 1.1"
    button(shown, "takeLeftButton").click()
    settle()
    assert here.document is not None
    assert here.document.refs.find_slot("a/1.1") is None
    # The next one that differs is looked at; what was taken over is taken back from here, too.
    assert shown.map.coords == (0, 0)
    assert [text.lines()[0].sign for text in shown.map.pair.texts] == [Sign.CHANGED] * 2
    assert shown.taking.scope.currentText() == "chunk 0.0"
    button(shown, "compareUndoButton").click()
    settle()
    assert here.document.refs.find_slot("a/1.1") is not None
    assert not button(shown, "compareUndoButton").isEnabled()
    # Those of a rule change with the rule.
    choose(shown, ComparedSection.REFERENCES, "/b")
    settle()
    assert "gen rule 0 gives them" in shown.taking.reasons()[0]
    assert not button(shown, "takeLeftButton").isEnabled()
    shown.close()


@pytest.mark.slow
def test_values_are_compared_and_lead_into_the_plot(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, pair: tuple[Path, Path]
) -> None:
    window.prepare_plot()
    here = opened(pair[0])
    shown = window.groups[CompareCommands].compare(here, str(pair[1]))
    settle()
    button(shown, "compareAllButton").click()
    settle()
    choose(shown, ComparedSection.VALUES, "/a")
    row = shown.values.rows.topLevelItem(0)
    assert row is not None
    # Numbers from 0 on here, from 50 on there; of the chunk that is not there the fill value.
    assert [row.text(column) for column in range(1, 5)] == ["50", "[0, 0]", "0", "50"]
    # The grid says how much the chunks differ; a cell leads to its line.
    settle()
    coloured, values = shown.values.grid.view.coloured(), shown.found.comparison.arrays[0].values
    assert coloured is not None
    assert sum(entry.count for entry in coloured.legend if entry.style == "scale") == values.chunks_different
    shown.values.grid.pointed.emit(values.chunks[-1].coords)
    assert shown.values.rows.currentItem().text(0).startswith("chunk ")
    shown.values.rows.setCurrentItem(row)
    button(shown, "comparedShowButton").click()
    settle()
    plot = window.centre.plot
    assert plot is not None
    assert plot.array() is not None
    assert (plot.array().path, plot.element()) == ("/a", (0, 0))  # type: ignore[union-attr]
    # What was read is of the state before the next edit.
    choose(shown, ComparedSection.ATTRIBUTES)
    button(shown, "takeLeftButton").click()
    settle()
    assert "VALUES" not in listed(shown)
    shown.close()


@pytest.mark.slow
def test_the_saved_state_is_compared_and_stays(
    window: MainWindow, opened: Open, settle: Settle, pair: tuple[Path, Path]
) -> None:
    from refbrowser.references.edits.edits import SetTemplate

    here = opened(pair[0])
    assert here.apply(SetTemplate("u", "other.bin"))
    settle()
    shown = window.groups[CompareCommands].compare(here, SavedSide(here))
    settle()
    assert listed(shown)["TEMPLATES"] == ["template u"]
    choose(shown, ComparedSection.TEMPLATES)
    assert shown.taking.reasons() == ("", "Not to the right: the saved state stays as it is")
    button(shown, "takeLeftButton").click()
    settle()
    assert shown.summary().startswith("Equal: the same ")
    shown.close()


@pytest.mark.slow
def test_dropping_with_shift_compares_and_never_moves(
    window: MainWindow, opened: Open, settle: Settle, pair: tuple[Path, Path]
) -> None:
    here = opened(pair[0])
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(pair[1]))])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    shift, move = Qt.KeyboardModifier.ShiftModifier, Qt.DropAction.MoveAction
    both = move | Qt.DropAction.CopyAction
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(300, 300), both, data, left, none))
    assert "Hold Shift to compare it with here.json" in window.parts.drops.overlay.text()
    moved = QDragMoveEvent(QPoint(310, 300), both, data, left, shift)
    QApplication.sendEvent(window, moved)
    assert window.parts.drops.overlay.text().startswith("Compare here.json with there.json")
    # With Shift the desktop proposes to move the file, which would delete it.
    assert moved.dropAction() is Qt.DropAction.CopyAction
    dropped = QDropEvent(QPointF(300, 300), both, data, left, shift)
    QApplication.sendEvent(window, dropped)
    assert dropped.dropAction() is Qt.DropAction.CopyAction
    settle()
    shown = window.findChild(CompareWindow)
    assert shown is not None
    assert [side.name for side in shown.sides] == ["here.json", "there.json"]
    assert listed(shown)["RULES"] == ["gen rule 0"]
    assert window.documents.current is here
    shown.close()


@pytest.mark.slow
def test_a_list_of_conflicts_opens_as_what_is_to_be_settled(
    window: MainWindow, settle: Settle, qtbot: QtBot, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    base = document()
    sides = [copy.deepcopy(base) for _ in range(3)]
    for side, units in zip(sides, ("m", "cm", "km"), strict=True):
        side["refs"]["a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": units})
        side["templates"]["u"] = f"{units}.bin"
    paths = [
        str(written(tmp_path / f"{name}.json", side))
        for name, side in zip(("base", "ours", "theirs"), sides, strict=True)
    ]
    (tmp_path / "lists").mkdir()
    listed, elsewhere = tmp_path / "at odds", tmp_path / "lists" / "at odds"
    for target in (listed, elsewhere):
        assert main(["merge", *paths, "-o", paths[1], "--conflicts", str(target)]) == 2
    # The base and theirs are gone, as those that git gives are.
    for path in (paths[0], paths[2]):
        Path(path).unlink()
    # A list leads to no document that lies elsewhere, unless it is open.
    window.open_path(str(elsewhere))
    qtbot.waitUntil(lambda: "is in another place" in window.centre.error_bar.text())
    assert window.findChild(MergeSheet) is None
    assert window.documents.all() == []
    window.open_path(str(listed))
    qtbot.waitUntil(lambda: window.findChild(MergeSheet) is not None)
    sheet = window.findChild(MergeSheet)
    assert sheet is not None
    qtbot.waitUntil(lambda: sheet.merged is not None)
    settle()
    (document_,) = window.documents.all()
    assert document_.path == paths[1]
    assert sheet.summary() == "2 conflicts to be settled."
    assert [text.lines()[0].text for text in sheet.texts.texts] == ["m.bin", "cm.bin", "km.bin"]
    button(sheet, "mergeTakeTheirs").click()
    button(sheet, "mergeStartButton").click()
    qtbot.waitUntil(lambda: window.findChild(MergeSheet) is None)
    settle()
    assert document_.history is not None
    assert document_.history.entries == ["Settle conflicts of at odds"]
    assert json.loads(document_.document.to_bytes())["templates"] == {"u": "km.bin"}  # type: ignore[union-attr]
    # Again, the document is open: what is settled is listed no more.
    window.open_path(str(elsewhere))
    qtbot.waitUntil(lambda: window.findChild(MergeSheet) is not None)
    sheet = window.findChild(MergeSheet)
    assert sheet is not None
    qtbot.waitUntil(lambda: sheet.merged is not None)
    assert sheet.summary() == "1 conflict to be settled. 1 of 2 is settled already."
    sheet.close()


@pytest.mark.slow
def test_conflicts_are_settled_and_the_merge_is_one_step(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    base = document()
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    for side, units, url in ((ours, "m", "ours.bin"), (theirs, "cm", "theirs.bin")):
        side["refs"]["a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": units})
        side["templates"]["u"] = url
    theirs["refs"]["b/1.1"] = ["new.bin", 0, 12]
    del theirs["refs"]["a/0.0"]
    ours["refs"]["a/0.0"][1] = 7
    paths = [
        written(tmp_path / f"{name}.json", value)
        for name, value in (("base", base), ("ours", ours), ("theirs", theirs))
    ]
    document_ = opened(paths[1])
    window.actions_["merge"].trigger()
    sheet = window.findChild(MergeSheet)
    assert sheet is not None
    assert not button(sheet, "mergeStartButton").isEnabled()
    sheet.sides.base.set_text(str(paths[0]))
    sheet.sides.theirs.set_text(str(paths[2]))
    qtbot.waitUntil(lambda: sheet.merged is not None)
    settle()
    assert sheet.summary() == "1 edit of this document, 3 conflicts to be settled."
    titles = [sheet.rows.topLevelItem(at).text(0) for at in range(3)]
    assert titles == ["template u", "a/.zattrs, units", "a/0.0"]
    assert [text.lines()[0].text for text in sheet.texts.texts] == ["data.bin", "ours.bin", "theirs.bin"]
    QTest.keyClick(sheet.rows, Qt.Key.Key_3)
    QTest.keyClick(sheet.rows, Qt.Key.Key_1)
    settle()
    assert sheet.texts.texts[2].lines()[0].text == "(not there)"
    assert sheet.choices() == [Choice.THEIRS, Choice.BASE, Choice.OURS]
    assert sheet.summary() == "1 edit of this document, 1 conflict to be settled, 2 conflicts settled."
    button(sheet, "mergeTakeAllTheirs").click()
    assert sheet.choices() == [Choice.THEIRS] * 3
    assert sheet.summary() == "1 edit of this document, 3 conflicts settled."
    sheet.rows.setCurrentItem(sheet.rows.topLevelItem(1))
    button(sheet, "mergeTakeBase").click()
    button(sheet, "mergeStartButton").click()
    qtbot.waitUntil(lambda: window.findChild(MergeSheet) is None)
    settle()
    assert document_.history is not None
    assert document_.history.entries == ["Merge theirs.json"]
    made = json.loads(document_.document.to_bytes())  # type: ignore[union-attr]
    assert made["templates"] == {"u": "theirs.bin"}
    assert json.loads(made["refs"]["a/.zattrs"])["units"] == "K"
    assert "a/0.0" not in made["refs"]
    assert made["refs"]["b/1.1"] == ["new.bin", 0, 12]
    assert paths[1].read_text() == json.dumps(ours, indent=1)
    document_.undo()
    settle()
    assert json.loads(document_.document.to_bytes()) == ours  # type: ignore[union-attr]
