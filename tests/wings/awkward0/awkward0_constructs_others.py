"""Unions, options, indexes, chunks, texts, objects and references of Awkward 0, and what they stand for."""

from __future__ import annotations

import numpy as np
from awkward0_construct import Constructs
from awkward0_constructs_basic import ABC, F8, I8, LISTS, VAR, XY, pairs, xy
from awkward0_encoder import Encoder, Expression, dtype_node, function, pickled, reference

OTHERS = Constructs()
add = OTHERS.add
NAN = float("nan")

# -- unions, options, indexes --------------------------------------------------------------------------------

add(
    "union",
    "union[float64, string]",
    [1.5, "a", "b", 2.5],
    lambda e: e.make(
        "UnionArray",
        e.basic([0, 1, 1, 0], "u1"),
        e.basic([0, 0, 1, 1]),
        {"list": [e.basic(ABC), e.strings(["a", "b"])]},
    ),
)
add(
    "union by tags",
    "union[string, bool]",
    ["a", True, "b"],
    lambda e: e.make(
        "UnionArray.fromtags",
        e.basic([0, 1, 0], "u1"),
        {"list": [e.strings(["a", "b"]), e.basic([True])]},
    ),
)
add(
    "union of one",
    F8,
    [3.5, 1.5],
    lambda e: e.make("UnionArray", e.basic([0, 0], "u1"), e.basic([2, 0]), {"list": [e.basic(ABC)]}),
)
add(
    "masked",
    "?float64",
    [None, 2.5, 3.5],
    lambda e: e.make("MaskedArray", e.basic([True, False, False]), e.basic(ABC)),
)
add(
    "masked when false",
    "?float64",
    [1.5, None, None],
    lambda e: e.make("MaskedArray", e.basic([True, False, False]), e.basic(ABC), maskedwhen=False),
)
add(
    "bit mask",
    "?int64",
    [None, 1, 2, 3, 4, 5, 6, 7, None],
    lambda e: e.make("BitMaskedArray", e.basic([0x80, 0x80], "u1"), e.basic(range(9))),
)
add(
    "bit mask from the least",
    "?int64",
    [0, None, None, None, None, None, None, None, 8],
    lambda e: e.make("BitMaskedArray", e.basic([1, 1], "u1"), e.basic(range(9)), False, True),
)
add(
    "bit mask of booleans",
    "?float64",
    [None, 2.5, 3.5],
    lambda e: e.make("BitMaskedArray.fromboolmask", e.basic([True, False, False]), e.basic(ABC), True, True),
)
add(
    "index mask",
    "?float64",
    [3.5, None, 1.5],
    lambda e: e.make("IndexedMaskedArray", e.basic([2, -1, 0]), e.basic(ABC)),
)
add(
    "index mask by another mark",
    "?float64",
    [3.5, None, 1.5],
    lambda e: e.make("IndexedMaskedArray", e.basic([2, -5, 0]), e.basic(ABC), -5),
)
add(
    "index mask by a mark in range",
    "?float64",
    [3.5, None],
    lambda e: e.make("IndexedMaskedArray", e.basic([2, 0]), e.basic(ABC), 0),
)
add(
    "options in lists",
    "var * ?float64",
    [[None, 2.5], [3.5]],
    lambda e: e.jagged([2, 1], e.make("MaskedArray", e.basic([True, False, False]), e.basic(ABC))),
)
add(
    "options of records",
    f"?{XY}",
    [None, *xy(1, 2)],
    lambda e: e.make("MaskedArray", e.basic([True, False, False]), e.make("Table.frompairs", pairs(e), 0)),
)
add("indexed", F8, [3.5, 1.5, 1.5], lambda e: e.make("IndexedArray", e.basic([2, 0, 0]), e.basic(ABC)))
add(
    "indexed twice",
    F8,
    [2.5],
    lambda e: e.make("IndexedArray", e.basic([1]), e.make("IndexedArray", e.basic([0, 1]), e.basic(ABC))),
)
add(
    "sparse",
    F8,
    [-1.0, 1.5, -1.0, 2.5, 3.5],
    lambda e: e.make("SparseArray", 5, e.basic([1, 3, 4]), e.basic(ABC), -1.0),
)
add(
    "sparse with equal indexes",
    F8,
    [-1.0, 1.5, -1.0, 3.5],
    lambda e: e.make("SparseArray", 4, e.basic([1, 1, 3]), e.basic(ABC), -1.0),
)
add("sparse without default", I8, [0, 7], lambda e: e.make("SparseArray", 2, e.basic([1]), e.basic([7])))
add(
    "sparse with NaN",
    F8,
    [NAN, 1.5],
    lambda e: e.make("SparseArray", 2, e.basic([1]), e.basic([1.5]), pickled(NAN)),
)

