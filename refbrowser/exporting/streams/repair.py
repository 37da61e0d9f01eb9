"""Repairing streams: what is sound is written as a stream of its own, and what is lost is told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.folder import TargetFolder
from refbrowser.exporting.streams.repair_plan import LostMessage, RepairPlan, repair_plan
from refbrowser.exporting.streams.shortened import shortened
from refbrowser.exporting.streams.soundness import payload_faults
from refbrowser.exporting.streams.splicing import Spliced
from refbrowser.exporting.streams.stream_bytes import opened_bytes
from refbrowser.formats.ncstream.bytes import LocalBytes
from refbrowser.formats.ncstream.messages import StreamFault, StreamIndex
from refbrowser.formats.ncstream.sections import LEFT_OUT
from refbrowser.formats.ncstream.walk import walk_stream
from refbrowser.io.access import Access
from refbrowser.io.atomic import write_atomically
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.identity import FileIdentity
from refbrowser.io.origins import Origin, parse_storage_options


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
            message = "nothing of the stream is sound"
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
        message = f"what is left does not make a sound stream{f': {lost[0]}' if lost else ''}"
        raise RefbrowserError(ErrorKind.FORMAT, message, Place(path=request.path), "cut it: --cut")


def _write(target: str, made: Spliced, expected: FileIdentity | None, control: JobControl) -> None:
    def blocks() -> Iterator[bytes | memoryview]:
        done = 0
        for block in made.blocks(control.token):
            yield block
            done += len(block)
            control.progress(done, made.size)

    write_atomically(target, blocks(), expected=expected, cancel=control.token)


def _report(
    request: RepairRequest, index: StreamIndex, plan: RepairPlan, made: Spliced, found: list[StreamFault]
) -> RepairReport:
    notes = [] if index.has_start else ["START was added"]
    notes += [] if index.has_end else ["END was added"]
    if any(plan.left_out(index)):
        notes.append(f"what is lost is told in the attribute {LEFT_OUT}: reading it is an error")
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
