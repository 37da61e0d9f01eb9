"""What netCDF has in other words: attributes, dimensions, types of elements, options of its files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.table import CODECS, held_type
from refbrowser.errors import ErrorKind, NotHeldError, Place, RefbrowserError, quoted
from refbrowser.exporting.codec_names import codecs_v2
from refbrowser.exporting.layout import PlainName
from refbrowser.exporting.option_fields import CodecChoice, ExportOptions
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.paths import escaped_part
from refbrowser.formats.nczarr.members import is_array_of_nczarr, is_internal
from refbrowser.formats.option_fields import Item, Kind, documented, option
from refbrowser.model.data_type import DataType
from refbrowser.model.dtypes import with_byte_order
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.element_types import element_type
from refbrowser.model.netcdf.fill import fill_attribute
from refbrowser.model.netcdf.names import FreeNames, name_refused
from refbrowser.model.netcdf.types import AtomicType, VlenType, type_text
from refbrowser.model.nodes import ArrayNode, CodecSpec, Dimension, GroupNode

#: Attributes that netCDF keeps for itself: it hides them or stumbles over them.
_RESERVED = frozenset(
    {
        "",
        "_Codecs",
        "_IsNetcdf4",
        "_Netcdf4Coordinates",
        "_Netcdf4Dimid",
        "_SuperblockVersion",
        "CLASS",
        "DIMENSION_LIST",
        "NAME",
        "REFERENCE_LIST",
    }
)
#: Control characters that JSON has no letter for; netcdf-c reads no numeric escapes.
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

AnyNode = TypeVar("AnyNode", ArrayNode, GroupNode)


def is_reserved(name: str) -> bool:
    """Tell whether netCDF keeps the name of an attribute for itself."""
    return name in _RESERVED


def kept_attributes(node: AnyNode) -> tuple[AnyNode, list[str]]:
    """Return a node of the target with the attributes that netCDF reads, and what is told of the others."""
    kept: dict[str, Any] = {}
    told: list[str] = []
    for name, value in node.attributes.items():
        if is_internal(name):
            continue
        why = _why_not(node, name, value)
        if why:
            told.append(f"attribute {quoted(name)} is left out: {why}")
            continue
        items: list[Any] = value if isinstance(value, list) else [value]
        found = [text for text in (name, *items) if isinstance(text, str)]
        if any(map(_CONTROL.search, found)):
            told.append(f"netCDF misreads control characters in attribute {quoted(name)}")
        if any(map(_SURROGATE.search, found)):
            told.append(f"attribute {quoted(name)} is not Unicode text: invalid characters become '?'")
        kept[_unicode(name)] = (
            [_unicode(item) for item in value] if isinstance(value, list) else _unicode(value)
        )
    return replace(node, attributes=kept), told


def _why_not(node: ArrayNode | GroupNode, name: str, value: Any) -> str:
    """Return why netCDF cannot hold an attribute; nothing where it can."""
    if is_reserved(name):
        return "the name is reserved by netCDF"
    if isinstance(value, list) and not value:
        return "it has no values"
    if name == FILL_ATTRIBUTE and isinstance(node, ArrayNode):
        type, _ = element_type(node, fixed_strings=True)
        found, note = fill_attribute(replace(node, fill_value=None), type)
        return note.message if found is None and note is not None else ""
    return ""


def _unicode(value: Any) -> Any:
    return _SURROGATE.sub("?", value) if isinstance(value, str) else value


#: Bytes of a name, with room for what may be added to it.
_NAME_SIZE = 180


def node_name(name: str) -> str:
    """Return a name of a group or variable that netCDF and file systems take, the same where it is one."""
    return _accepted(escaped_part(unicodedata.normalize("NFC", name)).replace("/", ""))


class NodeNames:
    """The paths of nodes in the target; two that netCDF would take for one get names of their own.

    The same path of the source always gives the same.
    """

    def __init__(self, plain_name: PlainName) -> None:
        self._plain_name = plain_name
        self._paths = {"/": "/"}
        self._free: dict[str, FreeNames] = {}

    def path(self, source: str) -> str:
        """Return the path for a path of the source."""
        if source not in self._paths:
            above, _, name = source.rpartition("/")
            parent = self.path(above or "/")
            free = self._free.setdefault(parent, FreeNames())
            self._paths[source] = _joined(parent, free.take(node_name(self._plain_name(name))))
        return self._paths[source]

    def field_path(self, source: str, fields: Sequence[str]) -> str:
        """Return a new path for a field of an array, beside the array's own: ``/g/array_field``."""
        above, _, name = source.rpartition("/")
        parent = self.path(above or "/")
        free = self._free.setdefault(parent, FreeNames())
        return _joined(parent, free.take(node_name("_".join((self._plain_name(name), *fields)))))


