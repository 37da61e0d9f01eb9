"""What each file says of each of its arrays, and the references of these as columns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Dataset, damage_of
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.rewritten_document import is_relative
from refbrowser.exporting.saving.kerchunk_metadata import is_said_twice
from refbrowser.exporting.saving.portable_document import portable_document
from refbrowser.formats.registry import facet
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.formats.zarr.shapes import parse_edges
from refbrowser.io.access.access import Access
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.limits import LIMITS
from refbrowser.model.grid import ChunkGrid, RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ByteRange, ReferenceKind, WholeFile
from refbrowser.model.selection import Selection
from refbrowser.references.content.made_text import plain_attribute
from refbrowser.references.content.table import WHOLE, smallest
from refbrowser.references.content.value_table import json_of

Ints = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
#: Size, time and the like of files, by path or URL; nothing of one where that is not known.
States = tuple[tuple[str, tuple[Any, ...]], ...]
#: Name and value, as JSON.
Attributes = tuple[tuple[str, str], ...]

#: Elements of an array without the dimension whose values are compared with those of other files.
COMPARED = 1 << 20
#: Bytes of a one-dimensional array along the dimension that is read, and stands in the document.
SMALL = 64 << 10
#: Elements that are read of an array which is to stand in the document.
_READ = 1 << 24
#: Chunks whose references are asked for at once.
_TAKEN = 1 << 18
#: Attributes whose names lead to arrays that describe others.
_NAMING = ("coordinates", "bounds", "climatology", "grid_mapping")
#: Digests of values that are kept by the bytes that they were decoded from.
_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayProperties:
    """What a file says of an array. Files that say the same share one (`FileSet.add`).

    Attributes
    ----------
    path
        Absolute.
    form
        ``zarr-v2`` or ``zarr-v3``: in whose words `encoding` is.
    dimensions
        Names; one of its own for one without.
    chunks
        The shape of the largest chunk.
    edges
        As a rectilinear grid of Zarr v3 spells those of unequal chunks, as JSON; empty where they are equal.
    dtype, byte_order
        ``i2`` and ``<``; the type as text where it is no number.
    codecs
        Names and settings as JSON, in encoding order, the byte order not among them.
    fill
        As JSON.
    encoding
        What the metadata says beside shape, chunks, fill value, attributes and keys, as JSON.
    itemsize
        Bytes of an element; 0 where they have no fixed size.
    problem
        Why no references give its values; empty where they do.
    """

    path: str
    form: str
    shape: tuple[int, ...]
    dimensions: tuple[str, ...]
    chunks: tuple[int, ...]
    dtype: str
    byte_order: str
    codecs: str
    fill: str
    order: str
    encoding: str
    itemsize: int
    attributes: Attributes
    problem: str = ""
    edges: str = ""

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def grid(self) -> ChunkGrid:
        """Its chunks."""
        if not self.edges:
            return RegularChunkGrid(self.shape, self.chunks)
        return parse_edges(self.shape, {"kind": "inline", "chunk_shapes": json.loads(self.edges)})

    @property
    def is_coordinate(self) -> bool:
        """Whether it has the values of its one dimension."""
        return self.dimensions == (self.name,)

    @property
    def naming(self) -> dict[str, Any]:
        """Its attributes whose values are texts: they may name other arrays."""
        return {name: json.loads(text) for name, text in self.attributes if text.startswith('"')}

    def attribute(self, name: str) -> Any:
        """Return the value of an attribute, None where there is none."""
        return next((json.loads(text) for each, text in self.attributes if each == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanSettings:
    """What is looked at in files, beside their metadata.

    Attributes
    ----------
    dimensions
        Along which they are to be combined.
    inline
        Names or paths of arrays whose values are to stand in the document.
    valued
        Those whose first value is wanted.
    selected
        Dimensions whose coordinates tell what is taken of them.
    opening
        Options of opening, as `OpenRequest.options` has them.
    """

    dimensions: tuple[str, ...] = ()
    inline: tuple[str, ...] = ()
    valued: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    stale: str = "refuse"
    opening: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class FileChunks:
    """The references of all arrays of a file, as columns.

    Attributes
    ----------
    urls
        Those of the file.
    counts
        Rows of each array, in the order of the arrays.
    url
        Position in `urls`; None where there is one.
    offset, length
        As in `ReferenceTable`.
    positions
        Position in the flat grid of each row of an array, by number of the array; of those with a row for
        each chunk nothing.
    inline
        Bytes of the rows that hold some, which have the length -2, by row.
    """

    urls: tuple[str, ...]
    counts: tuple[int, ...]
    url: npt.NDArray[Any] | None
    offset: npt.NDArray[Any]
    length: npt.NDArray[Any]
    positions: dict[int, Ints] = field(default_factory=dict)
    inline: dict[int, bytes] = field(default_factory=dict)

    def forget(self) -> None:
        """Forget all rows: they are in a document."""
        self.url, self.positions, self.inline = None, {}, {}
        self.offset = self.length = _NOTHING


#: Length of a row that holds its bytes.
HELD = -2
_NOTHING = np.zeros(0, np.int64)


@dataclass(slots=True, eq=False)
class ScannedSource:
    """What was found in a file.

    Attributes
    ----------
    source
        As it was named.
    groups
        Paths and attributes.
    values
        Of arrays that stand in the document, by path.
    digests
        Of the values of arrays that have none of the dimensions, by path; none of those that are too large.
    losses
        What references of it cannot hold.
    states
        What tells it, and files of this computer that it refers to, from what is there later, by path or URL;
        empty where that is not known.
    begins
        Where the part of a file begins that is taken, along dimensions of which not all is.
    """

    source: str
    arrays: tuple[ArrayProperties, ...]
    groups: tuple[tuple[str, Attributes], ...]
    chunks: FileChunks
    values: dict[str, Values] = field(default_factory=dict)
    digests: dict[str, bytes] = field(default_factory=dict)
    losses: tuple[str, ...] = ()
    states: States = ()
    begins: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of its path or URL."""
        return short(self.source)


