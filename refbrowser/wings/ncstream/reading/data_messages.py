"""What Data and DataCol messages say of their data, one by one and in runs that are alike."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import Window
from refbrowser.wings.ncstream.reading.definition import StreamDefinition, StreamType, StreamVariable
from refbrowser.wings.ncstream.reading.descriptor import DATA, DATA_COLUMN, DATA_PRACTICE, text_of
from refbrowser.wings.ncstream.reading.messages import (
    ByteOrder,
    FaultCode,
    FramingError,
    MessageKind,
    Payload,
    Rows,
    add_numbers,
)
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

#: Numbers of a range beyond this are none that an array can have; some readers write 2^64-1 for `*`.
_MOST = (1 << 62) - 1
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
#: Field 7 as a bool that is true.
_VDATA = b"\x38\x01"
_PAYLOADS = {
    StreamType.STRING: Payload.VARIABLE,
    StreamType.OPAQUE: Payload.VARIABLE,
    StreamType.STRUCTURE: Payload.STRUCTURE,
    StreamType.SEQUENCE: Payload.SEQUENCE,
}
_DEFLATE = 1


class Facts(NamedTuple):
    """What stands in a message itself, before its payload."""

    variable: int
    payload: int
    data_type: int
    byte_order: int
    version: int
    deflated: bool
    uncompressed: int
    crc32: int
    fault: int
    rank: int
    section: int


class _Target(NamedTuple):
    """The variable that a name stands for."""

    number: int
    variable: StreamVariable | None
    is_ragged: bool
    fixed_rank: int


class DataFacts:
    """Reads the messages of one stream; variables are numbered as they come.

    Parameters
    ----------
    names
        Paths that are numbered already.
    ranges
        Where the ranges of sections are put, three numbers each.
    """

    def __init__(self, names: tuple[str, ...], ranges: array[int]) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}
        self._ranges = ranges
        self._variables: dict[str, StreamVariable] = {}
        self._targets: dict[str | bytes, _Target] = {}
        self._undefined: set[int] = set()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of all variables that messages are of."""
        return tuple(self._numbers)

    def is_undefined(self, variable: int) -> bool:
        """Return whether no header so far defines the variable of a number."""
        return variable in self._undefined

    def define(self, definition: StreamDefinition) -> None:
        """Take what the headers say by now."""
        self._variables = dict(definition.variables())
        self._targets.clear()

    def forget(self, count: int) -> None:
        """Keep the first `count` names: the others were read of what is no message."""
        while len(self._numbers) > count:
            self._undefined.discard(self._numbers.popitem()[1])
        self._targets.clear()

    def data(self, message: bytes) -> Facts:
        """Return what a Data message says (wire notes, section 2).

        Raises
        ------
        FramingError
            It is no such message.
        """
        data = parsed(DATA, message)
        name = data.varName
        target = self._targets.get(name) or self._target(name)
        section, rank = len(self._ranges) // 3, -1
        if data.HasField("section"):
            rank = self._section(data.section.range, target)
        data_type, compress = data.dataType, data.compress
        payload = _PAYLOADS.get(data_type, Payload.REGULAR)
        if payload == Payload.REGULAR and (target.is_ragged or _is_vdata(message)):
            payload = Payload.VARIABLE
        return Facts(
            target.number,
            payload,
            data_type if 0 <= data_type <= StreamType.ULONG else -1,
            int(data.bigend) if data.HasField("bigend") else ByteOrder.ABSENT,
            data.version & 0x7FFFFFFF,
            compress == _DEFLATE,
            data.uncompressedSize if data.HasField("uncompressedSize") else -1,
            data.crc32 if data.HasField("crc32") else -1,
            FaultCode.UNKNOWN_COMPRESSION if compress not in (0, _DEFLATE) else FaultCode.NONE,
            rank,
            section,
        )

    def column(self, message: bytes) -> Facts:
        """Return what a DataCol message says.

        Raises
        ------
        FramingError
            It is no such message.
        """
        data = parsed(DATA_COLUMN, message)
        target = self._targets.get(data.name) or self._target(data.name)
        section, rank = len(self._ranges) // 3, -1
        if data.HasField("section"):
            rank = self._section(data.section.range, target)
        return Facts(
            variable=target.number,
            payload=Payload.COLUMN,
            data_type=data.dataType if 0 <= data.dataType <= StreamType.ULONG else -1,
            byte_order=int(data.bigend) if data.HasField("bigend") else ByteOrder.ABSENT,
            version=data.version & 0x7FFFFFFF,
            deflated=False,
            uncompressed=-1,
            crc32=-1,
            fault=FaultCode.NONE,
            rank=rank,
            section=section,
        )

    def _target(self, name: str | bytes) -> _Target:
        path = "/" + _ESCAPED.sub(r"\1", text_of(name).removeprefix("/"))
        variable = self._variables.get(path)
        number = self._numbers.setdefault(path, len(self._numbers))
        (self._undefined.add if variable is None else self._undefined.discard)(number)
        is_ragged = variable is not None and variable.is_ragged
        rank = len(variable.shape) if variable is not None else -1
        target = self._targets[name] = _Target(number, variable, is_ragged, rank)
        return target

    def _section(self, ranges: Any, target: _Target) -> int:
        """Add the ranges of a section, without that of a dimension of variable length; return how many."""
        rank = len(ranges)
        if rank and (target.is_ragged or target.variable is None):
            # Practice writes a further range for it, of a size that no dimension has.
            further = rank == target.fixed_rank + 1 if target.is_ragged else ranges[-1].size > _MOST
            if further:
                ranges, rank = ranges[:-1], rank - 1
        add = self._ranges.extend
        for each in ranges:
            start, size, stride = each.start, each.size, each.stride or 1
            if (start | size | stride) > _MOST:
                start, size, stride = min(start, _MOST), min(size, _MOST), min(stride, _MOST)
            add((start, size, stride))
        return rank


