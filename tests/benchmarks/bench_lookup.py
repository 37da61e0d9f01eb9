"""A key, a page of keys and the map of chunks in 1,000,000 references. No peer has a page or a map."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from documents import write_large
from report import figure, heading

import refbrowser
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.model.chunk_keys import ChunkKeyEncoding

GRID = (100, 100, 100)
PAGE = 100


def median(run: Callable[[Any], object], arguments: Iterator[Any], times: int) -> float:
    """Return the median of the seconds that `run` takes for each of some arguments."""
    found = []
    for _ in range(times):
        argument = next(arguments)
        start = time.perf_counter()
        run(argument)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> None:
    """Print the figures."""
    heading("Looking things up in 1,000,000 references (other: fsspec)")
    random = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        path = write_large(Path(folder) / "large.json", 1_000_000, GRID)
        with refbrowser.open(path) as dataset:
            expansion = dataset.document.expansion
            keys = (f"v00/{a}.{b}.{c}" for a, b, c in random.integers(0, 100, (100_000, 3)).tolist())
            theirs = fsspec_keys(path, keys)
            found = median(expansion.find, keys, 5_000)
            figure("row of a key", found * 1e6, "us", other=theirs[0] * 1e6, aim="at most 10 us")
            whole = median(expansion.reference, keys, 5_000)
            figure("reference of a key", whole * 1e6, "us", other=theirs[0] * 1e6)
            pages = iter(random.integers(0, expansion.rows - PAGE, 1_000).tolist())
            page = median(lambda row: expansion.items(row, row + PAGE), pages, 500)
            figure("page of 100 keys with what they point to", page * 1e3, "ms", aim="at most 1 ms")
            manifest = ExpansionManifest(expansion, "v00/", GRID, ChunkKeyEncoding())
            assert manifest.kinds().shape == GRID
            grids = iter([None] * 20)
            figure(
                "map of 1,000,000 chunks", median(lambda _: manifest.kinds(), grids, 20) * 1e3, "ms",
                other=theirs[1] * 1e3, aim="at most 20 ms",
            )  # fmt: skip


def fsspec_keys(path: Path, keys: Iterator[str]) -> tuple[float, float]:
    """Return the seconds in which fsspec tells one key, and which chunks of the array there are."""
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    system = fsspec.filesystem(
        "reference", fo=str(path), fs=MemoryFileSystem(), simple_templates=False, skip_instance_cache=True
    )
    system.ls("v00", detail=False)
    one = median(lambda key: system._cat_common(key), keys, 5_000)
    return one, median(lambda _: system.ls("v00", detail=False), iter([None] * 3), 3)


if __name__ == "__main__":
    main()
