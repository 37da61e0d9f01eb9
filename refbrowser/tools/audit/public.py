"""The audit as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, control_of, dataset_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_plan import AuditPlan
    from refbrowser.engine.audit.audit_result import AuditResult


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
