"""What astropy tells of the header-data units of a file of FITS, and the sums that their data has to have."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.library.library_contents import LibraryContents
from refbrowser.formats.library.process import LibraryFile

Told = Mapping[str, Any]
_ONES = (1 << 32) - 1
#: Bytes of a unit that are summed before the library reads any value of it: of files of this machine, and of
#: others.
_HERE, _REMOTE = 1 << 30, 16 << 20


@dataclass(eq=False)
class Units(LibraryContents):
    """What the library tells of a file.

    Attributes
    ----------
    told
        Header-data units, in the order of the file.
    """

    told: list[Told] = field(default_factory=list)

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "unit" in told:
            self.told.append(told)
        else:
            super().take(told, data)


def attributes_of(told: Told) -> dict[str, Any]:
    """Return the fields of a node that tell its cards."""
    return {
        "attributes": dict(told.get("cards", ())),
        "internal_attributes": dict(told.get("structure", ())),
    }


# Sums


@dataclass(eq=False)
class UnitSum:
    """The sum of the data of one unit, ``DATASUM`` (`ChunkWitness`; FITS standard 4.0, 4.4.2.7).

    Sums of parts add up: chunks are summed as they are read, and compared once all have been.

    Attributes
    ----------
    path
        Of the array.
    offset, span
        Where the data begins, and how many bytes it has with those that fill its last block.
    size
        Bytes of all chunks.
    expected
        What the header says.
    rest
        Sum of the bytes behind the chunks; None where there are more than fill the last block.
    """

    file: LibraryFile
    path: str
    offset: int
    span: int
    size: int
    expected: int
    rest: int | None = None
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    #: Size and sum of each chunk that was read, by where it begins.
    _parts: dict[int, tuple[int, int]] = field(init=False, default_factory=dict)
    #: What the library found.
    _whole: int | None = field(init=False, default=None)

    def check(self, url: str, offset: int, data: memoryview) -> Finding | None:
        """Return a warning where the last chunk was read, and the sum of all is another one."""
        at = offset - self.offset
        if self.rest is None or url != self.file.url or not 0 <= at <= self.span - len(data):
            return None
        with self._lock:
            self._parts[at] = len(data), sum_of(data, at)
            read = sum(size for size, _ in self._parts.values())
            if read != self.size:
                return None
            return self._judged(folded(sum(part for _, part in self._parts.values()) + self.rest))

    def fault(self, url: str, offset: int, data: memoryview) -> RefbrowserError | None:
        """Return None: chunks are no codec's."""
        return None

    def look(self) -> Finding | None:
        """Have the library sum all data before values of it are read; return a warning where it differs."""
        if self.span > (_HERE if self.file.is_here else _REMOTE):
            return None
        with self._lock:
            if self._whole is None:
                self._whole = self._asked()
            return self._judged(self._whole)

    def _asked(self) -> int:
        found: list[int] = []

        def take(answer: dict[str, Any], data: memoryview) -> None:
            found.append(int(answer["sum"]))

        self.file.ask("sum", {"path": self.path}, take)
        return found[0]

    def _judged(self, total: int) -> Finding | None:
        # All ones and none are the same number.
        if total % _ONES == self.expected % _ONES:
            return None
        return Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.DECODE,
            message=f"the sum of its data is {total}, DATASUM says {self.expected}: "
            "bytes of it were changed, or the sum is out of date",
            place=Place(url=self.file.url, path=self.path, start=self.offset, stop=self.offset + self.span),
        )


def sum_of(data: memoryview, at: int) -> int:
    """Return the ones' complement sum of bytes that begin so far from the beginning of what is summed."""
    head = min(-at % 4, len(data))
    count = (len(data) - head) // 4
    words = np.frombuffer(data, ">u4", count, head) if count else np.zeros(0, np.uint32)
    total = int(words.sum(dtype=np.uint64))
    for part, shift in ((data[:head], 32 - 8 * (at % 4)), (data[head + 4 * count :], 32)):
        for place, byte in enumerate(bytes(part), 1):
            total += byte << (shift - 8 * place)
    return folded(total)


def folded(total: int) -> int:
    """Return a sum with what is above 32 bits added to it."""
    while total >> 32:
        total = (total & _ONES) + (total >> 32)
    return total
