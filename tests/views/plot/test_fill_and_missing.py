"""What is missing is what xarray masks, in every format: stored zeros, and chunks that are not stored."""

from __future__ import annotations

import base64
import csv
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import icechunk
import netCDF4
import numpy as np
import pytest
import xarray
import zarr

import refbrowser
from refbrowser.engine.audit.audit_tasks import _odd_values
from refbrowser.engine.dataset import Dataset
from refbrowser.findings.kinds import ALL_FILL
from refbrowser.io.cancel import CancelToken
from refbrowser.model.cf import Packing
from refbrowser.model.nodes import ArrayNode
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import VerdictKind
from refbrowser.views.plot.coordinates import plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import plan_view
from refbrowser.views.plot.reading import read_picture
from refbrowser.views.plot.readout import value_at
from refbrowser.views.plot.slice_files import csv_blocks, read_shown
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.plot.table import Mark, TableLayout

pytestmark = pytest.mark.filterwarnings("ignore")
#: The chunk that begins at 4 is not stored.
STORED = {0: (0, 1), 2: (2, 3), 6: (6, 7)}


def _attributes(said: Any, *, packed: bool = False) -> dict[str, Any]:
    if said is None:
        return {}
    return {"_FillValue": base64.b64encode(struct.pack("<d", said)).decode() if packed else said}


def _store(store: Any, version: Any, dtype: str, fill: Any, said: Any) -> None:
    packed = version == 3 and dtype[0] == "f"
    attributes = _attributes(said, packed=packed)
    names: dict[str, Any] = {"attributes": {"_ARRAY_DIMENSIONS": ["x"], **attributes}}
    if version == 3:
        names = {"dimension_names": ["x"], "attributes": attributes}
    array = zarr.create_group(store, zarr_format=version).create_array(
        "a",
        shape=(8,),
        chunks=(2,),
        dtype=dtype,
        fill_value=fill,
        compressors=None,
        config={"write_empty_chunks": True},
        **names,
    )
    for start, values in STORED.items():
        array[start : start + 2] = np.array(values, dtype)


