"""The fields of any one message as plain values, those that the schema does not have too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.bytes import ByteSource, Window
from refbrowser.formats.ncstream.definition import StreamType
from refbrowser.formats.ncstream.descriptor import (
    DATA,
    DATA_COLUMN,
    DATA_PRACTICE,
    ERROR,
    HEADER,
    POINT_CLASSES,
    text_of,
)
from refbrowser.formats.ncstream.messages import FramingError, StreamIndex
from refbrowser.formats.ncstream.reading import block
from refbrowser.limits import LIMITS

_CLASSES = {
    magics.HEADER: HEADER,
    magics.DATA: DATA,
    magics.DATA_COLUMN: DATA_COLUMN,
    magics.ERROR: ERROR,
    **POINT_CLASSES,
}
#: Bytes, characters and elements that are shown of one value.
_BYTES, _CHARACTERS, _ELEMENTS = 64, 1000, 200
_COMPRESSIONS = {0: "NONE", 1: "DEFLATE"}
_ATTRIBUTE_TYPES = dict(enumerate(("STRING", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE")))
_TYPES = {each.value: each.name for each in StreamType}
_NAMES: dict[tuple[str, str], dict[int, str]] = {("Attribute", "type"): _ATTRIBUTE_TYPES}
_WIRES = {0: "varint", 1: "64 bits", 2: "bytes", 5: "32 bits"}
#: Field 7 of Data, which practice and the grammar give different wire types.
_VDATA = 7


def message_fields(index: StreamIndex, source: ByteSource, number: int) -> dict[str, Any]:
    """Return what the protobuf message of one message of a stream says: ``{"Data": {"varName": ...}}``.

    Enumerations are told as ``FLOAT (5)``, bytes as hexadecimal text; long values are cut, and say so. A
    field that the schema does not have is named by its number and wire type. Of bytes that are no message
    the first ones are told: ``{"bytes": ...}``.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    """
    offset, stop = int(index.table.offset[number]), int(index.table.stop[number])
    window = Window(source)
    kind = _CLASSES.get(window.bytes_at(offset, magics.LENGTH))
    try:
        span = block(window, offset + magics.LENGTH, "a message")
        if kind is not None:
            message = kind.FromString(window.bytes_at(span.start, span.stop - span.start))
            return {kind.DESCRIPTOR.name: fields_of(message)}
    except (FramingError, DecodeError):
        pass
    return {"bytes": _hexadecimal(window.bytes_at(offset, min(stop - offset, _BYTES)), stop - offset)}


def fields_of(message: Any) -> dict[str, Any]:
    """Return the fields of a protobuf message that are there, nested; at most so many values in all."""
    return _Fields(LIMITS.table_values).of(message)


class _Fields:
    """Fields as plain values, up to a number of values."""

    def __init__(self, most: int) -> None:
        self._left = most

    def of(self, message: Any) -> dict[str, Any]:
        """Return the fields of one message."""
        kind = message.DESCRIPTOR.name
        found = {field.name: self._value(kind, field, value) for field, value in message.ListFields()}
        for field in UnknownFieldSet(message):
            name = f"field {field.field_number} ({_WIRES.get(field.wire_type, 'group')})"
            if field.field_number == _VDATA and kind == DATA.DESCRIPTOR.name and field.wire_type == 0:
                name = DATA_PRACTICE.DESCRIPTOR.fields_by_number[_VDATA].name
            found[name] = self._plain(field.data)
        return found

    def _value(self, kind: str, field: Any, value: Any) -> Any:
        if field.name == "dataType":
            return _named(_TYPES, value)
        if field.name == "compress":
            return _named(_COMPRESSIONS, value)
        if (kind, field.name) in _NAMES:
            return _named(_NAMES[kind, field.name], value)
        is_message = field.message_type is not None
        make: Callable[[Any], Any] = self.of if is_message else self._plain
        return self._listed(value, make) if _is_repeated(field) else make(value)

    def _listed(self, values: Iterable[Any], make: Callable[[Any], Any]) -> list[Any]:
        elements = list(values)
        found: list[Any] = []
        for each in elements[:_ELEMENTS]:
            if self._left <= 0:
                break
            self._left -= 1
            found.append(make(each))
        if len(found) < len(elements):
            found.append(f"… {len(elements) - len(found)} more")
        return found

    def _plain(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return _hexadecimal(value[:_BYTES], len(value))
        if isinstance(value, str):
            text = text_of(value)
            return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}… ({len(text)} characters)"
        return value if isinstance(value, bool | int | float) else str(value)


def _is_repeated(field: Any) -> bool:
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _named(names: dict[int, str], number: int) -> str:
    return f"{names[number]} ({number})" if number in names else str(number)


def _hexadecimal(data: bytes, length: int) -> str:
    return data.hex() if len(data) == length else f"{data.hex()}… ({length} bytes)"
