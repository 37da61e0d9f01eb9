"""Small repositories of virtual, own and inline chunks, and colleagues who commit by the library itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import icechunk
import numpy as np
import xarray
import zarr

#: The values of the virtual array, chunks of one row each, and of the array with its own chunks.
VIRTUAL = np.arange(24, dtype="<i4").reshape(4, 6)
OWN = np.arange(600, dtype="<f8")


def repository_in(folder: Path) -> Path:
    """Write a repository: ``/v`` (y, x) is virtual, ``/g/own`` (n) is not, ``/x`` is a coordinate."""
    data = folder / "data.bin"
    data.write_bytes(VIRTUAL.tobytes())
    path = folder / "r.icechunk"
    config = icechunk.RepositoryConfig.default()
    store = icechunk.local_filesystem_store(str(folder))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(f"file://{folder}/", store))
    storage = icechunk.local_filesystem_storage(str(path))
    repository = icechunk.Repository.create(storage, config=config)
    session = repository.writable_session("main")
    root = zarr.create_group(session.store, attributes={"title": "a test", "kept": 1})
    v = root.create_array(
        "v", shape=(4, 6), chunks=(1, 6), dtype="<i4", compressors=None, dimension_names=["y", "x"]
    )
    v.attrs.update({"units": "K", "long_name": "v"})
    for row in range(4):
        session.store.set_virtual_ref(f"v/c/{row}/0", f"file://{data}", offset=24 * row, length=24)
    x = root.create_array("x", shape=(6,), chunks=(6,), dtype="<i4", dimension_names=["x"])
    x[:] = np.arange(6)
    own = root.create_group("g").create_array(
        "own", shape=OWN.shape, chunks=(200,), dtype="<f8", compressors=None, dimension_names=["n"]
    )
    own[:] = OWN
    session.commit("made")
    return path


def library_repository(path: Path) -> Any:
    """Open a repository by the library, with its virtual chunks."""
    granted = icechunk.containers_credentials({f"file://{path.parent}/": None})
    storage = icechunk.local_filesystem_storage(str(path))
    return icechunk.Repository.open(storage, authorize_virtual_chunk_access=granted)


def library_group(path: Path, branch: str = "main") -> Any:
    """Return the root group of the newest snapshot, as the library and zarr-python read it."""
    return zarr.open_group(library_repository(path).readonly_session(branch).store, mode="r")


def library_dataset(path: Path, group: str | None = None) -> Any:
    """Return it as xarray reads it."""
    store = library_repository(path).readonly_session("main").store
    return xarray.open_zarr(store, group=group, consolidated=False)


def colleague_commits(path: Path, change: Callable[[Any], None], branch: str = "main") -> str:
    """Commit something by the library alone; returns the snapshot."""
    session = library_repository(path).writable_session(branch)
    change(zarr.open_group(session.store, mode="r+"))
    found: str = session.commit("a colleague's")
    return found


def messages(path: Path, branch: str = "main") -> list[str]:
    """Return the messages of a branch, the newest first."""
    return [each.message for each in library_repository(path).ancestry(branch=branch)]


def metadata_of(path: Path, node: str) -> Any:
    """Return the metadata of a node, as the library gives it."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    store = library_repository(path).readonly_session("main").store
    found = sync(store.get(f"{node}/zarr.json".removeprefix("/"), default_buffer_prototype()))
    return None if found is None else json.loads(found.to_bytes())
