"""Header messages: one to values, several merged into what they define together, and what was so when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from refbrowser.errors import ErrorKind, RefbrowserError, Severity, quoted
from refbrowser.limits import LIMITS
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamDimension,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.descriptor import HEADER, text_of
from refbrowser.wings.ncstream.reading.messages import FaultCode, HeaderNote, Notes
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

#: What older servers write as the length of a dimension of variable length.
NO_LENGTH = (1 << 64) - 1
_LONGEST = (1 << 63) - 1
_UNSIGNED = {
    StreamType.BYTE: StreamType.UBYTE,
    StreamType.SHORT: StreamType.USHORT,
    StreamType.INT: StreamType.UINT,
    StreamType.LONG: StreamType.ULONG,
}


def unsigned(data_type: StreamType) -> StreamType:
    """Return the unsigned type of the size of an integer type; other types as they are."""
    return _UNSIGNED.get(data_type, data_type)


class HeaderValues:
    """Makes the values of one header; what is wrong with them is given to `notes`.

    Parameters
    ----------
    notes
        Takes faults and warnings.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._left = LIMITS.metadata_values

    def count(self, values: int = 1) -> None:
        """Note that so many more values are made of the header.

        Raises
        ------
        RefbrowserError
            `E_BUDGET`: they are too many.
        """
        self._left -= values
        if self._left < 0:
            message = f"a header holds more than {LIMITS.metadata_values} values"
            raise RefbrowserError(ErrorKind.BUDGET, message)

    def note(self, code: FaultCode, message: str, path: str, severity: Severity = Severity.FAULT) -> None:
        """Note something about what is at `path`."""
        self._notes(HeaderNote(code, message, path, severity))

    def dimension(self, message: Any, path: str) -> StreamDimension:
        """Return a dimension of a group, or one of a variable's shape."""
        self.count()
        name, length = text_of(message.name), message.length
        is_vlen = message.isVlen or length == NO_LENGTH or (name == "*" and not length)
        if not is_vlen and length > _LONGEST:
            text = f"the dimension {quoted(name)} has the length {length}"
            self.note(FaultCode.LENGTH_TOO_LARGE, text, path)
            length = _LONGEST
        return StreamDimension(
            name=name,
            length=0 if is_vlen else length,
            is_unlimited=message.isUnlimited,
            is_vlen=is_vlen,
            is_private=message.isPrivate,
        )

    def attributes(self, messages: Iterable[Any], path: str) -> dict[str, StreamAttribute]:
        """Return attributes by name, the later one of two with the same name."""
        found = (self._attribute(each, path) for each in messages)
        return {each.name: each for each in found if each is not None}

    def variable(self, message: Any, path: str, shape: Sequence[StreamDimension]) -> StreamVariable | None:
        """Return a variable with the dimensions `shape`; None where it cannot be told what it is."""
        data_type = self._type(message.dataType, path)
        if data_type is None or not self._has_name(message, path):
            return None
        self._check_shape(shape, path)
        return StreamVariable(
            name=text_of(message.name),
            type=unsigned(data_type) if message.unsigned else data_type,
            dimensions=tuple(shape),
            attributes=self.attributes(message.atts, path),
            immediate=message.data if message.data else None,
            enum_name=text_of(message.enumType),
        )

    def structure(
        self, message: Any, path: str, shape: Sequence[StreamDimension], nesting: int = 0
    ) -> StreamVariable | None:
        """Return a structure or sequence; its members are all variables, then all structures."""
        if nesting > STREAM_LIMITS.stream_nesting:
            self.note(FaultCode.BAD_PROTOBUF, "structures are nested too deeply", path)
            return None
        if not self._has_name(message, path):
            return None
        self._check_shape(shape, path)
        is_sequence = message.dataType == StreamType.SEQUENCE
        return StreamVariable(
            name=text_of(message.name),
            type=StreamType.SEQUENCE if is_sequence else StreamType.STRUCTURE,
            dimensions=tuple(shape),
            attributes=self.attributes(message.atts, path),
            members=tuple(self._members(message, path, nesting)),
        )

    def _members(self, message: Any, path: str, nesting: int) -> Iterable[StreamVariable]:
        for each in message.vars:
            inside = f"{path}.{text_of(each.name)}"
            shape = [self.dimension(one, inside) for one in each.shape]
            member = self.variable(each, inside, shape)
            if member is not None:
                yield member
        for each in message.structs:
            inside = f"{path}.{text_of(each.name)}"
            shape = [self.dimension(one, inside) for one in each.shape]
            member = self.structure(each, inside, shape, nesting + 1)
            if member is not None:
                yield member

    def _type(self, number: int, path: str, attribute: str | None = None) -> StreamType | None:
        try:
            return StreamType(number)
        except ValueError:
            message = f"type {number} is not known"
            if attribute is not None:
                message = f"the attribute {quoted(attribute)} is left out: {message}"
            self.note(FaultCode.UNKNOWN_TYPE, message, path, Severity.WARNING)
            return None

    def _has_name(self, message: Any, path: str) -> bool:
        self.count()
        name = text_of(message.name)
        if name and "/" not in name:
            return True
        self.note(FaultCode.BAD_PROTOBUF, f"a variable cannot have the name {quoted(name)}", path)
        return False

    def _check_shape(self, shape: Sequence[StreamDimension], path: str) -> None:
        if any(each.is_vlen for each in shape[:-1]):
            message = "a dimension of variable length is not the last"
            self.note(FaultCode.UNSUPPORTED_SHAPE, message, path)
        if len(shape) > LIMITS.rank:
            self.note(FaultCode.UNSUPPORTED_SHAPE, f"more than {LIMITS.rank} dimensions", path)

    def _attribute(self, message: Any, path: str) -> StreamAttribute | None:
        """Return an attribute; its type is told by field 7, else field 2, else by what values it has."""
        # What is claimed costs nothing, what is there does.
        self.count(1 + min(message.len, len(message.data) + len(message.sdata)))
        name = text_of(message.name)
        number = message.dataType or message.type
        if not number:
            number = StreamType.CHAR if message.data else StreamType.STRING
        data_type = self._type(number, path, name)
        if data_type is None:
            return None
        if message.unsigned:
            data_type = unsigned(data_type)
        if not message.len:
            return StreamAttribute(name, data_type)
        return StreamAttribute(name, data_type, self._values(message, data_type, path))

    def _values(self, message: Any, data_type: StreamType, path: str) -> tuple[Any, ...]:
        if data_type is StreamType.STRING or (data_type is StreamType.CHAR and not message.data):
            found: Sequence[Any] = [text_of(each) for each in message.sdata[: message.len]]
            expected = message.len if data_type is StreamType.STRING else len(found)
        elif data_type is StreamType.CHAR:
            found, expected = [message.data[: message.len].decode("utf-8", "replace")], 1
        elif data_type.dtype is None:
            found, expected = [], 0
        else:
            whole = len(message.data) // data_type.dtype.itemsize
            expected = message.len
            found = np.frombuffer(message.data, data_type.dtype, min(whole, expected)).tolist()
        if len(found) != expected:
            text = f"the attribute {quoted(text_of(message.name))} has {len(found)} values, not {expected}"
            self.note(FaultCode.SIZE_MISMATCH, text, path, Severity.WARNING)
        return tuple(found)


