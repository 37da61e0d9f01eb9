"""Arrays of Awkward 0 that want more than there is, added to those that want code run."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import numpy as np
from awkward0_encoder import Encoder, Expression, dtype_node, lz4_block, reference
from awkward0_hostile import DATA, HOSTILE, SCHEMA, UNSAFE, add

__all__ = ["HOSTILE"]

# -- sizes and inflation -------------------------------------------------------------------------------------

add("more than the blob has", DATA, lambda e, _: e.basic([1, 2], count=3))
add("far more than the blob has", DATA, lambda e, _: e.basic([1, 2], count=2**62))
add("count of minus two", SCHEMA | DATA, lambda e, _: e.basic([1, 2], count=-2))
add("count that is text", SCHEMA, lambda e, _: e.call(e.frombuffer, e.blob(b"\0" * 8), dtype_node("i8"), "1"))
add(
    "negative offset",
    SCHEMA | DATA,
    lambda e, _: e.call(e.frombuffer, e.blob(b"\0" * 8), dtype_node("i8"), 1, -8),
)
add("absurd offset", DATA, lambda e, _: e.call(e.frombuffer, e.blob(b"\0" * 8), dtype_node("i8"), 1, 2**63))
add("not a multiple", DATA, lambda e, _: e.basic([1], data=b"\0" * 9, count=-1))


def _bomb(e: Encoder, compressed: bytes, codec: str, count: int) -> Expression:
    module, _, name = codec.rpartition(".")
    buffer = e.call([module, name], e.blob(compressed))
    return e.call(e.frombuffer, buffer, dtype_node("uint8"), count)


@cache
def _zeros() -> bytes:
    """Return 64 MiB of zeros, compressed twice."""
    return zlib.compress(zlib.compress(bytes(1 << 26), 9))


add(
    "bomb in a bomb",
    DATA,
    lambda e, _: e.call(
        e.frombuffer,
        e.call(["zlib", "decompress"], e.call(["zlib", "decompress"], e.blob(_zeros()))),
        dtype_node("uint8"),
        2**50,
    ),
)
add(
    "less in the blob than promised",
    DATA,
    lambda e, _: _bomb(e, zlib.compress(b"abc"), "zlib.decompress", 10),
)
add("garbage for zlib", DATA, lambda e, _: _bomb(e, b"garbage", "zlib.decompress", 3))
add("garbage for lzma", DATA, lambda e, _: _bomb(e, b"garbage", "lzma.decompress", 3))
add(
    "size that lz4 announces",
    DATA,
    lambda e, _: _bomb(e, lz4_block(b"abc", 2**31 - 1), "lz4.block.decompress", 2**31 - 1),
)
add(
    "negative size for lz4",
    DATA,
    lambda e, _: _bomb(e, b"\xff\xff\xff\xff\x30abc", "lz4.block.decompress", 3),
)
add("nothing for lz4", DATA, lambda e, _: _bomb(e, b"", "lz4.block.decompress", 3))


def _cyclic_decompress(e: Encoder, _: str) -> Expression:
    inner = {"call": ["zlib", "decompress"], "args": [reference(1)], "id": 1}
    return e.call(e.frombuffer, inner, dtype_node("uint8"), 1, id=50)


add("decompress of itself", SCHEMA | DATA, _cyclic_decompress)

# -- indexes -------------------------------------------------------------------------------------------------


def _lists(name: str, *index: Any) -> None:
    constructor = {1: "JaggedArray.fromcounts", 2: "JaggedArray"}[len(index)]
    add(name, DATA, lambda e, _: e.make(constructor, *map(e.basic, index), e.basic([1.5, 2.5, 3.5])))


_lists("stops beyond the content", [0], [4])
_lists("stops beyond the numbers", [0], [2**62])
_lists("negative starts", [-1], [2])
_lists("starts behind stops", [2], [1])
_lists("fewer stops than starts", [0, 1, 2], [1])
_lists("starts that are no integers", [0.0], [1.0])
_lists("counts beyond the content", [2, 2])
_lists("negative counts", [2, -1, 2])
_lists("counts that overflow", [2**62, 2**62, 2**62, 2**62])
_lists("counts that overflow without sign", np.array([2**63, 2**63], "u8"))
for _offsets in ([0, 2, 1], [0, 4], [-1, 2], [], [0, 2**63 - 1]):
    add(
        f"offsets {_offsets}",
        DATA,
        lambda e, _, of=_offsets: e.make(
            "JaggedArray.fromoffsets", e.basic(np.array(of, "i8")), e.basic([1.5, 2.5, 3.5])
        ),
    )
add(
    "parents that are too few",
    DATA,
    lambda e, _: e.make("JaggedArray.fromparents", e.basic([0]), e.basic([1, 2])),
)
add(
    "parents of huge numbers",
    DATA,
    lambda e, _: e.make("JaggedArray.fromparents", e.basic([2**60]), e.basic([1])),
)
add(
    "parents out of order",
    DATA | frozenset({"fine"}),
    lambda e, _: e.make("JaggedArray.fromparents", e.basic([1, 0, 1]), e.basic([1, 2, 3])),
)
add(
    "index beyond the content", DATA, lambda e, _: e.make("IndexedArray", e.basic([0, 3]), e.basic([1, 2, 3]))
)
add("negative index", DATA, lambda e, _: e.make("IndexedArray", e.basic([-1]), e.basic([1, 2, 3])))
add(
    "tags beyond the contents",
    DATA,
    lambda e, _: e.make("UnionArray.fromtags", e.basic([0, 7], "u1"), {"list": [e.basic([1]), e.basic([2])]}),
)
add(
    "index of a union",
    DATA,
    lambda e, _: e.make(
        "UnionArray", e.basic([0], "u1"), e.basic([9]), {"list": [e.basic([1]), e.basic([True])]}
    ),
)
add(
    "mask that is too long", DATA, lambda e, _: e.make("MaskedArray", e.basic([True] * 4), e.basic([1, 2, 3]))
)
add(
    "bits that are too few",
    DATA,
    lambda e, _: e.make("BitMaskedArray", e.basic([1], "u1"), e.basic(range(9))),
)
add("negative index of a mask", DATA, lambda e, _: e.make("IndexedMaskedArray", e.basic([-2]), e.basic([1])))
add(
    "index of a mask beyond the content",
    DATA,
    lambda e, _: e.make("IndexedMaskedArray", e.basic([5]), e.basic([1])),
)
add(
    "view of rows that are not there",
    DATA,
    lambda e, _: e.make(
        "Table.fromview", {"tuple": [{"json": 0}, {"json": 1}, {"json": 2**40}]}, e.table(x=[1, 2])
    ),
)
add(
    "view by an index beyond the rows",
    DATA,
    lambda e, _: e.make("Table.fromview", e.basic([5]), e.table(x=[1, 2])),
)
add(
    "chunks that are shorter than told",
    DATA,
    lambda e, _: e.make("ChunkedArray", {"list": [e.basic([1])]}, {"json": [5]}),
)
add(
    "chunks of a negative size",
    DATA,
    lambda e, _: e.make("ChunkedArray", {"list": [e.basic([1])]}, {"json": [-5]}),
)
add("folding by nothing", DATA, lambda e, _: e.make("JaggedArray.fromfolding", e.basic([1, 2]), 0))
add(
    "texts beyond the bytes",
    DATA,
    lambda e, _: e.make("StringArray.fromcounts", e.basic([5]), e.basic([65], "u1")),
)
add(
    "encoding that runs code",
    DATA | UNSAFE,
    lambda e, _: (
        e.strings(["abc"], None)
        | {"args": [e.basic([3]), e.basic([65, 66, 67], "u1"), {"json": "zlib_codec"}]}
    ),
)
add(
    "encoding that is unknown",
    DATA | UNSAFE,
    lambda e, _: (
        e.strings(["abc"], None)
        | {"args": [e.basic([3]), e.basic([65, 66, 67], "u1"), {"json": "../../evil"}]}
    ),
)
add("negative length", DATA, lambda e, _: e.make("SparseArray", -1, e.basic([0]), e.basic([1])))
add(
    "sparse of huge length",
    DATA | frozenset({"fine"}),
    lambda e, _: e.make("SparseArray", 2**62, e.basic([5]), e.basic([1])),
)
add("sparse beyond all numbers", DATA, lambda e, _: e.make("SparseArray", 2**80, e.basic([5]), e.basic([1])))

FINE = frozenset({"fine"})


def _view(start: int, step: int, length: int) -> Any:
    return lambda e, _: e.make(
        "Table.fromview",
        {"tuple": [{"json": start}, {"json": step}, {"json": length}]},
        e.table(x=[1, 2, 3]),
    )


for _start, _step, _length in (
    (2**63, 1, 1), (2**70, 1, 2), (-1, 1, 2), (-(2**70), 1, 1), (0, 2**70, 1), (0, 2**62, 3),
    (0, -(2**63), 2), (0, 0, 2**62), (2, 1, -1), (0, 1, 2**70),
):  # fmt: skip
    add(f"view {_start} {_step} {_length}", DATA | FINE, _view(_start, _step, _length))
for _size in (-1, 2**62, 2**70, "2", None):
    add(
        f"folding by {_size}",
        DATA | FINE,
        lambda e, _, of=_size: e.make("JaggedArray.fromfolding", e.basic([1, 2]), {"json": of}),
    )
for _mark in (2**70, -(2**70), "x", None, 1.5):
    add(
        f"mark {_mark}",
        DATA | FINE,
        lambda e, _, of=_mark: e.make("IndexedMaskedArray", e.basic([0, 1]), e.basic([1, 2]), {"json": of}),
    )
for _sizes in ([2**70], [2**62, 2**62], [0, 2], ["2"], 2, [[2]], [1, 1, 1]):
    add(
        f"chunks of sizes {_sizes}",
        DATA | FINE,
        lambda e, _, of=_sizes: e.make("ChunkedArray", {"list": [e.basic([1, 2])]}, {"json": of}),
    )
for _count in (2**70, 1.5, True, [1]):
    add(
        f"count {_count}",
        DATA | FINE,
        lambda e, _, of=_count: e.call(e.frombuffer, e.blob(b"\0" * 8), dtype_node("i8"), {"json": of}),
    )
add(
    "vectors of lists of different lengths",
    DATA,
    lambda e, _: e.make(
        "TVector2Array.from_cartesian", e.jagged([1, 1], [1.0, 2.0]), e.jagged([2, 0], [1.0, 2.0])
    ),
)
add(
    "vectors of numbers and lists",
    DATA | FINE,
    lambda e, _: e.make("TVector2Array.from_cartesian", e.jagged([1, 1], [1.0, 2.0]), e.basic([1.0, 2.0])),
)
add("index of 2**64 - 1", DATA, lambda e, _: e.make("IndexedArray", e.basic([2**64 - 1], "u8"), e.basic([1])))
add(
    "table that is a column of itself",
    DATA | FINE,
    lambda e, _: e.make("Table.frompairs", {"pairs": [["x", reference(9)]]}, 0, id=9),
)
add("list of itself alone", DATA | FINE, lambda e, _: e.make("JaggedArray.fromjagged", reference(9), id=9))
add(
    "chunk of itself",
    DATA | FINE,
    lambda e, _: e.make("ChunkedArray", {"list": [reference(9), reference(9)]}, id=9),
)
add("index of itself", DATA | FINE, lambda e, _: e.make("IndexedArray", reference(9), e.basic([1]), id=9))
add(
    "length of itself",
    DATA | FINE,
    lambda e, _: e.make("SparseArray", reference(9), e.basic([1]), e.basic([1]), id=9),
)

CONTENTS: dict[str, Any] = {
    "lists": lambda e: e.jagged([1, 2], [1.0, 2.0, 3.0]),
    "a table": lambda e: e.table(x=[1, 2]),
    "texts": lambda e: e.strings(["a", "b"]),
    "options": lambda e: e.make("MaskedArray", e.basic([True, False]), e.basic([1, 2])),
    "bits": lambda e: e.make("BitMaskedArray", e.basic([1], "u1"), e.basic([1, 2])),
    "indexes": lambda e: e.make("IndexedArray", e.basic([1, 0, 1]), e.basic([1, 2])),
    "chunks": lambda e: e.make("ChunkedArray", {"list": [e.basic([1]), e.basic([2])]}),
    "sparse": lambda e: e.make("SparseArray", 2, e.basic([1]), e.basic([1])),
    "starts": lambda e: e.make("JaggedArray", e.basic([0, 1]), e.basic([1, 2]), e.basic([1.0, 2.0])),
    "folds": lambda e: e.make("JaggedArray.fromfolding", e.basic([1, 2, 3, 4]), 2),
    "a view": lambda e: e.make("Table.fromview", e.basic([1, 0]), e.table(x=[1, 2])),
}
for _content, _make in CONTENTS.items():
    for _index in (-1, 3, 8, 2**40):
        add(
            f"row {_index} of {_content}",
            DATA,
            lambda e, _, of=_make, at=_index: e.make("IndexedArray", e.basic([0, at]), of(e)),
        )
    add(
        f"lists beyond {_content}",
        DATA,
        lambda e, _, of=_make: e.make("JaggedArray", e.basic([0, 1]), e.basic([1, 9]), of(e)),
    )
