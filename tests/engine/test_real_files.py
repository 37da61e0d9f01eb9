"""Every real file reads to the digests that netCDF4 gives."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import refbrowser

NAMES = ("basin_mask", "crm", "cth", "eraint_uvz")


def digest(values: np.ndarray) -> str:
    """SHA-256 of the values as C-ordered little-endian bytes."""
    little = np.asarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_all_values_equal_the_digests(shared_data: Path, name: str) -> None:
    expected = json.loads((shared_data / "real" / "expected.json").read_text())[name]
    with refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset:
        assert {path.lstrip("/") for path in dataset.arrays} == set(expected)
        for path, array in dataset.arrays.items():
            facts = expected[path.lstrip("/")]
            assert list(array.shape) == facts["shape"]
            assert list(array.chunks) == facts["chunks"]
            assert array.node.grid.size - array.node.manifest.stored() == facts["missing_chunks"]
            values = array[...]
            assert digest(np.asarray(values)) == facts["sha256_of_C_order_little_endian_bytes"], path
            flat = np.asarray(values).reshape(-1)
            assert [float(value) for value in flat[:3]] == facts["first"]


def test_a_slice_of_real_data_reads_only_its_bytes(shared_data: Path) -> None:
    with refbrowser.open(shared_data / "real" / "eraint_uvz.refs.json") as dataset:
        z = dataset["/z"]
        plan = z.plan(z.selection("1,2,10:12"))
        assert plan.useful_bytes == 2 * 480 * 2
        assert plan.wasted_bytes == 0
        part = z[1, 2, 10:12]
        assert dataset.session.fetcher.counters.bytes == 2 * 480 * 2
        np.testing.assert_array_equal(part, z[...][1, 2, 10:12])
        assert z[0, 0, 0, 0] == z[...][0, 0, 0, 0]
        assert isinstance(z[0, 0, 0, 0], np.generic)
