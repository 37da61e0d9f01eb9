"""Arrays of types that numpy has not: read as wider ones, written again as they were."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import python_packages

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.narrow_types import narrow_type

LITTLE = [{"name": "bytes", "configuration": {"endian": "little"}}]
BIG = [{"name": "bytes", "configuration": {"endian": "big"}}]
TURNED = {"name": "transpose", "configuration": {"order": [1, 0]}}
#: Bits of exponent and mantissa, bias, and whether there are infinities.
FORMS = {
    "bfloat16": (8, 7, 127, True),
    "float8_e5m2": (5, 2, 15, True),
    "float8_e4m3": (4, 3, 7, True),
    "float8_e3m4": (3, 4, 3, True),
    "float6_e2m3fn": (2, 3, 1, False),
    "float4_e2m1fn": (2, 1, 1, False),
}


@pytest.fixture
def _package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(python_packages("ml", ["ml_dtypes>=0.5"]))])


def number(bits: int, exponent: int, mantissa: int, bias: int, has_infinity: bool) -> float:
    """The value of bits, as IEEE 754 has it."""
    sign = -1.0 if bits >> (exponent + mantissa) & 1 else 1.0
    power, rest = bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1)
    if has_infinity and power == (1 << exponent) - 1:
        return float("nan") if rest else sign * float("inf")
    if power == 0:
        return sign * float(rest) * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + rest / 2**mantissa) * 2.0 ** (power - bias)


def store(path: Path, name: str, codecs: list[Any], chunk: bytes, fill: Any = 0, shape: Any = (4, 4)) -> Path:
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "v2"},
        "fill_value": fill,
        "codecs": codecs,
        "dimension_names": ["y", "x"],
    }
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(metadata))
    (path / "0.0").write_bytes(chunk)
    return path


def read(path: Path) -> Any:
    with refbrowser.open(path) as dataset:
        return dataset.array("/")[...]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.usefixtures("_package")
def test_floats(tmp_path: Path, name: str) -> None:
    exponent, mantissa, _, _ = FORMS[name]
    size = 1 + exponent + mantissa
    bits = np.random.default_rng(5).integers(0, 2**size, 16)
    bits[:3] = 0, 2 ** (size - 1), ((1 << exponent) - 1) << mantissa
    expected = np.array([number(int(each), *FORMS[name]) for each in bits], "f4").reshape(4, 4)
    # Bits above those of a value mean nothing.
    spare = bits | (0xC0 if size < 7 else 0)
    for at, (order, codecs) in enumerate((("<", LITTLE), (">", BIG))):
        chunk = spare.astype(f"{order}u{-(-size // 8)}").tobytes()
        values = read(store(tmp_path / str(at), name, codecs, chunk))
        assert values.dtype == np.float32
        assert np.array_equal(values, expected, equal_nan=True)


@pytest.mark.usefixtures("_package")
def test_whole_numbers(tmp_path: Path) -> None:
    for name, low in (("int2", -2), ("int4", -8), ("uint2", 0), ("uint4", 0)):
        width = int(name[-1])
        expected = np.resize(np.arange(low, low + 2**width), (4, 4))
        bits = expected & (2**width - 1)
        spare = (bits | 0x50 if width == 4 else bits | 0xA8).astype("u1")
        values = read(store(tmp_path / name, name, LITTLE, spare.tobytes()))
        assert np.array_equal(values, expected)
        assert values.dtype == ("i1" if low else "u1")
        # Packed: the first value has the lowest bits.
        text = "".join(f"{each:0{width}b}" for each in reversed(bits.reshape(-1).tolist()))
        packed = int(text, 2).to_bytes(16 * width // 8, "little")
        path = store(tmp_path / f"{name} packed", name, [{"name": "packbits"}], packed)
        assert np.array_equal(read(path), expected)


@pytest.mark.usefixtures("_package")
def test_fill_values() -> None:
    spelled = {
        ("bfloat16", "0x7fc0"): np.nan,
        ("bfloat16", "NaN"): np.nan,
        ("bfloat16", "0x3f80"): 1,
        ("bfloat16", "-Infinity"): -np.inf,
        ("bfloat16", 1.001): 1,
        ("float8_e4m3", "0x7c"): np.nan,
        ("float8_e5m2", 57344): 57344,
        ("float8_e8m0fnu", "0xFF"): np.nan,
        ("int4", -8): -8,
        ("uint2", 3): 3,
    }
    for (name, value), expected in spelled.items():
        found = narrow_type(name).fill_value(value)  # type: ignore[union-attr]
        assert np.array_equal(found, expected, equal_nan=True), name
    wrong = {
        "int4": (8, -9, 1.5, "x"),
        "uint2": (4, -1),
        "bfloat16": ("0x7fc00000", "0xzz", "what"),
        "float4_e2m1fn": ("NaN", "Infinity"),
        "float8_e8m0fnu": ("Infinity", "-Infinity"),
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(RefbrowserError) as caught:
                narrow_type(name).fill_value(value)  # type: ignore[union-attr]
            assert caught.value.kind is ErrorKind.META, (name, value)


@pytest.mark.usefixtures("_package")
def test_what_is_missing_and_what_is_in_shards(tmp_path: Path) -> None:
    index = [*LITTLE]
    inner = [{"name": "gzip", "configuration": {"level": 1}}]
    configuration = {"chunk_shape": [2, 4], "codecs": [TURNED, *BIG, *inner], "index_codecs": index}
    codecs = [TURNED, {"name": "sharding_indexed", "configuration": configuration}]
    empty = np.full(4, 2**64 - 1, "<u8").tobytes()
    path = store(tmp_path / "a", "bfloat16", codecs, empty, fill="0x4049")
    assert read(path).tolist() == [[3.140625] * 4] * 4
    with refbrowser.open(path) as dataset:
        node = dataset.array("/").node
        assert (node.type.name, node.dtype) == ("bfloat16", np.dtype("f4"))


@pytest.mark.slow
@pytest.mark.usefixtures("_package")
def test_exports_keep_the_type_or_widen_it(tmp_path: Path) -> None:
    values = np.arange(16, dtype="f4").reshape(4, 4)
    chunk = (values.view("<u4") >> 16).astype("<u2").tobytes()
    path = store(tmp_path / "a", "bfloat16", LITTLE, chunk, fill="NaN")
    with refbrowser.open(path) as dataset:
        kept = refbrowser.export(dataset, tmp_path / "v3", format="zarr-v3", codec="zstd:3")
        refbrowser.export(dataset, tmp_path / "copied", format="zarr-v3")
        wide = refbrowser.export(dataset, tmp_path / "v2", format="zarr-v2")
        refbrowser.export(dataset, tmp_path / "file.nc", format="netcdf4")
    assert "type bfloat16 is kept as an extension" in str(kept)
    assert "bfloat16 is written as <f4, which has all of its values" in str(wide)
    with refbrowser.open(tmp_path / "file.nc") as dataset:
        assert np.array_equal(dataset.array("/data")[...], values)
    for name in ("v3", "copied"):
        written = json.loads((tmp_path / name / "zarr.json").read_text())
        assert (written["data_type"], written["fill_value"]) == ("bfloat16", "NaN")
        assert np.array_equal(read(tmp_path / name), values)
    assert (tmp_path / "copied" / "0.0").read_bytes() == chunk
    assert json.loads((tmp_path / "v2" / ".zarray").read_text())["dtype"] == "<f4"
    assert np.array_equal(read(tmp_path / "v2"), values)


@pytest.mark.usefixtures("_package")
def test_codecs_that_calculate_are_told(tmp_path: Path) -> None:
    codecs = [{"name": "scale_offset", "configuration": {"offset": 1}}, *LITTLE]
    with refbrowser.open(store(tmp_path / "a", "bfloat16", codecs, bytes(32))) as dataset:
        error = dataset.array("/").node.unreadable
    assert error is not None
    assert "of elements of type bfloat16 is not supported" in error.message


def test_without_the_package_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.model.narrow_types.find_spec", lambda _: None)
    with refbrowser.open(store(tmp_path / "a", "int4", LITTLE, bytes(16))) as dataset:
        node = dataset.array("/").node
    assert (node.shape, node.type.name, node.dtype) == ((4, 4), "int4", None)
    assert node.unreadable is not None
    assert "needs the package ml_dtypes" in node.unreadable.message
    assert node.unreadable.advice == "pip install ml_dtypes"
