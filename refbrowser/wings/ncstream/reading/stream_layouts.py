"""How messages become an array: which count, what each gives, its shape, byte order and chunks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.wings.ncstream.reading.definition import StreamDefinition, StreamType, StreamVariable
from refbrowser.wings.ncstream.reading.elements import (
    BIG,
    LITTLE,
    PayloadError,
    dtype_of,
    element_dtype_of,
    is_ragged,
)
from refbrowser.wings.ncstream.reading.messages import (
    ByteOrder,
    MessageKind,
    MessageTable,
    Payload,
    StreamIndex,
)
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.sections import (
    Given,
    LeftOut,
    Lost,
    Sections,
    cut_chunk_shape,
    damaged_chunk_shape,
    given_by,
    left_out,
    read_chunk_shape,
    regular_chunks,
    spreading_of,
)

Ints = npt.NDArray[np.int64]
#: From this version on absence of the flag means little.
_NEWER = 3


def little_endian(
    table: MessageTable, numbers: npt.NDArray[np.int64], options: StreamReading
) -> npt.NDArray[np.bool_]:
    """Return which of some data messages have little-endian numbers."""
    if options.byte_order in ("big", "little"):
        return np.full(len(numbers), options.byte_order == "little")
    flag, version = table.byte_order[numbers], table.version[numbers]
    says_little = flag == ByteOrder.LITTLE
    if options.byte_order == "flag":
        return says_little
    plain = np.isin(table.payload[numbers], (Payload.REGULAR, Payload.VARIABLE))
    wrong = says_little & plain & np.isin(version, (2, 3))
    return (says_little & ~wrong) | ((flag == ByteOrder.ABSENT) & (version >= _NEWER))


def order_code(is_little: bool) -> str:
    """Return the order as numpy writes it."""
    return LITTLE if is_little else BIG


#: Immediate data of more bytes are not written into the document of a stream.
INLINE = 1 << 20
#: So many messages of so few bytes are no chunks: each would take longer to plan than to read.
MANY, SMALL = 4096, 4096
#: Chunks for each message, of small ones, in a grid that is taken for a sparse one.
_SPARSE = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamLayout:
    """One variable of a stream as an array.

    Attributes
    ----------
    path
        Absolute, without escapes.
    shape
        Without a dimension of variable length; of a sequence the number of its rows.
    order
        Of the bytes of its elements, ``>`` or ``<``: that of most of its messages.
    grid
        Its chunks.
    sections
        Of the sound messages that count, and of the one that the stream was cut off within; of a sequence one
        range of rows each.
    lost
        What damaged messages may have held; None where nothing of it is lost in the end.
    little
        Which messages of `sections` have little-endian numbers.
    is_regular
        Each message of `sections` is one whole chunk of the grid: references can say all of it.
    is_deflated
        Of regular chunks: whether they are zlib streams.
    is_fine
        The messages are regular chunks along the first dimension, and too many and small to be read alone.
    inline
        The values that stood in a header, where they are all that there is, whole and not many.
    error
        Why it cannot be read.
    """

    path: str
    variable: StreamVariable
    shape: tuple[int, ...]
    order: str
    grid: RegularChunkGrid
    sections: Sections
    little: npt.NDArray[np.bool_]
    is_regular: bool = False
    is_deflated: bool = False
    is_fine: bool = False
    lost: Lost | None = None
    inline: bytes | None = None
    error: RefbrowserError | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return dtype_of(self.variable, self.order)


@dataclass(frozen=True, eq=False)
class StreamLayouts:
    """The layouts of all variables of a stream.

    Parameters
    ----------
    index
        Of the stream.
    options
        How it is read.
    """

    index: StreamIndex
    options: StreamReading = field(default_factory=StreamReading)

    @cached_property
    def definition(self) -> StreamDefinition:
        """What the headers say, up to the last message that counts."""
        if self.options.until is None:
            return self.index.definition
        said = [each for number, each in self.index.headers if number <= self.options.until]
        return said[-1] if said else StreamDefinition()

    @cached_property
    def by_path(self) -> dict[str, StreamLayout]:
        """The layout of each variable by its path, in the order of the definition."""
        return {path: self._layout(path, variable) for path, variable in self.definition.variables()}

    @cached_property
    def _numbers(self) -> dict[str, Ints]:
        """The data messages of each variable up to the last one that counts, damaged ones too."""
        table = self.index.table
        last = len(table) if self.options.until is None else self.options.until + 1
        is_data = np.isin(table.kind[:last], (MessageKind.DATA, MessageKind.DATA_COLUMN, MessageKind.DAMAGED))
        numbers = np.flatnonzero(is_data & (table.variable[:last] >= 0))
        of = table.variable[numbers]
        ordered = numbers[np.argsort(of, kind="stable")]
        bounds = np.searchsorted(np.sort(of), np.arange(len(table.names) + 1))
        return {name: ordered[bounds[at] : bounds[at + 1]] for at, name in enumerate(table.names)}

    def _layout(self, path: str, variable: StreamVariable) -> StreamLayout:
        numbers = self._numbers.get(path, np.zeros(0, np.int64))
        try:
            check_shape(variable)
            dtype_of(variable)
        except RefbrowserError as error:
            return _unreadable(path, variable, error)
        if variable.type is StreamType.SEQUENCE:
            return self._sequence(path, variable, numbers)
        shape = variable.shape
        unlimited = unlimited_axes(variable)
        repairs = [*self._repairs.get(None, ()), *self._repairs.get(path, ())]
        given = given_by(self.index.table, numbers, shape, self.spreading, unlimited, repairs)
        sections = given.sections
        if given.hidden >= 0:
            variable = replace(variable, immediate=None)
        little = little_endian(self.index.table, sections.numbers, self.options)
        # An even number of each: the grammar's own order.
        order = order_code(2 * int(little.sum()) > len(little))
        common: dict[str, Any] = {"path": path, "variable": variable, "shape": shape, "order": order}
        inline = None if len(numbers) or not given.lost.is_none else _inline(variable)
        if inline is not None:
            whole = RegularChunkGrid(shape, tuple(max(side, 1) for side in shape))
            none: dict[str, Any] = {"sections": sections, "little": little}
            return StreamLayout(**common, **none, grid=whole, is_regular=True, inline=inline)
        return StreamLayout(**common, **self._chunks(variable, given, little))

    @cached_property
    def spreading(self) -> Ints:
        """Numbers of the damaged messages that count, and may have been about any variable."""
        found = spreading_of(self.index)
        return found if self.options.until is None else found[found <= self.options.until]

    @cached_property
    def _repairs(self) -> dict[str | None, list[LeftOut]]:
        """What repairs have left out, by variable; of what may have been of any variable the first one."""
        found: dict[str | None, list[LeftOut]] = {}
        for each in left_out(self.definition):
            if each.variable is not None:
                found.setdefault(each.variable, []).append(each)
            elif each.after is not None:
                found.setdefault(None, [each])
        return found

    def _chunks(
        self, variable: StreamVariable, given: Given, little: npt.NDArray[np.bool_]
    ) -> dict[str, Any]:
        """Return the fields of a layout that tell its chunks: those that the messages are, or others."""
        table, shape, sections = self.index.table, variable.shape, given.sections
        is_cut = sections.numbers == table.cut
        chunks = None
        if variable.immediate is None:
            chunks = _whole_chunks(table, variable, sections.taken(~is_cut), little[~is_cut])
        is_fine = chunks is not None and _is_fine(table, chunks[1], shape)
        lost: Lost | None = given.lost
        if lost is not None and (lost.is_none or (chunks is not None and lost.is_made_good(*chunks, shape))):
            lost = None
        if is_cut.any():
            divisible = bool(table.count[table.cut]) or _is_divisible(table, variable, sections.numbers)
            return {
                "grid": RegularChunkGrid(
                    shape, cut_chunk_shape(shape, sections, is_cut, divisible=divisible)
                ),
                "sections": sections,
                "little": little,
                "is_fine": is_fine,
                "lost": lost,
            }
        if chunks is None or is_fine or lost is not None:
            kept = sections if chunks is None else chunks[1]
            divisible = _is_divisible(table, variable, kept.numbers)
            if lost is None:
                sides = read_chunk_shape(shape, kept, divisible=divisible)
            elif chunks is not None and not is_fine:
                sides = chunks[0]
            else:
                sides = damaged_chunk_shape(shape, kept, lost.sections, divisible=divisible)
            return {
                "grid": RegularChunkGrid(shape, sides),
                "sections": kept,
                "little": little if chunks is None else np.full(len(kept), little[0]),
                "is_fine": is_fine,
                "lost": lost,
            }
        sides, kept = chunks
        return {
            "grid": RegularChunkGrid(shape, sides),
            "sections": kept,
            "little": np.full(len(kept), little[0]),
            "is_deflated": bool(table.deflated[kept.numbers[0]]),
            "is_regular": True,
        }

    def _sequence(self, path: str, variable: StreamVariable, numbers: Ints) -> StreamLayout:
        table = self.index.table
        is_whole = table.kind[numbers] != MessageKind.DAMAGED
        numbers = numbers[is_whole & (table.payload[numbers] == Payload.SEQUENCE)]
        counts = np.maximum(table.count[numbers], 0)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        ones = np.ones((len(numbers), 1), np.int64)
        sections = Sections(numbers, starts[:-1, None], counts[:, None], ones).taken(counts > 0)
        shape = (int(starts[-1]),)
        little = little_endian(table, sections.numbers, self.options)
        return StreamLayout(
            path=path,
            variable=variable,
            shape=shape,
            order=order_code(len(little) > 0 and bool(little.all())),
            grid=RegularChunkGrid(shape, read_chunk_shape(shape, sections, divisible=True)),
            sections=sections,
            little=little,
        )


def unlimited_axes(variable: StreamVariable) -> tuple[int, ...]:
    """Return the axes of a variable that may get longer."""
    lengths = (each for each in variable.dimensions if not each.is_vlen)
    return tuple(axis for axis, each in enumerate(lengths) if each.is_unlimited)


def check_shape(variable: StreamVariable) -> None:
    """Raise why a variable can be no array: rows that are not the last dimension, or too many dimensions.

    Raises
    ------
    RefbrowserError
        E_FORMAT with the code ``unsupported-shape``; `E_BUDGET`.
    """
    if any(each.is_vlen for each in variable.dimensions[:-1]):
        what = f"a dimension of variable length of {quoted(variable.name)} is not its last one"
        raise PayloadError("unsupported-shape", what)
    if len(variable.dimensions) > LIMITS.rank:
        message = f"the variable has {len(variable.dimensions)} dimensions; at most {LIMITS.rank} are read"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    if prod(variable.shape) > LIMITS.elements or max(variable.shape, default=0) > LIMITS.elements:
        raise RefbrowserError(ErrorKind.BUDGET, "the variable has more than 2^63 - 1 elements")


def _unreadable(path: str, variable: StreamVariable, error: RefbrowserError) -> StreamLayout:
    none = np.zeros((0, 1), np.int64)
    return StreamLayout(
        path=path,
        variable=variable,
        shape=(),
        order=order_code(False),
        grid=RegularChunkGrid((), ()),
        sections=Sections(none[:, 0], none, none, none),
        little=np.zeros(0, bool),
        error=error,
    )


def _inline(variable: StreamVariable) -> bytes | None:
    """Return the immediate data of a variable that are whole and not many."""
    data, dtype = variable.immediate, variable.type.dtype
    if data is None or dtype is None or is_ragged(variable) or len(data) > INLINE:
        return None
    return data if len(data) == prod(variable.shape) * dtype.itemsize else None


def _is_uniform(
    table: MessageTable, variable: StreamVariable, sections: Sections, little: npt.NDArray[np.bool_]
) -> bool:
    """Tell whether messages are sound blocks of elements that differ in nothing but their place."""
    numbers = sections.numbers
    if is_ragged(variable) or variable.type.dtype is None or not len(numbers):
        return False
    deflated = table.deflated[numbers]
    alike = (deflated == deflated[0]).all() and (little == little[0]).all()
    alike &= (table.payload[numbers] == Payload.REGULAR).all() and not table.fault[numbers].any()
    return bool(alike) and _fits(table, variable, numbers)


def _fits(table: MessageTable, variable: StreamVariable, numbers: Ints) -> bool:
    """Tell whether all messages name a type whose elements are as large as those of the variable."""
    return all(type_fits(named, variable.type) for named in np.unique(table.data_type[numbers]).tolist())


def type_fits(named: int, type: StreamType) -> bool:
    """Tell whether a message that names a type may give values of another: signs and names aside.

    Parameters
    ----------
    named
        Number of the type; -1 where the message names none.
    """
    if named in (-1, type):
        return True
    if named not in list(StreamType):
        return False
    first, second = StreamType(named).dtype, type.dtype
    if first is None or second is None:
        return False
    return first.itemsize == second.itemsize and first.kind in "iu" and second.kind in "iu"


def _whole_chunks(
    table: MessageTable, variable: StreamVariable, sections: Sections, little: npt.NDArray[np.bool_]
) -> tuple[tuple[int, ...], Sections] | None:
    """Return the chunks that messages are, where they are alike and their bytes as many as they should be."""
    chunks = regular_chunks(sections) if _is_uniform(table, variable, sections, little) else None
    if chunks is None:
        return None
    sides, kept = chunks
    size = prod(sides) * element_dtype_of(variable).itemsize
    plain = ~table.deflated[kept.numbers]
    if (table.payload_length[kept.numbers][plain] != size).any():
        return None
    if _is_sparse(kept, variable.shape, sides, size):
        return None
    return None if size > LIMITS.chunk_size and not plain.all() else chunks


def _is_sparse(kept: Sections, shape: tuple[int, ...], sides: tuple[int, ...], size: int) -> bool:
    """Tell whether most of very many small chunks were never sent: to look at each would take long."""
    count = prod(-(-length // side) for length, side in zip(shape, sides, strict=True))
    return size <= SMALL and count > max(MANY, _SPARSE * len(kept))


def _is_fine(table: MessageTable, kept: Sections, shape: tuple[int, ...]) -> bool:
    """Tell whether regular chunks are many and small, plain, and whole in all dimensions but the first."""
    numbers = kept.numbers
    if len(kept) < MANY or (table.payload_length[numbers] > SMALL).any():
        return False
    plain = not table.deflated[numbers].any() and (table.crc32[numbers] < 0).all()
    return bool(plain) and tuple(kept.sizes[0, 1:].tolist()) == shape[1:]


def _is_divisible(table: MessageTable, variable: StreamVariable, numbers: Ints) -> bool:
    """Tell whether a part of each message can be read without all of it."""
    payloads = table.payload[numbers]
    if variable.type.dtype is None or is_ragged(variable):
        return bool(np.isin(payloads, (Payload.VARIABLE, Payload.SEQUENCE)).all())
    return bool(((payloads == Payload.REGULAR) & ~table.deflated[numbers]).all())
