"""What elements of HDF5 are, and how they are told: as bytes, and in JSON.

It is loaded by `hdf5_reader` and imports nothing of ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from h5py import h5r, h5t

#: Types in types.
DEPTH = 16
#: Members of structures, names of enumerations and values of a fill value that are told.
_MEMBERS = 10_000
FAILURES = (
    OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError, AttributeError,
    SystemError,
)  # fmt: skip
_COMPLEX = getattr(h5t, "COMPLEX", None)


# Types


def type_of(kind: Any, depth: int = 0) -> dict[str, Any]:
    """Return what an element is; `exact` is whether it is stored as numpy holds it."""
    found = kind.get_class()
    if depth >= DEPTH:
        return {"kind": "unknown", "name": "types nested too deep"}
    if found in (h5t.INTEGER, h5t.BITFIELD):
        return _integer(kind)
    if found == h5t.STRING:
        if kind.is_variable_str():
            return {"kind": "string"}
        return {"kind": "plain", "dtype": f"|S{kind.get_size()}", "exact": True, "class": "text"}
    if found == h5t.ENUM:
        base = _integer(kind.get_super())
        members = min(kind.get_nmembers(), _MEMBERS)
        names = [[kind.get_member_value(at), text_of(kind.get_member_name(at))] for at in range(members)]
        if sorted(names) == [[0, "FALSE"], [1, "TRUE"]] and base["dtype"] == "|i1":
            return {**base, "dtype": "|b1"}
        return {**base, "names": names}
    if found == h5t.OPAQUE:
        dtype = kind.dtype
        plain = dtype.kind in "mM"
        name = dtype.str if plain else f"|V{kind.get_size()}"
        return {"kind": "plain", "dtype": name, "exact": True, "class": "opaque"}
    if found == h5t.ARRAY:
        return {"kind": "array", "of": type_of(kind.get_super(), depth + 1), "shape": kind.get_array_dims()}
    if found == h5t.VLEN:
        return {"kind": "rows", "of": type_of(kind.get_super(), depth + 1)}
    if found == h5t.REFERENCE:
        return {"kind": "reference"}
    if found == h5t.COMPOUND and kind.dtype.kind != "c":
        count = min(kind.get_nmembers(), _MEMBERS)
        fields = [
            [text_of(kind.get_member_name(at)), kind.get_member_offset(at),
             type_of(kind.get_member_type(at), depth + 1)]
            for at in range(count)
        ]  # fmt: skip
        return {"kind": "structure", "fields": fields, "size": kind.get_size()}
    if found in (h5t.FLOAT, h5t.COMPOUND, _COMPLEX):
        return _float(kind)
    return {"kind": "unknown", "name": "time" if found == h5t.TIME else f"class {found}"}


def _integer(kind: Any) -> dict[str, Any]:
    size, bits = kind.get_size(), kind.get_precision()
    is_signed = kind.get_class() == h5t.INTEGER and kind.get_sign() == h5t.SGN_2
    exact = size in (1, 2, 4, 8) and bits == 8 * size and kind.get_order() in (h5t.ORDER_LE, h5t.ORDER_BE)
    if size > 8:
        return {"kind": "unknown", "name": f"integers of {size} bytes"}
    order = "|" if size == 1 else ">" if kind.get_order() == h5t.ORDER_BE else "<"
    room = next(each for each in (1, 2, 4, 8) if each >= size)
    dtype = f"{order}{'i' if is_signed else 'u'}{room}"
    return {"kind": "plain", "dtype": dtype, "exact": exact, "bits": bits}


def _float(kind: Any) -> dict[str, Any]:
    try:
        dtype = kind.dtype
    except (TypeError, ValueError):
        return {"kind": "unknown", "name": f"floats of {8 * kind.get_size()} bits"}
    if kind.get_class() == _COMPLEX:
        base = kind.get_super()
        exact = bool(h5t.py_create(base.dtype).equal(base)) and dtype.itemsize == kind.get_size()
    else:
        exact = bool(h5t.py_create(dtype).equal(kind))
    return {"kind": "plain", "dtype": dtype.str, "exact": exact, "bits": 8 * kind.get_size()}


def text_of(data: bytes) -> str:
    """Return a name."""
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else data


# Values


def pack(values: Any, tree: dict[str, Any], root: Any) -> list[Any]:
    """Return elements as buffers: plain ones as they are; of others counts (uint32) and then all parts."""
    kind = tree["kind"]
    if kind == "plain":
        return [np.ascontiguousarray(values, tree["dtype"]).reshape(-1).view(np.uint8)]
    if kind == "array":
        return pack(values, tree["of"], root)
    if kind == "structure":
        return [each for name, _, of in tree["fields"] for each in pack(values[name], of, root)]
    flat = np.asarray(values, object).reshape(-1) if values.dtype != object else values.reshape(-1)
    if kind in ("string", "reference"):
        texts = [bytes_of(each, root) for each in flat.tolist()]
        return [np.array(list(map(len, texts)), np.uint32), b"".join(texts)]
    if kind == "rows":
        rows = [np.asarray(() if each is None else each) for each in flat]
        counts = np.array([len(each) for each in rows], np.uint32)
        filled = [each for each in rows if len(each)]
        joined = np.concatenate(filled) if filled else np.zeros(0, memory_of(tree["of"]))
        return [counts, *pack(joined, tree["of"], root)]
    raise TypeError(f"elements are {tree.get('name', kind)}")


def memory_of(tree: dict[str, Any]) -> Any:
    """Return the type of numpy that holds elements."""
    if tree["kind"] == "plain":
        return np.dtype(tree["dtype"])
    if tree["kind"] == "array":
        return np.dtype((memory_of(tree["of"]), tuple(tree["shape"])))
    if tree["kind"] == "structure":
        return np.dtype([(name, memory_of(of)) for name, _, of in tree["fields"]])
    return np.dtype(object)


def bytes_of(value: Any, root: Any) -> bytes:
    """Return a text, or the path of what a reference leads to."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, h5r.Reference):
        return _target(value, root)
    return b"" if value is None else str(value).encode("utf-8", "surrogateescape")


