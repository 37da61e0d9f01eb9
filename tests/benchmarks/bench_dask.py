"""Exporting by four Dask processes against the threads of one process, on the same processors.

``python tests/benchmarks/bench_dask.py [MIB] [FOLDER]``: 512 MiB unless told otherwise. The cluster runs
already and has done an export before: what is compared is the work, and what it costs to give it away. Runs
take turns, and the best of each kind counts: other programs may be at work.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import distributed
import numpy as np
import psutil
import zarr
from report import figure, heading

import refbrowser
from refbrowser.engine.compute import Compute
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.options import StoreOptions
from refbrowser.io.cancel import CancelToken

MIB = 1 << 20
TURNS = 3
PROCESSES = 4
AIM = "at most 1.15"
#: Options of the export, and the side of a square chunk of the source.
KINDS = {
    "chunks of 4 MiB, encoded anew": (StoreOptions(codec="zstd:1"), 1024),
    "chunks of 4 MiB, copied": (StoreOptions(), 1024),
    "chunks of 64 KiB, copied into shards of 4 MiB": (StoreOptions(shards=Sides((-1, 1024, 1024))), 128),
}


class Run(NamedTuple):
    """How long an export took, and the processor time of all that worked on it."""

    seconds: float
    cpu: float


def make(path: Path, planes: int, side: int) -> None:
    """Write a smooth field with noise in the last digits, in planes of 4 MiB."""
    shape = (planes, 1024, 1024)
    array = zarr.create_array(path, name="a", shape=shape, chunks=(1, side, side), dtype="f4", zarr_format=2)
    noise = np.cumsum(np.random.default_rng(0).normal(size=shape[1:]), axis=1)
    for plane in range(planes):
        array[plane] = np.round(noise + plane, 1)


def spent(processes: list[psutil.Process]) -> float:
    """Return the processor time of processes so far."""
    times = [process.cpu_times() for process in processes]
    return sum(each.user + each.system for each in times)


def run(source: Path, target: Path, options: StoreOptions, client: Any, busy: list[psutil.Process]) -> Run:
    """Export once."""
    with refbrowser.open(source) as dataset:
        os.sync()
        begun, cpu = time.perf_counter(), spent(busy)
        refbrowser.export(dataset, target, format="zarr-v3", options=options, client=client, force=True)
        return Run(time.perf_counter() - begun, spent(busy) - cpu)


def main() -> None:
    """Measure."""
    size = int(sys.argv[1] if len(sys.argv) > 1 else 512)
    heading(f"export {size} MiB to Zarr v3: {PROCESSES} Dask processes against the threads of one process")
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    try:
        with (
            distributed.LocalCluster(
                host="127.0.0.1", n_workers=PROCESSES, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            here = psutil.Process()
            everybody = [here, *here.children(recursive=True)]
            for what, (options, side) in KINDS.items():
                make(source := folder / f"source-{side}", size // 4, side)
                ways: dict[str, tuple[Any, list[psutil.Process]]] = {
                    "threads": (None, [here]),
                    "processes": (client, everybody),
                }
                found: dict[str, list[Run]] = {name: [] for name in ways}
                run(source, folder / "target", options, client, everybody)
                for _ in range(TURNS):
                    for name, (given, busy) in ways.items():
                        found[name].append(run(source, folder / "target", options, given, busy))
                best = {name: Run(*map(min, zip(*runs, strict=True))) for name, runs in found.items()}
                ours, theirs = best["processes"], best["threads"]
                figure(f"{what}: time", ours.seconds, "s", other=theirs.seconds, aim=AIM)
                figure(f"{what}: processor", ours.cpu, "s", other=theirs.cpu)
                shutil.rmtree(source)
            with Compute.of(client).open() as executor:
                begun, count = time.perf_counter(), 500
                for _ in executor.run(abs, range(count), CancelToken()):
                    pass
                figure("one task that does nothing", (time.perf_counter() - begun) / count * 1000, "ms")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
