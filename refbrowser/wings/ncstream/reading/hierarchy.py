"""The groups and arrays of a stream, made from what its headers say; and where their chunks are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.model import dtypes
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import (
    DataType,
    EnumerationType,
    MemberAttributes,
    RowType,
    SequenceType,
    StructureType,
)
from refbrowser.model.netcdf.types import AtomicType
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node
from refbrowser.model.reference import ByteRange
from refbrowser.model.values import NO_VALUES, ArraySource, Chunks, CodecSpec, Pieces, SourceManifest
from refbrowser.references.content.made_text import plain_attribute, spelled_array, spelled_node
from refbrowser.references.content.origins import DocumentOrigin, Fact, PlainAnswers
from refbrowser.references.content.value_table import json_of
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument, unheld_name
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.elements import fill_of, names_for, row_dtype_of, shown_dtype_of
from refbrowser.wings.ncstream.reading.messages import StreamIndex
from refbrowser.wings.ncstream.reading.pieces import StreamWitness
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.sources import StreamSource
from refbrowser.wings.ncstream.reading.stream_layouts import StreamLayout, StreamLayouts

#: What the types of attributes are called in netCDF; text that is one value is `char` as in most files.
_NAMES = {
    StreamType.CHAR: AtomicType.CHAR,
    StreamType.BYTE: AtomicType.BYTE,
    StreamType.SHORT: AtomicType.SHORT,
    StreamType.INT: AtomicType.INT,
    StreamType.LONG: AtomicType.INT64,
    StreamType.FLOAT: AtomicType.FLOAT,
    StreamType.DOUBLE: AtomicType.DOUBLE,
    StreamType.STRING: AtomicType.STRING,
    StreamType.UBYTE: AtomicType.UBYTE,
    StreamType.USHORT: AtomicType.USHORT,
    StreamType.UINT: AtomicType.UINT,
    StreamType.ULONG: AtomicType.UINT64,
    StreamType.ENUM1: AtomicType.UBYTE,
    StreamType.ENUM2: AtomicType.USHORT,
    StreamType.ENUM4: AtomicType.UINT,
}
#: What stands before the number of a message where one is named like a key, and digits of that at most.
_MESSAGES, _DIGITS = "messages", 18
_OBJECTS = {StreamType.STRING: "string", StreamType.OPAQUE: "opaque"}
#: What zlib streams of a level that nobody knows are read with.
_ZLIB = CodecSpec("zlib", {"level": 1})
#: The order in which metadata that is made of arrays has its members.
_MEMBERS = ("zarr_format", "shape", "chunks", "compressor", "order", "dtype", "filters", "fill_value")
#: Dimensions that nodes below a group see, by name: the path of their group, and what they are.
_Scope = Mapping[str, tuple[str, Dimension]]
_Enums = Mapping[str, Mapping[int, str]]


@dataclass(frozen=True, eq=False)
class StreamOrigin(PlainAnswers):
    """The stream that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    index
        All its messages.
    options
        How it is read.
    """

    index: StreamIndex
    options: StreamReading = field(default_factory=StreamReading)
    format: str = "ncstream"

    @property
    def path(self) -> str:
        """Its URL, or its path with links resolved."""
        return self.index.url

    @cached_property
    def layouts(self) -> StreamLayouts:
        """How its messages become arrays."""
        return StreamLayouts(self.index, self.options)

    @property
    def definition(self) -> StreamDefinition:
        """What its headers say, up to the last message that counts."""
        return self.layouts.definition

    @cached_property
    def sources(self) -> dict[str, ArraySource]:
        """What makes the values of the variables that references cannot express, by path."""
        layouts = self.layouts.by_path
        return {
            path: StreamSource(self.index, layout, self.options)
            for path, layout in layouts.items()
            if layout.error is None and not layout.is_regular
        }

    def nodes(self) -> Iterator[Node]:
        """Yield the groups and the arrays, as its headers describe them, in the order of its document."""
        enums: dict[str, _Enums] = {}
        for path, group in self.definition.groups():
            above = enums.get(_above(path), {}) if path != "/" else {}
            enums[path] = {**above, **group.enums} if group.enums else above
            attributes, types = _attributes(group.attributes)
            yield GroupNode(path=path, attributes=attributes, attribute_types=types)
        for path, layout in self.layouts.by_path.items():
            yield self._array(layout, enums[_above(path)])

    def _array(self, layout: StreamLayout, enums: _Enums) -> ArrayNode:
        variable = layout.variable
        said = {name: each for name, each in variable.attributes.items() if name != DIMENSIONS_ATTRIBUTE}
        attributes, types = _attributes(said)
        names = [each.name or None for each in variable.dimensions if not each.is_vlen]
        shown = names if len(names) == len(layout.shape) else [None] * len(layout.shape)
        common: dict[str, Any] = {
            "path": layout.path,
            "shape": layout.shape,
            "dimensions": tuple(shown),
            "attributes": attributes,
            "attribute_types": types,
            "internal_attributes": {DIMENSIONS_ATTRIBUTE: shown},
            "fill_marks": False,
        }
        if layout.error is not None:
            error = _located(layout.error, self.path, layout.path)
            return ArrayNode(**common, type=DataType.of(np.dtype(np.uint8)), error=error)
        source = self.sources.get(layout.path)
        if source is not None:
            return ArrayNode(**common, **_of_source(layout, source, enums, ChunkKeyEncoding()))
        dtype = np.dtype(layout.dtype.str)
        return ArrayNode(
            **common,
            type=_type_of(variable, enums, dtype, dtypes.type_name(dtype)),
            fill_value=fill_of(variable, layout.order),
            values=Chunks(
                grid=layout.grid,
                codecs=(_ZLIB,) if layout.is_deflated else (),
                witness=StreamWitness(self.index, layout),
            ),
        )

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, Node]) -> Hierarchy:
        """Return a hierarchy with the dimensions of its groups.

        Nodes whose metadata was edited get what only the stream tells of them.
        """
        root: Node = hierarchy.root
        if isinstance(root, GroupNode):
            root = self._completed_group(root, self.definition.root, {}, {}, described)
        findings = [*hierarchy.findings, *self._findings()]
        return replace(hierarchy, root=root, findings=tuple(findings), has_characters=True)

    def told(self) -> Sequence[Fact]:
        """Return how many messages it has, and its size."""
        return Fact("Messages", len(self.index.table)), Fact("Size", self.index.size, is_size=True)

    def reference_of(self, name: str) -> ByteRange | None:
        """Return where a message lies, ``messages/12``; None where none is meant.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: the stream has no such message.
        """
        before, _, digits = name.rpartition("/")
        if before != _MESSAGES or not (digits.isascii() and digits.isdigit()):
            return None
        table = self.index.table
        if len(digits) > _DIGITS or int(digits) >= len(table):
            raise RefbrowserError(ErrorKind.USAGE, f"the stream has {len(table)} messages", Place(key=name))
        offset, stop = int(table.offset[int(digits)]), int(table.stop[int(digits)])
        return ByteRange(self.index.url, offset, stop - offset)

    def _findings(self) -> list[Finding]:
        found = []
        for path, layout in self.layouts.by_path.items():
            if layout.error is not None:
                error = layout.error
                finding = Finding(
                    severity=Severity.FAULT,
                    kind=error.kind,
                    message=error.message,
                    place=Place(url=self.path, path=path),
                    advice=error.advice,
                )
                found.append(finding)
        return found

    def _completed_group(
        self,
        node: GroupNode,
        said: StreamGroup,
        above: _Scope,
        enums: _Enums,
        described: Mapping[str, Node],
    ) -> GroupNode:
        enums = {**enums, **said.enums}
        dimensions = {
            name: Dimension(name, each.length, each.is_unlimited)
            for name, each in said.dimensions.items()
            if not each.is_vlen
        }
        seen = {**above, **{name: (node.path, each) for name, each in dimensions.items()}}
        for name, dimension in node.dimensions.items():
            # Old headers have dimensions in the shapes of variables only.
            known = seen.get(name)
            if (known is None or known[1].size != dimension.size) and _is_shared(said, name):
                dimensions.setdefault(name, replace(dimension, unlimited=_is_unlimited(said, name)))
                seen[name] = node.path, dimensions[name]
        arrays = dict(node.arrays)
        for name, array in node.arrays.items():
            layout = self.layouts.by_path.get(array.path) if name in said.variables else None
            if layout is not None:
                if array.path not in described:
                    array = self._edited(array, layout, enums)
                paths = _dimension_paths(array, layout.variable, seen)
                same = paths == array.dimension_paths
                arrays[name] = array if same else replace(array, dimension_paths=paths)
        groups = {
            name: self._completed_group(below, said.groups.get(name, StreamGroup()), seen, enums, described)
            for name, below in node.groups.items()
        }
        if node.path not in described:
            attributes, types = _typed_attributes(node.attributes, said.attributes)
            node = replace(node, attributes=attributes, attribute_types=types)
        return replace(node, dimensions=dimensions, arrays=arrays, groups=groups)

    def _edited(self, node: ArrayNode, layout: StreamLayout, enums: _Enums) -> ArrayNode:
        """Return an array that was read from edited metadata, with what only the stream tells of it."""
        variable = layout.variable
        internal = {DIMENSIONS_ATTRIBUTE: node.attributes.get(DIMENSIONS_ATTRIBUTE)}
        shown = {name: value for name, value in node.attributes.items() if name != DIMENSIONS_ATTRIBUTE}
        attributes, types = _typed_attributes(shown, variable.attributes)
        common: dict[str, Any] = {
            "attributes": attributes,
            "attribute_types": types,
            "internal_attributes": internal,
        }
        if layout.error is not None:
            error = _located(layout.error, self.path, node.path)
            return replace(node, **common, values=NO_VALUES, error=error)
        source = self.sources.get(node.path)
        if source is None:
            type = _type_of(variable, enums, node.dtype, node.type.name)
            values = node.values.witnessed(StreamWitness(self.index, layout))
            return replace(node, **common, type=type, values=values)
        keys = node.chunk_keys if node.has_grid else ChunkKeyEncoding()
        return replace(node, **common, **_of_source(layout, source, enums, keys))


def _of_members(members: Iterable[StreamVariable], above: str = "") -> Iterator[tuple[str, MemberAttributes]]:
    """Yield the attributes of members that have any, by their names joined by points."""
    for member in members:
        if member.attributes:
            yield above + member.name, MemberAttributes(*_attributes(member.attributes))
        yield from _of_members(member.members, f"{above}{member.name}.")


def _type_of(variable: StreamVariable, enums: _Enums, dtype: np.dtype[Any] | None, name: str) -> DataType:
    """Return what an element of a variable is, or an element of a row of it, with what the header says."""
    if names := names_for(variable, enums):
        return EnumerationType(dtype, name, names, variable.enum_name)
    if dtype is None or dtype.names is None:
        return DataType(dtype, name)
    kind = SequenceType if variable.type is StreamType.SEQUENCE else StructureType
    return kind(dtype, name, dict(_of_members(variable.members)))


def _of_source(
    layout: StreamLayout, source: ArraySource, enums: _Enums, keys: ChunkKeyEncoding
) -> dict[str, Any]:
    """Return the fields of a node whose values are made from messages."""
    variable = layout.variable
    dtype = shown_dtype_of(variable, layout.order, enums)
    rows = row_dtype_of(variable, layout.order)
    elements = dtype if rows is None else rows
    name = _OBJECTS.get(variable.type) or dtypes.type_name(elements)
    type = _type_of(variable, enums, elements, name)
    if rows is not None:
        type = RowType(dtype, f"vlen({name})", type, variable.dimensions[-1].name or "*")
    return {
        "type": type,
        "fill_value": fill_of(variable, layout.order),
        "values": Pieces(
            grid=layout.grid,
            manifest=SourceManifest(source, layout.path, layout.grid),
            keys=keys,
            source=source,
            stored_in="messages of the stream",
        ),
        "unreadable": None,
    }


def _attributes(said: Mapping[str, StreamAttribute]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of attributes, and their netCDF types."""
    types = {
        name: str(_NAMES[each.type])
        for name, each in said.items()
        if each.type in _NAMES and (each.type is not StreamType.STRING or len(each.values) > 1)
    }
    return {name: _value_of(each) for name, each in said.items()}, types


