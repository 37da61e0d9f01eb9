"""The fixes of an audit as edits of the document: the same that the window makes with one click."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.saving.elsewhere import json_place, rebased, write_elsewhere

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_result import FindingGroup
    from refbrowser.engine.jobs import JobControl
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
    findings = [finding for group in groups for finding in group.findings if finding.fix is not None]
    edit = joined_fix(document, findings, "Fix all")
    if edit is None:
        return None
    titles = dict.fromkeys(finding.fix.title for finding in findings)
    return Fixed(document.apply(edit), tuple(titles))


def write_fixed(fixed: Fixed, base: str, target: str, control: JobControl, *, force: bool) -> None:
    """Write the document; its relative URLs lead from there to where they led before.

    Parameters
    ----------
    base
        Folder of the document, or the URL that it came from.
    force
        Replace what is there.

    Raises
    ------
    RefbrowserError
        The target is there, or cannot be written.
    """
    place = json_place(target, force=force)
    write_elsewhere(rebased(fixed.after, base, place), place, control)
