"""Opening classic netCDF files; what is behind such a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Severity, quoted
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.library_source import LibrarySource, asked_grid
from refbrowser.formats.library.process import NETCDF3, LibraryFile
from refbrowser.formats.named_bytes import named_bytes
from refbrowser.formats.netcdf3.chunks import Run, read_together, run_of
from refbrowser.formats.netcdf3.header import (
    MAGIC,
    ClassicAttribute,
    ClassicHeader,
    ClassicVariable,
    read_header,
)
from refbrowser.formats.sniffing import HEAD, NotThisError, found_in_file
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.io.fetching.byte_sources import ByteSource
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node
from refbrowser.model.values import Chunks, Pieces, SourceManifest
from refbrowser.references.content.made_text import plain_attribute
from refbrowser.references.content.origins import Fact, PlainAnswers
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument, unheld_name
from refbrowser.references.rules.layouts import RangeLayout

#: Chunks of a file of which each has a reference of its own; where there are more, those of variables with
#: many are computed. Rules would be fewer, but other software takes milliseconds for each row of one.
_LISTED, _MANY = 250_000, 1_000
#: What reads such files too.
_LIBRARIES = ("netCDF4", "scipy")
_VERSIONS = {1: "CDF-1 (classic)", 2: "CDF-2 (64-bit offsets)", 5: "CDF-5 (64-bit data)"}


@dataclass(frozen=True, eq=False)
class ClassicOrigin(PlainAnswers):
    """The file that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    header
        What its header tells.
    nodes
        The group and the arrays, by path. Those whose data cannot be placed are in the hierarchy alone: other
        software would take their chunks for missing.
    runs
        The chunks of the arrays.
    library
        What has a library read values of it, to be compared with ours; None where none can.
    """

    header: ClassicHeader
    nodes: Mapping[str, Node]
    runs: Mapping[str, Run]
    library: LibraryFile | None = None
    format: str = "netcdf3"

    @property
    def path(self) -> str:
        """Its URL, or its path with links resolved."""
        return self.header.url

    def told(self) -> Sequence[Fact]:
        """Return its version, how many records it has, and its size."""
        header = self.header
        return (
            Fact("Version", _VERSIONS[header.version]),
            Fact("Records", header.records),
            Fact("Size", header.file_size, is_size=True),
        )

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return an array that a library reads; None where none can, or its data cannot be placed."""
        there = self.nodes.get(node.path)
        if self.library is None or not isinstance(there, ArrayNode) or there.error is not None:
            return None
        if there.shape != node.shape:
            return None
        dtype = there.known_dtype.newbyteorder("=")
        grid = asked_grid(node.shape, None, dtype.itemsize)
        tree = {"kind": "plain", "dtype": dtype.str, "exact": True}
        source = LibrarySource(self.library, node.path, tree, grid)
        manifest = SourceManifest(source, node.path, grid)
        return replace(node, values=Pieces(grid=grid, manifest=manifest, source=source))

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, GroupNode | ArrayNode]) -> Hierarchy:
        """Return a hierarchy with the dimensions that the file declares.

        Nodes whose metadata was edited get what only the file tells of them: the types of attributes.
        """
        root: Node = hierarchy.root
        if isinstance(root, GroupNode):
            sizes = {name: each.size for name, each in root.dimensions.items()}
            declared = {
                name: each
                for name, each in self._declared().items()
                if sizes.get(name, each.size) == each.size
            }
            arrays = {name: self._completed(each, described) for name, each in root.arrays.items()}
            faulty = {
                each.name: each for each in self.nodes.values() if isinstance(each, ArrayNode) and each.error
            }
            if faulty:
                order = {path[1:]: None for path in self.nodes if path[1:] in arrays or path[1:] in faulty}
                arrays = {name: arrays.get(name) or faulty[name] for name in (*order, *arrays)}
            root = replace(
                self._typed(root, described),
                dimensions={**declared, **root.dimensions, **declared},
                arrays=arrays,
            )
        return replace(hierarchy, root=root, has_characters=True)

    def _completed(self, node: ArrayNode, described: Mapping[str, Node]) -> ArrayNode:
        values = node.values.encoded
        if node.path in described and values is not None and node.error is None:
            return replace(
                node, values=read_together(values, self.runs[node.path], node.path, node.known_dtype)
            )
        typed: ArrayNode = self._typed(node, described)
        return typed

    def _declared(self) -> dict[str, Dimension]:
        of_records = self.header.record_dimension
        return {
            name: Dimension(name, size or self.header.records, unlimited=number == of_records)
            for number, (name, size) in enumerate(self.header.dimensions)
        }

    def _typed(self, node: Any, described: Mapping[str, Node]) -> Any:
        """Return a node that was read from edited metadata with the types of attributes that stayed."""
        before = self.nodes.get(node.path)
        if before is None or node.path in described:
            return node
        shown = {name: value for name, value in node.attributes.items() if name != DIMENSIONS_ATTRIBUTE}
        same = [
            name
            for name, value in shown.items()
            if name in before.attributes and plain_attribute(before.attributes[name]) == value
        ]
        internal = {name: node.attributes[name] for name in node.attributes if name not in shown}
        return replace(
            node,
            attributes={**shown, **{name: before.attributes[name] for name in same}},
            attribute_types={name: before.attribute_types[name] for name in same},
            internal_attributes={**node.internal_attributes, **internal},
        )


