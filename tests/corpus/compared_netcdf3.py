"""Variables of classic netCDF beside the arrays made of them, as SciPy reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scipy.io import netcdf_file
from verdicts import Verdict, verdict_on

from refbrowser.engine.dataset import Dataset


def compare(path: Path, dataset: Dataset) -> Iterator[Verdict]:
    """Yield a verdict on each variable."""
    try:
        file = netcdf_file(path, "r", mmap=False, maskandscale=False)
    except Exception as error:  # noqa: BLE001 - of foreign files; it knows no CDF-5
        yield "library fails", f"{type(error).__name__}: {error}"
        return
    with file:
        for name, variable in file.variables.items():
            if f"/{name}" not in dataset.arrays:
                yield "missing", name
                continue
            yield verdict_on(name, lambda at=name: dataset[f"/{at}"][...], lambda of=variable: of.data)
