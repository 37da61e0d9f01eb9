"""Answers of a service of CDM Remote to values: of variables by chunk, of sequences as they are counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.io.fetching.fetch import read_document
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.reference import Inline, ReferenceKind, WholeFile
from refbrowser.model.values import SourcePiece
from refbrowser.wings.ncstream.reading.definition import (
    StreamDefinition,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.elements import is_ragged
from refbrowser.wings.ncstream.reading.messages import MessageKind, Payload, StreamIndex
from refbrowser.wings.ncstream.reading.payloads import PayloadFacts, decode_payload
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.stream_layouts import little_endian, order_code
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.remote.spec import data_url
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS
from refbrowser.words import plural

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetching.fetch import Fetcher


Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A section of a variable that a service is asked for.

    Attributes
    ----------
    path
        Absolute, without escapes.
    section
        One range for each dimension that has a length; None of a sequence, of which all is sent.
    """

    path: str
    variable: StreamVariable
    section: tuple[range, ...] | None
    options: StreamReading

    def values(self, data: memoryview) -> Values:
        """Return the values in an answer, in the shape of the section.

        Raises
        ------
        RefbrowserError
            `E_FORMAT`: it is no message, damaged, or not of what was asked for; `E_SOURCE`: it is an error.
        """
        index = walk_stream(MemoryBytes(data), url="", definition=_defining(self.path, self.variable))
        self._check(index)
        table = index.table
        start = int(table.payload_offset[0])
        facts = PayloadFacts(
            payload=Payload(int(table.payload[0])),
            shape=self._shape(index),
            order=self._order(index),
            deflated=bool(table.deflated[0]),
        )
        return decode_payload(self.variable, facts, data[start : start + int(table.payload_length[0])])

    def _check(self, index: StreamIndex) -> None:
        for fault in index.faults:
            if fault.severity is Severity.FAULT:
                kind = ErrorKind.SOURCE if fault.code == "stream-error" else ErrorKind.FORMAT
                message = f"{fault.code}: {fault.message}"
                raise RefbrowserError(kind, message, Place(path=self.path, start=fault.offset))
        table = index.table
        if len(table) != 1 or table.kind[0] not in (MessageKind.DATA, MessageKind.DATA_COLUMN):
            raise self._wrong(plural(len(table), "a message without data", f"{len(table)} messages"))
        name = table.names[table.variable[0]] if table.variable[0] >= 0 else None
        if name != self.path:
            raise self._wrong("data of another variable")

    def _shape(self, index: StreamIndex) -> tuple[int, ...]:
        """Return the shape of the values; what the answer says of its section must be what was asked for."""
        section = self.section
        if section is None:
            return (max(int(index.table.count[0]), 0),)
        answered = index.table.ranges(0)
        if answered is not None and (section or answered) and not _same(answered, section):
            raise self._wrong("another section")
        return tuple(map(len, section))

    def _order(self, index: StreamIndex) -> str:
        if index.table.kind[0] == MessageKind.DATA_COLUMN and self.options.byte_order is None:
            # The columns of members have flags of their own.
            return ""
        first = np.zeros(1, np.int64)
        return order_code(bool(little_endian(index.table, first, self.options)[0]))

    def _wrong(self, what: str) -> RefbrowserError:
        message = f"the service answered with {what}"
        return RefbrowserError(ErrorKind.FORMAT, message, Place(path=self.path))


def _defining(path: str, variable: StreamVariable) -> StreamDefinition:
    """Return a definition of one variable: that of all takes long where there are many."""
    *groups, name = path.strip("/").split("/")
    group = StreamGroup(variables={name: variable})
    for above in reversed(groups):
        group = StreamGroup(groups={above: replace(group, name=above)})
    return StreamDefinition(root=group)


def _same(answered: tuple[range, ...], asked: tuple[range, ...]) -> bool:
    """Tell whether two sections are of the same elements; for a scalar some services send one range of 1."""
    if not asked:
        return all(len(each) == 1 for each in answered)
    # Ranges of the same elements are equal, however their ends are written.
    return answered == asked


#: Chunks of so many elements are asked for whole: parts of them cost as many requests as there are parts.
_WHOLE = 1 << 14


