"""An audit as a step of a pipeline: what it looks at, what it fails for, and the reports that it leaves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from refbrowser.api import Path, Progress, StorageOptions, dataset_of, path_of, texts_of
from refbrowser.errors import ErrorKind, Outcome, Place, RefbrowserError, native_errors
from refbrowser.findings.kinds import URL_UNREACHABLE
from refbrowser.tools.audit.report.audit_criteria import Criteria, Tolerated

if TYPE_CHECKING:
    from refbrowser.tools.audit.report.audit_report import AuditReport

#: Kinds of findings that another try may find gone.
_PASSING = (URL_UNREACHABLE.code,)
#: What ends the names of files of test cases.
_CASES = ".xml"
#: Reasons that an error names.
_NAMED = 3


class AuditFailedError(RefbrowserError):
    """A dataset is not as it should be: another try finds the same.

    Its `result` is what `Audit.run` returns.
    """

    result: AuditStepResult


class AuditUndecidedError(RefbrowserError):
    """Whether a dataset is as it should be is not known: files could not be reached, or it was not opened.

    Another try may succeed. Its `result` is what `Audit.run` returns.
    """

    result: AuditStepResult


@dataclass(frozen=True, slots=True)
class AuditStepResult:
    """What came of an audit, as plain values that are sent to other processes.

    Attributes
    ----------
    document
        What was audited.
    status
        ``passed``; ``failed``: it is not as it should be, or is no dataset; ``undecided``: that is not known,
        as it or its files could not be reached, or may not be read.
    reasons
        Why it did not pass, a line each.
    exit_code
        That of ``refbrowser audit``.
    counts
        Places of each code that was found, tolerated ones too.
    summary
        A short text in Markdown.
    reports
        Files that were written.
    details
        What ``refbrowser audit --json`` prints; empty where nothing was audited.
    """

    document: str
    status: Literal["passed", "failed", "undecided"]
    reasons: tuple[str, ...]
    exit_code: int
    counts: Mapping[str, int]
    summary: str
    reports: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_passed(self) -> bool:
        """Whether all is as it should be."""
        return self.status == "passed"

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types."""
        return {
            "document": self.document,
            "status": self.status,
            "reasons": [*self.reasons],
            "exit_code": self.exit_code,
            "counts": dict(self.counts),
            "reports": [*self.reports],
            "details": dict(self.details),
        }

    def check(self) -> AuditStepResult:
        """Return this where it has passed.

        Raises
        ------
        AuditFailedError, AuditUndecidedError
            It has not.
        """
        if self.has_passed:
            return self
        more = f" (and {len(self.reasons) - _NAMED} more)" if len(self.reasons) > _NAMED else ""
        made = AuditFailedError if self.status == "failed" else AuditUndecidedError
        kind = ErrorKind.META if self.status == "failed" else ErrorKind.SOURCE
        message = f"the audit {'failed' if self.status == 'failed' else 'is undecided'}: "
        error = made(kind, message + "; ".join(self.reasons[:_NAMED]) + more, Place(document=self.document))
        error.result = self
        raise error


