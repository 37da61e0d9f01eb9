"""The protobuf messages of streams, made at run time from the facts of the wire notes, section 2.

Fields whose type is an enumeration are int32 here, the same on the wire: so a number that the
enumeration does not have is seen as it is, instead of being moved to the unknown fields. No field is
required and each keeps its presence, so that what proto2 and proto3 writers leave out is told apart from
what they say. Repeated numbers are read packed and unpacked, and are written unpacked unless `packed`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "refbrowser.ncstream"


class _Field(NamedTuple):
    number: int
    name: str
    #: A scalar type of protobuf, or the name of a message.
    type: str
    repeated: bool = False
    default: str | None = None


def _many(number: int, name: str, type_: str) -> _Field:
    return _Field(number, name, type_, repeated=True)


def _data(*others: _Field) -> list[_Field]:
    return [
        _Field(1, "varName", "string"),
        _Field(2, "dataType", "int32"),
        _Field(3, "section", "Section"),
        _Field(4, "bigend", "bool", default="true"),
        _Field(5, "version", "uint32"),
        _Field(6, "compress", "int32"),
        *others,
        _Field(8, "uncompressedSize", "uint32"),
    ]


def _column(name: str, structure: str) -> list[_Field]:
    return [
        _Field(1, name, "string"),
        _Field(2, "dataType", "int32"),
        _Field(3, "section", "Section"),
        _Field(4, "bigend", "bool"),
        _Field(5, "version", "uint32"),
        _Field(7, "isVlen", "bool"),
        _Field(9, "nelems", "uint32"),
        _Field(10, "primdata", "bytes"),
        _many(11, "stringdata", "string"),
        _many(12, "vlens", "uint32"),
        _many(13, "opaquedata", "bytes"),
        _Field(14, "structdata", structure),
    ]


_MESSAGES: dict[str, list[_Field]] = {
    "Header": [
        _Field(1, "location", "string"),
        _Field(2, "title", "string"),
        _Field(3, "id", "string"),
        _Field(4, "root", "Group"),
        _Field(5, "version", "uint32"),
    ],
    "Group": [
        _Field(1, "name", "string"),
        _many(2, "dims", "Dimension"),
        _many(3, "vars", "Variable"),
        _many(4, "structs", "Structure"),
        _many(5, "atts", "Attribute"),
        _many(6, "groups", "Group"),
        _many(7, "enumTypes", "EnumTypedef"),
    ],
    "Dimension": [
        _Field(1, "name", "string"),
        _Field(2, "length", "uint64"),
        _Field(3, "isUnlimited", "bool"),
        _Field(4, "isVlen", "bool"),
        _Field(5, "isPrivate", "bool"),
    ],
    "Variable": [
        _Field(1, "name", "string"),
        _Field(2, "dataType", "int32"),
        _many(3, "shape", "Dimension"),
        _many(4, "atts", "Attribute"),
        _Field(5, "unsigned", "bool"),
        _Field(6, "data", "bytes"),
        _Field(7, "enumType", "string"),
        _many(8, "dimIndex", "uint32"),
    ],
    "Structure": [
        _Field(1, "name", "string"),
        _Field(2, "dataType", "int32"),
        _many(3, "shape", "Dimension"),
        _many(4, "atts", "Attribute"),
        _many(5, "vars", "Variable"),
        _many(6, "structs", "Structure"),
    ],
    "EnumTypedef": [_Field(1, "name", "string"), _many(2, "map", "EnumType")],
    "EnumType": [_Field(1, "code", "uint32"), _Field(2, "value", "string")],
    "Attribute": [
        _Field(1, "name", "string"),
        _Field(2, "type", "int32"),
        _Field(3, "len", "uint32"),
        _Field(4, "data", "bytes"),
        _many(5, "sdata", "string"),
        _Field(6, "unsigned", "bool"),
        _Field(7, "dataType", "int32"),
    ],
    "Error": [_Field(1, "message", "string"), _Field(2, "code", "uint32")],
    "Range": [
        _Field(1, "start", "uint64"),
        _Field(2, "size", "uint64"),
        _Field(3, "stride", "uint64", default="1"),
    ],
    "Section": [_many(1, "range", "Range")],
    "Data": _data(_Field(7, "crc32", "fixed32")),
    "DataPractice": _data(_Field(7, "vdata", "bool")),
    "StructureData": [
        _many(1, "member", "uint32"),
        _Field(2, "data", "bytes"),
        _many(3, "heapCount", "uint32"),
        _many(4, "sdata", "string"),
        _Field(5, "nrows", "uint64", default="1"),
        _Field(6, "rowLength", "uint32"),
    ],
    "DataCol": _column("name", "ArrayStructureCol"),
    "ArrayStructureCol": [_many(1, "memberData", "DataCol")],
    "DataRow": _column("fullName", "ArrayStructureRow"),
    "ArrayStructureRow": [
        _many(1, "members", "Member"),
        _Field(5, "nrows", "uint64"),
        _Field(6, "rowLength", "uint32"),
        _Field(10, "fixdata", "bytes"),
        _many(11, "stringdata", "string"),
        _many(13, "bytedata", "bytes"),
        _many(14, "structdata", "ArrayStructureRow"),
    ],
    "Member": [
        _Field(1, "shortName", "string"),
        _Field(2, "dataType", "int32"),
        _many(3, "shape", "uint32"),
        _Field(4, "isVlen", "bool"),
    ],
    "Location": [
        _Field(1, "time", "double"),
        _Field(2, "lat", "double"),
        _Field(3, "lon", "double"),
        _Field(4, "alt", "double"),
        _Field(5, "nomTime", "double"),
    ],
    "PointFeature": [
        _Field(1, "loc", "Location"),
        _Field(3, "data", "bytes"),
        _many(4, "sdata", "string"),
    ],
    "PointFeatureMember": [
        _Field(1, "name", "string"),
        _Field(2, "desc", "string"),
        _Field(3, "units", "string"),
        _Field(4, "dataType", "int32"),
        _Field(5, "section", "Section"),
    ],
    "PointFeatureCollection": [
        _Field(1, "name", "string"),
        _Field(2, "timeUnit", "string"),
        _many(3, "members", "PointFeatureMember"),
        _Field(4, "altUnit", "string"),
    ],
    "Station": [
        _Field(1, "id", "string"),
        _Field(2, "lat", "double"),
        _Field(3, "lon", "double"),
        _Field(4, "alt", "double"),
        _Field(5, "desc", "string"),
        _Field(6, "wmoId", "string"),
    ],
    "StationList": [_many(1, "stations", "Station")],
}


def _classes() -> dict[str, Any]:
    proto = descriptor_pb2.FileDescriptorProto(name="refbrowser_ncstream.proto", package=_PACKAGE)
    for name, fields in _MESSAGES.items():
        message = proto.message_type.add(name=name)
        for field in fields:
            _add(message, field)
    # A pool of its own: the default one is shared by all software in the process.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


def _add(message: Any, field: _Field) -> None:
    kinds = descriptor_pb2.FieldDescriptorProto
    added = message.field.add(name=field.name, number=field.number)
    added.label = kinds.LABEL_REPEATED if field.repeated else kinds.LABEL_OPTIONAL
    if field.type in _MESSAGES:
        added.type = kinds.TYPE_MESSAGE
        added.type_name = f".{_PACKAGE}.{field.type}"
    else:
        added.type = kinds.Type.Value(f"TYPE_{field.type.upper()}")
    if field.default is not None:
        added.default_value = field.default


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