# -- chunks, texts, objects ----------------------------------------------------------------------------------

add(
    "chunks",
    F8,
    [1.5, 2.5, 3.5, 1.5],
    lambda e: e.make("ChunkedArray", {"list": [e.basic(ABC), e.basic([1.5])]}, {"json": [3, 1]}),
)
add(
    "chunks without sizes",
    F8,
    [1.5, 2.5, 3.5, 1.5],
    lambda e: e.make("ChunkedArray", {"list": [e.basic(ABC), e.basic([1.5])]}),
)
add(
    "chunks of lists",
    VAR,
    [*LISTS, [9.5]],
    lambda e: e.make(
        "ChunkedArray", {"list": [e.jagged([2, 0, 1], ABC), e.jagged([1], [9.5])]}, {"json": [3, 1]}
    ),
)
add(
    "appendable",
    F8,
    [1.5, 2.5, 3.5, 4.5],
    lambda e: e.make(
        "AppendableArray",
        {"tuple": [{"json": 3}]},
        dtype_node("float64"),
        {"list": [e.basic(ABC), e.basic([4.5])]},
    ),
)
TEXTS = ["one", "", "zwölf"]
add("texts", "string", TEXTS, lambda e: e.strings(TEXTS))
add("bytes", "bytes", [b"\xff\x00", b""], lambda e: e.strings([b"\xff\x00", b""], None))
add("texts of a code page", "string", ["é€"], lambda e: e.strings(["é€"], "cp1252"))
add("wide texts", "string", TEXTS, lambda e: e.strings(TEXTS, "utf-32le"))
add("undecodable texts", "string", ["a\ufffdb"], lambda e: e.strings([b"a\xffb"]), is_old=False)
add(
    "texts by starts",
    "string",
    ["cd", "a"],
    lambda e: e.make(
        "StringArray", e.basic([2, 0]), e.basic([4, 1]), e.basic(np.frombuffer(b"abcd", "u1")), "utf-8"
    ),
)
add(
    "texts by offsets",
    "string",
    ["ab", "", "cd"],
    lambda e: e.make("StringArray.fromoffsets", e.basic([0, 2, 2, 4]), e.basic(np.frombuffer(b"abcd", "u1"))),
)
add("texts of numpy", "string", ["ab", "ü"], lambda e: e.make("StringArray.fromnumpy", e.basic(["ab", "ü"])))
add(
    "texts of an iterable",
    "string",
    TEXTS,
    lambda e: e.make("StringArray.fromiter", {"json": TEXTS}, "utf-8"),
)
add("texts in lists", "var * string", [["one", ""], ["zwölf"]], lambda e: e.jagged([2, 1], e.strings(TEXTS)))
add(
    "objects",
    "TVector2[x: float64]",
    [{"x": 1.5}],
    lambda e: e.make(
        "ObjectArray",
        e.table(x=[1.5]),
        function("uproot3_methods.classes.TVector2", "TVector2"),
        {"tuple": []},
        {"dict": {}},
    ),
)
for _name, _fields in (
    ("TVector2Array.from_cartesian", ["x", "y"]),
    ("TVector3Array.from_cartesian", ["x", "y", "z"]),
    ("TLorentzVectorArray.from_cartesian", ["x", "y", "z", "t"]),
    ("TLorentzVectorArray.from_ptetaphim", ["pt", "eta", "phi", "mass"]),
):
    _class = _name.split(".")[0]
    add(
        _name,
        f"{_class}[{', '.join(f'{each}: float64' for each in _fields)}]",
        [{each: 1.0 + k for k, each in enumerate(_fields)}],
        lambda e, of=_name, names=_fields: e.make(of, *(e.basic([1.0 + k]) for k, _ in enumerate(names))),
    )
    add(
        f"jagged {_name}",
        f"var * {_class}[{', '.join(f'{each}: float64' for each in _fields)}]",
        [[{each: 1.0 + k for k, each in enumerate(_fields)}], []],
        lambda e, of=_name, names=_fields: e.make(
            of, *(e.jagged([1, 0], [1.0 + k]) for k, _ in enumerate(names))
        ),
    )
