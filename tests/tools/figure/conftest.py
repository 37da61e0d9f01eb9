"""Documents that figures are drawn of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., str]:
    """Make a document with an array of numbers over time, y and x, a chunk for each time.

    Its name, its long name, and keys of chunks whose file is gone can be said.
    """

    def make(
        values: npt.NDArray[np.float32],
        name: str = "t",
        long_name: str = "Temperature",
        lost: tuple[str, ...] = (),
    ) -> str:
        attributes = {"long_name": long_name, "units": "K", "_ARRAY_DIMENSIONS": ["time", "y", "x"]}
        metadata = {
            "zarr_format": 2,
            "shape": values.shape,
            "chunks": (1, *values.shape[1:]),
            "dtype": values.dtype.str,
            "compressor": None,
            "filters": None,
            "fill_value": None,
            "order": "C",
        }
        refs: dict[str, object] = {
            ".zgroup": '{"zarr_format": 2}',
            f"{name}/.zattrs": json.dumps(attributes),
            f"{name}/.zarray": json.dumps(metadata),
        }
        for time in range(len(values)):
            data = tmp_path / f"{time}.bin"
            data.write_bytes(values[time].tobytes())
            refs[f"{name}/{time}.0.0"] = [data.name]
        for key in lost:
            refs[f"{name}/{key}"] = ["gone.bin"]
        path = tmp_path / "made.json"
        path.write_text(json.dumps({"version": 1, "refs": refs}))
        return str(path)

    return make
