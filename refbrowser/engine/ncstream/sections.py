"""Which part of a variable each of its messages gives, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.definition import StreamDefinition, StreamGroup, StreamVariable
from refbrowser.formats.ncstream.messages import MessageTable, Payload, StreamIndex

Ints = npt.NDArray[np.int64]

#: What a message may give by its section: a sequence has none, each of its messages appends.
_WITH_SECTION = (Payload.REGULAR, Payload.VARIABLE, Payload.STRUCTURE, Payload.COLUMN)


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """What each message of a variable gives, one row a message, in the order in which they came.

    Attributes
    ----------
    numbers
        Of the messages, ascending, shape (n,).
    starts, sizes, strides
        Shape (n, rank).
    """

    numbers: Ints
    starts: Ints
    sizes: Ints
    strides: Ints

    def axis(self, axis: int) -> tuple[Ints, Ints, Ints]:
        """Return starts, sizes and strides along one dimension."""
        return self.starts[:, axis], self.sizes[:, axis], self.strides[:, axis]

    def ranges(self, row: int) -> tuple[range, ...]:
        """Return the section of one row, a range for each dimension."""
        columns = (self.starts[row], self.sizes[row], self.strides[row])
        each = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(range(start, start + (size - 1) * stride + 1, stride) for start, size, stride in each)


def sections_of(index: StreamIndex, path: str, shape: Sequence[int], until: int | None = None) -> Sections:
    """Return what the messages of a variable give; those whose section does not fit it are left out.

    Immediate data counts as the first message of its variable: that of the header it came in.

    Parameters
    ----------
    shape
        Of the variable, without a dimension of variable length.
    until
        Number of the last message that counts; all of them where None.
    """
    last = len(index.table) - 1 if until is None else until
    numbers = index.of_variable(path)
    found = _sections(index.table, numbers[numbers <= last], shape)
    header = immediate_header(index, path, last)
    if header is None:
        return found
    whole = np.array([[0] * len(shape)]), np.array([list(shape)]), np.ones((1, len(shape)))
    columns = zip((found.starts, found.sizes, found.strides), whole, strict=True)
    parts = [np.concatenate([first.astype(np.int64), column]) for column, first in columns]
    order = np.concatenate([np.array([header], np.int64), found.numbers])
    return Sections(order, *parts)


def immediate_header(index: StreamIndex, path: str, last: int) -> int | None:
    """Return the number of the first header up to `last` that brought values of a variable, or None."""
    for number, definition in index.headers:
        if number > last:
            return None
        variable = variable_of(definition, path)
        if variable is not None and variable.immediate is not None:
            return number
    return None


def variable_of(definition: StreamDefinition, path: str) -> StreamVariable | None:
    """Return the variable of an absolute path, or None where there is none."""
    *groups, name = path.strip("/").split("/")
    group: StreamGroup | None = definition.root
    for each in groups:
        group = None if group is None else group.groups.get(each)
    return None if group is None else group.variables.get(name)


def _sections(table: MessageTable, numbers: Ints, shape: Sequence[int]) -> Sections:
    rank = len(shape)
    numbers = numbers[np.isin(table.payload[numbers], _WITH_SECTION)]
    # A scalar may be without a section.
    ranks = np.maximum(table.rank[numbers], 0) if not rank else table.rank[numbers]
    numbers = numbers[ranks == rank]
    rows = table.section[numbers][:, None] + np.arange(rank)[None, :]
    starts, sizes, strides = (column[rows] for column in (table.starts, table.sizes, table.strides))
    lengths = np.asarray(shape, np.int64)[None, :]
    inside = (starts >= 0) & (starts < lengths) & (strides > 0) & (sizes > 0)
    # In this form no product can overflow.
    inside &= sizes - 1 <= (lengths - 1 - starts) // np.maximum(strides, 1)
    fits = inside.all(axis=1)
    # A stride that leads nowhere could still overflow.
    strides = np.where(sizes > 1, strides, 1)
    return Sections(numbers[fits], starts[fits], sizes[fits], strides[fits])
