"""Schemas of Awkward 0 that want code run, or more than there is; each beside an array that is sound.

Code that is run leaves a file behind whose path is given when a case is made.
"""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from awkward0_encoder import Encoder, Expression, dtype_node, function, lz4_block, pickled, reference

UNSAFE, SCHEMA, BUDGET = frozenset({"E_UNSAFE"}), frozenset({"E_SCHEMA"}), frozenset({"E_BUDGET"})
#: What lies in blobs, or how long they are, may be refused as either.
DATA = frozenset({"E_SCHEMA", "E_DECODE", "E_RANGE", "E_BUDGET"})
#: A blob that is not there is a fault of the container.
ABSENT = frozenset({"E_FORMAT", "E_RANGE", "E_UNSAFE"})


@dataclass(frozen=True)
class Hostile:
    """One array.

    Attributes
    ----------
    make
        Makes the root from an encoder and the path of the file that must not come to be.
    kinds
        Of the errors by which it may be refused.
    """

    name: str
    make: Callable[[Encoder, str], Expression]
    kinds: frozenset[str]


HOSTILE: list[Hostile] = []


def add(name: str, kinds: frozenset[str], make: Callable[[Encoder, str], Expression]) -> None:
    """Note one more."""
    HOSTILE.append(Hostile(name, make, kinds))


