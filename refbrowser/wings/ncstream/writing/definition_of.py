"""What a stream says of any dataset: its groups, dimensions and variables, and what is not as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.sharding import filled
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.model.data_type import EnumerationType, MemberAttributes, RowType, SequenceType
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE, typed_attribute, typed_attributes
from refbrowser.model.netcdf.dataset import ROOT_ARRAY
from refbrowser.model.netcdf.dimensions import DimensionTable
from refbrowser.model.netcdf.fill import ADDED, fill_attribute, marked
from refbrowser.model.netcdf.names import FreeNames, Parts, join
from refbrowser.model.netcdf.types import AtomicType, DimensionReference, NetcdfDimension
from refbrowser.model.nodes import ArrayNode, Flavour, GroupNode, Hierarchy, Node
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.elements import STRUCTURES
from refbrowser.wings.ncstream.reading.sections import written_anew
from refbrowser.wings.ncstream.writing.stream_types import (
    Convert,
    Element,
    Values,
    element_of,
    enum_element,
    private,
    ragged_element,
)

_TYPES = {
    AtomicType.CHAR: StreamType.STRING,
    AtomicType.STRING: StreamType.STRING,
    AtomicType.BYTE: StreamType.BYTE,
    AtomicType.UBYTE: StreamType.UBYTE,
    AtomicType.SHORT: StreamType.SHORT,
    AtomicType.USHORT: StreamType.USHORT,
    AtomicType.INT: StreamType.INT,
    AtomicType.UINT: StreamType.UINT,
    AtomicType.INT64: StreamType.LONG,
    AtomicType.UINT64: StreamType.ULONG,
    AtomicType.FLOAT: StreamType.FLOAT,
    AtomicType.DOUBLE: StreamType.DOUBLE,
}
_ATOMIC = {stream: atomic for atomic, stream in _TYPES.items() if atomic is not AtomicType.CHAR} | {
    StreamType.CHAR: AtomicType.CHAR,
    StreamType.ENUM1: AtomicType.UBYTE,
    StreamType.ENUM2: AtomicType.USHORT,
    StreamType.ENUM4: AtomicType.UINT,
}


def stream_attributes(node: Node | MemberAttributes) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attributes of a node, and what is not as in the source; `_FillValue` is left out."""
    found: dict[str, StreamAttribute] = {}
    told = []
    for attribute, note in typed_attributes(node.attributes, node.attribute_types):
        assert isinstance(attribute.type, AtomicType)
        found[attribute.name] = StreamAttribute(attribute.name, _TYPES[attribute.type], attribute.values)
        if note is not None:
            told.append(f"attribute {quoted(attribute.name)}: {note.message}")
        elif node.attributes[attribute.name] == [] and attribute.name not in node.attribute_types:
            told.append(f"attribute {quoted(attribute.name)}: an empty list is written as an empty text")
    return found, told


def member_attributes(said: MemberAttributes) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attributes of a member of structures, `_FillValue` too, and what is not as in the source."""
    found, told = stream_attributes(said)
    if FILL_ATTRIBUTE in said.attributes:
        value, type = said.attributes[FILL_ATTRIBUTE], said.attribute_types.get(FILL_ATTRIBUTE)
        attribute, _ = typed_attribute(FILL_ATTRIBUTE, value, type)
        assert isinstance(attribute.type, AtomicType)
        found[FILL_ATTRIBUTE] = StreamAttribute(FILL_ATTRIBUTE, _TYPES[attribute.type], attribute.values)
    return found, told


def fill_attribute_of(
    node: ArrayNode, element: Element, convert: Convert | None
) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attribute `_FillValue` of what an array becomes, and what is not as in the source.

    What the array's own attribute says counts; else its fill value, unless that is what netCDF takes by
    default. Structures have none: their members do (`fill_attribute_of_member`).

    Parameters
    ----------
    element, convert
        What the array, or a part of each of its elements, becomes.
    """
    atomic = None if element.is_ragged else _ATOMIC.get(element.type)
    of_times = next((each for each in element.attributes if each.name == FILL_ATTRIBUTE), None)
    told: list[str] = []
    if FILL_ATTRIBUTE in node.attributes:
        why = "an attribute cannot have the array's type"
        if atomic is not None and of_times is None and _kind(node, ()) != "c":
            attribute, note = fill_attribute(replace(node, fill_value=None), atomic)
            if attribute is not None:
                return _fill(atomic, attribute.values[0]), []
            why = note.message if note is not None else "it has no value"
        told.append(f"{FILL_ATTRIBUTE} is left out: {why}")
    with_mark, lost = marked(node, node)
    held = _held(with_mark, convert)
    told += lost
    if held is None or element.type in STRUCTURES or (of_times and held.tolist() == list(of_times.values)):
        return {}, told
    found, left_out = _of_fill(held, atomic, _kind(node, ()))
    if found:
        told.append(ADDED)
    if left_out:
        told.append(f"the fill value {quoted(node.fill_value)} is left out: {left_out}")
    return found, told


