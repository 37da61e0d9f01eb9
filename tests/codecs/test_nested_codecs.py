"""Codecs that are made of others: each chunk says which were applied, or what shape its block has."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from specs_made import BYTES, v3

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS

GZIP = v3("gzip", level=5)
CHECKED: dict[str, Any] = {"name": "crc32c"}
Make = Callable[..., CodecPipeline]


def conditional(
    pipeline: Make, codecs: list[Any], shape: tuple[int, ...] = (64,), **more: Any
) -> CodecPipeline:
    settings = {"codecs": codecs, **more}
    return pipeline(
        "u1", [BYTES, {"name": "conditional", "configuration": settings}], shape, version="zarr-v3"
    )


def test_codecs_are_applied_as_the_header_of_a_chunk_says(pipeline: Make) -> None:
    made = conditional(pipeline, [CHECKED, GZIP])
    values = np.zeros(64, "u1")
    checked = pipeline("u1", [BYTES, CHECKED], (64,), version="zarr-v3").encode(values)
    for mask, data in enumerate(
        (values.tobytes(), checked, gzip.compress(values.tobytes()), gzip.compress(checked))
    ):
        assert np.array_equal(made.decode(bytes([mask]) + data), values), mask
    with pytest.raises(RefbrowserError, match="more than the 2 codecs") as raised:
        made.decode(b"\4" + values.tobytes())
    assert raised.value.kind is ErrorKind.DECODE
    for data in (
        b"",
        b"\0" + bytes(63),
        b"\0" + bytes(65),
        b"\2" + values.tobytes(),
        b"\1" + values.tobytes(),
    ):
        with pytest.raises(RefbrowserError, match="conditional"):
            made.decode(data)


def test_what_would_grow_is_stored_as_it_is(pipeline: Make) -> None:
    made = conditional(pipeline, [GZIP], header_bits=16)
    same, noise = np.zeros(64, "u1"), np.random.default_rng(0).integers(0, 256, 64).astype("u1")
    assert made.encode(same)[:2] == b"\1\0"
    assert made.encode(noise) == b"\0\0" + noise.tobytes()
    for values in (same, noise):
        assert np.array_equal(made.decode(made.encode(values)), values)


def n5(pipeline: Make, dtype: str, shape: tuple[int, ...], *compressors: Any) -> CodecPipeline:
    turn = v3("transpose", order=list(reversed(range(len(shape)))))
    codecs = [turn, v3("bytes", endian="big"), *compressors]
    return pipeline(
        dtype, [{"name": "n5_default", "configuration": {"codecs": codecs}}], shape, version="zarr-v3"
    )


def block(values: Any, mode: int = 0) -> bytes:
    """A block as the specification of N5 4.0.0 has it: the first dimension is the fastest."""
    head = np.array([mode, values.ndim], ">u2").tobytes() + np.array(values.shape, ">u4").tobytes()
    return head + values.astype(values.dtype.newbyteorder(">")).tobytes(order="F")


def test_blocks_of_n5(pipeline: Make) -> None:
    values = np.arange(24, dtype="<i4").reshape(2, 3, 4)
    made = n5(pipeline, "<i4", values.shape)
    assert np.array_equal(made.decode(block(values)), values)
    assert made.encode(values) == block(values)
    packed = n5(pipeline, "<i4", values.shape, GZIP)
    data = block(values)
    assert np.array_equal(packed.decode(data[:16] + gzip.compress(data[16:])), values)
    assert np.array_equal(packed.decode(packed.encode(values)), values)


def test_a_block_at_the_edge_may_be_smaller_or_padded(pipeline: Make) -> None:
    made = n5(pipeline, "<i2", (3, 4))
    small = np.arange(6, dtype="i2").reshape(2, 3)
    wanted = np.zeros((3, 4), "i2")
    wanted[:2, :3] = small
    assert np.array_equal(made.decode(block(small)), wanted)
    large = np.arange(30, dtype="i2").reshape(5, 6)
    assert np.array_equal(made.decode(block(large)), large[:3, :4])


def test_other_blocks_are_damaged(pipeline: Make) -> None:
    values = np.arange(12, dtype="i2").reshape(3, 4)
    made = n5(pipeline, "<i2", values.shape)
    huge = np.array([0, 2], ">u2").tobytes() + np.array([2**31, 2**31], ">u4").tobytes()
    for data in (
        b"",
        block(values)[:9],
        block(values)[:-1],
        block(values) + b"\0",
        block(values, 1),
        block(values[0]),
        huge,
    ):
        with pytest.raises(RefbrowserError, match="n5_default") as raised:
            made.decode(data)
        assert raised.value.kind is ErrorKind.DECODE
    assert made.stored_most <= LIMITS.chunk_size


@pytest.mark.parametrize(
    "codec",
    [
        v3("conditional", codecs=[BYTES]),
        v3("conditional", codecs=[v3("conditional", codecs=[])]),
        v3("conditional", codecs=[GZIP], header_bits=12),
        v3("conditional", codecs=[GZIP] * 9, header_bits=8),
        v3("conditional", codecs=[{"name": "nobody's"}]),
        v3("conditional"),
    ],
)
def test_wrong_settings(pipeline: Make, codec: dict[str, Any]) -> None:
    with pytest.raises(RefbrowserError) as raised:
        pipeline("u1", [BYTES, codec], (4,), version="zarr-v3")
    assert raised.value.kind is ErrorKind.META


@pytest.mark.parametrize(
    "codecs",
    [
        [],
        [BYTES],
        [v3("transpose", order=[0, 1]), BYTES],
        [v3("transpose", order=[1, 0]), BYTES],
        [v3("transpose", order=[1, 0]), BYTES, GZIP, GZIP],
        [v3("transpose", order=[1, 0])],
    ],
)
def test_what_is_no_codec_of_n5(pipeline: Make, codecs: list[Any]) -> None:
    with pytest.raises(RefbrowserError) as raised:
        pipeline(
            "<i2", [{"name": "n5_default", "configuration": {"codecs": codecs}}], (2, 3), version="zarr-v3"
        )
    assert raised.value.kind is ErrorKind.META