def parsed(kind: Any, message: bytes, stop: int | None = None) -> Any:
    """Return a protobuf message of a class.

    Parameters
    ----------
    stop
        Where the next message should be, of the error.

    Raises
    ------
    FramingError
        It does not parse.
    """
    try:
        return kind.FromString(message)
    except DecodeError:
        text = f"{kind.DESCRIPTOR.name} is expected, and these bytes are not a protobuf message"
        raise FramingError(FaultCode.BAD_PROTOBUF, text, stop=stop) from None


def item_size(data_type: int) -> int:
    """Return the bytes of one element; 0 where elements have no fixed size."""
    dtype = StreamType(data_type).dtype if data_type >= 0 else None
    return 0 if dtype is None else dtype.itemsize


def _is_vdata(message: bytes) -> bool:
    """Return whether a Data message says that its payload is vlenData, as servers do."""
    return _VDATA in message and DATA_PRACTICE.FromString(message).vdata


Ints = npt.NDArray[np.int64]

#: Fewer messages are read faster one by one.
_FEW = 16
#: So many of one size in a row are taken for a sign that more follow.
_STREAK = 2
#: Forms of messages of one length and variable that are told apart; the others are parsed one by one.
_FORMS = 32
#: Bytes behind a protobuf message that must be in memory: the length of the payload.
_BEHIND = 8
#: Bytes within which a message begins, as a rule.
_SHORT = 512
#: Numbers of more bytes are parsed one by one.
_LONGEST = 8
_WIDTH = 7
#: Objects of a payload that are stepped over here; where there are more, that is what takes the time.
_OBJECTS = 64


class _Form(NamedTuple):
    """Messages that differ in some numbers only.

    Attributes
    ----------
    mask, masked
        The bits of the bytes in which they agree, and what these are.
    ranges
        The section of one of them.
    numbers
        Which numbers of `ranges` vary, and the bytes in which each stands, the least significant first.
    others
        The same for fields, by the name of their column.
    """

    facts: Facts
    mask: npt.NDArray[np.uint8]
    masked: npt.NDArray[np.uint8]
    ranges: Ints
    numbers: dict[tuple[int, int], list[int]]
    others: dict[str, list[int]]


