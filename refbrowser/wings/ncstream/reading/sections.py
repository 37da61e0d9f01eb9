"""The sections of messages: what each gives, what is lost of them, and what a repair has left out."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.wings.ncstream.reading.bytes import LONGEST
from refbrowser.wings.ncstream.reading.data_messages import item_size
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamGroup,
    StreamType,
)
from refbrowser.wings.ncstream.reading.messages import MessageKind, MessageTable, Payload, StreamIndex

Ints = npt.NDArray[np.int64]
#: Elements that a chunk has at least: fewer are not worth the time that a chunk takes.
_LEAST = 1 << 16
#: Elements that a chunk has at most where any part of a message can be read alone.
_MOST = 1 << 21
#: Chunks of a message that was cut, about, and of a variable that has one.
_OF_CUT, _OF_ALL = 64, 1 << 16
#: Chunks of a variable of which something is lost, at most where its messages are small.
_OF_DAMAGED = 1 << 10


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """What each of some messages of a variable gives, in their order.

    Attributes
    ----------
    numbers
        Of the messages, ascending, shape (n,).
    starts, sizes, strides
        Shape (n, rank); the stride of a single element is 1.
    arrived
        Where the stream was cut off within the last of them: how many of its elements are there; else -1.
    damaged
        Which of them cannot be read; None where all can.
    has_lost_rest
        What none of them gives may have been lost with messages of which more is not known.
    """

    numbers: Ints
    starts: Ints
    sizes: Ints
    strides: Ints
    arrived: int = -1
    damaged: npt.NDArray[np.bool_] | None = None
    has_lost_rest: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def lasts(self) -> Ints:
        """The last element of each along each dimension."""
        return self.starts + (self.sizes - 1) * self.strides

    def section(self, row: int) -> tuple[range, ...]:
        """Return what one of them gives, a range for each dimension."""
        columns = (self.starts[row], self.sizes[row], self.strides[row])
        each = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(range(start, start + (size - 1) * by + 1, by) for start, size, by in each)

    def taken(self, rows: npt.NDArray[np.bool_] | Ints) -> Sections:
        """Return some of them."""
        damaged = None if self.damaged is None else self.damaged[rows]
        columns = (self.numbers[rows], self.starts[rows], self.sizes[rows], self.strides[rows])
        return Sections(*columns, damaged=damaged, has_lost_rest=self.has_lost_rest)


def sections_of(table: MessageTable, numbers: Ints, shape: tuple[int, ...]) -> tuple[Sections, Ints]:
    """Return what messages give, and the numbers of those whose section is none of the variable.

    Messages without any element are left out.
    """
    rank = len(shape)
    # A scalar may be without a section.
    fits = table.rank[numbers] == rank if rank else table.rank[numbers] <= 0
    good = numbers[fits]
    rows = table.section[good][:, None] + np.arange(rank)[None, :]
    starts, sizes, strides = (column[rows] for column in (table.starts, table.sizes, table.strides))
    filled = (sizes != 0).all(axis=1)
    lengths = np.asarray(shape, np.int64)[None, :]
    inside = (starts >= 0) & (starts < lengths) & (strides > 0) & (sizes > 0)
    # In this form no product can overflow.
    inside &= sizes - 1 <= (lengths - 1 - starts) // np.maximum(strides, 1)
    good_rows = inside.all(axis=1) & filled
    bad = np.concatenate([numbers[~fits], good[filled & ~good_rows]])
    strides = np.where(sizes > 1, strides, 1)
    found = Sections(good, starts, sizes, strides)
    return found.taken(good_rows), np.sort(bad)


def regular_chunks(sections: Sections) -> tuple[tuple[int, ...], Sections] | None:
    """Return the shape of the chunks of a regular grid that sections are, and one section a chunk.

    Where several give the same chunk the last one counts. None where they are not all whole chunks of one
    grid.
    """
    if not len(sections):
        return None
    chunk = sections.sizes[0]
    whole = (sections.sizes == chunk).all() and (sections.strides == 1).all()
    if not whole or (sections.starts % chunk).any():
        return None
    coords = sections.starts // chunk
    # The last of equal ones: the first when looked at from the end.
    _, at = np.unique(coords[::-1], axis=0, return_index=True)
    rows = np.sort(len(sections) - 1 - at)
    return tuple(chunk.tolist()), sections.taken(rows)


def read_chunk_shape(
    shape: tuple[int, ...], sections: Sections, *, divisible: bool, least: int = _LEAST, most: int = _MOST
) -> tuple[int, ...]:
    """Return the shape of chunks in which a variable is read whose messages are none of a regular grid.

    Parameters
    ----------
    divisible
        Any part of a message can be read alone; else a chunk holds a whole one where that is possible.
    least, most
        Elements of a chunk: smaller ones are joined, larger ones parted where they are `divisible`.
    """
    sides = [1] * len(shape)
    if len(sections):
        reach = (sections.lasts - sections.starts + 1).max(axis=0)
        sides = np.minimum(reach, np.maximum(shape, 1)).tolist()
    if divisible:
        sides = _smaller(sides, most)
    # Small chunks are joined, the last dimensions first.
    for axis in reversed(range(len(shape))):
        others = prod(sides) // sides[axis]
        if others * sides[axis] >= least:
            break
        times = -(-least // max(others * sides[axis], 1))
        sides[axis] = max(min(sides[axis] * times, shape[axis]), 1)
    return tuple(sides)


def cut_chunk_shape(
    shape: tuple[int, ...], sections: Sections, is_cut: npt.NDArray[np.bool_], *, divisible: bool
) -> tuple[int, ...]:
    """Return the shape of chunks for a variable one of whose messages was cut: one chunk hides little.

    Parameters
    ----------
    is_cut
        Which of `sections` that is.
    """
    cut = sections.taken(is_cut)
    return read_chunk_shape(
        shape,
        cut if divisible else sections,
        divisible=divisible,
        least=min(prod(shape) // _OF_ALL, _MOST),
        most=max(min(prod(cut.sizes[0].tolist()) // _OF_CUT, _MOST), 1),
    )


def damaged_chunk_shape(
    shape: tuple[int, ...], sections: Sections, lost: Sections, *, divisible: bool
) -> tuple[int, ...]:
    """Return the shape of chunks for a variable of which something is lost: one chunk hides little else.

    Parameters
    ----------
    lost
        What damaged messages were to give.
    """
    least = min(prod(shape) // _OF_DAMAGED, _MOST)
    known = [each for each in (sections, lost) if len(each)]
    if not known:
        return read_chunk_shape(shape, sections, divisible=divisible)
    if not divisible:
        return read_chunk_shape(shape, sections, divisible=False, least=least)
    # Where all begin and end at multiples of a number, no chunk lies across the end of one.
    edges = np.concatenate([edge for each in known for edge in (each.starts, each.lasts + 1)])
    sides = np.maximum(np.gcd.reduce(edges, axis=0), 1)[None, :]
    of_one = Sections(np.zeros(1, np.int64), np.zeros_like(sides), sides, np.ones_like(sides))
    return read_chunk_shape(shape, of_one, divisible=True, least=least)


def _smaller(sides: list[int], most: int) -> list[int]:
    """Return the sides of a chunk of not too many elements, cut along its first dimensions."""
    cut = list(sides)
    for axis in range(len(cut)):
        if prod(cut) <= most:
            break
        inner = prod(cut[axis + 1 :])
        cut[axis] = max(min(cut[axis], most // inner), 1)
    return cut


_DATA = (MessageKind.DATA, MessageKind.DATA_COLUMN)
#: Damaged messages, and chunks, for which it is found out whether all that they held was sent again.
_COMPARED, _CHUNKS = 4096, 1 << 24
#: Longer than any dimension.
_ANY = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Lost:
    """What damaged messages may have held of one variable.

    Attributes
    ----------
    sections
        Of those messages that tell what they were to give. One that a repair left out has the number of the
        message of the variable that it stood behind, -1 where it was the first.
    rest
        Number of the message for which all that no sound message gives is lost; -1 where it was never sent.
    told
        Of each of `sections`: what a repair said of it; None where the message is there, and damaged.
    rest_told
        What a repair said, where `rest` is for what it left out.
    """

    sections: Sections
    rest: int = -1
    told: tuple[LeftOut | None, ...] = ()
    rest_told: LeftOut | None = None

    @property
    def is_none(self) -> bool:
        """Whether nothing is lost."""
        return self.rest < 0 and not len(self.sections)

    def is_made_good(self, sides: tuple[int, ...], kept: Sections, shape: tuple[int, ...]) -> bool:
        """Tell whether nothing of it is lost in the end: later messages gave all of it.

        Parameters
        ----------
        kept
            The messages that are chunks of so many elements along each dimension, one a chunk.
        """
        grid = RegularChunkGrid(shape, sides)
        if self.rest >= 0 and len(kept) != grid.size:
            return False
        if not len(self.sections):
            return True
        if len(self.sections) > _COMPARED or grid.size > _CHUNKS:
            return False
        along = np.asarray(sides, np.int64)
        newest = np.full(grid.grid_shape, -1, np.int64)
        newest[tuple((kept.starts // along).T)] = kept.numbers
        first, last = self.sections.starts // along, self.sections.lasts // along
        boxes = zip(first.tolist(), last.tolist(), strict=True)
        return all(
            bool((newest[tuple(slice(low, high + 1) for low, high in zip(*box, strict=True))] > number).all())
            for box, number in zip(boxes, self.sections.numbers.tolist(), strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What the messages of one variable give, and what is lost of them.

    Attributes
    ----------
    sections
        Of the sound ones that count, and of the one that the stream was cut off within.
    hidden
        Number of the last damaged message that may have given any element: what came before it does not
        count. -1 where there is none.
    """

    sections: Sections
    lost: Lost
    hidden: int


