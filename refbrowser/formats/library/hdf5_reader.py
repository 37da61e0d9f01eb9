"""What knows HDF5, in the process of `worker`: it imports nothing of ours.

Links to other files are told and never followed, plug-ins never loaded but from the package hdf5plugin,
external storage and virtual datasets never read.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

os.environ["HDF5_PLUGIN_PRELOAD"] = "::"
os.environ["HDF5_PLUGIN_PATH"] = os.devnull
os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import h5py
import numpy as np
from h5py import h5, h5a, h5d, h5ds, h5g, h5l, h5o, h5r, h5s, h5t, h5z

_spec = spec_from_file_location("hdf5_chunks", Path(__file__).with_name("hdf5_chunks.py"))
assert _spec is not None
assert _spec.loader is not None
chunks = module_from_spec(_spec)
_spec.loader.exec_module(chunks)

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: Attributes that only HDF5 and netCDF-4 themselves need; their values are large, or references.
_UNREAD = (b"DIMENSION_LIST", b"REFERENCE_LIST")
_DEPTH = 16
#: Members of structures, names of enumerations and values of a fill value that are told.
_MEMBERS = 10_000
_FAILURES = (
    OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError, AttributeError,
    SystemError,
)  # fmt: skip
_COMPLEX = getattr(h5t, "COMPLEX", None)
#: Filters of the package hdf5plugin.
_PLUGINS = range(256, 65536)


class Reader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file: its path, or an object that reads it."""
        self._cut: _Cut | None = None
        try:
            self._file = h5py.File(place, "r")
        except OSError as error:
            if "already open" in str(error) and isinstance(place, str):
                self._file = _written_by_others(place)
            elif "truncated file" in str(error):
                self._cut = self._padded(place)
                self._file = h5py.File(self._cut, "r")
            else:
                raise
        self._root, self.close = self._file.id, self._file.close
        return {}

    def _padded(self, place: Any) -> _Cut:
        """Return a file that was cut as if it were whole, so that what there is of it can be read."""
        raw = place if hasattr(place, "readinto") else open(place, "rb", buffering=0)  # noqa: SIM115
        size = raw.seek(0, 2)
        self._sizes: list[int] = [size, _end_of_file(raw, size)]
        return _Cut(raw, *self._sizes)

    # What there is

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell groups and arrays with all that is known of them but their values."""
        if self._cut is None:
            yield from _Walk(self._file, request).all()
            return
        yield {"cut": self._sizes}
        self._cut.lenient = True
        yield from _Walk(self._file, request, self._cut).all()
        self._cut.lenient = False

    def do_names(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell whether the name of an array ends so."""
        end = request["ends"].encode()
        count = 0

        def look(name: bytes) -> bool | None:
            nonlocal count
            count += 1
            return True if name.lower().endswith(end) or count > request["objects"] else None

        yield {"found": bool(self._root.links.visit(look))}

    # Values

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array: packed, as `_pack` says."""
        dataset = h5py.Dataset(self._at(request["path"]))
        box = tuple(slice(*each) for each in request["box"])
        _need_plugins(dataset.id)
        values = np.asarray(dataset[box] if box else dataset[()])
        tree = _type(dataset.id.get_type())
        if tree["kind"] == "array":
            tree = tree["of"]
        yield ({}, *_pack(values, tree, self._root))

    def do_chunk(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the stored bytes of a chunk, and those of its elements where they lie in the array."""
        dataset = self._at(request["path"])
        _need_plugins(dataset)
        start, count = tuple(request["start"]), tuple(request["count"])
        mask, stored = dataset.read_direct_chunk(start)
        space = dataset.get_space()
        space.select_hyperslab(start, count)
        kind = dataset.get_type()
        values = np.empty(count, f"V{kind.get_size()}")
        dataset.read(h5s.create_simple(count), space, values, kind)
        yield {"mask": mask}, stored
        yield {}, np.ascontiguousarray(values).reshape(-1).view(np.uint8)

    def _at(self, path: str) -> Any:
        """Return the array at a path; links to other files are not followed."""
        at: Any = self._root
        parts = [part.encode("utf-8", "surrogateescape") for part in path.split("/") if part]
        for part in parts:
            at = _opened(at, part)
        if not isinstance(at, h5d.DatasetID):
            raise ValueError("there is no array")
        _check_here(at)
        return at


