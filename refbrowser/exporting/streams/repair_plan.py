"""Which messages of a stream are sound, and the stream that they make without the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from refbrowser.errors import Severity
from refbrowser.exporting.streams.shortened import Shortened
from refbrowser.exporting.streams.splicing import Part
from refbrowser.formats.ncstream.magics import END, START
from refbrowser.formats.ncstream.messages import FaultCode, MessageKind, StreamFault, StreamIndex
from refbrowser.formats.ncstream.sections import LeftOut, left_out, left_out_definition, spreading_of
from refbrowser.formats.ncstream_writing.encoding import header_message

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
        """Return the stream without what is lost: START, stretches of it, what is lost in words, END."""
        last = [] if self.shortened is None else self.shortened.parts
        told = list(self.left_out(index))
        # What repairs before have left out stays told.
        words = [header_message(left_out_definition([*self._told_before(index), *told]))] if told else []
        return [START, *_stretches(index, self.kept), *last, *words, END]

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
            yield LeftOut("the stream had no end, and may have been cut off behind its last message")

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
        lost += [_lost(index, number, f"behind message {first}, which is damaged") for number in behind]
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
        reason = reasons.get(number, "trailing-bytes: behind the end" if index.has_end else "truncated")
        yield LostMessage(number, start, index.size, "the rest", None, reason)


def _stretches(index: StreamIndex, kept: npt.NDArray[np.bool_]) -> list[Part]:
    """Return the bytes of the messages that are kept, those behind each other together."""
    starts, stops = index.table.offset[kept], index.table.stop[kept]
    if not len(starts):
        return []
    heads = np.flatnonzero(np.r_[True, starts[1:] != stops[:-1]])
    tails = np.r_[heads[1:] - 1, len(starts) - 1]
    return [(int(starts[head]), int(stops[tail])) for head, tail in zip(heads, tails, strict=True)]
