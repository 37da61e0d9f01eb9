"""The fields of one message of an opened stream, read where the stream lies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource
from refbrowser.io.origins import local_path
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import Window
from refbrowser.wings.ncstream.reading.descriptor import CLASSES, SHOWN_BYTES, hexadecimal, plain_fields
from refbrowser.wings.ncstream.reading.message_reader import block
from refbrowser.wings.ncstream.reading.messages import FramingError, StreamIndex
from refbrowser.wings.ncstream.reading.splicing import opened_bytes

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def fields_of(dataset: Dataset, index: StreamIndex, message: int, token: CancelToken) -> Any:
    """Return the fields of a message as plain values, nested.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    """
    local = local_path(index.url)
    path = index.url if local is None else os.path.realpath(local)
    with opened_bytes(path, dataset.access, dataset.session.fetcher, token) as source:
        return message_fields(index, source, message)


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
    kind = CLASSES.get(window.bytes_at(offset, magics.LENGTH))
    try:
        span = block(window, offset + magics.LENGTH, "a message")
        if kind is not None:
            message = kind.FromString(window.bytes_at(span.start, span.stop - span.start))
            return {kind.DESCRIPTOR.name: plain_fields(message)}
    except (FramingError, DecodeError):
        pass
    return {"bytes": hexadecimal(window.bytes_at(offset, min(stop - offset, SHOWN_BYTES)), stop - offset)}
