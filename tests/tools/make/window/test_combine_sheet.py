"""The sheets that combine and append files: what differs is decided first, then a document, then a step."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
)
from pytestqt.qtbot import QtBot
from window_fixtures import button, drop, drop_on

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.history_pane import pending_words
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.combining import combine as combining
from refbrowser.exporting.combining.combination import Remedy
from refbrowser.exporting.combining.scan_sources import ScanTask
from refbrowser.io.files.permissions import state_folder
from refbrowser.references.document.fold import FoldReferences
from refbrowser.tools.append.window.append_sheet import AppendSheet
from refbrowser.tools.make import combining as looking
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.tools.make.window.combine_differences import AxisStrip
from refbrowser.tools.make.window.combine_sheet import CombineSheet
from refbrowser.tools.make.window.commands import MakeCommands
from refbrowser.tools.make.window.custom_remedy_dialog import CustomRemedyDialog
from refbrowser.tools.make.window.files_sheet import FilesSheet
from refbrowser.tools.make.window.make_sheet import MakeSheet

Settle = Callable[[], None]
ROWS = 3


def month(folder: Path, number: int, scale: float = 0.01, start: int | None = None) -> Path:
    """Write a file of one month: a packed variable, three times, one chunk a time."""
    path = folder / f"sst_{number:02d}.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        time = file.createVariable("time", "i4", ("time",))
        time.units = "days since 2001-01-01"
        begin = number * ROWS if start is None else start
        time[:] = np.arange(ROWS) + begin
        file.createVariable("x", "f4", ("x",))[:] = np.arange(4)
        sst = file.createVariable("sst", "i2", ("time", "x"))
        sst.set_auto_maskandscale(False)
        sst.scale_factor = scale
        sst[:] = np.arange(ROWS * 4).reshape(ROWS, 4) + 100 * number
    return path


def lines(view: QTreeWidget | None) -> list[list[str]]:
    """Return the texts of all rows, those below others with an indent."""
    assert view is not None
    found: list[list[str]] = []

    def texts(row: QTreeWidgetItem, indent: str) -> None:
        found.append([indent + row.text(0), *(row.text(each) for each in range(1, row.columnCount()))])
        for number in range(row.childCount()):
            texts(row.child(number), indent + "  ")

    for number in range(view.topLevelItemCount()):
        row = view.topLevelItem(number)
        assert row is not None
        texts(row, "")
    return found


def said(sheet: FilesSheet) -> str:
    label = sheet.findChild(QLabel, "combineSummary")
    assert label is not None
    return label.text().replace("\N{NARROW NO-BREAK SPACE}", " ")


def remedy(sheet: FilesSheet, text: str) -> QPushButton:
    """Return a button of the list as it is shown now."""
    buttons = sheet.differences.findChildren(QPushButton, "combineRemedy")
    return next(each for each in buttons if each.text() == text and each.isVisible())


def other(sheet: FilesSheet, text: str) -> None:
    """Choose what is in the menu beside the first button."""
    (more,) = sheet.differences.findChildren(QPushButton, "combineOtherRemedies")
    menu = more.menu()
    assert menu is not None
    next(each for each in menu.actions() if each.text() == text).trigger()


def shown_sheet(window: MainWindow, settle: Settle, qtbot: QtBot, paths: list[Path]) -> CombineSheet:
    """Return the sheet with files whose differences are to be settled."""
    drop(window, *(QUrl.fromLocalFile(str(path)) for path in paths))
    sheet = window.findChild(CombineSheet)
    assert sheet is not None
    settle()
    qtbot.waitUntil(lambda: "to settle" in said(sheet) and bool(lines(sheet.differences)), timeout=20_000)
    return sheet


@pytest.mark.slow
def test_odd_chunks_are_written_again_with_one_click(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, each, 0.02 if each == 2 else 0.01) for each in range(4)]
    sheet = shown_sheet(window, settle, qtbot, paths)
    start = button(sheet, "combineStartButton")
    remedy(sheet, "Re-encode the odd chunks").click()
    qtbot.waitUntil(start.isEnabled)
    assert "of chunks are written again" in said(sheet)
    assert any("3 of 12 chunks become own chunks" in "".join(row) for row in lines(sheet.differences))
    start.click()
    qtbot.waitUntil(lambda: window.findChild(CombineSheet) is None)
    settle()
    document = window.documents.all()[-1]
    assert document.document is not None
    refs = json.loads(document.document.to_bytes())["refs"]
    held = [day for day in range(12) if not isinstance(refs[f"sst/{day}.0"], list)]
    assert held == [6, 7, 8]


@pytest.mark.slow
def test_eras_become_groups_with_one_choice(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, each, 0.02 if each == 2 else 0.01) for each in range(4)]
    sheet = shown_sheet(window, settle, qtbot, paths)
    start = button(sheet, "combineStartButton")
    other(sheet, "Split into eras, a group each")
    qtbot.waitUntil(start.isEnabled)
    assert said(sheet).startswith("4 files in 3 groups, one for each era: era1_2001-01-01_2001-01-06,")
    start.click()
    qtbot.waitUntil(lambda: window.findChild(CombineSheet) is None)
    settle()
    document = window.documents.all()[-1]
    assert document.document is not None
    refs = json.loads(document.document.to_bytes())["refs"]
    assert sum(key.endswith("/sst/.zarray") for key in refs) == 3


@pytest.mark.slow
def test_twelve_files_with_an_odd_one_become_one_array_and_take_the_next_month(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, each, 0.1 if each == 7 else 0.01) for each in range(12)]
    drop(window, *(QUrl.fromLocalFile(str(path)) for path in paths))
    sheet = window.findChild(CombineSheet)
    assert sheet is not None
    # The sheet that makes references leads there too.
    window.groups[MakeCommands].make_of([str(path) for path in paths])
    make = window.findChild(MakeSheet)
    assert make is not None
    # Also of files of which nothing is known yet.
    qtbot.waitUntil(lambda: len(make.files.sources()) == 12)
    settle()
    assert not (tmp_path / "sst_combined.json").exists()
    button(make, "makeCombineButton").click()
    assert window.findChild(CombineSheet) is sheet
    start = button(sheet, "combineStartButton")
    settle()
    qtbot.waitUntil(lambda: "to settle" in said(sheet) and bool(lines(sheet.differences)), timeout=20_000)

    # Told before anything is written: which and why.
    assert said(sheet).startswith("12 files: 1 difference to settle.")
    assert not start.isEnabled()
    assert sheet.findChild(QComboBox, "combineAlong").currentText() == "time"  # type: ignore[union-attr]
    told = lines(sheet.differences)
    assert told[0][0] == "To be decided (1)"
    assert told[1][:4] == ["  /sst", "scale_factor", "0.01 in 11", "0.1 in 1: sst_07.nc"]
    files = lines(sheet.files)
    assert [row[0] for row in files] == [path.name for path in paths]
    assert files[7][1:] == ["2001-01-22", "2001-01-24", "3", "other scale_factor of /sst"]
    assert files[6][4] == ""
    strip = sheet.findChild(AxisStrip)
    assert strip is not None
    assert "gaps: 0, in trouble: 1" in strip.accessibleName()

    # Left out with one click; what is missing then is named.
    other(sheet, "Leave sst_07.nc out")
    qtbot.waitUntil(start.isEnabled)
    assert said(sheet).startswith("11 files as one: time 33; 3 arrays.")
    told = lines(sheet.differences)
    assert (told[0][0], told[1][3]) == ("Decided (1)", "Leave sst_07.nc out")
    assert any("3 values are missing between sst_06.nc and sst_08.nc" in "".join(row) for row in told)
    assert lines(sheet.files)[-1] == ["sst_07.nc", "", "", "", "left out"]
    assert "gaps: 1, in trouble: 0" in strip.accessibleName()
    # Taken back, and decided again.
    remedy(sheet, "Take back").click()
    qtbot.waitUntil(lambda: "to settle" in said(sheet))
    assert not start.isEnabled()
    other(sheet, "Leave sst_07.nc out")
    qtbot.waitUntil(start.isEnabled)

    # The keyboard goes on with what is next.
    assert sheet.focusWidget() is start
    start.click()
    qtbot.waitUntil(lambda: window.findChild(CombineSheet) is None)
    settle()
    document = window.documents.all()[-1]
    assert document.path == str(tmp_path / "sst_combined.json")
    assert_values(document, [each for each in range(12) if each != 7])
    assert document.document is not None
    before = document.document.to_bytes()
    # As `make` writes it: no templates, and files by their names in the folder of the document.
    assert document.document.templates.templates == {}
    urls = {value[0] for value in json.loads(before)["refs"].values() if isinstance(value, list)}
    assert urls == {path.name for path in paths if path.name != "sst_07.nc"}

    # It is in no file: marked, and Save asks for its name.
    assert not Path(document.path).exists()
    assert (document.is_new, document.is_dirty, document.can_undo) == (True, True, False)
    assert window.isWindowModified()
    assert "not saved yet" in pending_words(document)
    for name in ("revert", "reload", "compare"):
        assert not window.actions_[name].isEnabled(), name
    window.actions_["close_document"].trigger()
    question = window.findChild(QMessageBox, "unsavedQuestion")
    assert question is not None
    assert question.text() == "Save sst_combined.json?"
    assert question.informativeText().startswith("The whole document, which was never saved, would be lost")
    button(question, "unsavedCancelButton").click()
    assert document in window.documents.all()

    # Folded and saved, the next month is one step, and undone as one.
    assert document.apply(FoldReferences())
    settle()
    assert len(document.document.rules) > 0
    window.actions_["save"].trigger()
    dialog = window.findChild(QFileDialog, "saveAsDialog")
    assert dialog is not None
    assert dialog.selectedFiles() == [document.path]
    dialog.fileSelected.emit(document.path)
    dialog.close()
    settle()
    assert (document.is_new, document.is_dirty) == (False, False)
    folded = Path(document.path).read_bytes()
    assert len(folded) < len(before)
    assert window.actions_["reload"].isEnabled()
    window.actions_["append_files"].trigger()
    more = window.findChild(AppendSheet)
    assert more is not None
    append = button(more, "combineStartButton")
    # What lies where the document does is told; the document itself is never left out.
    again = str(paths[11])
    more.add([again])
    qtbot.waitUntil(lambda: "to settle" in said(more), timeout=20_000)
    assert remedy(more, "Leave sst_11.nc out").isEnabled()
    others = more.findChild(QPushButton, "combineOtherRemedies").menu().actions()  # type: ignore[union-attr]
    assert not any(document.name in each.text() for each in others)
    assert not append.isEnabled()
    more.remove_files([again])
    more.add([str(month(tmp_path, 12))])
    qtbot.waitUntil(append.isEnabled, timeout=20_000)
    assert said(more) == "1 file to be added: time grows from 33 to 36."
    assert lines(more.files)[-1][:2] == ["sst_12.nc", "2001-02-06"]
    append.click()
    qtbot.waitUntil(lambda: window.findChild(AppendSheet) is None)
    settle()
    assert document.history is not None
    assert document.history.entries[-1] == "Append 1 file along time"
    assert_values(document, [*(each for each in range(13) if each != 7)])
    document.undo()
    settle()
    assert document.document is not None
    assert document.document.to_bytes() == folded == Path(document.path).read_bytes()


def test_files_beyond_those_that_are_listed_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(month(tmp_path, each)) for each in range(3)]
    monkeypatch.setattr(looking, "LISTED", 2)
    order = CombineOrder(tuple(paths), remedies=(Remedy("leave_out", paths[1]),))
    found = looking.look(order, None, JobControl())
    assert (len(found.rows), found.files, found.remaining) == (2, 3, 2)


@pytest.mark.slow
def test_what_cannot_be_combined_or_is_there_is_said(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, 0), month(tmp_path, 1, start=2), month(tmp_path, 2, start=12)]
    cut = tmp_path / "sst_cut.nc"
    cut.write_bytes(b"CDF\x01\0\0")
    window.actions_["combine_files"].trigger()
    sheet = window.findChild(CombineSheet)
    assert sheet is not None
    sheet.add([str(paths[0]), str(paths[0].with_name("none.nc"))])
    qtbot.waitUntil(lambda: "The dimension to join the files along is not clear" in said(sheet))
    sheet.remove_files([str(paths[0].with_name("none.nc"))])
    # An overlap is red, a gap and what cannot be read are named.
    sheet.add([*map(str, paths[1:]), str(cut)])
    qtbot.waitUntil(lambda: "to settle" in said(sheet))
    told = {row[1]: row for row in lines(sheet.differences) if len(row) > 1}
    assert told["overlap"][3] == "sst_01.nc overlaps sst_00.nc"
    gap = "time: about 7 values are missing between sst_01.nc and sst_02.nc"
    assert [row[0].strip() for row in lines(sheet.differences) if "missing" in row[0]] == [gap]
    files = lines(sheet.files)
    assert [row[0] for row in files] == ["sst_00.nc", "sst_01.nc", "sst_02.nc", "sst_cut.nc"]
    assert "ends within" in files[3][4]
    strip = sheet.findChild(AxisStrip)
    assert strip is not None
    assert strip.accessibleName() == "Places of 3 files; with gaps: 1, in trouble: 1"
    for other in button(sheet, "combineOtherRemedies").menu().actions():
        if other.text() == "Leave sst_00.nc out":
            other.trigger()
    start = button(sheet, "combineStartButton")
    qtbot.waitUntil(start.isEnabled)
    (tmp_path / "sst_combined.json").write_text("{}")
    target, straight = (
        sheet.findChild(QLineEdit, "combineTarget"),
        sheet.findChild(QCheckBox, "combineStraight"),
    )
    assert isinstance(target, QLineEdit)
    assert isinstance(straight, QCheckBox)
    assert not target.isVisible()
    straight.setChecked(True)
    assert target.isVisible()
    assert target.text() == str(tmp_path / "sst_combined.json")
    qtbot.waitUntil(start.isEnabled)
    start.click()
    qtbot.waitUntil(lambda: "The document exists already" in said(sheet))
    assert (tmp_path / "sst_combined.json").read_text() == "{}"
    assert start.isEnabled()
    sheet.findChild(QCheckBox, "combineForce").setChecked(True)  # type: ignore[union-attr]
    qtbot.waitUntil(start.isEnabled)
    start.click()
    qtbot.waitUntil(lambda: window.findChild(CombineSheet) is None)
    settle()
    assert_values(window.documents.all()[-1], [1, 2], [2, 3, 4, 12, 13, 14])


@pytest.mark.slow
def test_own_words_are_checked_as_they_are_typed(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, each, 0.1 if each == 1 else 0.01) for each in range(3)]
    with netCDF4.Dataset(paths[2], "a") as file:
        file["sst"].units = "K"
        file["time"].units = "hours since 2001-01-01"
        # Six o'clock: not exactly a number of days, which would be taken without a question.
        file["time"][:] = 24 * (np.arange(ROWS) + 2 * ROWS) + 6
    window.actions_["combine_files"].trigger()
    sheet: Any = window.findChild(CombineSheet)
    # Dropped on the sheet itself.
    drop_on(sheet, *(QUrl.fromLocalFile(str(path)) for path in paths))
    qtbot.waitUntil(lambda: "to settle" in said(sheet), timeout=20_000)

    decided: list[str] = []

    def say(title: str, wrong: str, told: str, right: str, comes: str) -> None:
        # Widgets of rows that are gone may not be swept away yet.
        group = sheet.differences.topLevelItem(0)
        places = [sheet.differences.itemWidget(group.child(at), 4) for at in range(group.childCount())]
        buttons = [button(each, "combineOtherRemedies") for each in places]
        actions = [action for each in buttons for action in each.menu().actions()]
        next(each for each in actions if each.text() == title).trigger()
        qtbot.waitUntil(lambda: window.findChild(CustomRemedyDialog) is not None)
        dialog = window.findChild(CustomRemedyDialog)
        assert dialog is not None
        field, answer = (
            dialog.findChild(QLineEdit, "ownWordsField"),
            dialog.findChild(QLabel, "ownWordsAnswer"),
        )
        assert isinstance(field, QLineEdit)
        assert isinstance(answer, QLabel)
        take = button(dialog, "ownWordsTakeButton")
        assert take.isEnabled()
        field.setText(wrong)
        assert told in answer.text()
        assert not take.isEnabled()
        dialog.accept()
        assert dialog.isVisible()
        field.setText(right)
        assert comes in answer.text()
        take.click()
        qtbot.waitUntil(lambda: window.findChild(CustomRemedyDialog) is None)
        number = len(decided) + 1
        decided.append(right)
        qtbot.waitUntil(
            lambda: any(row[0] == f"Decided ({number})" for row in lines(sheet.differences)), timeout=20_000
        )

    say("Take it as another array…", "time", "already", "coarse", "missing in the others")
    say("Set units for all files…", " ", "Say something", "degC", "are treated as having units degC")
    say(
        "Express the times in other units…", "dogs since 2001", "Not a unit of time",
        "hours since 2000-01-01", "from 2000-01-01",
    )  # fmt: skip
    start = button(sheet, "combineStartButton")
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    start.click()
    qtbot.waitUntil(lambda: window.findChild(CombineSheet) is None)
    settle()
    dataset = window.documents.all()[-1].dataset
    assert dataset is not None
    assert {"/coarse", "/sst"} <= dataset.arrays.keys()
    assert dataset.arrays["/sst"].attrs["units"] == "degC"
    assert dataset.arrays["/time"].attrs["units"] == "hours since 2000-01-01"


@pytest.mark.slow
def test_a_parquet_folder_takes_files_and_is_saved_in_its_place(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [str(month(tmp_path, each)) for each in range(3)]
    target = tmp_path / "sst.parq"
    refbrowser.combine(paths[:2], target, concat="time", format="refs-parquet")
    document = window.documents.open(str(target))
    settle()
    assert window.actions_["append_files"].isEnabled()
    window.actions_["append_files"].trigger()
    sheet = window.findChild(AppendSheet)
    assert sheet is not None
    assert said(sheet) == "Add files, or drop them here."
    sheet.add(paths[2:])
    start = button(sheet, "combineStartButton")
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    before = (target / ".zmetadata").read_bytes()
    start.click()
    qtbot.waitUntil(lambda: window.findChild(AppendSheet) is None)
    settle()
    assert document.is_dirty
    assert (target / ".zmetadata").read_bytes() == before
    kept = (target / "x" / "refs.0.parq").stat().st_ino
    window.actions_["save"].trigger()
    settle()
    assert not document.is_dirty
    assert (target / "x" / "refs.0.parq").stat().st_ino == kept
    assert_values(document, [0, 1, 2])
    with refbrowser.open(str(target), allow=[str(tmp_path)]) as dataset:
        assert dataset["/sst"].shape == (3 * ROWS, 4)


def assert_values(document: OpenDocument, months: list[int], days: list[int] | None = None) -> None:
    assert document.document is not None
    refs: dict[str, Any] = refbrowser.expand(document.document)
    shape = json.loads(refs["sst/.zarray"])["shape"]
    assert shape == [len(months) * ROWS, 4]
    assert document.dataset is not None
    array = document.dataset.arrays["/sst"]
    found = array[:]
    expected = np.concatenate([np.arange(ROWS * 4).reshape(ROWS, 4) + 100 * each for each in months])
    assert np.array_equal(np.asarray(found), expected)
    times = days or [each * ROWS + day for each in months for day in range(ROWS)]
    assert np.array_equal(np.asarray(document.dataset.arrays["/time"][:]), times)


@pytest.mark.slow
def test_a_comparison_that_was_cancelled_goes_on(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(month(tmp_path, each)) for each in range(5)]
    looked: list[str] = []
    held = threading.Event()
    scan = combining.scan

    def look(task: ScanTask) -> object:
        if len(looked) == 3:
            held.wait(20)
        looked.extend(task.sources)
        return scan(task)

    monkeypatch.setattr(combining, "scan", look)
    sheet = CombineSheet(window.documents, window.tasks, window)
    sheet.show()
    along = sheet.findChild(QComboBox, "combineAlong")
    assert along is not None
    along.setEditText("time")
    sheet.add(paths)
    qtbot.waitUntil(lambda: len(looked) == 3, timeout=20_000)
    qtbot.waitUntil(lambda: button(sheet, "combineCancelButton").isVisible())

    def kept() -> int:
        journals = (state_folder() / "combining").glob("*.looks")
        return sum(path.read_bytes().count(b'"source"') for path in journals)

    qtbot.waitUntil(lambda: kept() > 0, timeout=20_000)
    go_on = button(sheet, "combineGoOnButton")
    assert not go_on.isVisible()
    button(sheet, "combineCancelButton").click()
    held.set()
    settle()
    assert go_on.isVisible()
    assert "Go on" in said(sheet)
    known = set(looked)
    looked.clear()
    go_on.click()
    qtbot.waitUntil(lambda: said(sheet).startswith("5 files as one"), timeout=20_000)
    assert not go_on.isVisible()
    assert len(looked) < 5
    assert set(looked) | known == set(paths)
    # Once the document is there nothing is kept.
    button(sheet, "combineStartButton").click()
    qtbot.waitUntil(lambda: bool(window.documents.all()), timeout=20_000)
    settle()
    qtbot.waitUntil(lambda: not list((state_folder() / "combining").glob("*")), timeout=20_000)


def typed(sheet: CombineSheet, name: str, text: str) -> None:
    line = sheet.findChild(QLineEdit, name)
    assert line is not None
    line.setText(text)


@pytest.mark.slow
def test_holes_stay_on_a_regular_axis_and_parts_get_other_names(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, each) for each in (0, 1, 3, 4)]
    drop(window, *(QUrl.fromLocalFile(str(path)) for path in paths))
    sheet = window.findChild(CombineSheet)
    assert sheet is not None
    start = button(sheet, "combineStartButton")
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    assert said(sheet).startswith("4 files as one: time 12; 3 arrays.")

    # The hole is told, drawn, and kept.
    typed(sheet, "combineRegularAxis", "time=2001-01-01:2001-01-16:1D")
    qtbot.waitUntil(lambda: said(sheet).startswith("4 files as one: time 16 (4 missing); 3 arrays."))
    told = ["".join(row) for row in lines(sheet.differences)]
    assert any("4 of 16 times are missing: 2001-01-07 to 2001-01-09, 2001-01-16" in each for each in told)
    strip = sheet.findChild(AxisStrip)
    assert strip is not None
    assert "gaps: 2, in trouble: 0" in strip.accessibleName()

    # Times that are not on the axis are named, and one click takes them as they are.
    typed(sheet, "combineRegularAxis", "time=2001-01-01:2001-01-16:2D")
    begin = "4 files: 1 difference to settle: time: times are not on the axis of step '2D'"
    qtbot.waitUntil(lambda: said(sheet).startswith(begin))
    assert any("not on the axis of step '2D'" in "".join(row) for row in lines(sheet.differences))
    typed(sheet, "combineRegularAxis", "time=2001:1D")
    qtbot.waitUntil(lambda: "not of the form NAME=FROM:TO:STEP" in said(sheet))

    typed(sheet, "combineRegularAxis", "time=2001-01-04:2001-01-16:1D")
    typed(sheet, "combineSelect", "time=2001-01-04:")
    typed(sheet, "combineRename", "sst=temperature; x=place")
    qtbot.waitUntil(lambda: said(sheet).startswith("3 files as one: time 13 (4 missing)"))
    assert lines(sheet.files)[-1] == ["sst_00.nc", "", "", "", "not selected"]
    start.click()
    qtbot.waitUntil(lambda: window.findChild(CombineSheet) is None)
    settle()
    made = window.documents.all()[-1]
    dataset = made.dataset
    assert dataset is not None
    assert sorted(dataset.arrays) == ["/place", "/temperature", "/time"]
    assert dataset["temperature"].shape == (13, 4)
    assert made.document is not None
    refs = json.loads(made.document.to_bytes())["refs"]
    assert sorted(key for key in refs if key.startswith("temperature/") and "z" not in key) == sorted(
        f"temperature/{row}.0" for row in (0, 1, 2, 6, 7, 8, 9, 10, 11)
    )


@pytest.mark.slow
def test_a_late_file_fills_its_hole_and_another_leaves_one(
    window: MainWindow, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = [month(tmp_path, each) for each in (0, 1, 3, 5)]
    target = tmp_path / "sst.json"
    refbrowser.combine([paths[0], paths[2]], target, axis="time=1D")
    document = window.documents.open(str(target))
    settle()

    def append(path: Path, axis: str, summary: str) -> None:
        window.actions_["append_files"].trigger()
        sheet = window.findChild(AppendSheet)
        assert sheet is not None
        line = sheet.findChild(QLineEdit, "appendRegularAxis")
        assert line is not None
        line.setText(axis)
        sheet.add([str(path)])
        start = button(sheet, "combineStartButton")
        # The document has a value that means missing, and the files have none.
        qtbot.waitUntil(lambda: "to settle" in said(sheet) and bool(lines(sheet.differences)), timeout=20_000)
        other(sheet, "Use the common value")
        qtbot.waitUntil(start.isEnabled, timeout=20_000)
        assert said(sheet) == summary
        start.click()
        qtbot.waitUntil(lambda: window.findChild(AppendSheet) is None)
        settle()

    append(paths[1], "", "1 file to be added: 3 missing times of time filled.")
    assert document.history is not None
    assert document.history.entries[-1] == "Fill 3 missing times with 1 file"
    append(paths[3], "time=1D", "1 file to be added: time grows from 12 to 18.")
    dataset = document.dataset
    assert dataset is not None
    assert dataset.arrays["/time"][...].tolist() == list(range(18))
    found, missing = dataset.arrays["/sst"][...][:, 0].tolist(), [-32767] * 3
    assert found == [0, 4, 8, 100, 104, 108, *missing, 300, 304, 308, *missing, 500, 504, 508]
