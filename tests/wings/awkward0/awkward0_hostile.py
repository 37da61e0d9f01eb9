"""Schemas of Awkward 0 that want code run, or more than there is; each beside an array that is sound.

Code that is run leaves a file behind whose path is given when a case is made.
"""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from awkward0_encoder import Encoder, Expression, dtype_node, function, pickled, reference

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
