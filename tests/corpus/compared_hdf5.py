"""Datasets of HDF5 and netCDF-4 beside the arrays made of them, as h5py reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import h5py
from verdicts import Verdict, verdict_on

from refbrowser.engine.dataset import Dataset

#: What netCDF-4 writes of a dimension without values.
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"


def compare(path: Path, dataset: Dataset) -> Iterator[Verdict]:
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
            yield verdict_on(name, lambda at=name: dataset[at][...], lambda of=item: of[...])
