"""xarray opens 60 local netCDF-4 files: this engine against netcdf4, by turns in one process.

Processor time of all processes, a file; the median of the rounds, and of their ratios.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import netCDF4
import numpy as np
import psutil
import xarray
from report import figure, heading

import refbrowser.xarray_backend

FILES, ROUNDS = 60, 15
ENGINES = (refbrowser.xarray_backend.RefbrowserBackendEntrypoint, "netcdf4")


def write(folder: Path) -> list[Path]:
    """Write days of three packed variables along time, latitude and longitude."""
    random = np.random.default_rng(0)
    paths = [folder / f"{day:02}.nc" for day in range(FILES)]
    for day, path in enumerate(paths):
        with netCDF4.Dataset(path, "w") as file:
            file.setncatts({"Conventions": "CF-1.8", "title": "days", "history": f"day {day}"})
            for name, size in (("time", None), ("lat", 90), ("lon", 180)):
                file.createDimension(name, size)
            axes = (
                ("time", "f8", "days since 2000-01-01", day + np.arange(4) / 4),
                ("lat", "f4", "degrees_north", np.arange(90)),
                ("lon", "f4", "degrees_east", np.arange(180)),
            )
            for name, kind, units, values in axes:
                axis = file.createVariable(name, kind, (name,))
                axis.setncatts({"units": units, "standard_name": name})
                axis[:] = values
            for name in ("t2m", "precip", "wind"):
                made = file.createVariable(
                    name, "i2", ("time", "lat", "lon"), zlib=True, chunksizes=(1, 90, 180), fill_value=-999
                )
                made.setncatts({"units": "1", "long_name": name, "scale_factor": 0.01, "add_offset": 1.0})
                made[:] = random.normal(size=(4, 90, 180)).round(1)
    return paths


def used() -> float:
    """Return the processor time of this process and of those that it started."""
    times = [each.cpu_times() for each in psutil.Process().children(recursive=True)]
    return time.process_time() + sum(each.user + each.system for each in times)


def one_by_one(paths: list[Path], engine: object) -> None:
    """Open and close each."""
    for path in paths:
        xarray.open_dataset(path, engine=engine).close()  # type: ignore[arg-type]


def together(paths: list[Path], engine: object) -> None:
    """Open them as one."""
    xarray.open_mfdataset(paths, engine=engine).close()  # type: ignore[arg-type]


def together_and_read(paths: list[Path], engine: object) -> None:
    """Open them as one, and read a point of all of them."""
    with xarray.open_mfdataset(paths, engine=engine) as found:  # type: ignore[arg-type]
        found["t2m"][:, 40, 80].load(scheduler="synchronous")


def costs(work: Callable[[list[Path], object], None], paths: list[Path]) -> list[tuple[float, float]]:
    """Return what each round takes a file, in milliseconds: of this engine, and of the other."""
    found = []
    for _ in range(ROUNDS + 1):
        row = []
        for engine in ENGINES:
            gc.collect()
            start = used()
            work(paths, engine)
            row.append((used() - start) * 1000 / FILES)
        found.append((row[0], row[1]))
    return found[1:]


def main() -> None:
    """Print the figures."""
    heading(f"xarray opens {FILES} local netCDF-4 files (other: engine='netcdf4')")
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder))
        for work in (together, one_by_one, together_and_read):
            found = costs(work, paths)
            ours, theirs = (median(each) for each in zip(*found, strict=True))
            name = work.__name__.replace("_", " ")
            figure(f"{name}: CPU a file", ours, "ms", other=theirs)
            figure(f"{name}: ratio", median(mine / other for mine, other in found), "", aim="< 1.3")


if __name__ == "__main__":
    main()