def _written_by_others(path: str) -> Any:
    """Open a file that is being written so that others may read it."""
    try:
        return h5py.File(path, "r", swmr=True)
    except OSError:
        raise OSError(
            "another program writes the file, or has not closed it (then `h5clear -s` of HDF5 frees it)"
        ) from None


class _Cut(io.RawIOBase):
    """A file that was cut, as if it were as long as it says.

    Attributes
    ----------
    lenient
        What lies behind its end is zeros, and counted in `over`; else it cannot be read.
    """

    def __init__(self, raw: Any, size: int, shown: int) -> None:
        self._raw = raw
        self._size = size
        self._shown = shown
        self._at = 0
        self.lenient = True
        self.over = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._shown)[whence]
        return self._at

    def tell(self) -> int:
        """Return where the next byte is read."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read bytes from here on."""
        room = memoryview(buffer).cast("B")
        length = min(len(room), max(self._shown - self._at, 0))
        there = min(length, max(self._size - self._at, 0))
        if there < length and not (self.lenient and there):
            raise OSError("the file is cut before this place")
        self.over += there < length
        self._raw.seek(self._at)
        at = 0
        while at < there:
            count = self._raw.readinto(room[at:there])
            if not count:
                raise OSError("the file ends early")
            at += count
        room[there:length] = bytes(length - there)
        self._at += length
        return length


def _end_of_file(raw: Any, size: int) -> int:
    """Return where a file says that it ends (HDF5 file format, II.A)."""
    at = 0
    while at + 64 <= size:
        raw.seek(at)
        head = bytearray(64)
        raw.readinto(head)
        if head.startswith(_SIGNATURE):
            version = head[8]
            width, begin = (head[13], 24 + (4 if version else 0)) if version < 2 else (head[9], 12)
            code = {2: "<H", 4: "<I", 8: "<Q"}[width]
            # Base address, another one, and the end.
            return int(struct.unpack_from(code, head, begin + 2 * width)[0])
        at = max(2 * at, 512)
    raise OSError("the file is cut before its first block")


def _opened(group: Any, name: bytes) -> Any:
    """Return a member of a group: behind a link within the file too, never behind one to another file."""
    kind = group.links.get_info(name).type
    for _ in range(_DEPTH):
        if kind == h5l.TYPE_HARD:
            return h5o.open(group, name)
        if kind != h5l.TYPE_SOFT:
            raise ValueError("a link to another file is not followed")
        target = group.links.get_val(name)
        at = h5g.open(group, b"/") if target.startswith(b"/") else group
        *above, name = [part for part in target.split(b"/") if part not in (b"", b".")] or [b"."]
        if name == b".":
            return at
        for part in above:
            at = _opened(at, part)
        group, kind = at, at.links.get_info(name).type
    raise ValueError("links lead in a circle")


def _check_here(dataset: Any) -> None:
    made = dataset.get_create_plist()
    if made.get_external_count():
        raise ValueError("its values are in other files, which are not opened")
    if made.get_layout() == h5d.VIRTUAL:
        raise ValueError("it is a virtual dataset, put together from others, which are not opened")


def _need_plugins(dataset: Any) -> None:
    """Let filters be known that the package hdf5plugin brings, where an array has one."""
    made = dataset.get_create_plist()
    numbers = [made.get_filter(at)[0] for at in range(made.get_nfilters())]
    if all(each not in _PLUGINS or h5z.filter_avail(each) for each in numbers):
        return
    # Without it the filter is not known, which the library says.
    with contextlib.suppress(Exception):
        import hdf5plugin  # noqa: F401 - it makes its filters known


