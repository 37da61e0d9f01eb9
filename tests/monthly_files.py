"""Monthly files of daily temperatures, as an archive has them: leap years, another packing, months missing.

Run it to have them in a folder: ``python tests/monthly_files.py FOLDER [first year] [last year]``.
"""

from __future__ import annotations

import calendar
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Of which months there is no file.
MISSING = ((2017, 3), (2021, 8))
#: Days that `time` counts from.
_EPOCH = date(2000, 1, 1)
_FILL = -32768


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """What the files of an archive are like.

    Attributes
    ----------
    years
        The first and the last.
    missing
        Year and month of files that are not there.
    era
        The first and the last year that are packed otherwise; empty for none.
    scale
        ``scale_factor`` of all years, and of those of the era; both have the same ``add_offset``.
    days
        Steps of a chunk; 0 for a whole month.
    shape
        Of latitude and longitude.
    """

    years: tuple[int, int] = (2015, 2024)
    missing: Sequence[tuple[int, int]] = MISSING
    era: tuple[int, ...] = (2018, 2019)
    scale: tuple[float, float] = (0.01, 0.02)
    days: int = 1
    shape: tuple[int, int] = (6, 8)

    def months(self) -> Iterable[tuple[int, int]]:
        """Yield year and month of each file."""
        first, last = self.years
        every = ((year, month) for year in range(first, last + 1) for month in range(1, 13))
        return (each for each in every if each not in self.missing)

    def scale_of(self, year: int) -> float:
        """Return the ``scale_factor`` of a year's files."""
        return self.scale[bool(self.era) and self.era[0] <= year <= self.era[-1]]


def days_of(year: int, month: int) -> npt.NDArray[np.int32]:
    """Return the days of a month, counted from 2000-01-01."""
    first = (date(year, month, 1) - _EPOCH).days
    return np.arange(first, first + calendar.monthrange(year, month)[1], dtype="i4")


def values_of(days: npt.NDArray[np.int32], shape: tuple[int, int]) -> Floats:
    """Return the temperatures of days, in kelvin; both packings hold them exactly."""
    y, x = np.indices(shape)
    steps = (
        700 * np.sin(2 * np.pi * days / 365.25)[:, None, None] + 30 * y + 7 * x + (days % 13)[:, None, None]
    )
    values: Floats = 280.0 + 0.02 * np.rint(steps)
    return values


def write_month(file: Path, year: int, month: int, archive: Archive) -> None:
    """Write the file of a month."""
    import netCDF4

    days = days_of(year, month)
    rows, columns = archive.shape
    with netCDF4.Dataset(file, "w") as dataset:
        dataset.title = "Daily mean temperature"
        for name, size in (("time", None), ("lat", rows), ("lon", columns)):
            dataset.createDimension(name, size)
        _coordinate(dataset, "time", days, "days since 2000-01-01", "time")
        dataset["time"].calendar = "standard"
        _coordinate(dataset, "lat", np.linspace(50, 40, rows), "degrees_north", "latitude")
        _coordinate(dataset, "lon", np.linspace(0, 14, columns), "degrees_east", "longitude")
        chunks = (archive.days or len(days), rows, columns)
        packed = dataset.createVariable(
            "t2m", "i2", ("time", "lat", "lon"), zlib=True, shuffle=True, chunksizes=chunks, fill_value=_FILL
        )
        packed.units, packed.long_name = "K", "2 metre temperature"
        packed.scale_factor, packed.add_offset = archive.scale_of(year), 280.0
        packed[:] = values_of(days, archive.shape)


def _coordinate(dataset: Any, name: str, values: npt.NDArray[Any], units: str, standard_name: str) -> None:
    sizes = (max(len(values), 1),)
    variable = dataset.createVariable(name, values.dtype, (name,), chunksizes=sizes)
    variable.units, variable.standard_name = units, standard_name
    variable[:] = values


def write_archive(folder: Path, archive: Archive | None = None) -> list[Path]:
    """Write the files of an archive, and return them in their order.

    Their names are ``t2m_YYYY-MM.nc``.
    """
    archive = archive or Archive()
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for year, month in archive.months():
        files.append(folder / f"t2m_{year}-{month:02d}.nc")
        write_month(files[-1], year, month, archive)
    return files


if __name__ == "__main__":
    years = tuple(map(int, sys.argv[2:4]))
    write_archive(Path(sys.argv[1]), Archive(years=(years[0], years[-1])) if years else Archive())
