"""Messages of pointStream, which are recognised and listed (wire notes, section 7)."""

from __future__ import annotations

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.schema import POINT_COLLECTION, POINT_FEATURE, STATION_LIST

#: The protobuf class of each message of pointStream, by its magic.
POINT_CLASSES = {
    magics.STATION_LIST: STATION_LIST,
    magics.POINT_COLLECTION: POINT_COLLECTION,
    magics.POINT_FEATURE: POINT_FEATURE,
}
