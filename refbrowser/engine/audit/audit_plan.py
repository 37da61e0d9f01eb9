"""What an audit would ask for, and what that costs: a value that is made without reading anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.declarations.declarations_beside import declarations_of
from refbrowser.engine.expectations.expectation_sources import ExpectationSources, expectation_sources
from refbrowser.engine.findings.chunk_table import ChunkOwner, ChunkTable, Ints, coords_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.option_fields import Item, Kind, documented, option
from refbrowser.io.access.access import storage_url
from refbrowser.io.plan import LOCAL, Link, plan_ranges
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.declarations.declared_arrays import Bounds, Declarations
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access.access import Location

#: Chunks of each array that are read at the level *sample* where nothing else is said.
SAMPLE = 10
#: Above so many requests, bytes or seconds an audit asks first.
MOST_REQUESTS, MOST_BYTES, MOST_SECONDS = 20_000, 2 << 30, 600.0
#: Bytes that are taken for a whole file of unknown size.
_FILE = 1 << 20
#: Seconds in which the chunks are looked up.
_SECONDS = 60.0


class Level(StrEnum):
    """How far an audit goes; each level does what those before it do."""

    SET = "set"
    STAT = "stat"
    SAMPLE = "sample"
    FULL = "full"

    @classmethod
    def named(cls, text: str) -> Level:
        """Return the level of a name.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no such level.
        """
        if text not in list(cls):
            message = f"{quoted(text)} is not a level of an audit"
            raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(cls)}")
        return cls(text)

    @property
    def asks(self) -> bool:
        """Whether the state of each file is asked for."""
        return self is not Level.SET

    @property
    def reads(self) -> bool:
        """Whether chunks are read."""
        return self in (Level.SAMPLE, Level.FULL)


@documented
@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What is to be audited."""

    level: Level = field(
        default=Level.SET,
        metadata=option(
            "--level",
            "set: nothing is read, as refbrowser check; stat: size and state of each file; sample: some "
            "chunks of each array, read and decoded; full: every chunk",
            about="How far it goes.",
            kind=Kind.CHOICE,
            parse=Level.named,
            title="How far the audit goes",
            items=(
                Item("set", "the document alone"),
                Item("stat", "its files: there, and whole?"),
                Item("sample", "some chunks, too: decodable?"),
                Item("full", "every chunk"),
            ),
        ),
    )
    arrays: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--array ARRAY",
            "look at this array only (repeatable)",
            about="Paths of the arrays whose files and chunks are looked at; all where it is empty. What "
            "needs no reading is told of the whole dataset.",
            kind=Kind.TEXTS,
            title="Arrays to check",
        ),
    )
    sample: int = field(
        default=SAMPLE,
        metadata=option(
            "--sample N",
            f"chunks of each array at the level sample ({SAMPLE})",
            about="Chunks of each array that are read at the level *sample*.",
            kind=Kind.NUMBER,
            limits=(1, 1_000_000),
            unit="of each array",
            title="Chunks of each array that are read",
        ),
    )
    resume: bool = field(
        default=False,
        metadata=option(
            "--resume",
            "go on where it was interrupted",
            about="Go on where an audit of the same document and the same request was interrupted.",
            kind=Kind.TICK,
            means=True,
            label="Go on",
            tip="Continue an interrupted audit with the same settings",
        ),
    )
    lock: bool = field(
        default=False,
        metadata=option(
            "--compare-lock",
            "compare each file with DOC.lock.json, whatever the level",
            about="Compare the files with the lock of the document, whatever the level.",
            kind=Kind.TICK,
            means=True,
            title="Compare with the lock",
            label="Compare with the &lock",
            tip="Compare each file with the lock beside the document",
        ),
    )
    expect: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--expect WHAT",
            "what should be there: 'every month from 2015' [to 2024-12] [of VAR,VAR] [in PATTERN], "
            "time=2015-01:2024-12:month, DOC.expect.json, a document with its rules, or branch=NAME "
            "(repeatable; what DOC.expect.json says where it is not given)",
            about="What should be there, in words, or files that say so; what is said beside the document "
            "where it is empty.",
            kind=Kind.TEXTS,
            title="What should be there",
        ),
    )
    late: str = field(
        default="",
        metadata=option(
            "--late TIME",
            "how long after its end a period may be missing: 10d, 12h, P1M",
            about="How long after its end an expected period may be missing, as ``10d``.",
            title="May be late by",
        ),
    )
    declares: str = field(
        default="",
        metadata=option(
            "--declares FILE",
            "hold arrays against the properties that this file declares, and values that are read against "
            "their range (default: PATH.expect.json, where it is there)",
            about="A file whose member ``declares`` says what arrays are like; that beside the document "
            "where it is empty.",
            title="Declared properties",
            tip="A file that says which properties arrays should have; empty for the one beside the document",
        ),
    )


