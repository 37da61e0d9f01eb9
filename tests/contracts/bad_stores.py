"""A store in which one node is bad: how it is made bad, and what must be found there."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind

VALUES = np.arange(24, dtype="<i4").reshape(4, 6)


def zarray(**changes: Any) -> dict[str, Any]:
    """Return the metadata of `VALUES` in four chunks of version 2; changes of version 3 are left out."""
    document = {
        "zarr_format": 2,
        "shape": [4, 6],
        "chunks": [2, 3],
        "dtype": "<i4",
        "compressor": {"id": "zlib", "level": 1},
        "filters": None,
        "fill_value": 7,
        "order": "C",
        "dimension_separator": ".",
    }
    return document | {name: value for name, value in changes.items() if name in document}


def zarr_json(**changes: Any) -> dict[str, Any]:
    """Return the metadata of `VALUES` in four chunks of version 3; changes of version 2 are left out."""
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 6],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 7,
        "codecs": [{"name": "bytes"}, {"name": "numcodecs.zlib", "configuration": {"level": 1}}],
        "attributes": {},
    }
    return document | {name: value for name, value in changes.items() if name in document}


def chunk(row: int, column: int) -> np.ndarray:
    """Return the elements of a chunk of `VALUES`."""
    return VALUES[2 * row : 2 * row + 2, 3 * column : 3 * column + 3]


def stored(row: int, column: int) -> bytes:
    """Return a chunk of `VALUES` as it is stored."""
    return zlib.compress(np.ascontiguousarray(chunk(row, column)).tobytes(), 1)


@dataclass(frozen=True)
class Layout:
    """How the nodes of one version are written."""

    array_name: str
    array: Callable[..., dict[str, Any]]
    group_name: str
    group: dict[str, Any]
    chunk_key: str


V2 = Layout(".zarray", zarray, ".zgroup", {"zarr_format": 2}, "{}.{}")
V3 = Layout("zarr.json", zarr_json, "zarr.json", {"zarr_format": 3, "node_type": "group"}, "c/{}/{}")
LAYOUTS = {"v2": V2, "v3": V3}


def write_store(folder: Path, layout: Layout) -> None:
    """Write two good arrays, ``first`` and ``group/last``, and one to be made bad, ``group/bad``."""
    for path in ("", "group"):
        write(folder, f"{path}/{layout.group_name}", layout.group)
    for path in ("first", "group/bad", "group/last"):
        write(folder, f"{path}/{layout.array_name}", layout.array())
        for row in range(2):
            for column in range(2):
                write(folder, f"{path}/{layout.chunk_key.format(row, column)}", stored(row, column))


def write(folder: Path, key: str, content: bytes | str | dict[str, Any]) -> None:
    """Write one key."""
    path = folder / key.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


#: What stands in the array's metadata, and of what kind the error at its node is.
BAD_METADATA: dict[str, tuple[Callable[[Layout], Any], ErrorKind]] = {
    "broken JSON": (lambda layout: json.dumps(layout.array())[:-9], ErrorKind.JSON),
    "empty": (lambda layout: "", ErrorKind.JSON),
    "a list": (lambda layout: "[1]", ErrorKind.META),
    "not UTF-8": (lambda layout: b'{"a": "\xff"}', ErrorKind.ENCODING),
    "nested deeply": (lambda layout: '{"a":' + "[" * 5000 + "]" * 5000 + "}", ErrorKind.BUDGET),
    "an integer of many digits": (lambda layout: '{"shape": [' + "9" * 99 + "]}", ErrorKind.BUDGET),
    "no shape": (lambda layout: layout.array(shape=None), ErrorKind.META),
    "a negative shape": (lambda layout: layout.array(shape=[4, -6]), ErrorKind.META),
    "a shape of fractions": (lambda layout: layout.array(shape=[4.0, 6]), ErrorKind.META),
    "a shape of texts": (lambda layout: layout.array(shape=["4", "6"]), ErrorKind.META),
    "another rank": (lambda layout: layout.array(shape=[4, 6, 1]), ErrorKind.META),
    "too many dimensions": (lambda layout: layout.array(shape=[1] * 33), ErrorKind.BUDGET),
    "a dimension longer than there are numbers": (
        lambda layout: layout.array(shape=[2**63, 6]),
        ErrorKind.BUDGET,
    ),
    "another version": (lambda layout: layout.array(zarr_format=4), ErrorKind.META),
    "codecs that are no list": (
        lambda layout: layout.array(filters="zlib", codecs="zlib"),
        ErrorKind.META,
    ),
    "an unknown codec": (
        lambda layout: layout.array(compressor={"id": "made_up"}, codecs=["bytes", "made_up"]),
        ErrorKind.META,
    ),
    "a codec that runs code": (
        lambda layout: layout.array(filters=[{"id": "pickle"}], codecs=["numcodecs.pickle"]),
        ErrorKind.UNSAFE,
    ),
    "an unknown type": (lambda layout: layout.array(dtype="<q9", data_type="int33"), ErrorKind.META),
    "an element of gigabytes": (
        lambda layout: layout.array(
            dtype="|V999999999",
            data_type={"name": "raw_bytes", "configuration": {"length_bytes": 999999999}},
        ),
        ErrorKind.BUDGET,
    ),
    "a fill value of another type": (lambda layout: layout.array(fill_value="seven"), ErrorKind.META),
    "a fill value out of range": (lambda layout: layout.array(fill_value=2**40), ErrorKind.META),
    "chunks of nothing": (
        lambda layout: layout.array(
            chunks=[0, 3], chunk_grid={"name": "regular", "configuration": {"chunk_shape": [0, 3]}}
        ),
        ErrorKind.META,
    ),
    "an unknown separator": (
        lambda layout: layout.array(
            dimension_separator="-", chunk_key_encoding={"name": "v2", "configuration": {"separator": "-"}}
        ),
        ErrorKind.META,
    ),
}

_PLAIN = np.ascontiguousarray(chunk(0, 0)).tobytes()
#: What stands in the chunk (0, 0), whose error is E_DECODE.
BAD_CHUNKS = {
    "truncated": stored(0, 0)[:-3],
    "empty": b"",
    "followed by something": stored(0, 0) + b"x",
    "one byte short": zlib.compress(_PLAIN[:-1]),
    "one byte long": zlib.compress(_PLAIN + b"x"),
    "inflating without end": zlib.compress(bytes(1 << 22)),
    "of another codec": b"\x28\xb5\x2f\xfd" + _PLAIN,
    "of another page": b"<html>not found</html>",
}
