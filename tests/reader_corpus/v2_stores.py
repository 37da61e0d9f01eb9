"""Stores of Zarr v2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from reader_corpus.corpus import NUMBERS, REALS, SIDES, Store
from reader_corpus.small_store import write_v2

ZLIB = {"id": "zlib", "level": 1}
ZFPY = {"id": "zfpy", "mode": 4, "tolerance": 1e-6, "rate": -1, "precision": -1}
_BLOSC = {"id": "blosc", "clevel": 5, "blocksize": 0}


def _written(values: Any, sides: Any, options: dict[str, Any], folder: Path) -> Path:
    suffix = ".zip" if options.get("zipped") else ".zarr"
    said = {name: value for name, value in options.items() if name != "zipped"}
    return write_v2(folder / f"s{suffix}", values, sides, **said)


def _store(called: str, /, values: Any = NUMBERS, sides: Any = SIDES, **options: Any) -> Store:
    needs = options.pop("needs", ())
    told = options.pop("read_as", values)
    array = f"/{options['name']}" if "name" in options else "/v"
    return Store(f"v2/{called}", partial(_written, values, sides, options), told, array, needs)


def v2_stores() -> Iterator[Store]:
    """Yield them."""
    yield from _compressors()
    yield from _filters()
    yield from _types()
    yield from _objects()
    yield from _grids()
    yield from _fills()
    yield from _names()


def _compressors() -> Iterator[Store]:
    yield _store("codec/none")
    for each in (
        ZLIB,
        {"id": "gzip", "level": 1},
        {"id": "bz2", "level": 1},
        {"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": None},
        {"id": "zstd", "level": 1},
        {"id": "lz4", "acceleration": 1},
    ):
        yield _store(f"codec/{each['id']}", compressor=each)
    yield _store("codec/zstd with a checksum", compressor={"id": "zstd", "level": 1, "checksum": True})
    yield _store(
        "codec/lzma with delta",
        compressor={
            "id": "lzma",
            "format": 3,
            "check": -1,
            "preset": None,
            "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}],
        },
    )
    for cname, shuffle in (
        ("lz4", 1),
        ("lz4", 0),
        ("lz4hc", 1),
        ("blosclz", 1),
        ("zstd", 2),
        ("zlib", 1),
    ):
        how = ("noshuffle", "shuffle", "bitshuffle")[shuffle]
        yield _store(f"codec/blosc {cname} {how}", compressor={**_BLOSC, "cname": cname, "shuffle": shuffle})
    yield _store("codec/pcodec", compressor={"id": "pcodec", "level": 8}, needs=("pcodec",))
    yield _store("codec/zfpy", REALS, compressor=ZFPY, needs=("zfpy",))


def _filters() -> Iterator[Store]:
    delta = {"id": "delta", "dtype": "<i4", "astype": "<i4"}
    yield _store("filter/delta", filters=[delta])
    yield _store("filter/delta and zlib", filters=[delta], compressor=ZLIB)
    yield _store(
        "filter/delta of narrower steps",
        (NUMBERS + 100).astype("<i4"),
        filters=[{"id": "delta", "dtype": "<i4", "astype": "<i2"}],
        compressor=ZLIB,
    )
    yield _store("filter/shuffle and zlib", filters=[{"id": "shuffle", "elementsize": 4}], compressor=ZLIB)
    yield _store(
        "filter/fixedscaleoffset",
        REALS,
        filters=[{"id": "fixedscaleoffset", "offset": 0, "scale": 4, "dtype": "<f4", "astype": "<i2"}],
    )
    yield _store(
        "filter/quantize",
        REALS,
        filters=[{"id": "quantize", "digits": 2, "dtype": "<f4", "astype": "<f4"}],
        compressor=ZLIB,
    )
    yield _store("filter/bitround", REALS, filters=[{"id": "bitround", "keepbits": 12}], compressor=ZLIB)
    yield _store(
        "filter/astype",
        NUMBERS.astype("<f8"),
        filters=[{"id": "astype", "encode_dtype": "<i4", "decode_dtype": "<f8"}],
    )
    yield _store("filter/packbits", NUMBERS % 2 == 0, filters=[{"id": "packbits"}], fill=False)
    for each in ("crc32", "adler32", "fletcher32", "jenkins_lookup3"):
        said = {"id": each, **({"initval": 0, "prefix": None} if each.startswith("jenkins") else {})}
        yield _store(f"filter/{each}", filters=[said])
    yield _store("filter/base64", filters=[{"id": "base64"}])


def _types() -> Iterator[Store]:
    for each in ("|i1", "|u1", "<i2", "<u2", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"):
        yield _store(f"type/{each[1:]}", (NUMBERS % 100).astype(each), compressor=ZLIB)
    for each in (">i2", ">i4", ">f4", ">f8"):
        yield _store(f"type/big-endian {each[1:]}", NUMBERS.astype(each), compressor=ZLIB)
    for each in ("<c8", "<c16"):
        yield _store(f"type/{each[1:]}", (NUMBERS + 2j).astype(each), fill=[0.0, 0.0])
    yield _store("type/bool", NUMBERS % 3 == 0, fill=False)
    yield _store("type/S5", NUMBERS.astype("S5"), fill="")
    yield _store("type/U4", NUMBERS.astype("<U4"), fill="")
    yield _store("type/datetime64 ns", NUMBERS.astype("<M8[ns]"), fill="NaT")
    yield _store("type/datetime64 D", NUMBERS.astype("<M8[D]"), fill="NaT")
    yield _store("type/timedelta64 s", NUMBERS.astype("<m8[s]"), fill="NaT")
    pairs = np.zeros(NUMBERS.shape, [("a", "<i4"), ("b", "<f8")])
    pairs["a"], pairs["b"] = NUMBERS, NUMBERS / 2
    yield _store("type/structure", pairs, fill=None)
    yield _store("type/raw bytes", NUMBERS.astype("<i4").view("V4"), fill=None)
    yield _store("type/u8 above 2^63", NUMBERS.astype("<u8") | np.uint64(1 << 63), compressor=ZLIB)


def _texts() -> np.ndarray:
    return np.array([f"né{each}" for each in range(70)], object).reshape(7, 10)


def _objects() -> Iterator[Store]:
    yield _store("object/vlen-utf8", _texts(), filters=[{"id": "vlen-utf8"}], fill="", compressor=ZLIB)
    yield _store("object/json2", _texts(), filters=[_JSON2], fill="")
    yield _store("object/msgpack2", _texts(), filters=[{"id": "msgpack2"}], fill="", needs=("msgpack",))
    yield _store("object/categorize", _texts(), filters=[_CATEGORIZE], fill="")
    data = np.array([f"{each}".encode() for each in range(70)], object).reshape(7, 10)
    yield _store("object/vlen-bytes", data, filters=[{"id": "vlen-bytes"}], fill="")
    rows = np.empty(6, object)
    rows[:] = [np.arange(each, dtype="<i4") for each in range(1, 7)]
    yield _store("object/vlen-array", rows, (3,), filters=[{"id": "vlen-array", "dtype": "<i4"}], fill=None)


_JSON2 = {
    **{"id": "json2", "encoding": "utf-8", "skipkeys": False, "ensure_ascii": True, "check_circular": True},
    **{"allow_nan": True, "sort_keys": True, "indent": None, "separators": [",", ":"], "strict": True},
}
_CATEGORIZE = {
    **{"id": "categorize", "dtype": "|O", "astype": "|u1"},
    "labels": [f"né{each}" for each in range(70)],
}


def _grids() -> Iterator[Store]:
    yield _store("grid/even", NUMBERS[:6, :8])
    yield _store("grid/one chunk", NUMBERS, (7, 10))
    yield _store("grid/chunk larger than the array", NUMBERS, (100, 100))
    yield _store("grid/order F", order="F", compressor=ZLIB)
    yield _store("grid/one dimension", NUMBERS.reshape(-1), (16,))
    yield _store("grid/four dimensions", np.arange(120, dtype="<i4").reshape(2, 3, 4, 5), (1, 2, 3, 4))
    yield _store("grid/scalar", np.array(7, "<i4"), ())
    yield _store("grid/no elements", np.zeros((0, 4), "<i4"), (3, 4))
    yield _store("grid/missing chunks", *_missing(-40), fill=-40, missing=[(0, 0), (2, 1)])
    yield _store("grid/separator slash", separator="/")
    yield _store(
        "grid/separator slash, missing chunks", *_missing(0), separator="/", missing=[(0, 0), (2, 1)]
    )


def _missing(fill: int) -> tuple[np.ndarray, tuple[int, int]]:
    values = NUMBERS.copy()
    values[:3, :4] = values[6:, 4:8] = fill
    return values, SIDES


def _fills() -> Iterator[Store]:
    reals = REALS.copy()
    reals[:3, :4] = np.nan
    yield _store("fill/NaN", reals, fill="NaN", missing=[(0, 0)])
    reals = REALS.copy()
    reals[:3, :4] = -np.inf
    yield _store("fill/-Infinity", reals, fill="-Infinity", missing=[(0, 0)])
    yield _store("fill/null", fill=None)
    values = NUMBERS.astype("<i8")
    values[:3, :4] = 2**62 + 1
    yield _store("fill/beyond 2^53", values, fill=2**62 + 1, missing=[(0, 0)])
    yield _store("fill/-9999.0 of integers", *_missing(-9999), fill=-9999.0, missing=[(0, 0), (2, 1)])


def _names() -> Iterator[Store]:
    yield _store("name/spaces", name="sea level")
    yield _store("name/unicode", name="température")
    yield _store("name/dots", name="a.b.c")
    yield _store("name/percent", name="a%20b")
    yield _store("name/deep", name="a/b/c/d/e/v")
    yield _store("name/array at the root", name="")
    yield _store("metadata/consolidated", consolidated=True)
    yield _store("metadata/no dimension names", dimensions=["none"])
    yield _store("metadata/attributes", attributes={"units": "K", "list": [1, 2], "nested": {"a": 1}})
    yield _store("metadata/zip", zipped=True)
    yield _store("metadata/zip, consolidated", zipped=True, consolidated=True)
