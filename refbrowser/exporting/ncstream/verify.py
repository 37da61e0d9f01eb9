"""Walking a stream that was written, and comparing it with what was meant."""

from __future__ import annotations

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.ncstream.definition import StreamDefinition
from refbrowser.formats.ncstream.encode_header import header_body
from refbrowser.formats.ncstream.messages import MessageKind, MessageTable, StreamIndex
from refbrowser.formats.ncstream.stream_file import StreamFile, WrittenMessage
from refbrowser.formats.ncstream.walk import walk_stream
from refbrowser.io.cancel import CancelToken


def verify_stream(file: StreamFile, path: str, definition: StreamDefinition, token: CancelToken) -> int:
    """Return how many messages were found again: each where it was written, with the bytes that it had.

    Parameters
    ----------
    path
        Of the file, for errors.

    Raises
    ------
    RefbrowserError
        `IO`: something is not as it was written.
    OSError
        The file cannot be read.
    Cancelled
        The export was cancelled.
    """
    index = walk_stream(file, url=path, token=token)
    if index.faults:
        raise _failed(path, str(index.faults[0].message))
    if index.walked != file.size or not (index.has_start and index.has_end):
        raise _failed(path, f"the stream ends at byte {index.walked} of {file.size}")
    if header_body(index.definition) != header_body(definition):
        raise _failed(path, "the header says something else")
    _compare(file, index, path, token)
    return len(file.messages)


def _compare(file: StreamFile, index: StreamIndex, path: str, token: CancelToken) -> None:
    if len(index.table) != len(file.messages):
        raise _failed(path, f"{len(index.table)} messages where {len(file.messages)} were written")
    for row, message in enumerate(file.messages):
        token.check()
        if not _is_same(index.table, row, message) or not all(map(file.holds, message.parts)):
            raise _failed(path, f"message {row} ({quoted(message.path)}) is not what was written")


def _is_same(table: MessageTable, row: int, message: WrittenMessage) -> bool:
    if (table.offset[row], table.stop[row]) != (message.offset, message.stop):
        return False
    if not message.path:
        return bool(table.kind[row] == MessageKind.HEADER)
    found = table.payload_offset[row], table.payload_length[row]
    return (
        table.kind[row] in (MessageKind.DATA, MessageKind.DATA_COLUMN)
        and table.names[table.variable[row]] == message.path
        and found == (message.payload_offset, message.payload_length)
        and (table.ranges(row) or ()) == (message.section or ())
    )


def _failed(path: str, what: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.IO, f"verification failed: {what}", Place(path=path))
