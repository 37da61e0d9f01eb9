"""Holding names of files against a pattern with dates: those of references, and those of a listing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.expectations.expected_results import ExpectedResult
from refbrowser.engine.expectations.holding import Held, expected_slots
from refbrowser.engine.locking import files_of
from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import (
    EXPECTED_DOUBLED,
    EXPECTED_EXTRA,
    EXPECTED_LATE,
    EXPECTED_MISSING,
    EXPECTED_UNDECIDED,
)
from refbrowser.io.access.access import Location, is_never_read
from refbrowser.io.fetching.name_patterns import fitting
from refbrowser.io.origins import Origin, scheme_of
from refbrowser.limits import LIMITS
from refbrowser.model.calendars import DAY
from refbrowser.model.time_axis import instant_of
from refbrowser.references.expectations.expectation import ExpectedAxis
from refbrowser.references.expectations.file_pattern import FilePattern
from refbrowser.references.expectations.slots import (
    SlotState,
    lacking_words,
    match_times,
    run_words,
    runs_of_slots,
    unit_of,
)
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobControl
    from refbrowser.io.access.access import Access
    from refbrowser.references.document.document import Document

#: Names that are told one by one.
_TOLD = 5
#: Of names the dates are those of the usual calendar.
_CALENDAR = "standard"


def hold_references(
    document: Document, axis: ExpectedAxis, held: Held, control: JobControl, now: datetime
) -> Iterator[Finding]:
    """Hold the files that a document refers to against a pattern; yield what differs.

    Codes: as `hold_listing`.
    """
    place = Place(document=document.name)
    try:
        names = files_of(document, control.check)
    except RefbrowserError as error:
        yield _not_decided(axis, error, held, place)
        return
    # Other files that it refers to are no matter of the pattern.
    pattern = _pattern(axis)
    fitting_names = [name for name in names if _date_of(pattern, name) is not None]
    yield from _hold(axis, fitting_names, f"references to {axis.files}", held, place, now)


def hold_listing(
    base: str, access: Access, axis: ExpectedAxis, held: Held, control: JobControl, now: datetime
) -> Iterator[Finding]:
    """List the place of a pattern, and hold the names there against it; yield what differs.

    Codes: ``expected-missing``, ``expected-late``, ``expected-doubled``, ``expected-extra``, and
    ``expected-undecided`` where it cannot be listed (`E_BLOCKED` where it may not be).

    Parameters
    ----------
    base
        The folder or URL that a relative pattern is in, with a ``/`` at its end.
    """
    pattern = _pattern(axis)
    if scheme_of(base) is None:
        # What is allowed is asked of the folder that is listed, wherever the document's own names lead.
        base = os.path.join(os.path.abspath(base), "")
    folder = pattern.folder if _is_absolute(pattern.folder) else f"{base}{pattern.folder}"
    place = Place(url=folder or base)
    try:
        location = access.locate(f"{folder}x")
        if not access.permits(location):
            message = f"it is not allowed to list {folder}"
            raise RefbrowserError(ErrorKind.BLOCKED, message, place, location.origin.how_to_allow)
        if location.origin.scheme == "file":
            found = _files_in(location, folder, pattern, access, control)
        else:
            # By the place that was allowed: a path without a host is one of this machine for others.
            listed = f"{location.url.rpartition('/')[0]}/{_glob(pattern)}"
            found = fitting(listed, access.settings, control.token)
        names = [*islice(found, LIMITS.expect_files + 1)]
        if len(names) > LIMITS.expect_files:
            message = f"there are more than {LIMITS.expect_files:,} files (expect_files)"
            raise RefbrowserError(ErrorKind.BUDGET, message, place)
    except AbsentError:
        names = []
    except RefbrowserError as error:
        yield _not_decided(axis, error, held, place)
        return
    yield from _hold(axis, names, f"files {axis.files}", held, place, now)


def _is_absolute(folder: str) -> bool:
    return folder.startswith("/") or "://" in folder


def _glob(pattern: FilePattern) -> str:
    """Return what lists the place of a pattern: of the folders with dates those that fit, and all in them."""
    parts = pattern.text[len(pattern.folder) :].split("/")
    return "/".join([*("*" if re.search(r"[{*]", part) else part for part in parts[:-1]), "*"])


def _files_in(
    location: Location, folder: str, pattern: FilePattern, access: Access, control: JobControl
) -> Iterator[str]:
    """Yield what is in the folders of this machine that fit a pattern, sorted.

    Links are followed where what they lead to may be read, too.

    Parameters
    ----------
    location
        Of something in the first folder, which may be read.
    folder
        How that is called.
    """
    looked, seen = 0, set[tuple[str, int]]()
    folders = [(location.origin.folder, folder, 0)]
    while folders:
        path, shown, depth = folders.pop()
        names = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    control.check()
                    looked += 1
                    if looked > LIMITS.expect_files:
                        message = f"there are more than {LIMITS.expect_files:,} files (expect_files)"
                        raise RefbrowserError(ErrorKind.BUDGET, message, Place(url=folder))
                    if not entry.name.startswith("."):
                        names.append(entry.name)
        except OSError:
            # No folder, or none of ours.
            continue
        if depth == len(pattern.parts) - 1:
            yield from (f"{shown}{name}" for name in sorted(names))
            continue
        below = [name for name in names if pattern.fits_folder(depth, name)]
        for name in sorted(below, reverse=True):
            inner = os.path.realpath(os.path.join(path, name))
            its = Location(inner, Origin("file", folder=inner), inner)
            # Links lead to one folder by many ways.
            if (inner, depth) not in seen and access.permits(its) and not is_never_read(inner):
                seen.add((inner, depth))
                folders.append((inner, f"{shown}{name}/", depth + 1))


def _not_decided(axis: ExpectedAxis, error: RefbrowserError, held: Held, place: Place) -> Finding:
    held.results.append(ExpectedResult(axis.files, undecided=error.message))
    message = f"{axis.files}: {error.message}"
    return EXPECTED_UNDECIDED.finding(message, place, error=error.kind, advice=error.advice)


def _hold(
    axis: ExpectedAxis, names: Iterable[str], subject: str, held: Held, place: Place, now: datetime
) -> Iterator[Finding]:
    """Hold names against a pattern."""
    dated: list[tuple[str, int]] = []
    strange: list[str] = []
    pattern = _pattern(axis)
    for name in names:
        instant = _date_of(pattern, name)
        if instant is None:
            strange.append(name)
        else:
            dated.append((name, instant))
    instants = np.array([instant for _, instant in dated], np.int64)
    expected = expected_slots(axis, _CALENDAR, instants, now)
    matched = match_times(expected, instants)
    runs = expected.runs_of_missing(matched.there)
    doubled = runs_of_slots(SlotState.DOUBLED, matched.doubled)
    extra = [dated[at][0] for at in matched.extra.tolist()] + strange
    missing = sum(run.length for run in runs)
    held.results.append(
        ExpectedResult(
            subject, None, expected, (*runs, *doubled), expected.due, missing, extra=len(extra)
        )
    )  # fmt: skip
    unit = unit_of(expected.axis.step)
    for state, kind in ((SlotState.MISSING, EXPECTED_MISSING), (SlotState.LATE, EXPECTED_LATE)):
        some = [run for run in runs if run.state is state]
        count = sum(run.length for run in some)
        if count:
            what = f"no file of {expected.words(count)}" if state is SlotState.MISSING else (
                f"the files of {expected.words(count)} are late"
            )  # fmt: skip
            yield kind.finding(f"{subject}: {what}: {lacking_words(expected, some)}", place)
    if doubled:
        count = len(matched.doubled)
        message = f"{subject}: several files of {counted(count, unit)}: {run_words(expected.axis, doubled)}"
        yield EXPECTED_DOUBLED.finding(message, place)
    if extra:
        shown = ", ".join(name.rpartition("/")[2] for name in extra[:_TOLD])
        more = f" and {len(extra) - _TOLD:,} more" if len(extra) > _TOLD else ""
        message = f"{subject}: {counted(len(extra), 'file')} not expected: {shown}{more}"
        yield EXPECTED_EXTRA.finding(message, place)


def _pattern(axis: ExpectedAxis) -> FilePattern:
    pattern = axis.pattern
    assert pattern is not None
    return pattern


def _date_of(pattern: FilePattern, name: str) -> int | None:
    """Return the instant of the date in a name; None where it does not match, or there is no such date."""
    depth = len(pattern.parts)
    date = pattern.date_of("/".join(name.split("?")[0].split("/")[-depth:]))
    if date is None:
        return None
    day, _, later = date.partition("+")
    try:
        return instant_of(day, _CALENDAR) + int(later or 0) * DAY
    except RefbrowserError:
        return None
