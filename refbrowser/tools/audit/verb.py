"""Audit a dataset: what its references lead to is looked at, as far as is asked; exit code 2 with faults."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import ProgressBar, plain, tell, write_json, write_lines
from refbrowser.cli.options import (
    add_dask,
    add_json,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    ask,
    compute_of,
    job_control,
    open_dataset,
    said_of_fields,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_plan import AuditPlan
    from refbrowser.engine.audit.audit_result import AuditResult
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.saving.audit_fixes import Fixed
    from refbrowser.tools.audit.report.audit_criteria import Criteria
    from refbrowser.tools.audit.report.audit_report import AuditReport

#: Edits that are listed.
_TITLES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.engine.audit.audit_plan import AuditRequest

    parser.add_argument("path", metavar="PATH", help="a reference document, store, stream or file")
    add_request(parser, AuditRequest)
    parser.add_argument(
        "--report", action="append", default=[], metavar="FILE",
        help="write a report: FILE.html, FILE.json, FILE.csv, or FILE.md, a summary (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--fail-on", action="append", default=[], metavar="KIND",
        help="exit with 2 for findings of this code, too; warning for every warning (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--tolerate", action="append", default=[], metavar="CODE[=N]",
        help="pass in spite of findings of this code, of at most N places where N is given (repeatable)",
    )  # fmt: skip
    group = parser.add_argument_group("fixes")
    group.add_argument(
        "--fix",
        action="store_true",
        help="show the edits that would fix what was found, and write nothing; as *Fix all* of the window",
    )
    group.add_argument("--write", action="store_true", help="make the edits in the document")
    group.add_argument("-o", "--output", metavar="OUT", help="make the edits in a copy of the document")
    group.add_argument("--force", action="store_true", help="replace OUT")
    add_dask(parser)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Audit the dataset, report, and return the exit code."""
    from refbrowser.engine.audit.audit_plan import AuditCost, AuditRequest
    from refbrowser.tools.audit.public import audit
    from refbrowser.tools.audit.report.audit_report import AuditReport

    criteria = _criteria(arguments)
    said, compute = said_of_fields(arguments, AuditRequest), compute_of(arguments)
    plans: list[AuditPlan] = []

    def told(plan: AuditPlan) -> None:
        plans.append(plan)
        _tell_plan(plan, arguments)

    try:
        dataset = open_dataset(arguments, token)
    except RefbrowserError as error:
        listed = None if error.kind is not ErrorKind.FORMAT else _of_place(arguments.path, said, token)
        if listed is None:
            raise
        return _reported(arguments, AuditReport(arguments.path, listed, AuditCost(), criteria), None)
    with dataset:
        with ProgressBar("auditing") as bar:
            control = job_control(token, bar)
            result = audit(dataset, **said, client=compute, told=told, progress=control)
        fixed = _fixed(dataset, result, arguments, token) if arguments.fix else None
    (plan,) = plans
    return _reported(arguments, AuditReport(arguments.path, result, plan.cost, criteria), fixed)


def _of_place(path: str, said: Mapping[str, Any], token: CancelToken) -> AuditResult | None:
    """Return what is listed in a folder that is no dataset, held against files that should be there."""
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.audit.listed_place import audit_place

    return audit_place(path, said.get("expect", ()), said.get("late", ""), JobControl(token))


def _reported(arguments: argparse.Namespace, report: AuditReport, fixed: Fixed | None) -> int:
    """Write the reports, tell what was found, and return the exit code."""
    if arguments.report:
        from refbrowser.tools.audit.report.audit_reports import report_bytes

        for path in arguments.report:
            made = arguments.report_files.made()
            arguments.report_files.write_bytes(path, report_bytes(path, report, made))
    arguments.report_files.write(report)
    _tell(arguments, report, fixed)
    return report.exit_code


def _tell_plan(plan: AuditPlan, arguments: argparse.Namespace) -> None:
    """Tell what the audit takes, and ask whether it may where that is much."""
    from refbrowser.tools.audit.report.audit_lines import blocked_lines, cost_line

    level = plan.request.level
    if level.asks or plan.request.lock:
        tell(f"refbrowser: {plain(cost_line(level, plan.cost))}")
    for line in blocked_lines(plan.cost):
        tell(f"refbrowser: {plain(line)}")
    if plan.cost.is_large:
        message = f"the audit would take {cost_line(level, plan.cost)}"
        large = RefbrowserError(ErrorKind.BUDGET, message, advice="give --yes, or a lower --level")
        if not ask(arguments, large):
            raise large


def _fixed(dataset: Dataset, result: AuditResult, arguments: argparse.Namespace, token: CancelToken) -> Fixed:
    """Make the fixes, and write the document where that is asked for."""
    from refbrowser.tools.audit.public import fix

    target = arguments.output or (dataset.path if arguments.write else None)
    if target is None:
        return fix(dataset, result.findings)
    with ProgressBar("writing") as bar:
        force = arguments.force or arguments.write
        return fix(dataset, result.findings, target, force=force, progress=job_control(token, bar))


def _criteria(arguments: argparse.Namespace) -> Criteria:
    """Return what it fails for; raises `E_USAGE` for what is of no use, before anything is done."""
    from refbrowser.tools.audit.report.audit_criteria import Criteria
    from refbrowser.tools.audit.report.audit_reports import check_report

    for path in arguments.report:
        check_report(path)
    if (arguments.write or arguments.output) and not arguments.fix:
        raise RefbrowserError(ErrorKind.USAGE, "--write and -o belong to --fix", advice="add --fix")
    if arguments.write and arguments.output:
        raise RefbrowserError(ErrorKind.USAGE, "--write changes the document itself, -o writes a copy")
    if arguments.fix and arguments.template:
        message = "--fix changes the document, whose templates have other values with --template"
        raise RefbrowserError(ErrorKind.USAGE, message)
    return Criteria.of(arguments.fail_on, arguments.tolerate)


def _tell(arguments: argparse.Namespace, report: AuditReport, fixed: Fixed | None) -> None:
    from refbrowser.tools.audit.report.audit_lines import result_lines
    from refbrowser.tools.audit.report.audit_tables import result_json

    if arguments.json:
        told = result_json(report.document, report.result, report.cost, report.exit_code)
        if fixed is not None:
            told["fixes"] = {"edits": list(fixed.titles), "written": fixed.target}
        write_json(told)
        return
    write_lines(plain(line) for line in result_lines(report.result))
    if fixed is not None:
        write_lines(plain(line) for line in _fix_lines(fixed))


def _fix_lines(fixed: Fixed) -> Iterator[str]:
    if not fixed.titles:
        yield "nothing that was found has a fix"
        return
    for title in fixed.titles[:_TITLES]:
        yield f"fix: {title}"
    if len(fixed.titles) > _TITLES:
        yield f"fix: and {len(fixed.titles) - _TITLES} more"
    if fixed.target is None:
        yield "nothing was written; --fix --write changes the document, --fix -o OUT writes a copy"
    else:
        yield f"written: {fixed.target}; audit it again to see what is left"
