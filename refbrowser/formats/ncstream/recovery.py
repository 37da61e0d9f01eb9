"""Finding the framing of a stream again behind a damaged message."""

from __future__ import annotations

from collections.abc import Iterator

from refbrowser.formats.ncstream import magics
from refbrowser.formats.ncstream.bytes import ByteSource, RemoteBytes
from refbrowser.formats.ncstream.faults import FramingError
from refbrowser.formats.ncstream.framing import is_boundary
from refbrowser.formats.ncstream.messages import MessageKind
from refbrowser.formats.ncstream.reading import MessageReader
from refbrowser.formats.ncstream.window import Window
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS

_BLOCK = 1 << 20
#: What a trial costs at least, in bytes that could be searched instead.
_TRIAL = 4096
_WANTED = (*sorted(magics.MESSAGES), magics.END)


class Recovery:
    """Searches a stream for messages; all searches together are bounded.

    Parameters
    ----------
    reader
        Tries what may be a message; it holds afterwards what it held before.
    """

    def __init__(
        self, source: ByteSource, window: Window, reader: MessageReader, token: CancelToken | None
    ) -> None:
        self._source = source
        self._window = window
        self._reader = reader
        self._token = token
        is_remote = isinstance(source, RemoteBytes)
        self._left = LIMITS.stream_search_remote if is_remote else LIMITS.stream_search

    def next_message(self, offset: int, limit: int | None = None) -> int | None:
        """Return where the first sound message at or behind `offset` begins; None where there is none.

        A magic may stand in data by chance: the message must parse, and another one or the end of the
        stream must follow it.

        Parameters
        ----------
        limit
            Bytes that are searched at most.
        """
        stop = self._window.size if limit is None else min(offset + limit, self._window.size)
        for candidate in self._candidates(offset, stop):
            if self._left <= 0:
                return None
            if self._is_message(candidate):
                return candidate
        return None

    def _candidates(self, offset: int, stop: int) -> Iterator[int]:
        """Yield where magics stand, in order."""
        overlap = magics.LENGTH - 1
        for start in range(offset, stop, _BLOCK):
            if self._token is not None:
                self._token.check()
            self._left -= _BLOCK
            if self._left <= 0:
                return
            data = bytes(self._source.read(start, min(_BLOCK, stop - start) + overlap))
            for at in sorted(at for magic in _WANTED for at in _places(data, magic)):
                yield start + at

    def _is_message(self, offset: int) -> bool:
        window, reader = self._window, self._reader
        state, before = reader.state(), window.spent
        try:
            stop = reader.message(offset)
            if reader.has_end:
                return stop == window.size
            return self._is_credible() and is_boundary(window, stop)
        except FramingError:
            return False
        finally:
            reader.restore(state)
            self._left -= _TRIAL + window.spent - before

    def _is_credible(self) -> bool:
        """Return whether the message that was read last says what a message says."""
        row = self._reader.rows.last()
        if row.kind in (MessageKind.DATA, MessageKind.DATA_COLUMN):
            return row.data_type >= 0 and self._reader.facts.names[row.variable] != "/"
        return row.payload_length > 0


def _places(data: bytes, magic: bytes) -> Iterator[int]:
    at = data.find(magic)
    while at >= 0:
        yield at
        at = data.find(magic, at + 1)
