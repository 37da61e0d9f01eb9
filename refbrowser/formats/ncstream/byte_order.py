"""In which byte order the numbers of a message are read (wire notes, section 4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.dtypes import BIG, LITTLE
from refbrowser.formats.ncstream.messages import ByteOrder, MessageTable, Payload
from refbrowser.formats.ncstream.options import StreamOptions

#: From this version on absence of the flag means little.
_NEWER = 3


def little_endian(
    table: MessageTable, numbers: npt.NDArray[np.int64], options: StreamOptions
) -> npt.NDArray[np.bool_]:
    """Return which of some data messages have little-endian numbers."""
    if options.byte_order in ("big", "little"):
        return np.full(len(numbers), options.byte_order == "little")
    flag, version = table.byte_order[numbers], table.version[numbers]
    says_little = flag == ByteOrder.LITTLE
    if options.byte_order == "flag":
        return says_little
    plain = np.isin(table.payload[numbers], (Payload.REGULAR, Payload.VARIABLE))
    wrong = says_little & plain & np.isin(version, (2, 3))
    return (says_little & ~wrong) | ((flag == ByteOrder.ABSENT) & (version >= _NEWER))


def order_code(is_little: bool) -> str:
    """Return the order as numpy writes it."""
    return LITTLE if is_little else BIG
