"""Payloads of a stream looked at one by one: whether each can be decoded, and fits its checksum."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes, RemoteBytes
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.wings.ncstream.reading.definition import StreamVariable
from refbrowser.wings.ncstream.reading.elements import PayloadError
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin
from refbrowser.wings.ncstream.reading.messages import MessageKind, Payload, StreamFault, StreamIndex
from refbrowser.wings.ncstream.reading.payloads import PayloadFacts, decode_payload
from refbrowser.wings.ncstream.reading.pieces import payload_crc32
from refbrowser.wings.ncstream.reading.splicing import copied

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Messages between two reports of progress.
_REPORTED = 1000


def check_sound(index: StreamIndex, *, force: bool = False) -> None:
    """Raise why a stream is damaged.

    Parameters
    ----------
    force
        What stands behind its end does not matter.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: a message is not sound, or something stands behind the end. `E_BUDGET`: it has more
        messages than are listed.
    """
    advice = "repair it first: refbrowser repair"
    for number in np.flatnonzero(index.table.fault).tolist():
        error = index.error_of(number)
        raise RefbrowserError(error.kind, error.message, error.place, advice)
    if index.size > index.walked and not index.has_end:
        # Messages beyond the limit of those that are listed: they are no rubbish.
        message = f"the stream continues after its {len(index.table)} listed messages"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=index.url, start=index.walked))
    if index.size > index.walked and not force:
        behind = index.size - index.walked
        message = f"trailing-bytes: {behind} bytes follow the end of the stream"
        raise RefbrowserError(ErrorKind.FORMAT, message, Place(url=index.url, start=index.walked), advice)


def payload_findings(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return what is wrong with the payloads of the stream behind a dataset, each read and decoded.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    """
    origin = dataset.document.made_from(StreamOrigin)
    if origin is None:
        return []
    with ExitStack() as stack:
        local = local_path(origin.path)
        source: ByteSource
        if local is not None:
            source = stack.enter_context(LocalBytes(local))
        else:
            source = RemoteBytes(origin.path, dataset.access, dataset.session.fetcher, control.token)
        return [origin.index.finding(fault) for fault in payload_faults(origin.index, source, control)]


def payload_faults(
    index: StreamIndex, source: ByteSource, control: JobControl, *, first: int = 0
) -> Iterator[StreamFault]:
    """Yield what is wrong with the payloads of messages that the walk found sound.

    What is larger than anything that is decoded whole is only compared with its checksum.

    Parameters
    ----------
    first
        Number of the first message that is looked at.

    Raises
    ------
    RefbrowserError
        The bytes cannot be read.
    """
    table = index.table
    is_data = (table.kind == MessageKind.DATA) | (table.kind == MessageKind.DATA_COLUMN)
    variables = dict(index.definition.variables())
    rows = [number for number in np.flatnonzero(is_data & (table.fault == 0)).tolist() if number >= first]
    for done, number in enumerate(rows):
        if not done % _REPORTED:
            control.check()
            control.progress(done, len(rows), note="messages checked")
        variable = variables.get(table.names[table.variable[number]])
        if variable is not None:
            yield from message_faults(index, source, number, variable)


def message_faults(
    index: StreamIndex, source: ByteSource, number: int, variable: StreamVariable
) -> Iterator[StreamFault]:
    """Yield what is wrong with the payload of one message that the walk found sound.

    Raises
    ------
    RefbrowserError
        The bytes cannot be read.
    """
    table = index.table
    offset, length = int(table.payload_offset[number]), int(table.payload_length[number])
    payload, checksum = Payload(int(table.payload[number])), int(table.crc32[number])
    has_plain_bytes = payload is Payload.REGULAR and not table.deflated[number]
    if has_plain_bytes or length > LIMITS.chunk_size:
        if checksum >= 0 and payload in (Payload.REGULAR, Payload.STRUCTURE):
            found = 0
            for block in copied(source, offset, offset + length):
                found = zlib.crc32(block, found)
            yield from _compared(index, number, variable, found)
        return
    data = memoryview(source.read(offset, length))
    try:
        decode_payload(variable, payload_facts(index, number, variable), data)
    except PayloadError as error:
        yield _fault(index, number, error.code, error.what, Severity.FAULT)
        return
    except RefbrowserError as error:
        # A limit of ours, no fault of the stream.
        yield _fault(index, number, "not-checked", error.message, Severity.WARNING)
        return
    found_sum = payload_crc32(payload, data) if checksum >= 0 else None
    if found_sum is not None:
        yield from _compared(index, number, variable, found_sum)


def payload_facts(index: StreamIndex, number: int, variable: StreamVariable) -> PayloadFacts:
    """Return what a message says of its payload, for the question whether that can be decoded."""
    table = index.table
    ranges = table.ranges(number)
    return PayloadFacts(
        Payload(int(table.payload[number])),
        variable.shape if ranges is None else tuple(map(len, ranges)),
        deflated=bool(table.deflated[number]),
    )


def _compared(index: StreamIndex, number: int, variable: StreamVariable, found: int) -> Iterator[StreamFault]:
    wanted = int(index.table.crc32[number])
    if found != wanted:
        text = f"the checksum is {found:08x}, not {wanted:08x}"
        yield _fault(index, number, "crc32", text, Severity.WARNING)


def _fault(index: StreamIndex, number: int, code: str, text: str, severity: Severity) -> StreamFault:
    table = index.table
    return StreamFault(
        code=code,
        message=text,
        number=number,
        offset=int(table.offset[number]),
        severity=severity,
        path=table.names[table.variable[number]],
    )
