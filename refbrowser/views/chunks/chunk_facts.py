"""All that is known of one chunk without reading it, and the words for it and for classes of chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.io.access.access import storage_url
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Missing, Reference, ReferenceKind, WholeFile
from refbrowser.views.chunks.chunk_map import Change, MapSource, changes
from refbrowser.views.words import one_line
from refbrowser.words import count_text, short_time_text, size_text

if TYPE_CHECKING:
    from refbrowser.views.chunks.chunk_colouring import MapClass


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """One chunk.

    Attributes
    ----------
    kind
        Of its reference; `FAULTY` where that cannot be read, and `error` tells why.
    url, offset, length
        None where the reference has none; `length` of an inline chunk is that of its bytes.
    decoded
        Bytes of its elements in memory.
    shape
        Of the part of the chunk that lies in the array.
    change
        What edits did to its reference; `before` is the saved one where that differs.
    made_of
        Of a chunk that is assembled: the names of what gives its elements, in their order, each once.
    """

    coords: tuple[int, ...]
    key: str
    kind: ReferenceKind
    url: str | None = None
    offset: int | None = None
    length: int | None = None
    decoded: int | None = None
    shape: tuple[int, ...] = ()
    change: Change = Change.SAME
    before: Reference | None = None
    error: RefbrowserError | None = None
    made_of: tuple[str, ...] = ()


def chunk_facts(source: MapSource, node: ArrayNode, coords: tuple[int, ...]) -> ChunkFacts:
    """Return what is known of a chunk. It may take longer than a frame: a rule may have to be searched."""
    row = np.array([coords], np.int64).reshape(1, len(coords))
    columns = source.manifest.columns(row)
    url = offset = length = error = None
    try:
        reference = columns.reference(0)
    except RefbrowserError as fault:
        reference, error = Missing(), fault
    if isinstance(reference, ByteRange):
        url, offset, length = reference.url, reference.offset, reference.length
    elif isinstance(reference, WholeFile):
        url = reference.url
    elif isinstance(reference, Inline):
        length = len(reference.data)
    change, before = Change.SAME, None
    if source.saved is not None and isinstance(source.manifest, ExpansionManifest):
        change = Change(int(changes(source.manifest, source.saved, row, columns)[0]))
        if change is Change.CHANGED or change is Change.REMOVED:
            before = _reference_of(source.saved, row)
    itemsize = None if node.dtype is None else node.dtype.itemsize
    return ChunkFacts(
        coords,
        source.manifest.key(coords),
        ReferenceKind(int(columns.kind[0])),
        url,
        offset,
        length,
        None if itemsize is None else prod(node.grid.stored_shape(coords)) * itemsize,
        node.grid.extent(coords),
        change,
        before,
        error,
        _names_of_pieces(node, coords) if columns.kind[0] == ReferenceKind.DERIVED else (),
    )


def _names_of_pieces(node: ArrayNode, coords: tuple[int, ...]) -> tuple[str, ...]:
    """Return what gives the elements of a chunk."""
    if node.assembled is None:
        return ()
    pieces = node.pieces(node.grid.whole_part(coords))
    return tuple(dict.fromkeys(piece.name for piece in pieces))


def _reference_of(manifest: ExpansionManifest, row: np.ndarray) -> Reference | None:
    try:
        return manifest.columns(row).reference(0)
    except RefbrowserError:
        return None


#: Texts of the choice of colours.
COLOURINGS = {
    "state": "State",
    "size": "Size",
    "url": "URL",
    "time": "Time to read",
    "change": "Unsaved changes",
    "audit": "Audit",
}
#: Between the facts of a chunk in one line.
GAP = "   "
_LONGEST_URL = 30
_KINDS = ("missing", "inline", "byte range", "whole file", "faulty or lost", "assembled from parts")
#: Messages that a chunk is assembled from are named, at most so many.
_NAMED = 4
_READ = ("", "being read", "read", "could not be read")
_CHANGES = ("", "changed", "added", "removed")


def class_text(entry: MapClass, by: str) -> str:
    """Return what a class of the map means."""
    if entry.style == "scale" and entry.low is not None and entry.high is not None:
        low, high = (_amount(number, by) for number in (entry.low, entry.high))
        return low if low == high else f"≤ {high}" if entry.number else f"{low} – {high}"
    label = one_line(entry.label)
    if entry.style == "url" and len(label) > _LONGEST_URL:
        return f"…{label[1 - _LONGEST_URL :]}"
    return label


def _amount(number: float, by: str) -> str:
    return short_time_text(number) if by == "time" else size_text(int(number))


def stale_of(source: MapSource, facts: ChunkFacts) -> str:
    """Return how the file of a chunk differs from the lock; empty where it does not, or was not touched."""
    locked = source.locked
    if locked is None or facts.url is None:
        return ""
    url = storage_url(facts.url)
    return next((each.message for each in locked.stale.values() if each.url == url), "")


def facts_line(
    facts: ChunkFacts,
    state: int,
    seconds: float,
    error: BaseException | None,
    stale: str = "",
    found: str = "",
) -> str:
    """Return one line about a chunk.

    Parameters
    ----------
    state
        `ReadState`.
    seconds
        Time to read, NaN where it is not known.
    error
        Why it could not be read.
    stale
        How its file differs from the lock.
    found
        What an audit found, in a few words.
    """
    # A byte range is told by its bytes.
    parts = [facts.key] if facts.kind is ReferenceKind.RANGE else [facts.key, _KINDS[facts.kind]]
    if facts.made_of:
        parts[-1] = f"stored in {_named_url(facts.made_of)}"
    if facts.url is not None:
        parts.append(facts.url)
    if facts.offset is not None and facts.length is not None:
        parts.append(f"bytes {count_text(facts.offset)} to {count_text(facts.offset + facts.length)}")
    if facts.length is not None:
        parts.append(_size(facts.length, facts.decoded))
    if _READ[state]:
        took = f" in {short_time_text(seconds)}" if state == 2 and seconds == seconds else ""
        parts.append(f"{_READ[state]}{took}")
    if _CHANGES[facts.change]:
        parts.append(f"{_CHANGES[facts.change]}{_before(facts)}")
    if stale:
        parts.append(stale)
    reason = facts.error or error
    if reason is not None:
        parts.append(str(getattr(reason, "message", reason)))
    if found:
        # First of all that is told: the line may be cut at its end.
        parts.insert(1, f"audit: {found}")
    return one_line(GAP.join(parts))


def _size(length: int, decoded: int | None) -> str:
    if not decoded or not length or decoded == length:
        return size_text(length)
    return f"{size_text(length)}, {size_text(decoded)} decoded ({decoded / length:.3g} : 1)"


def _named_url(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {count_text(more)} more" if more > 0 else shown


def _before(facts: ChunkFacts) -> str:
    before = facts.before
    url = getattr(before, "url", None)
    if url is None:
        return ""
    offset, length = getattr(before, "offset", None), getattr(before, "length", None)
    extent = (
        "" if offset is None or length is None else f" {count_text(offset)} to {count_text(offset + length)}"
    )
    return f", saved: {url if url != facts.url else 'bytes'}{extent}"
