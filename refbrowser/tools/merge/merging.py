"""Merges of documents that are open or lie somewhere, lists of conflicts, and settling these by one edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.exporting.saving.merged_file import document_to_merge, read_conflict_file
from refbrowser.findings.finding import Finding
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.edits.edits import Compound, Edit
from refbrowser.references.merging.conflict_file import ConflictFile
from refbrowser.references.merging.merge import Choice, Merged, merge_documents
from refbrowser.words import plural


def merged(
    base: str | Document,
    ours: Document,
    theirs: str | Document,
    settings: Mapping[Origin, ConnectionSettings],
    control: JobControl,
) -> Merged:
    """Merge what two sides made of a document.

    Parameters
    ----------
    base, theirs
        Paths or URLs, or documents that are open.

    Raises
    ------
    RefbrowserError
        One of them cannot be read, or is no reference document; or too much changed.
    """
    sides = [_reference_document(each, settings, control) for each in (base, ours, theirs)]
    control.stage("merging")
    return merge_documents(sides[0], sides[1], sides[2], pause=control.check)


def _reference_document(
    side: str | Document, settings: Mapping[Origin, ConnectionSettings], control: JobControl
) -> ReferenceDocument:
    if isinstance(side, str):
        return document_to_merge(OpenRequest(side, settings=settings), control)[0]
    if side.rules_are_made:
        raise RefbrowserError(ErrorKind.FORMAT, "only reference documents are merged")
    return side.written()


def is_reference_document(request: OpenRequest, control: JobControl) -> bool:
    """Tell whether a reference document is in a file; not where nothing can be read.

    Any JSON object could be read as references of Version 0: one counts that describes an array or group.
    """
    try:
        document, _ = document_to_merge(request, control)
    except RefbrowserError:
        return False
    if document.version == 0:
        return any(is_metadata_key(key) for key, _slot in document.refs.odd_keys())
    return bool({"refs", "gen"} & set(document.node.to_python()))


def left_to_settle(listed: ConflictFile, ours: Document, control: JobControl) -> Merged:
    """Return the conflicts that a merge left, and at whose places ours stands still.

    Raises
    ------
    RefbrowserError
        Ours is no reference document.
    """
    document = _reference_document(ours, {}, control)
    left = []
    for conflict in listed.conflicts:
        control.check()
        if conflict.is_open(document):
            left.append(conflict)
    done = len(listed.conflicts) - len(left)
    told = f"{done} of {len(listed.conflicts)} {plural(done, 'is', 'are')} settled already"
    warning = Finding(severity=Severity.WARNING, kind=ErrorKind.META, message=told)
    return Merged(document, (), tuple(left), (), (warning,) if done else ())


@dataclass(frozen=True, slots=True)
class ListedMerge:
    """A file that lists conflicts, and the merged document that it is about.

    Attributes
    ----------
    name
        Of the file.
    path
        Of the document.
    may_open
        Whether it is open, or lies in the folder of the file or below: a file leads to no other place.
    """

    listed: ConflictFile
    name: str
    path: str
    may_open: bool


def listed_merge(path: str, known: Sequence[str]) -> ListedMerge:
    """Read a list of conflicts, and find the document.

    Parameters
    ----------
    known
        Paths of the documents that are open.

    Raises
    ------
    RefbrowserError
        It cannot be read, or lists no conflicts.
    """
    listed = read_conflict_file(path)
    folder = os.path.dirname(os.path.realpath(path))
    wanted = os.path.realpath(os.path.join(folder, listed.path))
    for each in known:
        if "://" not in each and os.path.realpath(each) == wanted:
            return ListedMerge(listed, os.path.basename(path), each, may_open=True)
    is_below = wanted.startswith(os.path.join(folder, ""))
    return ListedMerge(listed, os.path.basename(path), wanted, is_below)


def settled(found: Merged, choices: Sequence[Choice], title: str, control: JobControl) -> Edit:
    """Return a merge with its conflicts settled as one edit of ours.

    Parameters
    ----------
    choices
        Whose value each conflict takes, in their order.

    Raises
    ------
    RefbrowserError
        A place is not there any more.
    """
    document, edits = found.document, list(found.edits)
    for conflict, choice in zip(found.conflicts, choices, strict=True):
        control.check()
        # Ours stands already.
        if choice is not Choice.OURS:
            edits.append(conflict.edit(document, choice))
            document = document.apply(edits[-1]).written()
    return Compound(title, tuple(edits))
