"""netCDF-4 written, against a copying loop of netCDF4: plain chunks, and zlib with shuffle.

Ours reads what it wrote again and compares it; the loop does not. Both have loaded what they write with
before the clock runs, ours has opened the file: what that takes in a new process is a row of its own.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import netCDF4
import numpy as np
from processes import cost
from report import figure, heading

MIB = 1 << 20
STEPS, SIDE, DEEP = 160, 500, 8
ROUNDS = 5

OURS = """
import sys
import h5py, netCDF4, refbrowser
import refbrowser.exporting.targets.netcdf4
"""
OPEN = """
refbrowser.open(sys.argv[1]).close()
"""
WORK = """
refbrowser.export(sys.argv[1], sys.argv[1] + "-out", format="netcdf4", force=True)
listing = []
"""
COPY = """
with netCDF4.Dataset(sys.argv[1]) as source, netCDF4.Dataset(sys.argv[1] + "-out", "w") as made:
    for name, each in source.dimensions.items():
        made.createDimension(name, None if each.isunlimited() else len(each))
    for name, each in source.variables.items():
        how, level = each.filters(), each.filters()["complevel"] or 4
        each.set_auto_maskandscale(False)
        copy = made.createVariable(
            name, each.dtype, each.dimensions, chunksizes=each.chunking(), zlib=how["zlib"], complevel=level,
            shuffle=how["shuffle"],
        )
        copy.set_auto_maskandscale(False)
        for at in range(0, len(each), DEEP):
            copy[at : at + DEEP] = each[at : at + DEEP]
listing = []
""".replace("DEEP", str(DEEP))


def make(path: Path, *, packed: bool) -> None:
    """Write a variable of some 150 MiB."""
    rng = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("t", None), ("y", SIDE), ("x", SIDE)):
            file.createDimension(name, length)
        sides = (DEEP, SIDE // 2, SIDE // 2)
        made = file.createVariable("v", "f4", ("t", "y", "x"), chunksizes=sides, zlib=packed, shuffle=packed)
        for start in range(0, STEPS, DEEP):
            made[start : start + DEEP] = np.round(rng.normal(size=(DEEP, SIDE, SIDE)), 2)


def main() -> None:
    """Measure; by turns, the best of each."""
    heading("write netCDF-4, against a copying loop of netCDF4")
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None))
    try:
        for packed, what in ((False, "plain"), (True, "zlib and shuffle")):
            path = folder / f"{packed}.nc"
            make(path, packed=packed)
            both = [(cost(OURS + OPEN, WORK, path), cost(OURS, COPY, path)) for _ in range(ROUNDS)]
            ours, theirs = (min(each, key=lambda one: one.seconds) for each in zip(*both, strict=True))
            figure(f"{what}: time", ours.seconds, "s", other=theirs.seconds, aim="< 1.25")
            figure(f"{what}: processor", ours.cpu, "s", other=theirs.cpu)
            cold = min(cost(OURS, WORK, path).seconds for _ in range(ROUNDS))
            figure(f"{what}: time, with the start of the process that opens the file", cold, "s")
            figure(f"{what}: peak memory", ours.peak / MIB, "MiB", other=theirs.peak / MIB, aim="< 700 MiB")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
