"""Files of a folder, bucket or server held against what should be there, without any document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from refbrowser.engine.audit.audit_plan import Level
from refbrowser.engine.audit.audit_result import AuditResult, Grouping
from refbrowser.engine.expectations.file_holding import hold_listing
from refbrowser.engine.expectations.holding import Held
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.references.expectations.expectation import Expectation

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobControl


def audit_place(
    place: str, expect: Sequence[str], late: str, control: JobControl, now: datetime | None = None
) -> AuditResult | None:
    """Hold what is listed at a place against patterns of files; None where no files are expected.

    Parameters
    ----------
    place
        The folder or URL.
    expect
        What should be there, in words.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the words say nothing.
    """
    try:
        expectation = Expectation.parse(expect).with_late(late) if late else Expectation.parse(expect)
    except RefbrowserError:
        return None
    axes = [axis for axis in expectation.axes if axis.files]
    if not axes:
        return None
    base = f"{place.rstrip('/')}/"
    access = Access.for_document(f"{base}listing")
    result, grouping, held = AuditResult(Level.SET), Grouping(), Held()
    for axis in axes:
        for finding in hold_listing(base, access, axis, held, control, now or datetime.now(UTC)):
            if finding.kind is ErrorKind.BLOCKED:
                raise finding.error()
            grouping.add(finding)
    result.groups, result.expected, result.is_complete = grouping.groups(), tuple(held.results), True
    return result
