"""Reading Zarr v3 arrays of 1 GiB from the disk's cache, against zarr-python 3 and, where it is there, zarrs.

Each reader runs in a process of its own; all see the same store, which zarr-python wrote. Planes, boxes and
lines are at places drawn at random, so that little of one is left in memory for the next. All layouts take
some minutes; those to measure may be given by number: ``python tests/benchmarks/bench_zarr.py 2 3``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from report import figure, heading

SHAPE = (512, 512, 1024)
LAYOUTS: dict[str, dict[str, Any]] = {
    "zstd, chunks of 4 MiB": {"chunks": (64, 128, 128)},
    "shards of 64 MiB with zstd chunks of 512 KiB": {"shards": (128, 256, 512), "chunks": (32, 64, 64)},
    "shards of 64 MiB with zstd chunks of 64 KiB": {"shards": (128, 256, 512), "chunks": (16, 32, 32)},
    "uncompressed, chunks of 4 MiB": {"chunks": (64, 128, 128), "compressors": None},
}
#: Extent of a slice along each axis; None takes all of it.
SLICES: dict[str, tuple[int | None, ...]] = {
    "whole": (None, None, None),
    "first plane": (1, None, None),
    "last plane": (None, None, 1),
    "box of 32 KiB": (20, 20, 20),
    "line": (None, 1, 1),
}
#: Ratios that are aimed at, by peer; of zarrs those of small slices, by layout and slice.
AIMS = {
    ("zarrs", 2, "first plane"): "1.5",
    ("zarrs", 2, "last plane"): "1.5",
    ("zarrs", 3, "line"): "2",
}
REPEATS = {"whole": 3}
OFTEN = 25


def write(store: Path, numbers: list[int]) -> None:
    """Write one array for each of some layouts, smooth with noise in the last digits."""
    import zarr
    from zarr.codecs import ZstdCodec

    line = 280 + 15 * np.sin(np.linspace(0, 40, SHAPE[2], dtype="f4"))
    layouts = list(LAYOUTS.values())
    for number in numbers:
        options = {"compressors": ZstdCodec(level=1), **layouts[number]}
        array = zarr.create_array(store, name=str(number), shape=SHAPE, dtype="f4", **options)
        for start in range(0, SHAPE[0], 128):
            noise = np.random.default_rng(start).integers(0, 32, (128, *SHAPE[1:])).astype("f4") / 100
            array[start : start + 128] = np.round(line + noise, 2)


def opened(reader: str, store: str, name: str) -> Any:
    """Return an array as a reader opens it."""
    if reader == "ours":
        import refbrowser

        return refbrowser.open(store)[f"/{name}"]
    import zarr

    if reader == "zarrs":
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return zarr.open_array(f"{store}/{name}", mode="r")


def indices(extents: tuple[int | None, ...], count: int) -> list[tuple[slice, ...]]:
    random = np.random.default_rng(5)
    found = []
    for _ in range(count):
        starts = [
            0 if n is None else int(random.integers(size - n)) for n, size in zip(extents, SHAPE, strict=True)
        ]
        found.append(
            tuple(slice(at, None if n is None else at + n) for at, n in zip(starts, extents, strict=True))
        )
    return found


def measure(reader: str, store: str, name: str) -> dict[str, tuple[float, float, str]]:
    """Return seconds (the best of a few, or the median of many), processor seconds and a sum of values."""
    array = opened(reader, store, name)
    times = {}
    for slice_name, extents in SLICES.items():
        count = REPEATS.get(slice_name, OFTEN)
        walls, sums = [], 0.0
        cpu = time.process_time()
        for index in indices(extents, count):
            began = time.perf_counter()
            values = array[index]
            walls.append(time.perf_counter() - began)
            sums += float(values.reshape(-1)[:1000].sum(dtype="f8"))
            del values
        cpu = (time.process_time() - cpu) / count
        times[slice_name] = (min(walls) if count < OFTEN else float(np.median(walls)), cpu, f"{sums:.3f}")
    return times


def measured(reader: str, store: Path, name: str) -> dict[str, tuple[float, float, str]]:
    """Return what `measure` gives in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, reader, str(store), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main(numbers: list[int]) -> None:
    """Print the figures of some layouts."""
    readers = ["ours", "zarr", *(["zarrs"] if importlib.util.find_spec("zarrs") else [])]
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCHMARK_FOLDER")) as folder:
        store = Path(folder, "store")
        warnings.simplefilter("ignore")
        write(store, numbers)
        for number in numbers:
            layout = list(LAYOUTS)[number]
            found = {reader: measured(reader, store, str(number)) for reader in readers}
            for other in readers[1:]:
                heading(f"1 GiB, {layout}, against {other}")
                for name in SLICES:
                    ours, theirs = found["ours"][name], found[other][name]
                    assert ours[2] == theirs[2], "the values differ"
                    aim = "1" if other == "zarr" else AIMS.get((other, number, name), "")
                    figure(name, ours[0] * 1e3, "ms", other=theirs[0] * 1e3, aim=aim)
                    figure(f"{name}, processor time", ours[1] * 1e3, "ms", other=theirs[1] * 1e3)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("ours", "zarr", "zarrs"):
        print(json.dumps(measure(*sys.argv[1:])))
    else:
        main([int(number) for number in sys.argv[1:]] or list(range(len(LAYOUTS))))