def _target(value: Any, root: Any) -> bytes:
    """Return the path of what a reference leads to; nothing where it leads nowhere."""
    try:
        return (h5r.get_name(value, root) or b"") if value else b""
    except FAILURES:
        return b""


def plain_of(value: Any, tree: dict[str, Any], root: Any) -> Any:
    """Return the value of an attribute in JSON."""
    kind = tree["kind"]
    if kind == "array":
        value = np.asarray(value)
        rows = value.reshape(-1, *value.shape[len(tree["shape"]) :])
        return [plain_of(each, tree["of"], root) for each in rows]
    if kind in ("string", "reference"):
        return bytes_of(value, root).decode("utf-8", "replace")
    if kind == "rows":
        return [plain_of(each, tree["of"], root) for each in (() if value is None else value)]
    if kind == "structure":
        return {name: plain_of(value[name], of, root) for name, _, of in tree["fields"]}
    if isinstance(value, bytes):
        return value.split(b"\0", 1)[0].decode("utf-8", "replace")
    if isinstance(value, np.void):
        return {"hex": value.tobytes().hex()}
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(found, complex):
        return [found.real, found.imag]
    if isinstance(found, np.longdouble):
        return float(found)
    return found


# What is told of types


def is_bytes(tree: dict[str, Any]) -> bool:
    """Whether elements lie where they are stored, as numpy holds them."""
    kind = tree["kind"]
    if kind == "plain":
        return bool(tree["exact"])
    if kind == "array":
        return is_bytes(tree["of"])
    return kind == "structure" and all(is_bytes(of) for _, _, of in tree["fields"])


def type_name(tree: dict[str, Any]) -> str:
    """Return the netCDF name of the type of an attribute; empty where it has none."""
    kind = tree["kind"]
    if kind == "string":
        return "string"
    if kind != "plain" or "names" in tree:
        return ""
    if tree.get("class") == "text":
        return "char"
    return _NAMES.get(tree["dtype"][1:], "")


_NAMES = {
    "i1": "byte", "u1": "ubyte", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "i8": "int64", "u8": "uint64", "f4": "float", "f8": "double",
}  # fmt: skip
