"""The fixes of an audit as edits of the document: the same that the window makes with one click."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving.checked_writing import json_place, write_along

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_result import FindingGroup
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl
    from refbrowser.io.identity import FileIdentity
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class Fixed:
    """A document after the fixes, and what they are called."""

    after: Document
    titles: tuple[str, ...]


def fix_findings(document: Document, groups: Iterable[FindingGroup]) -> Fixed | None:
    """Return a document with all fixes made that findings have; None where none has one.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the dataset is no reference document; or fixes that do not fit each other.
    """
    from refbrowser.engine.audit.audit_result import joined_fix

    if document.store is not None:
        message = "--fix changes reference documents, not stores"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="make its references first: refbrowser make")
    findings = [finding for group in groups for finding in group.findings]
    edit = joined_fix(document, findings, "Fix all")
    if edit is None:
        return None
    titles = dict.fromkeys(finding.fix.title for finding in findings if finding.fix is not None)
    return Fixed(document.apply(edit), tuple(titles))


def write_fixed(
    fixed: Fixed,
    dataset: Dataset,
    target: str,
    control: JobControl,
    *,
    force: bool = False,
    expected: FileIdentity | None = None,
) -> None:
    """Write the document, with the lock that lies beside the one that was audited.

    Its relative URLs lead from there to where they led before.

    Parameters
    ----------
    dataset
        What was audited.
    force
        Replace what is there.
    expected
        The state in which the file that is replaced must still be; None for any.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes: it was changed since it was read.
    RefbrowserError
        The target is there, or cannot be written.
    """
    place = json_place(target, force=force)
    write_along(dataset.path, dataset.access, fixed.after, place, control, expected=expected)
