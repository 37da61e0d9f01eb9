"""Chunks of a dataset that could not be read so far, as the log of chunks knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.chunk_log import marks_of
from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def failures_of(dataset: Dataset) -> list[RefbrowserError]:
    """Return why chunks, and members of archives, failed.

    Chunks whose reference was edited since, or that are gone, are left out.
    """
    found = []
    for path, log in dataset.session.chunk_log.arrays(dataset.access.memory):
        failures = log.failures()
        node: Any = dataset.hierarchy.find(path)
        if not failures or not isinstance(node, ArrayNode) or not node.has_manifest:
            continue
        manifest = node.manifest
        grid = manifest.grid_shape
        inside = [
            failure
            for failure in failures
            if len(failure[0]) == len(grid)
            and all(at < size for at, size in zip(failure[0], grid, strict=True))
        ]
        coords = np.array([failure[0] for failure in inside], np.int64).reshape(len(inside), len(grid))
        marks = marks_of(manifest.columns(coords)).tolist()
        found += [error for (_, mark, error), now in zip(inside, marks, strict=True) if mark == now]
    told = {_where(error) for error in found}
    damaged = dataset.access.memory.archives.damaged
    return [*found, *(error for error in damaged if _where(error) not in told)]


def _where(error: RefbrowserError) -> tuple[object, ...]:
    return error.place.url, error.place.start, error.message


def turns_of(dataset: Dataset) -> int:
    """Return a number that changes whenever `failures_of` may give something else; quick."""
    memory = dataset.access.memory
    reads = sum(log.turns for _path, log in dataset.session.chunk_log.arrays(memory))
    return reads + len(memory.archives.damaged)