@dataclass(frozen=True, slots=True)
class BlockedOrigin:
    """A place that an audit may not look at: how many files and references lie there, and what allows it."""

    origin: str
    urls: int
    references: int
    advice: str


@dataclass(frozen=True, slots=True)
class AuditCost:
    """What an audit asks for.

    Attributes
    ----------
    urls
        Files whose state is asked for.
    chunks
        Chunks that are read.
    compared
        Files that are compared with the lock.
    requests, size, seconds
        Requests and bytes in all, and how long they take by what is known of the links.
    is_exact
        Whether all sizes are known; a whole file counts as one MiB where its is not.
    blocked
        What may not be looked at, and is no part of it.
    """

    urls: int = 0
    chunks: int = 0
    requests: int = 0
    size: int = 0
    seconds: float = 0.0
    is_exact: bool = True
    blocked: tuple[BlockedOrigin, ...] = ()
    compared: int = 0

    @property
    def is_large(self) -> bool:
        """Whether it is asked for first."""
        return self.requests > MOST_REQUESTS or self.size > MOST_BYTES or self.seconds > MOST_SECONDS


@dataclass(frozen=True, slots=True, eq=False)
class ChosenChunks:
    """The chunks of one array that are read: numbers in C order of the grid."""

    node: ArrayNode
    grid_shape: tuple[int, ...]
    numbers: Ints

    @property
    def path(self) -> str:
        """The path of the array."""
        return self.node.path

    def coords(self) -> Ints:
        """Return their coordinates, shape (n, ndim)."""
        return coords_of(self.numbers, self.grid_shape)


@dataclass(frozen=True, slots=True, eq=False)
class AuditPlan:
    """What an audit would ask for.

    Attributes
    ----------
    request
        What was asked.
    table
        The chunks of the arrays as columns.
    urls
        Positions in ``table.urls`` of the files that are asked about: permitted ones that chunks use.
    others
        Further files of the dataset, such as a stream itself.
    chosen
        The chunks that are read.
    locked
        Files that are compared with the lock, as the document spells them.
    cost
        What it costs.
    expected
        What should be there.
    declared
        What arrays are held against; why that is nothing where the file beside the document is of no use.
    """

    request: AuditRequest
    table: ChunkTable
    urls: tuple[int, ...] = ()
    others: tuple[str, ...] = ()
    chosen: tuple[ChosenChunks, ...] = ()
    locked: tuple[str, ...] = ()
    cost: AuditCost = field(default_factory=AuditCost)
    expected: ExpectationSources = field(default_factory=ExpectationSources)
    declared: Declarations | RefbrowserError = field(default_factory=Declarations)

    def bounds_of(self, path: str) -> Bounds | None:
        """Return the declared bounds of the values of an array; None where there are none."""
        found = self.declared.bounded(path) if isinstance(self.declared, Declarations) else None
        return None if found is None else found.bounds


def plan_audit(dataset: Dataset, request: AuditRequest) -> AuditPlan:
    """Return what an audit would ask for; nothing is read.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such array, the sample is no number of chunks, the document has no lock, or
        what is expected says nothing; the file with declared properties that is named cannot be read, or is
        none.
    """
    return replace(_plan_of(dataset, request), declared=_declared(dataset, request))


