"""Small stores of Zarr written byte by byte: no version of zarr-python has a part in them.

Each has a group with one array of `NAME`, unless it says otherwise. What is stored is encoded by numcodecs.
"""

from __future__ import annotations

import gzip
import itertools
import json
import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import google_crc32c
import numcodecs
import numpy as np

NAME = "v"
Json = dict[str, Any]


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def chunks_of(values: np.ndarray, sides: Sequence[int], fill: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield coordinates and elements of each chunk; those beyond the edge are of the fill value."""
    counts = [-(-size // side) for size, side in zip(values.shape, sides, strict=True)]
    for coords in itertools.product(*map(range, counts)):
        chunk = np.empty(sides, values.dtype)
        chunk[...] = fill
        starts = [at * side for at, side in zip(coords, sides, strict=True)]
        part = values[tuple(slice(at, at + side) for at, side in zip(starts, sides, strict=True))]
        chunk[tuple(map(slice, part.shape))] = part
        yield coords, chunk


def _padding(values: np.ndarray) -> Any:
    """Return what fills up chunks: a zero of the type; rows of numbers fill them."""
    if not values.dtype.hasobject:
        return np.zeros((), values.dtype)
    return b"" if isinstance(values.flat[0], bytes) else ""


# Zarr v2


def dtype_v2(dtype: np.dtype) -> Any:
    """Return a type as Zarr v2 spells it."""
    return "|O" if dtype.hasobject else dtype.descr if dtype.names else dtype.str


def encode_v2(chunk: np.ndarray, order: str, filters: Sequence[Json], compressor: Json | None) -> bytes:
    """Return the bytes of one chunk."""
    data: Any = np.asarray(chunk, order=order)
    for each in filters:
        data = numcodecs.get_codec(each).encode(data)
    if compressor is not None:
        # In the order of its memory: codecs take what lies there.
        plain = data.reshape(-1, order="A") if isinstance(data, np.ndarray) else data
        data = numcodecs.get_codec(compressor).encode(plain)
    return data.tobytes(order="A") if isinstance(data, np.ndarray) else bytes(data)


def v2_keys(
    values: np.ndarray,
    sides: Sequence[int],
    *,
    compressor: Json | None = None,
    filters: Sequence[Json] = (),
    order: str = "C",
    separator: str = ".",
    fill: Any = 0,
    missing: Sequence[tuple[int, ...]] = (),
    dimensions: Sequence[str] | None = None,
    attributes: Json | None = None,
    **changes: Any,
) -> dict[str, bytes]:
    """Return what an array stores, by key below it; `changes` are of its metadata."""
    metadata = {
        "zarr_format": 2,
        "shape": list(values.shape),
        "chunks": list(sides),
        "dtype": dtype_v2(values.dtype),
        "compressor": compressor,
        "filters": list(filters) or None,
        "order": order,
        "fill_value": fill,
        "dimension_separator": separator,
    }
    names = [f"d{at}" for at in range(values.ndim)] if dimensions is None else list(dimensions)
    said = dict(attributes or {}) | ({"_ARRAY_DIMENSIONS": names} if len(names) == values.ndim else {})
    keys = {".zarray": json.dumps(metadata | changes).encode(), ".zattrs": json.dumps(said).encode()}
    for coords, chunk in chunks_of(values, sides, _padding(values)):
        if coords not in missing:
            key = separator.join(map(str, coords)) or "0"
            keys[key] = encode_v2(chunk, order, filters, compressor)
    return keys


def write_v2(
    folder: Path,
    values: np.ndarray,
    sides: Sequence[int],
    *,
    name: str = NAME,
    consolidated: bool = False,
    **options: Any,
) -> Path:
    """Write a store of one array; with an empty name it is at the root."""
    keys: dict[str, bytes] = {}
    above = name.split("/")[:-1] if name else []
    for depth in range(len(above) + 1 if name else 0):
        keys["/".join((*above[:depth], ".zgroup"))] = b'{"zarr_format": 2}'
    found = v2_keys(values, sides, **options)
    keys |= {f"{name}/{key}" if name else key: data for key, data in found.items()}
    if consolidated:
        documents = {
            key: json.loads(data) for key, data in keys.items() if key.rsplit("/", 1)[-1].startswith(".z")
        }
        keys[".zmetadata"] = json.dumps({"zarr_consolidated_format": 1, "metadata": documents}).encode()
    return write_keys(folder, keys)


def write_keys(folder: Path, keys: dict[str, bytes]) -> Path:
    """Write a store into a folder, or into a zip file where the path ends so."""
    if folder.suffix == ".zip":
        with zipfile.ZipFile(folder, "w") as archive:
            for key, data in keys.items():
                archive.writestr(key, data)
        return folder
    for key, data in keys.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


# Zarr v3

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
PLAIN = {"name": "bytes"}
GZIP = {"name": "gzip", "configuration": {"level": 1}}


def codec(name: str, **configuration: Any) -> Json:
    """Return a codec as Zarr v3 spells it."""
    return {"name": name, "configuration": configuration}


def encode_v3(chunk: np.ndarray, codecs: Sequence[Json]) -> bytes:
    """Return the bytes of one chunk."""
    data: Any = chunk
    for each in codecs:
        data = _encoded_v3(data, each["name"], each.get("configuration", {}))
    return bytes(data)


def _encoded_v3(data: Any, name: str, said: Json) -> Any:
    if name == "transpose":
        return np.ascontiguousarray(data.transpose(said["order"]))
    if name == "bytes":
        order = {"big": ">", "little": "<"}.get(said.get("endian", ""), "=")
        return np.ascontiguousarray(data.astype(data.dtype.newbyteorder(order))).tobytes()
    if name == "sharding_indexed":
        return _shard(data, said)
    if name == "gzip":
        return gzip.compress(data, said["level"], mtime=0)
    if name == "crc32c":
        return bytes(data) + struct.pack("<I", google_crc32c.value(bytes(data)))
    if name == "zstd":
        return numcodecs.get_codec({"id": "zstd", **said}).encode(data)
    if name == "blosc":
        shuffle = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}[said["shuffle"]]
        size = said.get("typesize", 1)
        made = numcodecs.Blosc(said["cname"], said["clevel"], shuffle, said["blocksize"])
        return made.encode(np.frombuffer(data, f"V{size}" if size not in (1, 2, 4, 8) else f"u{size}"))
    if name in ("scale_offset", "cast_value"):
        return _packed(data, name, said)
    plain = {"id": name.removeprefix("numcodecs."), **said}
    made = numcodecs.get_codec(plain)
    return made.encode(data if isinstance(data, np.ndarray) else np.frombuffer(data, "u1"))


def _packed(data: np.ndarray, name: str, said: Json) -> np.ndarray:
    if name == "scale_offset":
        return (data - said["offset"]) * said["scale"]
    return np.rint(data).astype(said["data_type"])


def _shard(data: np.ndarray, said: Json) -> bytes:
    """Return a shard; inner chunks of zeros are left out."""
    inner, index, body = said["codecs"], [], b""
    starts_with = said.get("index_location", "end") == "start"
    sides = said["chunk_shape"]
    count = int(np.prod([size // side for size, side in zip(data.shape, sides, strict=True)]))
    sums = any(each["name"] == "crc32c" for each in said["index_codecs"])
    at = 16 * count + 4 * sums if starts_with else 0
    for _, chunk in chunks_of(data, sides, 0):
        if not chunk.any():
            index.append((2**64 - 1, 2**64 - 1))
            continue
        part = encode_v3(chunk, inner)
        index.append((at, len(part)))
        body, at = body + part, at + len(part)
    told = encode_v3(np.array(index, "<u8"), said["index_codecs"])
    return told + body if starts_with else body + told


def sharding(sides: Sequence[int], *codecs: Json, **changes: Any) -> Json:
    """Return the codec of shards with such inner chunks."""
    said = {"chunk_shape": list(sides), "codecs": list(codecs) or [LITTLE]}
    return codec("sharding_indexed", **said, index_codecs=[LITTLE, {"name": "crc32c"}], **changes)


def v3_keys(
    values: np.ndarray,
    sides: Sequence[int],
    *codecs: Json,
    keys_as: Json | None = None,
    fill: Any = 0,
    missing: Sequence[tuple[int, ...]] = (),
    attributes: Json | None = None,
    **changes: Any,
) -> dict[str, bytes]:
    """Return what an array stores, by key below it; `changes` are of its metadata, None removes."""
    encoding = keys_as or {"name": "default", "configuration": {"separator": "/"}}
    used = list(codecs) or [LITTLE]
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(values.shape),
        "data_type": values.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(sides)}},
        "chunk_key_encoding": encoding,
        "fill_value": fill,
        "codecs": used,
        "attributes": attributes or {},
        "dimension_names": [f"d{at}" for at in range(values.ndim)],
    } | changes
    metadata = {name: value for name, value in metadata.items() if value is not None}
    keys = {"zarr.json": json.dumps(metadata).encode()}
    prefix = ["c"] if encoding["name"] == "default" else []
    separator = encoding["configuration"]["separator"]
    for coords, chunk in chunks_of(values, sides, _padding(values)):
        if coords not in missing:
            key = separator.join([*prefix, *map(str, coords)]) or "0"
            keys[key] = encode_v3(chunk, used)
    return keys


GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {}}


def with_groups(keys: dict[str, bytes], name: str, *, consolidated: bool = False) -> dict[str, bytes]:
    """Return the keys of a store in which an array of a name has such keys; an empty name is the root."""
    if not name:
        return keys
    above, all_keys = name.split("/")[:-1], {}
    for depth in range(1, len(above) + 1):
        all_keys["/".join((*above[:depth], "zarr.json"))] = json.dumps(GROUP).encode()
    all_keys |= {f"{name}/{key}": data for key, data in keys.items()}
    root = dict(GROUP)
    if consolidated:
        documents = {
            key.removesuffix("/zarr.json"): json.loads(data)
            for key, data in all_keys.items()
            if key.endswith("zarr.json")
        }
        root["consolidated_metadata"] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": documents,
        }
    return {"zarr.json": json.dumps(root).encode(), **all_keys}


def write_v3(
    folder: Path,
    values: np.ndarray,
    sides: Sequence[int],
    *codecs: Json,
    name: str = NAME,
    consolidated: bool = False,
    **options: Any,
) -> Path:
    """Write a store of one array; with an empty name it is at the root."""
    keys = v3_keys(values, sides, *codecs, **options)
    return write_keys(folder, with_groups(keys, name, consolidated=consolidated))
