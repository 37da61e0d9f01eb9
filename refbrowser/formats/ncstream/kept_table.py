"""Whether the table of an index that was kept can be one: nothing that is read from a cache is believed."""

from __future__ import annotations

import numpy as np

from refbrowser.formats.ncstream.messages import MessageKind, MessageTable

_OF_RANGES = ("starts", "sizes", "strides")
_NOT_COLUMNS = ("names", "checkpoints", *_OF_RANGES)


def check_table(table: MessageTable, size: int) -> None:
    """Raise why a table is none of a stream.

    Parameters
    ----------
    size
        Bytes of the stream.

    Raises
    ------
    ValueError
        Columns have different lengths, or numbers point to nothing.
    """
    columns = [getattr(table, name) for name in MessageTable.__slots__ if name not in _NOT_COLUMNS]
    ranges = [getattr(table, name) for name in _OF_RANGES]
    if any(len(each) != len(table) for each in columns) or len({len(each) for each in ranges}) > 1:
        raise ValueError("columns have different lengths")
    if any(each.dtype.kind not in "iub" for each in (*columns, *ranges)):
        raise ValueError("columns are no integers")
    if not all(isinstance(name, str) for name in table.names):
        raise ValueError("names are no texts")
    used = table.section + np.maximum(table.rank, 0)
    payload_stop = table.payload_offset + table.payload_length
    in_order = np.r_[True, table.offset[1:] >= table.stop[:-1]] if len(table) else True
    sound = (
        (table.kind <= max(MessageKind))
        & (table.variable >= -1)
        & (table.variable < len(table.names))
        & ((table.rank <= 0) | (table.section >= 0) & (used <= len(table.starts)))
        & (table.offset >= 0)
        & (table.stop >= table.offset)
        & (table.stop <= size)
        & (table.payload_offset >= 0)
        & (table.payload_length >= 0)
        & (payload_stop <= size)
        & in_order
    )
    if not np.all(sound):
        raise ValueError("numbers point to nothing")