def open_named_classic(opening: Opening) -> Opened:
    """Open the classic netCDF file at a path or URL; only its header is read.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is another file; else it cannot be read.
    """
    # Before anything is read of it: what changes meanwhile is told.
    identity = opening.identity()
    with named_bytes(opening) as named:
        _check_is_classic(named.source, opening.path)
        header = read_header(named.source, named.url, opening.token.check)
    library = None
    if opening.seen.local is not None and any(find_spec(name) is not None for name in _LIBRARIES):
        library = LibraryFile(NETCDF3, "netCDF", named.url, identity=identity)
    document = document_of_header(header, name=opening.path, library=library)
    return Opened(document, named.access, named.identity)


def _check_is_classic(source: ByteSource, path: str) -> None:
    head = bytes(source.read(0, HEAD))
    if head[:4] in MAGIC:
        return
    message = f"{quoted(path)} is not classic netCDF"
    error = NotThisError(ErrorKind.FORMAT, message)
    error.found = found_in_file(head)
    raise error


def document_of_header(
    header: ClassicHeader, *, name: str, library: LibraryFile | None = None
) -> ManifestDocument:
    """Return the document of a file whose header was read.

    Parameters
    ----------
    name
        For messages.
    library
        What has a library read it.
    """
    manifest = ManifestBuilder(header.url)
    attributes, types = _attributes(header.attributes)
    root = GroupNode(attributes=attributes, attribute_types=types)
    manifest.add_node(root)
    nodes: dict[str, Node] = {"/": root}
    runs: dict[str, Run] = {}
    for variable in header.variables:
        path = f"/{variable.name}"
        if (unheld := unheld_name(path.replace("/", "//"))) is not None:
            header.findings.append(unheld.at(replace(unheld.place, path=path)))
        elif path in runs:
            header.found(f"two variables are named {quoted(variable.name)}; the first is shown", path=path)
        else:
            runs[path] = run = run_of(variable, header) if variable.fault is None else _NOTHING
            nodes[path] = node = _array(variable, path, run, header)
            if node.error is None:
                manifest.add_node(node)
    are_listed = sum(each.count for each in runs.values()) <= _LISTED
    for path, run in runs.items():
        _add_chunks(manifest, path[1:], run, _LISTED if are_listed else _MANY)
    _judge_places(header, runs)
    return manifest.document(
        name=name, origin=ClassicOrigin(header, nodes, runs, library), notes=tuple(header.findings)
    )


#: The chunks of a variable whose data cannot be placed.
_NOTHING = Run((), 0, 0, 0, 0)


def _array(variable: ClassicVariable, path: str, run: Run, header: ClassicHeader) -> ArrayNode:
    attributes, types = _attributes(variable.attributes)
    names = [header.dimensions[each][0] for each in variable.dimensions]
    common: dict[str, Any] = {
        "path": path,
        "type": DataType.of(variable.dtype),
        "attributes": attributes,
        "attribute_types": types,
    }
    if variable.fault is not None:
        return ArrayNode(**common, shape=variable.lengths, dimensions=tuple(names), error=variable.fault)
    return ArrayNode(
        **common,
        shape=variable.lengths,
        dimensions=tuple(names),
        internal_attributes={DIMENSIONS_ATTRIBUTE: names},
        fill_value=_fill_value(variable),
        values=Chunks(grid=RegularChunkGrid(variable.lengths, run.shape)),
    )


def _fill_value(variable: ClassicVariable) -> Any:
    """Return what the variable says that missing elements hold; None where it says nothing that can be."""
    said = variable.attributes.get(FILL_ATTRIBUTE)
    if said is None or said.type is not variable.type or len(said.values) != 1:
        return None
    value = said.values[0]
    if isinstance(value, str):
        return np.bytes_(value.encode("latin-1", "replace"))
    return variable.dtype.type(value)


def _attributes(said: Mapping[str, ClassicAttribute]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of attributes, a list where there are not just one, and their netCDF types."""
    kept = {name: each for name, each in said.items() if name != DIMENSIONS_ATTRIBUTE}
    values = {
        name: each.values[0] if isinstance(each.values, list) and len(each.values) == 1 else each.values
        for name, each in kept.items()
    }
    return values, {name: str(each.type) for name, each in kept.items()}


def _add_chunks(manifest: ManifestBuilder, name: str, run: Run, listed: int) -> None:
    """Add the references of an array; of more chunks than so many they are computed."""
    rank = len(run.shape)
    if run.count > listed:
        grid = (run.count, *(1 for _ in range(rank - 1)))
        layout = RangeLayout(f"{name}/", grid, ChunkKeyEncoding(), manifest.place)
        layout = replace(layout, offset=run.offset, step=run.step, length=run.length)
        manifest.layouts.append(layout)
    elif run.count:
        numbers = np.arange(run.count)
        coords = np.zeros((run.count, max(rank, 1)), np.int64)
        coords[:, 0] = numbers
        lengths = np.full(run.count, run.length)
        manifest.add_ranges(f"{name}/", coords, run.offset + numbers * run.step, lengths)


def _judge_places(header: ClassicHeader, runs: Mapping[str, Run]) -> None:
    """Note what is wrong with where the header places data."""

    def warn(path: str, message: str, **more: Any) -> None:
        header.found(message, path=path, severity=Severity.WARNING, **more)

    placed = sorted(((run, path) for path, run in runs.items() if run.count), key=lambda each: each[0].offset)
    for run, path in placed:
        if run.end > header.file_size:
            message = f"the file ends at byte {header.file_size}, the data of {quoted(path[1:])} at {run.end}"
            warn(path, message, kind=ErrorKind.RANGE, is_loss=True)
        if header.is_whole and run.offset < header.size:
            warn(path, f"the data of {quoted(path[1:])} begins within the header")
    for (first, path), (second, other) in pairwise(placed):
        if first.offset + first.length > second.offset:
            warn(other, f"the data of {quoted(other[1:])} begins within that of {quoted(path[1:])}")
