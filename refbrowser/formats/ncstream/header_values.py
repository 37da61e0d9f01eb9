"""Dimensions, attributes and variables of one header, from protobuf messages to values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, Severity, quoted
from refbrowser.formats.ncstream.definition import DataType, StreamAttribute, StreamDimension, StreamVariable
from refbrowser.formats.ncstream.faults import FaultCode, HeaderNote, Notes
from refbrowser.formats.ncstream.schema import text_of
from refbrowser.limits import LIMITS

#: What older servers write as the length of a dimension of variable length.
NO_LENGTH = (1 << 64) - 1
_LONGEST = (1 << 63) - 1
_UNSIGNED = {
    DataType.BYTE: DataType.UBYTE,
    DataType.SHORT: DataType.USHORT,
    DataType.INT: DataType.UINT,
    DataType.LONG: DataType.ULONG,
}


def unsigned(data_type: DataType) -> DataType:
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
        if nesting > LIMITS.stream_nesting:
            self.note(FaultCode.BAD_PROTOBUF, "structures are nested too deeply", path)
            return None
        if not self._has_name(message, path):
            return None
        self._check_shape(shape, path)
        is_sequence = message.dataType == DataType.SEQUENCE
        return StreamVariable(
            name=text_of(message.name),
            type=DataType.SEQUENCE if is_sequence else DataType.STRUCTURE,
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

    def _type(self, number: int, path: str, attribute: str | None = None) -> DataType | None:
        try:
            return DataType(number)
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
            message = "a dimension of variable length is not the last one"
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
            number = DataType.CHAR if message.data else DataType.STRING
        data_type = self._type(number, path, name)
        if data_type is None:
            return None
        if message.unsigned:
            data_type = unsigned(data_type)
        if not message.len:
            return StreamAttribute(name, data_type)
        return StreamAttribute(name, data_type, self._values(message, data_type, path))

    def _values(self, message: Any, data_type: DataType, path: str) -> tuple[Any, ...]:
        if data_type is DataType.STRING or (data_type is DataType.CHAR and not message.data):
            found: Sequence[Any] = [text_of(each) for each in message.sdata[: message.len]]
            expected = message.len if data_type is DataType.STRING else len(found)
        elif data_type is DataType.CHAR:
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
