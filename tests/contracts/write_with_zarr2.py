"""Run by an interpreter that has zarr-python 2: writes a corpus of Zarr v2 into the folder it is given.

``expected/NUMBER.npy`` and ``expected.json`` beside the store tell what zarr-python itself reads from it.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr

RANDOM = np.random.default_rng(7)
#: Smooth enough that lossy codecs keep it, and negative in places.
FLOATS = np.round(np.linspace(-4, 9, 77).reshape(7, 11), 2)
INTEGERS = RANDOM.integers(-90, 90, (7, 11))

COMPRESSORS: dict[str, Any] = {
    "none": None,
    "zlib": numcodecs.Zlib(3),
    "gzip": numcodecs.GZip(2),
    "bz2": numcodecs.BZ2(2),
    "lzma": numcodecs.LZMA(preset=1),
    "lzma_alone": numcodecs.LZMA(format=2),
    "lzma_raw": numcodecs.LZMA(format=3, filters=[{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]),
    "zstd": numcodecs.Zstd(2),
    "zstd_checked": numcodecs.Zstd(2, checksum=True),
    "lz4": numcodecs.LZ4(),
    **{
        f"blosc_{cname}_{shuffle}": numcodecs.Blosc(cname, 5, shuffle)
        for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
        for shuffle in (-1, 0, 1, 2)
    },
}
FILTERS: dict[str, tuple[list[Any], str]] = {
    "delta": ([numcodecs.Delta("<i4")], "<i4"),
    "delta_narrow": ([numcodecs.Delta("<i4", "<i2")], "<i4"),
    "delta_big": ([numcodecs.Delta(">i2")], ">i2"),
    "scale": ([numcodecs.FixedScaleOffset(offset=-5, scale=100, dtype="<f8", astype="<u2")], "<f8"),
    "quantize": ([numcodecs.Quantize(digits=2, dtype="<f8", astype="<f4")], "<f8"),
    "bitround": ([numcodecs.BitRound(keepbits=9)], "<f4"),
    "astype": ([numcodecs.AsType(encode_dtype="<i2", decode_dtype="<i8")], "<i8"),
    "packbits": ([numcodecs.PackBits()], "|b1"),
    "shuffle": ([numcodecs.Shuffle(8)], "<f8"),
    "base64": ([numcodecs.Base64()], "<i4"),
    "crc32": ([numcodecs.CRC32()], "<i4"),
    "crc32_end": ([numcodecs.CRC32(location="end")], "<i4"),
    "adler32": ([numcodecs.Adler32()], "<i4"),
    "fletcher32": ([numcodecs.Fletcher32()], "<i4"),
    "jenkins": ([numcodecs.JenkinsLookup3()], "<i4"),
    "several": ([numcodecs.Delta("<i4"), numcodecs.Shuffle(4), numcodecs.CRC32()], "<i4"),
}
TYPES = ["|b1", "|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u4", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16"]
TIMES = [
    f"{order}{letter}8[{unit}]"
    for letter in "mM"
    for order, unit in zip("<><<>", ("D", "ns", "25us", "M", "s"), strict=True)
]


def write_numbers(root: zarr.Group) -> None:
    for name, compressor in COMPRESSORS.items():
        for order in "CF":
            values = INTEGERS.astype("<i4")
            root.create_dataset(
                f"compressors/{name}_{order}", data=values, chunks=(3, 4), compressor=compressor, order=order
            )
    for name, (filters, dtype) in FILTERS.items():
        values = (FLOATS if "f" in dtype else INTEGERS).astype(dtype)
        for compressor in (None, numcodecs.Zlib(1)):
            path = f"filters/{name}{'' if compressor is None else '_packed'}"
            root.create_dataset(path, data=values, chunks=(4, 6), filters=filters, compressor=compressor)
    for number, dtype in enumerate([*TYPES, *TIMES]):
        values = (INTEGERS if np.dtype(dtype).kind not in "u" else abs(INTEGERS)).astype(dtype)
        for separator in "./":
            name = f"types/{number}{'dot' if separator == '.' else 'slash'}"
            array = root.create_dataset(
                name, shape=(9, 11), dtype=dtype, chunks=(3, 4), dimension_separator=separator
            )
            array[:7] = values
            array.attrs.update(dtype=dtype, rows=[1, 2], nested={"a": [None, True, 1.5, "é"]})


def write_fills(root: zarr.Group) -> None:
    fills: list[tuple[str, Any]] = [
        *((kind, fill) for kind in ("<f4", ">f8") for fill in (np.nan, np.inf, -np.inf, -0.0, 1 / 3)),
        *(("<c16", fill) for fill in (complex(np.nan, 2), 3 - 4j)),
        ("|S5", b"ab\0c"),
        ("|S5", b""),
        ("<U4", "né"),
        (">U4", ""),
        ("|V3", b"\1\2\3"),
        ("<M8[ns]", "NaT"),
        ("<M8[D]", 12),
        ("<m8[s]", "NaT"),
        ("<m8[s]", -3),
        ("|b1", True),
        ("<u8", 2**64 - 1),
        ("<i8", -(2**63)),
    ]
    for number, (dtype, fill) in enumerate(fills):
        root.create_dataset(f"fills/{number}", shape=(3, 2), chunks=(2, 2), dtype=dtype, fill_value=fill)


def write_structures(root: zarr.Group) -> None:
    flat = np.dtype([("a", "<i4"), ("b", "S3"), ("c", ">f8"), ("d", "<U2"), ("e", "<M8[s]")])
    parts = np.dtype([("v", "<f4", (2, 3)), ("n", [("x", "|u1"), ("y", "<i2", (2,))]), ("b", "|b1")])
    for number, dtype in enumerate((flat, parts)):
        values = np.frombuffer(RANDOM.integers(32, 90, 5 * dtype.itemsize, "u1").tobytes(), dtype).copy()
        if "d" in (dtype.names or ()):
            values["d"] = ["a", "bc", "", "é", "zz"]
            values["e"] = np.arange(5)
        else:
            values["b"] = [1, 0, 1, 1, 0]
        fill = values[1]
        root.create_dataset(f"structures/{number}", shape=(8,), chunks=(2,), dtype=dtype, fill_value=fill)[
            :5
        ] = values
        root.create_dataset(f"structures/{number}_zero", shape=(3,), chunks=(2,), dtype=dtype)


def write_objects(root: zarr.Group) -> None:
    texts = np.array(["", "é", "abc" * 30, "x", "☃", "y", "last"], object)
    blobs = np.array([b"", b"\0\xff", b"abc" * 9, b"z"], object)
    values = np.array([1, "a", None, 2.5, True, {"k": [1, 2]}, "é"], object)
    ragged = np.empty(4, object)
    ragged[:] = [np.arange(n, dtype="<i2") for n in (3, 0, 1, 7)]
    labels = ["", "é", "x", "y"]

    def made(name: str, data: Any, codec: Any, **options: Any) -> None:
        array = root.create_dataset(
            f"objects/{name}", shape=data.shape, chunks=(3,), dtype=object, object_codec=codec, **options
        )
        array[:] = data

    made("text", texts, numcodecs.VLenUTF8())
    made("text_plain", texts, numcodecs.VLenUTF8(), compressor=None)
    made("bytes", blobs, numcodecs.VLenBytes())
    made("arrays", ragged, numcodecs.VLenArray("<i2"))
    made("json", values, numcodecs.JSON())
    made("json_ascii", values, numcodecs.JSON(encoding="ascii"), compressor=numcodecs.Zlib(1))
    made("labels", np.array(["é", "x", "", "y"], object), numcodecs.Categorize(labels, object, "u2"))
    made("msgpack", values, numcodecs.MsgPack())
    root.create_dataset(
        "objects/fixed_labels",
        data=np.array(["é", "x", "y"], "<U1"),
        chunks=(2,),
        filters=[numcodecs.Categorize(labels, "<U1")],
    )
    root.create_dataset("objects/text_short", shape=(5,), chunks=(2,), dtype=str, fill_value="none")[:2] = "w"
    root.create_dataset("objects/text_2d", data=texts[:6].reshape(2, 3), chunks=(1, 2), dtype=str)


def write_shapes(root: zarr.Group) -> None:
    root.create_dataset("shapes/scalar", data=np.float64(2.5))
    root.create_dataset("shapes/scalar_text", shape=(), dtype=str, fill_value="nothing")
    root.create_dataset("shapes/missing_scalar", shape=(), dtype="<i2", fill_value=7)
    for shape in ((0,), (0, 3), (3, 0), (0, 0)):
        name = "empty_" + "x".join(map(str, shape))
        root.create_dataset(f"shapes/{name}", shape=shape, dtype="<i4", chunks=tuple(n or 1 for n in shape))
    root.create_dataset("shapes/one_chunk", data=np.arange(24).reshape(2, 3, 4), chunks=False)
    root.create_dataset("shapes/deep", data=np.arange(64).reshape((2,) * 6), chunks=(1,) * 6)
    root.create_dataset("shapes/larger_chunk", data=np.arange(5), chunks=(9,))


def write_optional(root: zarr.Group) -> None:
    """Write what needs packages that numcodecs does not bring."""
    root.create_dataset("optional/pcodec", data=FLOATS, chunks=(4, 6), compressor=numcodecs.PCodec())
    root.create_dataset(
        "optional/pcodec_integers", data=INTEGERS, chunks=(4, 6), compressor=numcodecs.PCodec(level=3)
    )
    for mode, name, value in ((2, "rate", 20), (3, "precision", 30), (4, "tolerance", 1e-6)):
        options = {name: value}
        codec = numcodecs.ZFPY(mode=mode, **options)
        root.create_dataset(f"optional/zfpy_{name}", data=FLOATS, chunks=(4, 6), compressor=codec)


def plain(value: Any) -> Any:
    """Return a value of an array of objects as JSON."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return {"list": value.tolist()} if isinstance(value, np.ndarray) else value


