"""Statistics of regions: what they take beside the plain read of the same values, and what memory.

``python tests/benchmarks/bench_statistics.py [SLICES]``: arrays of so many slices (48) of 1,024 by 1,024
values, as plain bytes, zstd and packed integers, in chunks of 4 by 512 by 512. Both are taken in turn, and
the ratio is the median of that of each pair: other work on the machine meets both. 960 slices are 10^9
values, 4 GB as plain bytes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import zarr
from report import figure, heading

import refbrowser
from refbrowser.engine.dataset import Array
from refbrowser.model.selection import Selection

PAIRS = 5
#: Elements that are read at a time to be thrown away, as much as statistics read together.
BLOCK = 8
REGIONS = {
    "everywhere": "",
    "a rectangle": "lat -30..60, lon 20..300",
    "values above 280": "> 280",
}


def write_store(path: Path, slices: int) -> None:
    """Write an array of each kind, with coordinates."""
    group = zarr.open_group(str(path), mode="w")
    random = np.random.default_rng(0)
    side = 1024
    for name, values, units in (
        ("lat", np.linspace(89.9, -89.9, side), "degrees_north"),
        ("lon", np.arange(side) * (360 / side), "degrees_east"),
    ):
        array = group.create_array(name, shape=(side,), dtype="f8", dimension_names=(name,))
        array.attrs["units"] = units
        array[:] = values
    made = {"shape": (slices, side, side), "chunks": (4, 512, 512), "dimension_names": ("t", "lat", "lon")}
    arrays = {
        "plain": group.create_array("plain", dtype="f4", compressors=None, **made),
        "zstd": group.create_array("zstd", dtype="f4", **made),
        "packed": group.create_array("packed", dtype="i2", fill_value=-32768, compressors=None, **made),
    }
    arrays["packed"].attrs.update(scale_factor=0.01, add_offset=280.0, _FillValue=-32768)
    north = 30 * np.cos(np.radians(np.linspace(89.9, -89.9, side)))[:, np.newaxis]
    for at in range(0, slices, 4):
        values = np.round(random.normal(260, 5, (4, side, side)) + north, 1)
        for name, array in arrays.items():
            array[at : at + 4] = np.round((values - 280) * 100) if name == "packed" else values


def read(array: Array) -> None:
    """Read all values, a part at a time, and keep none: not in the cache either, as statistics do."""
    for at in range(0, array.shape[0], BLOCK):
        selection = Selection.from_index(slice(at, at + BLOCK), array.shape)
        array.dataset.session.read(array.node, array.dataset.access, selection, passing=True)


def taken(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that something takes, by the clock and of CPU time."""
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, cpu


def main() -> None:
    """Print the figures."""
    slices = int(sys.argv[1]) if len(sys.argv) > 1 else 48
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "arrays.zarr"
        write_store(store, slices)
        heading(f"statistics of {slices / 1024 * 1.073741824:.2f} * 10^9 values, beside the read of them")
        with refbrowser.open(str(store)) as dataset:
            for name in ("plain", "zstd", "packed"):
                array = dataset.array(f"/{name}")
                for words, region in REGIONS.items():

                    def told(array: Array = array, region: str = region) -> None:
                        refbrowser.statistics(dataset, array.path, region)

                    pairs = [
                        (taken(lambda array=array: read(array)), taken(told))
                        for _ in range(PAIRS if slices < 500 else 1)
                    ]
                    for number, what in enumerate(("", ", CPU")):
                        plain = median(each[0][number] for each in pairs)
                        ratio = median(each[1][number] / each[0][number] for each in pairs)
                        figure(f"{name}, {words}{what}", ratio * plain, "s", other=plain)
        figure("memory at most", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB")


if __name__ == "__main__":
    main()
