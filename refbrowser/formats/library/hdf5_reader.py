"""What knows HDF5, in the process of `worker`: it imports nothing of ours.

Links to other files are told and never followed, plug-ins never loaded but from the package hdf5plugin,
external storage and virtual datasets never read.
"""

from __future__ import annotations

import contextlib
import io
import math
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
from h5py import h5, h5a, h5d, h5ds, h5g, h5l, h5o, h5s, h5t, h5z


def _beside(name: str) -> Any:
    """Load a module that lies beside this one."""
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chunks, elements, headers = (_beside(f"hdf5_{each}") for each in ("chunks", "elements", "headers"))

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
#: Attributes that only HDF5 and netCDF-4 themselves need; their values are large, or references.
_UNREAD = (b"DIMENSION_LIST", b"REFERENCE_LIST")
#: Objects that are shown under further names than their first.
_AGAIN = 10_000
#: Scales of one dimension that are looked at.
_SCALES = 1_000
_LAYOUTS = {h5d.CONTIGUOUS: "contiguous", h5d.COMPACT: "compact", h5d.CHUNKED: "chunked"}
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
        """Tell the values of a box of an array: packed, as `elements.pack` says."""
        dataset = h5py.Dataset(self._at(request["path"]))
        box = tuple(slice(*each) for each in request["box"])
        _need_plugins(dataset.id)
        tree = elements.type_of(dataset.id.get_type())
        yield ({}, *elements.pack(elements.values_in(dataset, box, tree), tree, self._root))

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
    for _ in range(elements.DEPTH):
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
    raise ValueError("links form a cycle")


def _check_here(dataset: Any) -> None:
    """Raise where the values of an array are not in the file itself."""
    try:
        made = dataset.get_create_plist()
    except elements.FAILURES:
        # It is damaged. What has a place in the file is read from there.
        if dataset.get_offset() is None:
            raise
        return
    if made.get_external_count():
        raise ValueError("its values are in other files, which are not opened")
    if made.get_layout() == h5d.VIRTUAL:
        raise ValueError("it is a virtual dataset of other datasets, which are not opened")


def _need_plugins(dataset: Any) -> None:
    """Let filters be known that the package hdf5plugin brings, where an array has one."""
    try:
        made = dataset.get_create_plist()
        numbers = [made.get_filter(at)[0] for at in range(made.get_nfilters())]
    except elements.FAILURES:
        return
    if all(each not in _PLUGINS or h5z.filter_avail(each) for each in numbers):
        return
    # Without it the filter is not known, which the library says.
    with contextlib.suppress(Exception):
        import hdf5plugin  # noqa: F401 - it makes its filters known


# Objects


