"""Stores edited in the window and saved: fsspec reads the file with its defaults, missing chunks as fill."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import fsspec
import numpy as np
import pytest
import zarr
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel, QMessageBox
from pytestqt.qtbot import QtBot
from window_fixtures import Open, button

import refbrowser
from refbrowser.app.commands.saving import SaveCommands
from refbrowser.app.dialogs.save_dialogs import FORMS, SavePreviewDialog
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetMetadata

Settle = Callable[[], None]
VALUES = np.arange(48, dtype="<i4").reshape(6, 8)
KINDS = ("v2", "v2-consolidated", "v3", "v3-consolidated", "v3-sharded", "nczarr", "stored", "deflated")

#: Kinds that long runs alone try: another one has each thing that they have.
ALIKE = ("v2-consolidated", "v3", "deflated")


def store_of(kind: str, folder: Path) -> Path:
    """Write a store with missing chunks, one name with braces in it."""
    path = folder / "in" / "sea.zarr"
    zarr_format = 3 if kind.startswith("v3") else 2
    group = zarr.create_group(path, zarr_format=zarr_format, attributes={"title": "Sea"})
    for name in ("temp", "a{{u}}b"):
        array = group.create_array(
            name,
            shape=VALUES.shape,
            chunks=(2, 4),
            shards=(4, 4) if kind == "v3-sharded" else None,
            dtype=VALUES.dtype,
            fill_value=-9,
            attributes={"units": "K"} | ({"_ARRAY_DIMENSIONS": ["y", "x"]} if zarr_format == 2 else {}),
            **({"dimension_names": ("y", "x")} if zarr_format == 3 else {}),
        )
        array[:4] = VALUES[:4]
    if kind.endswith("consolidated"):
        zarr.consolidate_metadata(path, zarr_format=zarr_format)
    if kind == "nczarr":
        with refbrowser.open(path) as dataset:
            refbrowser.export(dataset, folder / "in" / "nc.zarr", format="nczarr", arrays=["/temp"])
        return folder / "in" / "nc.zarr"
    if kind in ("stored", "deflated"):
        archive = folder / "in" / "sea.zip"
        method = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(archive, "w", method) as made:
            for each in sorted(path.rglob("*")):
                if each.is_file():
                    made.write(each, each.relative_to(path).as_posix())
        return archive
    return path


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for each in sorted(folder.rglob("*")):
        found.update(f"{each}\n".encode() + (each.read_bytes() if each.is_file() else b""))
    return found.hexdigest()


def wanted() -> np.ndarray:
    values = VALUES.copy()
    values[4:] = -9
    return values


def metadata_key(kind: str) -> tuple[str, bool]:
    return ("temp/zarr.json", True) if kind.startswith("v3") else ("temp/.zattrs", False)


def changed(document: object, kind: str, units: str) -> SetMetadata:
    """Return the edit of the attribute `units`."""
    key, inside = metadata_key(kind)
    facts = json.loads(document.expansion.value(key))  # type: ignore[attr-defined]
    (facts["attributes"] if inside else facts)["units"] = units
    return SetMetadata(key, facts)


def save(window: MainWindow, qtbot: QtBot, target: Path) -> str:
    """Press Save, take references beside the store as they are proposed, and return what was said before."""
    window.actions_["save"].trigger()
    qtbot.waitUntil(lambda: window.findChild(QDialog) is not None)
    question = window.findChild(QMessageBox, "saveStoreQuestion")
    if question is not None:
        button(question, "saveStoreQuestionBeside").click()
    dialog = window.findChild(QFileDialog, "saveAsDialog")
    assert dialog is not None
    assert FORMS[dialog.selectedNameFilter()].version == 0
    dialog.fileSelected.emit(str(target))
    dialog.close()
    return said(window, qtbot)


def said(window: MainWindow, qtbot: QtBot) -> str:
    """Return what the dialog says that comes before a save, and go on."""
    qtbot.waitUntil(lambda: window.findChild(SavePreviewDialog) is not None)
    dialog = window.findChild(SavePreviewDialog)
    assert dialog is not None
    words = dialog.findChild(QLabel, "savePreviewVersion")
    assert words is not None
    qtbot.mouseClick(button(dialog, "savePreviewSaveButton"), Qt.MouseButton.LeftButton)
    return words.text()


def group_of(target: Path) -> zarr.Group:
    store = zarr.storage.FsspecStore.from_url(
        "reference://", storage_options={"fo": str(target), "skip_instance_cache": True}, read_only=True
    )
    return zarr.open_group(store, mode="r")


def check(target: Path, kind: str, units: str) -> None:
    """Read the file as others do by default."""
    system = fsspec.filesystem("reference", fo=str(target), skip_instance_cache=True)
    key, inside = metadata_key(kind)
    facts = json.loads(system.cat(key))
    assert (facts["attributes"] if inside else facts)["units"] == units
    group = group_of(target)
    for name in ("temp",) if kind == "nczarr" else ("temp", "a{{u}}b"):
        np.testing.assert_array_equal(group[name][...], wanted())
    assert group["temp"].attrs["units"] == units
    xarray = pytest.importorskip("xarray")
    for consolidated in (None, *([True] if kind.endswith("consolidated") else [])):
        found = xarray.open_dataset(
            "reference://",
            engine="zarr",
            consolidated=consolidated,
            mask_and_scale=False,
            backend_kwargs={"storage_options": {"fo": str(target), "skip_instance_cache": True}},
        )
        np.testing.assert_array_equal(found["temp"].values, wanted())
        assert found["temp"].attrs["units"] == units


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kind", [pytest.param(each, marks=pytest.mark.long) if each in ALIKE else each for each in KINDS]
)
def test_an_edited_store_is_saved_for_others(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path, kind: str
) -> None:
    store = store_of(kind, tmp_path)
    before = digest(tmp_path / "in")
    document = opened(store)
    settle()
    document.apply(changed(document.document, kind, "degC"))
    settle()
    target = tmp_path / "overlay.json"
    assert "fsspec reads it as it is" in save(window, qtbot, target)
    settle()
    assert (document.path, document.is_dirty) == (str(target), False)
    check(target, kind, "degC")
    # From then on Save goes there, with nothing asked.
    document.apply(changed(document.document, kind, "m"))
    settle()
    window.actions_["save"].trigger()
    settle()
    assert not document.is_dirty
    check(target, kind, "m")
    assert window.centre.loss_bar.isHidden()
    assert document.dataset is not None
    np.testing.assert_array_equal(document.dataset["/temp"][...], wanted())
    assert digest(tmp_path / "in") == before


def test_version_1_says_what_fsspec_needs(
    window: MainWindow, opened: Open, settle: Settle, qtbot: QtBot, tmp_path: Path
) -> None:
    group = zarr.create_group(tmp_path / "in" / "full.zarr", zarr_format=2)
    group.create_array("temp", shape=VALUES.shape, chunks=(2, 4), dtype="<i4")[...] = VALUES
    document = opened(tmp_path / "in" / "full.zarr")
    settle()
    window.groups[SaveCommands].save_to(document, str(tmp_path / "rules.json"), 1)
    assert "simple_templates=False" in said(window, qtbot)
    settle()
    assert len(json.loads((tmp_path / "rules.json").read_text())["gen"]) == 1
    assert window.centre.loss_bar.isVisible()
    assert "simple_templates=False" in window.centre.loss_bar.text()
    assert document.document is not None
    window.groups[SaveCommands].save_to(document, str(tmp_path / "rows.json"), 0)
    said(window, qtbot)
    settle()
    assert window.centre.loss_bar.isHidden()
    np.testing.assert_array_equal(group_of(tmp_path / "rows.json")["temp"][...], VALUES)


def test_members_that_find_no_room_are_told_in_the_window(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import dataclasses

    from refbrowser.exporting.saving import portable_document

    monkeypatch.setattr(
        portable_document, "LIMITS", dataclasses.replace(portable_document.LIMITS, inlined_members=40)
    )
    document = opened(store_of("deflated", tmp_path))
    settle()
    document.apply(changed(document.document, "v2", "degC"))
    settle()
    save(window, qtbot, tmp_path / "overlay.json")
    settle()
    assert "deflated zip members" in window.centre.loss_bar.text()
    button(window, "lossDismissButton").click()
    assert window.centre.loss_bar.isHidden()