class Runs:
    """Reads runs of data messages with regular payloads.

    Parameters
    ----------
    rows
        Where they are put.
    facts
        Parses one of each form.
    """

    def __init__(self, window: Window, rows: Rows, facts: DataFacts) -> None:
        self._window = window
        self._rows = rows
        self._facts = facts
        #: How the messages of a variable begin that was met: its name and type.
        self._keys: dict[bytes, int] = {}
        #: The payload of the messages of each key.
        self._payloads: list[int] = []
        self._forms: dict[tuple[int, int], list[_Form]] = {}
        self._wait = 0

    def forget(self) -> None:
        """Forget all variables, which may be others by now."""
        self._keys.clear()
        self._payloads.clear()
        self._forms.clear()

    def meet(self, message: bytes, payload: int) -> None:
        """Take note of a Data message with a payload that is no sequence."""
        # Name and type, each with its tag, as all writers put them; else no other message begins so.
        if message[:1] == b"\x0a" and len(message) > 3 and message[1] < 0x80:
            key = message[: message[1] + 4]
            if key not in self._keys:
                self._keys[key] = len(self._payloads)
                self._payloads.append(payload)

    def read(self, offset: int, most: int) -> int:
        """Read the messages from `offset` on that look like some that were met, at most `most` of them.

        Returns where the next one begins: `offset`, where there are only few.
        """
        if self._wait or not self._keys:
            self._wait = max(self._wait - 1, 0)
            return offset
        while most > 0:
            found = self._found(offset, most)
            if len(found) < _FEW:
                self._wait = len(found)
                break
            stop, count = self._taken(found)
            if count < len(found):
                # Something about them is not as it seemed: one by one, then.
                self.forget()
                return stop
            offset, most = stop, most - count
        return offset

    def _found(self, offset: int, most: int) -> Ints:
        """Return where messages are, a row each: magic, Data and length, key, payload and length, objects."""
        window = self._window
        at = window.load(offset, 64)
        found, reached = self._scan(at, most)
        is_short = len(found) < _FEW * _WIDTH and 0 <= len(window.data) - reached < _SHORT
        if is_short and at and window.base + len(window.data) < window.size:
            # The end of what is in memory cut the run short.
            found, _ = self._scan(window.load(offset, len(window.data) - at + 1), most)
        return np.asarray(found).reshape(-1, _WIDTH)

    def _scan(self, at: int, most: int) -> tuple[array[int], int]:
        data, keys = self._window.data, self._keys
        limit = self._window.size - self._window.base
        last = len(data) - _BEHIND
        found = array("q")
        add = found.extend
        magic, most, variable = magics.DATA, most * _WIDTH, int(Payload.VARIABLE)
        stride, streak, wanted = 0, 0, _STREAK
        # Written out: this is done for each message, and a call takes longer than all of it.
        while at < last and len(found) < most and data[at : at + 4] == magic:
            length, start = data[at + 4], at + 5
            if length > 0x7F:
                if data[start] > 0x7F:
                    break
                length, start = length & 0x7F | data[start] << 7, start + 1
            stop = start + length
            if stop >= last:
                break
            key = keys.get(data[start : start + data[start + 1] + 4])
            if key is None:
                break
            if self._payloads[key] == variable:
                count, behind = data[stop], self._behind_objects(stop)
                if behind > limit:
                    break
                add((at, start, length, key, stop, behind - stop, count))
                at, streak, stride = behind, 0, 0
                continue
            size, shift = data[stop], 0
            payload = stop + 1
            if size > 0x7F:
                size &= 0x7F
                while data[payload - 1] > 0x7F and shift < 28:
                    shift += 7
                    size |= (data[payload] & 0x7F) << shift
                    payload += 1
            if data[payload - 1] > 0x7F or payload + size > limit:
                break
            add((at, start, length, key, payload, size, -1))
            streak = streak + 1 if payload + size - at == stride else 0
            stride = payload + size - at
            if streak >= wanted:
                known = np.array(found[-_WIDTH:], np.int64)
                more = self._ahead(known, stride, min(last, limit), (most - len(found)) // _WIDTH)
                wanted = _STREAK if len(more) >= _FEW else 2 * wanted
                add_numbers(found, more)
                at, streak = at + stride * len(more), 0
            at += stride
        return found, at

    def _behind_objects(self, at: int) -> int:
        """Return where a few objects in memory end; beyond all bytes where they are not few and small."""
        data = self._window.data
        last, nowhere = len(data) - _BEHIND, self._window.size + 1
        count, at = data[at], at + 1
        if count > _OBJECTS:
            return nowhere
        for _ in range(count):
            if at >= last:
                return nowhere
            size = data[at]
            if size > 0x7F:
                if data[at + 1] > 0x7F:
                    return nowhere
                size, at = size & 0x7F | data[at + 1] << 7, at + 1
            at += size + 1
        return at

    def _ahead(self, known: Ints, stride: int, stop: int, most: int) -> Ints:
        """Return the messages behind one that have its size and begin as it does."""
        data = np.frombuffer(self._window.data, np.uint8)
        at, start, length, _, payload, _, _ = known.tolist()
        count = min((stop - at) // stride - 1, most)
        same = [*range(at, start + int(data[start + 1]) + 4), *range(start + length, payload)]
        places, wanted = np.array(same) - at, data[same]
        # A look at some first: where they differ all the others would be compared in vain.
        for some in (min(count, _FEW), count):
            if some < 1:
                return np.empty((0, _WIDTH), np.int64)
            table = data[at + stride : at + stride * (some + 1)].reshape(some, stride)
            agree = (table[:, places] == wanted).all(axis=1)
            if not agree.all():
                count = int(np.argmin(agree))
                break
        steps = np.arange(1, count + 1)[:, np.newaxis] * stride
        return known + steps * np.array([1, 1, 0, 0, 1, 0, 0])

    def _taken(self, found: Ints) -> tuple[int, int]:
        """Add the rows of messages; return where the next one begins, and how many were added."""
        base = self._window.base
        table = np.empty((len(found), len(Facts._fields)), np.int64)
        sound = np.zeros(len(found), np.bool_)
        buffer = np.frombuffer(self._window.data, np.uint8)
        for (key, length), rows in _groups(found):
            messages = buffer[found[rows, 1][:, np.newaxis] + np.arange(length)]
            self._read_group((key, length), messages, rows, table, sound)
        payload, deflated = table[:, _COLUMN["payload"]], table[:, _COLUMN["deflated"]]
        sound &= payload == np.array(self._payloads)[found[:, 3]]
        # Those of structures are sent plain, whatever they say.
        deflated[payload == Payload.STRUCTURE] = 0
        sound &= (deflated == 0) | (payload == Payload.REGULAR)
        sound &= ((deflated == 0) & (payload != Payload.STRUCTURE)) | (
            found[:, 5] <= STREAM_LIMITS.stream_message
        )
        wrong = np.flatnonzero(~sound)
        count = int(wrong[0]) if len(wrong) else len(found)
        begin = base + int(found[0, 0])
        found, table = found[:count], table[:count]
        start, size = found[:, 4] + base, found[:, 5]
        if count:
            self._rows.add_many(
                kind=np.full(count, MessageKind.DATA),
                offset=found[:, 0] + base,
                stop=start + size,
                payload_offset=start,
                payload_length=size,
                count=found[:, 6],
                **{name: table[:, at] for name, at in _COLUMN.items()},
            )
            return int(start[-1] + size[-1]), count
        return begin, 0

    def _read_group(
        self,
        key: tuple[int, int],
        messages: npt.NDArray[np.uint8],
        rows: Ints,
        table: Ints,
        sound: npt.NDArray[np.bool_],
    ) -> None:
        """Read messages of one length and variable into their rows of `table`."""
        forms = self._forms.setdefault(key, [])
        known = iter(list(forms))
        for _ in range(2 * _FORMS):
            if not len(rows):
                return
            form = next(known, None)
            if form is None:
                form = self._form(messages[0].tobytes()) if len(forms) < _FORMS else None
                if form is None:
                    break
                forms.append(form)
            fits = ((messages & form.mask) == form.masked).all(axis=1)
            if fits.all():
                table[rows] = self._columns(form, messages)
                sound[rows] = True
                return
            if fits.any():
                table[rows[fits]] = self._columns(form, messages[fits])
                sound[rows[fits]] = True
            messages, rows = messages[~fits], rows[~fits]
        for message, row in zip(messages, rows.tolist(), strict=True):
            try:
                table[row] = self._facts.data(message.tobytes())
                sound[row] = True
            except FramingError:
                return

    def _columns(self, form: _Form, messages: npt.NDArray[np.uint8]) -> Ints:
        """Return the facts of messages of one form, and add their sections."""
        count, rank = len(messages), len(form.ranges)
        table = np.tile(np.array(form.facts, np.int64), (count, 1))
        for name, places in form.others.items():
            bits = 8 if name == "crc32" else 7
            table[:, _COLUMN[name]] = _number(messages, places, bits)
        ranges = np.tile(form.ranges, (count, 1, 1))
        for (axis, which), places in form.numbers.items():
            ranges[:, axis, which] = _number(messages, places, 7)
        # A stride of 0 is 1.
        np.maximum(ranges[:, :, 2], 1, out=ranges[:, :, 2])
        table[:, _COLUMN["section"]] = len(self._rows.ranges) // 3 + np.arange(count) * rank
        add_numbers(self._rows.ranges, ranges)
        return table

    def _form(self, message: bytes) -> _Form | None:
        """Return the form of a message; None where the library would write it in other bytes."""
        before = len(self._rows.ranges)
        try:
            facts = self._facts.data(message)
            data = DATA.FromString(message)
        except FramingError:
            return None
        finally:
            ranges = np.array(self._rows.ranges[before:], np.int64).reshape(-1, 3)
            del self._rows.ranges[before:]
        if data.SerializeToString() != message:
            return None
        numbers: dict[tuple[int, int], list[int]] = {}
        mask = np.full(len(message), 0xFF, np.uint8)
        for axis, each in enumerate(data.section.range[: len(ranges)]):
            for which, name in enumerate(("start", "size", "stride")):
                if each.HasField(name):
                    numbers[axis, which] = _places(data, each, name, message)
        others = {
            column: _places(data, data, name, message)
            for column, name in (("uncompressed", "uncompressedSize"), ("crc32", "crc32"))
            if data.HasField(name)
        }
        if any(not 0 < len(places) <= _LONGEST for places in (*numbers.values(), *others.values())):
            return None
        for places in (*numbers.values(), others.get("uncompressed", [])):
            # Where a number ends is seen in the high bits.
            mask[places] = 0x80
        mask[others.get("crc32", [])] = 0
        masked = np.frombuffer(message, np.uint8) & mask
        return _Form(facts, mask, masked, ranges, numbers, others)


_COLUMN = {name: at for at, name in enumerate(Facts._fields)}


def _groups(found: Ints) -> Iterator[tuple[tuple[int, int], Ints]]:
    """Yield the rows of messages of each key and length."""
    both = found[:, 3] << 32 | found[:, 2]
    order = np.argsort(both, kind="stable")
    bounds = np.flatnonzero(np.diff(both[order])) + 1
    for rows in np.split(order, bounds):
        yield (int(found[rows[0], 3]), int(found[rows[0], 2])), rows


def _number(messages: npt.NDArray[np.uint8], places: list[int], bits: int) -> Ints:
    """Return the number that stands in some bytes of each message."""
    value = np.zeros(len(messages), np.int64)
    for step, place in enumerate(places):
        value |= (messages[:, place].astype(np.int64) & (1 << bits) - 1) << bits * step
    return value


def _places(data: Any, part: Any, name: str, message: bytes) -> list[int]:
    """Return the bytes of `message` in which a number stands: those that change with it.

    Parameters
    ----------
    data
        The message as the library has it.
    part
        It, or the message inside of it that has the field.
    """
    value = getattr(part, name)
    if name == "crc32":
        other = value ^ 0xFFFFFFFF
    else:
        # Another number of as many bytes, each of them another.
        top = 7 * (max(value.bit_length() - 1, 0) // 7)
        first = value >> top
        other = (first % 0x7F + 1) << top | (value & (1 << top) - 1) ^ ((1 << top) - 1)
    setattr(part, name, other)
    changed = data.SerializeToString()
    setattr(part, name, value)
    if len(changed) != len(message):
        return []
    return [at for at, (old, new) in enumerate(zip(message, changed, strict=True)) if old != new]
