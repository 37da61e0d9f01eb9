"""List all faults and warnings of documents and stores; exit code 2 when there are faults."""

from __future__ import annotations

import argparse

from refbrowser.cli.console import (
    ProgressBar,
    finding_json,
    finding_line,
    plain,
    tell_error,
    write_json,
    write_line,
)
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_templates,
    add_yes,
    job_control,
    list_store,
    open_document,
)
from refbrowser.errors import ErrorKind, Finding, RefbrowserError, Severity
from refbrowser.io.cancel import CancelToken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("documents", nargs="+", metavar="DOC", help="reference documents or stores")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Check each document; the worst of them decides the exit code."""
    return max(_check(path, arguments, token) for path in arguments.documents)


def _check(path: str, arguments: argparse.Namespace, token: CancelToken) -> int:
    code = 0
    try:
        findings = _findings(path, arguments, token)
        token.check()
    except RefbrowserError as error:
        if error.kind in (ErrorKind.IO, ErrorKind.SOURCE, ErrorKind.BLOCKED, ErrorKind.USAGE):
            tell_error(error)
            return error.kind.exit_code
        # The document cannot even be opened: that is its one fault.
        findings = [_fault(error)]
        code = error.kind.exit_code
    faults = [finding for finding in findings if finding.severity is Severity.FAULT]
    warnings = [finding for finding in findings if finding.severity is Severity.WARNING]
    if arguments.json:
        write_json(
            {
                "document": path,
                "faults": [finding_json(finding) for finding in faults],
                "warnings": [finding_json(finding) for finding in warnings],
            }
        )
    else:
        _write_lines(path, faults, warnings)
    return max(code, ErrorKind.REF.exit_code if faults else 0)


def _findings(path: str, arguments: argparse.Namespace, token: CancelToken) -> list[Finding]:
    """Return what is wrong with a document and what it describes; of a store, what a listing tells, too.

    Of a stream every payload is looked at, of a file of Awkward 0 every blob and value.
    """
    from refbrowser.engine.jobs import JobControl
    from refbrowser.engine.opening import dataset_of
    from refbrowser.engine.problems.findings import dataset_findings
    from refbrowser.engine.session import Session
    from refbrowser.formats.registry import facet

    opened = open_document(path, arguments, token)
    with Session() as session, ProgressBar("checking") as bar:
        dataset = dataset_of(path, opened.document, opened.access, session, JobControl(token))
        list_store(dataset, token)
        found = dataset_findings(dataset.document, dataset.hierarchy, dataset.access, lambda: token.cancelled)
        findings = found.all
        look = facet(dataset.document, "check")
        if look is not None:
            findings += look(dataset, job_control(token, bar))
    return findings


def _fault(error: RefbrowserError) -> Finding:
    return Finding(
        severity=Severity.FAULT,
        kind=error.kind,
        message=error.message,
        place=error.place,
        advice=error.advice,
    )


def _write_lines(path: str, faults: list[Finding], warnings: list[Finding]) -> None:
    for finding in [*faults, *warnings]:
        write_line(f"{plain(path)}: {finding_line(finding)}")
    if not faults and not warnings:
        write_line(f"{plain(path)}: no faults, no warnings")
