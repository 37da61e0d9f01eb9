"""Two datasets that were compared: what of a difference is shown, and what of it is taken over."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refbrowser.engine.comparing.apply_differences import (
    WantedDifferences,
    apply_differences,
    obstacle,
    references_obstacle,
)
from refbrowser.engine.comparing.chunk_differences import reference_text
from refbrowser.engine.comparing.differences import ArrayComparison, Comparison
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.edits.compare import Side
from refbrowser.references.edits.edits import Edit
from refbrowser.tools.compare.compared_entries import ComparedEntry, entries_of
from refbrowser.tools.compare.comparison_words import compared_of, summary_of
from refbrowser.tools.compare.public import diff
from refbrowser.views.plot.slicing import dimension_names
from refbrowser.views.side_lines import Lines, side_lines


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What came of comparing: both datasets as they were, and what the list shows."""

    here: Dataset
    there: Dataset
    comparison: Comparison
    entries: tuple[ComparedEntry, ...]
    summary: str


def compared(here: Dataset, there: Dataset, values: str, control: JobControl) -> Compared:
    """Compare two datasets.

    Parameters
    ----------
    values
        As `refbrowser.tools.compare.public.diff` has it.

    Raises
    ------
    RefbrowserError
        One of them cannot be listed.
    """
    found = diff(here, there, values=values, progress=control)
    summary = f"{summary_of(found)} {compared_of(found.arrays)}."
    return Compared(here, there, found, entries_of(found), summary)


def lines_of(entry: ComparedEntry, control: JobControl) -> tuple[Lines, Lines]:
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


def taken(found: Compared, to: Side, wanted: WantedDifferences, title: str, control: JobControl) -> Edit:
    """Return the edit of one side that takes something over of the other.

    Raises
    ------
    RefbrowserError
        It cannot be written as an edit of that document.
    """
    sides = (found.there, found.here) if to is Side.HERE else (found.here, found.there)
    return apply_differences(*sides, to, wanted, title, control)


def why_not_taken(found: Compared, entry: ComparedEntry, coords: tuple[int, ...] | None, to: Side) -> str:
    """Return why an entry cannot be taken over by a side, as far as that is plain at once.

    Parameters
    ----------
    coords
        Of the one chunk that is taken over; None for all of the entry.
    """
    source, target = (found.there, found.here) if to is Side.HERE else (found.here, found.there)
    if entry.array is not None:
        return references_obstacle(target, to, entry.array, coords)
    assert entry.difference is not None
    return obstacle(entry.difference, source, target)
