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

#: Bytes that are searched at once: few at first, since what is sought is near where little is damaged.
_FIRST, _BLOCK = 1 << 16, 1 << 20
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
            if self._end_of_message(candidate) is not None:
                return candidate
        return None

    def across(self, offset: int, position: int) -> int | None:
        """Return where a message begins that the one at `offset` has swallowed; None where none does.

        A length that is too large, or bytes that were lost, make a message reach into those behind it. One
        of them lies across the end of the first then, which data that look like messages do not.

        Parameters
        ----------
        position
            Where the message at `offset` ends, by its lengths.
        """
        # This is not to cost so much that nothing is left for what lies ahead.
        first = max(offset + 1, position - self._left // 16)
        for candidate in self._candidates(first, position):
            if self._left <= 0:
                return None
            end: int | None = candidate
            while end is not None and end < position:
                end = self._end_of_message(end)
            if end is not None and end > position:
                return candidate
        return None

    def _candidates(self, offset: int, stop: int) -> Iterator[int]:
        """Yield where magics stand, in order."""
        overlap = magics.LENGTH - 1
        start, block = offset, min(_FIRST, _BLOCK)
        while start < stop:
            if self._token is not None:
                self._token.check()
            self._left -= block
            if self._left <= 0:
                return
            data = bytes(self._source.read(start, min(block, stop - start) + overlap))
            for at in sorted(at for magic in _WANTED for at in _places(data, magic)):
                yield start + at
            start += block
            block = min(2 * block, _BLOCK)

    def _end_of_message(self, offset: int) -> int | None:
        """Return where the sound message at `offset` ends; None where there is none."""
        window, reader = self._window, self._reader
        state, before = reader.state(), window.spent
        try:
            stop = reader.message(offset)
            is_sound = (
                stop == window.size if reader.has_end else self._is_credible() and is_boundary(window, stop)
            )
            return stop if is_sound else None
        except FramingError:
            return None
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
