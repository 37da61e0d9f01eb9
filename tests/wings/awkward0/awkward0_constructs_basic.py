"""Basic arrays, lists and tables of Awkward 0, in every spelling, and what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
from awkward0_construct import Constructs
from awkward0_encoder import Encoder, Expression, dtype_node

BASIC = Constructs()
add = BASIC.add
F8, I8 = "float64", "int64"
ABC = [1.5, 2.5, 3.5]

# -- basic arrays --------------------------------------------------------------------------------------------

for _letter in ("i1", "u1", "i2", ">u2", "i4", ">u4", "i8", ">u8", ">f4", "f8", "?"):
    _dtype = np.dtype(_letter)
    add(
        f"basic {_letter}",
        _dtype.newbyteorder("=").name,
        np.array([1, 0, 1], _dtype).tolist(),
        lambda e, of=_dtype: e.basic([1, 0, 1], of),
    )
for _version in ("0.6", "0.7", "0.8", "0.15"):
    add(
        f"frombuffer of {_version}",
        F8,
        ABC,
        lambda e: e.basic(ABC),
        options=(("frombuffer", _version), ("library", "awkward0" if _version == "0.15" else "awkward")),
        is_old=_version != "0.7",
    )
for _codec in ("zlib", "lzma", "backports.lzma", "lz4.block"):
    add(
        f"{_codec}.decompress",
        I8,
        [3, 4, 5],
        lambda e, of=_codec: e.basic([3, 4, 5], codecs=[f"{of}.decompress"]),
        is_old=_codec != "backports.lzma",
    )
add("two decompressors", F8, ABC, lambda e: e.basic(ABC, codecs=["zlib.decompress", "lzma.decompress"]))
add("decompress after offset", F8, ABC, lambda e: e.basic(ABC, codecs=["zlib.decompress"], offset=5))
add("offset", I8, [1, 2], lambda e: e.basic([1, 2], offset=7))
add("the rest", "int16", [1, 2, 3], lambda e: e.basic([1, 2, 3], "i2", count=-1))
add("fewer than there are", "int16", [1, 2], lambda e: e.basic([1, 2, 3], "i2", count=2))
add("only a buffer", F8, ABC, lambda e: e.call(e.frombuffer, e.blob(np.array(ABC).tobytes())))
add(
    "keywords",
    "int32",
    [7, 8],
    lambda e: e.call(
        e.frombuffer,
        buffer=e.blob(np.array([9, 7, 8], "<i4").tobytes()),
        offset=4,
        dtype=dtype_node("<i4"),
        count=2,
    ),
)
add("three dimensions", "2 * 2 * int32", [[[1, 2], [3, 4]]], lambda e: e.basic([[[1, 2], [3, 4]]], "<i4"))
add("no elements", "float32", [], lambda e: e.basic([], "f4"))
add(
    "record dtype",
    "{a: int32, b: 2 * float64}",
    [{"a": 1, "b": [2.0, 3.0]}],
    lambda e: e.basic(np.array([(1, (2, 3))], [("a", "<i4"), ("b", ">f8", (2,))])),
)
add("fixed bytes", "bytes", [b"ab", b"c"], lambda e: e.basic([b"ab", b"c"], "S3"))
add("fixed text", "string", ["ab", "ü"], lambda e: e.basic(["ab", "ü"], "<U3"))
add("complex", "complex128", [1 + 2j], lambda e: e.basic([1 + 2j]))
add(
    "times",
    "datetime64[s]",
    [np.datetime64("2020-01-01T00:00:00")],
    lambda e: e.basic(np.array(["2020-01-01"], "M8[s]")),
)

# -- lists ---------------------------------------------------------------------------------------------------

LISTS = [[1.5, 2.5], [], [3.5]]
VAR = "var * float64"


def _parts(e: Encoder) -> Expression:
    return e.basic(ABC)


add(
    "starts, stops",
    VAR,
    [[2.5, 3.5], [], [1.5]],
    lambda e: e.make("JaggedArray", e.basic([1, 0, 0]), e.basic([3, 0, 1]), _parts(e)),
)
add(
    "more stops than starts",
    VAR,
    [[1.5], [2.5]],
    lambda e: e.make("JaggedArray", e.basic([0, 1], "i4"), e.basic([1, 2, 3], ">i8"), _parts(e)),
)
add("counts", VAR, LISTS, lambda e: e.jagged([2, 0, 1], ABC))
add(
    "counts by keywords",
    VAR,
    LISTS,
    lambda e: e.make("JaggedArray.fromcounts", counts=e.basic([2, 0, 1]), content=_parts(e)),
)
add("counts leave a tail", VAR, [[1.5], [2.5]], lambda e: e.jagged([1, 1], ABC))
add("big-endian counts", VAR, LISTS, lambda e: e.jagged(np.array([2, 0, 1], ">u2"), ABC))
add(
    "compressed counts",
    VAR,
    LISTS,
    lambda e: e.jagged([2, 0, 1], ABC, codecs=["zlib.decompress"]),
)
add("offsets", VAR, LISTS, lambda e: e.make("JaggedArray.fromoffsets", e.basic([0, 2, 2, 3]), _parts(e)))
add(
    "offsets from above zero",
    VAR,
    [[2.5], [3.5]],
    lambda e: e.make("JaggedArray.fromoffsets", e.basic([1, 2, 3]), _parts(e)),
)
add("parents", VAR, LISTS, lambda e: e.make("JaggedArray.fromparents", e.basic([0, 0, 2]), _parts(e)))
add(
    "parents with holes",
    VAR,
    [[1.5], [3.5]],
    lambda e: e.make("JaggedArray.fromparents", e.basic([0, -1, 1]), _parts(e)),
)
add(
    "uniques",
    VAR,
    [[1.5, 2.5], [3.5]],
    lambda e: e.make("JaggedArray.fromuniques", e.basic([7, 7, 3]), _parts(e)),
)
add(
    "local index",
    VAR,
    [[1.5, 2.5], [3.5]],
    lambda e: e.make("JaggedArray.fromlocalindex", e.basic([0, 1, 0]), _parts(e)),
)
add("iterable", VAR, LISTS, lambda e: e.make("JaggedArray.fromiter", {"json": LISTS}))
add(
    "regular",
    "2 * float64",
    [[1.0, 2.0], [3.0, 4.0]],
    lambda e: e.make("JaggedArray.fromregular", e.basic([[1.0, 2.0], [3.0, 4.0]])),
)
add(
    "folding",
    "2 * float64",
    [[1.0, 2.0], [3.0, 4.0]],
    lambda e: e.make("JaggedArray.fromfolding", e.basic([1.0, 2.0, 3.0, 4.0]), 2),
)
add("jagged", VAR, LISTS, lambda e: e.make("JaggedArray.fromjagged", e.jagged([2, 0, 1], ABC)))
add(
    "lists of lists",
    "var * var * int64",
    [[[1], []], [], [[2, 3]]],
    lambda e: e.jagged([2, 0, 1], e.jagged([1, 0, 2], [1, 2, 3])),
)
add(
    "outer dimensions",
    "2 * var * float64",
    [[[1.5], [2.5, 3.5]], [[], [1.5]]],
    lambda e: e.make("JaggedArray", e.basic([[0, 1], [0, 0]]), e.basic([[1, 3], [0, 1]]), _parts(e)),
)
add(
    "lists of points",
    "var * 2 * int64",
    [[[1, 2]], [[3, 4], [5, 6]]],
    lambda e: e.jagged([1, 2], [[1, 2], [3, 4], [5, 6]]),
)
add("no lists", VAR, [], lambda e: e.make("JaggedArray", e.basic([], "i8"), e.basic([], "i8"), e.basic([])))

# -- tables --------------------------------------------------------------------------------------------------

XY = "{x: int64, y: float64}"


def pairs(e: Encoder) -> dict[str, Any]:
    return {"pairs": [["x", e.basic([1, 2, 3])], ["y", e.basic(ABC)]]}


def xy(*rows: int) -> list[dict[str, Any]]:
    return [{"x": row + 1, "y": ABC[row]} for row in rows]


add("table", XY, xy(0, 1, 2), lambda e: e.table(x=[1, 2, 3], y=ABC))
add("shortest column", XY, xy(0, 1), lambda e: e.table(x=[1, 2], y=ABC))
add("row start", XY, xy(0, 1, 2), lambda e: e.make("Table.frompairs", pairs(e), 100))
add("table of a dict", XY, xy(0, 1, 2), lambda e: e.make("Table", {"dict": dict(pairs(e)["pairs"])}))
add("table of keywords", XY, xy(0, 1, 2), lambda e: e.make("Table", **dict(pairs(e)["pairs"])))
add(
    "table of columns",
    '{"0": int64, "1": float64}',
    [{"0": 1, "1": 1.5}],
    lambda e: e.make("Table", e.basic([1]), e.basic([1.5])),
)
add(
    "table of an array of records",
    "{a: int32}",
    [{"a": 5}],
    lambda e: e.make("Table.fromrec", e.basic(np.array([(5,)], [("a", "<i4")]))),
)
add(
    "view by steps",
    XY,
    xy(2, 1),
    lambda e: e.make(
        "Table.fromview",
        {"tuple": [{"json": 2}, {"json": -1}, {"json": 2}]},
        e.make("Table.frompairs", pairs(e), 0, id=None),
    ),
)
add(
    "view by index",
    XY,
    xy(2, 0, 0),
    lambda e: e.make("Table.fromview", e.basic([2, 0, 0]), e.make("Table.frompairs", pairs(e), 0, id=None)),
)
add(
    "tables in lists",
    f"var * {XY}",
    [xy(0), xy(1, 2)],
    lambda e: e.jagged([1, 2], e.make("Table.frompairs", pairs(e), 0)),
)
add(
    "odd names of columns",
    '{"": int64, "a b": int64, "x/y": int64}',
    [{"": 1, "a b": 2, "x/y": 3}],
    lambda e: e.table(**{"": [1], "a b": [2], "x/y": [3]}),
)
