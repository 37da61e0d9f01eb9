"""A reader of the draft of 2019 of some lines, written from its text alone; for small stores in a mapping."""

import bz2
import gzip
import itertools
import json
import lzma
import zlib

import numcodecs
import numpy as np

DECODERS = {
    "gzip": gzip.decompress,
    "zlib": zlib.decompress,
    "bz2": bz2.decompress,
    "lzma": lzma.decompress,
    "zstd": numcodecs.Zstd().decode,
    "lz4": numcodecs.LZ4().decode,
    "blosc": numcodecs.Blosc().decode,
}
WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def nodes(keys):
    """Return the kind of each node by path: array, group, or implied."""
    found = {}
    for key in sorted(keys):
        if key in ("root.group.json", "root.array.json"):
            found["/"] = key.split(".")[1]
        for kind in ("array", "group"):
            end = f".{kind}.json"
            if key.startswith("meta/") and key.endswith(end):
                path = key[len("meta") : -len(end)]
                found[path] = kind
                while path.rpartition("/")[0]:
                    path = path.rpartition("/")[0]
                    found.setdefault(path, "implied")
    return found


def attributes(keys, path, kind):
    key = f"root.{kind}.json" if path == "/" else f"meta{path}.{kind}.json"
    return json.loads(keys[key])["attributes"]


def read(keys, path):
    """Return all elements of an array; elements of absent chunks without a fill value are zero."""
    metadata = json.loads(keys["root.array.json" if path == "/" else f"meta{path}.array.json"])
    assert metadata["zarr_format"] == "http://purl.org/zarr/spec/protocol/core/3.0"
    kind = metadata["data_type"]
    dtype = np.dtype(kind if isinstance(kind, str) else kind["type"])
    shape, sides = metadata["shape"], metadata["chunk_grid"]["chunk_shape"]
    separator = metadata["chunk_grid"].get("separator", ".")
    result = np.full(shape, fill_value(metadata["fill_value"], dtype), dtype)
    counts = [-(-size // side) for size, side in zip(shape, sides, strict=True)]
    for coords in itertools.product(*map(range, counts)):
        identifier = separator.join(map(str, coords)) or "0"
        key = f"data{'' if path == '/' else path}/{identifier}"
        if key not in keys:
            continue
        data = keys[key]
        for codec in reversed(metadata["chunk_codecs"]):
            data = decoded(codec["codec"].rpartition("/")[2], data)
        chunk = np.frombuffer(data, dtype).reshape(sides, order=metadata["chunk_memory_layout"])
        place = tuple(slice(at * side, (at + 1) * side) for at, side in zip(coords, sides, strict=True))
        part = result[(*place, ...)]
        part[...] = chunk[tuple(slice(0, size) for size in part.shape)]
    return result


def decoded(name, data):
    if name == "crc32":
        assert zlib.crc32(data[4:]) == int.from_bytes(data[:4], "little")
        return data[4:]
    return DECODERS[name](data)


def fill_value(value, dtype):
    if value is None:
        return np.zeros((), dtype)[()]
    if dtype.kind == "c":
        return complex(*(WORDS.get(part, part) for part in value))
    if dtype.kind in "mM":
        return np.array(value, f"{dtype.str[0]}i8").view(dtype)[()]
    return WORDS.get(value, value) if isinstance(value, str) else value
