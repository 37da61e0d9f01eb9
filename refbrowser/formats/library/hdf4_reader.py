"""What knows HDF4, in the process of `worker`: it imports nothing of ours.

pyhdf tells arrays, groups and attributes, and reads values; where these lie is read of the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
from pyhdf.error import HDF4Error
from pyhdf.HDF import HDF
from pyhdf.SD import SD, SDC
from pyhdf.V import V  # noqa: F401 - it adds groups to what HDF gives
from pyhdf.VS import VS  # noqa: F401 - and tables


def _beside(name: str) -> Any:
    """Return a module that lies beside this one and imports nothing of ours either."""
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layouts = _beside("hdf4_layout")

_FAILURES = (
    HDF4Error, OSError, RuntimeError, ValueError, LookupError, TypeError, MemoryError, ArithmeticError,
    AttributeError,
)  # fmt: skip
#: Types of elements: as numpy has them, as netCDF calls them.
_TYPES = {
    SDC.CHAR8: ("S1", "char"), SDC.UCHAR8: ("u1", "ubyte"), SDC.INT8: ("i1", "byte"),
    SDC.UINT8: ("u1", "ubyte"), SDC.INT16: ("i2", "short"), SDC.UINT16: ("u2", "ushort"),
    SDC.INT32: ("i4", "int"), SDC.UINT32: ("u4", "uint"), SDC.FLOAT32: ("f4", "float"),
    SDC.FLOAT64: ("f8", "double"),
}  # fmt: skip
#: What the library of arrays keeps for itself: classes of groups.
_INTERNAL = re.compile(r"(Var|Dim|UDim|CDF|Attr|DimVal|RI|RIATTR)\d|_HDF_|SDSVar|CoordVar")
_ARRAY, _VGROUP = 720, 1965
#: Descriptors of a file.
_DESCRIPTORS = 5_000_000
#: Tables that are named.
_NAMED = 5
#: Groups in groups.
_DEPTH = 64
#: Places of groups that are in several others, beyond one for each.
_PLACES = 10_000


class Hdf4Reader:
    """Reads one file."""

    def open(self, place: Any) -> dict[str, Any]:
        """Open a file by its path: the library of HDF4 opens nothing else."""
        if not isinstance(place, str):
            raise TypeError("pyhdf reads files of this machine only")
        self._path = place
        self._numbers: dict[str, int] = {}
        self._layouts: Any = None
        self._unread = ""
        try:
            self._layouts = layouts.Hdf4Layouts(place, _DESCRIPTORS)
        except ValueError as error:
            self._unread = f"where its elements are cannot be read: {error}"[:300]
        try:
            self._arrays = SD(place, SDC.READ)
        except HDF4Error as error:
            raise ValueError(self._lacking or self._unread or str(error)) from None
        return {}

    @property
    def _lacking(self) -> str:
        """How much of the file is not there; empty where all is, or nobody knows it."""
        return "" if self._layouts is None else str(self._layouts.lacking)

    def close(self) -> None:
        """Close the file."""
        if self._layouts is not None:
            self._layouts.close()
        self._arrays.end()

    def do_describe(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell groups and arrays, and where the chunks of these are."""
        self._room, self._largest = request["attributes"], request["attribute"]
        yield {"group": "/", "attributes": self._attributes(self._arrays)}
        places: dict[int, str] = {}
        try:
            yield from self._groups(request["objects"], places)
        except _FAILURES as error:
            yield {"problem": f"its groups cannot be listed: {error}"[:300]}
        if self._unread or self._lacking:
            yield {"cut" if self._lacking else "problem": self._lacking or self._unread}
        count = min(self._arrays.info()[0], request["objects"])
        for number in range(count):
            try:
                told, data = self._array(number, places)
            except _FAILURES as error:
                yield {"array": f"/array_{number}", "error": f"{type(error).__name__}: {error}"[:500]}
                continue
            yield told, *data
        if self._layouts is not None and self._layouts.pictures:
            yield {"problem": "its pictures are not shown: pyhdf reads arrays alone"}
        try:
            tables = self._tables()
        except _FAILURES as error:
            yield {"problem": f"its tables cannot be listed: {error}"[:300]}
            return
        if tables:
            more = f" and {len(tables) - _NAMED} more" if len(tables) > _NAMED else ""
            yield {"problem": f"its tables (Vdatas) are not shown: {', '.join(tables[:_NAMED])}{more}"}

    def do_read(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the values of a box of an array."""
        start = [first for first, _ in request["box"]]
        yield {}, self._values(request["path"], start, [last - first for first, last in request["box"]])

    def do_chunk(self, request: dict[str, Any]) -> Iterator[Any]:
        """Tell the stored bytes of a chunk, and its elements."""
        array = self._arrays.select(self._number(request["path"]))
        shape = self._shape(array)
        layout = self._layout(array, len(shape))
        sides = layout.chunks or tuple(max(side, 1) for side in shape)
        wanted = tuple(at // side for at, side in zip(request["start"], sides, strict=True))
        for coords, offset, length in layout.stored:
            if coords in (wanted, ()):
                yield {}, self._layouts.bytes_at(offset, length)
                break
        else:
            raise KeyError(f"it has no chunk {wanted}")
        yield {}, self._values(request["path"], request["start"], request["count"])

    # Groups

    def _groups(self, most: int, places: dict[int, str]) -> Iterator[Any]:
        """Tell the groups that users made, and note which arrays are in them."""
        file = HDF(self._path)
        groups = file.vgstart()
        try:
            known = self._known_groups(groups, most)
            inner = {ref for _, _, members in known.values() for tag, ref in members if tag == _VGROUP}
            for ref in known:
                if ref not in inner:
                    yield from self._below(groups, known, ref, "", places, ())
        finally:
            groups.end()
            file.close()

    def _tables(self) -> list[str]:
        """Return the names of tables that users made."""
        file = HDF(self._path)
        tables = file.vstart()
        try:
            found = tables.vdatainfo()
            return [_text(name) for name, kind, *_ in found if not _INTERNAL.match(kind)]
        finally:
            tables.end()
            file.close()

    def _known_groups(self, groups: Any, most: int) -> dict[int, tuple[str, str, list[tuple[int, int]]]]:
        known: dict[int, tuple[str, str, list[tuple[int, int]]]] = {}
        ref = -1
        while len(known) < most:
            try:
                ref = groups.getid(ref)
            except HDF4Error:
                return known
            group = groups.attach(ref)
            try:
                name, kind = group._name, group._class
                if not _INTERNAL.match(kind):
                    known[ref] = _text(name), _text(kind), group.tagrefs()
            finally:
                group.detach()
        return known

    def _below(
        self, groups: Any, known: Any, ref: int, above: str, places: dict[int, str], outer: tuple[int, ...]
    ) -> Iterator[Any]:
        name, kind, members = known[ref]
        # Groups may be in several others, as these may be: places may be very many more than groups.
        if len(self._numbers) >= len(known) + _PLACES:
            raise ValueError(f"{len(known)} groups are within each other in too many places")
        path = self._free(f"{above}/{_name(name) or f'group_{ref}'}")
        self._numbers[path] = -1
        told = [["hdf4_class", kind, "char", ""]] if kind else []
        yield {"group": path, "attributes": told + self._group_attributes(groups, ref)}
        for tag, inner in members:
            if tag == _ARRAY:
                places.setdefault(inner, path)
            elif tag == _VGROUP and inner in known and inner not in outer and len(outer) < _DEPTH:
                yield from self._below(groups, known, inner, path, places, (*outer, ref))

    def _group_attributes(self, groups: Any, ref: int) -> list[Any]:
        group = groups.attach(ref)
        try:
            told = []
            for name, (number, kind, _, size) in group.attrinfo().items():
                told.append(self._attribute(_text(name), kind, size, lambda at=number: group.attr(at).get()))
            return told
        except _FAILURES as error:
            return [["", None, "", f"they cannot be listed: {error}"[:300]]]
        finally:
            group.detach()

    # Arrays

    def _array(self, number: int, places: dict[int, str]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        array = self._arrays.select(number)
        name, rank, _, kind, _ = array.info()
        path = self._free(f"{places.get(array.ref(), '')}/{_name(_text(name)) or f'array_{number}'}")
        self._numbers[path] = number
        shape = self._shape(array)
        told: dict[str, Any] = {"array": path, "shape": shape, "attributes": self._attributes(array)}
        if kind & 0xFFF not in _TYPES:
            return told | {"error": f"elements of type {kind} are not known"}, ()
        stored, _ = _TYPES[kind & 0xFFF]
        layout = self._layout(array, rank)
        is_little = kind & 0x4000 or (self._layouts is not None and self._layouts.is_little(array.ref()))
        told["dtype"] = np.dtype(stored).newbyteorder("<" if is_little else ">").str
        told["dimensions"] = [_text(array.dim(axis).info()[0]) for axis in range(rank)]
        told["unlimited"] = bool(array.isrecord())
        told |= {"why": layout.why, "chunks": layout.chunks, "level": layout.level}
        told["elsewhere"] = layout.is_elsewhere
        coords = np.array([each[0] or (0,) * rank for each in layout.stored], np.int64).reshape(-1, rank)
        offsets, lengths = (np.array([each[at] for each in layout.stored], np.int64) for at in (1, 2))
        return told, (coords, offsets, lengths, np.zeros(len(offsets), np.uint32))

    def _layout(self, array: Any, rank: int) -> Any:
        if self._layouts is None:
            return layouts.Layout("where its elements are cannot be read")
        return self._layouts.of(array.ref(), rank)

    def _number(self, path: str) -> int:
        if path not in self._numbers:
            # Another process has told them.
            for _ in self.do_describe({"objects": 1 << 31, "attributes": 0, "attribute": 0}):
                pass
        return self._numbers[path]

    def _free(self, path: str) -> str:
        """Return a path that nothing has yet: names may be there twice."""
        number = 2
        found = path
        while found in self._numbers or found == "/":
            found, number = f"{path}_{number}", number + 1
        return found

    @staticmethod
    def _shape(array: Any) -> list[int]:
        sides = array.info()[2]
        return [int(each) for each in (sides if isinstance(sides, list | tuple) else [sides])]

    def _values(self, path: str, start: list[int], count: list[int]) -> Any:
        array = self._arrays.select(self._number(path))
        kind = array.info()[3] & 0xFFF
        is_little = array.info()[3] & 0x4000 or self._layouts.is_little(array.ref())
        dtype = np.dtype(_TYPES[kind][0]).newbyteorder("<" if is_little else ">")
        if 0 in count:
            return np.zeros(count, dtype)
        found = np.asarray(array.get(list(start), list(count)))
        if dtype.kind == "S":
            found = found.astype(np.uint8).view("S1") if found.dtype.kind in "iu" else found.astype("S1")
        return np.ascontiguousarray(found.reshape(count), dtype)

    # Attributes

    def _attributes(self, thing: Any) -> list[Any]:
        told = []
        count = thing.info()[1] if isinstance(thing, SD) else thing.info()[4]
        for number in range(count):
            try:
                attribute = thing.attr(number)
                name, kind, size = attribute.info()
                told.append(self._attribute(_text(name), kind, size, attribute.get))
            except _FAILURES as error:
                told.append(["", None, "", f"it cannot be read: {error}"[:300]])
        return told

    def _attribute(self, name: str, kind: int, size: int, get: Any) -> list[Any]:
        """Return an attribute: its name, its value, the name of its type, why there is no value."""
        if kind & 0xFFF not in _TYPES:
            return [name, None, "", f"its type {kind} is not known"]
        dtype, called = _TYPES[kind & 0xFFF]
        self._room -= size * np.dtype(dtype).itemsize
        if self._room < 0 or size * np.dtype(dtype).itemsize > self._largest:
            return [name, None, called, f"it has {size} elements, more than are read"]
        value = get()
        if kind & 0xFFF == SDC.CHAR8:
            text = value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
            return [name, _text(text).rstrip("\0"), called, ""]
        values = np.asarray(value).astype(dtype)
        return [
            name,
            values.tolist() if values.ndim and values.size != 1 else values.reshape(-1)[0].item(),
            called,
            "",
        ]


def _text(value: Any) -> str:
    """Return a text of the library, in which bytes that are no UTF-8 may stand as they are."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).encode("utf-8", "replace").decode("utf-8", "replace")


def _name(text: str) -> str:
    """Return a name as part of a path."""
    return text.replace("/", "_").rstrip("\0")


#: As the process calls it.
Reader = Hdf4Reader
