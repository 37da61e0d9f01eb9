"""What is saved of an opened store beside its chunks: consolidated metadata, version, keys of the drafts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import zarr
from stores_made import fill, store_in

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.saving import save as store
from refbrowser.exporting.saving import save_preview
from refbrowser.exporting.saving.portable_document import portable_document
from refbrowser.exporting.saving.save import with_consolidated
from refbrowser.formats.store_rules import EARLY_DRAFT, RULES
from refbrowser.references.edits.edits import SetMetadata, SetReference, SetVersion


def consolidated_store(tmp_path: Path, zarr_format: int) -> Path:
    fill(tmp_path / "s.zarr", zarr_format)
    zarr.consolidate_metadata(tmp_path / "s.zarr", zarr_format=zarr_format)
    return tmp_path / "s.zarr"


def refs(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    return found.get("refs", found)


@pytest.mark.parametrize("target", ["refs-v0", "refs-v1"])
def test_consolidated_metadata_of_v2_is_that_of_the_nodes(tmp_path: Path, target: str) -> None:
    with refbrowser.open(consolidated_store(tmp_path, 2)) as dataset:
        changed = dataset.document.apply(SetMetadata("temp/.zattrs", {"units": "K"}))
        edited = dataset.with_document(changed)
        refbrowser.export(edited, tmp_path / "all.json", format=target)
        refbrowser.export(edited, tmp_path / "one.json", format=target, arrays=["/temp"])
    for name in ("all.json", "one.json"):
        found = refs(tmp_path / name)
        entries = json.loads(found[".zmetadata"])["metadata"]
        single = {key: value for key, value in found.items() if key.rpartition("/")[2][:2] == ".z"}
        del single[".zmetadata"]
        assert entries == {key: json.loads(value) for key, value in single.items()}
        assert entries["temp/.zattrs"] == {"units": "K"}
    assert not any(key.startswith("sub/") for key in json.loads(found[".zmetadata"])["metadata"])


def test_consolidated_metadata_of_v3_is_that_of_the_nodes(tmp_path: Path) -> None:
    with refbrowser.open(consolidated_store(tmp_path, 3)) as dataset:
        facts = json.loads(dataset.document.expansion.value("temp/zarr.json"))
        facts["attributes"] = {"units": "K"}
        edited = dataset.with_document(dataset.document.apply(SetMetadata("temp/zarr.json", facts)))
        refbrowser.export(edited, tmp_path / "one.json", format="refs-v0", arrays=["/temp"])
    root = json.loads(refs(tmp_path / "one.json")["zarr.json"])
    assert root["consolidated_metadata"]["metadata"] == {"temp": facts}
    assert root["attributes"] == {"title": "made"}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_store_without_consolidated_metadata_gets_none(tmp_path: Path, zarr_format: int) -> None:
    path, _ = store_in(tmp_path, "folder", zarr_format)
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, tmp_path / "out.json", format="refs-v0")
    found = refs(tmp_path / "out.json")
    assert ".zmetadata" not in found
    # zarr-python 3.0 writes null.
    assert json.loads(found.get("zarr.json", "{}")).get("consolidated_metadata") is None


def test_consolidated_metadata_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refbrowser.open(consolidated_store(tmp_path, 2)) as dataset:
        document = dataset.document
        broken = document.apply(SetReference("temp/.zattrs", "{no"))
        made, losses = with_consolidated(broken, document.store)
        assert made is broken
        assert ["temp/.zattrs" in loss.what for loss in losses] == [True]
        monkeypatch.setattr(store, "LIMITS", dataclasses.replace(store.LIMITS, inline_value=100))
        made, losses = with_consolidated(document, document.store)
        assert made is document
        assert "not fit" in losses[0].what


def test_the_version_that_is_proposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = store_in(tmp_path, "folder", 2)
    (tmp_path / "d.json").write_text('{"version": 1, "refs": {".zgroup": "{\\"zarr_format\\": 2}"}}')
    with refbrowser.open(path) as dataset, refbrowser.open(tmp_path / "d.json") as plain:
        document = dataset.document
        assert save_preview.proposed_version(document) == 0
        assert save_preview.proposed_version(plain.document) == 1
        monkeypatch.setattr(save_preview, "PROPOSED_ROWS", 10)
        assert save_preview.proposed_version(document) == 1


def test_a_store_is_known_in_either_version(tmp_path: Path) -> None:
    """Missing chunks of a store stay missing, and are left out of what is saved, once it is Version 0."""
    path, values = store_in(tmp_path, "folder", 2)
    with refbrowser.open(path) as dataset:
        rows = dataset.with_document(dataset.document.apply(SetVersion(0)))
        assert rows.document.store is dataset.document.store
        np.testing.assert_array_equal(rows["/temp"][...], values["/temp"])
        made = portable_document(rows, JobControl()).document
        assert rows.document.expansion.find("temp/3.0") is not None
        assert made.expansion.find("temp/3.0") is None


def test_a_draft_keeps_its_own_keys(tmp_path: Path) -> None:
    path, values = store_in(tmp_path, "folder", 2)
    with refbrowser.open(path) as dataset:
        refbrowser.export(dataset, tmp_path / "draft", format="zarr-v3-draft")
    with refbrowser.open(tmp_path / "draft") as dataset:
        report = refbrowser.export(dataset, tmp_path / "out.json", format="refs-v0")
    assert [loss.what for loss in report.losses] == [RULES[EARLY_DRAFT].loss]
    system = fsspec.filesystem("reference", fo=str(tmp_path / "out.json"), skip_instance_cache=True)
    stored = {
        each.relative_to(tmp_path / "draft").as_posix(): each.read_bytes()
        for each in (tmp_path / "draft").rglob("*")
        if each.is_file()
    }
    assert {key: system.cat(key) for key in stored} == stored
    with refbrowser.open(tmp_path / "out.json") as again:
        np.testing.assert_array_equal(again["/temp"][...], values["/temp"])
