"""One state of a dataset as CDM Remote offers it: its description, and the sections that are asked for."""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import prod
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.nested.nested_variables import with_streamable
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.model.selection import Selection
from refbrowser.wings.ncstream.reading.bytes import write_varint
from refbrowser.wings.ncstream.reading.definition import StreamType
from refbrowser.wings.ncstream.reading.elements import is_ragged
from refbrowser.wings.ncstream.remote.spec import requests_in, spellings_of
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS
from refbrowser.wings.ncstream.writing.definition_of import StreamedDataset, StreamedVariable, definition_of
from refbrowser.wings.ncstream.writing.encoding import (
    Buffer,
    EncodedFacts,
    data_head,
    data_message,
    element_bytes,
    header_message,
    regular_message,
)

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.wings.ncstream.reading.definition import StreamDefinition


Ranges = tuple[range, ...]


def blocks(section: Ranges, chunk_shape: Sequence[int], most: int) -> Iterator[Ranges]:
    """Yield the parts of a section, in C order, of at most so many elements each (of one at least).

    Parameters
    ----------
    section
        Not empty along any axis.
    chunk_shape
        Of the array: where they fit, parts end where chunks do, so that each chunk is read once.
    """
    axis = _split_axis(section, most)
    if axis is None:
        yield section
        return
    inner = section[axis + 1 :]
    rows = max(most // prod(map(len, inner)), 1)
    for outer in _positions(section[:axis]):
        for run in _runs(section[axis], chunk_shape[axis], rows):
            yield (*outer, run, *inner)


def _split_axis(section: Ranges, most: int) -> int | None:
    """Return the first axis of which some rows are few enough; None where all of the section is."""
    if prod(map(len, section)) <= most:
        return None
    return next(axis for axis in range(len(section)) if prod(map(len, section[axis + 1 :])) <= most)


def _positions(section: Ranges) -> Iterator[Ranges]:
    """Like itertools.product, which would hold every axis in memory."""
    if not section:
        yield ()
        return
    for at in section[0]:
        for rest in _positions(section[1:]):
            yield (range(at, at + 1), *rest)


def _runs(taken: range, side: int, rows: int) -> Iterator[range]:
    start = 0
    while start < len(taken):
        stop = min(start + rows, len(taken))
        if stop < len(taken):
            # The first position that is not below the last edge of a chunk before `stop`.
            edge = taken[stop] // side * side
            aligned = -(-(edge - taken.start) // taken.step)
            stop = aligned if aligned > start else stop
        yield taken[start:stop]
        start = stop


@dataclass(frozen=True, slots=True)
class Message:
    """One data message: its bytes, how many there are, and how many of them are in memory already."""

    length: int
    parts: Iterable[Buffer]
    held: int = 0


@dataclass(frozen=True, slots=True)
class SectionSource:
    """Reads sections of one variable of a dataset as a stream has them.

    Attributes
    ----------
    section
        One range for each dimension of the variable that has a length.
    """

    dataset: Dataset
    streamed: StreamedVariable
    section: Ranges
    token: CancelToken

    @property
    def is_regular(self) -> bool:
        """Whether the elements are all of one size."""
        variable = self.streamed.variable
        return variable.type.dtype is not None and not is_ragged(variable)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(map(len, self.section))

    @property
    def decoded(self) -> int:
        """Bytes of the elements where these are all of one size, else 0."""
        dtype = self.streamed.variable.type.dtype
        return self.size * dtype.itemsize if self.is_regular and dtype is not None else 0

    def message(self, level: int) -> Message:
        """Return the data message; elements of one size are read while it is sent, others at once.

        Parameters
        ----------
        level
            Of deflate, 0 for none; what is too large to be deflated at once is sent plain.

        Raises
        ------
        RefbrowserError
            It is too large, or cannot be read.
        """
        if not self.is_regular:
            return self._whole()
        dtype = self.streamed.variable.type.known_dtype
        length = self.size * dtype.itemsize
        if level and length <= STREAM_LIMITS.serve_whole:
            return self._deflated(level)
        if length > STREAM_LIMITS.serve_answer:
            raise self._too_much(f"{length} bytes", STREAM_LIMITS.serve_answer, "serve_answer")
        head, count = data_head(self._facts), write_varint(length)
        return Message(len(head) + len(count) + length, chain((head, count), self._payload(dtype.itemsize)))

    @property
    def _facts(self) -> EncodedFacts:
        return EncodedFacts(path=self.streamed.path, type=self.streamed.variable.type, section=self.section)

    def _payload(self, item: int) -> Iterator[Buffer]:
        """Yield the elements in C order."""
        if not self.size:
            return
        chunks = [*self.streamed.node.grid.largest]
        # Axes that only the stream has are read with those of the array.
        chunks += [1] * (len(self.section) - len(chunks))
        for part in blocks(self.section, chunks, max(STREAM_LIMITS.serve_block // item, 1)):
            yield element_bytes(self.streamed.variable, self._values(part))

    def _deflated(self, level: int) -> Message:
        body = element_bytes(self.streamed.variable, self._values(self.section))
        packed = zlib.compress(body, level)
        return _whole_message(regular_message(replace(self._facts, uncompressed=len(body)), packed))

    def _whole(self) -> Message:
        """Return a message of texts, rows or structures: how long it is only they tell."""
        variable, node = self.streamed.variable, self.streamed.node
        size = self.size * (node.dtype.itemsize if node.dtype is not None else 1)
        if self.size > STREAM_LIMITS.serve_objects:
            raise self._too_much(f"{self.size} elements", STREAM_LIMITS.serve_objects, "serve_objects")
        if size > STREAM_LIMITS.serve_whole:
            raise self._too_much(f"{size} bytes", STREAM_LIMITS.serve_whole, "serve_whole")
        parts = data_message(self.streamed.path, variable, self.section, self._values(self.section))
        return _whole_message(parts)

    def _values(self, part: Ranges) -> npt.NDArray[Any]:
        """Return a part of the variable, read and changed to what the stream holds."""
        streamed, node = self.streamed, self.streamed.node
        own = len(node.shape)
        selection = Selection(part[:own])
        out = None
        if streamed.convert is None and self.is_regular and streamed.variable.type is not StreamType.CHAR:
            # Read to big-endian memory, which is then sent as it is.
            out = np.empty(selection.shape, streamed.variable.type.dtype)
        values = self.dataset.session.read(node, self.dataset.access, selection, out=out, cancel=self.token)
        changed = streamed.converted(values)
        inside = tuple(slice(taken.start, taken.stop, taken.step) for taken in part[own:])
        # Of a 0-d array the index () would take the element out.
        return changed[(slice(None),) * own + inside] if inside else changed

    def _too_much(self, what: str, limit: int, name: str) -> RefbrowserError:
        message = f"{what} are requested; at most {limit} are sent in one answer ({name})"
        return RefbrowserError(
            ErrorKind.BUDGET, message, Place(path=self.streamed.path), "request smaller sections"
        )


def _whole_message(parts: list[Buffer]) -> Message:
    length = sum(map(len, parts))
    return Message(length, parts, length)


#: Parts of an answer that are there before its head is sent: those before the values, and the first of them.
_FIRST = 3


class Offered:
    """A dataset that is offered; its description is made when it is first asked for. Thread-safe."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._lock = threading.Lock()
        self._made: tuple[StreamedDataset, dict[str, str]] | None = None
        self._header: bytes | None = None

    def described(self) -> StreamedDataset:
        """Return what is said of the dataset, and what of it is not as it was."""
        return self._described()[0]

    def definition(self) -> StreamDefinition:
        """Return the description of the dataset."""
        return self.described().definition

    def header(self) -> bytes:
        """Return the description as a header message."""
        if self._header is None:
            self._header = header_message(self.definition())
        return self._header

    def data(self, text: str, level: int, token: CancelToken) -> tuple[int, int, Iterator[Buffer]]:
        """Return the bytes of the messages that a request asks for, after their number and how many are held.

        The first values were read when this returns: what cannot be read is told by an error, as far as
        possible. Later ones are read as they are sent.

        Parameters
        ----------
        text
            Names and sections, as in ``var=``.
        level
            Of deflate, 0 for none.

        Raises
        ------
        RefbrowserError
            The request is malformed or too large, or what it asks for cannot be read.
        """
        streamed, spellings = self._described()
        variables = {each.path: each for each in streamed.variables}
        sources = []
        for request in requests_in(text, spellings):
            each = variables[request.path]
            section = request.ranges(each.variable.shape, is_ragged=is_ragged(each.variable))
            sources.append(SectionSource(self.dataset, each, section, token))
        # Deflated they may be few: reading and deflating them is what takes long.
        if level and sum(each.decoded for each in sources) > STREAM_LIMITS.serve_answer:
            what = f"more than {STREAM_LIMITS.serve_answer} bytes (serve_answer) would have to be deflated"
            raise RefbrowserError(ErrorKind.BUDGET, what, advice="request less at once")
        messages: list[Message] = []
        total = held = 0
        for source in sources:
            message = source.message(level)
            messages.append(message)
            total, held = total + message.length, held + message.held
            if total > STREAM_LIMITS.serve_answer or held > STREAM_LIMITS.serve_whole:
                limit = "serve_whole" if held > STREAM_LIMITS.serve_whole else "serve_answer"
                what = f"an answer of more than {getattr(STREAM_LIMITS, limit)} bytes ({limit}) is requested"
                raise RefbrowserError(ErrorKind.BUDGET, what, advice="request less at once")
        return total, held, _begun(chain.from_iterable(message.parts for message in messages))

    def _described(self) -> tuple[StreamedDataset, dict[str, str]]:
        with self._lock:
            if self._made is None:
                hierarchy, left_out = with_streamable(self.dataset.hierarchy, "a stream")
                # Readers of this protocol have no sequences.
                made = definition_of(hierarchy, sequences=False)
                made = replace(made, left_out=(*made.left_out, *left_out))
                made = replace(made, definition=replace(made.definition, location=name_of(self.dataset)))
                self._made = made, spellings_of(each.path for each in made.variables)
            return self._made


def name_of(dataset: Dataset) -> str:
    """Return the last part of the name of what was opened: clients need not know where that is."""
    return PurePosixPath(re.split("[?#]", dataset.path)[0].replace("\\", "/")).name or "dataset"


def _begun(parts: Iterator[Buffer]) -> Iterator[Buffer]:
    """Return an iterator of which the first items are there already."""
    first = list(islice(parts, _FIRST))
    return chain(first, parts)
