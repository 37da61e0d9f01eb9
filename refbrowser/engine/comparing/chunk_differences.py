"""How the references of one array differ, chunk by chunk: by columns, a block of the grid at a time.

URLs are the same where they lead to the same place: after templates and rules, with relative ones put behind
the folder of their document, and paths that begin with ``file:`` taken for what they name.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, repeat
from math import prod
from typing import Any
from urllib.parse import urljoin

import numpy as np
import numpy.typing as npt

from refbrowser.engine.comparing.differences import ChunkComparison, ChunkExample, ChunkState
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
    with_used_urls,
)
from refbrowser.references.content.reference_values import BASE64_PREFIX
from refbrowser.references.edits.many_edits import is_relative

Ints = npt.NDArray[np.int64]
States = npt.NDArray[np.uint8]

#: Chunks that are looked at together.
BLOCK = 1 << 18
#: Chunks of one array that are looked at; of larger grids blocks are, spread over it.
MOST = 20_000_000
#: Chunks of one array whose states are kept.
KEPT = 1 << 24
#: Bytes in documents, and faults, that are compared one by one, of each array.
ONE_BY_ONE = 200_000
#: Examples of each state.
EXAMPLES = 5
#: Blocks of a grid that is too large to be looked at as a whole.
_SPREAD = 16

_STATE = {state: np.uint8(state) for state in ChunkState}


def compare_chunks(
    here: ArrayNode,
    there: ArrayNode,
    datasets: tuple[Dataset, Dataset],
    control: JobControl,
    *,
    are_copies: bool = False,
) -> ChunkComparison:
    """Return how the references of an array differ.

    Parameters
    ----------
    are_copies
        Both datasets are files with the same bytes.
    """
    why = _obstacle(here, there)
    if why:
        return ChunkComparison(why=why)
    return _Chunks(here, there, datasets, control, are_copies).compared()


def _obstacle(here: ArrayNode, there: ArrayNode) -> str:
    """Return why there is nothing to be compared; empty where there is."""
    for node in (here, there):
        if not node.has_manifest:
            return "it is not known where the chunks of one of them are"
    if here.grid.ndim != there.grid.ndim:
        return "the arrays differ in their number of dimensions"
    if not here.grid.agrees(there.grid):
        return "the chunk shapes differ"
    return ""


@dataclass(slots=True)
class _Side:
    """One of both arrays."""

    node: ArrayNode
    dataset: Dataset
    grid: tuple[int, ...]
    faulty: int = 0

    def columns(self, coords: Ints) -> tuple[ReferenceColumns, Ints]:
        """Return the references of those chunks that lie in the grid, and which these are."""
        inside = np.ones(len(coords), bool)
        for axis, size in enumerate(self.grid):
            inside &= coords[:, axis] < size
        rows = np.flatnonzero(inside)
        return self.node.manifest.columns(coords if len(rows) == len(coords) else coords[rows]), rows

    def is_own(self, url: str) -> bool:
        """Tell whether a URL lies in the store or file that the dataset is."""
        return self.dataset.document.is_at_place(url)

    def place_in_copy(self, url: str) -> str:
        """Return a URL as it is in the file, whatever that is called."""
        if not self.is_own(url):
            return url
        (place,) = self.dataset.document.places.values()
        return url.replace(place, "\0")

    def place(self, url: str) -> str:
        """Return where a URL leads."""
        return absolute_url(url, self.dataset) if _may_lead(url) else url


@dataclass(slots=True, eq=False)
class _Full:
    """References with a row for each chunk of a block, in numbers that both sides share."""

    kind: npt.NDArray[np.uint8]
    url: Ints
    offset: Ints
    length: Ints
    columns: ReferenceColumns
    row: Ints


class _Urls:
    """Numbers for the URLs of both sides: the same text has the same one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        #: The last tables of URLs, with the number of each: documents give the same one for all blocks.
        self._known: list[tuple[tuple[str, ...], Ints | None]] = []

    def of(self, columns: ReferenceColumns) -> Ints:
        """Return the number of the URL of each row; -1 where it has none."""
        urls = columns.urls
        if not urls:
            return np.full(len(columns), -1, np.int64)
        found = next((at for at, (table, _) in enumerate(self._known) if table is urls), None)
        if found is None and len(urls) > 2 * len(columns):
            # Of a large table few are wanted, so far.
            self._known = [(urls, None), *self._known[:3]]
            used = with_used_urls(columns)
            return self._placed(used, self._table(used.urls))
        numbers = None if found is None else self._known[found][1]
        if numbers is None:
            numbers = self._table(urls)
            others = [each for each in self._known if each[0] is not urls]
            self._known = [(urls, numbers), *others[:3]]
        return self._placed(columns, numbers)

    @staticmethod
    def _placed(columns: ReferenceColumns, numbers: Ints) -> Ints:
        if not len(numbers):
            return np.full(len(columns), -1, np.int64)
        return np.where(columns.url >= 0, numbers[columns.url], -1)

    def _table(self, urls: tuple[str, ...]) -> Ints:
        # A million URLs may be new: no step of Python for each.
        known, texts = self._numbers, self.texts
        numbers = np.fromiter(map(known.get, urls, repeat(-1)), np.int64, len(urls))
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            new = list(dict.fromkeys(map(urls.__getitem__, missing.tolist())))
            known.update(zip(new, count(len(texts)), strict=False))
            texts += new
            numbers[missing] = np.fromiter(
                (known[urls[at]] for at in missing.tolist()), np.int64, len(missing)
            )
        return numbers


