"""Inner chunks of shards as chunks of a map: where they lie, which are missing, what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.views.chunks.inner_chunks import InnerManifest, inner_node, shard_layout

zarr = pytest.importorskip("zarr")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An array of 3 × 2 shards of 2 × 2 inner chunks: a chunk is not stored, a shard is gone, one is cut."""
    path = tmp_path / "s.zarr"
    array = zarr.create_array(
        str(path),
        name="a",
        shape=(22, 15),
        chunks=(4, 4),
        shards=(8, 8),
        dtype="<i4",
        compressors=None,
        fill_value=0,
    )
    values = np.arange(1, 22 * 15 + 1, dtype="<i4").reshape(22, 15)
    values[0:4, 4:8] = 0
    array[:] = values
    (path / "a/c/1/1").unlink()
    (path / "a/c/2/0").write_bytes(b"short")
    zarr.create_array(str(path), name="plain", shape=(4,), chunks=(2,), dtype="<i4")
    return path


@pytest.fixture
def dataset(store: Path) -> Any:
    with refbrowser.open(store) as dataset:
        yield dataset


def inner_of(dataset: Any, name: str = "a") -> tuple[ArrayNode, InnerManifest]:
    node = inner_node(dataset.hierarchy.find(name), dataset.session, dataset.access)
    assert node is not None
    assert isinstance(node.manifest, InnerManifest)
    return node, node.manifest


def all_coords(shape: tuple[int, ...]) -> np.ndarray:
    return np.indices(shape, np.int64).reshape(len(shape), -1).T


def test_each_inner_chunk_is_where_its_bytes_are(dataset: Any, store: Path) -> None:
    node, manifest = inner_of(dataset)
    assert node.grid.grid_shape == manifest.grid_shape == (6, 4)
    assert node.grid.chunk_shape == (4, 4)
    columns = manifest.columns(all_coords((6, 4)))
    kinds = columns.kind.reshape(6, 4)
    expected = np.full((6, 4), ReferenceKind.RANGE)
    expected[0, 1] = ReferenceKind.MISSING
    expected[2:4, 2:] = ReferenceKind.MISSING
    expected[4:, :2] = ReferenceKind.FAULTY
    assert kinds.tolist() == expected.tolist()
    row = 1 * 4 + 2
    offset, length = int(columns.offset[row]), int(columns.length[row])
    data = (store / "a/c/0/1").read_bytes()[offset : offset + length]
    assert np.frombuffer(data, "<i4").reshape(4, 4)[:, :4].tolist()[0][:4] == [
        15 * 4 + at + 9 for at in range(4)
    ]
    assert "cannot hold the index" in columns.faults[4 * 4].message


def test_indexes_are_read_once(dataset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _node, manifest = inner_of(dataset)
    asked: list[int] = []
    fetch = manifest._fetch
    monkeypatch.setattr(manifest, "_fetch", lambda columns: asked.append(len(columns)) or fetch(columns))
    manifest.columns(np.array([[0, 0], [1, 1]]))
    assert sum(asked) == 2, "the size of a whole object, and its index"
    manifest.columns(np.array([[1, 0], [0, 1]]))
    assert sum(asked) == 2
    manifest.columns(np.array([[0, 2]]))
    assert sum(asked) == 4


def test_coordinates_both_ways(dataset: Any) -> None:
    _node, manifest = inner_of(dataset)
    assert manifest.shard_of((5, 3)) == (2, 1)
    assert manifest.first_in((2, 1)) == (4, 2)
    assert manifest.key((5, 3)) == "a/c/2/1"


def test_arrays_without_shards_have_none(dataset: Any) -> None:
    plain = dataset.hierarchy.find("plain")
    assert shard_layout(plain) is None
    assert inner_node(plain, dataset.session, dataset.access) is None
