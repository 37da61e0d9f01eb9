"""Our own client reads what our own service offers: every type, every section, every format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from deep import examples
from documents_of_values import CUBE, FLAGS, NAMES, STATIONS, ValueDocument
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.wings.ncstream.remote import answers as sources
from refbrowser.wings.ncstream.serving import offered_state as serving_data
from refbrowser.wings.ncstream.serving.service import Service
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

Pair = tuple[refbrowser.Dataset, refbrowser.Dataset]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """A dataset and the same over our own service."""
    folder = tmp_path_factory.mktemp("values")
    document = ValueDocument(folder)
    document.add("cube", CUBE, ("t", "l", "y", "x"), (1, 3, 2, 2), missing=[(0, 0, 1, 1)])
    document.add("stations", STATIONS[["id", "lat"]].astype([("id", "<i4"), ("lat", "<f8")]), ("s",))
    document.add("names", NAMES, ("n",), (2,))
    document.add("flags", FLAGS, flag_values=[0, 1], units="1")
    document.add("words", np.array([b"ab", b"c", b""], "S4"), ("w",))
    document.add("when", np.array(["2020-01-01T12", "NaT"], "<M8[h]"), ("d",))
    document.add("complex", np.array([1 + 2j, -3.5j], "<c8"), ("d",))
    document.add("scalar", np.array(2.5))
    path = folder / "d.json"
    path.write_text(json.dumps(document.refs))
    with (
        refbrowser.open(path) as dataset,
        Service(dataset) as service,
        refbrowser.open(f"cdmremote:{service.url}") as remote,
    ):
        yield dataset, remote


def test_values_of_every_type(opened: Pair) -> None:
    dataset, remote = opened
    for name in ("/cube", "/names", "/flags", "/scalar"):
        assert np.array_equal(remote[name][...], dataset[name][...]), name
    assert remote["/stations"][:].tolist() == dataset["/stations"][:].tolist()
    assert remote["/words"][:].tolist() == ["ab", "c", ""]
    assert remote["/when"][0] == (np.datetime64("2020-01-01T12") - np.datetime64(0, "h")).astype(int)
    assert remote["/when"].attrs["units"] == "hours since 1970-01-01"
    assert (remote["/complex_r"][:] + 1j * remote["/complex_i"][:]).tolist() == [1 + 2j, -3.5j]
    assert remote["/flags"].attrs["flag_values"] == [0, 1]
    assert remote["/cube"].dimensions == ("t", "l", "y", "x")


@pytest.mark.slow
@pytest.mark.parametrize("whole", [1, 1 << 14])
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_sections_are_those_of_numpy(
    opened: Pair,
    monkeypatch: pytest.MonkeyPatch,
    whole: int,
    data: st.DataObject,
) -> None:
    monkeypatch.setattr(sources, "_WHOLE", whole)
    index = tuple(data.draw(st.one_of(st.integers(-size, size - 1), st.slices(size))) for size in CUBE.shape)
    dataset, remote = opened
    assert np.array_equal(remote["/cube"][index], dataset["/cube"][index])
    text = data.draw(st.slices(len(NAMES)))
    assert np.array_equal(remote["/names"][text], dataset["/names"][text])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["eraint_uvz", "crm", "cth", "basin_mask"])
def test_real_files(shared_data: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_data, "STREAM_LIMITS", replace(STREAM_LIMITS, serve_block=50_000))
    monkeypatch.setattr(sources, "STREAM_LIMITS", replace(STREAM_LIMITS, remote_tile=300_000))
    with (
        refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset,
        Service(dataset) as service,
        refbrowser.open(service.url) as remote,
    ):
        assert remote.format == "cdmremote"
        assert list(remote.arrays) == list(dataset.arrays)
        for path, array in dataset.arrays.items():
            assert np.array_equal(remote[path][...], array[...], equal_nan=array.dtype.kind == "f"), path
            lost = {"_ARRAY_DIMENSIONS", "_FillValue"}
            assert set(array.attrs) - lost <= set(remote[path].attrs), path


def test_a_service_of_a_service(shared_data: Path) -> None:
    path = shared_data / "real" / "eraint_uvz.refs.json"
    with (
        refbrowser.open(path) as dataset,
        Service(dataset) as first,
        refbrowser.open(first.url) as middle,
        Service(middle) as second,
        refbrowser.open(second.url) as last,
    ):
        assert np.array_equal(last["/z"][1, :, 5:200:7], dataset["/z"][1, :, 5:200:7])
