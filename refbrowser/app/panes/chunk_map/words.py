"""What the chunk map says in words: classes of the legend, and one line about a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from refbrowser.app.widgets.plain_text import one_line
from refbrowser.app.widgets.theme import count_text, size_text
from refbrowser.model.reference import ReferenceKind

if TYPE_CHECKING:
    from refbrowser.views.chunk_colouring import MapClass
    from refbrowser.views.chunk_facts import ChunkFacts

#: Texts of the choice of colours.
COLOURINGS = {
    "state": "State",
    "size": "Size",
    "url": "URL",
    "time": "Time to read",
    "change": "Unsaved changes",
}
#: Between the facts of a chunk in one line.
GAP = "   "
_LONGEST_URL = 30
_KINDS = ("missing", "inline", "byte range", "whole file", "faulty or lost", "stored in parts")
#: Messages that a tile is assembled from are named, at most so many.
_NAMED = 4
_READ = ("", "being read", "read", "could not be read")
_CHANGES = ("", "changed", "added", "removed")


def seconds_text(seconds: float) -> str:
    """Return a time as people write it (``12 ms``)."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"


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
    return seconds_text(number) if by == "time" else size_text(int(number))


def facts_line(facts: ChunkFacts, state: int, seconds: float, error: BaseException | None) -> str:
    """Return one line about a chunk.

    Parameters
    ----------
    state
        `ReadState`.
    seconds
        Time to read, NaN where it is not known.
    error
        Why it could not be read.
    """
    # A byte range is told by its bytes.
    parts = [facts.key] if facts.kind is ReferenceKind.RANGE else [facts.key, _KINDS[facts.kind]]
    if facts.made_of:
        parts[-1] = f"stored in {_named(facts.made_of)}"
    if facts.url is not None:
        parts.append(facts.url)
    if facts.offset is not None and facts.length is not None:
        parts.append(f"bytes {count_text(facts.offset)} to {count_text(facts.offset + facts.length)}")
    if facts.length is not None:
        parts.append(_size(facts.length, facts.decoded))
    if _READ[state]:
        took = f" in {seconds_text(seconds)}" if state == 2 and seconds == seconds else ""
        parts.append(f"{_READ[state]}{took}")
    if _CHANGES[facts.change]:
        parts.append(f"{_CHANGES[facts.change]}{_before(facts)}")
    reason = facts.error or error
    if reason is not None:
        parts.append(str(getattr(reason, "message", reason)))
    return one_line(GAP.join(parts))


def _size(length: int, decoded: int | None) -> str:
    if not decoded or not length or decoded == length:
        return size_text(length)
    return f"{size_text(length)}, {size_text(decoded)} decoded ({decoded / length:.3g} : 1)"


def _named(names: Sequence[str]) -> str:
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
