"""Variables of a DMR++ as arrays, whose chunks are ranges of the file that it describes."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.xml_elements import Element
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType, EnumerationType
from refbrowser.model.fill_values import parse_fill_value
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec, GroupNode
from refbrowser.model.values import Chunks
from refbrowser.references.content.origins import Fact, FileOrigin
from refbrowser.references.document.manifest import ManifestBuilder, unheld_name
from refbrowser.wings.dmrpp.reading.dmr_text import ChunkColumns, DmrElement

#: Types of DAP4 (4.0, section 3.4) whose elements have a size, as numpy has them.
SIZED = {
    "Byte": "u1",
    "Char": "S1",
    **{
        f"{sign}{bits}": f"{kind}{bits // 8}"
        for sign, kind in (("Int", "i"), ("UInt", "u"))
        for bits in (8, 16, 32, 64)
    },
    "Float32": "f4",
    "Float64": "f8",
}
_TEXTS = ("String", "URL", "URI")
_VARIABLES = (*SIZED, *_TEXTS, "Structure", "Sequence", "Enum", "Opaque")
#: Types of attributes, as netCDF calls them.
OF_NETCDF = {
    "Byte": "ubyte", "Char": "char", "Int8": "byte", "UInt8": "ubyte", "Int16": "short", "UInt16": "ushort",
    "Int32": "int", "UInt32": "uint", "Int64": "int64", "UInt64": "uint64", "Float32": "float",
    "Float64": "double", "String": "string", "URL": "string", "URI": "string",
}  # fmt: skip
#: The type of attributes that hold others, and the one that says how a description was made.
CONTAINER, METADATA = "Container", "build_dmrpp_metadata"
#: The order in which HDF5 applies filters; texts without a version may say another one.
_FILTERS = ("shuffle", "deflate", "fletcher32")
#: Stands for the URL of the file until a server puts it in.
TO_BE_NAMED = "OPeNDAP_DMRpp_DATA_ACCESS_URL"


@dataclass(frozen=True, slots=True)
class DmrOrigin(FileOrigin):
    """The description that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    file
        Where the file lies that is described.
    recorded
        What is said of how the description was made, and of the file then, by name.
    """

    file: str = ""
    facts: Sequence[Fact] = ()
    recorded: Mapping[str, str] = field(default_factory=dict)

    def told(self) -> Sequence[Fact]:
        """Return the file that it describes, and who wrote it."""
        return self.facts


@dataclass(eq=False)
class DmrArrays:
    """Makes the nodes of a description, and adds them and their chunks to a manifest.

    Parameters
    ----------
    root
        Its root.
    url_of
        Returns where a file lies that is named in it; the file that is described where nothing is named.
    """

    root: Element
    url_of: Callable[[str], str]
    findings: list[Finding] = field(default_factory=list)
    _sizes: dict[str, int] = field(default_factory=dict)
    #: Bytes that packed values in the text may still take.
    _unpacked_left: int = field(default_factory=lambda: LIMITS.chunk_size)
    #: Enumerations by path, as they are declared.
    _enumerations: dict[str, Element] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Where the file lies that is described."""
        return self.url_of(_named(self.root.attributes.get("dmrpp:href", "")))

    @property
    def recorded(self) -> dict[str, str]:
        """What is said of how the description was made, by name: texts."""
        held = (each for each in self.root.named("Attribute") if each.attributes.get("name") == METADATA)
        said = (each for one in held for each in one.named("Attribute"))
        return {each.attributes.get("name", ""): value.text for each in said for value in each.named("Value")}

    def add_to(self, manifest: ManifestBuilder) -> None:
        """Add all nodes, and all chunks."""
        self._add_group(manifest, self.root, "/")

    def _add_group(self, manifest: ManifestBuilder, group: Element, path: str) -> None:
        for each in group.named("Dimension"):
            self._sizes[_below(path, each.attributes.get("name", ""))] = _whole(each.attributes.get("size"))
        for each in group.named("Enumeration"):
            self._enumerations[_below(path, each.attributes.get("name", ""))] = each
        attributes, types = self._attributes(group, path)
        manifest.add_node(GroupNode(path=path, attributes=attributes, attribute_types=types))
        for each in group.named(*_VARIABLES):
            self._add_array(manifest, each, _below(path, each.attributes.get("name", "")))
        for each in group.named("Group"):
            below = _below(path, each.attributes.get("name", ""))
            if self._is_held(below):
                self._add_group(manifest, each, below)

    def _is_held(self, path: str) -> bool:
        unheld = unheld_name(path)
        if unheld is not None:
            self.findings.append(unheld)
        return unheld is None

    def _add_array(self, manifest: ManifestBuilder, variable: Element, path: str) -> None:
        if not self._is_held(path):
            return
        chunks: dict[str, Any] | None = None
        data = None
        try:
            node, data = self._array(variable, path)
            if data is None:
                chunks = self._ranges(variable, node)
        except RefbrowserError as error:
            error = error.at(Place(path=path, line=variable.line, column=1))
            self._note(error.message, path, Severity.FAULT)
            manifest.add_node(ArrayNode(path=path, error=error, type=DataType.of(np.dtype("u1"))))
            return
        manifest.add_node(node)
        if data is not None:
            manifest.add_bytes(node.key_prefix + ".".join("0" * max(len(node.shape), 1)), data)
        elif chunks is not None:
            manifest.add_ranges(node.key_prefix, **chunks)

    def _array(self, variable: Element, path: str) -> tuple[ArrayNode, bytes | None]:
        """Return an array, and its only chunk where that stands in the text."""
        dimensions = [self._dimension(each, path) for each in variable.named("Dim")]
        shape = tuple(size for _, size in dimensions)
        if len(shape) > LIMITS.rank:
            raise RefbrowserError(ErrorKind.BUDGET, f"it has more than {LIMITS.rank} dimensions (rank)")
        told = variable.first("dmrpp:chunks")
        order = "<" if told is None or told.attributes.get("byteOrder", "LE") == "LE" else ">"
        data = self._within(variable, prod(shape))
        if (texts := variable.first("dmrpp:vlsa")) is not None:
            values = _texts(texts, prod(shape))
            dtype, data = values.dtype, values.tobytes()
        elif data is not None and not shape and variable.name in _TEXTS:
            values = np.array(data.decode("utf-8", "replace"))
            dtype = np.dtype(f"<U{max(values.itemsize // 4, 1)}")
            data = values.astype(dtype).tobytes()
        else:
            dtype = self._dtype(variable, told, order, path)
        names = tuple(name for name, _ in dimensions)
        attributes, types = self._attributes(variable, path)
        sides, codecs = shape, tuple[CodecSpec, ...]()
        if told is not None and data is None:
            sides = _sides(told, shape)
            codecs = self._codecs(told, dtype.itemsize)
        if data is not None and len(data) != prod(shape) * dtype.itemsize:
            raise _wrong(f"its values take {len(data)} bytes, not {prod(shape) * dtype.itemsize}")
        grid = RegularChunkGrid(shape, tuple(max(side, 1) for side in sides))
        node = ArrayNode(
            path=path,
            shape=shape,
            type=self._named_values(variable, path, dtype),
            dimensions=names,
            attributes=attributes,
            attribute_types=types,
            internal_attributes={DIMENSIONS_ATTRIBUTE: list(names)} if all(names) else {},
            fill_value=_fill(told, dtype),
            fill_marks=False,
            values=Chunks(grid=grid, codecs=codecs),
        )
        return node, data

    def _dimension(self, said: Element, path: str) -> tuple[str | None, int]:
        """Return the last name of a dimension, None of one without a name, and its length."""
        name = said.attributes.get("name")
        if name is None:
            return None, _whole(said.attributes.get("size"))
        full = name if name.startswith("/") else _below(path.rpartition("/")[0] or "/", name)
        if full not in self._sizes:
            raise _wrong(f"no group declares its dimension {quoted(name)}")
        return full.rpartition("/")[2], self._sizes[full]

    def _enumeration(self, variable: Element, path: str) -> Element:
        """Return the declaration of the enumeration that a variable is of."""
        name = variable.attributes.get("enum", "")
        full = name if name.startswith("/") else _below(path.rpartition("/")[0] or "/", name)
        if full not in self._enumerations:
            raise _wrong(f"no group declares its enumeration {quoted(name)}")
        return self._enumerations[full]

    def _named_values(self, variable: Element, path: str, dtype: np.dtype[Any]) -> DataType:
        """Return the type of an array; of one of an enumeration with the names of values."""
        plain = DataType.of(dtype)
        if variable.name != "Enum":
            return plain
        said = self._enumeration(variable, path)
        constants = list(said.named("EnumConst"))
        try:
            numbers = [int(each.attributes.get("value", "")) for each in constants]
        except ValueError:
            raise _wrong("a value of its enumeration is no integer") from None
        names = [each.attributes.get("name", "") for each in constants]
        named = dict(zip(numbers, names, strict=True))
        return EnumerationType(dtype, plain.name, named, said.attributes.get("name", ""))

    def _dtype(self, variable: Element, told: Element | None, order: str, path: str) -> np.dtype[Any]:
        name = variable.name
        if name == "Enum":
            base = SIZED.get(self._enumeration(variable, path).attributes.get("basetype", ""), "")
            if base[:1] not in ("i", "u"):
                raise _wrong("its enumeration is not of integers")
            return np.dtype(order + base)
        if name in SIZED:
            return np.dtype(order + SIZED[name])
        if name == "Structure":
            return self._structure(variable, told, order)
        if name not in _TEXTS:
            raise _wrong(f"arrays of type {name} are not read")
        fixed = variable.first("dmrpp:FixedLengthStringArray")
        if fixed is not None:
            return np.dtype(f"S{_length(_whole(fixed.attributes.get('string_length')))}")
        columns = _columns(variable)
        fill = told.attributes.get("fillValue") if told is not None else None
        if columns is None and fill is not None and not any(variable.named("Dim")):
            # It holds its fill value, and no more is said.
            return np.dtype(f"S{_length(max(len(fill.encode()), 1))}")
        if columns is None or len(columns) != 1 or any(variable.named("Dim")):
            raise _wrong("it does not say how long its texts are")
        return np.dtype(f"S{_length(columns.sizes[0])}")

    def _structure(self, variable: Element, told: Element | None, order: str) -> np.dtype[Any]:
        """Return the type of a structure of numbers: its members, their offsets and its size are said."""
        members = list(variable.named(*_VARIABLES))
        offsets = [
            0,
            *map(_whole, (told.attributes.get("structOffset", "") if told is not None else "").split()),
        ]
        if len(offsets) != len(members) + 1 or not all(each.name in SIZED for each in members):
            raise _wrong("structures are read whose members are numbers, and whose offsets are said")
        types = []
        for each in members:
            sides = tuple(self._dimension(side, "/")[1] for side in each.named("Dim"))
            plain = np.dtype(order + SIZED[each.name])
            types.append(np.dtype((plain, sides)) if sides else plain)
        spec: Any = {
            "names": [each.attributes.get("name", "") for each in members],
            "formats": types,
            "offsets": offsets[:-1],
            "itemsize": _length(offsets[-1]),
        }
        try:
            return np.dtype(spec)
        except ValueError as error:
            raise _wrong(f"its members do not fit: {quoted(error)}") from None

    def _within(self, variable: Element, count: int) -> bytes | None:
        """Return values that stand in the text; None where they are in the file."""
        compact, missing = variable.first("dmrpp:compact"), variable.first("dmrpp:missingdata")
        if variable.first("dmrpp:specialstructuredata") is not None:
            raise _wrong("structures whose values stand in the text are not read")
        held = compact or missing
        if held is None:
            return None
        try:
            data = base64.b64decode(held.text.encode())
            # One element alone is not packed.
            if held is missing and count != 1:
                plain = SIZED.get(variable.name)
                size = LIMITS.inline_value if plain is None else count * np.dtype(plain).itemsize
                data = _inflated(data, min(size, self._unpacked_left))
                self._unpacked_left -= len(data)
            return data
        except (ValueError, zlib.error) as error:
            raise _wrong(f"the values in the text cannot be decoded: {quoted(error)}") from None

    def _codecs(self, told: Element, size: int) -> tuple[CodecSpec, ...]:
        """Return the filters in the order in which they were applied."""
        words = told.attributes.get("compressionType", "").split()
        if "dmrpp:version" not in self.root.attributes:
            words.sort(key=lambda word: _FILTERS.index(word) if word in _FILTERS else len(_FILTERS))
        levels = told.attributes.get("deflateLevel", told.attributes.get("deflate_level", "")).split()
        made = []
        for word in words:
            if word == "shuffle":
                made.append(CodecSpec("shuffle", {"elementsize": size}))
            elif word == "deflate":
                level = _whole(levels.pop(0)) if levels else 1
                made.append(CodecSpec("zlib", {"level": min(level, 9)}))
            elif word == "fletcher32":
                made.append(CodecSpec("fletcher32"))
            else:
                raise _wrong(f"its filter {quoted(word)} is not one of DMR++: {', '.join(_FILTERS)}")
        return tuple(made)

    def _ranges(self, variable: Element, node: ArrayNode) -> dict[str, Any] | None:
        """Return the chunks of an array as `ManifestBuilder.add_ranges` takes them; None for none."""
        columns = _columns(variable)
        if columns is None:
            self._check_source(variable)
            return None
        if columns.has_links:
            raise _wrong("its chunks are put together from blocks of HDF4, which references cannot say")
        if columns.masks:
            raise _wrong("filters were left out for some of its chunks, which references cannot say")
        sides = np.array(node.grid.regular.chunk_shape, np.int64)
        if len(columns.places):
            try:
                positions = columns.positions(len(node.shape))
            except ValueError:
                raise _wrong(f"the positions of its chunks are not of {len(node.shape)} dimensions") from None
            coords = positions // np.maximum(sides, 1)
            is_within = (positions >= 0) & (coords < np.array(node.grid.grid_shape))
            if (coords * sides != positions).any() or not is_within.all():
                raise _wrong("positions of its chunks are not in its grid")
            if (repeated := _repeated(coords)) is not None:
                at = [int(each) for each in repeated * sides]
                raise _wrong(f"several of its chunks are at the position {at}")
        elif len(columns) == 1 and node.grid.size == 1:
            coords = np.zeros((1, max(len(node.shape), 1)), np.int64)
        else:
            raise _wrong("it does not say where its chunks are in the array")
        urls = [self.url_of(_named(each)) for each in columns.named]
        return {
            "coords": coords,
            "offsets": np.array(columns.offsets, np.int64),
            "lengths": np.array(columns.sizes, np.int64),
            # Those that name no file are of the last one.
            "urls": [*urls, self.file],
            "url": np.where(np.array(columns.urls) < 0, len(urls), np.array(columns.urls)),
        }

    def _check_source(self, variable: Element) -> None:
        """Raise where nothing says where the values are: they are not to be taken for fill values."""
        told = variable.first("dmrpp:chunks")
        if any(True for _ in (told or variable).named("dmrpp:block")):
            raise _wrong("it is stored in blocks of HDF4, which references cannot say")
        if told is None or told.attributes.get("fillValue") is None:
            raise _wrong("it does not say where its values are")

    def _attributes(self, element: Element, path: str) -> tuple[dict[str, Any], dict[str, str]]:
        values: dict[str, Any] = {}
        types: dict[str, str] = {}
        for each in element.named("Attribute"):
            name, kind = each.attributes.get("name", ""), each.attributes.get("type", "")
            if name == METADATA and kind == CONTAINER:
                continue
            if kind not in OF_NETCDF:
                self._note(f"its attribute {quoted(name)} of type {quoted(kind)} is not shown", path)
                continue
            texts = [value.text or value.attributes.get("value", "") for value in each.named("Value")]
            try:
                found = texts if kind in _TEXTS else [_number(text, SIZED[kind]) for text in texts]
            except (ValueError, OverflowError, RefbrowserError):
                self._note(f"its attribute {quoted(name)} holds other values than {kind}", path)
                continue
            values[name] = found[0] if len(found) == 1 else found
            types[name] = OF_NETCDF[kind]
        return values, types

    def _note(self, message: str, path: str, severity: Severity = Severity.WARNING) -> None:
        place = Place(path=path)
        self.findings.append(Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=place))


