"""Checks of documents: one after another in this process, or each by somebody else."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.engine.findings.checked_findings import checked_findings
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.io.origins import local_path
from refbrowser.model.report import Report, first_of
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.engine.compute import Compute
    from refbrowser.engine.opening import OpenRequest

#: Errors that tell nothing of a document: it was not seen.
_NOT_REACHED = (ErrorKind.IO, ErrorKind.SOURCE, ErrorKind.BLOCKED, ErrorKind.USAGE)


@dataclass(frozen=True, slots=True, repr=False)
class Checked(Report):
    """What was found in a document, or why it could not be looked at.

    Attributes
    ----------
    path
        As it was given.
    findings
        What is wrong with it; empty where nothing is.
    error
        Why it cannot be opened; None where it was looked at.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    error: RefbrowserError | None = None

    @property
    def faults(self) -> tuple[Finding, ...]:
        """Findings because of which something cannot be read."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.FAULT)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The other findings."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)

    @property
    def as_told(self) -> Checked:
        """The same, with the one fault of a document that is there and cannot be opened as a finding."""
        error = self.error
        if error is None or error.kind in _NOT_REACHED:
            return self
        fault = Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=error.message,
            place=error.place,
            advice=error.advice,
        )
        return replace(self, findings=(fault,), error=None)

    def lines(self) -> Iterator[str]:
        """Yield how many faults and warnings there are, and the first of them."""
        if self.error is not None:
            yield f"{self.path}: {self.error.message}"
            return
        yield f"{self.path}: {counted(len(self.faults), 'fault')}, {counted(len(self.warnings), 'warning')}"
        yield from first_of([f"{each.severity}: {each.message}" for each in (*self.faults, *self.warnings)])


def checked_documents(
    requests: Sequence[OpenRequest], compute: Compute, control: JobControl
) -> Generator[Checked, None, None]:
    """Check documents; what is found comes in their order, as soon as it is known.

    Parameters
    ----------
    requests
        How each is opened. What others look at is pickled, so its questions are functions of modules.
    compute
        Who looks.
    control
        Is told the stages of `checked_findings`; ``checking``, with how many have ended, where others look.
    """
    return _here(requests, control) if compute.is_here else _away(requests, compute, control)


def _here(requests: Sequence[OpenRequest], control: JobControl) -> Generator[Checked, None, None]:
    for request in requests:
        checked = _checked(request, control)
        control.check()
        yield checked


def _away(
    requests: Sequence[OpenRequest], compute: Compute, control: JobControl
) -> Generator[Checked, None, None]:
    from refbrowser.engine.compute import check_workers

    items = [(number, os.getcwd(), request) for number, request in enumerate(requests)]
    early: dict[int, Checked] = {}
    given = 0
    control.stage("checking")
    with compute.open(control.token) as executor:
        check_workers(executor)
        with closing(executor.run(checked_away, items, control.token)) as ended:
            for count, ((number, _, _), checked) in enumerate(ended, 1):
                if isinstance(checked, BaseException):
                    raise checked
                control.progress(count, len(items))
                early[number] = checked
                while given in early:
                    yield early.pop(given)
                    given += 1


def checked_away(item: tuple[int, str, OpenRequest]) -> Checked:
    """Look at a document in another process.

    Parameters
    ----------
    item
        Its number, the folder that its path starts from, and how it is opened.
    """
    _, folder, request = item
    path = request.path
    if local_path(path) is not None and os.getcwd() != folder:
        request = replace(request, path=os.path.join(folder, path))
    return replace(_checked(request, JobControl()), path=path)


def _checked(request: OpenRequest, control: JobControl) -> Checked:
    try:
        return Checked(request.path, tuple(checked_findings(request, control)))
    except RefbrowserError as error:
        return Checked(request.path, error=error)
