"""Codecs before shards: those of each element are undone chunk by chunk, others once it is put together."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from specs_made import BYTES, v3
from zarr.codecs import BytesCodec, GzipCodec, ShardingCodec, TransposeCodec

import refbrowser
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, RefbrowserError

of_numcodecs = pytest.importorskip("zarr.codecs.numcodecs", reason="since zarr-python 3.1")

FILL = -9999.0
SCALED = v3("scale_offset", offset=-10000.0, scale=2.0)
CAST = v3("cast_value", data_type="int32")
TURNED = v3("transpose", order=[1, 0])


def shards(inner: list[int], *codecs: Any) -> dict[str, Any]:
    return v3("sharding_indexed", chunk_shape=inner, codecs=[BYTES, *codecs], index_codecs=[BYTES])


def values() -> np.ndarray[Any, np.dtype[np.float32]]:
    made = (np.random.default_rng(1).normal(size=(24, 16)) * 50).round().astype("f4")
    # Shards, and chunks of shards, of which nothing is stored.
    made[0:8, 0:6] = made[4:8] = FILL
    return made


def written(path: Path, filters: list[Any], inner: tuple[int, ...], array: Any, side: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = zarr.create_array(
            path,
            shape=array.shape,
            chunks=(side,) * array.ndim,
            dtype=array.dtype,
            filters=filters,
            serializer=ShardingCodec(chunk_shape=inner, codecs=[BytesCodec(), GzipCodec()]),
            compressors=None,
            fill_value=FILL,
            zarr_format=3,
        )
        made[...] = array
        return made[...]


@pytest.mark.slow
@pytest.mark.parametrize(
    "filters",
    [
        [TransposeCodec(order=(1, 0))],
        [of_numcodecs.BitRound(keepbits=8)],
        [of_numcodecs.Quantize(digits=0, dtype="f4"), TransposeCodec(order=(1, 0))],
        [TransposeCodec(order=(1, 0)), of_numcodecs.AsType(encode_dtype="f8", decode_dtype="f4")],
    ],
    ids=["transpose", "bitround", "quantize and transpose", "transpose and astype"],
)
def test_shards_of_zarr_python(tmp_path: Path, filters: list[Any]) -> None:
    expected = written(tmp_path / "a", filters, (4, 2), values(), 8)
    with refbrowser.open(tmp_path / "a") as dataset:
        array = dataset.array("/")
        assert np.array_equal(array[...], expected)
        assert np.array_equal(array[3:17, 7], expected[3:17, 7])


@pytest.mark.slow
@pytest.mark.parametrize(
    "filters",
    [
        [of_numcodecs.Delta(dtype="f4")],
        [of_numcodecs.FixedScaleOffset(offset=0, scale=1, dtype="f4", astype="i4")],
    ],
    ids=["delta", "fixedscaleoffset"],
)
def test_rows_of_zarr_python(tmp_path: Path, filters: list[Any]) -> None:
    # With two dimensions zarr-python does not write these into shards.
    expected = written(tmp_path / "a", filters, (16,), values().reshape(-1), 64)
    with refbrowser.open(tmp_path / "a") as dataset:
        assert np.array_equal(dataset.array("/")[...], expected)
        assert np.array_equal(dataset.array("/")[5:90:7], expected[5:90:7])


@pytest.mark.slow
def test_three_axes_of_zarr_python(tmp_path: Path) -> None:
    numbers = np.arange(24 * 12 * 12, dtype="f4").reshape(24, 12, 12)
    expected = written(tmp_path / "a", [TransposeCodec(order=(2, 0, 1))], (3, 4, 6), numbers, 12)
    with refbrowser.open(tmp_path / "a") as dataset:
        assert np.array_equal(dataset.array("/")[...], expected)
        assert np.array_equal(dataset.array("/")[11:14, :, 5], expected[11:14, :, 5])


def test_a_chunk_of_a_shard_is_read_without_the_others(tmp_path: Path) -> None:
    numbers = np.arange(32, dtype="f4").reshape(4, 8)
    stored = ((numbers + 10000) * 2).astype("<i4").T
    blocks = [stored[at : at + 4, :].tobytes() for at in (0, 4)]
    index = np.array([0, 64, 64, 60], "<u8").tobytes()
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 8],
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 8]}},
        "chunk_key_encoding": {"name": "v2"},
        "fill_value": 0,
        "codecs": [SCALED, TURNED, CAST, shards([4, 4])],
    }
    (tmp_path / "zarr.json").write_text(json.dumps(metadata))
    (tmp_path / "0.0").write_bytes(b"".join(blocks)[:-4] + index)
    with refbrowser.open(tmp_path) as dataset:
        assert np.array_equal(dataset.array("/")[:, 1:4], numbers[:, 1:4])
        with pytest.raises(RefbrowserError, match="60 bytes"):
            dataset.array("/")[...]


def test_what_no_shard_has_is_the_fill_value_encoded_and_decoded(pipeline: Any, tmp_path: Path) -> None:
    made: CodecPipeline = pipeline(
        "<f4",
        [v3("scale_offset", offset=5.0, scale=0.1), shards([2])],
        (4,),
        version="zarr-v3",
        fill_value=np.float32(0.3),
    )
    empty = np.full(4, 2**64 - 1, "<u8").tobytes()
    scale = np.float32(0.1)
    expected = (np.float32(0.3) - np.float32(5)) * scale / scale + np.float32(5)
    assert expected != np.float32(0.3)
    assert made.decode(empty).tolist() == [expected] * 4
    assert made.encode(made.decode(empty)) == empty
    # As zarr-python has it: stored zeros, which its filters of numcodecs decode.
    moved = v3("numcodecs.fixedscaleoffset", offset=7, scale=1, dtype="<f4", astype="<i2")
    made = pipeline("<f4", [moved, shards([2])], (4,), version="zarr-v3", fill_value=np.float32(0))
    assert made.decode(empty).tolist() == [7] * 4
    # Here the fill value has no such form.
    cast = [v3("cast_value", data_type="int8"), shards([2])]
    made = pipeline("<f4", cast, (4,), version="zarr-v3", fill_value=np.float32("nan"))
    assert np.isnan(made.decode(empty)).all()


@pytest.mark.parametrize(
    "filters",
    [
        [v3("reshape", shape=[12, 4])],
        [v3("numcodecs.delta", dtype="<f4", astype="<f8")],
        [SCALED, v3("numcodecs.delta", dtype="<f4")],
        [TURNED, SCALED, v3("reshape", shape=[12, 4])],
        [SCALED, TURNED, CAST],
    ],
    ids=lambda filters: " ".join(each["name"] for each in filters),
)
def test_shards_are_written_and_read(pipeline: Any, filters: list[Any]) -> None:
    numbers = np.arange(48, dtype="f4").reshape(6, 8)
    numbers[:, 4:] = 0
    inner = [3, 2] if filters[-1]["name"] != "reshape" else [4, 4]
    inner = inner[::-1] if filters[1:2] == [TURNED] else inner
    codecs = [*filters, shards(inner, v3("gzip", level=1)), v3("crc32c")]
    made = pipeline("<f4", codecs, (6, 8), version="zarr-v3", fill_value=np.float32(0))
    data = made.encode(numbers)
    assert np.array_equal(made.decode(data), numbers)
    target = np.zeros((6, 8), "f4")
    assert np.array_equal(made.decode(data, target), numbers)
    with pytest.raises(RefbrowserError) as caught:
        made.decode(data[:-1])
    assert caught.value.kind is ErrorKind.DECODE


def test_no_elements_to_put_into_shards(pipeline: Any) -> None:
    packed = [v3("numcodecs.packbits"), shards([2])]
    with pytest.raises(RefbrowserError, match="make no elements") as caught:
        pipeline("?", packed, (8,), version="zarr-v3")
    assert caught.value.kind is ErrorKind.META


@pytest.mark.slow
def test_stored_chunks_are_copied_out_of_shards(tmp_path: Path) -> None:
    expected = written(
        tmp_path / "a",
        [of_numcodecs.Quantize(digits=0, dtype="f4"), TransposeCodec(order=(1, 0))],
        (4, 2),
        values(),
        8,
    )
    with refbrowser.open(tmp_path / "a") as dataset:
        refbrowser.export(dataset, tmp_path / "v2", format="zarr-v2")
        refbrowser.export(dataset, tmp_path / "v3", format="zarr-v3")
        assert dataset.array("/").node.grid.chunk_shape == (8, 8)
    for name in ("v2", "v3"):
        with refbrowser.open(tmp_path / name) as again:
            assert np.array_equal(again.array("/")[...], expected), name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.array_equal(zarr.open_array(tmp_path / name, mode="r")[...], expected), name
