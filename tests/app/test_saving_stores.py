"""An opened store saved as a file: others can follow it, and what is open goes on to know of its store."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import zarr

import refbrowser
from refbrowser.app.controller.work import save_document
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.saving.save import SaveOrder
from refbrowser.references.edits.edits import SetMetadata


@pytest.fixture(params=["folder", "zip"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "s" / "x.zarr"
    path.parent.mkdir()
    target = path if request.param == "folder" else zarr.storage.ZipStore(path, mode="w")
    array = zarr.create_group(target, zarr_format=2).create_array("a", shape=(4,), chunks=(2,), dtype="<i4")
    array[:2] = [1, 2]
    if not isinstance(target, Path):
        target.close()
    return path


def test_an_edited_store_is_saved_beside_it(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    control = TaskControl(JobControl(), lambda _value: None)
    with refbrowser.open(store) as dataset:
        document = dataset.document.apply(SetMetadata("a/.zattrs", {"units": "K"}))
        saved = save_document(document, dataset, SaveOrder(str(out)), None, None, control)
        assert saved.written.document is document
        # Nothing is known to be missing by a listing any more: the store itself is asked.
        document.store.facts.listing = None
        moved = dataset.with_document(document).moved(str(out), saved.access)
        assert moved["/a"][...].tolist() == [1, 2, 0, 0]
    assert "a/1" not in json.loads(out.read_text())["refs"]
    with refbrowser.open(out, allow=[str(store.parent)]) as again:
        assert np.array_equal(again["/a"][...], [1, 2, 0, 0])
        assert again["/a"].attrs["units"] == "K"