def dimension_name(name: str) -> str:
    """Return a name of a dimension that netCDF takes, the same where it is one."""
    plain = unicodedata.normalize("NFC", name)
    return _accepted(escaped_part(plain).replace("/", "")) if name_refused(plain) else plain


def _accepted(name: str) -> str:
    name = name.encode("utf-8", "replace")[:_NAME_SIZE].decode("utf-8", "ignore")
    return f"_{name}" if name_refused(name) else name


def target_dimensions(
    groups: Sequence[GroupNode], arrays: Iterable[ArrayNode], paths: Mapping[str, str]
) -> tuple[dict[str, dict[str, Dimension]], list[ArrayNode]]:
    """Return the dimensions of each group of the target, and the arrays referring to them.

    A dimension of which only a part is written has the size of that part, if all arrays take as much of it.

    Parameters
    ----------
    groups
        Of the source.
    arrays
        With the names and paths of dimensions of the source.
    paths
        Of groups in the target, by those in the source.
    """
    arrays = list(arrays)
    written = _written_sizes(arrays)
    declared: dict[str, dict[str, Dimension]] = {}
    places: dict[str, tuple[str, Dimension]] = {}
    for group in groups:
        free = FreeNames()
        own = declared.setdefault(paths[group.path], {})
        for dimension in group.dimensions.values():
            name = free.take(dimension_name(dimension.name))
            source = _joined(group.path, dimension.name)
            size = _size(dimension, written.get(source, set()))
            own[name] = Dimension(name, size, dimension.unlimited)
            places[source] = _joined(paths[group.path], name), own[name]
    return declared, [_referring(array, places) for array in arrays]


def _written_sizes(arrays: Iterable[ArrayNode]) -> dict[str, set[int]]:
    sizes: dict[str, set[int]] = {}
    for array in arrays:
        for path, size in zip(array.dimension_paths, array.shape, strict=False):
            if path is not None:
                sizes.setdefault(path, set()).add(size)
    return sizes


def _size(dimension: Dimension, written: set[int]) -> int:
    return next(iter(written)) if len(written) == 1 else dimension.size


def _referring(array: ArrayNode, places: Mapping[str, tuple[str, Dimension]]) -> ArrayNode:
    """Return an array with the names and paths that its dimensions have in the target."""
    names: list[str | None] = []
    paths: list[str | None] = []
    for axis, size in enumerate(array.shape):
        name = array.dimensions[axis] if axis < len(array.dimensions) else None
        source = array.dimension_paths[axis] if axis < len(array.dimension_paths) else None
        path, dimension = places.get(source or "", (None, None))
        fits = dimension is None or dimension.size == size
        named = dimension_name(name) if name else None
        names.append(named if fits or named is None else f"{named}_{size}")
        paths.append(path if fits else None)
    return replace(array, dimensions=tuple(names), dimension_paths=tuple(paths))


def _joined(group: str, name: str) -> str:
    return f"{group.rstrip('/')}/{name}"


_LEVEL = 1
_SPLIT = "--split-compounds writes its fields as variables, and opaque elements as bytes"


