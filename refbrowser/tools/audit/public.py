"""Audits, audits that are planned, and fixes of what they find, as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, control_of, dataset_of, path_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_plan import AuditPlan
    from refbrowser.engine.audit.audit_result import AuditResult
    from refbrowser.exporting.saving.audit_fixes import Fixed
    from refbrowser.findings.finding import Finding
    from refbrowser.tools.audit.planned_audit import PlannedAudit


@native_errors()
def audit(
    dataset: Dataset | Path,
    *,
    level: str = "set",
    arrays: Iterable[str] = (),
    sample: int = 10,
    resume: bool = False,
    lock: bool = False,
    expect: str | Iterable[str] = (),
    late: str = "",
    declares: Path | None = None,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
    told: Callable[[AuditPlan], None] = lambda plan: None,
    client: Any = None,
) -> AuditResult:
    """Look at what the references of a dataset lead to.

    Parameters
    ----------
    dataset
        An opened dataset, or what to open.
    level
        ``set``: nothing is read; ``stat``: size and state of each file; ``sample``: some chunks of each array
        are read and decoded; ``full``: every chunk.
    arrays
        Paths of the arrays whose files and chunks are looked at; all when empty.
    sample
        Chunks of each array at the level ``sample``.
    resume
        Go on where an audit of the same document was interrupted.
    lock
        Compare the files with the lock of the document, whatever the level.
    expect
        What should be there, in words (``every month from 2015``, ``time=2015-01:2024-12:month``), a file
        that says so, another document of which each chunk is expected, or ``branch=NAME``; what is said
        beside the document when empty.
    late
        How long after its end an expected period may be missing: ``10d``.
    declares
        A file with declared properties against which arrays are held; that beside the document when None.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, read_bytes=..., requests=...)` with files and chunks.
    told
        Called with the plan before anything is read: `AuditPlan.cost` tells what it takes.
    client
        Who does the work, as `export` has it.

    Returns
    -------
    AuditResult
        Groups of findings, marks of chunks, counts, and where it was not allowed to look.

    Raises
    ------
    RefbrowserError
        The dataset cannot be opened, or there is no such array; what is found in it is no error.
    """
    with dataset_of(dataset, allow) as opened:
        planned = plan_audit(
            opened, level=level, arrays=arrays, sample=sample, resume=resume, lock=lock, expect=expect,
            late=late, declares=declares, client=client,
        )  # fmt: skip
        told(planned.plan)
        for _ in planned.findings(progress):
            pass
        return planned.result()


@native_errors()
def plan_audit(
    dataset: Dataset,
    *,
    level: str = "set",
    arrays: Iterable[str] = (),
    sample: int = 10,
    resume: bool = False,
    lock: bool = False,
    expect: str | Iterable[str] = (),
    late: str = "",
    declares: Path | None = None,
    client: Any = None,
) -> PlannedAudit:
    """Return an audit whose cost is known before anything is read, and whose findings come one by one.

    Parameters
    ----------
    dataset
        An opened dataset.
    level, arrays, sample, resume, lock, expect, late, declares, client
        As `audit` has them.

    Returns
    -------
    PlannedAudit
        `cost` tells what it takes, `findings()` carries it out and yields what is found as it comes,
        `result()` is all that was found so far.

    Raises
    ------
    RefbrowserError
        There is no such array or level.

    Examples
    --------
    >>> import refbrowser
    >>> with refbrowser.open("sea_surface.json") as dataset:
    ...     planned = refbrowser.plan_audit(dataset, level="stat")
    ...     print(planned.cost.urls, len(list(planned.findings())), planned.result().urls)
    17 2 17
    """
    from refbrowser.engine.audit.audit_plan import AuditRequest, Level
    from refbrowser.engine.compute import Compute
    from refbrowser.tools.audit.planned_audit import PlannedAudit

    named = "" if declares is None else path_of(declares)
    request = AuditRequest(
        Level.named(level), texts_of(arrays), sample, resume, lock, texts_of(expect), late, named
    )
    return PlannedAudit(dataset, request, Compute.of(client))


@native_errors()
def fix(
    dataset: Dataset | Path,
    findings: Iterable[Finding],
    target: Path | None = None,
    *,
    force: bool = False,
    allow: Iterable[str] = (),
    progress: Progress | None = None,
) -> Fixed:
    """Make the edits that findings have as fixes, all that `Fix all` of the window makes.

    Parameters
    ----------
    dataset
        An opened reference document, or what to open.
    findings
        Of the same document: `AuditResult.findings`, or what `check` returns.
    target
        The document to be made, with the lock of `dataset`; with `force` it may be `dataset` itself. None for
        none.
    force
        Replace the target; a document that was changed since it was opened is not replaced.
    allow
        Origins that may be read from, where `dataset` is a path.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    Fixed
        The document `after` the fixes, their `titles`, and the `target`; without a fix nothing is written.

    Raises
    ------
    RefbrowserError
        It is no reference document; the target is there or cannot be written.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.fix("sea_surface.json", refbrowser.check("sea_surface.json"))
    nothing that was found has a fix
    """
    from refbrowser.exporting.saving.audit_fixes import fix_findings, write_fixed

    with dataset_of(dataset, allow) as opened:
        fixed = fix_findings(opened.document, findings)
        if target is None or not fixed.titles:
            return fixed
        return write_fixed(fixed, opened, path_of(target), control_of(progress), force=force)