#: Where a shared dimension is defined: path of the group, and name.
_Owner = tuple[str, str]
#: Groups from the root down, with their paths.
_Chain = tuple[tuple[str, StreamGroup], ...]


def _unheard(_: HeaderNote) -> None:
    pass


def merged(definition: StreamDefinition, header: bytes, notes: Notes = _unheard) -> StreamDefinition:
    """Return what a stream says after one more header (wire notes, section 3).

    Parameters
    ----------
    header
        The protobuf message, without magic and length.
    notes
        Takes faults and warnings of what the header says.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: it does not parse; `E_BUDGET`: it holds too many values.
    """
    try:
        message = HEADER.FromString(header)
    except DecodeError:
        raise RefbrowserError(ErrorKind.FORMAT, "the header is not a protobuf message") from None
    merge = _Merge(HeaderValues(notes))
    root = merge.group(definition.root, message.root, ())
    has_lengths = message.root.dims or message.root.vars or message.root.structs or message.root.groups
    return StreamDefinition(
        # Attributes change no length.
        root=_Lengths(root, merge).settled() if has_lengths else root,
        location=text_of(message.location) or definition.location,
        title=text_of(message.title) or definition.title,
        id=text_of(message.id) or definition.id,
    )


class HeaderSequence:
    """What headers say together, one after the other; one that says again what was said last costs little.

    Attributes
    ----------
    definition
        After the last header.
    is_settled
        The last header changed nothing, and there is nothing to be said of it: the same again does neither.
    """

    def __init__(self, definition: StreamDefinition) -> None:
        self.definition = definition
        self.is_settled = False
        self._is_fixed = False
        self._last: bytes | None = None
        self._said: list[HeaderNote] = []

    def add(self, header: bytes, notes: Notes = _unheard) -> None:
        """Take one more header; parameters and errors are those of `merged`."""
        if header != self._last or not self._is_fixed:
            self._said = []
            before, self.definition = self.definition, merged(self.definition, header, self._said.append)
            self._is_fixed = header == self._last and self.definition == before
            self._last = header
        self.is_settled = self._is_fixed and not self._said
        for note in self._said:
            notes(note)