class Touch:
    """Pickled so that whoever unpickles it makes a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (self.path, "w")


# -- functions -----------------------------------------------------------------------------------------------

for _library in ("awkward0", "awkward"):
    add(
        f"{_library}.persist.topython",
        UNSAFE,
        lambda e, path, of=_library: e.call([f"{of}.persist", "topython"], pickled(Touch(path))["python"]),
    )
    add(
        f"{_library}.persist.spec2function",
        UNSAFE | SCHEMA,
        lambda e, path, of=_library: e.make(
            "VirtualArray",
            e.call([f"{of}.persist", "spec2function"], {"json": ["os", "system"]}, {"json": [["*"]]}),
            {"tuple": [{"json": f"touch {path}"}]},
        ),
    )
    add(
        f"{_library}.persist.deserialize",
        UNSAFE,
        lambda e, path, of=_library: e.call(
            [f"{of}.persist", "deserialize"],
            {
                "dict": {
                    "": {
                        "json": json.dumps(
                            {"awkward0": "", "schema": {"call": ["os", "mknod"], "args": [{"json": path}]}}
                        )
                    }
                }
            },
            whitelist={"json": [["*"]]},
        ),
    )
    add(
        f"{_library}.persist.save",
        UNSAFE,
        lambda e, path, of=_library: e.call([f"{of}.persist", "save"], path, e.basic([1])),
    )
    add(
        f"{_library}: globals of a method",
        UNSAFE,
        lambda e, path, of=_library: e.call(
            [of, "JaggedArray", "fromiter", "__func__", "__globals__", "pop"], "x"
        ),
    )
for _name in (
    ["os", "system"],
    ["subprocess", "Popen"],
    ["builtins", "eval"],
    ["builtins", "exec"],
    ["importlib", "import_module"],
    ["pickle", "loads"],
    ["ctypes", "CDLL"],
    ["shutil", "rmtree"],
    ["numpy", "load"],
    ["numpy", "fromfile"],
    ["awkward0", "numpy", "frombuffer", "__class__"],
    ["awkward0", "JaggedArray", "__init__"],
    ["awkward0", "JaggedArray", "__subclasses__"],
    ["awkward0", "load"],
    ["awkward0", "fromiter"],
    ["awkward0.util", "numpy", "fromfile"],
    ["refbrowser.errors", "quoted"],
    ["zlib", "decompressobj"],
    # Of a module that is there, and makes the file when it is imported.
    ["evil_module", "run"],
    ["evil_module.inner", "run"],
):
    add(f"call of {'.'.join(_name)}", UNSAFE, lambda e, path, of=_name: e.call(of, {"json": f"touch {path}"}))
add(
    "another file",
    UNSAFE | SCHEMA,
    lambda e, _: e.make(
        "VirtualArray",
        e.call(["awkward0.arrow", "_ParquetFile", "fromjson"], {"json": {"file": "/etc/passwd"}}),
    ),
)
add(
    "a remote file",
    UNSAFE,
    lambda e, _: e.make(
        "VirtualArray",
        function("uproot.tree", "_LazyBranch"),
        {"tuple": [{"json": "http://127.0.0.1:1/x.root"}, {"json": "branch"}]},
    ),
)
add(
    "virtual array of a command",
    UNSAFE,
    lambda e, path: e.make("VirtualArray", function("os", "system"), {"tuple": [{"json": f"touch {path}"}]}),
)
add(
    "module of the vectors",
    UNSAFE,
    lambda e, path: e.call(["uproot3_methods.classes.TVector2", "os", "system"], {"json": f"touch {path}"}),
)
add(
    "decompressor that was not allowed",
    UNSAFE,
    lambda e, _: e.basic([1, 2], codecs=["bz2.decompress"]),
)

# -- pickles -------------------------------------------------------------------------------------------------

for _protocol in range(5):
    add(
        f"pickle of protocol {_protocol}",
        UNSAFE,
        lambda e, path, of=_protocol: pickled(pickle.dumps(Touch(path), of)),
    )
add("pickle of a global", UNSAFE, lambda e, _: pickled(b"cos\nsystem\n."))
add("pickle of an instance", UNSAFE, lambda e, path: pickled(b"(S'touch %s'\nios\nsystem\n." % path.encode()))
add("pickle of an extension", UNSAFE, lambda e, _: pickled(b"\x82\x01."))
add("pickle of a persistent id", UNSAFE, lambda e, _: pickled(b"Pid\n."))
add("pickle of nothing", UNSAFE | SCHEMA | DATA, lambda e, _: pickled(b"."))
add("pickle that is cut", UNSAFE | SCHEMA | DATA, lambda e, _: {"python": "gASV"})
add("pickle that is no base 64", UNSAFE | SCHEMA | DATA, lambda e, _: {"python": "?!"})
add(
    "pickle of a huge size",
    UNSAFE | SCHEMA | DATA,
    lambda e, _: pickled(b"\x8e" + struct.pack("<Q", 2**62) + b"."),
)
add(
    "pickle that doubles",
    UNSAFE | BUDGET | SCHEMA,
    lambda e, _: pickled(b"]q\x00" + b"(h\x00h\x00e" * 40 + b"."),
)

# -- structure -----------------------------------------------------------------------------------------------

add("two identifying keys", SCHEMA, lambda e, _: {"json": 1, **e.basic([1])})
add("no identifying key", SCHEMA, lambda e, _: {"id": 0})
add("a list for an expression", SCHEMA, lambda e, _: [e.basic([1])])  # type: ignore[arg-type,return-value]
add("null for an expression", SCHEMA, lambda e, _: None)  # type: ignore[arg-type,return-value]
add("function of one part", SCHEMA | UNSAFE, lambda e, _: {"call": ["os"], "args": []})
add("function that is text", SCHEMA | UNSAFE, lambda e, _: {"call": "os.system", "args": []})
add("function of numbers", SCHEMA | UNSAFE, lambda e, _: {"call": [1, 2]})
add("arguments that are none", SCHEMA, lambda e, _: {"call": ["awkward0", "JaggedArray"], "args": 7})
add("unknown id", SCHEMA, lambda e, _: reference(99))
add("id of itself", SCHEMA, lambda e, _: {**reference(7), "id": 7})
add("id that is text", SCHEMA, lambda e, _: reference("0"))  # type: ignore[arg-type]
add("too few arguments", SCHEMA, lambda e, _: e.make("JaggedArray", e.basic([0])))
add("too many arguments", SCHEMA, lambda e, _: e.make("IndexedArray", e.basic([0]), e.basic([0]), 1, 2, 3))
add("unknown keyword", SCHEMA, lambda e, _: e.make("IndexedArray", e.basic([0]), e.basic([0]), evil=1))
add("text for an array", SCHEMA, lambda e, _: e.make("IndexedArray", "x", e.basic([0])))
add(
    "blob that is absent",
    ABSENT,
    lambda e, _: e.call(e.frombuffer, {"read": "gone"}, dtype_node("i8"), 1),
)
add(
    "blob of another file",
    ABSENT,
    lambda e, _: e.call(
        e.frombuffer, {"read": "/etc/passwd", "absolute": True}, dtype_node("uint8"), {"json": 1}
    ),
)
add(
    "blob above the file",
    ABSENT,
    lambda e, _: e.call(
        e.frombuffer, {"read": "../../../etc/passwd", "absolute": True}, dtype_node("uint8"), {"json": 1}
    ),
)


def _deep(e: Encoder, turns: int) -> Expression:
    made = e.basic([1.0])
    for _ in range(turns):
        made = {"call": ["awkward0", "JaggedArray", "fromjagged"], "args": [made]}
    return made


add("deep expressions", BUDGET | SCHEMA, lambda e, _: _deep(e, 400))
add("deep lists", BUDGET | SCHEMA, lambda e, _: _nested_lists(400))


def _nested_lists(turns: int) -> Expression:
    made: Expression = {"json": 1}
    for _ in range(turns):
        made = {"list": [made]}
    return made


def _doubled(e: Encoder, turns: int) -> Expression:
    """Return a table of two columns that are tables of two columns... each made once."""
    columns: list[Any] = [["x", e.basic([1])]]
    made: Expression = {}
    for _ in range(turns):
        made = e.make("Table.frompairs", {"pairs": columns}, 0)
        columns = [["a", made], ["b", reference(made["id"])]]
    return made


add("doubled by references", BUDGET | frozenset({"fine"}), lambda e, _: _doubled(e, 40))

# -- dtypes --------------------------------------------------------------------------------------------------

for _dtype in ("object", "O", [["a", "object"]], ["object", [2]]):
    add(
        f"dtype {json.dumps(_dtype)}",
        UNSAFE,
        lambda e, _, of=_dtype: e.call(e.frombuffer, e.blob(b"\0" * 16), {"dtype": of}, 1),
    )
for _dtype in (
    "V99999999999",
    "U999999999",
    "i3",
    "x" * 100_000,
    "i8," * 9999,
    [["a"]],
    {},
    None,
    7,
    ["i8", [-1]],
    ["i8", [2**40, 2**40]],
    "M8[",
    "('i8', (2,))",
    "int64; import os",
):
    add(
        f"dtype {json.dumps(_dtype)[:40]}",
        SCHEMA | BUDGET | DATA | UNSAFE,
        lambda e, _, of=_dtype: e.call(e.frombuffer, e.blob(b"\0" * 16), {"dtype": of}, 1),
    )

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


#: 64 MiB of zeros.
_ZEROS = zlib.compress(bytes(1 << 26), 9)
add(
    "bomb in a bomb",
    DATA,
    lambda e, _: e.call(
        e.frombuffer,
        e.call(["zlib", "decompress"], e.call(["zlib", "decompress"], e.blob(zlib.compress(_ZEROS)))),
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
