"""Codecs of virtual-tiff, of imagecodecs and of zfp as metadata of Zarr v3 has them."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from specs_made import BYTES, v3

from refbrowser.codecs.outside import Outside
from refbrowser.errors import ErrorKind, RefbrowserError

imagecodecs = pytest.importorskip("imagecodecs")
RNG = np.random.default_rng(7)
RGB = RNG.integers(0, 256, (3, 8, 12)).astype("u1")
GREY = np.cumsum(RNG.integers(0, 9, (16, 24)), 1).astype("<u2")
#: As virtual-tiff has pixels of several samples: rows of pixels, whose samples lie side by side.
PIXELS = [v3("transpose", order=[0, 2, 1]), v3("ChunkyCodec", endian="little")]


def test_pixels_of_several_samples(pipeline: Any) -> None:
    values = np.cumsum(RNG.integers(0, 5, (3, 8, 12)), 2).astype("<u2")
    pixels = np.moveaxis(values, 0, -1)
    for order in ("little", "big"):
        codecs = [PIXELS[0], v3("virtual_tiff.ChunkyCodec", endian=order), v3("numcodecs.zlib", level=1)]
        made = pipeline("<u2", codecs, values.shape, version="zarr-v3")
        stored = pixels.astype("<u2" if order == "little" else ">u2").tobytes()
        assert np.array_equal(made.decode(zlib.compress(stored)), values)
    # The predictor of TIFF: each sample less the one of the pixel before.
    differences = np.diff(pixels, axis=1, prepend=np.uint16(0)).astype("<u2")
    made = pipeline("<u2", [v3("HorizontalDeltaCodec"), *PIXELS], values.shape, version="zarr-v3")
    assert np.array_equal(made.decode(differences.tobytes()), values)
    assert made.encode(values) == differences.tobytes()


def test_sums_of_floats_are_those_of_their_bits(pipeline: Any) -> None:
    values = RNG.normal(size=(4, 6)).astype("<f4")
    bits = values.view("<u4")
    stored = np.diff(bits, axis=1, prepend=np.uint32(0)).astype("<u4").tobytes()
    made = pipeline("<f4", [v3("HorizontalDeltaCodec"), BYTES], values.shape, version="zarr-v3")
    assert np.array_equal(made.decode(stored), values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "encoded", "values"),
    [
        ("png", lambda: imagecodecs.png_encode(GREY), GREY),
        ("jpeg2k", lambda: imagecodecs.jpeg2k_encode(GREY, level=0), GREY),
        ("byteshuffle", lambda: imagecodecs.byteshuffle_encode(GREY, axis=-1), GREY),
        ("pcodec", lambda: imagecodecs.pcodec_encode(GREY), GREY),
    ],
)
def test_images_with_and_without_a_serializer(pipeline: Any, name: str, encoded: Any, values: Any) -> None:
    stored = bytes(encoded())
    # imagecodecs-zarr gives arrays to them, virtual-tiff bytes. Newer versions say what they do not choose.
    for codecs in ([v3(f"imagecodecs_{name}", unheard_of=None)], [BYTES, v3(f"imagecodecs_{name}")]):
        made = pipeline("<u2", codecs, values.shape, version="zarr-v3")
        assert np.array_equal(made.decode(stored), values)
        with pytest.raises(RefbrowserError) as caught:
            made.decode(stored[: len(stored) // 2])
        assert caught.value.kind is ErrorKind.DECODE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lz4f", "brotli", "zlib", "snappy"])
def test_bytes_of_imagecodecs(pipeline: Any, name: str) -> None:
    stored = getattr(imagecodecs, f"{name}_encode")(GREY.tobytes())
    made = pipeline("<u2", [BYTES, v3(f"imagecodecs_{name}")], GREY.shape, version="zarr-v3")
    assert np.array_equal(made.decode(stored), GREY)
    # In Zarr v2 they have the same names.
    made = pipeline("<u2", [{"id": f"imagecodecs_{name}"}], GREY.shape)
    assert np.array_equal(made.decode(stored), GREY)


def test_no_serializer_and_no_image(pipeline: Any) -> None:
    with pytest.raises(RefbrowserError, match="no codec turns the array into bytes"):
        pipeline("<u2", [v3("imagecodecs_lzw")], GREY.shape, version="zarr-v3")


def test_axes_change_places_behind_what_hangs_on_their_order(pipeline: Any) -> None:
    values = np.arange(24, dtype="<i4").reshape(2, 3, 4)
    codecs = [v3("reshape", shape=[6, 4]), v3("transpose", order=[1, 0]), v3("numcodecs.delta", dtype="<i4")]
    made = pipeline("<i4", [*codecs, BYTES], values.shape, version="zarr-v3")
    turned = values.reshape(6, 4).T.reshape(-1)
    stored = np.diff(turned, prepend=np.int32(0)).astype("<i4").tobytes()
    assert np.array_equal(made.decode(stored), values)
    assert made.encode(values) == stored
    objects = [v3("numcodecs.packbits"), v3("transpose", order=[1, 0]), BYTES]
    with pytest.raises(RefbrowserError, match="gets no elements"):
        pipeline("?", objects, (2, 4), version="zarr-v3")


def test_settings_of_zfp(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("refbrowser.codecs.table.find_spec", lambda _: None)
        with pytest.raises(RefbrowserError, match="needs the package zfpy") as caught:
            pipeline("<f4", [v3("zfp", mode="reversible")], (4, 4), version="zarr-v3")
        assert caught.value.advice == "pip install 'zfpy==1.0.1'"
    monkeypatch.setattr("refbrowser.codecs.table.find_spec", lambda _: True)
    made = pipeline("<f4", [v3("zfp", mode="fixed_rate", rate=8)], (4, 4), version="zarr-v3")
    codec = made.stages[0].codec
    assert isinstance(codec, Outside)
    assert codec.configuration == {"id": "zfp", "shape": (4, 4), "settings": {"rate": 8}}
    wrong = [("<f4", {"mode": "expert", "minbits": 1}), ("<f4", {}), ("<f4", {"mode": "fixed_rate"})]
    for dtype, settings in [*wrong, ("<u4", {"mode": "reversible"}), ("<f2", {"mode": "reversible"})]:
        with pytest.raises(RefbrowserError) as caught:
            pipeline(dtype, [v3("zfp", **settings)], (4, 4), version="zarr-v3")
        assert caught.value.kind is ErrorKind.META
