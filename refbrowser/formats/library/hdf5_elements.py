"""What elements of HDF5 are, and how they are told: as bytes, and in JSON.

It is loaded by `hdf5_reader` and imports nothing of ours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from h5py import h5r, h5s, h5t

#: Types in types.
DEPTH = 16
#: Members of structures, names of enumerations and values of a fill value that are told.
_MEMBERS = 10_000
FAILURES = (
    OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError, AttributeError,
    SystemError,
)  # fmt: skip
_COMPLEX = getattr(h5t, "COMPLEX", None)
#: How texts of a fixed length end before it does; those that are filled with NULs are as numpy has them.
_ENDINGS = {h5t.STR_NULLTERM: "null", h5t.STR_SPACEPAD: "space"}
#: Bits as they are stored.
_BITS = tuple(
    getattr(h5t, f"STD_B{bits}{order}") for bits in (8, 16, 32, 64) for order in ("LE", "BE")
)  # fmt: skip


# Types


def type_of(kind: Any, depth: int = 0) -> dict[str, Any]:
    """Return what an element is; `exact` is whether it is stored as numpy holds it."""
    found = kind.get_class()
    if depth >= DEPTH:
        return {"kind": "unknown", "name": "types nested too deep"}
    if found == h5t.INTEGER:
        return _integer(kind)
    if found == h5t.BITFIELD:
        return _bitfield(kind)
    if found == h5t.STRING:
        if kind.is_variable_str():
            return {"kind": "string"}
        size, ending = kind.get_size(), _ENDINGS.get(kind.get_strpad(), "")
        told = {"kind": "plain", "dtype": f"|S{size}", "exact": True, "class": "text"}
        # One byte that ends a text at itself is an empty text, whatever tells it.
        return {**told, "ending": ending} if ending == "space" or (ending and size > 1) else told
    if found == h5t.ENUM:
        base = _integer(kind.get_super())
        members = min(kind.get_nmembers(), _MEMBERS)
        names = [[kind.get_member_value(at), text_of(kind.get_member_name(at))] for at in range(members)]
        if sorted(names) == [[0, "FALSE"], [1, "TRUE"]] and base["dtype"] == "|i1":
            return {**base, "dtype": "|b1"}
        return {**base, "names": names}
    if found == h5t.OPAQUE:
        # Their tag may tell a type of numpy, as h5py writes those that HDF5 has not.
        dtype = kind.dtype
        is_plain = dtype.kind in "mMSU" and dtype.itemsize == kind.get_size()
        name = dtype.str if is_plain else f"|V{kind.get_size()}"
        return {
            "kind": "plain",
            "dtype": name,
            "exact": True,
            "class": "text" if dtype.kind == "S" else "opaque",
        }
    if found == h5t.ARRAY:
        return {"kind": "array", "of": type_of(kind.get_super(), depth + 1), "shape": kind.get_array_dims()}
    if found == h5t.VLEN:
        return {"kind": "rows", "of": type_of(kind.get_super(), depth + 1)}
    if found == h5t.REFERENCE:
        return {"kind": "reference"}
    if found == h5t.COMPOUND and not _is_complex(kind):
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


def _is_complex(kind: Any) -> bool:
    """Tell whether a structure is a complex number, as h5py and others store them."""
    try:
        return bool(kind.dtype.kind == "c")
    except FAILURES:
        return False


def _bitfield(kind: Any) -> dict[str, Any]:
    """Return what bits are: unsigned integers of their size."""
    size = kind.get_size()
    if size not in (1, 2, 4, 8):
        return {"kind": "unknown", "name": f"bitfields of {size} bytes"}
    order = "|" if size == 1 else ">" if kind.get_order() == h5t.ORDER_BE else "<"
    exact = any(kind.equal(each) for each in _BITS)
    return {"kind": "plain", "dtype": f"{order}u{size}", "exact": exact, "bits": 8 * size, "class": "bits"}


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
    except FAILURES:
        return {
            "kind": "unknown",
            "name": f"floats of {8 * kind.get_size()} bits, which numpy has no type for",
        }
    told = {"kind": "plain", "dtype": dtype.str, "exact": _is_exact(kind, dtype), "bits": 8 * kind.get_size()}
    return {**told, "class": "complex"} if kind.get_class() == _COMPLEX else told


def _is_exact(kind: Any, dtype: Any) -> bool:
    """Tell whether floats, or the parts of complex ones, are stored as numpy holds them."""
    try:
        if kind.get_class() != _COMPLEX:
            return bool(stored_as(dtype).equal(kind))
        part = kind.get_super()
        return bool(h5t.py_create(part.dtype).equal(part)) and dtype.itemsize == kind.get_size()
    except FAILURES:
        return False


def text_of(data: bytes) -> str:
    """Return a name."""
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else data


# Values


def values_in(dataset: Any, box: tuple[slice, ...], tree: dict[str, Any]) -> Any:
    """Return the elements of a box of an array; of one that has no sides its only element, in an array."""
    if not has_nested_arrays(tree):
        # Without the dots a row would be taken for an array of elements.
        return np.asarray(dataset[box or ...])
    _check_is_bytes(tree)
    count = tuple(each.stop - each.start for each in box)
    space, memory = dataset.id.get_space(), h5s.create_simple(count or (1,))
    if box:
        space.select_hyperslab(tuple(each.start for each in box), count)
    kind = dataset.id.get_type()
    stored = np.empty(count or (1,), f"V{kind.get_size()}")
    dataset.id.read(memory, space, stored, kind)
    return _viewed(stored.reshape(count), tree)


def attribute_values(attribute: Any, tree: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """Return the elements of an attribute; those of arrays in it have their sides behind its own."""
    if not has_nested_arrays(tree):
        is_known = tree["kind"] == "plain" and tree.get("exact") and "names" not in tree
        dtype = np.dtype(tree["dtype"]) if is_known else attribute.dtype
        values = np.zeros(shape, dtype)
        attribute.read(values, mtype=stored_as(dtype) if is_known else h5t.py_create(dtype))
        return values
    _check_is_bytes(tree)
    kind = attribute.get_type()
    stored = np.zeros(shape, f"V{kind.get_size()}")
    attribute.read(stored, mtype=kind)
    return _viewed(stored, tree)


@lru_cache(maxsize=64)
def stored_as(dtype: Any) -> Any:
    """Return the type of HDF5 that has numbers and texts as numpy holds them; making one takes long."""
    return h5t.py_create(dtype)


def has_nested_arrays(tree: dict[str, Any]) -> bool:
    """Tell whether there are arrays of arrays: h5py takes them for others, and may crash."""
    if tree["kind"] == "structure":
        return any(has_nested_arrays(of) for _, _, of in tree["fields"])
    return "of" in tree and (
        (tree["kind"] == "array" and tree["of"]["kind"] == "array") or has_nested_arrays(tree["of"])
    )


def _check_is_bytes(tree: dict[str, Any]) -> None:
    if not is_bytes(tree):
        raise TypeError("arrays of arrays are read of numbers only that are stored as numpy holds them")


def _viewed(stored: Any, tree: dict[str, Any]) -> Any:
    """Return elements that lie as they are stored by their type."""
    return np.ndarray(stored.shape, memory_of(tree), stored.data)


def innermost(tree: dict[str, Any]) -> dict[str, Any]:
    """Return the type of what arrays in elements hold."""
    while tree["kind"] == "array":
        tree = tree["of"]
    return tree


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
        fields = [(name, offset, memory_of(of)) for name, offset, of in tree["fields"]]
        if not is_bytes(tree):
            return np.dtype([(name, dtype) for name, _, dtype in fields])
        names, offsets, formats = zip(*fields, strict=True)
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": tree["size"]})
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
        inner = innermost(tree)
        return [plain_of(each, inner, root) for each in np.asarray(value).reshape(-1)]
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
