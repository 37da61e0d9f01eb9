"""Walking a stream once, from message to message, into an index."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from refbrowser.errors import Severity
from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.bytes import ByteSource
from refbrowser.formats.ncstream.checks import check_data
from refbrowser.formats.ncstream.definition import StreamDefinition
from refbrowser.formats.ncstream.faults import FaultCode, FramingError
from refbrowser.formats.ncstream.framing import is_boundary
from refbrowser.formats.ncstream.messages import MessageKind, StreamFault, StreamIndex
from refbrowser.formats.ncstream.reading import MessageReader, is_early
from refbrowser.formats.ncstream.recovery import Recovery
from refbrowser.formats.ncstream.rows import damaged
from refbrowser.formats.ncstream.window import Window
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

#: Called with the bytes walked so far, and in all.
WalkProgress = Callable[[int, int], None]

#: Messages between two looks at the token, less one.
_TURN = 255
#: Bytes before the end of the walk that tell whether a file that has grown is still the same.
_TAIL = 64 << 10
#: A file that begins with no message is searched so far for one, before it is taken for no stream.
_PREAMBLE = 1 << 20
_OF_DATA = (MessageKind.DATA, MessageKind.DATA_COLUMN)
_OF_ENDS = ("no-start", "no-end", "trailing-bytes")


def walk_stream(
    source: ByteSource,
    *,
    url: str,
    token: CancelToken | None = None,
    progress: WalkProgress | None = None,
    resume: StreamIndex | None = None,
    until: int | None = None,
    definition: StreamDefinition | None = None,
) -> StreamIndex:
    """Return the index of a stream; what is damaged in it is told by the index (NcStream grammar).

    Parameters
    ----------
    url
        Where it is, canonical; of the index and of errors.
    resume
        The index of the same stream when it was shorter: only what was added is read. Where the stream is
        another by now, all of it is.
    until
        Number of the last message that is read.
    definition
        What is known before the first header, as for the answers of CDM Remote to `req=data`.

    Raises
    ------
    RefbrowserError
        `E_FORMAT` (``not-ncstream``): there is no message in it; or it cannot be read.
    Cancelled
        `token` was cancelled.
    """
    walk = _Walk(source, url, token, progress, definition or StreamDefinition())
    if resume is not None and begins_with(source, resume):
        walk.go_on_from(resume)
    walk.run(until)
    return walk.index()


def begins_with(source: ByteSource, index: StreamIndex) -> bool:
    """Return whether a stream, which may be longer by now, still begins as when it was walked."""
    end = _end_of(index)
    return source.size >= end and _tail(source, end) == index.tail


class _Walk:
    """One walk over a stream."""

    def __init__(
        self,
        source: ByteSource,
        url: str,
        token: CancelToken | None,
        progress: WalkProgress | None,
        definition: StreamDefinition,
    ) -> None:
        self._source = source
        self._url = url
        self._token = token
        self._progress = progress
        self._window = Window(source)
        self._reader = MessageReader(self._window, definition, token)
        self._recovery = Recovery(source, self._window, self._reader, token)
        self._position = 0
        self._has_start = False
        self._is_complete = False
        #: Where the message begins that the stream ends within; its size where there is none such.
        self._torn_at = self._window.size

    def go_on_from(self, index: StreamIndex) -> None:
        """Take over the messages of an index whose stream begins the one at hand."""
        self._position = _end_of(index)
        count = int(np.searchsorted(index.table.stop, self._position, side="right"))
        kept = [
            fault
            for fault in index.faults
            if fault.number < count
            and fault.code not in _OF_ENDS
            and (int(index.table.kind[fault.number]) not in _OF_DATA or is_early(fault))
        ]
        self._reader.take_over(index, count, kept)
        self._has_start = index.has_start

    def run(self, until: int | None) -> None:
        """Read messages up to the end, or up to number `until`."""
        if not self._position:
            self._begin()
        reader, size = self._reader, self._window.size
        last = LIMITS.stream_messages if until is None else min(until + 1, LIMITS.stream_messages)
        while self._position < size and not reader.has_end and len(reader.rows) < last:
            if not len(reader.rows) & _TURN:
                self._look()
            reader.history.thin()
            try:
                self._position = reader.message(self._position)
                self._position = reader.alike(self._position, last - len(reader.rows))
            except FramingError as error:
                self._position = self._recovered(error)
        self._is_complete = self._position >= size or reader.has_end
        self._look()
        if not self._is_complete and until is None:
            text = f"only the first {LIMITS.stream_messages} messages are listed"
            reader.fault(FaultCode.LENGTH_TOO_LARGE, text, self._position)

    def index(self) -> StreamIndex:
        """Return what was found."""
        reader = self._reader
        table, of_data = check_data(reader.rows.table(reader.facts.names), reader.definition)
        # What no header defines at all is a fault.
        met = [each for each in reader.faults if not (is_early(each) and table.fault[each.number])]
        faults = [*met, *of_data, *self._of_ends(len(table))]
        walked = min(self._position, self._torn_at)
        found = StreamIndex(
            url=self._url,
            size=self._window.size,
            walked=walked,
            table=table,
            definition=reader.definition,
            headers=tuple(reader.history.headers),
            faults=tuple(sorted(faults, key=lambda each: (each.number, each.offset))),
            has_start=self._has_start,
            has_end=reader.has_end,
        )
        return replace(found, tail=_tail(self._source, _end_of(found)))

    def _begin(self) -> None:
        """Read START; where a stream begins with something else, see whether it is one."""
        first = self._window.bytes_at(0, magics.LENGTH)
        if first == magics.START:
            self._has_start = True
            self._position = magics.LENGTH
            return
        is_cut = bool(first) and any(magic.startswith(first) for magic in magics.FIRST)
        if not is_cut and self._recovery.next_message(0, _PREAMBLE) is None:
            text = "there is no message of ncstream in it"
            if first in magics.COVERAGES:
                text = "it holds messages of coverages, which are not supported"
            code = FaultCode.NOT_NCSTREAM.text
            raise StreamFault(code=code, message=text, number=0, offset=0).error(self._url)

    def _look(self) -> None:
        if self._token is not None:
            self._token.check()
        if self._progress is not None:
            self._progress(self._position, self._window.size)

    def _recovered(self, error: FramingError) -> int:
        """Note that the message at the position is damaged; return where the next one begins."""
        # A search leaves its own there.
        offset, size, known = self._position, self._window.size, self._reader.known
        if (swallowed := self._swallowed()) is not None:
            return swallowed
        following: int | None = error.stop
        if following is None or not is_boundary(self._window, following):
            following = self._recovery.next_message(offset + 1)
        code = error.code
        if following is None or following == size:
            following, self._torn_at = size, offset
            if not error.is_decided:
                code = FaultCode.TRUNCATED
        message = error.message
        if known is not None and code is FaultCode.TRUNCATED and self._torn_at == offset:
            known, elements = self._reader.arrived(known)
            if known.objects >= 0:
                message = f"{message}, of which {known.objects} of {elements} elements arrived"
        path = None if known is None else self._reader.facts.names[known.variable]
        self._reader.fault(code, message, offset, path=path)
        self._reader.rows.add(damaged(offset, following, code, known))
        return following

    def _swallowed(self) -> int | None:
        """Take back the last message where it reaches into the one behind it; return where that begins."""
        rows = self._reader.rows
        last = rows.last() if len(rows) else None
        if last is None or last.kind not in _OF_DATA or last.stop != self._position:
            return None
        following = None
        if not is_boundary(self._window, last.stop):
            following = self._recovery.across(last.offset, last.stop)
        if following is None:
            return None
        rows.cut(len(rows) - 1, len(rows.ranges))
        code, path = FaultCode.LENGTH_TOO_LARGE, self._reader.facts.names[last.variable]
        text = f"it is so long that it reaches into the message at byte {following}"
        self._reader.fault(code, text, last.offset, path=path)
        rows.add(damaged(last.offset, following, code, last))
        return following

    def _of_ends(self, count: int) -> list[StreamFault]:
        """Return what is to be said of how the stream begins and ends."""
        found = []
        if not self._has_start:
            found.append(_warning(FaultCode.NO_START, "the stream does not begin with START", 0, 0))
        if self._reader.has_end and self._position < self._window.size:
            text = f"{self._window.size - self._position} bytes stand behind the end of the stream"
            found.append(_warning(FaultCode.TRAILING_BYTES, text, count, self._position))
        is_torn = self._torn_at < self._window.size
        if self._is_complete and not self._reader.has_end and not is_torn:
            text = "the stream does not end with END"
            found.append(_warning(FaultCode.NO_END, text, count, self._position))
        return found


def _warning(code: FaultCode, message: str, number: int, offset: int) -> StreamFault:
    return StreamFault(
        code=code.text, message=message, number=number, offset=offset, severity=Severity.WARNING
    )


def _end_of(index: StreamIndex) -> int:
    """Return where the last whole message of an index ends, and so what is added to the stream begins."""
    return index.walked - magics.LENGTH if index.has_end else index.walked


def _tail(source: ByteSource, end: int) -> int:
    start = max(end - _TAIL, 0)
    return zlib.crc32(source.read(start, end - start))
