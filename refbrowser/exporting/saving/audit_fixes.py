"""The fixes of findings as edits of the document: the same that the window makes with one click."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving.checked_writing import json_place, write_along
from refbrowser.io.identity import FileIdentity
from refbrowser.io.origins import is_same_file
from refbrowser.model.report import Report, first_of
from refbrowser.words import counted

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.findings.finding import Finding
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True, repr=False)
class Fixed(Report):
    """What became of a document.

    Attributes
    ----------
    after
        The document after the fixes; the one that there was where nothing has a fix.
    titles
        What the edits are called, one for each kind of fix; empty where nothing has one.
    target
        Where it was written; None where it was not.
    """

    after: Document
    titles: tuple[str, ...]
    target: str | None = None

    def lines(self) -> Iterator[str]:
        """Yield what is repaired, and where that is written."""
        if not self.titles:
            yield "nothing that was found has a fix"
            return
        where = "not written" if self.target is None else f"written: {self.target}"
        yield f"{counted(len(self.titles), 'fix', 'fixes')}, {where}"
        yield from first_of(self.titles)


def fix_findings(document: Document, findings: Iterable[Finding]) -> Fixed:
    """Return a document with all fixes made that findings have.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the dataset is no reference document; or fixes that do not fit each other.
    """
    from refbrowser.engine.audit.audit_result import joined_fix

    if document.store is not None:
        message = "--fix changes reference documents, not stores"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="make its references first: refbrowser make")
    findings = tuple(findings)
    edit = joined_fix(document, findings, "Fix all")
    if edit is None:
        return Fixed(document, ())
    titles = dict.fromkeys(finding.fix.title for finding in findings if finding.fix is not None)
    return Fixed(document.apply(edit), tuple(titles))


def write_fixed(
    fixed: Fixed, dataset: Dataset, target: str, control: JobControl, *, force: bool = False
) -> Fixed:
    """Write the document, with the lock that lies beside the one that was looked at; return where it is.

    Its relative URLs lead from there to where they led before.

    Parameters
    ----------
    dataset
        What was looked at. Its file is replaced only in the state in which it was read.
    force
        Replace what is there.

    Raises
    ------
    ChangedOnDiskError
        The file of `dataset` is to be replaced, and was changed since it was read.
    RefbrowserError
        The target is there, or cannot be written.
    """
    place = json_place(target, force=force)
    identity, is_replaced = dataset.identity, is_same_file(dataset.path, str(place.target))
    expected = identity if is_replaced and isinstance(identity, FileIdentity) else None
    write_along(dataset.path, dataset.access, fixed.after, place, control, expected=expected)
    return replace(fixed, target=target)
