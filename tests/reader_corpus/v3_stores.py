"""Stores of Zarr v3."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from reader_corpus.corpus import NUMBERS, REALS, SIDES, Store
from reader_corpus.small_store import (
    BIG,
    GZIP,
    LITTLE,
    PLAIN,
    codec,
    sharding,
    with_groups,
    write_keys,
    write_v3,
)
from rectilinear_stores import rectilinear_keys

ZSTD = codec("zstd", level=1, checksum=False)
CRC32C = {"name": "crc32c"}


def _written(values: Any, sides: Any, codecs: Any, options: dict[str, Any], folder: Path) -> Path:
    suffix = ".zip" if options.get("zipped") else ".zarr"
    said = {name: value for name, value in options.items() if name != "zipped"}
    return write_v3(folder / f"s{suffix}", values, sides, *codecs, **said)


def _store(called: str, /, *codecs: Any, values: Any = NUMBERS, sides: Any = SIDES, **options: Any) -> Store:
    needs = options.pop("needs", ())
    told = options.pop("read_as", values)
    array = f"/{options['name']}" if "name" in options else "/v"
    return Store(f"v3/{called}", partial(_written, values, sides, codecs, options), told, array, needs)


def v3_stores() -> Iterator[Store]:
    """Yield them."""
    yield from _codecs()
    yield from _shards()
    yield from _of_numcodecs()
    yield from _types()
    yield from _grids()
    yield from _fills()
    yield from _names()


def _codecs() -> Iterator[Store]:
    yield _store("codec/none", LITTLE)
    yield _store("codec/big-endian", BIG)
    yield _store("codec/gzip", LITTLE, GZIP)
    yield _store("codec/zstd", LITTLE, ZSTD)
    yield _store("codec/zstd with a checksum", LITTLE, codec("zstd", level=1, checksum=True))
    for cname, shuffle in (("lz4", "shuffle"), ("zstd", "bitshuffle"), ("lz4hc", "noshuffle")):
        said = {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0}
        yield _store(f"codec/blosc {cname} {shuffle}", LITTLE, codec("blosc", **said))
    yield _store("codec/crc32c", LITTLE, CRC32C)
    yield _store("codec/gzip and crc32c", LITTLE, GZIP, CRC32C)
    turned = codec("transpose", order=[1, 0])
    yield _store("codec/transpose", turned, LITTLE)
    yield _store("codec/transpose and zstd", turned, LITTLE, ZSTD)
    scaled = codec("scale_offset", offset=-4.0, scale=4.0)
    cast = codec("cast_value", data_type="int16")
    yield _store("codec/scale_offset", scaled, LITTLE, values=REALS.astype("<f8"))
    yield _store("codec/scale_offset and cast_value", scaled, cast, LITTLE, values=REALS.astype("<f8"))


def _shards() -> Iterator[Store]:
    square = np.arange(96, dtype="<i4").reshape(8, 12) + 1
    yield _store("shard/plain", sharding((2, 3)), values=square, sides=(4, 6))
    yield _store("shard/gzip within", sharding((2, 3), LITTLE, GZIP), values=square, sides=(4, 6))
    yield _store("shard/ragged", sharding((2, 3), LITTLE, ZSTD), values=NUMBERS, sides=(4, 6))
    yield _store(
        "shard/index at start",
        sharding((2, 3), LITTLE, GZIP, index_location="start"),
        values=square,
        sides=(4, 6),
    )
    nested = sharding((2, 3), sharding((1, 3), LITTLE, GZIP))
    yield _store("shard/nested", nested, values=square, sides=(4, 6))
    turned = sharding((2, 3), codec("transpose", order=[1, 0]), LITTLE)
    yield _store("shard/transpose within", turned, values=square, sides=(4, 6))
    yield _store("shard/gzip around", sharding((2, 3)), GZIP, values=square, sides=(4, 6))
    holed = square.copy()
    holed[:2, :3] = 0
    yield _store("shard/missing inner chunk", sharding((2, 3), LITTLE, ZSTD), values=holed, sides=(4, 6))
    plain = codec("sharding_indexed", chunk_shape=[2, 3], codecs=[LITTLE], index_codecs=[LITTLE])
    yield _store("shard/index without checksum", plain, values=square, sides=(4, 6))


def _of_numcodecs() -> Iterator[Store]:
    for name, said in (
        ("zlib", {"level": 1}),
        ("bz2", {"level": 1}),
        ("lzma", {"format": 1, "check": -1, "preset": 1, "filters": None}),
        ("lz4", {"acceleration": 1}),
        ("zstd", {"level": 1}),
        ("gzip", {"level": 1}),
        ("shuffle", {"elementsize": 4}),
        ("crc32", {}),
        ("adler32", {}),
        ("fletcher32", {}),
        ("jenkins_lookup3", {"initval": 0, "prefix": None}),
    ):
        yield _store(f"numcodecs/{name}", LITTLE, codec(f"numcodecs.{name}", **said))
    yield _store("numcodecs/delta", codec("numcodecs.delta", dtype="<i4", astype="<i4"), LITTLE, GZIP)
    scaled = codec("numcodecs.fixedscaleoffset", offset=0, scale=4, dtype="<f4", astype="<i2")
    yield _store("numcodecs/fixedscaleoffset", scaled, LITTLE, values=REALS)
    rounded = codec("numcodecs.quantize", digits=2, dtype="<f4", astype="<f4")
    yield _store("numcodecs/quantize", rounded, LITTLE, values=REALS)
    yield _store("numcodecs/bitround", codec("numcodecs.bitround", keepbits=12), LITTLE, values=REALS)
    cast = codec("numcodecs.astype", encode_dtype="<i4", decode_dtype="<f8")
    yield _store("numcodecs/astype", cast, LITTLE, values=NUMBERS.astype("<f8"))
    bits = NUMBERS % 2 == 0
    yield _store("numcodecs/packbits", codec("numcodecs.packbits"), PLAIN, values=bits, fill=False)
    pcodec = codec("numcodecs.pcodec", level=8)
    yield _store("numcodecs/pcodec", pcodec, needs=("pcodec",))
    zfpy = codec("numcodecs.zfpy", mode=4, tolerance=1e-6, rate=-1, precision=-1)
    yield _store("numcodecs/zfpy", zfpy, values=REALS, needs=("zfpy",))
    shuffled = [LITTLE, codec("numcodecs.shuffle", elementsize=4), codec("numcodecs.zlib", level=4)]
    yield _store("numcodecs/shuffle and zlib", *shuffled)


def _types() -> Iterator[Store]:
    for each in ("i1", "u1", "<i2", "<u2", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"):
        values = (NUMBERS % 100).astype(each)
        yield _store(f"type/{values.dtype.name}", PLAIN if values.itemsize == 1 else LITTLE, values=values)
    yield _store("type/bool", PLAIN, values=NUMBERS % 3 == 0, fill=False)
    for each in ("<c8", "<c16"):
        values = (NUMBERS + 2j).astype(each)
        yield _store(f"type/{values.dtype.name}", values=values, fill=[0.0, 0.0])
    texts = np.array([f"né{each}" for each in range(70)], object).reshape(7, 10)
    yield _store("type/string", {"name": "vlen-utf8"}, values=texts, data_type="string", fill="")
    data = np.array([f"{each}".encode() for each in range(70)], object).reshape(7, 10)
    for name in ("bytes", "variable_length_bytes"):
        yield _store(f"type/{name}", {"name": "vlen-bytes"}, values=data, data_type=name, fill="")
    wide = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 16}}
    yield _store("type/fixed_length_utf32", values=NUMBERS.astype("<U4"), data_type=wide, fill="")
    narrow = {"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}}
    yield _store("type/null_terminated_bytes", PLAIN, values=NUMBERS.astype("S5"), data_type=narrow, fill="")
    raw = NUMBERS.view("V4")
    named = {"name": "raw_bytes", "configuration": {"length_bytes": 4}}
    yield _store("type/raw_bytes", PLAIN, values=raw, data_type=named, fill="AAAAAA==")
    yield _store("type/r32", PLAIN, values=raw, data_type="r32", fill=[0, 0, 0, 0])
    for letter, name in (("M", "datetime64"), ("m", "timedelta64")):
        said = {"name": f"numpy.{name}", "configuration": {"unit": "s", "scale_factor": 1}}
        values = NUMBERS.astype(f"<{letter}8[s]")
        yield _store(f"type/numpy.{name}", values=values, data_type=said, fill=-(2**63))
    pairs = np.zeros(NUMBERS.shape, [("a", "<i4"), ("b", "<f8")])
    pairs["a"], pairs["b"] = NUMBERS, NUMBERS / 2
    structured = {"name": "structured", "configuration": {"fields": [["a", "int32"], ["b", "float64"]]}}
    yield _store("type/structured", values=pairs, data_type=structured, fill="AAAAAAAAAAAAAAAA")
    fields = [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "float64"}]
    struct = {"name": "struct", "configuration": {"fields": fields}}
    yield _store("type/struct", values=pairs, data_type=struct, fill={"a": 0, "b": 0.0})


def _rectilinear(chunk_shapes: list[Any], compressed: bool, folder: Path) -> Path:
    import gzip

    more: dict[str, Any] = {"codecs": [LITTLE, GZIP]} if compressed else {}
    encode = gzip.compress if compressed else bytes
    keys = rectilinear_keys(NUMBERS, chunk_shapes, encode, dimension_names=["d0", "d1"], **more)
    return write_keys(folder / "s.zarr", with_groups(keys, "v"))


def _grids() -> Iterator[Store]:
    yield _store("grid/even", values=NUMBERS[:6, :8])
    yield _store("grid/one chunk", sides=(7, 10))
    yield _store("grid/chunk larger than the array", sides=(100, 100))
    yield _store("grid/one dimension", values=NUMBERS.reshape(-1), sides=(16,))
    four = np.arange(120, dtype="<i4").reshape(2, 3, 4, 5)
    yield _store("grid/four dimensions", values=four, sides=(1, 2, 3, 4))
    yield _store("grid/scalar", values=np.array(7, "<i4"), sides=())
    yield _store("grid/no elements", values=np.zeros((0, 4), "<i4"))
    holed = NUMBERS.copy()
    holed[:3, :4] = holed[6:, 4:8] = -40
    yield _store("grid/missing chunks", values=holed, fill=-40, missing=[(0, 0), (2, 1)])
    uneven = [[2, 4, 1], [5, 5]]
    yield Store("v3/grid/rectilinear", partial(_rectilinear, uneven, False), NUMBERS)
    yield Store("v3/grid/rectilinear, gzip", partial(_rectilinear, uneven, True), NUMBERS)
    runs = [[[2, 3], 1], 4]
    yield Store("v3/grid/rectilinear, runs of edges", partial(_rectilinear, runs, False), NUMBERS)


def _keys(name: str, separator: str) -> dict[str, Any]:
    return {"name": name, "configuration": {"separator": separator}}


def _fills() -> Iterator[Store]:
    for told, value in (("NaN", np.nan), ("-Infinity", -np.inf), ("0x7fc00000", np.nan), (0.5, 0.5)):
        reals = REALS.copy()
        reals[:3, :4] = value
        yield _store(f"fill/{told}", values=reals, fill=told, missing=[(0, 0)])
    values = NUMBERS.astype("<i8")
    values[:3, :4] = 2**62 + 1
    yield _store("fill/beyond 2^53", values=values, fill=2**62 + 1, missing=[(0, 0)])


def _names() -> Iterator[Store]:
    for name, separator in (("default", "."), ("v2", "."), ("v2", "/")):
        yield _store(
            f"keys/{name} with {'a slash' if separator == '/' else 'dots'}", keys_as=_keys(name, separator)
        )
    yield _store("name/spaces", name="sea level")
    yield _store("name/unicode", name="température")
    yield _store("name/dots", name="a.b.c")
    yield _store("name/percent", name="a%20b")
    yield _store("name/deep", name="a/b/c/d/e/v")
    yield _store("name/array at the root", name="")
    yield _store("metadata/consolidated", consolidated=True)
    yield _store("metadata/no dimension names", dimension_names=None)
    yield _store("metadata/a dimension without a name", dimension_names=["d0", None])
    yield _store("metadata/attributes", attributes={"units": "K", "list": [1, 2], "nested": {"a": 1}})
    yield _store("metadata/a member that may be ignored", more={"name": "x", "must_understand": False})
    yield _store("metadata/zip", zipped=True)
