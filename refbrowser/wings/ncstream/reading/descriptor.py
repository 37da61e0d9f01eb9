"""The protobuf messages of streams, by the descriptor of ``ncstream.proto``; any one as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.unknown_fields import UnknownFieldSet

from refbrowser.limits import LIMITS
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.definition import StreamType

_COMPILED = Path(__file__).with_name("ncstream.desc")


def _classes() -> dict[str, Any]:
    (proto,) = descriptor_pb2.FileDescriptorSet.FromString(_COMPILED.read_bytes()).file
    # A pool of its own: the default one is shared by all software in the process.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    return {
        each.name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{proto.package}.{each.name}"))
        for each in proto.message_type
    }


_CLASSES = _classes()

HEADER = _CLASSES["Header"]
GROUP = _CLASSES["Group"]
DIMENSION = _CLASSES["Dimension"]
VARIABLE = _CLASSES["Variable"]
STRUCTURE = _CLASSES["Structure"]
ENUM_TYPEDEF = _CLASSES["EnumTypedef"]
ENUM_TYPE = _CLASSES["EnumType"]
ATTRIBUTE = _CLASSES["Attribute"]
ERROR = _CLASSES["Error"]
RANGE = _CLASSES["Range"]
SECTION = _CLASSES["Section"]
#: Data as the grammar has it: field 7 is the fixed32 `crc32`; a bool there is an unknown field.
DATA = _CLASSES["Data"]
#: Data as servers send it: field 7 is the bool `vdata`; a fixed32 there is an unknown field.
DATA_PRACTICE = _CLASSES["DataPractice"]
STRUCTURE_DATA = _CLASSES["StructureData"]
DATA_COLUMN = _CLASSES["DataCol"]
ARRAY_STRUCTURE_COLUMN = _CLASSES["ArrayStructureCol"]
DATA_ROW = _CLASSES["DataRow"]
ARRAY_STRUCTURE_ROW = _CLASSES["ArrayStructureRow"]
MEMBER = _CLASSES["Member"]
LOCATION = _CLASSES["Location"]
POINT_FEATURE = _CLASSES["PointFeature"]
POINT_COLLECTION = _CLASSES["PointFeatureCollection"]
STATION_LIST = _CLASSES["StationList"]


def text_of(value: str | bytes) -> str:
    """Return the text of a string field; bytes that are no UTF-8 are shown as replacement characters."""
    # The library gives bytes where a string does not decode.
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


#: The protobuf class of each message of pointStream, by its magic.
POINT_CLASSES = {
    magics.STATION_LIST: STATION_LIST,
    magics.POINT_COLLECTION: POINT_COLLECTION,
    magics.POINT_FEATURE: POINT_FEATURE,
}
#: The same of each message that has one.
CLASSES = {
    magics.HEADER: HEADER,
    magics.DATA: DATA,
    magics.DATA_COLUMN: DATA_COLUMN,
    magics.ERROR: ERROR,
    **POINT_CLASSES,
}

# Plain values

#: Bytes, characters and elements that are shown of one value.
SHOWN_BYTES, _CHARACTERS, _ELEMENTS = 64, 1000, 200
_COMPRESSIONS = {0: "NONE", 1: "DEFLATE"}
_ATTRIBUTE_TYPES = dict(enumerate(("STRING", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE")))
_TYPES = {each.value: each.name for each in StreamType}
_NAMES: dict[tuple[str, str], dict[int, str]] = {("Attribute", "type"): _ATTRIBUTE_TYPES}
_WIRES = {0: "varint", 1: "64 bits", 2: "bytes", 5: "32 bits"}
#: Field 7 of Data, which practice and the grammar give different wire types.
_VDATA = 7


def plain_fields(message: Any) -> dict[str, Any]:
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
            return hexadecimal(value[:SHOWN_BYTES], len(value))
        if isinstance(value, str):
            text = text_of(value)
            return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}… ({len(text)} characters)"
        return value if isinstance(value, bool | int | float) else str(value)


def _is_repeated(field: Any) -> bool:
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _named(names: dict[int, str], number: int) -> str:
    return f"{names[number]} ({number})" if number in names else str(number)


def hexadecimal(data: bytes, length: int) -> str:
    """Return the first bytes of `length` ones as text."""
    return data.hex() if len(data) == length else f"{data.hex()}… ({length} bytes)"
