"""What a stream says of its dataset and Zarr metadata cannot: types, dimensions, and how values are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity
from refbrowser.formats.ncstream.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.formats.ncstream.document_text import attribute_value, attribute_values
from refbrowser.formats.ncstream.elements import fill_of, names_for, row_dtype_of, shown_dtype_of
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.formats.ncstream.pieces import StreamWitness
from refbrowser.formats.ncstream.sources import StreamSource
from refbrowser.formats.ncstream.stream_layouts import StreamLayout, StreamLayouts
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
from refbrowser.model.values import NO_VALUES, ArraySource, Chunks, Pieces, SourceManifest
from refbrowser.references.document.content import Fact

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
#: Dimensions that nodes below a group see, by name: the path of their group, and what they are.
_Scope = Mapping[str, tuple[str, Dimension]]
_Enums = Mapping[str, Mapping[int, str]]


@dataclass(frozen=True, eq=False)
class StreamOrigin:
    """The stream that a document was made from (`DerivedOrigin`).

    Attributes
    ----------
    index
        All its messages.
    options
        How it is read.
    """

    index: StreamIndex
    options: StreamOptions = field(default_factory=StreamOptions)
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

    def completed(self, hierarchy: Hierarchy) -> Hierarchy:
        """Return the hierarchy that the document's metadata describes, with what only the stream tells."""
        root: Node = hierarchy.root
        if isinstance(root, GroupNode):
            root = self._group(root, self.definition.root, {}, {})
        problems = [*hierarchy.problems, *self._problems()]
        return replace(hierarchy, root=root, problems=tuple(problems), has_characters=True)

    def facts(self) -> Sequence[Fact]:
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

    def _problems(self) -> list[Finding]:
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

    def _group(self, node: GroupNode, said: StreamGroup, above: _Scope, enums: _Enums) -> GroupNode:
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
        attributes, types = typed_attributes(node.attributes, said.attributes)
        arrays = {
            name: self._array(array, seen, enums) if name in said.variables else array
            for name, array in node.arrays.items()
        }
        groups = {
            name: self._group(below, said.groups.get(name, StreamGroup()), seen, enums)
            for name, below in node.groups.items()
        }
        return replace(
            node,
            dimensions=dimensions,
            attributes=attributes,
            attribute_types=types,
            arrays=arrays,
            groups=groups,
        )

    def _array(self, node: ArrayNode, seen: _Scope, enums: _Enums) -> ArrayNode:
        layout = self.layouts.by_path.get(node.path)
        if layout is None:
            return node
        variable = layout.variable
        internal = {DIMENSIONS_ATTRIBUTE: node.attributes.get(DIMENSIONS_ATTRIBUTE)}
        shown = {name: value for name, value in node.attributes.items() if name != DIMENSIONS_ATTRIBUTE}
        attributes, types = typed_attributes(shown, variable.attributes)
        common: dict[str, Any] = {
            "attributes": attributes,
            "attribute_types": types,
            "internal_attributes": internal,
            "dimension_paths": _dimension_paths(node, variable, seen),
        }
        if layout.error is not None:
            error = _located(layout.error, self.path, node.path)
            return replace(node, **common, values=NO_VALUES, error=error)
        source = self.sources.get(node.path)
        if source is None:
            type = _type_of(variable, enums, node.dtype, node.type.name)
            values = node.values
            if isinstance(values, Chunks):
                values = replace(values, witness=StreamWitness(self.index, layout))
            return replace(node, **common, type=type, values=values)
        keys = node.chunk_keys if node.has_grid else ChunkKeyEncoding()
        return replace(node, **common, **_of_source(layout, source, enums, keys))


def _of_members(members: Iterable[StreamVariable], above: str = "") -> Iterator[tuple[str, MemberAttributes]]:
    """Yield the attributes of members that have any, by their names joined by points."""
    for member in members:
        if member.attributes:
            stored = attribute_values(member.attributes)
            yield above + member.name, MemberAttributes(*typed_attributes(stored, member.attributes))
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
        ),
        "unreadable": None,
    }


def typed_attributes(
    stored: Mapping[str, Any], said: Mapping[str, StreamAttribute]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return attributes with the values that JSON cannot hold, and the netCDF types of those unchanged.

    Parameters
    ----------
    stored
        As the metadata of the document has them, edited or not.
    said
        As the stream has them.
    """
    values, types = {}, {}
    for name, value in stored.items():
        values[name] = value
        attribute = said.get(name)
        if attribute is None or attribute_value(attribute) != value:
            continue
        is_text = attribute.type in (StreamType.STRING, StreamType.CHAR)
        if not is_text:
            values[name] = list(attribute.values) if len(attribute.values) != 1 else attribute.values[0]
        if attribute.type in _NAMES and (
            attribute.type is not StreamType.STRING or len(attribute.values) > 1
        ):
            types[name] = str(_NAMES[attribute.type])
    return values, types


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