def _declared(dataset: Dataset, request: AuditRequest) -> Declarations | RefbrowserError:
    try:
        return declarations_of(request.declares, dataset.path)
    except RefbrowserError as error:
        if request.declares:
            raise
        return error


def _plan_of(dataset: Dataset, request: AuditRequest) -> AuditPlan:
    if request.sample < 1:
        raise RefbrowserError(ErrorKind.USAGE, f"{request.sample} is not a number of chunks: give 1 or more")
    nodes = _nodes(dataset, request.arrays)
    asks = request.level.asks
    expected = expectation_sources(dataset, request.expect, request.late, asks=asks)
    return replace(_plan(dataset, request, nodes), expected=expected)


def _plan(dataset: Dataset, request: AuditRequest, nodes: list[ArrayNode]) -> AuditPlan:
    if not (request.level.asks or request.lock):
        return AuditPlan(request, ChunkTable())
    paths = {node.path for node in nodes}
    table = ChunkTable.of(dataset.document, dataset.hierarchy, SearchTime(seconds=_SECONDS), paths)
    places = _Places(dataset, table)
    locked = _locked(dataset, table, request) if request.lock else ()
    if not request.level.asks:
        return AuditPlan(
            request, table, locked=locked, cost=_with_lock(AuditCost(), dataset, locked, request.level)
        )
    known = {owner.node.path for owner in table.owners}
    others = tuple(
        url for url in dict.fromkeys(dataset.document.places.values())
        if not paths <= known and places.is_file(url)
    )  # fmt: skip
    chosen: tuple[ChosenChunks, ...] = ()
    if request.level.reads:
        most = None if request.level is Level.FULL else request.sample
        chosen = (*_of_table(table, places, most), *_of_others(nodes, known, most))
    cost = _with_lock(places.cost(chosen, len(others)), dataset, locked, request.level)
    return AuditPlan(request, table, tuple(places.permitted.tolist()), others, chosen, locked, cost)


def _locked(dataset: Dataset, table: ChunkTable, request: AuditRequest) -> tuple[str, ...]:
    """Return the files that are compared with the lock: of chosen arrays theirs."""
    from refbrowser.engine.locking import files_of

    if dataset.access.memory.locked is None:
        message = "the document has no usable lock"
        place = Place(document=dataset.path)
        raise RefbrowserError(ErrorKind.USAGE, message, place, "write one: refbrowser lock DOC")
    files = files_of(dataset.document)
    if request.arrays:
        used = {storage_url(url) for url in table.urls}
        files = [url for url in files if url in used]
    return tuple(files)


def _with_lock(cost: AuditCost, dataset: Dataset, locked: tuple[str, ...], level: Level) -> AuditCost:
    """Return what an audit costs with comparing files with the lock."""
    from refbrowser.engine.audit.lock_comparing import lock_cost, with_whole

    watch = dataset.access.memory.locked
    if watch is None or not locked:
        return cost
    whole = with_whole(locked, watch.lock) if level is Level.FULL else ()
    more = lock_cost(locked, watch.lock, whole)
    shares = Counter(dataset.session.fetcher.links(locked, dataset.access))
    seconds = max(
        link.time(more.bytes * count / len(locked), more.most_requests * count / len(locked))
        for link, count in shares.items()
    )
    return replace(
        cost,
        requests=cost.requests + more.most_requests,
        size=cost.size + more.bytes,
        seconds=cost.seconds + seconds,
        compared=more.files,
    )


def _nodes(dataset: Dataset, paths: Sequence[str]) -> list[ArrayNode]:
    """Return the arrays that are asked for."""
    arrays = [node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)]
    if not paths:
        return arrays
    by_path = {node.path: node for node in arrays}
    found = []
    for path in paths:
        node = by_path.get(path if path.startswith("/") else f"/{path}")
        if node is None:
            raise RefbrowserError(ErrorKind.USAGE, f"there is no array {quoted(path)}")
        found.append(node)
    return found