def _columns(variable: Element) -> ChunkColumns | None:
    told = variable.first("dmrpp:chunks")
    found = (each.chunks for each in (told, variable) if isinstance(each, DmrElement))
    return next((each for each in found if each), None)


def _repeated(coords: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    """Return a row that occurs more than once, of shape (ndim,); None where each occurs once."""
    if coords.shape[1] == 0:
        return coords[0] if len(coords) > 1 else None
    ordered = coords[np.lexsort(coords.T)]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    return ordered[int(same.argmax())] if same.any() else None


def _sides(told: Element, shape: tuple[int, ...]) -> tuple[int, ...]:
    said = told.first("dmrpp:chunkDimensionSizes")
    if said is None:
        return shape
    sides = tuple(_whole(each) for each in said.text.split())
    if len(sides) != len(shape) or 0 in sides:
        raise _wrong(f"chunks of {list(sides)} cannot tile an array of {list(shape)}")
    return sides


def _fill(told: Element | None, dtype: np.dtype[Any]) -> Any:
    """Return what chunks that are not stored hold."""
    said = told.attributes.get("fillValue") if told is not None else None
    if said is not None and dtype.kind == "S":
        text = said.encode()
        if len(text) > dtype.itemsize:
            raise _wrong(f"its fill value {quoted(said)} has more than {dtype.itemsize} bytes")
        return np.bytes_(text)
    if said is None or dtype.kind not in "iuf":
        return None
    try:
        return parse_fill_value(_number(said, dtype.str), dtype)
    except (ValueError, OverflowError):
        raise _wrong(f"its fill value {quoted(said)} is no {dtype.name}") from None


def _number(text: str, kind: str) -> Any:
    """Return the number in a text; of characters the character."""
    if kind == "S1":
        return text
    return float(text) if np.dtype(kind).kind == "f" else int(text)


def _texts(held: Element, count: int) -> npt.NDArray[Any]:
    """Return texts of any length, each said as often as it is there."""
    values: list[str] = []
    for each in held.named("v", "dmrpp:v"):
        times = _whole(each.attributes.get("c", each.attributes.get("dmrpp:c", "1")))
        if len(values) + times > count:
            raise _wrong(f"it has more texts than elements: {count}")
        values += [_text(each)] * times
    if len(values) != count:
        raise _wrong(f"it has {len(values)} texts for {count} elements")
    longest = max(map(len, values), default=0)
    if max(count, 1) * longest * 4 > LIMITS.chunk_size:
        raise RefbrowserError(ErrorKind.BUDGET, f"its texts take more than {LIMITS.chunk_size} bytes")
    return np.array(values, f"<U{max(longest, 1)}")


def _text(held: Element) -> str:
    """Return one of the texts of any length: with its size it is packed."""
    if held.attributes.get("s", held.attributes.get("dmrpp:s")) is None:
        return held.text
    try:
        return _inflated(base64.b64decode(held.text.encode()), LIMITS.inline_value).decode()
    except (ValueError, zlib.error) as error:
        raise _wrong(f"a text that is packed cannot be decoded: {quoted(error)}") from None


def _inflated(data: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj()
    # With room for one more its end is seen.
    made = unpacker.decompress(data, most + 1)
    if not unpacker.eof or len(made) > most:
        raise ValueError("the packed values are cut or too many")
    return made


def _whole(text: str | None) -> int:
    """Return a size that is said; raises where it is none."""
    if text is None or not text.strip().isascii() or not text.strip().isdecimal() or len(text) > 20:
        raise _wrong(f"{quoted(text)} is no size")
    return int(text)


def _length(size: int) -> int:
    """Return the bytes of an element; raises where there can be no such type."""
    if not 0 < size <= LIMITS.element_size:
        raise RefbrowserError(ErrorKind.BUDGET, f"an element of {size} bytes; at most {LIMITS.element_size}")
    return size


def _named(href: str) -> str:
    return "" if href == TO_BE_NAMED else href


def _below(path: str, name: str) -> str:
    return f"{path.rstrip('/')}/{name}"


def _wrong(message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.FORMAT, message)