def given_by(
    table: MessageTable,
    numbers: Ints,
    shape: tuple[int, ...],
    spreading: Ints,
    unlimited: Iterable[int] = (),
    repairs: Iterable[LeftOut] = (),
) -> Given:
    """Return what messages of one variable give, the damaged ones apart.

    Parameters
    ----------
    numbers
        Of its messages, ascending.
    spreading
        Numbers of the damaged messages that may be about any variable.
    unlimited
        Axes along which a header that was lost may have made it longer.
    repairs
        What repairs have left out of the stream, of this variable or any.
    """
    cut = -1 if table.cut is None else table.cut
    is_lost = (table.fault[numbers] != 0) & (numbers != cut)
    sound, unfit = sections_of(table, numbers[~is_lost], shape)
    lost, unclear = _within(table, numbers[is_lost], shape, unlimited)
    hidden = cut if cut in unfit else int(unclear.max(initial=-1))
    sound, lost = sound.taken(sound.numbers > hidden), lost.taken(lost.numbers > hidden)
    anything = int(spreading[0]) if len(spreading) else -1
    damaged = Lost(lost, anything if hidden < 0 else hidden, (None,) * len(lost))
    return Given(sound, _with_repairs(damaged, repairs, numbers, shape, hidden), hidden)


def _with_repairs(
    lost: Lost, repairs: Iterable[LeftOut], numbers: Ints, shape: tuple[int, ...], hidden: int
) -> Lost:
    """Return what is lost with what repairs have left out, in the order of the messages."""
    found: list[tuple[int, list[range], LeftOut]] = []
    rest = None
    for each in repairs:
        ranges = None if each.variable is None else each.ranges(len(shape))
        if ranges is None:
            rest = rest or (each if each.after is not None else None)
            continue
        within = [
            along[: len(range(along.start, side, along.step))]
            for along, side in zip(ranges, shape, strict=True)
        ]
        after = min(each.after or 0, len(numbers))
        number = int(numbers[after - 1]) if after else -1
        if all(within) and number >= hidden:
            found.append((number, within, each))
    if rest is not None and lost.rest < 0:
        lost = replace(lost, rest=0, rest_told=rest)
    if not found:
        return lost
    facts = [
        [[part.start, len(part), part.step if len(part) > 1 else 1] for part in within]
        for _, within, _ in found
    ]
    starts, sizes, strides = np.array(facts, np.int64).reshape(len(found), len(shape), 3).transpose(2, 0, 1)
    of_repairs = np.array([number for number, _, _ in found], np.int64)
    known = lost.sections
    order = np.argsort(np.concatenate([known.numbers, of_repairs]), kind="stable")
    sections = Sections(
        np.concatenate([known.numbers, of_repairs])[order],
        np.concatenate([known.starts, starts])[order],
        np.concatenate([known.sizes, sizes])[order],
        np.concatenate([known.strides, strides])[order],
    )
    told = (*lost.told, *(each for _, _, each in found))
    return replace(lost, sections=sections, told=tuple(told[at] for at in order.tolist()))


