"""Copied lines open the snapshot that is seen with icechunk alone, virtual chunks included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.views.plot.snippet_store import source_of
from refbrowser.views.plot.snippets import SnippetView, xarray_snippet, zarr_snippet

icechunk = pytest.importorskip("icechunk")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with an own and a virtual array, the second of two commits another one."""
    import zarr

    source = tmp_path / "source"
    source.mkdir()
    (source / "a.bin").write_bytes(np.arange(12, dtype="<i4").tobytes())
    prefix = f"file://{source}/"
    config = icechunk.RepositoryConfig.default()
    store = icechunk.local_filesystem_store(str(source))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    made = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "r")), config)
    session = made.writable_session("main")
    group = zarr.group(store=session.store)
    own = group.create_array("g/own", shape=(4,), chunks=(2,), dtype="<f8", dimension_names=("x",))
    own[:] = [1, 2, 3, 4]
    virtual = {"shape": (12,), "chunks": (4,), "dtype": "<i4", "compressors": None, "filters": None}
    group.create_array("virtual", dimension_names=("y",), **virtual)
    for number in range(3):
        session.store.set_virtual_ref(f"virtual/c/{number}", f"{prefix}a.bin", offset=16 * number, length=16)
    session.commit("first")
    session = made.writable_session("main")
    zarr.open_array(session.store, path="g/own", mode="a")[:] = 9
    session.commit("second")
    return tmp_path / "r"


def values_of(code: str) -> np.ndarray:
    space: dict[str, Any] = {}
    exec(compile(code, "copied", "exec"), space)
    return np.asarray(space["values"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first"), [("g/own", [1, 2, 3, 4]), ("virtual", list(range(12)))])
def test_it_is_the_snapshot_that_was_seen(repository: Path, name: str, first: list[int]) -> None:
    opened = icechunk.Repository.open(icechunk.local_filesystem_storage(str(repository)))
    older = list(opened.ancestry(branch="main"))[1].id
    with refbrowser.open(repository, snapshot=older, allow=[str(repository.parent)]) as dataset:
        node = dataset.hierarchy.find(name)
        assert isinstance(node, ArrayNode)
        state = SliceState(node.shape, dimension_names(node), 0, None, (0,))
        view = SnippetView(node, state, (range(node.shape[0]),), True)
        source = source_of(dataset, ())
        codes = [zarr_snippet(source, view), xarray_snippet(source, dataset.hierarchy, view)]
    assert not any("refbrowser" in code for code in codes)
    for code in codes:
        assert values_of(code).tolist() == first