def _zarr_v2(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    _store(path, 2, dtype, fill, said)
    return path, lambda: xarray.open_zarr(path, consolidated=False)


def _zarr_v3(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    _store(path, 3, dtype, fill, said)
    return path, lambda: xarray.open_zarr(path, consolidated=False)


def _icechunk(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repository.writable_session("main")
    _store(session.store, 3, dtype, fill, said)
    session.commit("first")
    store = repository.readonly_session("main").store
    return path, lambda: xarray.open_zarr(store, consolidated=False)


def _hdf5(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    path = path.with_suffix(".h5")
    with h5py.File(path, "w") as file:
        array = file.create_dataset("a", (8,), dtype, chunks=(2,), fillvalue=fill)
        for start, values in STORED.items():
            array[start : start + 2] = values
        if said is not None:
            array.attrs["_FillValue"] = np.array([said], dtype)
    return path, lambda: xarray.open_dataset(path, engine="h5netcdf", phony_dims="sort")


def _netcdf4(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    path = path.with_suffix(".nc")
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 8)
        # There the two are one.
        array = file.createVariable("a", dtype, ("x",), fill_value=said, chunksizes=(2,))
        array.set_auto_mask(False)
        array[:] = np.arange(8)
    return path, lambda: xarray.open_dataset(path, engine="netcdf4")


def _references(source: Path) -> tuple[Path, Any]:
    """Write the store in a folder as references, as kerchunk does of one."""
    references = {}
    for file in sorted(source.rglob("*")):
        if file.is_file():
            key = file.relative_to(source).as_posix()
            is_metadata = file.name.startswith(".z") or file.name == "zarr.json"
            references[key] = file.read_text() if is_metadata else [str(file), 0, file.stat().st_size]
    path = source.with_suffix(".json")
    path.write_text(json.dumps({"version": 1, "refs": references}))
    return path, lambda: xarray.open_dataset(
        "reference://",
        engine="zarr",
        backend_kwargs={
            "consolidated": False,
            "storage_options": {"fo": str(path), "remote_protocol": "file", "asynchronous": False},
        },
    )


def _references_v2(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    return _references(_zarr_v2(path, dtype, fill, said)[0])


def _references_v3(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
    return _references(_zarr_v3(path, dtype, fill, said)[0])


def _exported(format: str) -> Callable[..., tuple[Path, Any]]:
    def make(path: Path, dtype: str, fill: Any, said: Any) -> tuple[Path, Any]:
        source, theirs = _zarr_v3(path.with_suffix(".source"), dtype, fill, said)
        refbrowser.export(source, path, format=format)
        if format == "zarr-v3-draft":
            # xarray does not read it: it is what it was made of.
            return path, theirs
        return path, lambda: xarray.open_zarr(path, consolidated=False)

    return make


MAKERS = {
    "zarr-v2": _zarr_v2,
    "zarr-v3": _zarr_v3,
    "icechunk": _icechunk,
    "hdf5": _hdf5,
    "netcdf-4": _netcdf4,
    "references of zarr-v2": _references_v2,
    "references of zarr-v3": _references_v3,
    "nczarr": _exported("nczarr"),
    "draft": _exported("zarr-v3-draft"),
}
#: Data type, fill value, what ``_FillValue`` says.
CASES = (("i2", 0, None), ("u1", 0, 3), ("f4", 0.0, None), ("f8", 5.0, 7.0))


def _plain(values: Any) -> list[float | None]:
    return [None if value != value else float(value) for value in np.asarray(values, "f8")]


def _node(dataset: Dataset) -> ArrayNode:
    node = dataset.hierarchy.find("a")
    assert isinstance(node, ArrayNode)
    return node


def _layout(node: ArrayNode) -> TableLayout:
    name = node.dimensions[0] or "x"
    state = SliceState((8,), (name,), 0, None, (0,))
    return TableLayout(node, state, [plain_coordinate(name, 8)], Interpretation(node, decoded=True))


def _csv(dataset: Dataset) -> list[float | None]:
    shown = read_shown(dataset.session, dataset.access, _layout(_node(dataset)), (range(8),))
    rows = list(csv.reader(io.StringIO(b"".join(csv_blocks(shown)).decode())))[1:]
    return [float(row[1]) if row[1] else None for row in rows]


def _picture(dataset: Dataset) -> Picture:
    node = _node(dataset)
    picture = Picture(node, plan_view(node, _layout(node).slice))
    read_picture(dataset.session, dataset.access, picture, CancelToken())
    return picture


@pytest.mark.parametrize("format", MAKERS)
def test_views_show_what_xarray_reads(format: str, tmp_path: Path) -> None:
    for number, (dtype, fill, said) in enumerate(CASES):
        path, theirs = MAKERS[format](tmp_path / str(number), dtype, fill, said)
        with theirs() as opened:
            wanted = _plain(opened["a"].values)
        with xarray.open_dataset(path, engine="refbrowser", allow=str(tmp_path)) as opened:
            assert _plain(opened["a"].values) == wanted, (format, dtype)
        with refbrowser.open(path, allow=str(tmp_path)) as dataset:
            assert _csv(dataset) == wanted, (format, dtype)
            picture, layout = _picture(dataset), _layout(_node(dataset))
            assert _plain(layout.shown.numbers(picture.values)) == wanted, (format, dtype)
            known = [value for value in wanted if value is not None]
            sample = layout.shown.numbers(picture.sample())
            assert sorted(sample[np.isfinite(sample)].tolist()) == sorted(known), (format, dtype)
            for index, value in enumerate(wanted):
                found = explain(dataset, Question(array="/a", index=(index,)))
                is_missing = "means no data" in found.verdict
                assert is_missing == (value is None), (format, dtype, index, found.verdict)


def test_chunks_that_are_not_stored_are_told_whatever_they_read_as(tmp_path: Path) -> None:
    for version, make in (("two", _zarr_v2), ("three", _zarr_v3)):
        path, _ = make(tmp_path / version, "i2", 0, None)
        with refbrowser.open(path) as dataset:
            picture, layout = _picture(dataset), _layout(_node(dataset))
            is_value = version == "three"
            state = ChunkState.FILLED if is_value else ChunkState.MISSING
            assert picture.states.tolist() == [1, 1, state, 1]
            said = "0 (chunk not stored: fill value)" if is_value else "missing chunk, reads as 0"
            assert value_at(picture, layout.shown, (4,)) == said
            cells = layout.cells(picture, range(8), range(1))
            assert cells.texts[4] == ["0" if is_value else "missing"]
            assert cells.marks[4, 0] == (Mark.FILLED if is_value else Mark.MISSING)
            shown = read_shown(dataset.session, dataset.access, layout, (range(8),))
            assert ("2 of them the fill value" in shown.reserve) == is_value
            found = explain(dataset, Question(array="/a", index=(4,)))
            assert found.kind is VerdictKind.MISSING


def test_audit_and_comparison_go_by_the_same_rule(tmp_path: Path) -> None:
    two, _ = _zarr_v2(tmp_path / "two", "i2", 5, None)
    three, _ = _zarr_v3(tmp_path / "three", "i2", 5, None)
    said, _ = _zarr_v3(tmp_path / "said", "i2", 0, 5)
    fives = np.full(2, 5, "i2")
    with refbrowser.open(two) as old, refbrowser.open(three) as new, refbrowser.open(said) as told:
        assert _odd_values(_node(old), fives, None)[0][0] == ALL_FILL
        assert _odd_values(_node(new), fives, None) == []
        assert _odd_values(_node(told), fives, None)[0][0] == ALL_FILL
        assert _odd_values(_node(told), np.zeros(2, "i2"), None) == []


def test_the_default_fill_of_netcdf_4_is_missing_though_the_dataset_names_it(tmp_path: Path) -> None:
    path, _ = _netcdf4(tmp_path / "a", "f4", None, None)
    with refbrowser.open(path) as dataset:
        node = _node(dataset)
        assert node.fill_value == np.float32(9.969209968386869e36)
        assert Packing.of(node).default_fill == node.fill_value
    path, _ = _hdf5(tmp_path / "b", "f4", 0, None)
    with refbrowser.open(path) as dataset:
        assert Packing.of(_node(dataset)).missing == ()
