"""List all faults and warnings of documents and stores; exit code 2 when there are faults."""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.cli.console import (
    ProgressBar,
    finding_line,
    plain,
    tell_error,
    write_json,
    write_line,
)
from refbrowser.cli.options import (
    add_dask,
    add_json,
    add_reading,
    add_templates,
    add_yes,
    compute_of,
    job_control,
    opening_of,
)
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import local_path

if TYPE_CHECKING:
    from refbrowser.engine.compute import Compute
    from refbrowser.engine.findings.checked_findings import Watched
    from refbrowser.engine.jobs import JobControl
    from refbrowser.engine.opening import OpenRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("documents", nargs="+", metavar="DOC", help="reference documents or stores")
    add_dask(parser)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a document, or why it could not be looked at."""

    findings: tuple[Finding, ...] = ()
    error: RefbrowserError | None = None


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Check each document; the worst of them decides the exit code."""
    compute = compute_of(arguments)
    requests = [opening_of(path, arguments) for path in arguments.documents]
    found = _here(requests, token) if compute.is_here else _away(requests, arguments, compute, token)
    with closing(found):
        named = zip(arguments.documents, found, strict=True)
        return max(_tell(path, checked, arguments) for path, checked in named)


def _here(requests: list[OpenRequest], token: CancelToken) -> Generator[Checked, None, None]:
    @contextmanager
    def watched(title: str) -> Iterator[JobControl]:
        with ProgressBar(title) as bar:
            yield job_control(token, bar)

    for request in requests:
        checked = _checked(request, watched)
        token.check()
        yield checked


def _away(
    requests: list[OpenRequest], arguments: argparse.Namespace, compute: Compute, token: CancelToken
) -> Generator[Checked, None, None]:
    """Have others look at each document; what they find comes in the order of the documents."""
    from refbrowser.engine.compute import check_workers

    # Nobody can be asked there.
    answer = _yes if arguments.yes else _no
    items = [(n, os.getcwd(), replace(each, question=answer)) for n, each in enumerate(requests)]
    early: dict[int, Checked] = {}
    told = 0
    with ProgressBar("checking") as bar, compute.open(token) as executor:
        check_workers(executor)
        control = job_control(token, bar)
        with closing(executor.run(checked_away, items, token)) as ended:
            for count, ((number, _, _), checked) in enumerate(ended, 1):
                if isinstance(checked, BaseException):
                    raise checked
                control.progress(count, len(items))
                early[number] = checked
                while told in early:
                    yield early.pop(told)
                    told += 1


def checked_away(item: tuple[int, str, OpenRequest]) -> Checked:
    """Look at a document in another process.

    Parameters
    ----------
    item
        Its number, the folder that its path starts from, and how it is opened.
    """
    from refbrowser.engine.jobs import JobControl

    _, folder, request = item
    if local_path(request.path) is not None and os.getcwd() != folder:
        request = replace(request, path=os.path.join(folder, request.path))
    return _checked(request, lambda _: nullcontext(JobControl()))


def _yes(error: RefbrowserError) -> bool:
    return True


def _no(error: RefbrowserError) -> bool:
    return False


def _checked(request: OpenRequest, watched: Watched) -> Checked:
    from refbrowser.engine.findings.checked_findings import checked_findings

    try:
        return Checked(tuple(checked_findings(request, watched)))
    except RefbrowserError as error:
        return Checked(error=error)


def _tell(path: str, checked: Checked, arguments: argparse.Namespace) -> int:
    """Tell what was found, and return the exit code of it."""
    code, findings, error = 0, checked.findings, checked.error
    if error is not None:
        if error.kind in (ErrorKind.IO, ErrorKind.SOURCE, ErrorKind.BLOCKED, ErrorKind.USAGE):
            tell_error(error)
            return error.outcome.exit_code
        # The document cannot even be opened: that is its one fault.
        findings = (_fault(error),)
        code = error.outcome.exit_code
    faults = [finding for finding in findings if finding.severity is Severity.FAULT]
    warnings = [finding for finding in findings if finding.severity is Severity.WARNING]
    if arguments.json:
        write_json(
            {
                "document": path,
                "faults": [finding.to_json() for finding in faults],
                "warnings": [finding.to_json() for finding in warnings],
            }
        )
    else:
        _write_lines(path, faults, warnings)
    return max(code, ErrorKind.REF.exit_code if faults else 0)


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
