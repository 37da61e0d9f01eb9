"""The data messages of an answer: sections of variables, read and sent block by block."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.serve.blocks import Ranges, blocks
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.ncstream.bytes import write_varint
from refbrowser.formats.ncstream.definition import DataType
from refbrowser.formats.ncstream.definition_of import StreamedVariable
from refbrowser.formats.ncstream.elements import is_ragged
from refbrowser.formats.ncstream.encoding import (
    Buffer,
    DataFacts,
    data_head,
    data_message,
    element_bytes,
    regular_message,
)
from refbrowser.limits import LIMITS
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken


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
        dtype = self.streamed.variable.type.dtype
        assert dtype is not None
        length = self.size * dtype.itemsize
        if level and length <= LIMITS.serve_whole:
            return self._deflated(level)
        if length > LIMITS.serve_answer:
            raise self._too_much(f"{length} bytes", LIMITS.serve_answer, "serve_answer")
        head, count = data_head(self._facts), write_varint(length)
        return Message(len(head) + len(count) + length, chain((head, count), self._payload(dtype.itemsize)))

    @property
    def _facts(self) -> DataFacts:
        return DataFacts(path=self.streamed.path, type=self.streamed.variable.type, section=self.section)

    def _payload(self, item: int) -> Iterator[Buffer]:
        """Yield the elements in C order."""
        if not self.size:
            return
        grid = self.streamed.node.grid
        chunks = [] if grid is None else [*grid.chunk_shape]
        # Axes that only the stream has are read with those of the array.
        chunks += [1] * (len(self.section) - len(chunks))
        for part in blocks(self.section, chunks, max(LIMITS.serve_block // item, 1)):
            yield element_bytes(self.streamed.variable, self._values(part))

    def _deflated(self, level: int) -> Message:
        body = element_bytes(self.streamed.variable, self._values(self.section))
        packed = zlib.compress(body, level)
        return _whole_message(regular_message(replace(self._facts, uncompressed=len(body)), packed))

    def _whole(self) -> Message:
        """Return a message of texts, rows or structures: how long it is only they tell."""
        variable, node = self.streamed.variable, self.streamed.node
        size = self.size * (node.dtype.itemsize if node.dtype is not None else 1)
        if self.size > LIMITS.serve_objects:
            raise self._too_much(f"{self.size} elements", LIMITS.serve_objects, "serve_objects")
        if size > LIMITS.serve_whole:
            raise self._too_much(f"{size} bytes", LIMITS.serve_whole, "serve_whole")
        parts = data_message(self.streamed.path, variable, self.section, self._values(self.section))
        return _whole_message(parts)

    def _values(self, part: Ranges) -> npt.NDArray[Any]:
        """Return a part of the variable, read and changed to what the stream holds."""
        streamed, node = self.streamed, self.streamed.node
        own = len(node.shape)
        selection = Selection(part[:own])
        out = None
        if streamed.convert is None and self.is_regular and streamed.variable.type is not DataType.CHAR:
            # Read to big-endian memory, which is then sent as it is.
            out = np.empty(selection.shape, streamed.variable.type.dtype)
        values = self.dataset.session.read(node, self.dataset.access, selection, out=out, cancel=self.token)
        changed = streamed.converted(values)
        inside = tuple(slice(taken.start, taken.stop, taken.step) for taken in part[own:])
        # Of a 0-d array the index () would take the element out.
        return changed[(slice(None),) * own + inside] if inside else changed

    def _too_much(self, what: str, limit: int, name: str) -> RefbrowserError:
        message = f"{what} are asked for; at most {limit} are sent in one answer ({name})"
        return RefbrowserError(
            ErrorKind.BUDGET, message, Place(path=self.streamed.path), "ask for smaller sections"
        )


def _whole_message(parts: list[Buffer]) -> Message:
    length = sum(map(len, parts))
    return Message(length, parts, length)