class _Walk:
    """Goes through a file, groups before what is in them."""

    def __init__(self, file: Any, request: dict[str, Any], cut: _Cut | None = None) -> None:
        self._root = file.id
        self._cut = cut
        self._base = file.userblock_size
        self._read = None if cut is not None else chunks.reading(file)
        self._headers = headers.Headers(file, self._read, chunks.messages)
        self._objects = int(request["objects"])
        self._depth = int(request["depth"])
        self._room = int(request["attributes"])
        self._largest = int(request["attribute"])
        self._chunks = int(request["chunks"])
        self._small = int(request.get("small", 0)) if cut is None else 0
        #: The first path of each group, by address.
        self._seen: dict[Any, str] = {}
        #: Addresses of the groups that lead to where the walk is, with their paths there.
        self._above: dict[Any, str] = {}
        #: Objects that may still be shown under further names.
        self._again = min(_AGAIN, self._objects)

    def all(self) -> Iterator[Any]:
        """Tell all of it."""
        yield from self._group(h5g.open(self._root, b"/"), "", False)
        self._headers.keep()

    def _group(self, group: Any, path: str, is_again: bool) -> Iterator[Any]:
        """Tell a group and what is in it.

        Parameters
        ----------
        is_again
            The group, or one above it, has another name under which it is told too.
        """
        before = self._over
        try:
            names = self._names(group)
            address = self._address(group)
            attributes = self._attributes(group, self._headers.messages(address))
            if self._over > before:
                attributes = []
                yield {"problem": "parts of the group are beyond the end of the file", "path": path}
        except elements.FAILURES as error:
            yield {"group": path or "/", "attributes": [], "error": str(error)[:300]}
            return
        yield {"group": path or "/", "attributes": attributes}
        if not is_again:
            self._seen.setdefault(address, path or "/")
        self._above[address] = path or "/"
        below: list[tuple[bytes, str, bool]] = []
        for name in names:
            self._objects -= 1
            self._again -= is_again
            if self._objects < 0:
                yield {"problem": "it holds more objects than are listed"}
                break
            at = f"{path}/{name.decode('utf-8', 'surrogateescape')}"
            if self._again < 0:
                yield {
                    "problem": "it is not shown: groups with several names hold too many objects",
                    "path": at,
                }
                continue
            before = self._over
            try:
                told = list(self._member(group, name, at, is_again, below))
                if self._over > before:
                    told = [{"array": at, "error": "its description is beyond the end of the file"}]
                yield from told
            except elements.FAILURES as error:
                yield {"array": at, "error": str(error)[:300]}
        for name, at, is_more in below:
            yield from self._below(group, name, at, is_more)
        del self._above[address]

    def _below(self, group: Any, name: bytes, path: str, is_again: bool) -> Iterator[Any]:
        """Tell a group in a group."""
        if len(self._above) >= self._depth:
            yield {"problem": "groups are nested too deep", "path": path}
            return
        try:
            opened = _opened(group, name)
        except elements.FAILURES as error:
            yield {"group": path, "attributes": [], "error": str(error)[:300]}
        else:
            yield from self._group(opened, path, is_again)

    @staticmethod
    def _address(found: Any) -> Any:
        """Return the address of an object in the file; the object itself where it has none."""
        try:
            return chunks.address_of(found)
        except elements.FAILURES:
            return found

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
        except elements.FAILURES:
            names.clear()
            group.links.iterate(take)
        return names

    def _member(
        self, group: Any, name: bytes, path: str, is_again: bool, below: list[tuple[bytes, str, bool]]
    ) -> Iterator[Any]:
        """Tell a member of a group; groups are added to `below`."""
        kind = group.links.get_info(name).type
        if kind == h5l.TYPE_EXTERNAL:
            file, target = group.links.get_val(name)
            yield {"link": path, "file": elements.text_of(file), "target": elements.text_of(target)}
            return
        if kind not in (h5l.TYPE_HARD, h5l.TYPE_SOFT):
            yield {"problem": "a link of a kind that is not known is not followed", "path": path}
            return
        try:
            found = _opened(group, name)
        except elements.FAILURES:
            if kind == h5l.TYPE_HARD:
                raise
            yield {"problem": "a broken link", "path": path}
            return
        if isinstance(found, h5g.GroupID):
            address = self._address(found)
            if address in self._above:
                where = self._above[address]
                yield {
                    "problem": f"a link back to the group {where}, in which it is: not followed",
                    "path": path,
                }
                return
            is_further = is_again or kind != h5l.TYPE_HARD
            first = self._seen.get(address) if is_further else self._seen.setdefault(address, path)
            below.append((name, path, is_further or first != path))
            if kind == h5l.TYPE_HARD and first not in (None, path) and not is_again:
                yield {"problem": f"it is a second name of the group {first}", "path": path}
        elif isinstance(found, h5d.DatasetID):
            told = self._dataset(found, path)
            yield told
            yield from self._small_values(found, told[0] if isinstance(told, tuple) else told)
        elif isinstance(found, h5t.TypeID):
            yield {"named": path, "type": elements.type_of(found)}

    # Attributes

    def _attributes(self, found: Any, messages: Any) -> list[Any]:
        words = headers.words_of_attributes(messages)
        names: list[bytes] = []

        def take(name: bytes, *rest: Any) -> None:
            names.append(name)

        try:
            h5a.iterate(found, take, index_type=h5.INDEX_CRT_ORDER)
        except elements.FAILURES:
            names.clear()
            try:
                h5a.iterate(found, take)
            except elements.FAILURES as error:
                return [["", None, "", f"those that follow cannot be listed: {error}"[:300]]]
        told = []
        for name in names:
            if name in _UNREAD:
                continue
            try:
                told.append(self._known_attribute(found, name, words.get(name)))
            except elements.FAILURES as error:
                told.append([elements.text_of(name), None, "", f"it cannot be read: {error}"[:300]])
        return told

    def _known_attribute(self, found: Any, name: bytes, words: bytes | None) -> list[Any]:
        """Return an attribute: its name, and what `_attribute` returns."""
        known, size = self._headers.known(words) or (None, 0)
        room = self._room
        if known is not None and size <= min(room, self._largest):
            self._room -= size
            return list(known)
        told = [elements.text_of(name), *self._attribute(h5a.open(found, name))]
        if not told[-1]:
            self._headers.note(words, (told, room - self._room))
        return told

    def _attribute(self, attribute: Any) -> tuple[Any, str, str]:
        """Return the value of an attribute, the name of its type, and why there is none."""
        tree = elements.type_of(attribute.get_type())
        name = elements.type_name(tree)
        space = attribute.get_space()
        if space.get_simple_extent_type() == h5s.NULL:
            return "" if name in ("char", "string") else [], name, ""
        shape = space.get_simple_extent_dims() if space.get_simple_extent_type() == h5s.SIMPLE else ()
        if 0 in shape:
            return "" if name == "char" else [], name, ""
        size = attribute.get_storage_size()
        self._room -= size
        if size > self._largest or self._room < 0:
            return None, name, f"it has {size} bytes, more than are read"
        values = elements.attribute_values(attribute, tree, shape)
        if values.size == 1 and tree["kind"] != "array":
            return elements.plain_of(values.reshape(-1)[0], tree, self._root), name, ""
        return self._listed(values, elements.innermost(tree)), name, ""

    def _listed(self, values: Any, tree: dict[str, Any]) -> Any:
        if tree["kind"] == "plain" and values.dtype.kind in "biuf" and values.dtype.itemsize <= 8:
            return values.tolist()
        if values.ndim <= 1:
            return [elements.plain_of(each, tree, self._root) for each in values]
        return [self._listed(each, tree) for each in values]

    # Arrays

    def _dataset(self, dataset: Any, path: str) -> Any:
        address = chunks.address_of(dataset)
        messages = self._headers.messages(address)
        words = headers.words_of_form(messages)
        form = self._headers.known(words)
        if form is None:
            form = self._form(dataset)
            if "layout" in form and "unknown_fill" not in form:
                self._headers.note(words, form)
        told = {"array": path, "address": str(address), **form}
        told["attributes"] = self._attributes(dataset, messages)
        if "null" in told:
            return told
        self._add_scales(dataset, messages, told)
        return self._stored(dataset, told) if "layout" in told else told

    def _form(self, dataset: Any) -> dict[str, Any]:
        """Return what an array is: type, shape, fill value, filters, layout; or why that is not known."""
        kind, space = dataset.get_type(), dataset.get_space()
        told: dict[str, Any] = {"type": elements.type_of(kind)}
        if space.get_simple_extent_type() == h5s.NULL:
            return {**told, "null": True}
        told["shape"] = list(space.get_simple_extent_dims())
        told["most"] = [
            None if side == h5s.UNLIMITED else side for side in space.get_simple_extent_dims(True)
        ]
        told["size"] = kind.get_size()
        try:
            made = dataset.get_create_plist()
        except elements.FAILURES as error:
            return {**told, "filters": [], "damaged": str(error)[:300]}
        layout = made.get_layout()
        if made.get_external_count() or layout == h5d.VIRTUAL:
            return {**told, "elsewhere": _elsewhere(made)}
        self._add_fill(dataset, made, told)
        told["filters"] = _filters(made)
        told["layout"] = _LAYOUTS[layout]
        if layout == h5d.CHUNKED:
            told["chunks"] = list(made.get_chunk())
            _need_plugins(dataset)
            told["missing_filters"] = [one[0] for one in told["filters"] if not h5z.filter_avail(one[0])]
        return told

    def _small_values(self, dataset: Any, told: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a small coordinate or time, where they are asked for."""
        tree = told["type"]
        if tree["kind"] != "plain" or not tree["exact"] or {"class", "names"} & tree.keys():
            return
        sides = max(told.get("shape", ()), told.get("chunks", ()), key=math.prod)
        if (
            "layout" not in told
            or told.get("missing_filters")
            or math.prod(sides) * told["size"] > self._small
        ):
            return
        units = next((value for name, value, *_ in told["attributes"] if name == "units"), None)
        if not (told["is_scale"] or (isinstance(units, str) and " since " in units)):
            return
        # Where it cannot be read, that is said to who reads it.
        with contextlib.suppress(*elements.FAILURES):
            if dataset.get_storage_size():
                values = np.empty(tuple(told["shape"]), tree["dtype"])
                dataset.read(h5s.ALL, h5s.ALL, values, elements.stored_as(values.dtype))
                yield {"values": told["array"]}, values.reshape(-1).view(np.uint8)

    def _add_scales(self, dataset: Any, messages: Any, told: dict[str, Any]) -> None:
        """Tell whether it is the scale of a dimension, and the addresses of those of its own."""
        told["is_scale"] = bool(h5ds.is_scale(dataset))
        listed = self._headers.scales(messages, len(told["shape"]))
        if listed is not None:
            told["scales"] = listed
            return
        if not _has_scales(dataset, len(told["shape"])):
            return
        scales: list[str | None] = []
        for axis in range(len(told["shape"])):
            found: list[str] = []

            def take(scale: Any, found: list[str] = found) -> bool | None:
                found.append(str(chunks.address_of(scale)))
                return True if len(found) >= _SCALES else None

            try:
                h5ds.iterate(dataset, axis, take)
            except elements.FAILURES:
                found.clear()
            # Of several netCDF takes the last one.
            scales.append(found[-1] if found else None)
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
                told["fill"] = {
                    "text": elements.bytes_of(text.reshape(-1)[0], self._root).decode("utf-8", "replace")
                }
            elif tree["kind"] == "array" or elements.has_nested_arrays(tree):
                told["unknown_fill"] = "the fill value of its elements is an array"
            elif not elements.memory_of(tree).hasobject:
                value = np.zeros(1, dataset.dtype)
                made.get_fill_value(value)
                packed = b"".join(each.tobytes() for each in elements.pack(value, tree, self._root))
                told["fill"] = {"hex": packed.hex()}
        except elements.FAILURES as error:
            told["unknown_fill"] = f"its fill value cannot be read: {error}"[:300]

    def _stored(self, dataset: Any, told: dict[str, Any]) -> Any:
        """Add where the bytes of an array are."""
        if told["layout"] == "contiguous":
            return {**told, "offset": dataset.get_offset(), "stored": dataset.get_storage_size()}
        if told["layout"] == "compact":
            if elements.is_bytes(told["type"]):
                values = np.empty(tuple(told["shape"]), f"V{told['size']}")
                dataset.read(h5s.ALL, h5s.ALL, values, dataset.get_type())
                return told, values.reshape(-1).view(np.uint8)
            return told
        if not elements.is_bytes(told["type"]):
            return told
        count = dataset.get_num_chunks()
        self._chunks -= count
        if self._chunks < 0:
            told["error"] = "the file has more chunks than are listed"
            return told
        if not count:
            return told
        return told, *chunks.columns_of(dataset, told["chunks"], count, self._read, self._base)


def _has_scales(dataset: Any, ndim: int) -> bool:
    """Tell whether an array lists scales: where another attribute has that name HDF5 may crash."""
    if not h5a.exists(dataset, b"DIMENSION_LIST"):
        return False
    attribute = h5a.open(dataset, b"DIMENSION_LIST")
    kind = attribute.get_type()
    is_list = kind.get_class() == h5t.VLEN and kind.get_super().get_class() == h5t.REFERENCE
    return is_list and attribute.get_space().get_simple_extent_npoints() == ndim


def _elsewhere(made: Any) -> str:
    """Return where values are that are not in the array itself."""
    if made.get_layout() != h5d.VIRTUAL:
        names = [
            elements.text_of(made.get_external(at)[0]) for at in range(min(made.get_external_count(), 3))
        ]
        return f"its values are in other files, which are not opened: {', '.join(names)}"
    try:
        files = sorted({made.get_virtual_filename(at) for at in range(min(made.get_virtual_count(), 100))})
    except elements.FAILURES:
        files = []
    more = f": {', '.join(files[:3])}" if files else ""
    return f"it is a virtual dataset of other datasets, which are not opened{more}"


def _filters(made: Any) -> list[Any]:
    return [
        [number, flags, list(values), elements.text_of(name)]
        for number, flags, values, name in (made.get_filter(at) for at in range(made.get_nfilters()))
    ]
