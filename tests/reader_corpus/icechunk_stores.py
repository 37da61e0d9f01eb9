"""Repositories of Icechunk, written by its own library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from reader_corpus.corpus import NUMBERS, SIDES, Store

_THEN = 1_600_000_000
_NEEDS = ("icechunk",)


def _repository(folder: Path, inline: int = 0, *, oldest: bool = False) -> Any:
    import icechunk

    specified = {"spec_version": 1} if oldest and hasattr(icechunk, "SpecVersion") else {}
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = inline
    prefix = f"file://{folder}/"
    store = icechunk.local_filesystem_store(str(folder))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    storage = icechunk.local_filesystem_storage(str(folder / "repo"))
    return icechunk.Repository.create(storage, config, **specified)


def _native(options: dict[str, Any], inline: int, folder: Path, *, oldest: bool = False) -> Path:
    import zarr

    repository = _repository(folder, inline, oldest=oldest)
    session = repository.writable_session("main")
    group = zarr.group(store=session.store)
    said = {"chunks": SIDES, "dimension_names": ("d0", "d1"), **options}
    array = group.create_array("v", shape=NUMBERS.shape, dtype=NUMBERS.dtype, **said)
    array[...] = NUMBERS
    session.commit("written")
    return folder / "repo"


def _virtual(folder: Path) -> Path:
    import zarr

    parts = [np.zeros(SIDES, "<i4") for _ in range(9)]
    for number, part in enumerate(parts):
        y, x = divmod(number, 3)
        found = NUMBERS[3 * y : 3 * y + 3, 4 * x : 4 * x + 4]
        part[tuple(map(slice, found.shape))] = found
    source = folder / "data.bin"
    source.write_bytes(b"".join(part.tobytes() for part in parts))
    os.utime(source, (_THEN, _THEN))
    repository = _repository(folder)
    session = repository.writable_session("main")
    group = zarr.group(store=session.store)
    group.create_array(
        "v",
        shape=NUMBERS.shape,
        chunks=SIDES,
        dtype="<i4",
        compressors=None,
        filters=None,
        dimension_names=("d0", "d1"),
    )
    then = datetime.fromtimestamp(_THEN, UTC)
    for number in range(9):
        y, x = divmod(number, 3)
        session.store.set_virtual_ref(
            f"v/c/{y}/{x}", f"file://{source}", offset=48 * number, length=48, checksum=then
        )
    session.commit("written")
    return folder / "repo"


def icechunk_stores() -> Iterator[Store]:
    """Yield them."""
    sharded = {"chunks": (2, 2), "shards": (4, 4)}
    for name, write in (
        ("native", partial(_native, {}, 0)),
        ("inline", partial(_native, {"compressors": None}, 1024)),
        ("shards", partial(_native, sharded, 0)),
        ("specification 1", partial(_native, {}, 0, oldest=True)),
        ("virtual", _virtual),
    ):
        yield Store(f"icechunk/{name}", write, NUMBERS, needs=_NEEDS)
