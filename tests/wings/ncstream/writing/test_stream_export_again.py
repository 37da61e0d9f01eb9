"""Random datasets, and every construct of streams, exported in both profiles and read back equal."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep import examples, some
from exported_streams import exported, opened, read_by_siphon
from hypothesis import given, settings
from hypothesis import strategies as st
from looped import looped
from stream_reading import plain

import refbrowser
from refbrowser.wings.ncstream.writing.stream_options import PROFILES

_DTYPES = ["<i1", ">i2", "<i4", ">i8", "u1", "<u2", ">u4", "<u8", "<f4", ">f8", "S1", "<U4", "?", "<f2"]
_STRUCTURE = np.dtype([("a", "<i2"), ("b", ">f8", (2,)), ("t", "<U3"), ("in", [("x", "u1"), ("ok", "?")])])
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def arrays(draw: Any) -> dict[str, Any]:
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    chunks = tuple(draw(st.integers(1, 6)) for _ in shape)
    dtype = np.dtype(draw(st.sampled_from([*_DTYPES, _STRUCTURE])))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    data = random.integers(33, 122, int(np.prod(shape)) * dtype.itemsize, np.uint8)
    values = np.zeros(shape, dtype)
    if dtype.kind in "U":
        texts = draw(st.lists(_TEXTS, min_size=values.size, max_size=values.size))
        values = np.array(texts, dtype).reshape(shape)
    elif dtype.names is None and dtype.kind not in "b":
        values = np.frombuffer(data.tobytes(), dtype).reshape(shape).copy()
    elif dtype.kind == "b":
        values = random.integers(0, 2, shape).astype("?")
    else:
        values["a"], values["b"] = random.integers(-99, 99, shape), 0.5
        values["t"], values["in"]["x"] = "ä", 7
    made: dict[str, Any] = {"values": values, "chunks": chunks}
    made["level"] = draw(st.sampled_from([None, 1]))
    if dtype.kind in "iuf":
        made["fill_value"] = draw(st.sampled_from([None, 0, 1, 99]))
        count = [range(-(-size // side)) for size, side in zip(shape, chunks, strict=True)]
        if all(count) and shape:
            made["missing"] = [tuple(draw(st.sampled_from(axis)) for axis in count)]
    made["attributes"] = draw(
        st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9) | _TEXTS | st.floats(-9, 9), max_size=2)
    )
    return made


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(
    st.dictionaries(st.sampled_from(["x", "y.z", "ä"]), arrays(), min_size=1, max_size=3),
    st.sampled_from(PROFILES),
    st.sampled_from(["keep", "none", "zlib:1"]),
    st.sampled_from([16, 200, 1 << 20]),
)
def test_random_datasets(found: dict[str, Any], profile: str, codec: str, tile_size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), found) as dataset:
        target = Path(folder) / "a.ncs"
        exported(dataset, target, profile=profile, codec=codec, tile_size=tile_size, checksum=True)
        with refbrowser.open(target) as again:
            assert not again.document.notes
            for name in found:
                wanted, got = dataset[name], again[name]
                assert got.shape == wanted.shape
                assert plain(got[...]) == plain(wanted[...])
                own = {key: value for key, value in got.attrs.items() if key != "_FillValue"}
                assert own == wanted.attrs
                if got.ndim:
                    half = np.s_[got.shape[0] // 2 :]
                    assert plain(got[half]) == plain(wanted[half])
        if profile == "compatible":
            _siphon_agrees(target, dataset, found)


def _siphon_agrees(target: Path, dataset: Any, found: dict[str, Any]) -> None:
    _, values = read_by_siphon(target)
    for name in found:
        if found[name]["values"].dtype.names is None:
            assert plain(values[name].reshape(-1)) == plain(dataset[name][...].reshape(-1)), name


def _constructs() -> list[Any]:
    from structure_constructs import ALL

    return [each for each in ALL if each.name != "sparse"]


@pytest.mark.slow
@looped("construct, profile", some(list(product(_constructs(), PROFILES)), 3))
def test_every_construct_of_streams_is_written_again(construct: Any, profile: str, tmp_path: Path) -> None:
    source = tmp_path / "source.ncs"
    source.write_bytes(construct.stream)
    with refbrowser.open(source) as dataset:
        report = exported(dataset, tmp_path / "a.ncs", profile=profile, checksum=True)
        beside = {loss.what.split("'")[1] for loss in report.losses if "written as the variable" in loss.what}
        with refbrowser.open(tmp_path / "a.ncs") as again:
            assert set(again) - set(dataset) == {path for path in again if path not in dataset}
            for path, array in dataset.arrays.items():
                names = array.dtype.names or (None,)
                kept = again[path].dtype.names or (None,)
                assert set(names) - set(kept) <= beside
                wanted, got = array[...], again[path][...]
                for name in kept:
                    assert plain(got if name is None else got[name]) == plain(
                        wanted if name is None else wanted[name]
                    )
                assert again[path].dimensions == array.dimensions
                assert again[path].node.type.names == array.node.type.names
