"""The four bytes before each message (wire notes, sections 1 and 7)."""

from __future__ import annotations

START = b"CDFS"
HEADER = b"\xad\xec\xce\xda"
DATA = b"\xab\xec\xce\xba"
DATA_COLUMN = b"\xab\xeb\xbe\xba"
VDATA = b"\xab\xef\xfe\xba"
VEND = b"\xed\xef\xfe\xda"
ERROR = b"\xab\xad\xba\xda"
END = b"\xed\xed\xde\xde"

STATION_LIST = b"\xfe\xfe\xef\xef"
POINT_COLLECTION = b"\xfa\xfa\xaf\xaf"
POINT_FEATURE = b"\xf0\xf0\x0f\x0f"

COVERAGE_HEADER = b"\xad\xed\xde\xda"
COVERAGE_DATA = b"\xab\xed\xde\xba"

#: Bytes of a magic.
LENGTH = 4

POINTS = frozenset((STATION_LIST, POINT_COLLECTION, POINT_FEATURE))
COVERAGES = frozenset((COVERAGE_HEADER, COVERAGE_DATA))
#: What a message can begin with.
MESSAGES = frozenset((HEADER, DATA, DATA_COLUMN, ERROR)) | POINTS
#: What a file of messages can begin with.
FIRST = MESSAGES | {START}
