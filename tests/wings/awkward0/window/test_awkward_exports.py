"""The export dialog for lists and records: what is offered, asked for, written; damaged archives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from awkward_files import write_events
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from unnamed_widgets import unnamed
from window_fixtures import Open, button

import refbrowser
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.exporting.option_fields import chosen_options
from refbrowser.exporting.options import TableOptions
from refbrowser.formats.registry import form_named
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing

Settle = Callable[[], None]


@pytest.fixture
def document(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> OpenDocument:
    found = opened(write_events(tmp_path))
    settle()
    return found


@pytest.fixture
def dialog(window: MainWindow, document: OpenDocument) -> ExportDialog:
    window.actions_["export"].trigger()
    found = window.findChild(ExportDialog)
    assert found is not None
    return found


def choose(dialog: ExportDialog, name: str, value: str) -> None:
    combo = dialog.findChild(QComboBox, name)
    row = combo.findData(value)
    assert row >= 0, value
    combo.setCurrentIndex(row)


def export(dialog: ExportDialog, qtbot: QtBot) -> str:
    """Carry the export out, and return what the dialog says of it."""
    start, cost = button(dialog, "exportStartButton"), dialog.findChild(QLabel, "exportCost")
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    start.click()
    qtbot.waitUntil(lambda: cost.text().startswith(("Done", "Nothing", "'", "E_")), timeout=30_000)
    return str(cost.text())


def rows(dialog: ExportDialog) -> dict[str, bool]:
    items = [dialog.arrays.topLevelItem(row) for row in range(dialog.arrays.topLevelItemCount())]
    return {item.text(0): item.checkState(0) == Qt.CheckState.Checked for item in items if item is not None}


@pytest.mark.slow
def test_whole_arrays_are_ticked_and_buffers_are_no_arrays(dialog: ExportDialog) -> None:
    found = rows(dialog)
    assert [path for path, ticked in found.items() if ticked] == ["/events", "/nodes", "/grid"]
    assert found["/events/pt"] is False
    assert not any("node" in path.rpartition("/")[2] and path.count("/") > 1 for path in found)
    assert dialog.arrays.choices() is None


@pytest.mark.slow
def test_columns_have_options_of_their_own(dialog: ExportDialog) -> None:
    choose(dialog, "exportFormat", "parquet")
    assert dialog.options.group is TableOptions
    assert dialog.options.isVisibleTo(dialog)
    assert unnamed(dialog) == []
    assert dialog.findChild(QLineEdit, "exportTarget").text().endswith("events.parquet")
    assert dialog.order().options == {"codec": "keep", "awkward_types": True}
    dialog.findChild(QLineEdit, "exportTableGroup").setText("1MiB")
    choose(dialog, "exportTableCodec", "snappy")
    dialog.findChild(QCheckBox, "exportTableTypes").setChecked(False)
    said = dialog.order().options
    assert said == {"codec": "snappy", "group_size": "1MiB", "awkward_types": False}
    made = TableOptions(codec="snappy", group_size=1 << 20, awkward_types=False)
    assert chosen_options(form_named("parquet"), said, "t") == made
    choose(dialog, "exportFormat", "feather")
    # Feather has no such codec.
    assert dialog.order().options["codec"] == "keep"


@pytest.mark.slow
def test_awkward_has_options_of_its_own(dialog: ExportDialog) -> None:
    choose(dialog, "exportFormat", "awkward0")
    assert dialog.options.group is Awkward0Writing
    assert dialog.options.isVisibleTo(dialog)
    assert dialog.findChild(QLineEdit, "exportTarget").text().endswith("events-export.awkd")
    assert dialog.order().options == {}
    choose(dialog, "exportAwkwardContainer", "hdf5")
    choose(dialog, "exportAwkwardExisting", "append")
    assert "taken" in dialog.findChild(QLabel, "exportAwkwardReasons").text()
    dialog.findChild(QLineEdit, "exportAwkwardName").setText("run-")
    policy = dialog.findChild(QComboBox, "exportAwkwardCompression")
    policy.setEditText("zlib:6,minsize=100")
    said = dialog.order().options
    rules = ("zlib:6,minsize=100",)
    assert said == {"container": "hdf5", "name": "run-", "codec": rules, "append": True}
    made = chosen_options(form_named("awkward0"), said, "t")
    assert made == Awkward0Writing(container="hdf5", name="run-", codec=rules, append=True)
    assert made.keeps
    policy.setCurrentIndex(policy.findData("none"))
    assert dialog.order().options["codec"] == ("none",)


@pytest.mark.slow
def test_a_rule_that_has_no_meaning_is_said(dialog: ExportDialog, qtbot: QtBot) -> None:
    choose(dialog, "exportFormat", "awkward0")
    dialog.findChild(QComboBox, "exportAwkwardCompression").setEditText("zip please")
    cost = dialog.findChild(QLabel, "exportCost")
    qtbot.waitUntil(lambda: "zip please" in cost.text(), timeout=20_000)
    assert not button(dialog, "exportStartButton").isEnabled()


@pytest.mark.slow
def test_awkward_is_written_and_added_to(
    window: MainWindow,
    document: OpenDocument,
    dialog: ExportDialog,
    qtbot: QtBot,
    tmp_path: Path,
    settle: Settle,
) -> None:
    target = tmp_path / "copy.awkd"
    choose(dialog, "exportFormat", "awkward0")
    dialog.arrays.tick_all(False)
    for row, path in enumerate(rows(dialog)):
        if path == "/grid":
            dialog.arrays.topLevelItem(row).setCheckState(0, Qt.CheckState.Checked)
    dialog.findChild(QLineEdit, "exportTarget").setText(str(target))
    assert export(dialog, qtbot).startswith("Done: 1 array")
    with refbrowser.open(str(target)) as written:
        assert written["/grid"].shape == (4, 3)
    dialog.findChild(QLineEdit, "exportAwkwardName").setText("other")
    choose(dialog, "exportAwkwardExisting", "append")
    assert export(dialog, qtbot).startswith("Done")
    with refbrowser.open(str(target)) as written:
        assert {"/grid", "/other"} <= {node.path for node in written.hierarchy.walk()}


@pytest.mark.slow
def test_an_archive_without_a_directory_tells_what_is_lost(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    path = write_events(tmp_path)
    data = path.read_bytes()
    end = data.index(b"PK\x01\x02")
    path.write_bytes(data[: end - 20])
    document = opened(path)
    settle()
    bar = window.centre.damage_bar
    assert bar.isVisible()
    assert bar.text().startswith("The directory of events.awkd cannot be read: ")
    assert "are lost, from byte" in bar.text()
    assert bar.text().endswith("2 of 3 arrays can be opened.")
    assert window.hierarchy.select_node(document, "/events/pt")
    save = button(bar, "damageRepairButton")
    assert save.text() == "Save what is left…"
    save.click()
    dialog = window.findChild(ExportDialog)
    assert dialog is not None
    assert dialog.order().format == "awkward0"
    dialog.close()
    button(bar, "damageDismissButton").click()
    window.centre.update_state()
    assert not bar.isVisible()


def test_a_sound_archive_has_no_such_bar(window: MainWindow, document: OpenDocument) -> None:
    assert not window.centre.damage_bar.isVisible()
