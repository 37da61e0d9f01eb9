"""Run by an interpreter with zarr-python 3: a corpus of v3, as ``write_with_zarr2.py`` makes one of v2."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)

RANDOM = np.random.default_rng(7)
FLOATS = np.round(np.linspace(-4, 9, 77).reshape(7, 11), 2)
INTEGERS = RANDOM.integers(-90, 90, (7, 11))

LITTLE, BIG = BytesCodec(), BytesCodec(endian="big")
CHAINS: dict[str, list[Any]] = {
    "bytes": [LITTLE],
    "big": [BIG],
    "gzip": [LITTLE, GzipCodec(level=3)],
    "zstd": [LITTLE, ZstdCodec(level=3, checksum=True)],
    "crc32c": [LITTLE, Crc32cCodec()],
    "transpose": [TransposeCodec(order=(1, 0)), BIG, ZstdCodec()],
    "several": [TransposeCodec(order=(1, 0)), LITTLE, GzipCodec(), Crc32cCodec(), ZstdCodec(), Crc32cCodec()],
    **{
        f"blosc_{cname}_{shuffle}": [LITTLE, BloscCodec(typesize=4, cname=cname, shuffle=shuffle)]
        for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    },
}
INNER = [TransposeCodec(order=(1, 0)), LITTLE, ZstdCodec(), Crc32cCodec()]
NESTED = ShardingCodec(chunk_shape=(4, 4), codecs=[ShardingCodec(chunk_shape=(2, 2), codecs=INNER)])
SHARDS: dict[str, list[Any]] = {
    "plain": [ShardingCodec(chunk_shape=(2, 2))],
    "start": [ShardingCodec(chunk_shape=(4, 2), codecs=INNER, index_location="start")],
    "index_plain": [ShardingCodec(chunk_shape=(2, 4), index_codecs=[LITTLE], codecs=[LITTLE])],
    "index_big": [ShardingCodec(chunk_shape=(2, 4), index_codecs=[BIG, Crc32cCodec()], codecs=[BIG])],
    "nested": [NESTED],
    "nested_start": [
        ShardingCodec(chunk_shape=(4, 4), codecs=[ShardingCodec(chunk_shape=(2, 4), index_location="start")])
    ],
    "checked": [ShardingCodec(chunk_shape=(4, 4)), Crc32cCodec()],
    "transposed": [TransposeCodec(order=(1, 0)), ShardingCodec(chunk_shape=(4, 2))],
}
ELEMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "delta": ("int32", {"dtype": "<i4"}),
    "astype": ("int32", {"encode_dtype": "<i2", "decode_dtype": "<i4"}),
    "fixedscaleoffset": ("float64", {"offset": -5, "scale": 100, "dtype": "<f8", "astype": "<u2"}),
    "quantize": ("float64", {"digits": 2, "dtype": "<f8"}),
    "bitround": ("float32", {"keepbits": 9}),
    "packbits": ("bool", {}),
}
PACKERS: dict[str, dict[str, Any]] = {
    "zlib": {"level": 4},
    "gzip": {"level": 4},
    "bz2": {"level": 4},
    "lz4": {"acceleration": 4},
    "lzma": {"preset": 4},
    "zstd": {"level": 4},
    "blosc": {"cname": "zstd", "shuffle": 1},
    "shuffle": {"elementsize": 4},
    "crc32": {},
    "crc32c": {},
    "adler32": {},
    "fletcher32": {},
    "jenkins_lookup3": {},
}
NUMBERS = [
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    "complex64",
    "complex128",
]
TIMES = [f"{letter}8[{unit}]" for letter in "mM" for unit in ("D", "ns", "25us", "M", "s")]


def write_codecs(root: zarr.Group) -> None:
    for group, chains in (("chains", CHAINS), ("shards", SHARDS)):
        for name, codecs in chains.items():
            array = zarr.create(
                store=root.store, path=f"{root.path}/{group}/{name}".strip("/"), shape=(13, 9), chunks=(8, 8),
                dtype="int32", codecs=codecs, fill_value=-1, dimension_names=["y", "x"],
            )  # fmt: skip
            array[:7] = INTEGERS[:, :9]
    for name, (dtype, configuration) in ELEMENTS.items():
        filters = [{"name": f"numcodecs.{name}", "configuration": configuration}]
        values = (FLOATS if "float" in dtype else INTEGERS).astype(dtype)
        root.create_array(f"numcodecs/{name}", shape=(7, 11), chunks=(4, 6), dtype=dtype, filters=filters)[
            :
        ] = values
    for name, configuration in PACKERS.items():
        packers = [{"name": f"numcodecs.{name}", "configuration": configuration}]
        root.create_array(
            f"numcodecs/{name}", shape=(7, 11), chunks=(4, 6), dtype="int32", compressors=packers
        )[:] = INTEGERS


def write_types(root: zarr.Group) -> None:
    for dtype in [*NUMBERS, *TIMES]:
        for encoding, separator in (("default", "/"), ("default", "."), ("v2", "."), ("v2", "/")):
            kind = np.dtype(dtype).kind
            values = (abs(INTEGERS) if kind == "u" else INTEGERS).astype(dtype)
            word = {"/": "slash", ".": "dot"}[separator]
            array = root.create_array(
                f"types/{dtype}_{encoding}_{word}", shape=(9, 11), chunks=(3, 4), dtype=dtype,
                chunk_key_encoding={"name": encoding, "separator": separator},
                dimension_names=[None, "x"],
                attributes={"rows": [1, 2], "nested": {"a": [None, True, 1.5, "é"]}},
            )  # fmt: skip
            array[:7] = values
    texts = np.array(["", "é", "abc" * 30, "x", "☃", "y", "last"], object)
    root.create_array("types/string", shape=(9,), chunks=(3,), dtype=str, fill_value="none")[:7] = texts
    blobs = np.array([b"", b"\0\xff", b"abc" * 9, b"z"], object)
    bytes_type = zarr.dtype.VariableLengthBytes()
    root.create_array("types/bytes", shape=(5,), chunks=(3,), dtype=bytes_type, fill_value=b"\1")[:4] = blobs
    for name, values in (
        ("fixed_text", np.array(["a", "bé", "", "ccc", "☃"], "<U3")),
        ("fixed_bytes", np.array([b"a", b"bc", b"", b"\0x", b"ccc"], "S3")),
        ("raw", np.array([b"abc", b"\0\1\2", b"\xff\xfe\xfd"], "V3")),
    ):
        root.create_array(f"types/{name}", shape=(6,), chunks=(2,), dtype=values.dtype)[: len(values)] = (
            values
        )


def write_structures(root: zarr.Group) -> None:
    flat = np.dtype([("a", "<i4"), ("b", "S3"), ("c", "<f8"), ("d", "<U2")])
    values = np.array([(1, b"x", 2.5, "é"), (2, b"yz", -1, ""), (3, b"", np.inf, "ab")], flat)
    array = root.create_array("structures/flat", shape=(7,), chunks=(2,), dtype=flat, fill_value=values[1])
    array[:3] = values
    inner = np.dtype([("x", "u1"), ("y", "<i2")])
    nested = np.dtype([("n", inner), ("t", "<M8[s]"), ("b", "?")])
    values = np.zeros(3, nested)
    values["n"]["y"], values["t"], values["b"] = [5, -6, 7], [1, 2, 3], [1, 0, 1]
    root.create_array("structures/nested", shape=(5,), chunks=(2,), dtype=nested)[:3] = values


def write_fills(root: zarr.Group) -> None:
    fills: list[tuple[str, Any]] = [
        *(
            (kind, fill)
            for kind in ("float16", "float32", "float64")
            for fill in (np.nan, np.inf, -np.inf, 0.5)
        ),
        *(("complex64", fill) for fill in (complex(np.nan, 2), 3 - 4j)),
        ("S5", b"ab\0c"),
        ("<U4", "né"),
        ("V3", np.void(b"\1\2\3")),
        ("M8[ns]", np.datetime64("NaT")),
        ("M8[D]", np.datetime64(12, "D")),
        ("m8[s]", np.timedelta64(-3, "s")),
        ("bool", True),
        ("uint64", 2**64 - 1),
        ("int64", -(2**63)),
    ]
    for number, (dtype, fill) in enumerate(fills):
        root.create_array(f"fills/{number}", shape=(3, 2), chunks=(2, 2), dtype=dtype, fill_value=fill)


def write_shapes(root: zarr.Group) -> None:
    root.create_array("shapes/scalar", shape=(), dtype="float64")[...] = 2.5
    root.create_array("shapes/missing_scalar", shape=(), dtype="int16", fill_value=7)
    for shape in ((0,), (0, 3), (3, 0)):
        name = "empty_" + "x".join(map(str, shape))
        root.create_array(f"shapes/{name}", shape=shape, dtype="int32", chunks=tuple(n or 1 for n in shape))
    root.create_array("shapes/deep", shape=(2,) * 6, chunks=(1,) * 6, dtype="int8")[:] = np.arange(
        64
    ).reshape((2,) * 6)
    root.create_array("shapes/larger_chunk", shape=(5,), chunks=(9,), dtype="int8")[:] = np.arange(5)


def plain(value: Any) -> Any:
    """Return a value of an array of objects as JSON."""
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def write_expected(root: zarr.Group, folder: Path) -> None:
    (folder / "expected").mkdir()
    listed = {}
    for number, (path, array) in enumerate(root.members(max_depth=None)):
        if not isinstance(array, zarr.Array):
            continue
        values = np.asarray(array[...])
        entry: dict[str, Any] = {"attributes": array.attrs.asdict()}
        if values.dtype.kind in "OT":
            entry["objects"] = [plain(value) for value in values.astype(object).reshape(-1).tolist()]
            entry["shape"] = list(array.shape)
        else:
            entry["file"] = f"expected/{number}.npy"
            np.save(folder / entry["file"], values, allow_pickle=False)
        listed[path] = entry
    (folder / "expected.json").write_text(json.dumps(listed))


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    root = zarr.create_group(str(folder / "store"), zarr_format=3, attributes={"title": "all of v3"})
    for write in (write_codecs, write_types, write_structures, write_fills, write_shapes):
        write(root)
    write_expected(zarr.open_group(root.store), folder)
    zarr.consolidate_metadata(root.store)


if __name__ == "__main__":
    main()