def looked_at(
    dataset: Dataset, source: str, looking: ScanSettings, *, is_target: bool = False
) -> ScannedSource:
    """Return what is in a dataset.

    Parameters
    ----------
    is_target
        It is what others are added to: its references are not listed.

    Raises
    ------
    RefbrowserError
        It is damaged, a reference is faulty, or its coordinates cannot be read.
    """
    for damage in damage_of(dataset):
        raise damage.error()
    losses: list[str] = []
    document = dataset.document
    original = dataset
    if not is_target and (document.store is not None or is_made_over(dataset)):
        portable = portable_document(dataset, JobControl())
        losses = list(dict.fromkeys(map(str, portable.losses)))
        dataset = dataset.with_document(portable.document)
    nodes = list(dataset.hierarchy.walk())
    arrays = [_properties(dataset, node) for node in nodes if isinstance(node, ArrayNode)]
    groups = tuple((node.path, _attributes(node)) for node in nodes if isinstance(node, GroupNode))
    if original is not dataset:
        # Those that references have no room for, or no words.
        there = {each.path for each in arrays}
        lost = (node for node in original.hierarchy.walk() if isinstance(node, ArrayNode))
        arrays += [
            replace(told, problem=told.problem or "they do not fit into a document")
            for told in (_properties(original, node) for node in lost if node.path not in there)
        ]
    gathering = _Gathering(dataset, original, looking, _READ * 8 if is_target else SMALL)
    for number, each in enumerate(arrays):
        gathering.add(number, each, is_listed=not is_target)
    values, digests = gathering.read(arrays)
    return ScannedSource(source, tuple(arrays), groups, gathering.columns(), values, digests, tuple(losses))


def describing(arrays: Sequence[ArrayProperties]) -> frozenset[str]:
    """Return the paths of arrays that describe others: coordinates, bounds and mappings, and scalars."""
    named = {
        word
        for each in arrays
        for name, text in each.attributes
        if name in _NAMING
        for word in text.strip('"').split()
    }
    return frozenset(
        each.path for each in arrays if each.is_coordinate or not each.shape or each.name in named
    )


def bounds_of(arrays: Sequence[ArrayProperties]) -> dict[str, str]:
    """Return the path of the coordinate that each array of bounds belongs to, by its path."""
    found = {}
    paths = {each.path for each in arrays}
    for each in arrays:
        for name in ("bounds", "climatology"):
            other = each.attribute(name) if each.is_coordinate else None
            path = f"{each.path.rpartition('/')[0]}/{other}"
            if other is not None and path in paths:
                found[path] = each.path
    return found


def absolute(url: str, access: Access) -> str:
    """Return a URL that means the same from everywhere."""
    if not is_relative(url):
        return url
    if access.from_network:
        return access.base.rpartition("/")[0] + "/" + url
    return os.path.normpath(os.path.join(access.base, url))


# One file


def is_made_over(dataset: Dataset) -> bool:
    """Tell whether the format has references made otherwise of some array than its nodes say."""
    return facet(dataset.document, "portable") is not None and any(
        node.values.encoded is None or bool(node.type.names) or node.dtype is None or node.dtype.kind in "OV"
        for node in dataset.hierarchy.walk()
        if isinstance(node, ArrayNode)
    )


