"""List all faults and warnings of documents and stores; exit code 2 when there are faults."""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.cli.console import StageBar, finding_line, plain, tell_error, write_json, write_line
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
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.tools.check.checked_documents import Checked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("documents", nargs="+", metavar="DOC", help="reference documents or stores")
    add_dask(parser)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Check each document; the worst of them decides the exit code."""
    from refbrowser.tools.check.checked_documents import checked_documents

    compute = compute_of(arguments)
    requests = [opening_of(path, arguments) for path in arguments.documents]
    if not compute.is_here:
        # Nobody can be asked there.
        answer = _yes if arguments.yes else _no
        requests = [replace(request, question=answer) for request in requests]
    code, bar = 0, StageBar(_STAGES)
    reported: list[Checked] = []
    with bar, closing(checked_documents(requests, compute, job_control(token, bar))) as found:
        for checked in found:
            if compute.is_here:
                bar.end()
            code = max(code, _tell(checked, arguments))
            if arguments.report_files.are_wanted:
                reported.append(checked.as_told)
    arguments.report_files.write(reported)
    return code


#: Parts of a check, and units of what is counted.
_STAGES = {"opening": "", "listing": "", "checking": ""}


def _yes(error: RefbrowserError) -> bool:
    return True


def _no(error: RefbrowserError) -> bool:
    return False


def _tell(checked: Checked, arguments: argparse.Namespace) -> int:
    """Tell what was found, and return the exit code of it."""
    told = checked.as_told
    if told.error is not None:
        tell_error(told.error)
        return told.error.outcome.exit_code
    if arguments.json:
        write_json(
            {
                "document": told.path,
                "faults": [finding.to_json() for finding in told.faults],
                "warnings": [finding.to_json() for finding in told.warnings],
            }
        )
    else:
        _write_lines(told)
    code = 0 if checked.error is None else checked.error.outcome.exit_code
    return max(code, ErrorKind.REF.exit_code if told.faults else 0)


def _write_lines(checked: Checked) -> None:
    for finding in [*checked.faults, *checked.warnings]:
        write_line(f"{plain(checked.path)}: {finding_line(finding)}")
    if not checked.faults and not checked.warnings:
        write_line(f"{plain(checked.path)}: no faults, no warnings")
