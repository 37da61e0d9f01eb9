"""Stores in the window: dropped, opened as another flavour, edited as an overlay, saved beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import zarr
from awkward_files import write_events
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot
from servers.http_server import HttpServer
from streams_made import write_ocean
from window_fixtures import button, drop

from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.controller.document_files import FileState
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.open_dialogs import OpenUrlDialog
from refbrowser.app.dialogs.save_dialogs import SavePreviewDialog
from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
from refbrowser.app.panes.findings_pane import FindingsPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.dropped_items import Drop
from refbrowser.formats.registry import title_of
from refbrowser.formats.store_rules import RULES
from refbrowser.io.identity import identity_on_disk
from refbrowser.model.nodes import Flavour
from refbrowser.references.edits.edits import SetMetadata, SetReference
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.references import PENDING, ExpansionRows

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
VALUES = np.arange(24, dtype="<i2").reshape(4, 6)


def store_files() -> dict[str, bytes]:
    """Return a Zarr v2 store: an array of four chunks without its last one, and a stray key."""
    array = {
        "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i2", "compressor": None,
        "filters": None, "fill_value": -1, "order": "C",
    }  # fmt: skip
    files: dict[str, Any] = {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": {"title": "Sea"},
        "temp/.zarray": array,
        "temp/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"},
        "stray.txt": {},
    }
    found = {key: json.dumps(value).encode() for key, value in files.items()}
    for row, column in ((0, 0), (0, 1), (1, 0)):
        block = VALUES[2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
        found[f"temp/{row}.{column}"] = block.tobytes()
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The store in a folder."""
    root = tmp_path / "sea.zarr"
    for key, data in store_files().items():
        path = root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The store in a zip file."""
    path = tmp_path / "sea.zip"
    with ZipFile(path, "w") as made:
        for key, data in store_files().items():
            made.writestr(key, data)
    return path


def contents(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    files = (Path(above) / name for above, _, names in os.walk(path) for name in names)
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.fixture(params=["folder", "archive"])
def store(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


class TestOpening:
    @pytest.mark.slow
    def test_a_dropped_store(self, window: MainWindow, store: Path, settle: Settle, qtbot: QtBot) -> None:
        drop(window, QUrl.fromLocalFile(str(store)))
        settle()
        document = window.documents.current
        assert document is not None
        assert document.is_open, document.error
        assert document.store.is_here
        window.hierarchy.select_node(document, "/temp")
        settle()
        assert window.attributes.values()["units"] == "K"
        assert window.attributes.values()["Stored chunks"] == "3, 1 missing"
        read = document.dataset["temp"][...]  # type: ignore[union-attr]
        expected = VALUES.copy()
        expected[2:, 3:] = -1
        assert np.array_equal(read, expected)
        assert window.settings.recent()[0] == str(store)

    def test_flavour_in_tree_and_status(
        self, window: MainWindow, folder: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(folder)
        settle()
        root = window.hierarchy.model.find_identity((document.number, "document", ""))
        tip = root.data(Qt.ItemDataRole.ToolTipRole)
        assert "Zarr v2, store in a folder" in tip
        assert window.attributes.values()["Format"] == "Zarr v2, store in a folder"
        assert window.status._version.text() == "Zarr v2"

    @pytest.mark.slow
    def test_rules_that_nobody_wrote_are_not_shown(
        self, window: MainWindow, folder: Path, tmp_path: Path, opened: Open, settle: Settle
    ) -> None:
        for path, origin in (
            (folder, "store"), (write_ocean(tmp_path), "ncstream"), (write_events(tmp_path), "awkward0"),
        ):  # fmt: skip
            document = opened(path)
            settle()
            model = window.hierarchy.model
            for kind in ("templates", "rules"):
                assert not model.find_identity((document.number, kind, "")).isValid()
            window.hierarchy.select_index(model.find_identity((document.number, "document", "")))
            settle()
            names = set(window.attributes.values())
            assert not names & {"Templates", "Gen rules", "Version 0 rows", "Version", "References"}, path
            assert "V1" not in model.find_identity((document.number, "document", "")).data()
            assert window.status._version.text() != "Version 1"
            for name in ("add_template", "add_rule", "go_to_rule", "override_key", "template_values"):
                assert not window.actions_[name].isEnabled(), name
            state = document.document
            assert state is not None
            rows = ExpansionRows(state, None, lambda: None)
            # A page gives what it has after some milliseconds, and the rest when it is asked again.
            pages = ({row[-1] for row in rows.page(0, state.expansion.rows)} for _ in range(1000))
            assert next(found for found in pages if PENDING[-1] not in found) == {title_of(origin)}

    def test_missing_chunks_and_stray_keys_are_found(
        self, window: MainWindow, store: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(store)
        settle()
        listing = document.store.listing
        assert listing is not None
        told = [finding.place.key for finding in document.findings.found.items]
        assert "stray.txt" in told
        assert window.findChild(FindingsPane) is not None

    @pytest.mark.slow
    def test_a_prefix_over_http(self, window: MainWindow, folder: Path, settle: Settle, qtbot: QtBot) -> None:
        files = store_files()
        names = (".zgroup", ".zattrs", "temp/.zarray", "temp/.zattrs")
        metadata = {name: json.loads(files[name]) for name in names}
        files[".zmetadata"] = json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}).encode()
        with HttpServer({f"/sea.zarr/{key}": data for key, data in files.items()}) as server:
            dialog_of(window, server.url("/sea.zarr/"), "")
            qtbot.waitUntil(lambda: window.documents.current is not None and window.documents.current.is_open)
            settle()
            document = window.documents.current
            assert document is not None
            assert document.dataset["temp"][0, 1] == 1  # type: ignore[union-attr]

    @pytest.mark.slow
    def test_the_dialog_for_folders(self, window: MainWindow, folder: Path, settle: Settle) -> None:
        window.actions_["open_store"].trigger()
        dialog = window.findChild(QFileDialog, "openStoreDialog")
        assert dialog.fileMode() is QFileDialog.FileMode.Directory
        dialog.fileSelected.emit(str(folder))
        dialog.close()
        settle()
        assert window.documents.current is not None
        assert window.documents.current.is_open

    def test_a_folder_that_is_no_store(self, window: MainWindow, tmp_path: Path, opened: Open) -> None:
        (tmp_path / "empty").mkdir()
        document = opened(tmp_path / "empty")
        assert document.error is not None
        assert window.actions_["open_as_nczarr"].isEnabled()


def dialog_of(window: MainWindow, url: str, flavour: str) -> None:
    window.actions_["open_url"].trigger()
    dialog = window.findChild(OpenUrlDialog)
    dialog.findChild(QLineEdit, "urlField").setText(url)
    combo = dialog.findChild(QComboBox, "urlFlavour")
    combo.setCurrentIndex(combo.findData(flavour))
    dialog.accept()


class TestFlavours:
    def test_the_menu_has_all(self, window: MainWindow) -> None:
        names = ["zarr-v2", "zarr-v3", "nczarr", "zarr-v3-draft", "zarr-v3-draft-2020"]
        assert list(RULES) == names
        assert [each.label for each in RULES][2:4] == ["NCZarr", "Zarr v3 draft of 2019"]
        letters = [each.menu_name.partition("&")[2][0] for each in RULES]
        assert len(set(letters)) == len(names)
        actions = {spec.name for spec, _ in window.actions_.all()}
        assert {f"open_as_{name.replace('-', '_')}" for name in names} <= actions

    @pytest.mark.slow
    def test_open_as(self, window: MainWindow, folder: Path, opened: Open, settle: Settle) -> None:
        document = opened(folder)
        settle()
        assert window.actions_["open_as_found"].isChecked()
        window.actions_["open_as_nczarr"].trigger()
        settle()
        assert document.is_open
        assert document.hierarchy is not None
        assert document.hierarchy.flavour == Flavour.NCZARR
        assert window.actions_["open_as_nczarr"].isChecked()
        assert window.settings.flavour(str(folder)) == "nczarr"

    @pytest.mark.slow
    def test_a_store_is_remembered_with_its_flavour(
        self, window: MainWindow, folder: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(folder)
        settle()
        document.store.open_as("nczarr")
        settle()
        window.documents.close(document)
        window.open_recent(str(folder))
        settle()
        again = window.documents.current
        assert again is not None
        assert again.store.flavour == "nczarr"
        assert again.hierarchy is not None
        assert again.hierarchy.flavour == Flavour.NCZARR
        again.store.open_as("")
        settle()
        assert window.settings.flavour(str(folder)) == ""

    def test_not_for_documents(self, window: MainWindow, small: Path, opened: Open, settle: Settle) -> None:
        opened(small)
        settle()
        assert not window.actions_["open_as_nczarr"].isEnabled()


class TestSaving:
    @pytest.mark.slow
    def test_an_edit_is_saved_beside_the_store(
        self, window: MainWindow, store: Path, tmp_path: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        before = contents(store)
        document = opened(store)
        settle()
        document.apply(SetMetadata("temp/.zattrs", {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "degC"}))
        settle()
        window.actions_["save"].trigger()
        settle()
        if store.is_dir():
            button(window, "saveStoreQuestionBeside").click()
        dialog = window.findChild(QFileDialog, "saveAsDialog")
        assert dialog is not None
        assert Path(dialog.selectedFiles()[0]).name == "sea.json"
        dialog.close()
        target = tmp_path / "overlay.json"
        window.groups[SaveCommands].save_to(document, str(target), 0)
        qtbot.waitUntil(lambda: window.findChild(SavePreviewDialog) is not None)
        told = [label.text() for label in window.findChild(SavePreviewDialog).findChildren(QLabel)]
        assert any(text.startswith("All 8 references are written out") for text in told), told
        assert not any("template" in text or "gen rule" in text for text in told)
        button(window, "savePreviewSaveButton").click()
        qtbot.waitUntil(target.exists)
        settle()
        assert contents(store) == before
        assert not document.store.is_here
        assert document.can_save_in_place
        import fsspec

        mapper = fsspec.filesystem("reference", fo=str(target)).get_mapper()
        assert json.loads(mapper["temp/.zattrs"])["units"] == "degC"
        assert mapper["temp/0.0"] == VALUES[:2, :3].tobytes()
        assert "temp/1.1" not in mapper

    @pytest.mark.slow
    def test_an_edit_is_written_into_a_folder_after_one_question(
        self, window: MainWindow, folder: Path, opened: Open, settle: Settle
    ) -> None:
        before = contents(folder)
        document = opened(folder)
        settle()

        def save() -> None:
            window.actions_["save"].trigger()
            settle()

        document.apply(SetMetadata("temp/.zattrs", {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "degC"}))
        settle()
        save()
        box = window.findChild(QMessageBox, "saveStoreQuestion")
        assert "temp/.zattrs" in box.informativeText()
        button(box, "saveStoreQuestionCancel").click()
        settle()
        assert document.is_dirty
        assert contents(folder) == before
        # What was typed for a save that was given up is no news of the next one.
        window.attributes.show_metadata("temp/.zattrs")
        settle()
        window.attributes.metadata.field.setPlainText('{"units": "m"}')
        save()
        button(window.findChild(QMessageBox, "saveStoreQuestion"), "saveStoreQuestionCancel").click()
        settle()
        document.undo()
        settle()
        save()
        button(window.findChild(QMessageBox, "saveStoreQuestion"), "saveStoreQuestionInto").click()
        settle()
        assert not document.is_dirty
        assert window.status.text() == "Written into sea.zarr: temp/.zattrs"
        assert document.store.is_here
        assert {key for key, data in contents(folder).items() if data != before.get(key)} == {"temp/.zattrs"}
        assert zarr.open_group(folder, mode="r")["temp"].attrs["units"] == "degC"
        assert not window.centre.disk_bar.isVisible()
        # Not asked again; what is undone is written too.
        document.undo()
        settle()
        assert document.is_dirty
        save()
        assert window.findChild(QMessageBox, "saveStoreQuestion") is None
        assert not document.is_dirty
        assert contents(folder) == before
        # What others changed is not written over, nor is a reference of a chunk written at all.
        document.redo()
        (folder / "temp/.zattrs").write_text("{}")
        save()
        assert "changed by another program" in window.centre.error_bar.text()
        assert document.is_dirty
        (folder / "temp/.zattrs").write_bytes(before["temp/.zattrs"])
        document.apply(SetReference("temp/0.0", ["elsewhere", 0, 6]))
        settle()
        save()
        box = window.findChild(QMessageBox, "saveStoreQuestion")
        assert "references of chunks were edited" in box.informativeText()
        assert not button(box, "saveStoreQuestionInto").isEnabled()
        button(box, "saveStoreQuestionCancel").click()
        assert contents(folder) == before

    @pytest.mark.slow
    def test_a_save_that_fails_half_way_is_gone_on_from(
        self,
        window: MainWindow,
        folder: Path,
        opened: Open,
        settle: Settle,
        qtbot: QtBot,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        before = contents(folder)
        document = opened(folder)
        settle()
        document.store.is_written = True
        document.apply(SetMetadata(".zattrs", {"title": "Other"}))
        document.apply(SetMetadata("temp/.zattrs", {"units": "degC"}))
        settle()
        replace = os.replace

        def fails(source: str, target: str) -> None:
            if target.endswith("sea.zarr/temp/.zattrs"):
                raise OSError(28, "No space left on device")
            replace(source, target)

        monkeypatch.setattr(os, "replace", fails)
        window.actions_["save"].trigger()
        settle()
        monkeypatch.undo()
        assert "No space left" in window.centre.error_bar.text()
        assert contents(folder) == {**before, ".zattrs": (folder / ".zattrs").read_bytes()}
        # It is no news of others, and what was written is to be saved again even when it was undone.
        qtbot.waitUntil(lambda: document.identity == identity_on_disk(folder / ".zattrs"))
        assert document.file.state is FileState.SAME
        document.undo()
        document.undo()
        settle()
        assert document.is_dirty
        for title in ("Third", "Sea"):
            document.apply(SetMetadata(".zattrs", {"title": title}))
            window.actions_["save"].trigger()
            settle()
            assert not document.is_dirty, window.centre.error_bar.text()
            assert json.loads((folder / ".zattrs").read_bytes()) == {"title": title}
        assert contents(folder) == before
        assert document.file.state is FileState.SAME

    @pytest.mark.slow
    def test_what_is_beside_a_store_is_as_it_was_written(
        self, window: MainWindow, folder: Path, tmp_path: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        """Rules that were made for the store are not those of the file: none are shown, none compared."""
        document = opened(folder)
        settle()
        target = tmp_path / "beside.json"
        for version, units in ((1, "degC"), (1, "degF")):
            document.apply(SetMetadata("temp/.zattrs", {"_ARRAY_DIMENSIONS": ["y", "x"], "units": units}))
            settle()
            if document.store.is_here:
                window.groups[SaveCommands].save_to(document, str(target), version)
                qtbot.waitUntil(lambda: window.findChild(SavePreviewDialog) is not None)
                button(window, "savePreviewSaveButton").click()
                qtbot.waitUntil(target.exists)
            else:
                window.actions_["save"].trigger()
            settle()
            assert not document.is_dirty
            refs = json.loads(target.read_text())["refs"]
            assert json.loads(refs["temp/.zattrs"])["units"] == units
            assert {"temp/0.0", "temp/0.1", "temp/1.0"} <= refs.keys()
            assert not {"temp/1.1"} & refs.keys()
            model = window.hierarchy.model
            rows = [
                model.index(row, 0, model.index(0, 0)) for row in range(model.rowCount(model.index(0, 0)))
            ]
            assert [item.kind for item in map(model.item, rows) if item is not None] == [
                ItemKind.ARRAY,
                ItemKind.DIMENSION,
                ItemKind.DIMENSION,
            ]
            parts: list[object] = []
            document.file.compare(parts.append, pytest.fail)
            settle()
            assert parts == [()]
            os.utime(target)
            qtbot.waitUntil(lambda: document.identity == identity_on_disk(target))
            assert document.file.state is FileState.SAME

    @pytest.mark.slow
    def test_never_into_the_store(
        self, window: MainWindow, store: Path, opened: Open, settle: Settle
    ) -> None:
        before = contents(store)
        document = opened(store)
        settle()
        document.apply(SetMetadata(".zattrs", {"title": "Other"}))
        settle()
        inside = store / "overlay.json" if store.is_dir() else store
        window.groups[SaveCommands].save_to(document, str(inside), 1)
        assert "in the store itself" in window.centre.error_bar.text()
        settle()
        assert contents(store) == before
        assert document.is_dirty


def test_a_dimension_gets_another_name(
    window: MainWindow, folder: Path, opened: Open, settle: Settle
) -> None:
    """Plot and map name it anew, and keep their axes."""
    document = opened(folder)
    window.hierarchy.select_node(document, "/temp")
    settle()
    plot = window.centre.plot
    assert plot is not None
    header, chunks = plot.header, window.findChild(ChunkMapPane)
    assert chunks is not None
    header.x_axis.setCurrentIndex(0)
    header.x_axis.activated.emit(0)
    settle()
    for names in (["y", "x"], ["north", "east"]):
        document.apply(SetMetadata("temp/.zattrs", {"_ARRAY_DIMENSIONS": names}))
        settle()
        assert [header.x_axis.itemText(number) for number in range(2)] == names
        assert (header.x_axis.currentText(), header.y_axis.currentText()) == (names[0], names[1])
        assert (chunks.controls.across.currentText(), chunks.controls.down.currentText()) == (
            names[0],
            names[1],
        )


class TestTheFilesOfOthers:
    def test_changed_metadata_of_the_root_is_noticed_and_read_again(
        self, window: MainWindow, folder: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        document = opened(folder)
        settle()
        (folder / ".zattrs").write_text('{"title": "New"}')
        qtbot.waitUntil(lambda: document.file.state is FileState.CHANGED)
        button(window, "diskReloadButton").click()
        qtbot.waitUntil(lambda: document.file.state is FileState.SAME)
        settle()
        assert document.hierarchy is not None
        assert document.hierarchy.root.attributes["title"] == "New"

    def test_keep_mine(
        self, window: MainWindow, folder: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        document = opened(folder)
        settle()
        (folder / ".zattrs").write_text('{"title": "New"}')
        qtbot.waitUntil(lambda: document.file.state is FileState.CHANGED)
        button(window, "diskKeepButton").click()
        qtbot.waitUntil(lambda: document.file.state is FileState.SAME)
        settle()
        assert document.hierarchy is not None
        assert document.hierarchy.root.attributes["title"] == "Sea"
        assert document.is_dirty

    def test_f5_reads_again(self, window: MainWindow, store: Path, opened: Open, settle: Settle) -> None:
        document = opened(store)
        settle()
        QTest.keyClick(window, Qt.Key.Key_F5)
        settle()
        assert document.is_open
        assert document.store.is_here
        assert document.store.listing is not None


def test_unsaved_edits_of_a_store_are_kept_in_a_journal(
    window: MainWindow, folder: Path, opened: Open, settle: Settle
) -> None:
    from refbrowser.engine.journal import JournalWriter, find_recoveries
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.document.history import History

    document = opened(folder)
    settle()
    state = document.document
    assert state is not None
    history = History(state)
    writer = JournalWriter(lambda error: pytest.fail(str(error)))
    history.apply(SetMetadata(".zattrs", {"title": "Other"}))
    writer.follow(document.path, history)
    writer.flush()
    again = opened(folder).saved_document
    assert again is not None
    assert again.to_bytes() == state.to_bytes()
    writer.close()
    assert find_recoveries(document.path, again, CancelToken()) == ()


def test_what_a_drop_will_do() -> None:
    heading, _detail = Drop(("/data/sea.zarr",)).words(False)
    assert heading == "Open: the store sea.zarr"
    assert Drop(("/data/sea.json",)).words(True)[0] == "Open it as another document: sea.json"