def fill_attribute_of_member(
    node: ArrayNode, convert: Convert | None, names: Sequence[str], member: StreamVariable
) -> tuple[dict[str, StreamAttribute], list[str]]:
    """Return the attribute `_FillValue` of a member of structures, from the fill value of these.

    Parameters
    ----------
    convert
        Makes the structures of the stream of those of the array.
    names
        Of the member, from the outermost one.
    """
    held = _held(node, convert)
    if held is None or FILL_ATTRIBUTE in member.attributes:
        return {}, []
    for name in names:
        held = held[name]
    found, left_out = _of_fill(held, _ATOMIC.get(member.type), _kind(node, names))
    label = quoted(".".join(names))
    if found:
        return found, [f"{FILL_ATTRIBUTE} of the member {label} is added: it holds the fill value"]
    return {}, [f"the fill value of the member {label} is left out: {left_out}"] if left_out else []


def _fill(atomic: AtomicType, value: Any) -> dict[str, StreamAttribute]:
    return {FILL_ATTRIBUTE: StreamAttribute(FILL_ATTRIBUTE, _TYPES[atomic], (value,))}


def _held(node: ArrayNode, convert: Convert | None) -> Values | None:
    """Return one element that holds the fill value, as it is encoded; None where an array has none."""
    if node.fill_value is None or node.dtype is None:
        return None
    held = filled((1,), node.dtype, node.fill_value)
    return held if convert is None else convert(held)


def _kind(node: ArrayNode, names: Iterable[str]) -> str:
    """Return what the elements of an array, or a field of them, are: the letter of numpy."""
    dtype = node.known_dtype
    for name in names:
        # Parts of complex numbers are no fields of the array; some fields have another name in a stream.
        if dtype.base.fields is not None and name in dtype.base.fields:
            dtype = dtype.base.fields[name][0]
    return dtype.base.kind


def _of_fill(held: Values, atomic: AtomicType | None, kind: str) -> tuple[dict[str, StreamAttribute], str]:
    """Return the attribute that tells a fill value, else why none does: empty where none is needed."""
    items = held.reshape(-1).tolist()
    if atomic is None:
        is_empty = not any(any(item) if isinstance(item, bytes) else len(item) for item in items)
        return {}, "" if is_empty else "an attribute cannot have its type"
    values = [item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in items]
    first = values[0] if values else atomic.default_fill
    if any(value != first and (value == value or first == first) for value in values):
        return {}, "elements have several"
    if first == atomic.default_fill or first == "":
        return {}, ""
    # No truth value and no byte of a pattern means that there is none, of times only one does; of complex
    # numbers both parts together do.
    if kind in "bVmM" or (kind == "c" and first == first):
        return {}, "no value is treated as missing"
    return _fill(atomic, first), ""


#: Types of single characters, as the metadata of NCZarr spells them; elsewhere single bytes are characters.
_CHARACTERS = (">S1", "<U1", "char")
#: Tells of a variable which member of a structure it is (wire notes, section 8).
MEMBER_OF = "member_of"