def _within(
    table: MessageTable, numbers: Ints, shape: tuple[int, ...], unlimited: Iterable[int]
) -> tuple[Sections, Ints]:
    """Return what messages were to give within a shape, and those of which that is not clear."""
    lengths = np.asarray(shape, np.int64)
    longer = lengths.copy()
    longer[list(unlimited)] = _ANY
    found, unclear = sections_of(table, numbers, tuple(longer.tolist()))
    sizes = np.minimum(found.sizes, -(-(lengths - found.starts) // found.strides))
    inside = replace(found, sizes=sizes, strides=np.where(sizes > 1, found.strides, 1))
    return inside.taken((sizes > 0).all(axis=1)), unclear


def spreading_of(index: StreamIndex) -> Ints:
    """Return the numbers of damaged messages that may have been about any variable, ascending.

    One is about its own variable alone where its framing is sound, or where its bytes are just as many as its
    section takes. All else may have been, or may have hidden, other messages; so may what lies behind a cut
    (the number behind the last message stands for what is not listed).
    """
    table = index.table
    known = {path for path, _ in index.definition.variables()}
    is_known = np.array([*(name in known for name in table.names), False])[table.variable]
    is_open = table.kind == MessageKind.DAMAGED
    is_open |= np.isin(table.kind, _DATA) & (table.fault != 0) & ~is_known
    found = [at for at in np.flatnonzero(is_open).tolist() if not (is_known[at] and _fills(index, at))]
    end = len(table)
    if any(each.number == end and each.severity is Severity.FAULT for each in index.faults):
        found.append(end)
    return np.array(found, np.int64)


def _fills(index: StreamIndex, number: int) -> bool:
    """Tell whether the bytes of a damaged message are those that its section takes, and no more."""
    table, ranges = index.table, index.table.ranges(number) or ()
    size = item_size(int(table.data_type[number]))
    if table.payload[number] != Payload.REGULAR or table.deflated[number] or not size:
        return False
    start, stop = int(table.payload_offset[number]), int(table.stop[number])
    if stop == index.size:
        return False
    more = stop - start - size * prod(map(len, ranges))
    # Where the payload has no length that can be one, it begins with that length.
    return more == 0 if table.payload_length[number] else 0 < more <= LONGEST


#: Attribute of the root: a JSON text for each message.
LEFT_OUT = "_refbrowser_left_out"
#: Messages that are told one by one.
_ELEMENTS = 1000
#: One range of a section; no number has more digits than one of 64 bits.
_RANGE = re.compile(r"([0-9]{1,19}):([0-9]{1,19})(?::([1-9][0-9]{0,18}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One message that a repair left out.

    Attributes
    ----------
    text
        Which it was, and why it is lost.
    variable
        Path of the variable that it is about; None where it may have held, or hidden, values of any.
    section
        The elements that it was to give, as they are selected: ``0:3, 10:20:2``; empty where that is not
        known.
    after
        How many messages of the variable stood before it; None where nothing is known to be lost.
    """

    text: str
    variable: str | None = None
    section: str = ""
    after: int | None = None

    def ranges(self, rank: int) -> list[range] | None:
        """Return `section` as a range for each of so many dimensions; None where it says none."""
        parts = [_RANGE.fullmatch(part) for part in self.section.split(", ")] if self.section else []
        if len(parts) != rank or (not rank and self.after is None):
            return None
        found = [range(int(each[1]), int(each[2]), int(each[3] or 1)) for each in parts if each is not None]
        return found if len(found) == rank and all(found) else None

    @property
    def facts(self) -> dict[str, str | int | None]:
        """As it is written."""
        after = {} if self.after is None else {"after": self.after}
        return {"text": self.text, "variable": self.variable, "section": self.section, **after}

    @property
    def error(self) -> RefbrowserError:
        """Why values that it was to give cannot be had."""
        message = f"lost before the stream was repaired: {self.text}"
        return RefbrowserError(ErrorKind.FORMAT, message, Place(path=self.variable))

    @property
    def finding(self) -> Finding:
        """As damage of whatever the values are of."""
        about = "values of any variable" if self.variable is None else f"values of {self.variable}"
        section = f" [{self.section}]" if self.section else ""
        return Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.FORMAT,
            message=f"lost: {about}{section} may be missing since the stream was repaired: {self.text}",
            place=Place(path=self.variable),
            is_loss=True,
        )


def left_out_definition(lost: Iterable[LeftOut]) -> StreamDefinition:
    """Return what a header has to say to tell what is left out."""
    return StreamDefinition(root=StreamGroup(attributes={LEFT_OUT: _attribute_of(lost)}))


def written_anew(definition: StreamDefinition, kept: Container[str] = ()) -> StreamDefinition:
    """Return the definition of a stream that is written from values, with what repairs have left out.

    Nothing of it stood behind the messages that are made now, but for those of the variables `kept`, which
    stay as they are.
    """
    if LEFT_OUT not in definition.root.attributes:
        return definition
    anew = (
        each if each.after is None or each.variable in kept else replace(each, after=0)
        for each in left_out(definition)
    )
    attributes = {**definition.root.attributes, LEFT_OUT: _attribute_of(anew)}
    return replace(definition, root=replace(definition.root, attributes=attributes))


def _attribute_of(lost: Iterable[LeftOut]) -> StreamAttribute:
    told = list(lost)
    if len(told) > _ELEMENTS:
        more = len(told) - _ELEMENTS
        told = [*told[:_ELEMENTS], LeftOut(f"and {more} messages more", after=0)]
    texts = (json.dumps(each.facts, ensure_ascii=False) for each in told)
    return StreamAttribute(LEFT_OUT, StreamType.STRING, tuple(texts))


def left_out(definition: StreamDefinition) -> Iterator[LeftOut]:
    """Yield what the repairs of a stream have left out, as it tells it."""
    for text in _texts(definition):
        try:
            facts = json.loads(text)
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict) or not isinstance(facts.get("text"), str):
            yield LeftOut(quoted(text))
            continue
        variable, section, after = facts.get("variable"), facts.get("section"), facts.get("after")
        yield LeftOut(
            facts["text"],
            variable if isinstance(variable, str) and variable.startswith("/") else None,
            section if isinstance(section, str) else "",
            after if type(after) is int and after >= 0 else None,
        )


def _texts(definition: StreamDefinition) -> Iterator[str]:
    attribute = definition.root.attributes.get(LEFT_OUT)
    values = () if attribute is None else attribute.values[: _ELEMENTS + 1]
    return (value for value in values if isinstance(value, str))
