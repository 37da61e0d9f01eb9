"""Groups and arrays of HDF5 as nodes: each array as chunks in the file, or read by the library, with why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.hdf5.hdf5_dimensions import (
    INTERNAL,
    Dimensions,
    dimensions_of,
    group_of,
    is_pure_dimension,
    shown_name,
)
from refbrowser.formats.hdf5.hdf5_filters import (
    STANDARD,
    Filter,
    codecs_of,
    pipeline_key,
)
from refbrowser.formats.library.chunk_proof import Candidate, Stored, encoded_anew, refuted
from refbrowser.formats.library.library_contents import LibraryContents, shown_path
from refbrowser.formats.library.library_source import (
    LibrarySource,
    Tree,
    asked_grid,
    data_type_of,
    dtype_of,
    is_stored_so,
    unpacked,
    why_not_stored_so,
)
from refbrowser.formats.library.process import LibraryFile
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType, endings_in
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.fill import mark_of_missing
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks, CodecSpec, Pieces, SourceManifest
from refbrowser.references.content.made_text import spelled_attributes, spelled_node
from refbrowser.references.content.value_table import json_of
from refbrowser.references.document.manifest import ManifestBuilder, unheld_name
from refbrowser.words import counted_plain

Told = Mapping[str, Any]
#: Attributes that could not be read and are told one by one.
_NAMED = 20


@dataclass(eq=False)
class Contents(LibraryContents):
    """What the library tells of a file.

    Attributes
    ----------
    groups, arrays, types
        By path as it is stored, in the order of the file; types are those that have a name of their own.
    chunks
        Bytes behind what is told of arrays.
    values
        Bytes of the elements of small coordinates, where these were asked for.
    """

    groups: dict[str, Told] = field(default_factory=dict)
    arrays: dict[str, Told] = field(default_factory=dict)
    types: dict[str, Tree] = field(default_factory=dict)
    chunks: dict[str, memoryview] = field(default_factory=dict)
    values: dict[str, memoryview] = field(default_factory=dict)

    @staticmethod
    def bounds() -> Mapping[str, Any]:
        """Return how much is told at most."""
        return {
            "objects": LIMITS.library_objects,
            "depth": LIMITS.group_nesting,
            "attributes": LIMITS.library_attributes,
            "attribute": LIMITS.library_attribute,
            "chunks": LIMITS.references,
        }

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "group" in told:
            self.groups[told["group"]] = told
            if "error" in told:
                self.warn(
                    f"the group cannot be read: {quoted(told['error'])[1:-1]}", told["group"], Severity.FAULT
                )
        elif "array" in told:
            self.arrays[told["array"]] = told
            if len(data):
                self.chunks[told["array"]] = data
        elif "values" in told:
            self.values[told["values"]] = data
        elif "named" in told:
            self.types[told["named"]] = told["type"]
        elif "link" in told:
            where = f"{told['file']}::{told['target']}"
            self.warn(f"a link to another file, which is not opened: {quoted(where)}", told["link"])
        elif "cut" in told:
            size, stored = told["cut"]
            self.warn(f"the file was cut: {size} of its {stored} bytes are there", "", Severity.FAULT)
        else:
            super().take(told, data)


def spelled(node: GroupNode | ArrayNode, name: str, complete: Collection[str]) -> bytes:
    """Return the metadata of a node as text: what netCDF-4 keeps for itself says nothing to Zarr.

    Parameters
    ----------
    complete
        Paths of arrays of which no chunk is missing. Readers of Zarr v2 take the fill value as the mark of
        missing values: there it is just what is one in the file.
    """
    if name == ".zarray" and isinstance(node, ArrayNode) and node.path in complete:
        node = replace(node, fill_value=mark_of_missing(node))
    if name != ".zattrs":
        return spelled_node(node, name)
    attributes = spelled_attributes(node)
    return json_of({each: value for each, value in attributes.items() if each not in INTERNAL})


def attributes_of(told: Told, contents: Contents, path: str) -> dict[str, Any]:
    """Return the fields of a node that tell its attributes."""
    shown: dict[str, Any] = {}
    internal: dict[str, Any] = {}
    types: dict[str, str] = {}
    lost = 0
    for name, value, kind, why in told["attributes"]:
        if why:
            lost += 1
            if lost <= _NAMED:
                what = f"its attribute {quoted(name)} is not shown" if name else "attributes are not shown"
                contents.warn(f"{what}: {why}", path)
        elif name in INTERNAL:
            internal[name] = value
        else:
            shown[name] = value
            if kind:
                types[name] = kind
    if lost > _NAMED:
        contents.warn(f"{lost - _NAMED} more of its attributes are not shown", path)
    return {"attributes": shown, "attribute_types": types, "internal_attributes": internal}


#: Filters that HDF5 itself defines, with their settings, that were right in some file: they are so in others.
_PROVED: set[str] = set()
_PROOFS = 1_000


@dataclass(eq=False)
class Arrays:
    """Makes the nodes of a file, and adds them to a manifest."""

    file: LibraryFile
    contents: Contents
    is_remote: bool
    token: CancelToken | None
    dimensions: Dimensions = field(init=False)
    nodes: dict[str, ArrayNode] = field(init=False, default_factory=dict)
    #: What has arrays that are chunks read by the library, by path.
    sources: dict[str, LibrarySource] = field(init=False, default_factory=dict)
    #: Paths of arrays of which every chunk is stored.
    complete: set[str] = field(init=False, default_factory=set)
    #: Which arrays cannot be referenced.
    findings: list[Finding] = field(init=False, default_factory=list)
    _stored: dict[str, Stored] = field(init=False, default_factory=dict)
    _proofs: dict[str, str] = field(init=False, default_factory=dict)
    #: Chunks that were encoded anew, by coordinates.
    _apart: dict[str, dict[tuple[int, ...], bytes]] = field(init=False, default_factory=dict)
    _room: int = field(init=False)

    def __post_init__(self) -> None:
        told = {path: each for path, each in self.contents.arrays.items() if "shape" in each}
        self.dimensions = dimensions_of(self.contents.groups, told, self.contents.types)
        self._room = LIMITS.library_apart

    def add_nodes(self, manifest: ManifestBuilder) -> None:
        """Add all nodes."""
        for path, told in self.contents.groups.items():
            self._add(manifest, GroupNode(path=shown_path(path), **attributes_of(told, self.contents, path)))
        for path, told in self.contents.arrays.items():
            if "shape" in told and is_pure_dimension(told):
                continue
            try:
                node = self._array(path, told)
            except RefbrowserError as error:
                node = self._broken(path, told, error)
            except (ValueError, TypeError, OverflowError) as error:
                # numpy has no type of two members of one name, or no array of so many elements.
                node = self._broken(path, told, RefbrowserError(ErrorKind.META, quoted(error)[1:-1]))
            if self._add(manifest, node):
                self.nodes[path] = node
        self._warn_of_spaces()

    def _warn_of_spaces(self) -> None:
        """Tell once which texts are not in references as they are shown."""
        padded = [
            node.path
            for node in self.nodes.values()
            if node.values.encoded is not None and "space" in endings_in(node.known_dtype)
        ]
        if not padded:
            return
        which = quoted(padded[0]) if len(padded) == 1 else f"{quoted(padded[0])} and {len(padded) - 1} more"
        message = f"the texts of {which} are padded with spaces, which are not shown; references keep them"
        self.contents.warn(message, padded[0] if len(padded) == 1 else "")

    def _add(self, manifest: ManifestBuilder, node: GroupNode | ArrayNode) -> bool:
        unnamed = unheld_name(node.path)
        if unnamed is not None:
            self.contents.findings.append(unnamed)
            return False
        manifest.add_node(node)
        return True

    def types(self) -> dict[str, dict[str, DataType]]:
        """Return the types that groups declare, by the groups' paths and their names."""
        found: dict[str, dict[str, DataType]] = {}
        for path, tree in self.contents.types.items():
            if tree["kind"] == "array":
                # netCDF has no such type by itself.
                continue
            # What numpy has no type for is told where an array has it.
            with suppress(RefbrowserError, ValueError, TypeError, OverflowError):
                group, name = map(shown_path, (group_of(path), path.rpartition("/")[2]))
                found.setdefault(group, {})[name] = data_type_of(tree)
        return found

    def known_values(self) -> dict[str, npt.NDArray[Any]]:
        """Return the values of small coordinates that were told, by the paths of their nodes."""
        found = {}
        for path, data in self.contents.values.items():
            node = self.nodes.get(path)
            # Along unlimited dimensions it may be longer than what is stored.
            if node is not None and len(data) == prod(node.shape) * node.known_dtype.itemsize:
                found[node.path] = np.frombuffer(data, node.known_dtype).reshape(node.shape)
        return found

    # Arrays

    def _broken(self, path: str, told: Told, error: RefbrowserError) -> ArrayNode:
        """Return an array of which nothing can be shown but that it is there."""
        error = error.at(replace(error.place, path=shown_path(path), url=self.file.url))
        self.contents.findings.append(
            Finding(
                severity=Severity.FAULT,
                kind=error.kind,
                message=error.message,
                place=error.place,
                advice=error.advice,
            )
        )
        fields = attributes_of(told, self.contents, path) if "attributes" in told else {}
        unknown = DataType.of(np.dtype("u1"))
        return ArrayNode(path=shown_path(shown_name(path)), error=error, type=unknown, **fields)

    def _array(self, path: str, told: Told) -> ArrayNode:
        if "error" in told:
            raise RefbrowserError(
                ErrorKind.FORMAT, f"the array cannot be read: {quoted(told['error'])[1:-1]}"
            )
        tree: Tree = told["type"]
        fields = attributes_of(told, self.contents, path)
        inner: tuple[int, ...] = ()
        while tree["kind"] == "array":
            inner, tree = (*inner, *tree["shape"]), tree["of"]
        if told.get("null"):
            self.contents.warn("it has no elements: its dataspace is null", path)
            told = {**told, "shape": [0], "layout": "null", "size": 1, "filters": []}
        shape = (*self._shape(path, told), *inner)
        if len(shape) > LIMITS.rank:
            raise RefbrowserError(ErrorKind.BUDGET, f"it has more than {LIMITS.rank} dimensions (rank)")
        if dtype_of(tree).itemsize > LIMITS.element_size:
            message = f"an element of it has more than {LIMITS.element_size} bytes (element_size)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        names = [each.rpartition("/")[2] for each in self.dimensions.of_arrays.get(path, ())]
        names += [""] * (len(shape) - len(names))
        dimensions = tuple(name or None for name in map(shown_path, names))
        fields["internal_attributes"] |= {DIMENSIONS_ATTRIBUTE: list(dimensions)}
        node = ArrayNode(
            path=shown_path(shown_name(path)),
            shape=shape,
            type=data_type_of(tree),
            dimensions=dimensions,
            fill_value=_fill_of(told, tree),
            fill_marks=False,
            **fields,
        )
        return self._with_values(node, path, told, tree, inner)

    def _shape(self, path: str, told: Told) -> tuple[int, ...]:
        """Return the shape of an array: along unlimited dimensions it is as long as these."""
        shape = list(told["shape"])
        if told.get("layout") != "chunked" or not is_stored_so(told["type"]):
            return tuple(shape)
        for axis, full in enumerate(self.dimensions.of_arrays.get(path, ())):
            group, _, name = full.rpartition("/")
            declared = self.dimensions.by_group[group or "/"][name]
            if declared.unlimited and told["most"][axis] is None:
                shape[axis] = max(shape[axis], declared.size)
        return tuple(shape)

    def _with_values(
        self, node: ArrayNode, path: str, told: Told, tree: Tree, inner: tuple[int, ...]
    ) -> ArrayNode:
        """Return an array with what gives its values."""
        if "elsewhere" in told:
            grid = asked_grid(node.shape, None, node.known_dtype.itemsize)
            error = self._lost(node, told["elsewhere"])
            return replace(node, values=Chunks(grid=grid), unreadable=error)
        sides = tuple(max(side, 1) for side in (*told.get("chunks", told["shape"]), *inner))
        why = told.get("damaged", "") and f"how it is stored cannot be read: {quoted(told['damaged'])[1:-1]}"
        why = why or why_not_stored_so(tree)
        filters = Filter.all_of(told["filters"])
        if not why and told.get("layout") == "chunked":
            columns = self.contents.chunks.get(path, memoryview(b""))
            self._stored[path] = stored = Stored.of(columns, len(told["shape"]))
            # Those that were left out say nothing of its bytes.
            filters = tuple(each for bit, each in enumerate(filters) if not stored.mask >> bit & 1)
        missing = [each for each in filters if each.number in told.get("missing_filters", ())]
        codecs = codecs_of(filters, told["size"]) if not why else ()
        if isinstance(codecs, str):
            why, codecs = codecs, ()
        if not why:
            node = replace(node, values=self._chunks(node, sides, codecs))
            why = self._why_not_filled(node, path, told)
        if not why and path in self._stored:
            why = self._why_not_proved(node, path, filters, inner)
        if not why:
            if not missing:
                self.sources[node.path] = self._source(node, path, told, tree, inner)
            return node
        if missing:
            error = RefbrowserError(
                ErrorKind.META,
                f"no installed package decodes its filter {quoted(missing[0].title)}",
                Place(path=node.path, url=self.file.url),
                missing[0].advice,
            )
            return replace(node, values=Chunks(grid=asked_grid(node.shape, sides, 1)), unreadable=error)
        self._stored.pop(path, None)
        return self._by_library(node, path, told, tree, inner, why)

    @staticmethod
    def _chunks(node: ArrayNode, sides: tuple[int, ...], codecs: tuple[CodecSpec, ...]) -> Chunks:
        return Chunks(grid=RegularChunkGrid(node.shape, sides), codecs=codecs)

    def _why_not_filled(self, node: ArrayNode, path: str, told: Told) -> str:
        """Return why it is not known what elements that are not stored hold; empty where it is."""
        if "unknown_fill" not in told or not prod(node.shape):
            return ""
        if path in self._stored:
            is_whole = len(self._stored[path]) >= prod(node.grid.grid_shape[: len(told["shape"])])
        else:
            is_whole = told["layout"] == "compact" or told["offset"] is not None
        return "" if is_whole else str(told["unknown_fill"])

    def _by_library(
        self, node: ArrayNode, path: str, told: Told, tree: Tree, inner: tuple[int, ...], why: str
    ) -> ArrayNode:
        """Return an array that the library reads."""
        source = self._source(node, path, told, tree, inner)
        grid = source.grid
        self.findings.append(
            Finding(
                severity=Severity.WARNING,
                kind=ErrorKind.META,
                message=f"it cannot be referenced: {why}",
                place=Place(url=self.file.url, path=node.path),
            )
        )
        values = Pieces(
            grid=grid,
            manifest=SourceManifest(source, node.path, grid),
            source=source,
            unreferenced=why,
        )
        return replace(node, shape=grid.shape, values=values)

    def _source(
        self, node: ArrayNode, path: str, told: Told, tree: Tree, inner: tuple[int, ...]
    ) -> LibrarySource:
        """Return what has the library read an array."""
        sides = (*told["chunks"], *inner) if "chunks" in told else None
        # Rows and texts have more bytes than the places that lead to them.
        size = node.known_dtype.itemsize * (8 if node.known_dtype.hasobject else 1)
        grid = asked_grid((*told["shape"], *inner), sides, size)
        return LibrarySource(self.file, path, tree, grid, inner)

    def _lost(self, node: ArrayNode, why: str) -> RefbrowserError:
        place = Place(path=node.path, url=self.file.url)
        return RefbrowserError(ErrorKind.META, why, place)

    # Proof

    def _why_not_proved(
        self, node: ArrayNode, path: str, filters: tuple[Filter, ...], inner: tuple[int, ...]
    ) -> str:
        """Return why the chunks of an array are not what its codecs read; empty where they are."""
        stored = self._stored[path]
        if not len(stored):
            return ""
        odd = stored.masks != stored.mask
        # Our codecs may read what the library has no filter for: its frames say what they hold.
        is_ours_alone = bool(self.contents.arrays[path].get("missing_filters"))
        if filters:
            ndim = len(node.shape) - len(inner)
            size = prod(inner) * node.known_dtype.itemsize
            shape = tuple(self.contents.arrays[path]["shape"])
            edges = ~odd & stored.unfiltered_edges(shape, node.grid.regular.chunk_shape[:ndim], size)
            if edges.any() and not is_ours_alone and self._refuted(node, path, int(np.argmax(edges)), inner):
                odd |= edges
        if odd.any() and (why := self._why_not_apart(node, path, odd, inner)):
            return why
        stored = self._stored[path]
        if not filters or not len(stored):
            return ""
        if is_ours_alone or (self.is_remote and all(each.number in STANDARD for each in filters)):
            return ""
        key = pipeline_key(filters, node.known_dtype)
        is_standard = all(each.number in STANDARD for each in filters)
        if is_standard and key in _PROVED:
            return ""
        if key not in self._proofs:
            first = int(np.argmin(stored.offsets))
            self._proofs[key] = self._refuted(node, path, first, inner)
            if is_standard and not self._proofs[key] and len(_PROVED) < _PROOFS:
                _PROVED.add(key)
        return self._proofs[key]

    def _refuted(self, node: ArrayNode, path: str, number: int, inner: tuple[int, ...]) -> str:
        return refuted(self.file, self._candidate(node, path, number, inner), self.token)

    def _candidate(self, node: ArrayNode, path: str, number: int, inner: tuple[int, ...]) -> Candidate:
        shape = tuple(self.contents.arrays[path].get("shape", ()))
        return Candidate(node, path, self._stored[path], number, inner, shape)

    def _why_not_apart(
        self, node: ArrayNode, path: str, odd: npt.NDArray[np.bool_], inner: tuple[int, ...]
    ) -> str:
        """Have chunks that other filters read be encoded anew; returns why they cannot be, empty else."""
        numbers = np.flatnonzero(odd).tolist()
        self._room -= len(numbers) * prod(node.grid.regular.chunk_shape) * node.known_dtype.itemsize
        if self._room < 0:
            return f"{len(numbers)} of its chunks are stored without some of its filters"
        stored = self._stored[path]
        made = {}
        try:
            for number in numbers:
                coords = (*stored.coords[number].tolist(), *(0 for _ in inner))
                candidate = self._candidate(node, path, number, inner)
                made[coords] = encoded_anew(self.file, candidate, self.token)
        except RefbrowserError as error:
            return error.message
        self._apart[path] = made
        self._stored[path] = stored.only(~odd)
        said = counted_plain(len(made), "of its chunks is", "of its chunks are")
        self.contents.warn(
            f"{said} stored without some of its filters: encoded again, in the document itself", path
        )
        return ""

    # References

    def placed(self) -> list[Placed]:
        """Return where the chunks of all arrays are."""
        found = (self._placed(path, node) for path, node in self.nodes.items())
        return [each for each in found if each is not None]

    def _placed(self, path: str, node: ArrayNode) -> Placed | None:
        if node.values.encoded is None or node.unreadable is not None or not prod(node.shape):
            return None
        stored, told = self._stored.get(path), self.contents.arrays[path]
        if stored is not None:
            return Placed(node, stored, self._apart.get(path, {}))
        if told["layout"] == "compact":
            return Placed(node, data=bytes(self.contents.chunks.get(path, b"")))
        if told["layout"] == "contiguous" and told["offset"] is not None and told["stored"]:
            return Placed(node, offset=told["offset"])
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where the chunks of an array are, one of three ways.

    Attributes
    ----------
    stored, apart
        Those of a grid, and of these, by coordinates, what was encoded again.
    data
        The elements themselves.
    offset
        Where in the file they lie together.
    """

    node: ArrayNode
    stored: Stored | None = None
    apart: Mapping[tuple[int, ...], bytes] = field(default_factory=dict)
    data: bytes | None = None
    offset: int = 0


def add_chunks(arrays: Iterable[Placed], complete: set[str], manifest: ManifestBuilder) -> None:
    """Add the chunks of arrays to a manifest, and the paths of arrays that lack none to `complete`."""
    for each in arrays:
        node, stored = each.node, each.stored
        prefix, ndim = node.key_prefix, len(node.shape)
        if stored is None:
            complete.add(node.path)
        if each.data is not None:
            manifest.add_bytes(prefix + ".".join("0" * max(ndim, 1)), each.data)
        elif stored is None:
            size = prod(node.shape) * node.known_dtype.itemsize
            coords = np.zeros((1, max(ndim, 1)), np.int64)
            manifest.add_ranges(prefix, coords, np.array([each.offset]), np.array([size]))
        else:
            coords = np.zeros((len(stored), max(ndim, 1)), np.int64)
            coords[:, : stored.coords.shape[1]] = stored.coords
            grid_shape = node.grid.grid_shape[: stored.coords.shape[1]]
            inside: npt.NDArray[np.bool_] = np.all(stored.coords < np.array(grid_shape), axis=1)
            if np.count_nonzero(inside) == prod(grid_shape):
                complete.add(node.path)
            if not inside.all():
                coords, stored = coords[inside], stored.only(inside)
            manifest.add_ranges(prefix, coords, stored.offsets, stored.sizes)
            for at, data in each.apart.items():
                manifest.add_bytes(prefix + ".".join(map(str, at)), data)


def _fill_of(told: Told, tree: Tree) -> Any:
    """Return what missing elements hold, None where nothing is said."""
    fill = told.get("fill")
    if tree["kind"] == "rows":
        return np.empty(0, dtype_of(tree["of"]))
    if tree["kind"] in ("string", "reference"):
        return (fill or {}).get("text", "")
    if not fill:
        return None
    data = bytes.fromhex(fill["hex"])
    if not dtype_of(tree).itemsize or (tree["kind"] == "structure" and not any(data)):
        return None
    return unpacked(tree, 1, memoryview(data))[0]