@dataclass(frozen=True, slots=True)
class StreamLoss:
    """Something of a node that a stream has in another way, or not at all."""

    path: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedVariable:
    """A variable of the stream, and the array that its values come from.

    Attributes
    ----------
    path
        In the stream, absolute, without escapes.
    convert
        Makes its values of those of the array; axes of the array come first. None where they stay.
    """

    path: str
    variable: StreamVariable
    node: ArrayNode
    convert: Convert | None = None

    def converted(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values of the array as they are encoded."""
        return values if self.convert is None else self.convert(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedDataset:
    """What a stream says of a dataset.

    Attributes
    ----------
    variables
        In document order.
    losses
        What is not as in the source.
    left_out
        Why arrays are not in it; their paths are those of the errors' places.
    """

    definition: StreamDefinition
    variables: tuple[StreamedVariable, ...]
    losses: tuple[StreamLoss, ...] = ()
    left_out: tuple[RefbrowserError, ...] = ()

    def find(self, path: str) -> StreamedVariable | None:
        """Return the variable at a path in the stream."""
        return next((each for each in self.variables if each.path == path), None)


def definition_of(hierarchy: Hierarchy, *, sequences: bool = True) -> StreamedDataset:
    """Return what a stream says of a dataset of any format.

    Dates become numbers with units, bool becomes byte, float16 float, complex numbers two variables, members
    of structures that have no form there variables of their own: each is told.

    Parameters
    ----------
    sequences
        Write sequences as such; else as structures along a dimension of their own.
    """
    return _Definition(hierarchy, sequences).made()


class _Definition:
    """Makes the groups, once all dimensions are known."""

    def __init__(self, hierarchy: Hierarchy, sequences: bool) -> None:
        root = hierarchy.root
        self._root = root if isinstance(root, GroupNode) else GroupNode(arrays={ROOT_ARRAY: root})
        self._is_nczarr = hierarchy.flavour == Flavour.NCZARR
        self._sequences = sequences
        self._table = DimensionTable()
        self._references: dict[str, tuple[DimensionReference, ...]] = {}
        self._dimensions: dict[str, NetcdfDimension] = {}
        self._variables: list[StreamedVariable] = []
        self._losses: list[StreamLoss] = []
        self._left_out: list[RefbrowserError] = []

    def made(self) -> StreamedDataset:
        """Return all of it."""
        groups = list(_walk((), self._root))
        for parts, node in groups:
            self._table.declare(parts, node)
        for parts, node in groups:
            for array in node.arrays.values():
                if _why_not(array) is None:
                    self._references[array.path], notes = self._table.references(parts, array)
                    self._tell(array, *(note.message for note in notes))
        for parts, _ in groups:
            for dimension in self._table.declared_in(parts):
                self._dimensions[join((*parts, dimension.name))] = dimension
        root = self._group((), self._root)
        return StreamedDataset(
            definition=written_anew(StreamDefinition(root=root)),
            variables=tuple(self._variables),
            losses=tuple(dict.fromkeys(self._losses)),
            left_out=tuple(self._left_out),
        )

    def _tell(self, node: Node, *texts: str) -> None:
        self._losses += (StreamLoss(node.path, text) for text in texts)

    def _group(self, parts: Parts, node: GroupNode) -> StreamGroup:
        attributes, told = stream_attributes(node)
        self._tell(node, *told)
        content = _Content(FreeNames((*node.arrays, *node.groups)))
        for name, array in node.arrays.items():
            self._add(parts, name, array, content)
        return StreamGroup(
            name=parts[-1] if parts else "",
            dimensions={
                dimension.name: StreamDimension(dimension.name, dimension.size, dimension.unlimited)
                for dimension in self._table.declared_in(parts)
                if not dimension.anonymous
            },
            variables=content.variables,
            attributes=attributes,
            groups={name: self._group((*parts, name), below) for name, below in node.groups.items()},
            enums=content.enums,
        )

    def _add(self, parts: Parts, name: str, node: ArrayNode, content: _Content) -> None:
        """Add the variables that an array becomes."""
        try:
            error = _why_not(node)
            if error is not None:
                raise error
            pieces = list(self._pieces(node))
        except RefbrowserError as error:
            placed = RefbrowserError(
                error.kind, error.message, replace(error.place, path=node.path), error.advice
            )
            self._left_out.append(placed)
            return
        attributes, told = stream_attributes(node)
        self._tell(node, *told)
        for piece in pieces:
            own = content.free.take(f"{name}{piece.suffix}") if piece.suffix else name
            variable = self._variable(own, node, piece, attributes, content)
            content.variables[own] = variable
            path = "/" + "/".join((*parts, own))
            made = StreamedVariable(path=path, variable=variable, node=node, convert=piece.convert)
            self._variables.append(made)
            if piece.suffix:
                self._tell(node, f"{piece.what} is written as the variable {quoted(path)}")

    def _pieces(self, node: ArrayNode) -> Iterator[_Piece]:
        """Yield what an array becomes: one variable, or several."""
        if node.known_dtype.kind == "c":
            part = element_of(np.dtype("f4" if node.known_dtype.itemsize == 8 else "f8"))
            yield _Piece(part, np.real, "_r", "the real part of complex numbers")
            yield _Piece(part, np.imag, "_i", "the imaginary part of complex numbers")
            return
        element = _element(node, is_nczarr=self._is_nczarr)
        self._tell(node, *element.told)
        if element.members or element.type is not StreamType.STRUCTURE:
            yield _Piece(element, element.convert)
        for each in element.beside:
            member = f"the member {quoted('.'.join(each.names))}"
            inner = replace(each.element, shape=(*each.shape, *each.element.shape))
            suffix = "_" + "_".join(each.names).replace("/", "%2F")
            yield _Piece(inner, each.taken, suffix, member, each.names)

    def _variable(
        self,
        name: str,
        node: ArrayNode,
        piece: _Piece,
        attributes: Mapping[str, StreamAttribute],
        content: _Content,
    ) -> StreamVariable:
        element, own = piece.element, dict(attributes)
        for attribute in element.attributes:
            if attribute.name in own and own[attribute.name] != attribute:
                self._tell(node, f"attribute {quoted(attribute.name)} is replaced")
            own[attribute.name] = attribute
        if piece.names:
            own |= self._of_member(node, piece.names)
            member = ".".join((node.name, *piece.names))
            own[MEMBER_OF] = StreamAttribute(MEMBER_OF, StreamType.STRING, (member,))
        else:
            fill, told = fill_attribute_of(node, element, piece.convert)
            self._tell(node, *told)
            own |= fill
        type, dimensions = element.type, (*self._shared(node), *private(element.shape))
        if element.is_ragged:
            length = node.type.dimension if isinstance(node.type, RowType) else "*"
            vlen = StreamDimension(length, 0, is_vlen=True, is_private=True)
            dimensions = (*dimensions, vlen)
        if isinstance(node.type, SequenceType) and not piece.suffix and self._sequences:
            type, dimensions = StreamType.SEQUENCE, dimensions[:-1]
        return StreamVariable(
            name=name,
            type=type,
            dimensions=dimensions,
            attributes=own,
            members=self._members(node, piece.convert, element.members, ()),
            enum_name=content.enumeration(element, name),
        )

    def _members(
        self,
        node: ArrayNode,
        convert: Convert | None,
        members: Iterable[StreamVariable],
        above: tuple[str, ...],
    ) -> tuple[StreamVariable, ...]:
        """Return the members of structures with the attributes that they have in the source."""
        made = []
        for member in members:
            names = (*above, member.name)
            own = {**self._of_member(node, names), **member.attributes}
            member = replace(
                member, attributes=own, members=self._members(node, convert, member.members, names)
            )
            if not member.members:
                fill, told = fill_attribute_of_member(node, convert, names, member)
                self._tell(node, *told)
                member = replace(member, attributes=own | fill)
            made.append(member)
        return tuple(made)

    def _of_member(self, node: ArrayNode, names: tuple[str, ...]) -> dict[str, StreamAttribute]:
        """Return the attributes that a member has in the source."""
        path = ".".join(names)
        said = node.type.members.get(path)
        if said is None:
            return {}
        found, told = member_attributes(said)
        self._tell(node, *(f"member {quoted(path)}: {text}" for text in told))
        return found

    def _shared(self, node: ArrayNode) -> tuple[StreamDimension, ...]:
        """Return the dimensions of an array as its variable has them: full copies."""
        found: list[StreamDimension] = []
        for axis, reference in enumerate(self._references[node.path]):
            dimension = self._dimensions[reference.path]
            is_rows = isinstance(node.type, SequenceType) and axis == len(node.shape) - 1
            if dimension.anonymous or is_rows or dimension.size != reference.size:
                found += private((reference.size,))
                if dimension.size != reference.size:
                    self._tell(node, f"it is shorter than dimension {quoted(dimension.name)}: not shared")
            else:
                found.append(StreamDimension(dimension.name, dimension.size, dimension.unlimited))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Piece:
    """One variable of those that an array becomes.

    `suffix` comes behind the array's name; `names` are those of a member that is written beside.
    """

    element: Element
    convert: Convert | None
    suffix: str = ""
    what: str = ""
    names: tuple[str, ...] = ()


class _Content:
    """The variables and enumerations of a group."""

    def __init__(self, free: FreeNames) -> None:
        self.free = free
        self.variables: dict[str, StreamVariable] = {}
        self.enums: dict[str, Mapping[int, str]] = {}
        self._free_enums = FreeNames()

    def enumeration(self, element: Element, name: str) -> str:
        """Return the name of the enumeration of an element; empty where it has none.

        Those of members are declared under the names that they have; of two of one name the first counts.
        """
        for inner, names in element.member_enums.items():
            self.enums.setdefault(inner, names)
            self._free_enums.add(inner)
        if not element.enumeration:
            return ""
        wish = element.enum_name or f"{name}_t"
        if self.enums.get(wish) != element.enumeration:
            wish = self._free_enums.take(wish)
            self.enums[wish] = element.enumeration
        return wish


def _element(node: ArrayNode, *, is_nczarr: bool) -> Element:
    """Return what the elements of an array become.

    Raises
    ------
    RefbrowserError
        `META`: a stream has no form for them.
    """
    dtype = node.known_dtype
    rows = _rows(node)
    if rows is not None:
        if isinstance(node.type.inner, EnumerationType) and rows is not bytes:
            inner = enum_element(rows, node.type.inner.values, node.type.inner.enum_name)
            return replace(inner, dtype=np.dtype(object), is_ragged=True)
        return ragged_element(rows)
    if isinstance(node.type, EnumerationType):
        return enum_element(dtype, node.type.values, node.type.enum_name)
    if dtype.kind == "O":
        return _objects(node)
    is_text = is_nczarr and node.type.name not in _CHARACTERS
    if dtype.kind == "S" and (dtype.itemsize != 1 or is_text):
        told = f"texts of type {node.type.name} are written as strings of variable length"
        return Element(type=StreamType.STRING, dtype=dtype, told=(told,))
    if dtype.kind == "V" and dtype.names is None and dtype.itemsize:
        return Element(type=StreamType.OPAQUE, dtype=dtype)
    return element_of(dtype)


def _rows(node: ArrayNode) -> Any:
    """Return the type of the elements of ragged rows; None where an array has none."""
    if isinstance(node.type, RowType):
        return node.type.row_dtype
    first = node.codecs[0] if node.codecs else None
    if first is not None and first.name == "vlen-array" and node.dtype == object:
        return np.dtype(first.configuration.get("dtype", "u1"))
    return None


def _objects(node: ArrayNode) -> Element:
    if node.type.name in ("opaque", "bytes"):
        return Element(type=StreamType.OPAQUE, dtype=np.dtype(object))
    told = f"values of type {quoted(node.type.name)} are written as texts"
    is_text = node.type.name == "string"
    return Element(type=StreamType.STRING, dtype=np.dtype(object), told=() if is_text else (told,))


def _why_not(node: ArrayNode) -> RefbrowserError | None:
    """Return why an array is not in the stream, None where it is."""
    error = node.error or node.unreadable
    if error is None and node.dtype is None:
        error = RefbrowserError(ErrorKind.META, "its type is not known", Place(path=node.path))
    return error


def _walk(parts: Parts, group: GroupNode) -> Iterator[tuple[Parts, GroupNode]]:
    yield parts, group
    for name, below in group.groups.items():
        yield from _walk((*parts, name), below)
