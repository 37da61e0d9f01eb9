"""Files of Icechunk repositories, made byte by byte: version 2, and hostile ones."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from refbrowser.wings.icechunk.reading.repository import MAGIC, id_text


class Writer:
    """Writes FlatBuffers: tables are made from the values of their fields, by number."""

    def __init__(self) -> None:
        self.data = bytearray(4)

    def _patched(self, places: Sequence[tuple[int, Callable[[], int]]]) -> None:
        for place, make in places:
            struct.pack_into("<I", self.data, place, make() - place)

    def table(self, fields: Mapping[int, Any]) -> int:
        slots, body, children = [0] * (max(fields, default=-1) + 1), bytearray(4), []
        for number, value in fields.items():
            slots[number] = len(body)
            if callable(value):
                children.append((len(body), value))
                value = bytes(4)
            body += value
        vtable = len(self.data)
        self.data += struct.pack(f"<HH{len(slots)}H", 4 + 2 * len(slots), len(body), *slots)
        at = len(self.data)
        struct.pack_into("<i", body, 0, at - vtable)
        self.data += body
        self._patched([(at + place, make) for place, make in children])
        return at

    def vector(self, data: bytes, size: int = 1) -> int:
        at = len(self.data)
        self.data += struct.pack("<I", len(data) // size) + data
        return at

    def tables(self, each: Sequence[Mapping[int, Any]]) -> int:
        at = len(self.data)
        self.data += struct.pack("<I", len(each)) + bytes(4 * len(each))
        places = [(at + 4 + 4 * n, lambda one=one: self.table(one)) for n, one in enumerate(each)]
        self._patched(places)  # type: ignore[arg-type]
        return at

    def file(self, kind: int, fields: Mapping[int, Any], version: int = 2, packed: bool = True) -> bytes:
        struct.pack_into("<I", self.data, 0, self.table(fields))
        head = MAGIC + b"tests".ljust(24) + bytes([version, kind, packed])
        return head + (zstandard.compress(bytes(self.data)) if packed else bytes(self.data))


def flex(value: Any) -> bytes:
    """Return a FlexBuffer, all of whose numbers take four bytes."""
    data = bytearray()

    def key(text: str) -> int:
        at = len(data)
        data.extend(text.encode() + b"\0")
        return at

    def put(value: Any) -> tuple[int, int]:
        if isinstance(value, str):
            data.extend(struct.pack("<I", len(value)))
            return key(value), 5
        keys = [key(name) for name in sorted(value)]
        values = [put(value[name]) for name in sorted(value)]
        data.extend(struct.pack("<I", len(keys)))
        at = len(data)
        for each in keys:
            data.extend(struct.pack("<I", len(data) - each))
        data.extend(struct.pack("<III", len(data) - at, 4, len(keys)))
        found = len(data)
        for each, _ in values:
            data.extend(struct.pack("<I", len(data) - each))
        data.extend(bytes(kind << 2 | 2 for _, kind in values))
        return found, 9

    at, kind = put(value)
    data.extend(struct.pack("<I", len(data) - at))
    return bytes(data) + bytes([kind << 2 | 2, 4])


ZARR = {"zarr_format": 3, "node_type": "group", "attributes": {}}
ARRAY = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [12],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "attributes": {},
}
SNAPSHOTS = [bytes([n] * 12) for n in range(2)]
MANIFEST, CHUNK, NODE = b"m" * 12, b"c" * 12, b"n" * 8


def second_version(
    root: Path, *, packed: bool = True, told: int = 4, own: bytes = MANIFEST, node: bytes = NODE
) -> dict[str, bytes]:
    """Return the files of a repository of version 2: an inline, a native and a virtual chunk.

    Parameters
    ----------
    told
        References of the manifest, as the snapshot has it.
    own, node
        Identifiers of itself and of the array that the manifest has.
    """
    locations = [b"vcc://data/a.bin"] + [b"vcc://data/%d.bin" % n for n in range(200)]
    dictionary = zstandard.train_dictionary(1024, [each * 3 for each in locations] * 8)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    w = Writer()
    refs = [
        {
            0: lambda: w.vector(struct.pack("<I", 0), 4),
            1: lambda: w.vector(np.arange(4, dtype="<i4").tobytes()),
        },
        {
            0: lambda: w.vector(struct.pack("<I", 1), 4),
            2: struct.pack("<Q", 16),
            3: struct.pack("<Q", 16),
            4: CHUNK,
        },
        {
            0: lambda: w.vector(struct.pack("<I", 2), 4),
            2: struct.pack("<Q", 32),
            3: struct.pack("<Q", 16),
            8: lambda: w.vector(compressor.compress(locations[0])),
        },
        # Beyond what the snapshot says that this manifest tells.
        {0: lambda: w.vector(struct.pack("<I", 9), 4), 1: lambda: w.vector(b"none")},
    ]
    manifest = w.file(
        2,
        {
            0: own,
            1: lambda: w.tables([{0: node, 1: lambda: w.tables(refs)}]),
            2: lambda: w.vector(dictionary.as_bytes()),
        },
        packed=packed,
    )
    s = Writer()
    extents = {0: MANIFEST, 1: lambda: s.vector(struct.pack("<II", 0, 3), 8)}
    array = {0: lambda: s.vector(b""), 2: lambda: s.tables([extents])}
    nodes = [
        {0: bytes(8), 1: lambda: s.vector(b"/"), 2: lambda: s.vector(json.dumps(ZARR).encode()), 3: b"\2"},
        {
            0: NODE,
            1: lambda: s.vector(b"/v"),
            2: lambda: s.vector(json.dumps(ARRAY).encode()),
            3: b"\1",
            4: lambda: s.table(array),
        },
    ]
    files = {0: MANIFEST, 1: struct.pack("<Q", len(manifest)), 2: struct.pack("<I", told)}
    fields = {
        0: SNAPSHOTS[1],
        2: lambda: s.tables(nodes),
        4: lambda: s.vector(b"made"),
        7: lambda: s.tables([files]),
    }
    snapshot = s.file(1, fields, packed=packed)
    r = Writer()
    infos = [
        {
            0: each,
            1: struct.pack("<i", n - 1),
            2: struct.pack("<Q", n),
            3: lambda n=n: r.vector(b"message %d" % n),
        }
        for n, each in enumerate(SNAPSHOTS)
    ]
    containers = {"any": {"name": "data", "url_prefix": f"file://{root}/far/"}}
    repo = r.file(
        6,
        {
            1: lambda: r.tables([{0: lambda: r.vector(b"t"), 1: struct.pack("<I", 1)}]),
            2: lambda: r.tables([{0: lambda: r.vector(b"main"), 1: struct.pack("<I", 1)}]),
            4: lambda: r.tables(infos),
            9: lambda: r.vector(flex({"virtual_chunk_containers": containers})),
        },
        packed=packed,
    )
    whole = np.arange(12, dtype="<i4").tobytes()
    return {
        "repo": repo,
        f"snapshots/{id_text(SNAPSHOTS[1])}": snapshot,
        f"manifests/{id_text(MANIFEST)}": manifest,
        f"chunks/{id_text(CHUNK)}": whole,
        "far/a.bin": whole,
    }


def put(root: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