def write_expected(root: zarr.Group, folder: Path) -> None:
    (folder / "expected").mkdir()
    arrays: list[tuple[str, zarr.Array]] = []
    root.visititems(lambda path, node: arrays.append((path, node)) if isinstance(node, zarr.Array) else None)
    listed = {}
    for number, (path, array) in enumerate(arrays):
        values = array[...]
        entry: dict[str, Any] = {"attributes": array.attrs.asdict()}
        if array.dtype.hasobject:
            entry["objects"] = [plain(value) for value in np.asarray(values, object).reshape(-1).tolist()]
            if array.filters and array.filters[0].codec_id == "vlen-array":
                entry["objects"] = [plain(value) for value in values]
            entry["shape"] = list(array.shape)
        else:
            entry["file"] = f"expected/{number}.npy"
            np.save(folder / entry["file"], values, allow_pickle=False)
        listed[path] = entry
    (folder / "expected.json").write_text(json.dumps(listed))


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    root = zarr.open_group(str(folder / "store"), mode="w")
    root.attrs["title"] = "all of v2"
    for write in (write_numbers, write_fills, write_structures, write_objects, write_shapes):
        write(root)
    if "--optional" in sys.argv:
        write_optional(root)
    write_expected(root, folder)
    zarr.consolidate_metadata(root.store)


if __name__ == "__main__":
    main()