def _attributes(node: ArrayNode | GroupNode) -> Attributes:
    return tuple(
        (name, json_of(plain_attribute(value)).decode())
        for name, value in node.attributes.items()
        if name != DIMENSIONS_ATTRIBUTE
    )


#: Members of metadata that `ArrayProperties` tells by themselves, or that are written anew.
_OWN = {"shape", "chunks", "fill_value", "dimension_separator", "zarr_format"} | {
    "attributes", "chunk_grid", "chunk_key_encoding", "dimension_names", "node_type",
}  # fmt: skip


def _properties(dataset: Dataset, node: ArrayNode) -> ArrayProperties:
    """Return what a file says of an array; raises where it is broken."""
    if node.error is not None:
        raise node.error
    prefix = node.path.strip("/")
    key = next(
        (each for each in node.metadata_keys if each.endswith(("zarr.json", ".zarray"))),
        f"{prefix}/.zarray".removeprefix("/"),
    )
    data = metadata_of(dataset, key)
    told: dict[str, Any] = json.loads(data) if data is not None else {}
    form = "zarr-v3" if key.endswith("zarr.json") else "zarr-v2"
    problem = node.not_referencable
    if node.unreadable is not None:
        problem = node.unreadable.message
    chunks = told.get("chunks") or told.get("chunk_grid", {}).get("configuration", {}).get("chunk_shape")
    edges = ""
    if node.has_grid and not node.grid.is_regular:
        chunks, edges = node.grid.largest, json_of(node.grid.spelling).decode()
    if not told or (chunks is None and node.shape):
        problem = problem or "its metadata cannot be combined with others"
    sides = tuple(chunks or node.shape)
    if len(sides) != len(node.shape):
        sides, problem = node.shape, problem or "it has fields of more dimensions than its chunks"
    dtype = node.dtype
    plain = dtype is not None and not dtype.hasobject and dtype.names is None
    return ArrayProperties(
        path=node.path,
        form=form,
        shape=node.shape,
        dimensions=tuple(
            name or f"{node.name}_{axis}"
            for axis, name in enumerate(node.dimensions or (None,) * len(node.shape))
        ),
        chunks=tuple(max(side, 1) for side in sides),
        dtype=dtype.str[1:] if dtype is not None and plain else node.type.name,
        byte_order=dtype.str[0] if dtype is not None and plain else "|",
        codecs=_codecs_of(told, form),
        fill=json_of(told.get("fill_value")).decode(),
        order=str(told.get("order", "C")),
        encoding=json_of({name: each for name, each in told.items() if name not in _OWN}).decode(),
        itemsize=dtype.itemsize if dtype is not None and not dtype.hasobject else 0,
        attributes=_attributes_of_array(node, told, form),
        problem=problem,
        edges=edges,
    )


def reworded(properties: ArrayProperties, told: Mapping[str, Any]) -> ArrayProperties:
    """Return what is said of an array by its ``zarr.json``, for chunks that stay as they are."""
    attributes = tuple((name, json_of(value).decode()) for name, value in told["attributes"].items())
    return replace(
        properties,
        form="zarr-v3",
        codecs=_codecs_of(told, "zarr-v3"),
        fill=json_of(told["fill_value"]).decode(),
        order="C",
        encoding=json_of({name: each for name, each in told.items() if name not in _OWN}).decode(),
        attributes=attributes,
    )


def _attributes_of_array(node: ArrayNode, told: Mapping[str, Any], form: str) -> Attributes:
    """Return the attributes, without what the fill value of Zarr v2 says anyway."""
    found = _attributes(node)
    if form != "zarr-v2":
        return found
    said = {FILL_ATTRIBUTE: next((json.loads(text) for name, text in found if name == FILL_ATTRIBUTE), None)}
    return tuple(each for each in found if each[0] != FILL_ATTRIBUTE or not is_said_twice(said, told))


def metadata_of(dataset: Dataset, key: str) -> bytes | None:
    """Return metadata, be it in the document or where that refers to; None where it is not there."""
    data = dataset.document.expansion.value(key)
    if data is None:
        reference = dataset.document.expansion.metadata_reference(key)
        found = dataset.elsewhere.get(reference) if isinstance(reference, ByteRange | WholeFile) else None
        data = found if isinstance(found, bytes) else None
    return data


def _codecs_of(told: Mapping[str, Any], form: str) -> str:
    if form == "zarr-v2":
        filters = told.get("filters") or []
        compressor = told.get("compressor")
        return json_of([*filters, *([compressor] if compressor else [])]).decode()
    codecs = [each for each in told.get("codecs", ()) if _name_of(each) != "bytes"]
    return json_of(codecs).decode()