@dataclass(slots=True, eq=False)
class _Chunks:
    """The comparison of one array, as it goes on."""

    here_node: ArrayNode
    there_node: ArrayNode
    datasets: tuple[Dataset, Dataset]
    control: JobControl
    are_copies: bool = False
    by_bytes: bool = False
    urls: _Urls = field(default_factory=_Urls)
    left: int = ONE_BY_ONE
    checked: int = 0
    same_urls: bool = False
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(ChunkState), np.int64))
    examples: list[ChunkExample] = field(default_factory=list)

    def compared(self) -> ChunkComparison:
        here, there = (
            _Side(node, dataset, node.manifest.grid_shape)
            for node, dataset in zip((self.here_node, self.there_node), self.datasets, strict=True)
        )
        grid = tuple(max(pair) for pair in zip(here.grid, there.grid, strict=True))
        size = prod(grid)
        states = np.full(size, ChunkState.UNDECIDED, np.uint8) if size <= KEPT else None
        for start, stop in _blocks(size):
            self.control.check()
            coords = _coords(grid, start, stop)
            found = self._block(here, there, coords)
            self.checked += stop - start
            self.counts += np.bincount(found, minlength=len(ChunkState))
            if states is not None:
                states[start:stop] = found
            self.control.progress(self.checked, size, note=here.node.path)
        self.counts[ChunkState.UNDECIDED] += size - self.checked
        self._settle_apart(states)
        counts = {state: int(self.counts[state]) for state in ChunkState}
        return ChunkComparison(
            grid,
            counts,
            None if states is None else states.reshape(grid),
            tuple(sorted(self.examples, key=lambda each: (each.state, each.coords))),
            self.checked,
            here.faulty,
            there.faulty,
            self.by_bytes,
        )

    def _settle_apart(self, states: States | None) -> None:
        """Count chunks in files of their own as changed where both sides share files after all."""
        apart = int(self.counts[ChunkState.APART])
        if not apart or not self.same_urls:
            self.examples = [each for each in self.examples if each.state is not ChunkState.APART]
            return
        self.counts[ChunkState.APART] = 0
        self.counts[ChunkState.CHANGED] += apart
        if states is not None:
            states[states == ChunkState.APART] = ChunkState.CHANGED
        self.examples = [
            ChunkExample(ChunkState.CHANGED, *_fields(each)) if each.state is ChunkState.APART else each
            for each in self.examples
        ]

    def _block(self, here: _Side, there: _Side, coords: Ints) -> States:
        mine, theirs = self._full(here, coords), self._full(there, coords)
        states = np.full(len(coords), ChunkState.CHANGED, np.uint8)
        gone, absent = mine.kind == ReferenceKind.MISSING, theirs.kind == ReferenceKind.MISSING
        states[gone & absent] = ChunkState.MISSING
        states[~gone & absent] = ChunkState.ONLY_HERE
        states[gone & ~absent] = ChunkState.ONLY_THERE
        both = ~gone & ~absent
        self._by_place(mine, theirs, both, states, (here, there))
        derived = both & ((mine.kind == ReferenceKind.DERIVED) | (theirs.kind == ReferenceKind.DERIVED))
        states[derived] = ChunkState.APART
        self._by_bytes(mine, theirs, both & ~derived, states)
        self._by_faults(mine, theirs, both & ~derived, states)
        here.faulty += int((mine.kind == ReferenceKind.FAULTY).sum())
        there.faulty += int((theirs.kind == ReferenceKind.FAULTY).sum())
        self._keep_examples(mine, theirs, coords, states, (here, there))
        return states

    def _full(self, side: _Side, coords: Ints) -> _Full:
        columns, rows = side.columns(coords)
        url = self.urls.of(columns)
        if len(rows) == len(coords):
            offset, length = columns.offset.astype(np.int64), columns.length.astype(np.int64)
            return _Full(columns.kind, url, offset, length, columns, rows)
        full = [np.full(len(coords), number, np.int64) for number in (-1, 0, -1, -1)]
        kind = np.full(len(coords), ReferenceKind.MISSING, np.uint8)
        kind[rows] = columns.kind
        for column, part in zip(
            full, (url, columns.offset, columns.length, np.arange(len(rows))), strict=True
        ):
            column[rows] = part
        return _Full(kind, full[0], full[1], full[2], columns, full[3])

    def _by_place(
        self,
        mine: _Full,
        theirs: _Full,
        both: npt.NDArray[np.bool_],
        states: States,
        sides: tuple[_Side, _Side],
    ) -> None:
        """Compare references with a URL."""
        placed = both & (mine.url >= 0) & (theirs.url >= 0)
        same_url = placed & (mine.url == theirs.url)
        # Of documents in other folders the same text may lead elsewhere.
        bases = {side.dataset.access.base for side in sides}
        open_ = np.flatnonzero(placed if len(bases) > 1 else placed & ~same_url)
        if len(open_):
            same_url[open_] = self._lead_alike(mine.url[open_], theirs.url[open_], sides, _Side.place)
        self.same_urls |= bool(same_url.any())
        alike = mine.kind == theirs.kind
        same_length = mine.length == theirs.length
        range_ = alike & (mine.kind == ReferenceKind.RANGE)
        whole = alike & (mine.kind == ReferenceKind.WHOLE)
        states[placed & range_ & same_length] = ChunkState.MOVED
        states[placed & whole] = ChunkState.MOVED
        states[same_url & range_ & same_length & (mine.offset == theirs.offset)] = ChunkState.SAME
        states[same_url & whole] = ChunkState.SAME
        apart = np.flatnonzero(placed & ~same_url)
        if len(apart):
            own = self._in_own_files(mine.url[apart], theirs.url[apart], sides)
            states[apart[own]] = ChunkState.APART
            if self.are_copies:
                self._by_copies(mine, theirs, apart[own], states, sides)

    def _lead_alike(
        self, mine: Ints, theirs: Ints, sides: tuple[_Side, _Side], place: Callable[[_Side, str], str]
    ) -> npt.NDArray[np.bool_]:
        """Return which of pairs of URLs lead to the same place."""
        found: dict[str, int] = {}
        numbers = []
        for column, side in zip((mine, theirs), sides, strict=True):
            distinct, at = np.unique(column, return_inverse=True)
            texts = [self.urls.texts[number] for number in distinct.tolist()]
            places = [place(side, each) for each in texts]
            numbers.append((texts, places, at))
        if all(texts == places for texts, places, _ in numbers):
            # Nothing was said in another way.
            return mine == theirs
        columns = [
            np.array([found.setdefault(each, len(found)) for each in places], np.int64)[at]
            for _, places, at in numbers
        ]
        return np.asarray(columns[0] == columns[1])

    def _in_own_files(self, mine: Ints, theirs: Ints, sides: tuple[_Side, _Side]) -> npt.NDArray[np.bool_]:
        """Return which of pairs lie in what one dataset is, and the other is not."""
        own = np.zeros(len(mine), bool)
        if not any(side.dataset.document.rules_are_made for side in sides):
            return own
        one, two = sides
        for column, side, other in ((mine, one, two), (theirs, two, one)):
            distinct, at = np.unique(column, return_inverse=True)
            texts = [self.urls.texts[number] for number in distinct.tolist()]
            lies = [side.is_own(text) and not other.is_own(text) for text in texts]
            own |= np.array(lies, dtype=np.bool_)[at]
        return own

    def _by_copies(
        self, mine: _Full, theirs: _Full, own: Ints, states: States, sides: tuple[_Side, _Side]
    ) -> None:
        """Compare ranges of two files with the same bytes."""
        same = (mine.kind == theirs.kind) & (mine.offset == theirs.offset) & (mine.length == theirs.length)
        own = own[same[own]]
        own = own[self._lead_alike(mine.url[own], theirs.url[own], sides, _Side.place_in_copy)]
        states[own] = ChunkState.SAME
        self.by_bytes |= bool(len(own))

    def _by_bytes(self, mine: _Full, theirs: _Full, both: npt.NDArray[np.bool_], states: States) -> None:
        """Compare chunks of which a document has the bytes."""
        inline = mine.kind == ReferenceKind.INLINE, theirs.kind == ReferenceKind.INLINE
        held = both & (inline[0] | inline[1])
        if not held.any():
            return
        for at in np.flatnonzero(held).tolist():
            if not self.left:
                states[at] = ChunkState.UNDECIDED
                continue
            self.left -= 1
            states[at] = _state_of_bytes(_data(mine, at), _data(theirs, at))

    def _by_faults(self, mine: _Full, theirs: _Full, both: npt.NDArray[np.bool_], states: States) -> None:
        """Compare references that cannot be read: they are the same where the reason is."""
        faulty = mine.kind == ReferenceKind.FAULTY, theirs.kind == ReferenceKind.FAULTY
        for at in np.flatnonzero(both & (faulty[0] | faulty[1])).tolist():
            if not self.left:
                states[at] = ChunkState.UNDECIDED
                continue
            self.left -= 1
            faults = [
                full.columns.faults[int(full.row[at])] if full.kind[at] == ReferenceKind.FAULTY else None
                for full in (mine, theirs)
            ]
            if any(fault is not None and fault.kind is ErrorKind.BUDGET for fault in faults):
                states[at] = ChunkState.UNDECIDED
            elif faults[0] is not None and faults[1] is not None:
                alike = faults[0].message == faults[1].message
                states[at] = ChunkState.SAME if alike else ChunkState.CHANGED
            else:
                states[at] = ChunkState.CHANGED

    def _keep_examples(
        self, mine: _Full, theirs: _Full, coords: Ints, states: States, sides: tuple[_Side, _Side]
    ) -> None:
        for state in (*filter(lambda each: each.differs, ChunkState), ChunkState.APART):
            wanted = EXAMPLES - sum(each.state is state for each in self.examples)
            if wanted <= 0:
                continue
            for at in np.flatnonzero(states == _STATE[state])[:wanted].tolist():
                place = tuple(coords[at].tolist())
                keys = [side.node.manifest.key(place) for side in sides]
                texts = [_reference_text(full, at) for full in (mine, theirs)]
                self.examples.append(ChunkExample(state, place, *keys, *texts))


