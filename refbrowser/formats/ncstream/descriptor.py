"""The protobuf messages of streams, by the descriptor that is compiled from ``ncstream.proto``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from refbrowser.formats.ncstream import magics

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
