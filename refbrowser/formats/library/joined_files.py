"""Several GRIB files as one run of bytes: each has a room of its own, far behind that of the one before."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes, RemoteBytes

#: A file begins at its number times so many bytes.
ROOM = 1 << 42
#: Files that stay open.
_OPEN = 16
_PLACE = re.compile(r"\bat byte (\d+)")


class JoinedFiles:
    """The bytes of several files (`ByteSource`); behind the end of each there are zeros.

    Parameters
    ----------
    urls
        Where the files lie.
    opened
        Opens one of them.
    ahead
        Where reads will begin of each, by its number, and how many bytes of each are read together.
    """

    near = 1 << 20

    def __init__(
        self,
        urls: Sequence[str],
        opened: Callable[[str], LocalBytes | RemoteBytes],
        ahead: Mapping[int, Sequence[int]],
        length: int,
    ) -> None:
        self.urls = tuple(urls)
        self._opener, self._ahead, self._length = opened, ahead, length
        self._open: OrderedDict[int, LocalBytes | RemoteBytes] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes in all, with the room between files."""
        return ROOM * len(self.urls)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes from `offset` on, of one file."""
        number, at = divmod(offset, ROOM)
        length = max(min(length, ROOM - at, self.size - offset), 0)
        return bytes(self._source(number).read(at, length)).ljust(length, b"\0")

    def named(self, text: str) -> str:
        """Return a text in which places are those of the files, which it names where there are several."""

        def replaced(match: re.Match[str]) -> str:
            number, at = divmod(int(match[1]), ROOM)
            is_one = len(self.urls) == 1 or number >= len(self.urls)
            return match[0] if is_one else f"at byte {at} of {self.urls[number]}"

        return _PLACE.sub(replaced, text)

    def _source(self, number: int) -> ByteSource:
        source = self._open.get(number)
        if source is None:
            source = self._open[number] = self._opener(self.urls[number])
            if isinstance(source, RemoteBytes):
                source.read_ahead(self._ahead.get(number, ()), self._length)
            if len(self._open) > _OPEN:
                _, over = self._open.popitem(last=False)
                if isinstance(over, LocalBytes):
                    over.close()
        self._open.move_to_end(number)
        return source