def absolute_url(url: str, dataset: Dataset) -> str:
    """Return where a URL of a document leads, as text: without looking at files."""
    if url.startswith("file:///"):
        url = url[len("file://") :]
    access = dataset.access
    if not is_relative(url) or not access.base:
        return url
    if access.from_network:
        return urljoin(access.base, url)
    return os.path.normpath(os.path.join(access.base, url))


def _may_lead(url: str) -> bool:
    """Tell whether a URL may lead elsewhere than its text says: a relative one, or the path of a file."""
    return "://" not in url or url.startswith("file:")


def _fields(example: ChunkExample) -> tuple[Any, ...]:
    return example.coords, example.key_here, example.key_there, example.here, example.there


def _blocks(size: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks of a grid; of one that is too large some, spread over it."""
    if size <= MOST:
        for start in range(0, size, BLOCK):
            yield start, min(start + BLOCK, size)
        return
    for number in range(_SPREAD):
        start = (size - BLOCK) * number // (_SPREAD - 1)
        yield start, start + BLOCK


def _coords(grid: tuple[int, ...], start: int, stop: int) -> Ints:
    if not grid:
        return np.zeros((1, 0), np.int64)
    columns = np.unravel_index(np.arange(start, stop, dtype=np.int64), grid)
    return np.stack(columns, axis=1).astype(np.int64, copy=False)


def _data(full: _Full, at: int) -> bytes | int | None:
    """Return the bytes that a document has of a chunk; else its length, None where that is not known."""
    if full.kind[at] == ReferenceKind.INLINE:
        return full.columns.inline[int(full.row[at])]
    length = int(full.length[at])
    return length if full.kind[at] == ReferenceKind.RANGE and length >= 0 else None


def _state_of_bytes(mine: bytes | int | None, theirs: bytes | int | None) -> ChunkState:
    if isinstance(mine, bytes) and isinstance(theirs, bytes):
        return ChunkState.SAME if mine == theirs else ChunkState.CHANGED
    sizes = [len(each) if isinstance(each, bytes) else each for each in (mine, theirs)]
    return ChunkState.MOVED if sizes[0] == sizes[1] else ChunkState.CHANGED


def _reference_text(full: _Full, at: int) -> str:
    """Return a reference as documents write it, whole; empty where there is none."""
    if full.kind[at] == ReferenceKind.DERIVED:
        return "made of parts of the file"
    try:
        return reference_text(full.columns.reference(int(full.row[at]))) if full.row[at] >= 0 else ""
    except RefbrowserError as error:
        return f"cannot be read: {error.message}"


def reference_text(reference: Reference) -> str:
    """Return a reference as documents write it; empty for a missing one."""
    if isinstance(reference, ByteRange):
        return json.dumps([reference.url, reference.offset, reference.length], ensure_ascii=False)
    if isinstance(reference, WholeFile):
        return json.dumps([reference.url], ensure_ascii=False)
    return _bytes_text(reference.data) if isinstance(reference, Inline) else ""


def _bytes_text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return BASE64_PREFIX + base64.b64encode(data).decode("ascii")
