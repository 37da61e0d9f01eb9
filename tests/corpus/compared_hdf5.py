"""Datasets of HDF5 and netCDF-4 beside the arrays made of them, as h5py reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

from refbrowser.engine.dataset import Dataset
from refbrowser.errors import RefbrowserError

#: What netCDF-4 writes of a dimension without values.
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"


def compare(path: Path, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield a verdict on each dataset that has numbers."""
    with h5py.File(path, "r") as file:
        names: list[str] = []
        file.visit(names.append)
        for name in (f"/{each}" for each in names):
            item = file[name]
            if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "iufc" or item.shape is None:
                continue
            if str(item.attrs.get("NAME", "")).lstrip("b'").startswith(_NO_VARIABLE):
                continue
            if name not in dataset.arrays:
                yield "missing", name
                continue
            try:
                theirs = item[...]
            except (OSError, ValueError, TypeError) as error:
                yield "library fails", f"{name}: {error}"
                continue
            try:
                ours = np.asarray(dataset[name][...])
            except RefbrowserError as error:
                yield "refused", f"{name}: {error.message}"
                continue
            if ours.shape != theirs.shape:
                yield "wrong", f"{name}: shape {ours.shape} / {theirs.shape}"
            elif not np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fc"):
                yield "wrong", f"{name}: {int((ours != theirs).sum())} of {ours.size} elements differ"
            else:
                yield "agree", name
