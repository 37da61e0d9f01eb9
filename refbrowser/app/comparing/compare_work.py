"""Comparing and merging as the window asks for it. Imported inside tasks: it loads the engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from refbrowser.app.comparing.compared_side import SideNow
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.comparing.chunk_differences import reference_text
from refbrowser.engine.comparing.comparison import CompareRequest, compare_datasets
from refbrowser.engine.comparing.differences import ArrayComparison, Comparison
from refbrowser.engine.comparing.taking_over import TakenOver, take_over
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import ErrorKind, Finding, RefbrowserError, Severity
from refbrowser.exporting.saving.merged_file import document_to_merge, read_conflict_file
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.edits.compare import Side
from refbrowser.references.edits.edits import Compound, Edit
from refbrowser.references.merging.conflict_file import ConflictFile
from refbrowser.references.merging.merge import Choice, Merged, merge_documents
from refbrowser.views.comparing.compared_entries import ComparedEntry, entries_of
from refbrowser.views.comparing.comparison_words import compared_of, summary_of
from refbrowser.views.comparing.side_lines import Lines, side_lines
from refbrowser.views.plot.slicing import dimension_names


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What came of comparing: both datasets as they were, and what the list shows."""

    here: Dataset
    there: Dataset
    comparison: Comparison
    entries: tuple[ComparedEntry, ...]
    summary: str


def compared(here: SideNow, there: SideNow, values: str, control: TaskControl) -> Compared:
    """Compare two datasets.

    Raises
    ------
    RefbrowserError
        One of them cannot be listed.
    Cancelled
        The task was cancelled.
    """
    mine, theirs = here.taken(control), there.taken(control)
    found = compare_datasets(mine, theirs, CompareRequest(values), control)
    summary = f"{summary_of(found)} {compared_of(found.arrays)}."
    return Compared(mine, theirs, found, entries_of(found), summary)


def lines_of(entry: ComparedEntry, control: TaskControl) -> tuple[Lines, Lines]:
    """Return the texts of a difference as lines beside each other."""
    control.check()
    return side_lines(*entry.texts, both=entry.side is Side.BOTH)


@dataclass(frozen=True, slots=True)
class ChunkPair:
    """One chunk on both sides: its keys, and its references as lines beside each other."""

    coords: tuple[int, ...]
    keys: tuple[str, str]
    lines: tuple[Lines, Lines] = field(default=((), ()))


def chunk_pair(found: Compared, array: ArrayComparison, coords: tuple[int, ...]) -> ChunkPair:
    """Return the references of a chunk on both sides."""
    keys, texts = [], []
    for dataset, path in ((found.here, array.path), (found.there, array.there)):
        node = dataset.hierarchy.find(path)
        assert isinstance(node, ArrayNode)
        keys.append(node.manifest.key(coords))
        texts.append(_reference(node, coords))
    both = bool(texts[0]) == bool(texts[1])
    return ChunkPair(coords, (keys[0], keys[1]), side_lines(texts[0], texts[1], both=both))


def _reference(node: ArrayNode, coords: tuple[int, ...]) -> str:
    """Return the reference of a chunk as text, whole; empty where it has none."""
    if not all(at < size for at, size in zip(coords, node.manifest.grid_shape, strict=True)):
        return ""
    columns = node.manifest.columns(np.array([coords], np.int64).reshape(1, len(coords)))
    try:
        return reference_text(columns.reference(0))
    except KeyError:
        return ""
    except RefbrowserError as error:
        return f"cannot be read: {error.message}"


def names_of(found: Compared, array: ArrayComparison) -> tuple[str, ...]:
    """Return a name for each dimension of an array."""
    node = found.here.hierarchy.find(array.path)
    return dimension_names(node) if isinstance(node, ArrayNode) else ()


def taken(found: Compared, to: Side, wanted: TakenOver, title: str, control: TaskControl) -> Edit:
    """Return the edit of one side that takes something over of the other.

    Raises
    ------
    RefbrowserError
        It cannot be written as an edit of that document.
    Cancelled
        The task was cancelled.
    """
    sides = (found.there, found.here) if to is Side.HERE else (found.here, found.there)
    return take_over(*sides, to, wanted, title, control)


# Merging


def merged(
    base: str | Document,
    ours: Document,
    theirs: str | Document,
    settings: Mapping[Origin, ConnectionSettings],
    control: TaskControl,
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
    Cancelled
        The task was cancelled.
    """
    sides = [_reference_document(each, settings, control) for each in (base, ours, theirs)]
    control.stage("merging")
    return merge_documents(sides[0], sides[1], sides[2], pause=control.check)


def _reference_document(
    side: str | Document, settings: Mapping[Origin, ConnectionSettings], control: TaskControl
) -> ReferenceDocument:
    if isinstance(side, str):
        return document_to_merge(OpenRequest(side, settings=settings), control)[0]
    if side.rules_are_made:
        raise RefbrowserError(ErrorKind.FORMAT, "only reference documents are merged")
    return side.written()


def left_to_settle(listed: ConflictFile, ours: Document, control: TaskControl) -> Merged:
    """Return the conflicts that a merge left, and at whose places ours stands still.

    Raises
    ------
    RefbrowserError
        Ours is no reference document.
    Cancelled
        The task was cancelled.
    """
    document = _reference_document(ours, {}, control)
    left = []
    for conflict in listed.conflicts:
        control.check()
        if conflict.is_open(document):
            left.append(conflict)
    done = len(listed.conflicts) - len(left)
    told = f"{done} of {len(listed.conflicts)} {'is' if done == 1 else 'are'} settled already"
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


def settled(found: Merged, choices: Sequence[Choice], title: str, control: TaskControl) -> Edit:
    """Return a merge with its conflicts settled as one edit of ours.

    Parameters
    ----------
    choices
        Whose value each conflict takes, in their order.

    Raises
    ------
    RefbrowserError
        A place is not there any more.
    Cancelled
        The task was cancelled.
    """
    document, edits = found.document, list(found.edits)
    for conflict, choice in zip(found.conflicts, choices, strict=True):
        control.check()
        # Ours stands already.
        if choice is not Choice.OURS:
            edits.append(conflict.edit(document, choice))
            document = document.apply(edits[-1]).written()
    return Compound(title, tuple(edits))
