"""Run by an interpreter that has zarr-python 2: tells what it reads otherwise than expected."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import zarr
from corpus_values import expected, same_values


def main() -> None:
    warnings.simplefilter("ignore")
    corpus, store = Path(sys.argv[1]), sys.argv[2]
    root = zarr.open_group(store, mode="r")
    wrong = []
    for path, entry in expected(corpus).items():
        try:
            array = root[path]
            values = array[...]
            if array.dtype.hasobject and not isinstance(values, np.ndarray):
                values = np.array(values, object)
            if not same_values(np.asarray(values), entry, corpus):
                wrong.append(f"{path}: other values")
            # Without dimensions xarray wants to be told that there are none.
            told = {"_ARRAY_DIMENSIONS": []} if array.shape == () else {}
            if array.attrs.asdict() != {**entry["attributes"], **told}:
                wrong.append(f"{path}: other attributes")
        except Exception as error:  # noqa: BLE001 - the list tells all of them
            wrong.append(f"{path}: {error!r}")
    sys.stdout.write(json.dumps(wrong))


if __name__ == "__main__":
    main()
