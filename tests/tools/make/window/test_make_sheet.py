"""The sheet that makes references: files listed with what they are, documents made, compared, opened."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QModelIndex, Qt, QUrl
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QLabel, QLineEdit, QProgressBar, QWidget
from pytestqt.qtbot import QtBot
from window_fixtures import button, drop

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.tree_items import tooltip_of
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.dropped_items import read_drop
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.making import made_references
from refbrowser.exporting.making.made_references import Made
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.format import Format
from refbrowser.formats.option_fields import declared
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.tools.make import making
from refbrowser.tools.make.making import Hindered, SourceFacts, plan_of
from refbrowser.tools.make.window.make_sheet import MakeSheet

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
Rows = list[list[str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two files of netCDF, one of HDF5 with rows of lengths of their own, and one that was cut."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number in range(2):
        with netCDF4.Dataset(folder / f"f{number}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createDimension("x", 6)
            file.createVariable("v", "f4", ("time", "x"))[:] = np.arange(24).reshape(4, 6) + number
            file.createVariable("n", "i2", ("x",))[:] = np.arange(6)
    with h5py.File(folder / "rows.h5", "w") as made:
        made["a"] = np.arange(12.0)
        made.create_dataset("rows", (3,), h5py.vlen_dtype("i4"))
    (folder / "cut.nc").write_bytes(b"CDF\x01\0\0")
    return folder


@pytest.fixture
def sheet(window: MainWindow, qtbot: QtBot) -> Iterator[MakeSheet]:
    window.actions_["make_references"].trigger()
    found = window.findChild(MakeSheet)
    assert found is not None
    yield found
    found.close()
    qtbot.waitUntil(lambda: window.findChild(MakeSheet) is None)


def part(sheet: QWidget, kind: type, name: str) -> Any:
    found = sheet.findChild(kind, name)
    assert found is not None, name
    return found


def rows(sheet: MakeSheet) -> Rows:
    """Return the texts of all rows, those below files with an indent."""
    model = sheet.files.model()

    def texts(parent: QModelIndex, indent: str) -> Rows:
        found: Rows = []
        for row in range(model.rowCount(parent)):
            first, *rest = (model.index(row, column, parent) for column in range(4))
            found.append([indent + first.data(), *(each.data() for each in rest)])
            found += texts(first, indent + "  ")
        return found

    return texts(QModelIndex(), "")


def names(sheet: MakeSheet) -> list[str]:
    """Return the files in the order of their rows."""
    return [row[0] for row in rows(sheet) if not row[0].startswith(" ")]


def choose(sheet: MakeSheet, name: str) -> None:
    """Select the row of a file, and no other."""
    files = sheet.files.rows.files.values()
    row = next(file.row for file in files if os.path.basename(file.source) == name)
    sheet.files.setCurrentIndex(sheet.files.rows.index(row, 0))
    assert list(map(os.path.basename, sheet.files.chosen())) == [name]


def words(sheet: MakeSheet) -> str:
    return str(part(sheet, QLabel, "makeCost").text())


def wait_for(qtbot: QtBot, sheet: MakeSheet, text: str) -> None:
    def is_said() -> None:
        assert text in words(sheet)

    qtbot.waitUntil(is_said)


@pytest.mark.slow
def test_what_is_dropped_is_opened_listed_made_and_opened(
    window: MainWindow, data: Path, settle: Settle, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = list[str]()
    monkeypatch.setattr(Format, "prepare", lambda format: prepared.append(format.name))
    dropped = ("f0.nc", "rows.h5", "cut.nc")
    drop(window, *(QUrl.fromLocalFile(str(data / name)) for name in dropped))
    assert [document.name for document in window.documents.all()] == list(dropped)
    sheet = window.findChild(MakeSheet)
    assert sheet is not None
    wait_for(qtbot, sheet, "cannot be opened, left out")
    settle()
    # The library was loaded while the pointer was on its way; classic netCDF needs none.
    assert prepared == ["hdf5"]
    # What is in trouble comes first.
    qtbot.waitUntil(lambda: names(sheet) == ["cut.nc", "rows.h5", "f0.nc"])
    facts = rows(sheet)
    assert facts[0][:2] == ["cut.nc", "cannot be opened"]
    assert "ends within" in facts[0][3]
    assert facts[3] == ["f0.nc", "netCDF classic", "all 2 variables", ""]
    assert facts[1] == ["rows.h5", "HDF5 and netCDF-4", "1 of 2 variables", ""]
    assert facts[2][:3] == ["  /rows", "3×* i4", "no"]
    assert "variable length" in facts[2][3]
    assert part(sheet, QLineEdit, "makeTarget").text() == str(data)
    assert words(sheet).startswith(f"Makes {data}/f0.nc.refs.json and 2 more.")

    start = button(sheet, "makeStartButton")
    qtbot.waitUntil(start.isEnabled)
    part(sheet, QWidget, "exportReferencesInline").setValue(12)
    part(sheet, QWidget, "exportReferencesRelative").setChecked(True)
    qtbot.waitUntil(start.isEnabled)
    start.click()
    wait_for(qtbot, sheet, "Done: 2 documents made.")
    assert "1 file is left out" in words(sheet)
    made = [row for row in rows(sheet) if "compared" in row[3]]
    assert {row[0] for row in made} == {"f0.nc", "rows.h5"}
    assert any(row[2] == "not kept" and "/rows" in row[3] for row in rows(sheet))
    document = data / "f0.nc.refs.json"
    assert str(data) not in document.read_text()
    assert "base64:" in document.read_text()
    with refbrowser.open(str(document), allow=[str(data)]) as dataset:
        assert np.array_equal(dataset["/v"][:], np.arange(24).reshape(4, 6))

    opening = button(sheet, "makeOpenButton")
    assert not opening.isEnabled()
    assert not start.isEnabled()
    sheet.files.selectAll()
    assert opening.text() == "Open 2 documents"
    choose(sheet, "f0.nc")
    assert opening.text() == "Open the document"
    # The key opens it, and does not make it again.
    qtbot.keyClick(sheet.files, Qt.Key.Key_Return)
    assert not start.isEnabled()
    assert window.documents.current is not None
    assert window.documents.current.path == str(document)
    settle()
    sheet.close()


@pytest.mark.slow
def test_what_is_there_is_left_or_replaced_as_told(sheet: MakeSheet, data: Path, qtbot: QtBot) -> None:
    assert "Add files" in words(sheet) or not button(sheet, "makeStartButton").isEnabled()
    named, start = part(sheet, QLineEdit, "makeNamed"), button(sheet, "makeStartButton")
    named.setText(str(data / "g*.nc"))
    button(sheet, "makeAddButton").click()
    wait_for(qtbot, sheet, "There is no file like")
    named.setText(str(data / "f?.nc"))
    qtbot.keyClick(named, Qt.Key.Key_Return)
    wait_for(qtbot, sheet, "and 1 more")
    qtbot.waitUntil(lambda: not sheet.files.unknown())
    form = part(sheet, QComboBox, "makeFormat")
    form.setCurrentIndex(form.findData("refs-v0"))
    assert not part(sheet, QLineEdit, "exportReferencesUrlTemplate").isEnabled()
    qtbot.waitUntil(start.isEnabled)
    start.click()
    wait_for(qtbot, sheet, "Done: 2 documents")
    assert '"templates"' not in (data / "f1.nc.refs.json").read_text()

    # They are there now: that is said before anything is done.
    choose(sheet, "f0.nc")
    qtbot.keyClick(sheet.files, Qt.Key.Key_Delete)
    wait_for(qtbot, sheet, "document exists already")
    assert not start.isEnabled()
    before = (data / "f1.nc.refs.json").stat().st_mtime_ns
    for tick, said in (("makeResume", "1 left as it is"), ("makeForce", "Done: 1 document made")):
        for each in ("makeResume", "makeForce"):
            part(sheet, QCheckBox, each).setChecked(each == tick)
        qtbot.waitUntil(start.isEnabled)
        start.click()
        wait_for(qtbot, sheet, said)
        is_same = (data / "f1.nc.refs.json").stat().st_mtime_ns == before
        assert is_same == (tick == "makeResume")
    part(sheet, QLineEdit, "makeTarget").setText("")
    wait_for(qtbot, sheet, "no folder for the documents")
    part(sheet, QLineEdit, "makeTarget").setText(str(data / "one.json"))
    wait_for(qtbot, sheet, f"Makes {data}/one.json.")
    assert plan_of(sheet.order()).targets == (str(data / "one.json"),)


@pytest.mark.slow
def test_a_bad_file_ends_all_where_it_is_not_left_out(sheet: MakeSheet, data: Path, qtbot: QtBot) -> None:
    sheet.add([str(data / "cut.nc"), str(data / "f0.nc")])
    part(sheet, QCheckBox, "makeSkipBad").setChecked(False)
    wait_for(qtbot, sheet, "stops the run")
    qtbot.waitUntil(button(sheet, "makeStartButton").isEnabled)
    button(sheet, "makeStartButton").click()
    wait_for(qtbot, sheet, "file ends within")
    qtbot.waitUntil(button(sheet, "makeStartButton").isEnabled)
    assert "ends within" in rows(sheet)[0][3]


@pytest.mark.slow
def test_what_was_cancelled_goes_on(
    window: MainWindow, sheet: MakeSheet, data: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, real = threading.Event(), made_references.make_one

    def slow(task: made_references.MakeTask) -> made_references.Made:
        if task.source.endswith("f1.nc") and not held.is_set():
            held.wait(10)
            raise Cancelled
        return real(task)

    monkeypatch.setattr(made_references, "make_one", slow)
    sheet.add([str(data / "f0.nc"), str(data / "f1.nc")])
    start, cancel = button(sheet, "makeStartButton"), button(sheet, "makeCancelButton")
    qtbot.waitUntil(start.isEnabled)
    start.click()
    qtbot.waitUntil(lambda: "1 of 2 files" in part(sheet, QLabel, "makeAmount").text())
    assert part(sheet, QProgressBar, "makeProgress").isVisible()
    for field in ("makeTarget", "makeAddButton", "makeRemoveButton", "exportReferencesRelative"):
        assert not part(sheet, QWidget, field).isEnabled()
    # Closed meanwhile it comes back with what became of it.
    sheet.close()
    assert not sheet.isVisible()
    cancel.click()
    held.set()
    wait_for(qtbot, sheet, "Cancelled. 1 document is made and kept")
    assert sheet.isVisible()
    assert part(sheet, QCheckBox, "makeResume").isChecked()
    start.click()
    wait_for(qtbot, sheet, "Done: ")
    assert (data / "f1.nc.refs.json").exists()
    assert "newer than its file" in next(row[3] for row in rows(sheet) if row[0] == "f0.nc")


@pytest.mark.slow
def test_the_bar_of_a_file_of_data_leads_there(
    window: MainWindow, data: Path, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    bar, offer = window.centre.make_bar, window.centre.make_button
    document = opened(data / "rows.h5")
    settle()
    assert offer.isVisible()
    assert bar.isHidden(), "an offer takes no room of the plot"
    # Which variable cannot be referenced, and why, is said in the tree and in Attributes.
    index = window.hierarchy.model.find_node(document, "/rows")
    item = window.hierarchy.model.item(index)
    assert item is not None
    assert "cannot be referenced: its elements are rows" in tooltip_of(item)
    # And over the plot, of the array that is selected.
    for path, said in (("/rows", "/rows cannot be referenced: its"), ("/a", "")):
        assert window.hierarchy.select_node(document, path)
        window.centre.update_state()
        assert bar.text().startswith(said)
        assert bar.isVisible() == bool(said)
    offer.click()
    sheet = window.findChild(MakeSheet)
    assert sheet is not None
    qtbot.waitUntil(lambda: bool(sheet.files.sources()) and not sheet.files.unknown())
    assert sheet.files.sources() == (str(data / "rows.h5"),)
    # The sheet that is there is used again; what is in it stays in it once.
    window.actions_["make_references"].trigger()
    assert window.findChildren(MakeSheet) == [sheet]
    settle()
    assert [row[0] for row in rows(sheet)] == ["rows.h5", "  /rows"]
    button(sheet, "makeAddFilesButton").click()
    dialog = part(sheet, QFileDialog, "makeFilesDialog")
    assert "*.nc" in dialog.nameFilters()[0]
    dialog.filesSelected.emit([str(data / "f0.nc")])
    dialog.close()
    button(sheet, "makeBrowseButton").click()
    dialog = part(sheet, QFileDialog, "makeBrowseDialog")
    dialog.fileSelected.emit(str(data.parent))
    dialog.close()
    qtbot.waitUntil(lambda: len(sheet.files.sources()) == 2)
    assert part(sheet, QLineEdit, "makeTarget").text() == str(data.parent)
    sheet.close()
    opened(small)
    settle()
    assert not offer.isVisible(), "it is no file of data"


@pytest.mark.slow
def test_many_files_have_rows_of_which_those_in_trouble_come_first(sheet: MakeSheet, qtbot: QtBot) -> None:
    """No widget and no text is made for what is not seen; what is selected or unfolded stays that."""
    files, sources = sheet.files, [f"/nowhere/{number}.nc" for number in range(20_000)]
    began = time.process_time()
    files.add([*sources, sources[7]])
    assert files.sources() == tuple(sources)
    cut = RefbrowserError(ErrorKind.FORMAT, "it was cut")
    rows_of = (Hindered("/rows", "3", "rows"), Hindered("/texts", "3", "texts"))
    for number in (19_000, 5):
        files.tell(SourceFacts(sources[number], "HDF5", 9, 2, rows_of))
    files.tell(SourceFacts(sources[3], "netCDF classic", 2, damage="the file was cut"))
    choose(sheet, "19000.nc")
    files.expand(files.currentIndex())
    files.tell(SourceFacts(sources[18_000], error=cut))
    files.tell_result(sources[17_000], cut)
    for number in range(10_000, 16_000):
        files.tell_result(sources[number], Made(source=sources[number], target="x"))
    files.rows.put_trouble_first()
    first = ["17000.nc", "18000.nc", "3.nc", "5.nc", "19000.nc", "0.nc"]
    assert [files.rows.index(row, 0).data() for row in range(6)] == first
    current = files.currentIndex()
    assert (current.row(), list(files.chosen())) == (4, [sources[19_000]])
    damaged = [files.rows.index(2, column).data() for column in (1, 2, 3)]
    assert damaged == ["damaged", "all 2 variables", "the file was cut"]
    assert files.isExpanded(current)
    assert files.rows.index(1, 3, current).data() == "texts"
    assert files.rows.parent(files.rows.index(1, 3, current)) == current
    files.setCurrentIndex(files.rows.index(1, 0, current))
    assert list(files.chosen()) == [sources[19_000]]
    files.selectAll()
    assert sum(1 for _ in files.chosen()) == 20_000
    assert (files.errors(), len(files.unknown())) == (1, 13_995)
    files.remove_chosen()
    assert not files.sources()
    assert not files.has_chosen()
    assert time.process_time() - began < 4


def test_files_are_looked_at_side_by_side(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting, sent = threading.Barrier(2, timeout=10), list[Any]()

    def facts_of(source: str, *_: object) -> SourceFacts:
        meeting.wait()
        return SourceFacts(source, "netCDF")

    monkeypatch.setattr(making, "_facts_of", facts_of)
    making.look_at_files(
        [str(data / "f?.nc")], ["/x.nc", "/y.nc"], {}, JobControl(CancelToken()), sent.append
    )
    assert {each.source for each in sent[1:]} == {*sent[0], "/x.nc", "/y.nc"}


def test_options_are_those_of_the_command_line(sheet: MakeSheet) -> None:
    asked = [option.title for option in declared(ReferenceOptions).values()]
    assert all(asked)
    assert list(sheet._options.fields) == list(declared(ReferenceOptions))
    relative, template = (sheet._options.fields[name] for name in ("relative", "url_template"))
    foot = part(sheet, QLabel, "exportReferencesReasons")
    template.widgets[0].setText("u=/data/")
    assert template.widgets[0].isEnabled()
    assert not foot.text()
    relative.widgets[0].setChecked(True)
    assert not template.widgets[0].isEnabled()
    assert "not for files named relative" in foot.text()
    assert sheet._options.said() == {"inline": 0, "relative": True}


def test_what_a_drop_of_files_of_data_does() -> None:
    def dropped(*names: str) -> tuple[bool, bool, str]:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(f"/d/{name}") for name in names])
        found = read_drop(data)
        return found.is_accepted, found.is_set, " ".join(found.words(others_open=False))

    assert dropped("a.nc") == (True, False, "Open: the netCDF file a.nc /d/a.nc")
    both = dropped("a.nc", "b.H5")
    assert both == (
        True,
        False,
        "Open: 2 files of data a.nc, b.H5; references can be made of them, or one dataset",
    )
    assert "references" not in dropped("a.nc", "b.json")[2]
    many = dropped(*(f"{number}.nc" for number in range(60)))
    assert many[:2] == (True, True)
    assert many[2].startswith("Open: 60 files of data as one set 0.nc, 1.nc, 2.nc and 57 more; they can be")
    many = dropped(*(f"{number}.json" for number in range(60)))
    assert many == (True, True, "Open: 60 documents as one set 0.json, 1.json, 2.json and 57 more")