class _Merge:
    """One header on its way into the groups.

    Attributes
    ----------
    changed
        Dimensions that were there and got another length.
    defined
        Paths of the variables that the header defines.
    """

    def __init__(self, values: HeaderValues) -> None:
        self._values = values
        self.changed: set[_Owner] = set()
        self.defined: set[str] = set()

    def group(self, old: StreamGroup, message: Any, above: _Chain) -> StreamGroup:
        """Return a group with what `message` says of it; `above` are the groups that it is in."""
        self._values.count()
        path = f"{above[-1][0]}{old.name}/" if above else "/"
        dimensions = self._dimensions(old, message.dims, path)
        found = replace(
            old,
            dimensions=dimensions,
            attributes={**old.attributes, **self._values.attributes(message.atts, path)},
            enums={**old.enums, **self._enums(message.enumTypes)},
        )
        chain: _Chain = (*above, (path, found))
        variables = dict(old.variables)
        for each in self._variables(message, chain):
            variables[each.name] = _replaced(variables.get(each.name), each)
        found = replace(found, variables=variables)
        return replace(found, groups=self._groups(found, message.groups, chain))

    def _groups(self, group: StreamGroup, messages: Iterable[Any], chain: _Chain) -> dict[str, StreamGroup]:
        groups = dict(group.groups)
        for each in messages:
            name, path = text_of(each.name), chain[-1][0]
            if len(chain) > STREAM_LIMITS.stream_nesting:
                self._values.note(FaultCode.BAD_PROTOBUF, "groups are nested too deeply", path)
            elif not name or "/" in name:
                text = f"a group cannot have the name {quoted(name)}"
                self._values.note(FaultCode.BAD_PROTOBUF, text, path)
            else:
                groups[name] = self.group(groups.get(name, StreamGroup(name=name)), each, chain)
        return groups

    def _dimensions(
        self, group: StreamGroup, messages: Iterable[Any], path: str
    ) -> dict[str, StreamDimension]:
        dimensions = dict(group.dimensions)
        for each in messages:
            new = self._values.dimension(each, path)
            old = dimensions.get(new.name)
            if old is not None and old.length != new.length:
                self.changed.add((path, new.name))
            dimensions[new.name] = new if old is None else _longer(old, new)
        return dimensions

    def _enums(self, messages: Iterable[Any]) -> dict[str, dict[int, str]]:
        enums = {}
        for each in messages:
            self._values.count(1 + len(each.map))
            enums[text_of(each.name)] = {one.code: text_of(one.value) for one in each.map}
        return enums

    def _variables(self, message: Any, chain: _Chain) -> Iterable[StreamVariable]:
        path = chain[-1][0]
        for each in message.vars:
            own = path + text_of(each.name)
            variable = self._values.variable(each, own, self._shape(each, own, chain))
            if variable is not None:
                self.defined.add(own)
                yield variable
        for each in message.structs:
            own = path + text_of(each.name)
            structure = self._values.structure(each, own, self._shape(each, own, chain))
            if structure is not None:
                self.defined.add(own)
                yield structure

    def _shape(self, message: Any, path: str, chain: _Chain) -> list[StreamDimension]:
        """Return the dimensions of a variable; the shared ones must be defined in its group or above."""
        shape = [self._values.dimension(each, path) for each in message.shape]
        if not shape:
            # Structures have no such field.
            shape = self._indexed(getattr(message, "dimIndex", ()), path, chain)
        for each in shape:
            is_shared = bool(each.name) and not (each.is_private or each.is_vlen)
            if is_shared:
                self._check_length(each, path, chain)
        return shape

    def _check_length(self, copy: StreamDimension, path: str, chain: _Chain) -> None:
        """Note where a shared dimension of a shape is not defined, or has another length there."""
        owner = owner_of(copy.name, chain)
        if owner is None:
            text = f"the dimension {quoted(copy.name)} is not defined in its group or above"
            self._values.note(FaultCode.UNKNOWN_DIMENSION, text, path)
            return
        shared = dict(chain)[owner[0]].dimensions[copy.name]
        if copy.length != shared.length and not (shared.is_unlimited or shared.is_vlen):
            name = quoted(copy.name)
            text = f"in its shape the dimension {name} is {copy.length} long, which is {shared.length}"
            self._values.note(FaultCode.SIZE_MISMATCH, text, path)

    def _indexed(self, numbers: Iterable[int], path: str, chain: _Chain) -> list[StreamDimension]:
        """Return dimensions by number, of the group and then those above it (servers of 2010 to 2012)."""
        visible = [each for _, group in reversed(chain) for each in group.dimensions.values()]
        shape = []
        for number in numbers:
            if number < len(visible):
                shape.append(visible[number])
            else:
                text = f"there is no dimension number {number}"
                self._values.note(FaultCode.UNKNOWN_DIMENSION, text, path)
        return shape