class _Places:
    """Where the files of a table lie, and which of them may be looked at."""

    def __init__(self, dataset: Dataset, table: ChunkTable) -> None:
        self._dataset, self._table = dataset, table
        count = len(table.urls)
        self.uses = np.bincount(table.url, minlength=count) if count else np.zeros(0, np.int64)
        #: Of each file: whether it may be read, and the link to it by number.
        self.may = np.zeros(count, bool)
        self._link = np.zeros(count, np.int64)
        self._links: dict[str, int] = {"": 0}
        self._blocked: dict[str, list[int]] = {}
        self._advice: dict[str, str] = {}
        for number in np.flatnonzero(self.uses).tolist():
            self._look(number)
        self.permitted = np.flatnonzero((self.uses > 0) & self.may)

    def _look(self, number: int) -> None:
        access, url = self._dataset.access, self._table.urls[number]
        try:
            location = access.locate(url)
        except RefbrowserError:
            # It can never be read: the state that is asked for tells why.
            self.may[number] = True
            return
        if not access.permits(location):
            self._block(location, int(self.uses[number]))
            return
        self.may[number] = True
        if location.scheme != "file":
            name = str(location.origin)
            self._link[number] = self._links.setdefault(name, len(self._links))

    def _block(self, location: Location, count: int) -> None:
        name = str(location.origin)
        counts = self._blocked.setdefault(name, [0, 0])
        counts[0] += 1
        counts[1] += count
        self._advice.setdefault(name, location.origin.how_to_allow)

    def is_file(self, url: str) -> bool:
        """Tell whether a place of the document is a file that may be looked at; what may not is noted."""
        try:
            location = self._dataset.access.locate(url)
        except RefbrowserError:
            return False
        if self._dataset.document.store is not None and self._dataset.document.store.container != "zip":
            return False
        if not self._dataset.access.permits(location):
            self._block(location, 1)
            return False
        return not location.member

    def cost(self, chosen: Iterable[ChosenChunks], others: int) -> AuditCost:
        """Return what asking about all files, and reading chosen chunks, costs."""
        links = [self._link_of(name) for name in self._links]
        urls = np.bincount(self._link[self.permitted], minlength=len(links))
        requests, size, seconds = int(urls.sum()) + others, 0, 0.0
        for link, count in zip(links, urls.tolist(), strict=True):
            seconds = max(seconds, link.time(0, count) if count else 0.0)
        columns = self._columns(chosen)
        chunks = sum(len(each.numbers) for each in chosen)
        is_whole = columns.kind == ReferenceKind.WHOLE
        if len(columns):
            plan = plan_ranges(columns, [links[number] for number in self._link.tolist()])
            requests += plan.request_count
            size = plan.useful_bytes + plan.wasted_bytes + _FILE * int(is_whole.sum())
            hosts = self._link[plan.segment_url]
            counts = np.bincount(hosts, np.diff(plan.requests_of), minlength=len(links))
            lengths = np.where(plan.segment_stop < 0, _FILE, plan.segment_stop - plan.segment_start)
            sizes = np.bincount(hosts, lengths, minlength=len(links))
            seconds += max(
                (
                    link.time(float(sizes[at]), float(counts[at]))
                    for at, link in enumerate(links)
                    if counts[at]
                ),
                default=0.0,
            )
        blocked = tuple(
            BlockedOrigin(name, counts[0], counts[1], self._advice[name])
            for name, counts in self._blocked.items()
        )
        return AuditCost(
            len(self.permitted) + others, chunks, requests, size, seconds, not is_whole.any(), blocked
        )

    def _link_of(self, name: str) -> Link:
        return self._dataset.session.fetcher.link_to(name) if name else LOCAL

    def _columns(self, chosen: Iterable[ChosenChunks]) -> ReferenceColumns:
        """Return the references of chosen chunks that are read from files."""
        table = self._table
        picked = np.zeros(len(table.owner), bool)
        positions = {owner.node.path: at for at, owner in enumerate(table.owners)}
        for each in chosen:
            at = positions.get(each.path)
            if at is not None:
                first, last = np.searchsorted(table.owner, [at, at + 1])
                order = np.sort(each.numbers)
                near = np.minimum(order.searchsorted(table.number[first:last]), max(len(order) - 1, 0))
                picked[first:last] = order[near] == table.number[first:last] if len(order) else False
        rows = np.flatnonzero(picked & (self.may[table.url] if len(table.url) else False))
        return ReferenceColumns(
            np.where(table.length[rows] < 0, ReferenceKind.WHOLE, ReferenceKind.RANGE).astype(np.uint8),
            table.url[rows],
            table.offset[rows],
            table.length[rows],
            tuple(table.urls),
        )


