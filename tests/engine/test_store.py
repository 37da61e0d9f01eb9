"""zarr-python and xarray read through the store: planned together, and never None for what failed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr
from documents_made import DocumentMaker
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError

PROTOTYPE = default_buffer_prototype()


@pytest.fixture
def document(tmp_path: Path) -> Path:
    maker = DocumentMaker(tmp_path)
    maker.group("ocean", depth=3)
    values = np.arange(40 * 6, dtype="<f4").reshape(40, 6)
    maker.array(
        "ocean/temp",
        values,
        (2, 6),
        compressors=numcodecs.Zlib(1),
        fill_value=-1,
        attributes={"_ARRAY_DIMENSIONS": ["t", "x"]},
    )
    maker.array("t", np.arange(40), (40,), compressors=None, attributes={"_ARRAY_DIMENSIONS": ["t"]})
    return maker.write(missing=("ocean/temp/3.0",), inline=("t/0",))


@pytest.fixture
def dataset(document: Path):
    with refbrowser.open(document) as dataset:
        yield dataset


def test_zarr_reads_what_we_read(dataset: refbrowser.Dataset) -> None:
    group = zarr.open_group(dataset.store(), mode="r")
    for path, array in dataset.arrays.items():
        np.testing.assert_array_equal(group[path.strip("/")][...], array[...])
    assert sorted(path for path, _ in group.members(max_depth=None)) == ["ocean", "ocean/temp", "t"]
    assert group["ocean"].attrs["depth"] == 3
    assert zarr.open(dataset.store(), mode="r", path="ocean/temp")[6, 0] == -1, "a missing chunk is fill"


def test_xarray_reads_it(dataset: refbrowser.Dataset) -> None:
    import xarray

    opened = xarray.open_zarr(
        dataset.store(), group="ocean", consolidated=False, chunks=None, mask_and_scale=False
    )
    assert opened["temp"].dims == ("t", "x")
    np.testing.assert_array_equal(opened["temp"].values[7:9], dataset["ocean/temp"][7:9].astype("f4"))


def test_what_arrives_together_is_planned_together(dataset: refbrowser.Dataset) -> None:
    plans = []
    plan = dataset.session.fetcher.plan
    dataset.session.fetcher.plan = lambda columns, access: plans.append(len(columns)) or plan(columns, access)

    async def several() -> list:
        store = dataset.store()
        keys = [f"ocean/temp/{row}.0" for row in range(20)]
        return await asyncio.gather(*(store.get(key, PROTOTYPE) for key in keys))

    found = asyncio.run(several())
    assert plans == [19]
    assert [data is None for data in found] == [row == 3 for row in range(20)]
    plans.clear()
    before = dataset.session.fetcher.counters.requests
    with zarr.config.set({"async.concurrency": 64}):
        zarr.open_array(dataset.store(), path="ocean/temp", mode="r")[...]
    assert plans == [19]
    assert dataset.session.fetcher.counters.requests - before < 5


@pytest.mark.parametrize(
    ("cut", "wanted"),
    [
        (None, slice(None)),
        (RangeByteRequest(2, 9), slice(2, 9)),
        (RangeByteRequest(2, 10**6), slice(2, None)),
        (OffsetByteRequest(5), slice(5, None)),
        (SuffixByteRequest(4), slice(-4, None)),
        (SuffixByteRequest(10**6), slice(None)),
    ],
)
@pytest.mark.parametrize("key", ["ocean/temp/0.0", "t/0", "ocean/.zattrs"])
def test_parts_of_values(dataset: refbrowser.Dataset, key: str, cut, wanted: slice) -> None:
    whole = dataset.read_key(key)
    store = dataset.store()
    assert asyncio.run(store.get(key, PROTOTYPE, cut)).to_bytes() == whole[wanted]
    parts = asyncio.run(store.get_partial_values(PROTOTYPE, [(key, cut), ("nothing", None)]))
    assert parts[0].to_bytes() == whole[wanted]
    assert parts[1] is None


def test_what_fails_raises_and_is_never_none(document: Path) -> None:
    text = json.loads(document.read_text())
    text["refs"]["ocean/temp/5.0"] = ["data.bin", 10**6, 10]
    text["refs"]["ocean/temp/6.0"] = ["https://127.0.0.1:1/x", 0, 10]
    text["refs"]["ocean/temp/7.0"] = ["data.bin", -1, 10]
    document.write_text(json.dumps(text))
    with refbrowser.open(document) as dataset:
        array = zarr.open_array(dataset.store(), path="ocean/temp", mode="r")
        for row, kind in [(10, ErrorKind.RANGE), (12, ErrorKind.BLOCKED), (14, ErrorKind.REF)]:
            with pytest.raises(RefbrowserError) as caught:
                array[row]
            assert caught.value.kind is kind
            assert caught.value.place.key == f"ocean/temp/{row // 2}.0"
        np.testing.assert_array_equal(array[0:6], dataset["ocean/temp"][0:6])


def test_keys_are_listed(dataset: refbrowser.Dataset) -> None:
    store = dataset.store()

    async def gathered(items) -> list[str]:
        return [item async for item in items]

    every = asyncio.run(gathered(store.list()))
    assert len(every) == len(set(every)) == len(refbrowser.expand(dataset))
    assert set(asyncio.run(gathered(store.list_dir("")))) == {".zgroup", ".zattrs", "ocean", "t"}
    assert set(asyncio.run(gathered(store.list_dir("ocean")))) == {".zgroup", ".zattrs", "temp"}
    chunks = asyncio.run(gathered(store.list_dir("ocean/temp/")))
    assert len(chunks) == 19 + 2
    assert "12.0" in chunks
    assert set(asyncio.run(gathered(store.list_prefix("t/")))) == {"t/.zarray", "t/.zattrs", "t/0"}
    assert asyncio.run(store.exists("t/0"))
    assert not asyncio.run(store.exists("t/1"))


def test_nothing_can_be_written(dataset: refbrowser.Dataset) -> None:
    store = dataset.store()
    assert store.read_only
    with pytest.raises(ValueError):
        asyncio.run(store.set("x", PROTOTYPE.buffer.from_bytes(b"")))
    with pytest.raises(ValueError):
        asyncio.run(store.delete("t/0"))
    assert store == dataset.store()


def test_shards_are_read_by_ranges(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path, zarr_format=3)
    values = np.arange(64 * 64, dtype="<i4").reshape(64, 64)
    maker.array("s", values, (8, 8), shards=(64, 64), compressors=None)
    with refbrowser.open(maker.write()) as dataset:
        array = zarr.open_array(dataset.store(), path="s", mode="r")
        np.testing.assert_array_equal(array[9:12, 20:22], values[9:12, 20:22])
        assert dataset.session.fetcher.counters.bytes < 3000
