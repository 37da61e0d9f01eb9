"""Writing down what a dataset should hold, in a file beside it, which audits find by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from refbrowser.engine.audit.audit_plan import AuditRequest
from refbrowser.engine.declarations.array_facts import learned_declarations
from refbrowser.engine.expectations.expect_beside import change_expect
from refbrowser.engine.expectations.expectation_sources import (
    ExpectationSources,
    expectation_findings,
    expectation_sources,
)
from refbrowser.engine.expectations.holding import Held
from refbrowser.engine.expectations.learning import Learned, learn
from refbrowser.errors import ErrorKind, RefbrowserError, TargetExistsError
from refbrowser.findings.finding import Finding
from refbrowser.formats.option_fields import Kind, documented, like, option
from refbrowser.model.report import Report, first_of
from refbrowser.references.expectations.expect_file import ExpectFile, with_declares, with_expect
from refbrowser.references.expectations.expectation import Expectation
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl


@documented
@dataclass(frozen=True, slots=True)
class ExpectRequest:
    """What is written down."""

    say: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--set WORDS",
            "expect this, not what is there now: 'every month from 2015', as audit --expect (repeatable)",
            about="What should be there, in words; what is learned from what is there where it is empty.",
            kind=Kind.TEXTS,
            title="What should be there",
        ),
    )
    properties: bool = field(
        default=False,
        metadata=option(
            "--properties",
            "write down, too, what arrays are like: type, chunks, codecs, units",
            about="Whether the properties of arrays are written down, too: type, chunks, codecs, units.",
            kind=Kind.TICK,
            means=True,
            title="Properties of arrays",
            label="Type, chunks, codecs, units",
        ),
    )
    late: str = like(AuditRequest, "late")
    target: str = field(
        default="",
        metadata=option(
            "--output FILE",
            "write to FILE instead of DOC.expect.json",
            short="-o",
            about="The file; beside the document where it is empty.",
        ),
    )
    force: bool = field(
        default=False,
        metadata=option(
            "--force",
            "replace what the file expects already",
            about="Replace what the file expects already.",
            kind=Kind.TICK,
            means=True,
            title="Replace what is expected already",
        ),
    )


@dataclass(frozen=True, slots=True, repr=False)
class ExpectationWritten(Report):
    """What was written down, and what of it is not there now.

    Attributes
    ----------
    path
        The file.
    notes
        Of what nothing could be learned.
    findings
        What the dataset differs in from it.
    """

    path: str
    expectation: Expectation
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what is expected from now on, and what of that is not there."""
        yield f"{self.path}: what should be there:"
        yield from first_of([axis.text for axis in self.expectation.axes])
        if self.expectation.rules is not None:
            rules = self.expectation.rules
            number = len(rules.get("gen", ())) + len(rules.get("refs", ()))
            yield f"  chunks by {counted(number, 'rule')}"
        yield from (f"  note: {note}" for note in self.notes)
        if not self.findings:
            yield "all of it is there"
        for finding in self.findings:
            where = f"{finding.place.path}: " if finding.place.path else ""
            yield f"now: {where}{finding.message}"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "file": self.path,
            "expect": self.expectation.to_json(),
            "notes": [*self.notes],
            "findings": [
                {"code": finding.code, "path": finding.place.path, "message": finding.message}
                for finding in self.findings
            ],
        }

    def exit_code(self) -> int:
        """Return 0: to say what is not there is no failure."""
        return 0


def write_expectation(request: ExpectRequest, dataset: Dataset, control: JobControl) -> ExpectationWritten:
    """Write down what a dataset should hold, and hold it against that.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: words that say nothing, or nothing to be learned; the file cannot be written, or expects
        something already.
    """
    said = Learned(Expectation.parse(request.say))
    learned = said if request.say else learned_expectation(dataset, control)
    expectation = learned.expectation.with_late(request.late) if request.late else learned.expectation
    if not expectation:
        raise RefbrowserError(
            ErrorKind.USAGE, "there is nothing of which an expectation could be learned",
            advice="say what should be there: --set 'every month from 2015'",
        )  # fmt: skip
    # Before anything is written: dates that are in no calendar are refused here.
    found = tuple(
        expectation_findings(
            dataset, ExpectationSources(expectation), Held(), control, datetime.now(UTC), lists=False
        )
    )

    def changed(file: ExpectFile) -> ExpectFile:
        if file.expect is not None and not request.force:
            message = "the file says what should be there already"
            raise TargetExistsError(ErrorKind.IO, message, advice="give --force to replace it")
        file = with_expect(file, expectation.to_json())
        return with_declares(file, learned_declarations(dataset)) if request.properties else file

    path = change_expect(dataset.path, changed, request.target)
    return ExpectationWritten(path, expectation, learned.notes, found)


def learned_expectation(dataset: Dataset, control: JobControl) -> Learned:
    """Return what can be learned of what is there."""
    return learn(dataset, control)


def kept_expectation(dataset: Dataset) -> Expectation:
    """Return what is kept beside a dataset; nothing where nothing is, or it cannot be used."""
    return expectation_sources(dataset, ()).expectation


def keep_expectation(path: str, expectation: Expectation) -> str:
    """Keep beside a document what it should hold, and return where; what it declares stays.

    Raises
    ------
    RefbrowserError
        The file cannot be written.
    """
    return change_expect(path, lambda file: with_expect(file, expectation.to_json()))