class _Lengths:
    """Gives the variables the lengths of the shared dimensions, which they hold as copies.

    An unlimited dimension is as long as it ever was said to be, by itself or by a copy.
    """

    def __init__(self, root: StreamGroup, merge: _Merge) -> None:
        self._root = root
        self._merge = merge
        self._longest: dict[_Owner, int] = {}

    def settled(self) -> StreamGroup:
        """Return the root with all lengths in agreement."""
        self._measure(self._root, "/", ())
        return self._group(self._root, "/", ())

    def _measure(self, group: StreamGroup, path: str, above: _Chain) -> None:
        chain = (*above, (path, group))
        for name, each in group.dimensions.items():
            if each.is_unlimited:
                self._grow((path, name), each.length)
        for variable in group.variables.values():
            for each in variable.dimensions:
                owner = _owner_of_copy(each, chain)
                if owner in self._longest:
                    self._grow(owner, each.length)
        for name, child in group.groups.items():
            self._measure(child, f"{path}{name}/", chain)

    def _grow(self, owner: _Owner, length: int) -> None:
        self._longest[owner] = max(self._longest.get(owner, 0), length)

    def _group(self, group: StreamGroup, path: str, above: _Chain) -> StreamGroup:
        chain = (*above, (path, group))
        dimensions = {
            name: _of_length(each, self._longest.get((path, name), each.length))
            for name, each in group.dimensions.items()
        }
        return replace(
            group,
            dimensions=dimensions,
            variables={
                name: self._variable(each, path + name, chain) for name, each in group.variables.items()
            },
            groups={name: self._group(each, f"{path}{name}/", chain) for name, each in group.groups.items()},
        )

    def _variable(self, variable: StreamVariable, path: str, chain: _Chain) -> StreamVariable:
        shape = tuple(self._length(each, path, chain) for each in variable.dimensions)
        return variable if shape == variable.dimensions else replace(variable, dimensions=shape)

    def _length(self, copy: StreamDimension, path: str, chain: _Chain) -> StreamDimension:
        owner = _owner_of_copy(copy, chain)
        if owner is None:
            return copy
        if owner in self._longest:
            return _of_length(copy, self._longest[owner])
        if owner in self._merge.changed and path not in self._merge.defined:
            return _of_length(copy, dict(chain)[owner[0]].dimensions[copy.name].length)
        return copy


