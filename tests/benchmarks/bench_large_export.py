"""Exporting a large sparse file to Zarr v3, verified, against `cp` of the same file in the same run.

``python tests/benchmarks/bench_large_export.py [GIB] [FOLDER]``: 20 GiB unless told otherwise; the folder
needs room for it once. Memory is what the process holds over all, imports too, looked at all the time: what
grows with the size shows as a last quarter that holds more than the first.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import psutil
from report import figure, heading

MIB = 1 << 20
GIB = 1 << 30
SIDE = 1024
#: Options of the export, and how many planes of 1 MiB one chunk of the source has.
KINDS = {
    "chunks of 4 MiB, copied": ("", 4),
    "chunks of 1 MiB, copied into shards of 64 MiB": ("shards=Sides((64, -1, -1))", 1),
    "chunks of 4 MiB, encoded anew": ('codec="zstd:1"', 4),
}
CHUNK_TYPE = "|u1"
#: `cp` writes the holes of a sparse file without reading them; `cat` reads, as `cp` would of a full one.
COPIES = {"against cp": 'exec cp --sparse=never "$1" "$2"', "against cat": 'exec cat "$1" > "$2"'}
EXPORT = """
import sys, warnings
import refbrowser
from refbrowser.exporting.options import Sides, StoreOptions
warnings.simplefilter("ignore")
report = refbrowser.export(sys.argv[1], sys.argv[2], format="zarr-v3", options=StoreOptions({options}))
print(report.chunks, report.verified, report.written_bytes)
"""


class Run(NamedTuple):
    """How long a process took, and what it held: its processor time, its peak, and that of four quarters."""

    seconds: float
    cpu: float
    peak: float
    quarters: list[float]


def make(folder: Path, size: int, planes: int) -> Path:
    """Write a sparse file of `size` bytes, and the document whose chunks lie in it one after another."""
    with (folder / "data").open("wb") as file:
        file.truncate(size)
    metadata = {
        "zarr_format": 2,
        "shape": [size // SIDE**2, SIDE, SIDE],
        "chunks": [planes, SIDE, SIDE],
        "dtype": CHUNK_TYPE,
        "compressor": None,
        "filters": None,
        # Chunks of fill values only are data like any other.
        "fill_value": 1,
        "order": "C",
    }
    refs: dict[str, object] = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(metadata)}
    step = planes * SIDE**2
    for number in range(size // step):
        refs[f"a/{number}.0.0"] = ["data", number * step, step]
    path = folder / "document.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


def watched(command: list[str]) -> Run:
    """Run a command and look at its memory."""
    start = time.perf_counter()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    held: list[int] = []
    cpu = 0.0
    while process.poll() is None:
        try:
            held.append(process.memory_info().rss)
            times = process.cpu_times()
            cpu = times.user + times.system
        except psutil.Error:
            break
        time.sleep(0.02)
    if process.wait():
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    seconds = time.perf_counter() - start
    cuts = [len(held) * number // 4 for number in range(5)]
    quarters = [max(held[one:two], default=0) / MIB for one, two in pairwise(cuts)]
    return Run(seconds, cpu, max(held) / MIB, quarters)


def copied(folder: Path, command: str) -> Run:
    """Return what a copy takes, until it is on the disk."""
    target = folder / "copy"
    run = watched(["sh", "-c", command, "sh", str(folder / "data"), str(target)])
    start = time.perf_counter()
    os.sync()
    run = run._replace(seconds=run.seconds + time.perf_counter() - start)
    target.unlink()
    return run


def main() -> None:
    """Measure."""
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 20) * GIB)
    heading(f"export {size / GIB:.3g} GiB to Zarr v3, against cp of the same file (rate: more is better)")
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    try:
        for what, (options, planes) in KINDS.items():
            path = make(folder, size, planes)
            os.sync()
            copies = {name: copied(folder, command) for name, command in COPIES.items()}
            target = folder / "target"
            command = [sys.executable, "-c", EXPORT.format(options=options), str(path), str(target)]
            ours = watched(command)
            shutil.rmtree(target)
            for name, copy in copies.items():
                rates = [size / MIB / run.seconds for run in (ours, copy)]
                figure(f"{what}: rate, {name}", rates[0], "MiB/s", other=rates[1], aim="at least 0.8")
                figure(f"{what}: processor, {name}", ours.cpu, "s", other=copy.cpu)
            figure(f"{what}: peak memory", ours.peak, "MiB", aim="at most 400, flat")
            print(f"    by quarters of the time: {', '.join(f'{held:.0f}' for held in ours.quarters)} MiB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
