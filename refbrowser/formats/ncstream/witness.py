"""What a stream tells of the bytes of regular chunks: checksums, and faults by their codes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Finding, RefbrowserError, Severity
from refbrowser.formats.ncstream.layouts import Layout
from refbrowser.formats.ncstream.messages import Payload, StreamFault, StreamIndex
from refbrowser.formats.ncstream.payload_errors import PayloadError


@dataclass(frozen=True, eq=False)
class StreamWitness:
    """Tells of the messages that are the chunks of one variable (`ChunkWitness`)."""

    index: StreamIndex
    layout: Layout

    def check(self, url: str, offset: int, data: memoryview) -> Finding | None:
        """Return a warning where the checksum of a payload is not that of its message."""
        number = self._number(url, offset) if self._has_checksums else None
        if number is None:
            return None
        expected = int(self.index.table.crc32[number])
        if expected < 0 or (found := zlib.crc32(data)) == expected:
            return None
        return self.index.finding(checksum_warning(self.index, self.layout.path, number, found))

    def fault(self, url: str, offset: int, data: memoryview) -> RefbrowserError | None:
        """Return why a payload cannot be decoded."""
        from refbrowser.formats.ncstream.payloads import PayloadFacts, regular_values

        number = self._number(url, offset)
        if number is None:
            return None
        shape, order = self.layout.grid.chunk_shape, self.layout.order
        try:
            regular_values(
                self.layout.variable,
                PayloadFacts(Payload.REGULAR, shape, order, self.layout.is_deflated),
                data,
            )
        except PayloadError as error:
            fault = StreamFault(
                code=error.code,
                message=error.what,
                number=number,
                offset=int(self.index.table.offset[number]),
                path=self.layout.path,
            )
            return self.index.finding(fault).error()
        return None

    def _number(self, url: str, offset: int) -> int | None:
        """Return the number of the message whose payload begins at an offset; None where none does."""
        offsets = self._offsets
        at = int(np.searchsorted(offsets, offset))
        if url != self.index.url or at == len(offsets) or offsets[at] != offset:
            return None
        return int(self.layout.sections.numbers[at])

    @cached_property
    def _offsets(self) -> npt.NDArray[np.int64]:
        return self.index.table.payload_offset[self.layout.sections.numbers]

    @cached_property
    def _has_checksums(self) -> bool:
        return bool((self.index.table.crc32[self.layout.sections.numbers] >= 0).any())


def checksum_warning(index: StreamIndex, path: str, number: int, found: int) -> StreamFault:
    """Return the warning that the checksum of a payload is another than its message says."""
    expected = int(index.table.crc32[number])
    return StreamFault(
        code="crc32",
        message=f"the checksum of the data is {found:08x}, the message says {expected:08x}",
        number=number,
        offset=int(index.table.offset[number]),
        severity=Severity.WARNING,
        path=path,
    )
