"""VirtualiZarr reads from a dataset's references what refbrowser reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
import zarr

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.xarray_backend import RefbrowserBackendEntrypoint

pytest.importorskip("virtualizarr")
pytestmark = pytest.mark.filterwarnings("ignore:.*(non-conforming|Numcodecs codecs|not have a Zarr V3)")

ENGINE: Any = RefbrowserBackendEntrypoint
CHECKOUT = Path(__file__).resolve().parent.parent


def _same(dataset: Any, group: str = "") -> None:
    store: Any = refbrowser.to_virtualizarr(dataset)
    found = xarray.open_zarr(store, group=group, consolidated=False, zarr_format=3).load()
    wanted = xarray.open_dataset(dataset, engine=ENGINE, group=group).load()
    # JSON does not tell floats from doubles: what is scaled is rounded differently.
    xarray.testing.assert_allclose(found, wanted)


def test_references_of_all_kinds(tmp_path: Path) -> None:
    values = np.arange(24.0).reshape(4, 6)
    for format, more in ((2, {"order": "F"}), (3, {})):
        group = zarr.open_group(tmp_path / f"{format}.zarr", mode="w", zarr_format=format)
        array: Any = {"shape": (4, 6), "chunks": (2, 3), "dtype": "f8", "fill_value": -1.0}
        names: Any = {} if format == 2 else {"dimension_names": ("y", "x")}
        made = group.create_array("a", **array, **more, **names)
        if format == 2:
            made.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
        # One chunk is left out.
        made[:2], made[2:, :3] = values[:2], values[2:, :3]
        with refbrowser.open(tmp_path / f"{format}.zarr") as dataset:
            _same(dataset)
            manifest = refbrowser.to_virtualizarr(dataset)._group["a"].manifest
            assert (manifest._paths == "").tolist() == [[False, False], [False, True]]
    with refbrowser.open(CHECKOUT / "resources/sample/sea_surface.json") as dataset:
        _same(dataset, "ocean")
    text: dict[str, Any] = {
        ".zgroup": {"zarr_format": 2},
        "a/.zarray": {
            "zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "<i2", "fill_value": 0,
            "order": "C", "compressor": None, "filters": None,
        },
        "a/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]},
        "a/0": "base64:AQACAA==", "a/1": "base64:AwAEAA==",
    }  # fmt: skip
    (tmp_path / "inline.json").write_text(json.dumps(text))
    with refbrowser.open(tmp_path / "inline.json") as dataset:
        _same(dataset)
    text["a/1"] = [str(tmp_path.parent / "elsewhere"), 0, 4]
    (tmp_path / "away.json").write_text(json.dumps(text))
    with refbrowser.open(tmp_path / "away.json") as dataset, pytest.raises(RefbrowserError) as info:
        refbrowser.to_virtualizarr(dataset)
    assert info.value.kind is ErrorKind.BLOCKED


def test_real_files(shared_data: Path) -> None:
    for name in ("basin_mask.nc", "cth.nc", "eraint_uvz.refs.json"):
        with refbrowser.open(shared_data / "real" / name) as dataset:
            _same(dataset)