def _of_table(table: ChunkTable, places: _Places, most: int | None) -> Iterable[ChosenChunks]:
    """Yield the chunks of each array that are read: of all that may be, or of `most` of them."""
    for position, owner in enumerate(table.owners):
        first, last = np.searchsorted(table.owner, [position, position + 1])
        may = places.may[table.url[first:last]]
        numbers, url = table.number[first:last][may], table.url[first:last][may]
        if most is not None:
            numbers = numbers[spread(url, most)]
        inline = owner.inline if most is None else _ends(owner, max(most - len(numbers), 1))
        everything = np.unique(np.concatenate([numbers, inline]))
        if len(everything):
            yield ChosenChunks(owner.node, owner.manifest.grid_shape, everything)


def _ends(owner: ChunkOwner, most: int) -> Ints:
    """Return some of the chunks whose bytes stand in the document."""
    return owner.inline[_evenly(len(owner.inline), most)]


def _of_others(nodes: Iterable[ArrayNode], known: set[str], most: int | None) -> Iterable[ChosenChunks]:
    """Yield the chunks of arrays that are made from any number of ranges."""
    for node in nodes:
        if node.path in known or not node.has_manifest or node.dtype is None or node.nested is not None:
            continue
        grid = node.manifest.grid_shape
        total = node.grid.size
        numbers = np.arange(total, dtype=np.int64) if most is None else _evenly(total, most)
        if len(numbers):
            yield ChosenChunks(node, grid, numbers)


def _evenly(count: int, most: int) -> Ints:
    """Return up to `most` numbers below `count`, the first and the last among them, evenly spread."""
    if count <= most:
        return np.arange(count, dtype=np.int64)
    if most == 1:
        return np.zeros(1, np.int64)
    return np.linspace(0, count - 1, most).round().astype(np.int64)


def spread(url: Ints | np.ndarray[tuple[int], np.dtype[np.int32]], most: int) -> Ints:
    """Return which of the chunks of an array are read as a sample: both ends, and others over its files.

    Parameters
    ----------
    url
        The file of each, by number.
    most
        How many.
    """
    count = len(url)
    if count <= most:
        return np.arange(count, dtype=np.int64)
    chosen = dict.fromkeys((0, count - 1) if most > 1 else (0,))
    _, firsts, sizes = np.unique(url, return_index=True, return_counts=True)
    if len(firsts) > 1 and len(chosen) < most:
        # Of each file another part: the first of one, the middle of the next, the last of the one after.
        order = np.argsort(url, kind="stable")
        starts = np.cumsum(sizes) - sizes
        for turn, at in enumerate(_evenly(len(firsts), most - len(chosen)).tolist()):
            inside = (0, int(sizes[at]) // 2, int(sizes[at]) - 1)[turn % 3]
            chosen.setdefault(int(order[starts[at] + inside]))
    for row in _evenly(count, most).tolist():
        if len(chosen) >= most:
            break
        chosen.setdefault(row)
    return np.array(sorted(chosen)[:most] if len(chosen) > most else sorted(chosen), np.int64)