@dataclass(frozen=True, slots=True)
class Elements:
    """How the elements of an array are stored.

    Attributes
    ----------
    type
        Of the target.
    fill_value
        As a scalar of `dtype`.
    convert
        Gives the elements as the target has them, where numpy's own cast does not.
    losses
        What is not as in the source, in words.
    """

    type: DataType
    fill_value: Any
    convert: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None
    losses: tuple[str, ...] = ()


def netcdf_elements(node: ArrayNode, options: StoreOptions, *, is_complete: bool) -> Elements:
    """Return how the elements of an array are stored; no value changes.

    Parameters
    ----------
    node
        As it is asked for.
    is_complete
        No chunk is missing, as far as that is known: netcdf-c 4.10 swaps the bytes of what it reads for one
        in big-endian arrays.

    Raises
    ------
    RefbrowserError
        `META`: netCDF has no type for them.
    """
    found, told = element_type(node, fixed_strings=is_array_of_nczarr(node))
    if not isinstance(found, AtomicType):
        message = f"NCZarr has no type for elements of type {quoted(type_text(found).strip())}"
        advice = "" if isinstance(found, VlenType) else _SPLIT
        raise NotHeldError(ErrorKind.META, message, Place(path=node.path), advice)
    losses: tuple[str, ...] = (told,) if told else ()
    if found in (AtomicType.CHAR, AtomicType.STRING):
        return _texts(node, node.known_dtype, found, options)
    big = node.known_dtype.str[0] == ">" and node.known_dtype.kind in "iuf"
    if big and not is_complete:
        big = False
        losses += (
            "elements are stored in little-endian order: netCDF misreads missing chunks in big-endian order",
        )
    dtype = with_byte_order(found.known_dtype, "big" if big else "little")
    fill = None if node.fill_value is None else np.asarray(node.fill_value).astype(dtype)[()]
    return Elements(DataType(dtype, dtype.str), fill, None, losses)


def _texts(node: ArrayNode, dtype: np.dtype[Any], found: AtomicType, options: StoreOptions) -> Elements:
    if dtype.kind == "S":
        # One of no bytes at all is a text that is always empty.
        size = max(1, dtype.itemsize)
        name = ">S1" if found is AtomicType.CHAR else f"|S{size}"
        return Elements(DataType(np.dtype(f"S{size}"), name), node.fill_value)
    if dtype.kind == "O" and node.type.name not in ("string", "bytes"):
        message = f"NCZarr has no type for elements of type {quoted(node.type.name)}"
        raise NotHeldError(ErrorKind.META, message, Place(path=node.path))
    # A character of UTF-32 has at most four bytes in UTF-8 too.
    size = max(1, dtype.itemsize) if dtype.kind == "U" else options.text_size
    told = f"texts of type {quoted(node.type.name)} are stored with {size} bytes each"
    encode = _Encoder(size, node.path)
    fill = None if node.fill_value is None else encode(np.array([node.fill_value], object))[0]
    return Elements(DataType(np.dtype(f"S{size}"), f"|S{size}"), fill, encode, (told,))


@dataclass(frozen=True, slots=True)
class _Encoder:
    """Encodes texts as UTF-8 of a fixed size."""

    size: int
    path: str

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        encoded = np.empty(values.shape, f"S{self.size}")
        flat, target = values.reshape(-1), encoded.reshape(-1)
        for place, value in enumerate(flat.tolist()):
            target[place] = self._bytes(value)
        return encoded

    def _bytes(self, value: Any) -> bytes:
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        if len(data) > self.size:
            raise RefbrowserError(
                ErrorKind.META,
                f"a text has {len(data)} bytes, the array is written with {self.size} for each",
                Place(path=self.path),
                f"--text-size {len(data)} or more makes room for it",
            )
        return data