def _value_of(attribute: StreamAttribute) -> Any:
    """Return the value of an attribute: a list where there are not just one."""
    values = list(attribute.values)
    if attribute.type in (StreamType.STRING, StreamType.CHAR):
        values = [plain_attribute(value) for value in values] or [""]
    return values[0] if len(values) == 1 else values


def _typed_attributes(
    stored: Mapping[str, Any], said: Mapping[str, StreamAttribute]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return edited attributes, those that are unchanged as the stream has them, and the types of these.

    Parameters
    ----------
    stored
        As the metadata of the document has them.
    said
        As the stream has them.
    """
    same = {
        name: each
        for name, each in said.items()
        if name in stored and plain_attribute(_value_of(each)) == stored[name]
    }
    values, types = _attributes(same)
    return {name: values.get(name, value) for name, value in stored.items()}, types


def _dimension_paths(node: ArrayNode, variable: StreamVariable, seen: _Scope) -> tuple[str | None, ...]:
    private = [each.is_private for each in variable.dimensions if not each.is_vlen]
    paths: list[str | None] = []
    for axis, (name, size) in enumerate(zip(node.dimensions, node.shape, strict=False)):
        known = None if name is None else seen.get(name)
        own = axis < len(private) and private[axis]
        is_known = known is not None and known[1].size == size and not own
        paths.append(f"{known[0].rstrip('/')}/{name}" if known is not None and is_known else None)
    return tuple(paths)


def _is_shared(group: StreamGroup, name: str) -> bool:
    return any(
        each.name == name and not each.is_private
        for variable in group.variables.values()
        for each in variable.dimensions
    )


def _is_unlimited(group: StreamGroup, name: str) -> bool:
    return any(
        each.name == name and each.is_unlimited
        for variable in group.variables.values()
        for each in variable.dimensions
    )


def _located(error: RefbrowserError, url: str, path: str) -> RefbrowserError:
    return RefbrowserError(error.kind, error.message, Place(url=url, path=path), error.advice)


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def document_of_origin(
    said: StreamOrigin, faults: Iterable[Finding], *, name: str, origin: DocumentOrigin | None = None
) -> ManifestDocument:
    """Return the document of a stream: its nodes, and where their messages are.

    Parameters
    ----------
    said
        What the stream says.
    faults
        What is wrong with it; what the document leaves out of it is added to them.
    name
        For messages.
    origin
        What the document is of, where that is not the stream itself.
    """
    layouts = said.layouts
    manifest = ManifestBuilder(layouts.index.url, spell=_spelled)
    findings: list[Finding] = []
    for node in said.nodes():
        if (unnamed := unheld_name(node.path)) is None:
            manifest.add_node(node)
        else:
            findings.append(unnamed)
    nodes = {node.path: node for node in manifest.nodes.values() if isinstance(node, ArrayNode)}
    shown = {node.key_prefix: layouts.by_path[path] for path, node in nodes.items()}
    # Values that stand in headers come before the ranges of messages.
    for prefix, layout in shown.items():
        if layout.inline:
            manifest.add_bytes(prefix + ".".join("0" * max(len(layout.shape), 1)), layout.inline)
    for prefix, layout in shown.items():
        if layout.inline is None and layout.is_regular:
            _add_ranges(manifest, prefix, layout, layouts)
    return manifest.document(name=name, origin=origin or said, notes=(*faults, *findings))


def _add_ranges(manifest: ManifestBuilder, prefix: str, layout: StreamLayout, layouts: StreamLayouts) -> None:
    table, numbers = layouts.index.table, layout.sections.numbers
    coords = layout.sections.starts // np.asarray(layout.grid.chunk_shape, np.int64)
    if not coords.shape[1]:
        coords = np.zeros((len(coords), 1), np.int64)
    manifest.add_ranges(prefix, coords, table.payload_offset[numbers], table.payload_length[numbers])


def _spelled(node: GroupNode | ArrayNode, name: str) -> bytes:
    """Return the metadata of a node as text."""
    if not isinstance(node, ArrayNode) or name != ".zarray":
        return spelled_node(node, name)
    metadata = spelled_array(node)
    return json_of({member: metadata[member] for member in _MEMBERS})