def owner_of(name: str, chain: _Chain) -> _Owner | None:
    """Return where the dimension of a name is defined, from the last group of `chain` up."""
    for path, group in reversed(chain):
        if name in group.dimensions:
            return path, name
    return None


def _owner_of_copy(copy: StreamDimension, chain: _Chain) -> _Owner | None:
    return None if copy.is_private or copy.is_vlen else owner_of(copy.name, chain)


def _of_length(dimension: StreamDimension, length: int) -> StreamDimension:
    return dimension if dimension.length == length else replace(dimension, length=length)


def _longer(old: StreamDimension, new: StreamDimension) -> StreamDimension:
    """Return a dimension as defined later; an unlimited one does not get shorter."""
    return replace(new, length=max(old.length, new.length)) if new.is_unlimited else new


def _replaced(old: StreamVariable | None, new: StreamVariable) -> StreamVariable:
    """Return a variable as defined later, with the attributes that only the earlier definition has."""
    if old is None:
        return new
    attributes = {**old.attributes, **new.attributes}
    keeps = new.immediate is None and old.type is new.type and len(old.dimensions) == len(new.dimensions)
    return replace(new, attributes=attributes, immediate=old.immediate if keeps else new.immediate)


#: Parts of all definitions that are kept; they share little but attributes of variables.
_PARTS = 1 << 21
#: Headers whose definitions are kept.
_HEADERS = 4096

Said = tuple[int, StreamDefinition]


def parts_of(definition: StreamDefinition) -> int:
    """Return what a definition consists of, and so what one more header costs: each is looked at again."""
    return _parts(definition.root)


def _parts(group: StreamGroup) -> int:
    variables = sum(1 + len(each.dimensions) for each in group.variables.values())
    below = sum(map(_parts, group.groups.values()))
    return 1 + len(group.dimensions) + len(group.attributes) + variables + below


class HeaderHistory:
    """The numbers of headers, and the definition after each.

    Attributes
    ----------
    headers
        Of those that are kept, in order.
    """

    def __init__(self, headers: tuple[Said, ...] = ()) -> None:
        self.headers: list[Said] = []
        self._parts: list[int] = []
        self._total = 0
        for number, definition in headers:
            self.add(number, definition)

    def __len__(self) -> int:
        return len(self.headers)

    def add(self, number: int, definition: StreamDefinition) -> None:
        """Add what is said after one more header."""
        self.headers.append((number, definition))
        self._parts.append(parts_of(definition))
        self._total += self._parts[-1]

    def cut(self, count: int) -> None:
        """Keep the first `count` of those that are kept."""
        del self.headers[count:]
        del self._parts[count:]
        self._total = sum(self._parts)

    def thin(self) -> None:
        """Forget some of the definitions where they are very many or large, not the first and the last."""
        while len(self) > 2 and (len(self) > _HEADERS or self._total > _PARTS):
            del self.headers[1:-1:2]
            del self._parts[1:-1:2]
            self._total = sum(self._parts)