def netcdf_codecs(node: ArrayNode, elements: Elements, options: StoreOptions) -> tuple[ArrayNode, list[str]]:
    """Return an array with codecs that netCDF reads, in the words of Zarr v2, and what is told of them.

    Chunks keep their shape, but that those of shards are the inner ones.
    """
    try:
        known = codecs_v2(node)
    except RefbrowserError:
        return _compressed(node, node.grid.regular, elements), [
            "netCDF does not have these codecs: zlib is written"
        ]
    grid = RegularChunkGrid(node.shape, known.chunks)
    items = [*known.filters, *([known.compressor] if known.compressor else [])]
    if elements.convert is not None and items and held_type(items[0]["id"]):
        items = items[1:]
    chosen = options.codec_choice is not None or is_array_of_nczarr(node)
    allowed = ("always", "plugin") if chosen else ("always",)
    readers = {item["id"]: CODECS[item["id"]].netcdf if item["id"] in CODECS else None for item in items}
    if unknown := [item["id"] for item in items if readers[item["id"]] not in allowed]:
        told = f"codec {', '.join(unknown)} is written as zlib, which every netCDF reads"
        return _compressed(node, grid, elements), [*known.lost, told]
    lost = list(known.lost)
    if plugins := [item["id"] for item in items if readers[item["id"]] == "plugin"]:
        lost.append(f"codec {', '.join(plugins)} needs a netCDF plugin that not every build has")
    codecs = tuple(
        CodecSpec(item["id"], {name: value for name, value in item.items() if name != "id"}) for item in items
    )
    return replace(node, values=replace(node.chunks, grid=grid, codecs=codecs)), lost


def _compressed(node: ArrayNode, grid: RegularChunkGrid, elements: Elements) -> ArrayNode:
    size = elements.type.known_dtype.itemsize
    shuffle = (CodecSpec("shuffle", {"elementsize": size}),) if 1 < size <= 8 else ()
    codecs = (*shuffle, CodecSpec("zlib", {"level": _LEVEL}))
    return replace(node, values=replace(node.chunks, grid=grid, codecs=codecs))


# Options of netCDF-4


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Netcdf4Options(ExportOptions):
    """How netCDF-4 is to be written."""

    heading = "options of netcdf4; its --codec is keep, none, zlib:4 or zstd:3"
    only = "checksums of chunks apply only to netcdf4"
    called = "Netcdf4"

    codec: str = field(
        default="keep",
        metadata=option(
            "--codec CODEC",
            "keep, none, zlib:4 or zstd:3",
            about="``keep`` (zlib where the source is compressed), ``none``, ``zlib:4`` or ``zstd:3`` "
            "where netCDF has it; a chosen codec comes with shuffle.",
            kind=Kind.CHOICE,
            title="Compression of the variables",
            label="Co&mpression",
            items=(
                Item("keep", "As in the source"),
                Item("none", "None"),
                Item("zlib:1", "zlib, fast"),
                Item("zlib:6", "zlib, small"),
                Item("zstd:3", "Zstandard", "Not every netCDF reads it: it is a plugin."),
            ),
            place=(0, 0),
        ),
    )
    fletcher32: bool = field(
        default=False,
        metadata=option(
            "--fletcher32",
            "add a checksum to each chunk",
            about="Add a checksum to each chunk.",
            kind=Kind.TICK,
            means=True,
            title="Checksums of chunks (Fletcher-32)",
            label="Chec&ksums of chunks (Fletcher-32)",
            place=(0, 1),
        ),
    )

    def check(self, format: str) -> None:
        """Raise `E_USAGE` where netCDF-4 has no such codec."""
        _ = self.choice

    @property
    def choice(self) -> CodecChoice | None:
        """The codec of all variables; None where each keeps its own, as far as netCDF has it."""
        found = CodecChoice.from_text(self.codec)
        if found is not None and found.name not in ("none", "zlib", "zstd"):
            message = f"netCDF-4 has no codec {quoted(found.name)}"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="known: keep, none, zlib:4, zstd:3")
        return found
