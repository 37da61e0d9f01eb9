"""Repairing streams: what is sound is written as a stream of its own, and what is lost is told.

What arrived of the message that a stream was cut off within becomes a message with a shorter section.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.exporting.folder import TargetFolder
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.files.atomic import write_atomically
from refbrowser.io.identity import FileIdentity
from refbrowser.io.origins import Origin, parse_storage_options
from refbrowser.wings.ncstream.changing.soundness import payload_faults
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.bytes import Window, write_varint
from refbrowser.wings.ncstream.reading.descriptor import DATA
from refbrowser.wings.ncstream.reading.magics import END, START
from refbrowser.wings.ncstream.reading.message_reader import ArrivedBox, arrived_boxes, arrived_objects, block
from refbrowser.wings.ncstream.reading.messages import (
    FaultCode,
    MessageKind,
    Payload,
    StreamFault,
    StreamIndex,
)
from refbrowser.wings.ncstream.reading.pieces import arrived_elements
from refbrowser.wings.ncstream.reading.sections import (
    LEFT_OUT,
    LeftOut,
    left_out,
    left_out_definition,
    sections_of,
    spreading_of,
)
from refbrowser.wings.ncstream.reading.splicing import Part, Spliced, opened_bytes
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.views.supplied_sections import variable_of
from refbrowser.wings.ncstream.writing.encoding import header_message


@dataclass(frozen=True, slots=True)
class Shortened:
    """A message that is made in the place of the one that was cut.

    Attributes
    ----------
    number
        Of the message that was cut.
    section
        What it gives: whole rows of the outermost dimension that has several, the first ones.
    head, start, stop
        Its bytes: those before the elements, and where these lie in the stream.
    """

    number: int
    section: tuple[range, ...]
    head: bytes
    start: int
    stop: int

    @property
    def parts(self) -> list[Part]:
        """The message."""
        return [self.head, (self.start, self.stop)]

    def __str__(self) -> str:
        return ", ".join(
            f"{each.start}:{each.stop}" + (f":{each.step}" if each.step != 1 else "") for each in self.section
        )


def shortened(index: StreamIndex, source: ByteSource) -> Shortened | None:
    """Return the message for what arrived of the last one; None where nothing is to be kept of it.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    """
    table, number = index.table, index.table.cut
    if number is None:
        return None
    variable = variable_of(index.definition, table.names[table.variable[number]])
    if variable is None:
        return None
    sections, _bad = sections_of(table, np.array([number]), variable.shape)
    found = arrived_boxes(table.ranges(number) or (), arrived_elements(table, variable))
    if not len(sections) or not found:
        return None
    window, rows = Window(source), found[0]
    start, count = int(table.payload_offset[number]), prod(map(len, rows.section))
    if table.payload[number] == Payload.VARIABLE:
        stop, length = arrived_objects(window, start, count).stop, count
    else:
        length = count * int(table.payload_length[number]) // int(table.count[number])
        stop = start + length
    head = _body(window, int(table.offset[number]), rows)
    return Shortened(number, rows.section, head + write_varint(length), start, stop)


def _body(window: Window, offset: int, rows: ArrivedBox) -> bytes:
    """Return the message before its payload, with another section and without what was true of all of it."""
    span = block(window, offset + magics.LENGTH, "a message about data")
    data = DATA.FromString(window.bytes_at(span.start, span.stop - span.start))
    for written, each in zip(data.section.range, rows.section, strict=False):
        written.start, written.size = each.start, len(each)
    data.ClearField("crc32")
    data.ClearField("uncompressedSize")
    body = data.SerializeToString()
    return magics.DATA + write_varint(len(body)) + body


_KINDS = {
    MessageKind.HEADER: "a header",
    MessageKind.DATA: "data",
    MessageKind.DATA_COLUMN: "a column of data",
    MessageKind.ERROR: "an error",
    MessageKind.POINT: "a point",
    MessageKind.DAMAGED: "damage",
}


@dataclass(frozen=True, slots=True)
class LostMessage:
    """Bytes that a repair leaves out.

    Attributes
    ----------
    number
        Of the message.
    start, stop
        Its bytes in the damaged stream.
    what
        Its kind, in words.
    path
        The variable that it is about; None where it is about none.
    reason
        Why it is left out.
    """

    number: int
    start: int
    stop: int
    what: str
    path: str | None
    reason: str

    def __str__(self) -> str:
        about = f" of {self.path}" if self.path else ""
        return f"message {self.number} ({self.what}{about}, bytes {self.start} to {self.stop}): {self.reason}"


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """What is kept of a stream.

    Attributes
    ----------
    kept
        Whether each message is.
    lost
        What is left out, in order.
    shortened
        What is kept of the last message, which the stream was cut off within.
    """

    kept: npt.NDArray[np.bool_]
    lost: tuple[LostMessage, ...]
    shortened: Shortened | None = None

    @property
    def messages(self) -> int:
        """How many messages are left."""
        return int(self.kept.sum()) + (self.shortened is not None)

    def parts(self, index: StreamIndex) -> list[Part]:
        """Return the stream without what is lost: START, ranges of it, what is lost in words, END."""
        last = [] if self.shortened is None else self.shortened.parts
        told = list(self.left_out(index))
        # What repairs before have left out stays told.
        words = [header_message(left_out_definition([*self._told_before(index), *told]))] if told else []
        return [START, *_ranges(index, self.kept), *last, *words, END]

    def left_out(self, index: StreamIndex) -> Iterator[LeftOut]:
        """Yield what readers of the repaired stream are to know."""
        spreading = set(spreading_of(index).tolist())
        for each in self.lost:
            is_listed = each.number < len(index.table)
            if not is_listed and each.number not in spreading:
                # Behind the end no message is missed.
                continue
            known = is_listed and each.path is not None and each.number not in spreading
            section = index.table.ranges(each.number) if known else None
            elements = ", ".join(map(_as_selected, section or ()))
            numbers = (
                index.of_variable(each.path) if known and each.path is not None else np.zeros(0, np.int64)
            )
            after = self._kept_of(numbers[numbers < each.number])
            yield LeftOut(str(each), each.path if known else None, elements, after)
        if index.has_start and not index.has_end and not self.lost:
            yield LeftOut("the stream had no end, and may have been cut off after its last message")

    def _told_before(self, index: StreamIndex) -> Iterator[LeftOut]:
        for each in left_out(index.definition):
            if each.after and each.variable is not None:
                before = index.of_variable(each.variable)[: each.after]
                yield replace(each, after=self._kept_of(before))
            else:
                yield each

    def _kept_of(self, numbers: npt.NDArray[np.int64]) -> int:
        """Return how many of some messages are kept, and be it in part."""
        is_short = self.shortened is not None and self.shortened.number in numbers
        return int(self.kept[numbers].sum()) + is_short


def _as_selected(part: range) -> str:
    return f"{part.start}:{part.stop}" if part.step == 1 else f"{part.start}:{part.stop}:{part.step}"


def repair_plan(
    index: StreamIndex, faults: Sequence[StreamFault], *, cut: bool, short: Shortened | None = None
) -> RepairPlan:
    """Return what to keep of a stream.

    Parameters
    ----------
    faults
        Those of payloads, besides those that the index has.
    cut
        Keep nothing behind the first message that is not sound.
    short
        What can be kept of the message that the stream was cut off within.
    """
    reasons = _reasons(index, faults)
    kept = np.ones(len(index.table), bool)
    kept[[number for number in reasons if number < len(kept)]] = False
    lost = [_lost(index, number, reasons[number]) for number in sorted(reasons) if number < len(kept)]
    if cut and lost:
        first = lost[0].number
        behind = [number for number in range(first, len(kept)) if kept[number]]
        lost += [_lost(index, number, f"after message {first}, which is damaged") for number in behind]
        kept[first:] = False
    lost.sort(key=lambda each: each.number)
    if short is not None and (not cut or short.number == lost[0].number):
        lost = [_but_rows(each, short) if each.number == short.number else each for each in lost]
    else:
        short = None
    return RepairPlan(kept, (*lost, *_tail(index, reasons)), short)


def _but_rows(lost: LostMessage, short: Shortened) -> LostMessage:
    """Return what is lost of a message whose first rows are kept."""
    return replace(lost, start=short.stop, reason=f"{lost.reason}; kept: [{short}]")


def _reasons(index: StreamIndex, faults: Sequence[StreamFault]) -> dict[int, str]:
    """Return why messages are not kept, by number; the number behind the last stands for the rest."""
    table = index.table
    told = [fault for fault in (*index.faults, *faults) if fault.severity is Severity.FAULT]
    texts: dict[int, str] = {}
    for fault in told:
        texts.setdefault(fault.number, f"{fault.code}: {fault.message}")
    bad = (table.fault > 0) | (table.kind == MessageKind.DAMAGED) | (table.kind == MessageKind.ERROR)
    # What is wrong in a header is about one of the things that it defines.
    bad[[fault.number for fault in faults if fault.severity is Severity.FAULT]] = True
    reasons = {
        number: texts.get(number) or FaultCode(int(table.fault[number])).text
        for number in np.flatnonzero(bad).tolist()
    }
    rest = len(table)
    return reasons | ({rest: texts[rest]} if rest in texts else {})


def _lost(index: StreamIndex, number: int, reason: str) -> LostMessage:
    table = index.table
    variable = int(table.variable[number])
    return LostMessage(
        number,
        int(table.offset[number]),
        int(table.stop[number]),
        _KINDS[MessageKind(int(table.kind[number]))],
        table.names[variable] if variable >= 0 else None,
        reason,
    )


def _tail(index: StreamIndex, reasons: Mapping[int, str]) -> Iterator[LostMessage]:
    """Yield what stands behind the last message, where that is not END."""
    table = index.table
    stop = int(table.stop[-1]) if len(table) else len(START) * index.has_start
    start = stop + len(END) * index.has_end
    if index.size > start:
        number = len(table)
        reason = reasons.get(number, "trailing-bytes: after the end" if index.has_end else "truncated")
        yield LostMessage(number, start, index.size, "the rest", None, reason)


def _ranges(index: StreamIndex, kept: npt.NDArray[np.bool_]) -> list[Part]:
    """Return the bytes of the messages that are kept, those behind each other together."""
    starts, stops = index.table.offset[kept], index.table.stop[kept]
    if not len(starts):
        return []
    heads = np.flatnonzero(np.r_[True, starts[1:] != stops[:-1]])
    tails = np.r_[heads[1:] - 1, len(starts) - 1]
    return [(int(starts[head]), int(stops[tail])) for head, tail in zip(heads, tails, strict=True)]


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """What to repair, and where to.

    Attributes
    ----------
    path
        A file or a URL.
    target
        The file to be made; it may be the stream itself, with `force`.
    cut
        Keep nothing behind the first damage.
    force
        Replace the target.
    allow, storage_options
        As in `refbrowser.engine.opening.OpenRequest`.
    """

    path: str
    target: str
    cut: bool = False
    force: bool = False
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """What a repair did.

    Attributes
    ----------
    messages
        Kept; that of which only the first rows are, too.
    lost
        What was left out, and why.
    lost_bytes, written_bytes
        Of the damaged stream, and of the target.
    notes
        What else is to be known: warnings about what was kept, START or END that was added.
    """

    target: str
    messages: int
    lost: tuple[LostMessage, ...]
    lost_bytes: int
    written_bytes: int
    notes: tuple[str, ...] = ()


def repair(request: RepairRequest, control: JobControl | None = None) -> RepairReport:
    """Write what is sound of a stream.

    Raises
    ------
    RefbrowserError
        The stream cannot be read, or holds nothing sound; the target exists or cannot be written.
    Cancelled
        The control's token was cancelled; the target is as it was.
    """
    control = control or JobControl()
    TargetFolder(request.target).check_replaceable(force=request.force)
    allow = tuple(map(Origin.parse, request.allow))
    access = Access.for_document(request.path, allow, parse_storage_options(request.storage_options))
    with Fetcher() as fetcher, opened_bytes(request.path, access, fetcher, control.token) as source:
        index = walk_stream(source, url=request.path, token=control.token)
        found = list(payload_faults(index, source, control))
        plan = repair_plan(index, found, cut=request.cut, short=shortened(index, source))
        if not plan.kept.any():
            message = "no message of the stream is sound"
            raise RefbrowserError(ErrorKind.FORMAT, message, Place(path=request.path))
        made = Spliced(source, plan.parts(index))
        _checked(plan, index, made, request, control.token)
        in_place = isinstance(source, LocalBytes) and os.path.realpath(request.target) == source.path
        expected = source.identity if isinstance(source, LocalBytes) and in_place else None
        _write(request.target, made, expected, control)
    return _report(request, index, plan, made, found)


def _checked(
    plan: RepairPlan, index: StreamIndex, made: Spliced, request: RepairRequest, token: CancelToken
) -> None:
    """Raise why what is kept is no sound stream by itself."""
    again = walk_stream(made, url=request.path, token=token)
    lost = repair_plan(again, (), cut=False).lost
    if lost or len(again.table) != plan.messages + any(plan.left_out(index)):
        message = f"the remaining messages do not form a sound stream{f': {lost[0]}' if lost else ''}"
        raise RefbrowserError(ErrorKind.FORMAT, message, Place(path=request.path), "cut it: --cut")


def _write(target: str, made: Spliced, expected: FileIdentity | None, control: JobControl) -> None:
    def blocks() -> Iterator[bytes | memoryview]:
        done = 0
        for data in made.blocks(control.token):
            yield data
            done += len(data)
            control.progress(done, made.size)

    write_atomically(target, blocks(), expected=expected, cancel=control.token)


def _report(
    request: RepairRequest, index: StreamIndex, plan: RepairPlan, made: Spliced, found: list[StreamFault]
) -> RepairReport:
    notes = [] if index.has_start else ["START was added"]
    notes += [] if index.has_end else ["END was added"]
    if any(plan.left_out(index)):
        notes.append(f"losses are recorded in the attribute {LEFT_OUT}: reading a lost part is an error")
    for fault in (*index.faults, *found):
        about_kept = fault.number < len(plan.kept) and bool(plan.kept[fault.number])
        if about_kept and fault.code not in ("no-start", "no-end"):
            where = f" of {fault.path}" if fault.path else ""
            notes.append(f"kept: message {fault.number}{where}: {fault.code}: {fault.message}")
    return RepairReport(
        target=request.target,
        messages=plan.messages,
        lost=plan.lost,
        lost_bytes=sum(each.stop - each.start for each in plan.lost),
        written_bytes=made.size,
        notes=tuple(notes),
    )