class Audit:
    """An audit as a step of a pipeline, which says by itself whether it passed, and leaves reports.

    It is a plain value: it can be sent to another process, and run again. An audit that was interrupted goes
    on where it was, so that a retry asks for no file twice.

    Parameters
    ----------
    path
        What is audited: a path or a URL.
    level, arrays, sample, lock, expect, late, declares
        As `refbrowser.audit` has them.
    fail_on
        Codes of warnings that count as faults, or ``warning`` for all of them.
    tolerate
        Codes that it does not fail for: ``CODE``, or ``CODE=N`` for at most N places; or numbers by code.
    reports
        Files to be written, whatever comes of it: ``.xml`` has test cases of JUnit, ``.html`` a page,
        ``.json``, ``.csv``, and ``.md`` the summary.
    allow, storage_options, templates, stale
        As `refbrowser.open` has them.
    resume
        Go on where an earlier try was interrupted.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such level or code, or a report has no known form.

    Examples
    --------
    >>> import refbrowser
    >>> step = refbrowser.Audit("sea_surface.json", level="stat", reports=["audit.md"])
    >>> result = step.check()
    >>> result.status, result.counts
    ('passed', {'missing-chunks': 5})
    """

    def __init__(
        self,
        path: Path,
        *,
        level: str = "set",
        arrays: Iterable[str] = (),
        sample: int = 10,
        lock: bool = False,
        expect: str | Iterable[str] = (),
        late: str = "",
        declares: Path | None = None,
        fail_on: str | Iterable[str] = (),
        tolerate: str | Tolerated = (),
        reports: Path | Iterable[Path] = (),
        allow: Iterable[str] = (),
        storage_options: StorageOptions = (),
        templates: Mapping[str, str] | None = None,
        stale: str = "refuse",
        resume: bool = True,
    ) -> None:
        from refbrowser.engine.audit.audit_plan import Level
        from refbrowser.tools.audit.report.audit_reports import check_report

        self.path = path_of(path)
        self.criteria = Criteria.of(fail_on, tolerate)
        named = [reports] if isinstance(reports, str | os.PathLike) else list(reports)
        self.reports = tuple(map(path_of, named))
        for each in self.reports:
            if not each.lower().endswith(_CASES):
                check_report(each)
        self._looking: dict[str, Any] = {
            "level": str(Level.named(level)), "arrays": texts_of(arrays), "sample": sample, "lock": lock,
            "expect": texts_of(expect), "late": late, "declares": declares, "resume": resume,
        }  # fmt: skip
        self._opening: dict[str, Any] = {
            "storage_options": storage_options, "templates": templates, "stale": stale,
        }  # fmt: skip
        self._allow = texts_of(allow)

    def run(self, progress: Progress | None = None) -> AuditStepResult:
        """Audit, write the reports, and return what came of it; nothing that is found is raised.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: what is said has no meaning for this dataset; a report cannot be written.
        """
        try:
            report = self._audited(progress)
        except RefbrowserError as error:
            if error.outcome is Outcome.USAGE:
                raise
            return self._not_audited(error)
        return self._told(report)

    def check(self, progress: Progress | None = None) -> AuditStepResult:
        """Audit as `run` does, and raise where it did not pass.

        Raises
        ------
        AuditFailedError
            The dataset is not as it should be: another try finds the same.
        AuditUndecidedError
            That is not known: another try may succeed.
        """
        return self.run(progress).check()

    @native_errors()
    def _audited(self, progress: Progress | None) -> AuditReport:
        from refbrowser.tools.audit.public import plan_audit
        from refbrowser.tools.audit.report.audit_report import AuditReport

        with dataset_of(self.path, self._allow, **self._opening) as dataset:
            planned = plan_audit(dataset, **self._looking)
            for _ in planned.findings(progress):
                pass
            return AuditReport(self.path, planned.result(), planned.cost, self.criteria)

    def _told(self, report: AuditReport) -> AuditStepResult:
        """Write the reports, and return what came of the audit."""
        from refbrowser.io.files.atomic import write_atomically
        from refbrowser.tools.audit.report.audit_cases import suites_of
        from refbrowser.tools.audit.report.audit_reports import report_bytes
        from refbrowser.tools.audit.report.audit_summary import summary_of
        from refbrowser.tools.audit.report.audit_tables import result_json
        from refbrowser.views.reports.junit import junit_text

        for path in self.reports:
            is_cases = path.lower().endswith(_CASES)
            data = junit_text("audit", suites_of(report)).encode() if is_cases else report_bytes(path, report)
            write_atomically(path, [data])
        result = report.result
        failing = report.failing
        notes = self.criteria.failing_notes(result)
        is_passing = bool(failing) and not notes and all(group.code in _PASSING for group in failing)
        status: Literal["passed", "failed", "undecided"] = "passed"
        if report.exit_code:
            status = "undecided" if is_passing or not (failing or notes) else "failed"
        return AuditStepResult(
            document=self.path,
            status=status,
            reasons=tuple(_reasons(report)),
            exit_code=report.exit_code,
            counts=result.counts(),
            summary=summary_of(report),
            reports=self.reports,
            details=result_json(self.path, result, report.cost, report.exit_code),
        )

    def _not_audited(self, error: RefbrowserError) -> AuditStepResult:
        """Let reports say why there was no audit; those that tell of findings are not written."""
        from refbrowser.io.files.atomic import write_atomically
        from refbrowser.tools.audit.report.audit_summary import summary_of_error
        from refbrowser.views.reports.junit import error_suite, junit_text

        summary, written = summary_of_error(self.path, error), []
        for path in self.reports:
            if path.lower().endswith(_CASES):
                write_atomically(path, [junit_text("audit", [error_suite(self.path, error)]).encode()])
                written.append(path)
            elif path.lower().endswith(".md"):
                write_atomically(path, [summary.encode("utf-8", "replace")])
                written.append(path)
        return AuditStepResult(
            document=self.path,
            # What is no dataset is none at the next try either.
            status="failed" if error.outcome is Outcome.INPUT else "undecided",
            reasons=(f"{error.kind}: {error.message}",),
            exit_code=error.outcome.exit_code,
            counts={},
            summary=summary,
            reports=tuple(written),
        )


def _reasons(report: AuditReport) -> Iterator[str]:
    """Yield why an audit did not pass: of each code the places, and what was found first."""
    counts = report.result.counts()
    told = set()
    for group in report.failing:
        if group.code not in told:
            told.add(group.code)
            yield f"{group.code} [{counts[group.code]}]: {group.findings[0].message}"
    yield from report.criteria.failing_notes(report.result)
    for each in report.result.blocked:
        yield f"not checked, a permission is missing: {each.origin}"
