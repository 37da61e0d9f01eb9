"""What arrays need of a reader follows from metadata: of each format, codec, type and grid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from rectilinear_stores import rectilinear_json
from stores_made import store_in
from zarr.codecs import ZstdCodec

import refbrowser
from refbrowser.engine.readers.features import FeatureFinder, document_features, needed


def features_of(path: Path, array: str) -> set[str]:
    with refbrowser.open(path) as dataset:
        return set(FeatureFinder(dataset).features(dataset.array(array).node))


@pytest.mark.parametrize(
    ("container", "form"),
    [("folder", {"form:store"}), ("stored", {"form:zip-store", "zip:top"}), ("leading", {"zip:folder"})],
)
def test_stores_have_a_form(tmp_path: Path, container: str, form: set[str]) -> None:
    path, _ = store_in(tmp_path, container, 2)
    assert form <= features_of(path, "/temp")


def test_arrays_of_v2_have_types_codecs_and_fill_values(tmp_path: Path) -> None:
    import numcodecs

    group = zarr.create_group(tmp_path / "s.zarr", zarr_format=2)
    group.create_array(
        "a", shape=(4, 4), chunks=(2, 2), dtype=">f4", fill_value=np.nan, order="F",
        filters=[numcodecs.Delta(">f4")], compressors=numcodecs.Zlib(),
    )  # fmt: skip
    found = features_of(tmp_path / "s.zarr", "/a")
    assert {"metadata:zarr-v2", "codec-v2:delta", "codec-v2:zlib", "type:float32", "byte-order:big"} <= found
    assert {"order:F", "fill:nan", "grid:regular", "keys:v2.", "dimensions:unnamed"} <= found


def test_codecs_within_shards_are_needed_too(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s.zarr", zarr_format=3)
    group.create_array(
        "a", shape=(4,), chunks=(2,), shards=(4,), dtype="i2", compressors=ZstdCodec(), dimension_names=["x"]
    )
    found = features_of(tmp_path / "s.zarr", "/a")
    assert {f"codec-v3:{each}" for each in ("sharding_indexed", "bytes", "zstd", "crc32c")} <= found
    assert "dimensions:unnamed" not in found


def _written(folder: Path, **changes: Any) -> Path:
    document = rectilinear_json(np.zeros(5, "<f4"), [[2, 3]], **changes)
    (folder / "zarr.json").write_text(json.dumps(document))
    return folder


def test_unequal_chunks_are_a_grid_of_their_own(tmp_path: Path) -> None:
    assert "grid:rectilinear" in features_of(_written(tmp_path), "/")


@pytest.mark.parametrize(
    ("value", "spelling"), [(1.5, "number"), ("NaN", "text"), ("AAAAAAAA+H8=", "base64"), ("####", "text")]
)
def test_fill_values_of_attributes_are_spelled_in_several_ways(
    tmp_path: Path, value: Any, spelling: str
) -> None:
    assert f"_FillValue:{spelling}" in features_of(_written(tmp_path, attributes={"_FillValue": value}), "/")


def test_files_need_their_format_and_type_alone(tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", data=np.arange(4, dtype="<i4"), compression="gzip")
    assert features_of(tmp_path / "a.h5", "/a") == {"form:hdf5", "type:int32"}


def test_documents_count_what_they_hold() -> None:
    from refbrowser.references.document.document import ReferenceDocument

    rule = {"key": "a/{{i}}", "url": "x", "offset": "0", "length": "1", "dimensions": {"i": {"stop": 3}}}
    said = {
        "version": 1,
        "templates": {"u": "b"},
        "gen": [rule],
        "refs": {"a/9": ["{{u}}", 0, 1], "a/8": ["{{ u }}", 0, 1 << 33]},
    }
    found = document_features(ReferenceDocument.of(json.dumps(said).encode()))
    assert found == {
        "document:gen": 1,
        "document:rules": 3,
        "document:templates": 1,
        "document:templated-urls": 2,
        "document:template-calls": 1,
        "document:relative-urls": 1,
        "document:long-ranges": 1,
    }


def test_what_a_reader_has_to_know_is_told_apart() -> None:
    found = {"form:store", "type:int8", "fill:null", "codec-v2:x", "document:gen"}
    assert needed(found) == ["codec-v2:x", "form:store", "type:int8"]
