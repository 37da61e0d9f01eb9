"""What the cells of a chunk map are coloured by: a small number for each, and what each number means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.chunk_log import ReadState
from refbrowser.model.reference import ReferenceKind
from refbrowser.views.chunks.chunk_map import (
    FINDINGS,
    NO_URL,
    NOTHING,
    OTHER_URL,
    READ_BY_AUDIT,
    UNKNOWN,
    Change,
    ChunkLayout,
    ChunkMapValues,
)

Classes = npt.NDArray[np.uint8]

#: Steps of a scale of sizes or times.
STEPS = 6
#: URLs that have a colour and pattern of their own; with more they come again.
URL_STYLES = 24


class ColourBy(StrEnum):
    """What the colour of a chunk says."""

    STATE = "state"
    SIZE = "size"
    URL = "url"
    TIME = "time"
    CHANGE = "change"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class MapClass:
    """What one number on the map means.

    Attributes
    ----------
    style
        How it looks, by name: ``range``, ``missing``, ``scale``, ``url``...
    number, total
        Which step of a scale, or which URL, of how many.
    label
        In words; empty for a step of a scale.
    low, high
        Ends of a step of a scale, in bytes or seconds.
    count
        Chunks of the map that have it.
    """

    style: str
    label: str = ""
    number: int = 0
    total: int = 1
    low: float | None = None
    high: float | None = None
    count: int = 0


@dataclass(frozen=True, slots=True)
class ColouredMap:
    """A map to be painted; a value.

    Attributes
    ----------
    rows, columns
        The cells of the layout that `classes` is about.
    classes
        Number of each cell, shape (rows, columns). 0 is nothing; where several chunks share a pixel the
        greatest number is seen, so what should not be missed has a great one.
    legend
        What each number means.
    stored, inline, missing, failed
        Chunks with a reference to other files, within the document, without one, and that cannot be read.
    stale
        Chunks of files that are not those of the lock.
    change
        `Change` of each cell, shaped as `classes`; None where edits changed none of them.
    changed
        Chunks that edits changed.
    is_complete
        Every cell was looked at.
    """

    layout: ChunkLayout
    rows: range
    columns: range
    by: ColourBy
    classes: Classes
    legend: tuple[MapClass, ...]
    stored: int
    inline: int
    missing: int
    failed: int
    is_complete: bool
    change: Classes | None = None
    changed: int = 0
    stale: int = 0

    @property
    def is_sampled(self) -> bool:
        """Whether chunks are left out."""
        return self.rows.step > 1 or self.columns.step > 1

    def class_at(self, row: int, column: int) -> MapClass:
        """Return what is known of the chunk in a cell of the layout."""
        down, across = self.position(row, column) or (-1, -1)
        return self.legend[int(self.classes[down, across])] if down >= 0 else self.legend[0]

    def is_changed(self, row: int, column: int) -> bool:
        """Tell whether edits changed the chunk in a cell of the layout."""
        position = None if self.change is None else self.position(row, column)
        return position is not None and self.change is not None and bool(self.change[position])

    def position(self, row: int, column: int) -> tuple[int, int] | None:
        """Return where in `classes` a cell of the layout is."""
        down, across = (
            (row - self.rows.start) // self.rows.step,
            (column - self.columns.start) // self.columns.step,
        )
        inside = 0 <= down < self.classes.shape[0] and 0 <= across < self.classes.shape[1]
        return (down, across) if inside else None

    def next_of(self, number: int, row: int, column: int) -> tuple[int, int] | None:
        """Return the next cell with a class in reading order; after the last one the first."""
        places = np.flatnonzero(self.classes == number)
        if not len(places):
            return None
        down, across = self.position(row, column) or (0, -1)
        at = int(np.searchsorted(places, down * self.classes.shape[1] + across, side="right"))
        down, across = divmod(int(places[at % len(places)]), self.classes.shape[1])
        return self.rows[down], self.columns[across]


def coloured(values: ChunkMapValues, by: ColourBy) -> ColouredMap:
    """Return the map of `values`, coloured by one of their columns."""
    classes, legend = _with_stale(values, *_MAKERS[by](values))
    counts = np.bincount(classes.ravel(), minlength=len(legend)).tolist()
    of_kind = np.bincount(values.kind.ravel(), minlength=256)
    failed = int(np.count_nonzero(values.state == ReadState.FAILED))
    changed = int(np.count_nonzero(values.change))
    return ColouredMap(
        values.layout,
        values.rows,
        values.columns,
        by,
        classes,
        tuple(
            MapClass(each.style, each.label, each.number, each.total, each.low, each.high, count)
            for each, count in zip(legend, counts, strict=True)
        ),
        stored=int(of_kind[[ReferenceKind.RANGE, ReferenceKind.WHOLE, ReferenceKind.DERIVED]].sum()),
        inline=int(of_kind[ReferenceKind.INLINE]),
        missing=int(of_kind[ReferenceKind.MISSING]),
        failed=failed + int(of_kind[ReferenceKind.FAULTY]),
        is_complete=values.is_complete,
        change=values.change.copy() if changed else None,
        changed=changed,
        stale=counts[-1] if legend[-1] is _STALE else 0,
    )


_NOTHING = MapClass("nothing")
_RANGE = MapClass("range", "stored")
_WHOLE = MapClass("whole", "stored as a whole file")
_READ = MapClass("read", "read")
_INLINE = MapClass("inline", "inline")
_DERIVED = MapClass("derived", "assembled from parts")
_MISSING = MapClass("missing", "missing")
_PENDING = MapClass("pending", "being read")
_FAULTY = MapClass("faulty", "faulty or lost")
_FAILED = MapClass("failed", "could not be read")
_STALE = MapClass("stale", "changed since the lock")


def _with_stale(
    values: ChunkMapValues, classes: Classes, legend: Sequence[MapClass]
) -> tuple[Classes, Sequence[MapClass]]:
    """Mark the chunks of stale files, whatever the colours say: none is to be taken for right."""
    if not values.stale.any():
        return classes, legend
    held = (values.url != NO_URL) & (values.kind < NOTHING) & (values.kind != ReferenceKind.FAULTY)
    held &= values.state != ReadState.FAILED
    # `OTHER_URL` is the last one.
    numbers = np.where(values.url == OTHER_URL, len(values.stale) - 1, np.maximum(values.url, 0))
    # URLs that were met since are looked at with the next news.
    known = numbers < len(values.stale)
    held &= known & values.stale[np.where(known, numbers, 0)]
    classes[held] = len(legend)
    return classes, (*legend, _STALE)


def _by_kind(values: ChunkMapValues, numbers: dict[int, int]) -> Classes:
    table = np.zeros(256, np.uint8)
    for kind, number in numbers.items():
        table[kind] = number
    return table[values.kind]


def _by_state(values: ChunkMapValues) -> tuple[Classes, Sequence[MapClass]]:
    legend = (_NOTHING, _RANGE, _WHOLE, _DERIVED, _READ, _INLINE, _MISSING, _PENDING, _FAULTY, _FAILED)
    kinds = {
        ReferenceKind.RANGE: _RANGE,
        ReferenceKind.WHOLE: _WHOLE,
        ReferenceKind.DERIVED: _DERIVED,
        ReferenceKind.INLINE: _INLINE,
        ReferenceKind.MISSING: _MISSING,
        ReferenceKind.FAULTY: _FAULTY,
    }
    classes = _by_kind(values, {kind: legend.index(each) for kind, each in kinds.items()})
    read, known = legend.index(_READ), values.state != ReadState.NONE
    if known.any():
        stored = np.isin(classes, [legend.index(each) for each in (_RANGE, _WHOLE, _DERIVED)])
        classes[stored & (values.state == ReadState.DONE)] = read
        held = classes > 0
        classes[held & (values.state == ReadState.PENDING)] = legend.index(_PENDING)
        classes[held & (values.state == ReadState.FAILED)] = legend.index(_FAILED)
    return classes, legend


def _by_size(values: ChunkMapValues) -> tuple[Classes, Sequence[MapClass]]:
    first = (
        _NOTHING,
        _MISSING,
        MapClass("whole", "stored, size not known"),
        MapClass("inline", "inline"),
        MapClass("derived", "in parts, size not known"),
    )
    kinds: dict[int, int] = {ReferenceKind.MISSING: 1, ReferenceKind.WHOLE: 2, ReferenceKind.INLINE: 3}
    classes = _by_kind(values, {**kinds, ReferenceKind.RANGE: 2, ReferenceKind.DERIVED: 4})
    sized = (values.kind != ReferenceKind.MISSING) & (values.kind < NOTHING) & (values.length >= 0)
    steps = _put_scale(classes, sized, values.length, len(first))
    faulty = len(first) + len(steps)
    classes[values.kind == ReferenceKind.FAULTY] = faulty
    return classes, (*first, *steps, _FAULTY)


def _by_time(values: ChunkMapValues) -> tuple[Classes, Sequence[MapClass]]:
    first = (
        _NOTHING,
        _MISSING,
        MapClass("plain", "not read"),
        MapClass("inline", "inline, or from the cache"),
    )
    stored = (ReferenceKind.RANGE, ReferenceKind.WHOLE, ReferenceKind.INLINE, ReferenceKind.DERIVED)
    kinds: dict[int, int] = dict.fromkeys(stored, 2)
    classes = _by_kind(values, {**kinds, ReferenceKind.MISSING: 1})
    done = (values.state == ReadState.DONE) & (classes > 0)
    classes[done] = 3
    steps = _put_scale(classes, done & ~np.isnan(values.seconds), values.seconds, len(first))
    rest = len(first) + len(steps)
    held = classes > 0
    classes[held & (values.state == ReadState.PENDING)] = rest
    classes[values.kind == ReferenceKind.FAULTY] = rest + 1
    classes[held & (values.state == ReadState.FAILED)] = rest + 2
    return classes, (*first, *steps, _PENDING, _FAULTY, _FAILED)


def _by_url(values: ChunkMapValues) -> tuple[Classes, Sequence[MapClass]]:
    first = (_NOTHING, _MISSING, _INLINE, _DERIVED)
    classes = _by_kind(values, {ReferenceKind.MISSING: 1, ReferenceKind.INLINE: 2, ReferenceKind.DERIVED: 3})
    count = len(values.urls)
    used = min(count, URL_STYLES)
    has_url = values.url != -1
    has_url &= values.kind < NOTHING
    table = (len(first) + np.arange(max(1, count)) % max(1, used)).astype(np.uint8)
    many = len(first) + used
    numbers = values.url[has_url]
    classes[has_url] = np.where(numbers == OTHER_URL, many, table[np.maximum(numbers, 0)])
    classes[values.kind == ReferenceKind.FAULTY] = many + 1
    legend = []
    for number in range(used):
        sharing = len(range(number, count, URL_STYLES))
        label = values.urls[number] if sharing == 1 else f"{sharing} URLs"
        legend.append(MapClass("url", label, number, used))
    return classes, (*first, *legend, MapClass("whole", "other URLs"), _FAULTY)


def _by_change(values: ChunkMapValues) -> tuple[Classes, Sequence[MapClass]]:
    legend = (
        _NOTHING,
        _MISSING,
        MapClass("plain", "as saved"),
        MapClass("changed", "changed"),
        MapClass("added", "added"),
        MapClass("removed", "removed"),
    )
    table = np.full(256, 2, np.uint8)
    table[[NOTHING, UNKNOWN]] = 0
    table[ReferenceKind.MISSING] = 1
    classes = table[values.kind]
    for change, number in ((Change.CHANGED, 3), (Change.ADDED, 4), (Change.REMOVED, 5)):
        classes[values.change == change] = number
    return classes, legend


def _by_audit(values: ChunkMapValues) -> tuple[Classes, Sequence[MapClass]]:
    audit = values.audit
    first = (
        _NOTHING,
        MapClass("unseen", "not looked at"),
        _MISSING,
        MapClass("asked", "its file was checked"),
        MapClass("sound", "read, and sound"),
    )
    legend = (
        *first,
        *(
            MapClass("fault" if audit.is_fault(number) else "warned", audit.title(number), number)
            for number in range(len(audit.codes))
        ),
    )
    table = np.full(256, 1, np.uint8)
    table[[NOTHING, UNKNOWN]] = 0
    table[ReferenceKind.MISSING] = 2
    classes = table[values.kind]
    asked = np.array([audit.states.get(url) == "" for url in values.urls], bool)
    if asked.any():
        has_url = (values.url >= 0) & (classes == 1)
        classes[has_url] = np.where(asked[values.url[has_url]], 3, 1)
    held = classes > 0
    classes[held & (values.audited == READ_BY_AUDIT)] = 4
    found = held & (values.audited >= FINDINGS)
    classes[found] = values.audited[found] + np.uint8(len(first) - FINDINGS)
    return classes, legend


_MAKERS = {
    ColourBy.STATE: _by_state,
    ColourBy.SIZE: _by_size,
    ColourBy.URL: _by_url,
    ColourBy.TIME: _by_time,
    ColourBy.CHANGE: _by_change,
    ColourBy.AUDIT: _by_audit,
}


def _put_scale(
    classes: Classes, which: npt.NDArray[np.bool_], numbers: npt.NDArray[Any], first: int
) -> list[MapClass]:
    """Give the marked cells classes from `first` on, by steps of equal ratio; returns what these mean."""
    marked = numbers[which]
    if not len(marked):
        return []
    low, high = float(marked.min()), float(marked.max())
    if low == high:
        classes[which] = first
        return [MapClass("scale", "", 0, 1, low, high)]
    least = max(low, high * 1e-6, 1e-6)
    edges = np.geomspace(least, high, STEPS + 1)[1:-1]
    if issubclass(marked.dtype.type, np.integer):
        edges = np.unique(np.ceil(edges))
    steps = np.searchsorted(edges, marked, side="right")
    classes[which] = first + steps
    bounds = [low, *edges.tolist(), high]
    return [
        MapClass("scale", "", number, len(bounds) - 1, bounds[number], bounds[number + 1])
        for number in range(len(bounds) - 1)
    ]
