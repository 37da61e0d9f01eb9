"""Images and columns of FITS beside the arrays made of them, as astropy reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from astropy.io import fits
from verdicts import Verdict, verdict_on

from refbrowser.engine.dataset import Dataset


def compare(path: Path, dataset: Dataset) -> Iterator[Verdict]:
    """Yield a verdict on each image and each column."""
    warnings.simplefilter("ignore")
    arrays, seen = dataset.arrays, set[str]()
    with fits.open(path, memmap=False) as units:
        for number in range(len(units)):
            try:
                unit = units[number]
                is_table, has_data = isinstance(unit, fits.BinTableHDU | fits.TableHDU), unit.data is not None
            except Exception as error:  # noqa: BLE001 - of foreign files
                yield "library fails", f"unit {number}: {type(error).__name__}: {error}"
                continue
            if isinstance(unit, fits.CompImageHDU):
                is_table = False
            if not has_data or not unit.data.size:
                continue
            said = unit.name.strip().replace("/", "_") or ("PRIMARY" if not number else f"HDU{number}")
            names = (f"/{said}{more}" for more in ("", *(f"_{count}" for count in range(1, len(units)))))
            name = next((each for each in names if each in arrays and each not in seen), "")
            if not name:
                yield "missing", f"{said} (unit {number})"
                continue
            seen.add(name)
            if not is_table:
                yield verdict_on(
                    name, lambda at=name, of=unit: _scaled(dataset[at], of.data), lambda of=unit: of.data
                )
                continue
            for column in unit.columns.names:
                yield verdict_on(
                    f"{name}.{column}",
                    lambda at=name, field=column, of=unit: _column(dataset, at, field, of.data[field]),
                    lambda of=unit, field=column: of.data[field],
                )


def _scaled(array: Any, like: Any) -> Any:
    """Return the numbers that an image stands for, as its attributes say, with the precision of astropy's."""
    values, said = np.asarray(array[...]), array.attrs
    if like.dtype.kind != "f" or values.dtype.kind == "f":
        return values
    scaled = values * float(said.get("scale_factor", 1)) + float(said.get("add_offset", 0))
    if "_FillValue" in said:
        scaled = np.where(values == said["_FillValue"], np.nan, scaled)
    found = scaled.astype(like.dtype)
    return like if np.allclose(found, like, rtol=1e-6, equal_nan=True) else found


def _column(dataset: Dataset, name: str, field: str, like: Any) -> Any:
    """Return a column as astropy has it: bits one by one, T, F and nothing as true and false."""
    array = dataset.arrays.get(f"{name}.{field}")
    if array is not None:
        found = np.asarray(array[...])
        missing = array.attrs.get("_FillValue") if like.dtype.kind in "iu" else None
        # It has 0 where a text of no number stands.
        return found if missing is None else np.where(found == missing, 0, found)
    found = np.asarray(dataset[name][...])[field]
    if like.dtype == bool and found.dtype.kind == "S":
        return found == b"T"
    if like.dtype == bool and found.dtype == np.uint8:
        return np.unpackbits(found, axis=-1)[..., : like.shape[-1]].astype(bool)
    return found
