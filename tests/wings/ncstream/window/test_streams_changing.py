"""Streams that grow, are cut off, appended to, made compact and repaired while they are open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stream_encoder as enc
from kinds_stream import STEPS, kinds_header, step_message, write_growing
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot
from window_fixtures import Open

from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import TABLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.wings.ncstream.window.document_stream import damage_words
from refbrowser.wings.ncstream.window.stream_dialogs import (
    AppendDialog,
    CompactDialog,
    RepairDialog,
    StreamDialog,
)

Settle = Callable[[], None]
#: The watcher looks at files a few times a second.
WATCHED = 15_000


def grow(path: Path, *steps: int) -> None:
    """Append steps of the image to a stream without END."""
    with path.open("ab") as file:
        for step in steps:
            file.write(kinds_header(step + 1) + step_message(step))


def steps_of(document: OpenDocument) -> int:
    """Return how many steps of the image a document has."""
    assert document.hierarchy is not None
    return document.hierarchy.find("/field").shape[0]  # type: ignore[union-attr]


def run(dialog: StreamDialog, qtbot: QtBot) -> str:
    """Press the button that starts; returns the report."""
    dialog.start()
    qtbot.waitUntil(lambda: not dialog.is_running())
    return dialog.report()


# Following


@pytest.mark.slow
def test_a_growing_stream_is_followed_with_slice_and_zoom(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS)
    document = opened(path)
    settle()
    window.hierarchy.select_node(document, "/field")
    settle()
    plot = window.centre.plot
    assert plot is not None
    plot.set_index(0, 1)
    settle()
    plot.canvas.show_range((5.0, 15.0), (4.0, 12.0))
    settle()
    before = plot.canvas.view()[:2]
    grow(path, STEPS, STEPS + 1)
    qtbot.waitUntil(lambda: document.is_open and steps_of(document) == STEPS + 2, timeout=WATCHED)
    settle()
    state = plot.slice_state()
    assert state is not None
    assert (state.shape[0], state.indices[0]) == (STEPS + 2, 1)
    assert np.allclose(plot.canvas.view()[:2], before)
    assert not window.centre.disk_bar.isVisibleTo(window)
    plot.set_index(0, STEPS + 1)
    settle()
    picture = plot.picture()
    assert picture is not None
    assert picture.all_done, "what was added can be read"


@pytest.mark.slow
def test_a_damaged_stream_goes_on_growing_and_its_damage_is_told(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS)
    document = opened(path)
    settle()
    bar = window.centre.damage_bar
    assert not bar.isVisibleTo(window)
    with path.open("ab") as file:
        file.write(b"nonsense")
    grow(path, STEPS, STEPS + 1)
    qtbot.waitUntil(lambda: document.is_open and steps_of(document) == STEPS + 2, timeout=WATCHED)
    settle()
    assert bar.text().startswith("live.ncs is damaged: 1 fault")
    assert bar.isVisibleTo(window)
    assert any("bad-magic" in finding.message for finding in document.findings.found.items)
    grow(path, STEPS + 2)
    qtbot.waitUntil(lambda: document.is_open and steps_of(document) == STEPS + 3, timeout=WATCHED)
    settle()
    assert bar.isVisibleTo(window)
    dataset = document.dataset
    assert dataset is not None
    # What came behind the damage is there.
    assert np.isfinite(dataset["/field"][STEPS + 2]).all()
    assert dataset["/field"].damage


@pytest.mark.slow
def test_a_line_that_is_seen_whole_gets_longer(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS)
    document = opened(path)
    settle()
    window.hierarchy.select_node(document, "/field")
    settle()
    plot = window.centre.plot
    assert plot is not None
    plot.header.yChosen.emit(None)
    plot.header.xChosen.emit(0)
    settle()
    grow(path, *range(STEPS, STEPS + 5))
    qtbot.waitUntil(lambda: document.is_open and steps_of(document) == STEPS + 5, timeout=WATCHED)
    settle()
    (left, right), _heights, _pixels = plot.canvas.view()
    assert left <= 0
    assert right >= STEPS + 4


@pytest.mark.slow
def test_following_can_be_switched_off_and_on(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS)
    document = opened(path)
    settle()
    action = window.actions_["follow_stream"]
    assert action.isEnabled()
    assert action.isChecked()
    action.trigger()
    grow(path, STEPS)
    bar = window.centre.disk_bar
    qtbot.waitUntil(lambda: bar.isVisibleTo(window), timeout=WATCHED)
    assert steps_of(document) == STEPS
    bar.findChild(QPushButton, "diskFollowButton").click()
    qtbot.waitUntil(lambda: steps_of(document) == STEPS + 1)
    assert not bar.isVisibleTo(window)
    assert action.isChecked()


@pytest.mark.slow
def test_unsaved_edits_are_not_lost_to_a_stream_that_grows(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS)
    document = opened(path)
    settle()
    edit_units(document, settle)
    grow(path, STEPS)
    qtbot.waitUntil(lambda: window.centre.disk_bar.isVisibleTo(window), timeout=WATCHED)
    assert document.is_dirty
    assert steps_of(document) == STEPS


def edit_units(document: OpenDocument, settle: Settle) -> None:
    """Change an attribute of the image."""
    attributes = {"_ARRAY_DIMENSIONS": ["time", "y", "x"], "units": "degC"}
    assert document.apply(SetMetadata("field/.zattrs", attributes))
    settle()


# Damage


@pytest.mark.slow
def test_a_stream_that_is_cut_off_says_where_and_is_repaired(
    window: MainWindow, opened: Open, settle: Settle, kinds: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    whole = kinds.read_bytes()
    size = len(whole) * 6 // 10
    path = tmp_path / "cut.ncs"
    path.write_bytes(whole[:size])
    document = opened(path)
    settle()
    bar = window.centre.damage_bar
    assert bar.isVisibleTo(window)
    assert f"cut.ncs ends at byte {size:,}".replace(",", " ") in bar.text().replace(" ", " ").replace(
        "\N{NARROW NO-BREAK SPACE}", " "
    )
    bar.findChild(QPushButton, "damageRepairButton").click()
    dialog = window.findChild(RepairDialog)
    assert "kept" in run(dialog, qtbot)
    target = tmp_path / "cut.repaired.ncs"
    assert target.exists()
    dialog.findChild(QPushButton, "repairOpenButton").click()
    qtbot.waitUntil(lambda: window.documents.current is not document and window.documents.current.is_open)
    settle()
    # What was lost is not forgotten, and nothing is left to be repaired.
    assert bar.text().startswith("cut.repaired.ncs was repaired. What was lost of any variable is an error")
    assert bar.isVisibleTo(window)
    assert not bar.findChild(QPushButton, "damageRepairButton").isVisibleTo(bar)
    dialog.close()


@pytest.mark.slow
def test_words_of_damage_are_only_there_for_faults(opened: Open, kinds: Path, tmp_path: Path) -> None:
    index = opened(kinds).part.index
    assert index is not None
    assert damage_words("kinds.ncs", index) == ""
    cut = tmp_path / "cut.ncs"
    cut.write_bytes(kinds.read_bytes()[:-40])
    index = opened(cut).part.index
    assert index is not None
    assert damage_words("cut.ncs", index)
    assert damage_words("cut.ncs", index, grows=True) == "", "the rest is on its way"


# Changing


@pytest.mark.slow
def test_compact_writes_one_header_and_the_same_values(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS + 3)
    opened(path)
    settle()
    window.actions_["compact_stream"].trigger()
    dialog = window.findChild(CompactDialog)
    assert run(dialog, qtbot).startswith("Done")
    target = tmp_path / "live.compact.ncs"
    assert target.read_bytes().count(enc.MAGIC_HEADER) == 1
    with open_dataset(OpenRequest(str(path))) as before, open_dataset(OpenRequest(str(target))) as after:
        assert (before["/field"][...] == after["/field"][...]).all()
    assert "Nothing" not in dialog.report()
    again = run(dialog, qtbot)
    assert "Done" not in again, "what is there is not replaced unasked"
    dialog.close()


@pytest.mark.slow
def test_edits_of_attributes_are_appended_to_the_stream(
    window: MainWindow, opened: Open, settle: Settle, kinds: Path, qtbot: QtBot
) -> None:
    document = opened(kinds)
    settle()
    edit_units(document, settle)
    before = kinds.read_bytes()
    window.actions_["append_stream"].trigger()
    dialog = window.findChild(AppendDialog)
    assert "/field@units" in run(dialog, qtbot)
    qtbot.waitUntil(lambda: document.is_open and not document.is_dirty)
    settle()
    assert document.hierarchy is not None
    assert document.hierarchy.find("/field").attributes["units"] == "degC"  # type: ignore[union-attr]
    assert kinds.read_bytes().startswith(before[:-4]), "what was there is not written again"
    dialog.close()


@pytest.mark.slow
def test_a_dialog_says_why_it_failed(window: MainWindow, opened: Open, kinds: Path, qtbot: QtBot) -> None:
    opened(kinds)
    window.actions_["append_stream"].trigger()
    dialog = window.findChild(AppendDialog)
    dialog.findChild(QLineEdit, "appendPath").setText(str(kinds.parent / "not there.ncs"))
    assert "Done" not in run(dialog, qtbot)
    assert dialog.report()
    dialog.close()


@pytest.mark.slow
def test_widgets_of_the_dialogs_are_named(window: MainWindow, opened: Open, kinds: Path) -> None:
    opened(kinds)
    for action in ("append_stream", "compact_stream", "repair_stream"):
        window.actions_[action].trigger()
    dialogs = window.findChildren(StreamDialog)
    assert len(dialogs) == 3
    for dialog in dialogs:
        for widget in (*dialog.findChildren(QCheckBox), *dialog.findChildren(QPushButton)):
            assert widget.objectName()
            assert widget.accessibleName()
        dialog.close()


@pytest.mark.slow
def test_a_document_saved_from_a_stream_never_takes_its_place(
    window: MainWindow, opened: Open, settle: Settle, kinds: Path
) -> None:
    document = opened(kinds)
    settle()
    before = kinds.read_bytes()
    window.groups[SaveCommands].save_to(document, str(kinds), 1)
    settle()
    assert "take the place of the stream" in window.centre.error_bar.text()
    assert kinds.read_bytes() == before


@pytest.mark.slow
def test_saving_a_stream_writes_a_document_that_goes_on(
    window: MainWindow, opened: Open, settle: Settle, kinds: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    document = opened(kinds)
    settle()
    edit_units(document, settle)
    target = tmp_path / "kinds.json"
    window.groups[SaveCommands].save_to(document, str(target), 1)
    qtbot.waitUntil(lambda: document.path == str(target) or bool(document.saving.is_running))
    settle()
    assert target.exists()
    assert "field/0.0.0" in json.loads(target.read_bytes())["refs"]
    assert document.can_save_in_place
    assert not window.actions_["append_stream"].isEnabled()


@pytest.mark.slow
def test_the_table_stays_where_it_is_when_a_stream_grows(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_growing(tmp_path / "live.ncs", STEPS + 60)
    document = opened(path)
    settle()
    window.hierarchy.select_node(document, "/field")
    settle()
    plot, table = window.centre.plot, window.centre.table
    assert plot is not None
    assert table is not None
    plot.header.yChosen.emit(None)
    plot.header.xChosen.emit(0)
    window.centre.show_tab(TABLE)
    settle()
    table.grid.set_current((STEPS + 50, 0))
    before = table.grid.seen()[0].start
    assert before > 0
    grow(path, STEPS + 60)
    qtbot.waitUntil(lambda: steps_of(document) == STEPS + 61, timeout=WATCHED)
    settle()
    assert table.grid.current() == (STEPS + 50, 0)
    assert table.grid.seen()[0].start == before
    assert table.grid.model().rows == STEPS + 61