add(
    "virtual, of ours",
    F8,
    ABC,
    lambda e: e.make(
        "VirtualArray",
        function("awkward0", "numpy", "frombuffer"),
        {"tuple": [e.blob(np.array(ABC).tobytes()), dtype_node("float64"), {"json": 3}]},
        {"dict": {}},
    ),
)

# -- constructors that no writer emits -----------------------------------------------------------------------

add("nothing masked", "?float64", ABC, lambda e: e.make("MaskedArray.fromcontent", e.basic(ABC), False))
add(
    "nothing masked by bits",
    "?float64",
    ABC,
    lambda e: e.make("BitMaskedArray.fromcontent", e.basic(ABC)),
)
add(
    "nothing masked by an index",
    "?float64",
    ABC,
    lambda e: e.make("IndexedMaskedArray.fromcontent", e.basic(ABC)),
)
add(
    "texts by parents",
    "string",
    ["ab", "c"],
    lambda e: e.make("StringArray.fromparents", e.basic([0, 0, 1]), e.basic(np.frombuffer(b"abc", "u1"))),
)
add(
    "texts by uniques",
    "string",
    ["ab", "c"],
    lambda e: e.make("StringArray.fromuniques", e.basic([5, 5, 2]), e.basic(np.frombuffer(b"abc", "u1"))),
)
add(
    "texts of lists",
    "string",
    ["ab", "c"],
    lambda e: e.make(
        "StringArray.fromjagged", e.jagged([2, 1], e.basic(np.frombuffer(b"abc", "u1"))), "utf-8"
    ),
)
add(
    "lists by bytes",
    "var * int32",
    [[1], [2, 3]],
    lambda e: e.make(
        "ByteJaggedArray",
        e.basic([0, 4]),
        e.basic([4, 12]),
        e.basic(np.frombuffer(np.array([1, 2, 3], "<i4").tobytes(), "u1")),
        dtype_node("int32"),
    ),
    is_old=False,
)
add(
    "lists by counts of bytes",
    "var * int32",
    [[1], [2, 3]],
    lambda e: e.make(
        "ByteJaggedArray.fromcounts",
        e.basic([4, 8]),
        e.basic(np.frombuffer(np.array([1, 2, 3], "<i4").tobytes(), "u1")),
        dtype_node("int32"),
    ),
    is_old=False,
)
add(
    "elements by bytes",
    "int16",
    [2, 1],
    lambda e: e.make(
        "ByteIndexedArray",
        e.basic([3, 0]),
        e.basic(np.frombuffer(b"\x01\x00?\x02\x00", "u1")),
        dtype_node("<i2"),
    ),
    is_old=False,
)
add(
    "module of a class",
    VAR,
    LISTS,
    lambda e: e.call(
        ["awkward0.array.jagged", "JaggedArray", "fromcounts"], e.basic([2, 0, 1]), e.basic(ABC)
    ),
    is_old=False,
)
add(
    "vectors of old releases",
    "TVector2Array[x: float64, y: float64]",
    [{"x": 1.0, "y": 2.0}],
    lambda e: e.make("TVector2Array.from_cartesian", e.basic([1.0]), e.basic([2.0])),
    options=(("library", "awkward"),),
)

# -- ids, references, plain values ---------------------------------------------------------------------------


def _shared(e: Encoder) -> Expression:
    column = e.basic([1, 2])
    return e.table(a=column, b=reference(column["id"]))


def _shared_number(e: Encoder) -> Expression:
    first = e.basic([1, 2])
    number = first["args"][2]["id"]
    return e.table(a=first, b=e.basic([3, 4], count=reference(number)))


def _forward(e: Encoder) -> Expression:
    late = e.basic([1, 2])
    return e.table(b=reference(late["id"]), a=late)


add("shared part", "{a: int64, b: int64}", [{"a": k, "b": k} for k in (1, 2)], _shared)
add("shared number", "{a: int64, b: int64}", [{"a": 1, "b": 3}, {"a": 2, "b": 4}], _shared_number)
add("forward reference", "{b: int64, a: int64}", [{"b": k, "a": k} for k in (1, 2)], _forward, is_old=False)
add("plain number", F8, 0.4, lambda e: {"json": 0.4, "id": 0})
add("plain integer", I8, 7, lambda e: {"json": 7, "id": 0})
add("plain text", "string", "fünf", lambda e: {"json": "fünf", "id": 0})
add("pickled NaN", F8, NAN, lambda e: pickled(NAN))