def _name_of(codec: Any) -> Any:
    return codec.get("name") if isinstance(codec, dict) else codec


class _Gathering:
    """Takes the references of arrays of one file, and reads what is wanted of their values."""

    def __init__(self, dataset: Dataset, original: Dataset, looking: ScanSettings, small: int) -> None:
        self._small = small
        self._dataset, self._original, self._looking = dataset, original, looking
        self._urls: dict[str, int] = {}
        self._columns: list[tuple[Any, Ints, Ints]] = []
        self._positions: dict[int, Ints] = {}
        self._inline: dict[int, bytes] = {}
        self._held: dict[str, tuple[bytes, ...]] = {}
        self._count = 0

    def add(self, number: int, told: ArrayProperties, *, is_listed: bool) -> None:
        """Take the references of an array."""
        grid = told.grid
        if told.problem or not is_listed or not grid.size:
            self._columns.append((np.zeros(0, np.int32), *(np.zeros(0, np.int64),) * 2))
            return
        if grid.size + self._count > LIMITS.write_out_question:
            message = f"the file has {grid.size + self._count} chunks with it, too many to be combined"
            raise RefbrowserError(
                ErrorKind.BUDGET,
                message,
                Place(path=told.path, document=self._dataset.path),
                f"leave the array out (--leave-out-var {told.path}), or raise write_out_question",
            )
        node = self._dataset.hierarchy.find(told.path)
        assert isinstance(node, ArrayNode)
        before = self._count
        blocks = [
            self._block(node, grid.grid_shape, np.arange(start, min(start + _TAKEN, grid.size)))
            for start in range(0, grid.size, _TAKEN)
        ]
        there, *columns = (np.concatenate(each) for each in zip(*blocks, strict=True))
        if len(there) < grid.size:
            self._positions[number] = there
        held = range(before, self._count)
        if len(there) == grid.size and all(row in self._inline for row in held):
            self._held[told.path] = tuple(self._inline[row] for row in held)
        self._columns.append((columns[0], columns[1], columns[2]))

    def _block(
        self, node: ArrayNode, grid_shape: tuple[int, ...], positions: Ints
    ) -> tuple[Ints, Any, Ints, Ints]:
        """Return the chunks of an array that are there, of some in a row, and what their references say."""
        divided = node.values.divided
        assert divided is not None
        columns = self._dataset.document.expansion.chunk_columns(
            node.key_prefix, coords_of(grid_shape, positions), divided.keys
        )
        kind = columns.kind
        if (kind == ReferenceKind.FAULTY).any():
            raise columns.faults[int(np.argmax(kind == ReferenceKind.FAULTY))]
        there = np.flatnonzero(kind != ReferenceKind.MISSING)
        numbers = np.zeros(len(columns.urls) + 1, np.int32)
        for each in np.unique(columns.url[columns.url >= 0]).tolist():
            numbers[each] = self._urls.setdefault(
                absolute(columns.urls[each], self._dataset.access), len(self._urls)
            )
        url, offset, length = columns.url[there], columns.offset[there], columns.length[there].copy()
        held = kind[there] == ReferenceKind.INLINE
        length[kind[there] == ReferenceKind.WHOLE] = WHOLE
        length[held] = HELD
        for row in np.flatnonzero(held).tolist():
            self._inline[self._count + row] = columns.inline[int(there[row])]
        self._count += len(there)
        return positions[there], np.where(url >= 0, numbers[url], 0).astype(np.int32), offset, length

    def columns(self) -> FileChunks:
        """Return what was taken."""
        nothing = (np.zeros(0, np.int32), *(np.zeros(0, np.int64),) * 2)
        url, offset, length = (np.concatenate(each) for each in zip(nothing, *self._columns, strict=True))
        return FileChunks(
            tuple(self._urls),
            tuple(len(each[0]) for each in self._columns),
            smallest(url.astype(np.int64)) if len(self._urls) > 1 else None,
            smallest(offset),
            smallest(length),
            self._positions,
            self._inline,
        )

    def read(self, arrays: list[ArrayProperties]) -> tuple[dict[str, Values], dict[str, bytes]]:
        """Return values that are to stand in the document, and digests of those that are compared."""
        values: dict[str, Values] = {}
        digests: dict[str, bytes] = {}
        for each in arrays_read(arrays, self._looking, self._small):
            told = each.told
            if not each.is_compared:
                values[told.path] = self._values(told)
                continue
            digests[told.path], read = shared(told, self._held.get(told.path), self._values)
            if each.stays:
                values[told.path] = read
        return values, digests

    def _values(self, told: ArrayProperties) -> Values:
        if prod(told.shape) > _READ:
            message = f"its {prod(told.shape)} values do not fit into the document"
            raise RefbrowserError(
                ErrorKind.BUDGET, message, Place(path=told.path, document=self._dataset.path)
            )
        node = self._dataset.hierarchy.find(told.path) or self._original.hierarchy.find(told.path)
        assert isinstance(node, ArrayNode)
        read = self._dataset.session.read(node, self._dataset.access, Selection.whole(told.shape))
        return plain_values(np.asarray(read))