# Types


def _type(kind: Any, depth: int = 0) -> dict[str, Any]:
    """Return what an element is; `exact` is whether it is stored as numpy holds it."""
    found = kind.get_class()
    if depth >= _DEPTH:
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
        names = sorted([kind.get_member_value(at), _text(kind.get_member_name(at))] for at in range(members))
        if names == [[0, "FALSE"], [1, "TRUE"]] and base["dtype"] == "|i1":
            return {**base, "dtype": "|b1"}
        return {**base, "names": names}
    if found == h5t.OPAQUE:
        dtype = kind.dtype
        plain = dtype.kind in "mM"
        name = dtype.str if plain else f"|V{kind.get_size()}"
        return {"kind": "plain", "dtype": name, "exact": True, "class": "opaque"}
    if found == h5t.ARRAY:
        return {"kind": "array", "of": _type(kind.get_super(), depth + 1), "shape": kind.get_array_dims()}
    if found == h5t.VLEN:
        return {"kind": "rows", "of": _type(kind.get_super(), depth + 1)}
    if found == h5t.REFERENCE:
        return {"kind": "reference"}
    if found == h5t.COMPOUND and kind.dtype.kind != "c":
        count = min(kind.get_nmembers(), _MEMBERS)
        fields = [
            [_text(kind.get_member_name(at)), kind.get_member_offset(at),
             _type(kind.get_member_type(at), depth + 1)]
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


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else data


# Values


def _pack(values: Any, tree: dict[str, Any], root: Any) -> list[Any]:
    """Return elements as buffers: plain ones as they are; of others counts (uint32) and then all parts."""
    kind = tree["kind"]
    if kind == "plain":
        return [np.ascontiguousarray(values, tree["dtype"]).reshape(-1).view(np.uint8)]
    if kind == "array":
        return _pack(values, tree["of"], root)
    if kind == "structure":
        return [each for name, _, of in tree["fields"] for each in _pack(values[name], of, root)]
    flat = np.asarray(values, object).reshape(-1) if values.dtype != object else values.reshape(-1)
    if kind in ("string", "reference"):
        texts = [_bytes_of(each, root) for each in flat.tolist()]
        return [np.array(list(map(len, texts)), np.uint32), b"".join(texts)]
    if kind == "rows":
        rows = [np.asarray(() if each is None else each) for each in flat]
        counts = np.array([len(each) for each in rows], np.uint32)
        filled = [each for each in rows if len(each)]
        joined = np.concatenate(filled) if filled else np.zeros(0, _memory(tree["of"]))
        return [counts, *_pack(joined, tree["of"], root)]
    raise TypeError(f"elements are {tree.get('name', kind)}")


def _memory(tree: dict[str, Any]) -> Any:
    if tree["kind"] == "plain":
        return np.dtype(tree["dtype"])
    if tree["kind"] == "array":
        return np.dtype((_memory(tree["of"]), tuple(tree["shape"])))
    if tree["kind"] == "structure":
        return np.dtype([(name, _memory(of)) for name, _, of in tree["fields"]])
    return np.dtype(object)


def _bytes_of(value: Any, root: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, h5r.Reference):
        return _target(value, root)
    return b"" if value is None else str(value).encode("utf-8", "surrogateescape")


def _target(value: Any, root: Any) -> bytes:
    """Return the path of what a reference leads to; nothing where it leads nowhere."""
    try:
        return (h5r.get_name(value, root) or b"") if value else b""
    except _FAILURES:
        return b""


def _plain(value: Any, tree: dict[str, Any], root: Any) -> Any:
    """Return the value of an attribute in JSON."""
    kind = tree["kind"]
    if kind == "array":
        value = np.asarray(value)
        rows = value.reshape(-1, *value.shape[len(tree["shape"]) :])
        return [_plain(each, tree["of"], root) for each in rows]
    if kind in ("string", "reference"):
        return _bytes_of(value, root).decode("utf-8", "replace")
    if kind == "rows":
        return [_plain(each, tree["of"], root) for each in (() if value is None else value)]
    if kind == "structure":
        return {name: _plain(value[name], of, root) for name, _, of in tree["fields"]}
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


# Objects


class _Walk:
    """Goes through a file, groups before what is in them."""

    def __init__(self, file: Any, request: dict[str, Any], cut: _Cut | None = None) -> None:
        self._root = file.id
        self._cut = cut
        self._base = file.userblock_size
        self._read = None if cut is not None else chunks.reading(file)
        self._objects = int(request["objects"])
        self._depth = int(request["depth"])
        self._room = int(request["attributes"])
        self._largest = int(request["attribute"])
        self._chunks = int(request["chunks"])
        #: The first path of each group and array, by address.
        self._seen: dict[Any, str] = {}

    def all(self) -> Iterator[Any]:
        """Tell all of it."""
        root = h5g.open(self._root, b"/")
        with contextlib.suppress(*_FAILURES):
            self._seen[h5o.get_info(root).addr] = "/"
        yield from self._group(root, "", 0)

    def _group(self, group: Any, path: str, depth: int) -> Iterator[Any]:
        before = self._over
        try:
            attributes = self._attributes(group)
            names = self._names(group)
            if self._over > before:
                attributes = []
                yield {"problem": "what is in the group lies partly behind the end of the file", "path": path}
        except _FAILURES as error:
            yield {"group": path or "/", "attributes": [], "error": str(error)[:300]}
            return
        yield {"group": path or "/", "attributes": attributes}
        below: list[tuple[bytes, str]] = []
        for name in names:
            self._objects -= 1
            if self._objects < 0:
                yield {"problem": "it holds more objects than are listed"}
                return
            at = f"{path}/{name.decode('utf-8', 'surrogateescape')}"
            before = self._over
            try:
                told = list(self._member(group, name, at, below))
                if self._over > before:
                    told = [{"array": at, "error": "its description lies behind the end of the file"}]
                yield from told
            except _FAILURES as error:
                yield {"array": at, "error": str(error)[:300]}
        for name, at in below:
            if depth + 1 >= self._depth:
                yield {"problem": "groups are nested too deep", "path": at}
                continue
            try:
                opened = h5o.open(group, name)
            except _FAILURES as error:
                yield {"group": at, "attributes": [], "error": str(error)[:300]}
            else:
                yield from self._group(opened, at, depth + 1)

    @property
    def _over(self) -> int:
        """How often bytes were read that lie behind the end of a file that was cut."""
        return 0 if self._cut is None else self._cut.over

    def _names(self, group: Any) -> list[bytes]:
        names: list[bytes] = []

        def take(name: bytes) -> bool | None:
            names.append(name)
            return True if len(names) > self._objects else None

        order = group.get_create_plist().get_link_creation_order()
        try:
            is_tracked = bool(order & h5py.h5p.CRT_ORDER_TRACKED)
            group.links.iterate(take, idx_type=h5.INDEX_CRT_ORDER if is_tracked else h5.INDEX_NAME)
        except _FAILURES:
            names.clear()
            group.links.iterate(take)
        return names

    def _member(self, group: Any, name: bytes, path: str, below: list[tuple[bytes, str]]) -> Iterator[Any]:
        kind = group.links.get_info(name).type
        if kind == h5l.TYPE_EXTERNAL:
            file, target = group.links.get_val(name)
            yield {"link": path, "file": _text(file), "target": _text(target)}
            return
        if kind not in (h5l.TYPE_HARD, h5l.TYPE_SOFT):
            yield {"problem": "a link of a kind that is not known is not followed", "path": path}
            return
        try:
            found = _opened(group, name)
        except _FAILURES:
            if kind == h5l.TYPE_HARD:
                raise
            yield {"problem": "a link that leads nowhere", "path": path}
            return
        if isinstance(found, h5g.GroupID):
            first = self._seen.setdefault(h5o.get_info(found).addr, path)
            if first == path and kind == h5l.TYPE_HARD:
                below.append((name, path))
            else:
                yield {"problem": f"it is another name of the group {first}", "path": path}
        elif isinstance(found, h5d.DatasetID):
            yield self._dataset(found, path)

    # Attributes

    def _attributes(self, found: Any) -> list[Any]:
        names: list[bytes] = []

        def take(name: bytes, *rest: Any) -> None:
            names.append(name)

        try:
            h5a.iterate(found, take, index_type=h5.INDEX_CRT_ORDER)
        except _FAILURES:
            names.clear()
            h5a.iterate(found, take)
        told = []
        for name in names:
            if name in _UNREAD:
                continue
            try:
                told.append([_text(name), *self._attribute(h5a.open(found, name))])
            except _FAILURES as error:
                told.append([_text(name), None, "", f"it cannot be read: {error}"[:300]])
        return told

    def _attribute(self, attribute: Any) -> tuple[Any, str, str]:
        """Return the value of an attribute, the name of its type, and why there is none."""
        tree = _type(attribute.get_type())
        name = _type_name(tree)
        space = attribute.get_space()
        if space.get_simple_extent_type() == h5s.NULL:
            return "" if name in ("char", "string") else [], name, ""
        shape = space.get_simple_extent_dims() if space.get_simple_extent_type() == h5s.SIMPLE else ()
        size = attribute.get_storage_size()
        self._room -= size
        if size > self._largest or self._room < 0:
            return None, name, f"it has {size} bytes, more than are read"
        values = np.zeros(shape, attribute.dtype)
        attribute.read(values)
        if shape and 0 in shape:
            return "" if name == "char" else [], name, ""
        if values.size == 1 and tree["kind"] != "array":
            return _plain(values.reshape(-1)[0], tree, self._root), name, ""
        return self._listed(values, tree, len(shape)), name, ""

    def _listed(self, values: Any, tree: dict[str, Any], ndim: int) -> Any:
        if tree["kind"] == "array":
            tree = tree["of"]
        if tree["kind"] == "plain" and values.dtype.kind in "biuf" and values.dtype.itemsize <= 8:
            return values.tolist()
        if values.ndim <= 1:
            return [_plain(each, tree, self._root) for each in values]
        return [self._listed(each, tree, ndim - 1) for each in values]

    # Arrays

    def _dataset(self, dataset: Any, path: str) -> Any:
        made, kind, space = dataset.get_create_plist(), dataset.get_type(), dataset.get_space()
        address = h5o.get_info(dataset).addr
        told: dict[str, Any] = {"array": path, "address": str(address), "type": _type(kind)}
        first = self._seen.setdefault(address, path)
        if first != path:
            told["same"] = first
        told["attributes"] = self._attributes(dataset)
        if space.get_simple_extent_type() == h5s.NULL:
            return {**told, "null": True}
        told["shape"] = list(space.get_simple_extent_dims())
        told["most"] = [
            None if side == h5s.UNLIMITED else side for side in space.get_simple_extent_dims(True)
        ]
        told["size"] = kind.get_size()
        self._add_scales(dataset, told)
        layout = made.get_layout()
        if made.get_external_count() or layout == h5d.VIRTUAL:
            told["elsewhere"] = _elsewhere(made)
            return told
        self._add_fill(dataset, made, told)
        told["filters"] = _filters(made)
        return self._stored(dataset, made, layout, told)

    def _add_scales(self, dataset: Any, told: dict[str, Any]) -> None:
        """Tell whether it is the scale of a dimension, and the addresses of those of its own."""
        told["is_scale"] = bool(h5ds.is_scale(dataset))
        if not h5a.exists(dataset, b"DIMENSION_LIST"):
            return
        scales: list[str | None] = []
        for axis in range(len(told["shape"])):
            found: list[str] = []

            def take(scale: Any, found: list[str] = found) -> bool:
                found.append(str(h5o.get_info(scale).addr))
                return True

            try:
                if h5ds.get_num_scales(dataset, axis):
                    h5ds.iterate(dataset, axis, take)
            except _FAILURES:
                found.clear()
            scales.append(found[0] if found else None)
        told["scales"] = scales

    def _add_fill(self, dataset: Any, made: Any, told: dict[str, Any]) -> None:
        told["fill"] = None
        tree = told["type"]
        try:
            if made.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED:
                return
            if tree["kind"] == "string":
                text = np.zeros((), h5t.string_dtype())
                made.get_fill_value(text)
                told["fill"] = {"text": _bytes_of(text.reshape(-1)[0], self._root).decode("utf-8", "replace")}
            elif tree["kind"] in ("plain", "structure") and not dataset.dtype.hasobject:
                value = np.zeros((), dataset.dtype)
                made.get_fill_value(value)
                told["fill"] = {"hex": value.astype(_memory(tree)).tobytes().hex()}
        except _FAILURES:
            told["fill"] = None

    def _stored(self, dataset: Any, made: Any, layout: int, told: dict[str, Any]) -> Any:
        """Add where the bytes of an array are."""
        if layout == h5d.CONTIGUOUS:
            return {**told, "layout": "contiguous", "offset": dataset.get_offset(),
                    "stored": dataset.get_storage_size()}  # fmt: skip
        if layout == h5d.COMPACT:
            told["layout"] = "compact"
            if _is_bytes(told["type"]):
                values = np.empty(tuple(told["shape"]), f"V{told['size']}")
                dataset.read(h5s.ALL, h5s.ALL, values, dataset.get_type())
                return told, values.reshape(-1).view(np.uint8)
            return told
        told["layout"], told["chunks"] = "chunked", list(made.get_chunk())
        _need_plugins(dataset)
        told["missing_filters"] = [one[0] for one in told["filters"] if not h5z.filter_avail(one[0])]
        if not _is_bytes(told["type"]):
            return told
        count = dataset.get_num_chunks()
        self._chunks -= count
        if self._chunks < 0:
            told["error"] = "the file has more chunks than are listed"
            return told
        if not count:
            return told
        return told, *chunks.columns_of(dataset, told["chunks"], count, self._read, self._base)


def _elsewhere(made: Any) -> str:
    """Return where values are that are not in the array itself."""
    if made.get_layout() != h5d.VIRTUAL:
        names = [_text(made.get_external(at)[0]) for at in range(min(made.get_external_count(), 3))]
        return f"its values are in other files, which are not opened: {', '.join(names)}"
    try:
        files = sorted({made.get_virtual_filename(at) for at in range(min(made.get_virtual_count(), 100))})
    except _FAILURES:
        files = []
    more = f": {', '.join(files[:3])}" if files else ""
    return f"it is a virtual dataset, put together from others, which are not opened{more}"


def _is_bytes(tree: dict[str, Any]) -> bool:
    """Whether elements lie where they are stored, as numpy holds them."""
    kind = tree["kind"]
    if kind == "plain":
        return bool(tree["exact"])
    if kind == "array":
        return _is_bytes(tree["of"])
    return kind == "structure" and all(_is_bytes(of) for _, _, of in tree["fields"])


def _filters(made: Any) -> list[Any]:
    return [
        [number, flags, list(values), _text(name)]
        for number, flags, values, name in (made.get_filter(at) for at in range(made.get_nfilters()))
    ]


def _type_name(tree: dict[str, Any]) -> str:
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
