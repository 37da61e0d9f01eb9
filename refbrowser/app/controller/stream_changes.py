"""Streams repaired, made compact and appended to, as the window asks for it. Imported inside tasks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from refbrowser.app.shell.tasks import TaskControl
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.views.words import count_text, size_text

#: Lost messages and notes that are listed; the rest is counted.
LISTED = 200


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: the file that it was done to, and a report."""

    target: str
    text: str


def _lines(title: str, found: Sequence[object]) -> list[str]:
    if not found:
        return []
    more = [f"  and {count_text(len(found) - LISTED)} more"] if len(found) > LISTED else []
    return [f"{title} ({count_text(len(found))}):", *(f"  {each}" for each in found[:LISTED]), *more]


def _messages(count: int) -> str:
    return f"{count_text(count)} message{'' if count == 1 else 's'}"


def _checked(target: str) -> str:
    if not target:
        raise RefbrowserError(ErrorKind.USAGE, "there is no target path")
    return os.path.abspath(os.path.expanduser(target))


def repaired(path: str, target: str, cut: bool, force: bool, control: TaskControl) -> Done:
    """Write what is sound of a stream.

    Raises
    ------
    RefbrowserError
        As `repair`.
    """
    from refbrowser.exporting.streams.repair import RepairRequest, repair

    report = repair(RepairRequest(path, _checked(target), cut=cut, force=force), control)
    lines = [
        f"Done: {_messages(report.messages)} kept in {report.target}.",
        f"{size_text(report.written_bytes)} written, {size_text(report.lost_bytes)} lost.",
        *(_lines("Lost", report.lost) or ["Nothing is lost."]),
        *_lines("To be known", report.notes),
    ]
    return Done(report.target, "\n".join(lines))


def compacted(
    dataset: Dataset, target: str, level: int | None, checksum: bool, force: bool, control: TaskControl
) -> Done:
    """Write a stream anew, without what was overwritten.

    Raises
    ------
    RefbrowserError
        As `compact`.
    """
    from refbrowser.exporting.streams.compact import CompactRequest, compact

    request = CompactRequest(target=_checked(target), level=level, checksum=checksum, force=force)
    report = compact(dataset, request, control)
    lines = [
        f"Done: {_messages(report.messages)} in {report.target}, where there were "
        f"{count_text(report.messages_before)}.",
        f"{size_text(report.written_bytes)} written, where there were {size_text(report.bytes_before)}. "
        f"{_messages(report.verified)} read again and equal.",
        *_lines("To be known", report.notes),
    ]
    return Done(report.target, "\n".join(lines))


def appended(
    stream: str, source: Dataset | str, along: str, overwrite: bool, force: bool, control: TaskControl
) -> Done:
    """Append a dataset, an opened one or one at a path, to a stream.

    Raises
    ------
    RefbrowserError
        The source cannot be opened; else as `append_to`.
    """
    from refbrowser.exporting.streams.append import AppendRequest, append_to

    request = AppendRequest(along=along or None, overwrite=overwrite, force=force)
    if isinstance(source, Dataset):
        report = append_to(stream, source, request, control)
    else:
        from refbrowser.engine.opening import OpenRequest, open_dataset

        if not source:
            raise RefbrowserError(
                ErrorKind.USAGE, "nothing is named that is to be appended", Place(path=stream)
            )
        with open_dataset(OpenRequest(os.path.expanduser(source)), control) as opened:
            report = append_to(stream, opened, request, control)
    lines = [f"Done: {_messages(report.messages)} added, {size_text(report.written_bytes)} written."]
    if report.along is not None:
        before, after = count_text(report.before), count_text(report.after)
        lines.append(f"Dimension {report.along}: {before} before, {after} now.")
    lines += _lines("Values added", report.added)
    lines += _lines("As before", report.kept)
    lines += _lines("Filled", report.unfilled)
    lines += _lines("Attributes changed", report.changed)
    lines += _lines("Cannot be kept", report.notes)
    return Done(report.target, "\n".join(lines))
