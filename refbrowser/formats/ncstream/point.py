"""Messages of pointStream, which are recognised and listed (wire notes, section 7)."""

from __future__ import annotations

from typing import Any

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.schema import POINT_COLLECTION, POINT_FEATURE, STATION_LIST

_CLASSES = {
    magics.STATION_LIST: STATION_LIST,
    magics.POINT_COLLECTION: POINT_COLLECTION,
    magics.POINT_FEATURE: POINT_FEATURE,
}


def point_class(magic: bytes) -> Any:
    """Return the protobuf class of a message of pointStream."""
    return _CLASSES[magic]