def plain_values(values: Values) -> Values:
    """Return values in the byte order of this machine; objects as texts."""
    if values.dtype.hasobject:
        values = np.asarray([str(each) for each in values.reshape(-1).tolist()], "U").reshape(values.shape)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


@dataclass(frozen=True, slots=True)
class ArrayRead:
    """An array whose values are read.

    Attributes
    ----------
    is_compared
        Files are to have the same ones: their digest is kept.
    stays
        They are to stand in the document.
    """

    told: ArrayProperties
    is_compared: bool
    stays: bool


def arrays_read(
    arrays: Sequence[ArrayProperties], looking: ScanSettings, small: int = SMALL
) -> list[ArrayRead]:
    """Return the arrays of a file whose values are read.

    Parameters
    ----------
    small
        Bytes of a one-dimensional array along the dimension that is read.
    """
    bounds, described = bounds_of(arrays), describing(arrays)
    along, by_path = set(looking.dimensions), {each.path: each for each in arrays}
    found = []
    for each in arrays:
        named = {each.name, each.path} & {*looking.inline, *looking.valued}
        owner = by_path[bounds[each.path]] if each.path in bounds else each
        is_along = bool(along & set(each.dimensions))
        is_small = len(each.dimensions) == 1 and prod(each.shape) * max(each.itemsize, 8) <= small
        # With new dimensions alone the data is laid along these.
        is_asked = each.is_coordinate and each.name in looking.selected
        is_compared = bool(looking.dimensions) or each.path in described
        if named or (is_along and (owner.is_coordinate or is_small)):
            if named or not each.problem or each.itemsize or is_small:
                found.append(ArrayRead(each, False, True))
        elif not is_along and prod(each.shape) <= COMPARED and (is_compared or is_asked):
            fits = is_asked or prod(each.shape) * max(each.itemsize, 8) <= SMALL
            found.append(ArrayRead(each, True, fits and (each.is_coordinate or bool(each.problem))))
    return found


def shared(
    told: ArrayProperties, held: tuple[bytes, ...] | None, read: Callable[[ArrayProperties], Values]
) -> tuple[bytes, Values]:
    """Return the digest of values that files share, and these; each that stands in documents is decoded once.

    Parameters
    ----------
    held
        The bytes of all chunks, where they stand in the document.
    read
        Returns the values.
    """
    kept = None if held is None else _kept.get((told, held))
    if kept is None:
        values = read(told)
        kept = digest_of(values), values
        if held is not None:
            if len(_kept) >= _KEPT:
                _kept.clear()
            _kept[told, held] = kept
    return kept


_kept: dict[tuple[ArrayProperties, tuple[bytes, ...]], tuple[bytes, Values]] = {}


def digest_of(values: Values) -> bytes:
    """Return a digest of values, in any byte order."""
    plain = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    found = blake2b(repr((values.shape, plain.dtype.str)).encode(), digest_size=16)
    found.update(plain.tobytes())
    return found.digest()


def coords_of(grid_shape: tuple[int, ...], positions: Ints) -> Ints:
    """Return the coordinates of chunks of a grid by their positions in C order, shape (n, ndim)."""
    if not grid_shape or not len(positions):
        return np.zeros((len(positions), len(grid_shape)), np.int64)
    index = np.unravel_index(positions, grid_shape)
    return np.stack(index, axis=1).astype(np.int64, copy=False)


def all_coords(grid_shape: tuple[int, ...]) -> Ints:
    """Return the coordinates of all chunks of a grid, of one that is not large."""
    return coords_of(grid_shape, np.arange(prod(grid_shape)))


def is_named(source: str, text: str) -> bool:
    """Tell whether a text is a path or URL, the last part of it, or a pattern of either."""
    return any(text == each or fnmatchcase(each, text) for each in (source, short(source)))


def short(source: str) -> str:
    """Return the last part of a path or URL."""
    return source.partition("?")[0].rstrip("/").rpartition("/")[2] or source
