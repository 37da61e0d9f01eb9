"""Audits, and fixes of what they find, as functions."""

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


@native_errors()
def audit(
    dataset: Dataset | Path,
    *,
    level: str = "set",
    arrays: Iterable[str] = (),
    sample: int = 10,
    resume: bool = False,
    lock: bool = False,
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
    from refbrowser.engine.audit.audit_plan import AuditRequest, Level, plan_audit
    from refbrowser.engine.audit.audit_run import AuditRun
    from refbrowser.engine.compute import Compute

    with dataset_of(dataset, allow) as opened:
        plan = plan_audit(opened, AuditRequest(Level.named(level), texts_of(arrays), sample, resume, lock))
        told(plan)
        run = AuditRun(opened, plan, Compute.of(client))
        for _ in run.findings(control_of(progress)):
            pass
        return run.result()


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
