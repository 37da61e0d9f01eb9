"""siphon reads what a service offers, of datasets of any format."""

from __future__ import annotations

import hashlib
import json
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from documents_of_values import CUBE, ValueDocument

import refbrowser
from refbrowser.wings.ncstream.serving.service import Service

siphon = pytest.importorskip("siphon.cdmr")


def remote_variable(dataset: Any, path: str) -> Any:
    *groups, name = path.strip("/").split("/")
    for group in groups:
        dataset = dataset.groups[group]
    return dataset.variables[name]


def write_zarr(path: Path, version: int) -> Path:
    """Write a store with a group, an unlimited-looking record axis, fills and a scalar."""
    root = zarr.create_group(path, zarr_format=version, attributes={"title": "made", "levels": [1, 2, 3]})
    warm = root.create_array("temp", shape=(5, 4, 3), chunks=(2, 4, 2), dtype="<f4", fill_value=-1)
    warm[:3] = np.arange(36).reshape(3, 4, 3) / 8
    deep = root.create_group("deep", attributes={"note": "below"})
    counts = deep.create_array("counts", shape=(7,), chunks=(3,), dtype="<u2", fill_value=0)
    counts[:] = [0, 1, 2, 3, 65535, 40000, 7]
    long = deep.create_array("long", shape=(), dtype="<i8", fill_value=0)
    long[...] = -(2**40)
    return path


@pytest.fixture
def values(tmp_path: Path) -> Iterator[tuple[refbrowser.Dataset, Any]]:
    """A document with values of many types, as it is opened here and as siphon sees it."""
    document = ValueDocument(tmp_path)
    document.add("cube", CUBE, ("t", "l", "y", "x"), (1, 3, 2, 2))
    document.add("chars", np.frombuffer(b"abcdef", "S1").reshape(2, 3))
    rows = np.array([(1, 2.5, -3), (4, 5.5, -6)], [("a", "<i2"), ("b", "<f8"), ("c", "|i1")])
    document.add("rows", rows, ("r",))
    document.add("texts", np.array(["Ærø", "", "x"]), ("r3",))
    document.add("when", np.array(["2020-01-01", "NaT"], "<M8[D]"), ("r",))
    document.add("yes", np.array([True, False]), ("r",))
    document.add("half", np.array([0.5, np.nan], "<f2"), ("r",))
    document.add("a.b(c);d,e", np.arange(4, dtype=">u4"), ("n",))
    path = tmp_path / "d.json"
    path.write_text(json.dumps(document.refs))
    with refbrowser.open(path) as dataset, Service(dataset) as service:
        yield dataset, siphon.Dataset(service.url)


@pytest.mark.parametrize("name", ["eraint_uvz", "crm", "cth", "basin_mask"])
def test_real_files_have_the_values_that_they_should(shared_data: Path, name: str) -> None:
    expected = json.loads((shared_data / "real" / "expected.json").read_text())[name]
    with refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset, Service(dataset) as service:
        remote = siphon.Dataset(service.url)
        for variable, said in expected.items():
            got = remote.variables[variable][:]
            data = np.ascontiguousarray(got, np.dtype(said["dtype"]).newbyteorder("<")).tobytes()
            assert list(got.shape) == (said["shape"] or [1])
            assert hashlib.sha256(data).hexdigest() == said["sha256_of_C_order_little_endian_bytes"]


@pytest.mark.parametrize("kind", ["zarr-v2", "zarr-v3", "nczarr", "ncstream"])
def test_datasets_are_read_with_groups_attributes_and_fills(tmp_path: Path, kind: str) -> None:
    path = write_zarr(tmp_path / "s", 3 if kind == "zarr-v3" else 2)
    if kind in ("nczarr", "ncstream"):
        refbrowser.export(path, tmp_path / "n.ncs", format=kind)
        path = tmp_path / "n.ncs"
    with refbrowser.open(path) as dataset, Service(dataset) as service:
        assert dataset.format == kind
        remote = siphon.Dataset(service.url)
        assert remote.title == "made"
        assert list(remote.levels) == [1, 2, 3]
        assert remote.groups["deep"].note == "below"
        for name, array in dataset.arrays.items():
            got = remote_variable(remote, name)
            # A scalar comes as an array of one element.
            assert np.array_equal(got[:].reshape(array.shape), array[...]), name
        assert remote.variables["temp"][4, 1:3, :].tolist() == [[-1] * 3] * 2


@pytest.mark.parametrize(
    "index",
    [
        *(np.s_[:], np.s_[0], np.s_[1, 2], np.s_[..., 1:5:2], np.s_[0, :, 3, 4], np.s_[:, 0:3:2, 1:4, ::3]),
        *(np.s_[1, 1, 1, 1], np.s_[-1], np.s_[:, :, :, -1]),
    ],
)
def test_sections_are_those_of_numpy(values: tuple[refbrowser.Dataset, Any], index: Any) -> None:
    assert np.array_equal(values[1].variables["cube"][index], CUBE[index])


def test_types_are_what_siphon_can_hold(values: tuple[refbrowser.Dataset, Any]) -> None:
    dataset, remote = values
    assert remote.variables["chars"][:].tolist() == [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]
    assert remote.variables["rows"][:].tolist() == dataset["/rows"][:].tolist()
    assert remote.variables["texts"][:].tolist() == ["Ærø", "", "x"]
    assert remote.variables["yes"][:].tolist() == [1, 0]
    assert np.array_equal(remote.variables["half"][:], np.array([0.5, np.nan], "f4"), equal_nan=True)
    when = remote.variables["when"]
    assert (when[:].tolist()[0], when.units) == (18262, "days since 1970-01-01")
    assert remote.variables["a.b(c);d,e"][1:3].tolist() == [1, 2]


def test_deflated_answers_are_the_same(values: tuple[refbrowser.Dataset, Any]) -> None:
    remote = values[1]
    remote.cdmr.deflate = 5
    assert np.array_equal(remote.variables["cube"][:, 1:], CUBE[:, 1:])
    assert remote.variables["texts"][:].tolist() == ["Ærø", "", "x"]


def test_several_variables_at_once(values: tuple[refbrowser.Dataset, Any]) -> None:
    first, second = values[1].cdmr.fetch_data(**{"/cube": [0, 0, 0, slice(None)], "/yes": []})
    assert first.ravel().tolist() == CUBE[0, 0, 0].tolist()
    assert second.tolist() == [1, 0]


def test_the_other_requests(values: tuple[refbrowser.Dataset, Any]) -> None:
    dataset, remote = values
    assert remote.cdmr.fetch_cdl().text == dataset.cdl()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "cdmRemoteCapabilities" in remote.cdmr.fetch_capabilities().text
    assert 'name="cube" type="short" shape="t l y x"' in remote.cdmr.fetch_ncml().text
    with urllib.request.urlopen(f"{remote.url}?REQ=Header") as answer:
        assert answer.headers["Content-Description"] == "ncstream"
        assert answer.read(4) == b"\xad\xec\xce\xda"