def asked_grid(variable: StreamVariable, shape: tuple[int, ...]) -> RegularChunkGrid:
    """Return the chunks in which a variable is asked for: runs of elements in C order, of bounded size."""
    dtype = variable.type.dtype
    is_plain = dtype is not None and not is_ragged(variable)
    left = (
        STREAM_LIMITS.remote_tile // dtype.itemsize
        if is_plain and dtype is not None
        else STREAM_LIMITS.remote_objects
    )
    sides = []
    for length in reversed(shape):
        side = max(min(length, left), 1)
        sides.append(side)
        left //= side
    return RegularChunkGrid(shape, tuple(reversed(sides)))


@dataclass(frozen=True, slots=True, eq=False)
class RemoteSource:
    """What a service sends of one variable; only what is wanted of a chunk is asked for.

    Attributes
    ----------
    endpoint
        URL of the service.
    path
        Of the variable, absolute, without escapes.
    """

    endpoint: str
    path: str
    variable: StreamVariable
    grid: RegularChunkGrid
    options: StreamReading

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Yield the one piece that gives the elements of a part."""
        origin, extent = self.grid.origin(part.coords), self.grid.extent(part.coords)
        if prod(extent) <= _WHOLE:
            section = tuple(range(at, at + side) for at, side in zip(origin, extent, strict=True))
            inside = part.inside
        else:
            section = tuple(
                range(at + taken.start, at + taken.stop, taken.step or 1)
                for at, taken in zip(origin, part.inside, strict=True)
            )
            inside = tuple(slice(len(taken)) for taken in section)
        # All of a variable is asked for by its name alone: every service understands that.
        asked = () if tuple(map(len, section)) == self.grid.shape else section
        url = data_url(self.endpoint, self.path, asked, is_ragged=is_ragged(self.variable))
        question = Question(self.path, self.variable, section, self.options)
        yield SourcePiece(
            reference=WholeFile(url),
            shape=tuple(map(len, section)),
            inside=inside,
            target=part.target,
            decode=question.values,
            name="the answer",
            place=Place(path=self.path, url=url),
            how=(self.options,),
        )

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that every chunk is derived: a service says nothing of what is missing."""
        return np.full(self.grid.grid_shape, ReferenceKind.DERIVED, np.uint8)

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some chunks, shape (n, ndim)."""
        return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int | None:
        """Return None: what is missing is not known."""
        return None


#: Sequences that are asked for when a service is opened; no service is known that has more than a few.
_MOST = 16


@dataclass(frozen=True, slots=True, eq=False)
class SequenceSource:
    """The rows of a sequence, from the answer that told how many there are (`ArraySource`)."""

    question: Question
    data: bytes
    rows: int

    def pieces(self, part: ChunkPart) -> Iterator[SourcePiece]:
        """Yield the one piece that gives the rows of a part: the sequence has one chunk."""
        yield SourcePiece(
            reference=Inline(self.data),
            shape=(self.rows,),
            inside=part.inside,
            target=part.target,
            decode=self.question.values,
            name="the answer",
            place=Place(path=self.question.path),
        )

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that the chunk is derived."""
        return np.full((min(self.rows, 1),), ReferenceKind.DERIVED, np.uint8)

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some chunks, shape (n, 1)."""
        return np.full(len(coords), ReferenceKind.DERIVED, np.uint8)

    def stored(self) -> int | None:
        """Return how many chunks there are."""
        return min(self.rows, 1)


#: What became of the sequences of a service, by path.
Sequences = Mapping[str, SequenceSource | RefbrowserError]


def read_sequences(
    endpoint: str,
    definition: StreamDefinition,
    options: StreamReading,
    access: Access,
    fetcher: Fetcher,
    token: CancelToken | None = None,
) -> Sequences:
    """Return the rows of all sequences of a service, or why they cannot be had."""
    found: dict[str, SequenceSource | RefbrowserError] = {}
    for path, variable in definition.variables():
        if variable.type is not StreamType.SEQUENCE:
            continue
        question = Question(path, variable, None, options)
        if len(found) >= _MOST:
            message = f"the service has more than {_MOST} sequences; others are not read"
            found[path] = RefbrowserError(ErrorKind.BUDGET, message)
            continue
        try:
            answer = read_document(
                data_url(endpoint, path, ()),
                access,
                fetcher=fetcher,
                cancel=token,
                size_limit=STREAM_LIMITS.remote_header,
            )
            found[path] = SequenceSource(question, bytes(answer.data), len(question.values(answer.data)))
        except RefbrowserError as error:
            found[path] = error
    return found
