"""What is done for one part of an audit, wherever it runs: files are asked about, chunks read and looked at.

Tasks and what they answer are plain values: they go to other processes, and into the journal.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.audit.object_states import ObjectState, stat_objects
from refbrowser.engine.compute import shared
from refbrowser.engine.findings.chunk_table import Ints, coords_of
from refbrowser.engine.frozen_dataset import FrozenDataset
from refbrowser.engine.reading.parts import EndedPart, PartState, ReadOptions
from refbrowser.engine.session import readable_grid
from refbrowser.engine.workers.peers import worker_name
from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError, Severity, StaleError
from refbrowser.findings.finding import FindingKind
from refbrowser.findings.kinds import (
    ALL_FILL,
    ARRAY_UNREADABLE,
    CHUNK_UNREADABLE,
    IDENTITY_CHANGED,
    KINDS,
    RANGE_PAST_END,
    UNDECODABLE,
    URL_DEAD,
    URL_NO_RANGES,
    URL_UNREADABLE,
    VALUE_NOT_AS_DECLARED,
    VALUE_OUTSIDE_RANGE,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import ObjectIdentity
from refbrowser.limits import LIMITS
from refbrowser.model.cf import Packing
from refbrowser.model.grid import ChunkGrid, ChunkPart
from refbrowser.model.netcdf.fill import mark_of_missing
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.declarations.declared_arrays import Bounds, outside_bounds

if TYPE_CHECKING:
    from refbrowser.engine.compute import Executor
    from refbrowser.engine.dataset import Dataset

#: Bytes of decoded chunks that one task holds, and chunks that it reads together.
_HELD, _TOGETHER = 64 << 20, 256


@dataclass(frozen=True, slots=True)
class AuditTask:
    """A part of an audit.

    Attributes
    ----------
    number
        Of the task, in an audit of one plan.
    urls
        Files that are asked about.
    path, numbers
        An array, and chunks of it that are read, as numbers in C order of its grid.
    known
        States of files that were asked about before, by URL: those that reads see must be the same.
    bounds
        Declared ones of the values of the array.
    """

    number: int
    urls: tuple[str, ...] = ()
    path: str = ""
    numbers: tuple[int, ...] = ()
    known: Mapping[str, ObjectIdentity] = field(default_factory=dict)
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found of some chunks of one array, or of one file.

    Attributes
    ----------
    code, severity, kind, message, advice
        As those of a `Finding`.
    path, numbers
        The array, and the chunks as numbers in C order of its grid; empty for a file.
    url, start, stop
        The file, and the bytes of the first chunk.
    """

    code: str
    severity: str
    kind: str
    message: str
    advice: str = ""
    path: str = ""
    numbers: tuple[int, ...] = ()
    url: str = ""
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """What became of asking about one file; the fields are those of `ObjectState`."""

    url: str
    total: int | None = None
    etag: str | None = None
    modified: str | None = None
    kind: str = ""
    message: str = ""
    advice: str = ""
    is_absent: bool = False
    status: int = 0
    moved_to: str = ""
    ranges: bool | None = None
    is_stale: bool = False

    @classmethod
    def of(cls, state: ObjectState) -> FileState:
        """Return a state as a plain value."""
        identity, error = state.identity or ObjectIdentity(), state.error
        return cls(
            state.url,
            identity.total,
            identity.etag,
            identity.modified,
            "" if error is None else str(error.kind),
            "" if error is None else error.message,
            "" if error is None else error.advice,
            isinstance(error, AbsentError),
            state.status,
            state.moved_to,
            state.ranges,
            isinstance(error, StaleError),
        )

    @property
    def identity(self) -> ObjectIdentity:
        """Size and marks of its state."""
        return ObjectIdentity(self.total, self.etag, self.modified)


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What became of a task.

    Attributes
    ----------
    states
        Of the files that were asked about.
    outcomes
        What was found of chunks.
    chunks
        How many were read and decoded.
    blocked
        How many were not, for want of a permission.
    size, requests
        What was read for them.
    """

    states: tuple[FileState, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    chunks: int = 0
    blocked: int = 0
    size: int = 0
    requests: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {"states": _plain(self.states), "outcomes": _plain(self.outcomes), **counts}

    @classmethod
    def from_json(cls, value: Any) -> TaskAnswer:
        """Return what `to_json` gave.

        Raises
        ------
        TypeError, KeyError, ValueError
            It is something else.
        """
        states = tuple(FileState(**each) for each in value["states"])
        outcomes = tuple(
            Outcome(**{**each, "code": KINDS[each["code"]].code, "numbers": tuple(map(int, each["numbers"]))})
            for each in value["outcomes"]
        )
        counts = {name: int(value[name]) for name in _COUNTS}
        return cls(states, outcomes, **counts)


_COUNTS = ("chunks", "blocked", "size", "requests")


def _plain(values: Sequence[FileState] | Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return values field by field; `asdict` would copy all that they hold, one by one."""
    if not values:
        return []
    names = [each.name for each in fields(values[0])]
    taken = map(attrgetter(*names), values)
    return [dict(zip(names, each, strict=True)) for each in taken]


def carry_out(dataset: Dataset, task: AuditTask, token: CancelToken) -> TaskAnswer:
    """Carry out a task: files are asked about, or chunks read; what fails costs itself alone."""
    for url, identity in task.known.items():
        _remember(dataset, url, identity)
    if task.urls:
        states: list[FileState] = []
        stat_objects(
            dataset.session.fetcher,
            dataset.access,
            task.urls,
            lambda _, state: states.append(FileState.of(state)),
            token,
            export=True,
        )
        return TaskAnswer(states=tuple(states), requests=len(task.urls))
    return _ReadTask(dataset, task, token).answer()


def _remember(dataset: Dataset, url: str, identity: ObjectIdentity) -> None:
    try:
        dataset.access.memory.identities.confirm(dataset.access.locate(url).url, identity)
    except RefbrowserError:
        # It changed since: reads of it tell.
        return


def together(node: ArrayNode) -> int:
    """Return how many chunks of an array one task reads."""
    try:
        size = prod(readable_grid(node).largest) * node.known_dtype.itemsize
    except RefbrowserError:
        return _TOGETHER
    return max(1, min(_TOGETHER, _HELD // max(size, 1)))


class _Stacked:
    """Chunks of an array as parts of a box in which they lie one behind the other."""

    def __init__(self, grid: ChunkGrid, coords: Ints) -> None:
        self._grid, self._coords = grid, coords
        self.shape = (len(coords) * grid.largest[0], *grid.largest[1:]) if grid.largest else ()

    def __len__(self) -> int:
        return len(self._coords)

    def __getitem__(self, number: int) -> ChunkPart:
        part = self._grid.whole_part(tuple(self._coords[number].tolist()))
        if not part.target:
            return part
        first = number * self._grid.largest[0]
        head = slice(first, first + part.target[0].stop, 1)
        return part._replace(target=(head, *part.target[1:]))

    def coords(self, start: int, stop: int) -> Ints:
        """Return the coordinates of some of them."""
        return self._coords[start:stop]

    def all_whole(self, start: int, stop: int) -> bool:
        """Tell whether none is cut by the edge of the array."""
        return all(self[number].whole for number in range(start, stop))


class _ReadTask:
    def __init__(self, dataset: Dataset, task: AuditTask, token: CancelToken) -> None:
        self._dataset, self._task, self._token = dataset, task, token
        node = dataset.hierarchy.find(task.path)
        assert isinstance(node, ArrayNode)
        self._node = node
        self._outcomes: dict[tuple[str, str, str], list[tuple[int, Outcome]]] = {}
        self._good = self._blocked = 0

    def answer(self) -> TaskAnswer:
        node, numbers = self._node, np.array(self._task.numbers, np.int64)
        try:
            grid = readable_grid(node)
            if self._too_large(grid):
                raise RefbrowserError(
                    ErrorKind.BUDGET, "its chunks are too large to be decoded for an audit (chunk_size)"
                )
            parts = _Stacked(grid, coords_of(numbers, grid.grid_shape))
            box = np.empty(parts.shape, node.known_dtype)
            ended: dict[tuple[int, ...], EndedPart] = {}
            reader = self._dataset.session.read_parts(
                node,
                self._dataset.access,
                [parts],
                box,
                ReadOptions(lambda part: ended.__setitem__(part.part.coords, part), self._token, export=True),
                total=len(parts),
            )
        except (RefbrowserError, MemoryError) as problem:
            error = (
                problem
                if isinstance(problem, RefbrowserError)
                else RefbrowserError(ErrorKind.BUDGET, "there is no memory for its chunks")
            )
            severity = Severity.WARNING if error.kind is ErrorKind.BUDGET else Severity.FAULT
            outcome = Outcome(
                ARRAY_UNREADABLE.code, str(severity), str(error.kind), error.message, error.advice,
                node.path, tuple(self._task.numbers),
            )  # fmt: skip
            return TaskAnswer(outcomes=(outcome,))
        self._token.check()
        for number, at in zip(numbers.tolist(), range(len(parts)), strict=True):
            part = parts[at]
            self._look(number, ended.get(part.coords), box[_index(part)])
        outcomes = tuple(_joined(found) for found in self._outcomes.values())
        return TaskAnswer((), outcomes, self._good, self._blocked, reader.read_bytes, reader.requests)

    def _too_large(self, grid: ChunkGrid) -> bool:
        return prod(grid.largest) * self._node.known_dtype.itemsize > LIMITS.chunk_size

    def _look(self, number: int, ended: EndedPart | None, values: npt.NDArray[Any]) -> None:
        """Note what became of a chunk."""
        if ended is None or ended.state is PartState.MISSING:
            return
        if ended.error is not None:
            if ended.error.kind is ErrorKind.BLOCKED:
                self._blocked += 1
                return
            self._note(number, _of_error(ended.error, self._node.path))
            return
        self._good += 1
        if values.dtype.kind not in "iufc" or not values.size:
            return
        for kind, message in _odd_values(self._node, values, self._task.bounds):
            outcome = Outcome(kind.code, str(kind.severity), str(kind.error), message, path=self._node.path)
            self._note(number, outcome)

    def _note(self, number: int, outcome: Outcome) -> None:
        # Numbers in messages differ from chunk to chunk: what is the same else is told together.
        same = outcome.code, outcome.url, outcome.message if outcome.kind != str(ErrorKind.META) else ""
        self._outcomes.setdefault(same, []).append((number, outcome))


def _index(part: ChunkPart) -> tuple[Any, ...]:
    return (*part.target, ...)


def _joined(found: Sequence[tuple[int, Outcome]]) -> Outcome:
    return replace(found[0][1], numbers=tuple(number for number, _ in found))


#: What reads tell that failed, by the kind of error; others that the chunk cannot be read.
_OF_ERRORS = {
    ErrorKind.DECODE: UNDECODABLE,
    ErrorKind.RANGE: RANGE_PAST_END,
    ErrorKind.PROTOCOL: URL_UNREADABLE,
    ErrorKind.UNSAFE: URL_UNREADABLE,
}


def _of_error(error: RefbrowserError, path: str) -> Outcome:
    kind = _OF_ERRORS.get(error.kind, CHUNK_UNREADABLE)
    if isinstance(error, AbsentError):
        kind = URL_DEAD
    elif "changed" in error.message and error.kind is ErrorKind.SOURCE:
        kind = IDENTITY_CHANGED
    elif "ignores ranges" in error.message:
        kind = URL_NO_RANGES
    place = error.place
    return Outcome(
        kind.code, str(Severity.FAULT), str(error.kind), error.message, error.advice, path, (),
        place.url or "", place.start, place.stop,
    )  # fmt: skip


def _odd_values(
    node: ArrayNode, values: npt.NDArray[Any], bounds: Bounds | None
) -> list[tuple[FindingKind, str]]:
    """Return what is odd about the decoded values of a chunk, each as kind and message."""
    found: list[tuple[FindingKind, str]] = []
    fill = _told_fill(node)
    if fill is not None:
        same = np.isnan(values) if fill != fill else values == fill
        if same.all():
            return [(ALL_FILL, f"the chunk is stored, but holds only the fill value {fill}")]
    packing = Packing.of(node)
    # Of complex values none is the lowest.
    deviation = (
        None if bounds is None or values.dtype.kind == "c" else outside_bounds(bounds, values, packing)
    )
    if deviation is not None:
        found.append((VALUE_NOT_AS_DECLARED, deviation.words))
    if packing.valid_min is None and packing.valid_max is None:
        return found
    within = packing.missing_mask(values)
    missing = replace(packing, valid_min=None, valid_max=None).missing_mask(values)
    outside = within & ~missing
    count = int(np.count_nonzero(outside))
    if count:
        valid = " to ".join(
            "…" if each is None else str(each) for each in (packing.valid_min, packing.valid_max)
        )
        first = packing.seen(values)[outside].flat[0]
        found.append(
            (
                VALUE_OUTSIDE_RANGE,
                f"{count} of {values.size} values are outside the valid range {valid}, such as {first}",
            )
        )
    return found


def _told_fill(node: ArrayNode) -> Any:
    """Return the value that marks values that are not there; 0 of metadata alone may be data."""
    mark = mark_of_missing(node)
    if mark is None and Packing.of(node).default_fill is not None:
        mark = node.fill_value
    is_said = any(name in node.attributes for name in ("_FillValue", "missing_value"))
    return mark if is_said or mark != 0 else None


# Where tasks run

_lock = threading.Lock()
#: The dataset that this process has open for audits of others, and the digest of what it was told.
_kept: list[tuple[str, Dataset]] = []


def answers(
    dataset: Dataset, executor: Executor, tasks: Iterator[AuditTask], token: CancelToken
) -> Generator[tuple[AuditTask, TaskAnswer | BaseException], None, None]:
    """Have tasks carried out, here or elsewhere; yields each with its answer or error as it ends.

    Raises
    ------
    RefbrowserError
        `E_SOURCE`: there is nobody left to do it.
    """
    if not executor.is_apart:
        yield from executor.run(lambda task: carry_out(dataset, task, token), tasks, token)
        return
    data = pickle.dumps(FrozenDataset.of(dataset), pickle.HIGHEST_PROTOCOL)
    order, digest = executor.share(data), hashlib.sha256(data).hexdigest()
    items = ((order, digest, task) for task in tasks)
    for (_, _, task), answer in executor.run(work_on, items, token):
        yield task, answer


def work_on(item: tuple[Any, str, AuditTask]) -> TaskAnswer:
    """Carry out a task in another process.

    Parameters
    ----------
    item
        What stands for the dataset, the digest of that, and the task.

    Raises
    ------
    RefbrowserError
        The dataset cannot be opened here.
    """
    order, digest, task = item
    return carry_out(_opened(order, digest), task, CancelToken())


def _opened(order: Any, digest: str) -> Dataset:
    with _lock:
        if _kept and _kept[0][0] == digest:
            return _kept[0][1]
        data = shared(order)
        if hashlib.sha256(data).hexdigest() != digest:
            raise RefbrowserError(ErrorKind.SOURCE, f"worker {worker_name()} was given another dataset")
        # Our own words: from the program that this process works for.
        dataset: Dataset = pickle.loads(data).dataset()
        # One that others of this process still read is closed with the process.
        _kept[:] = [(digest, dataset)]
        return dataset
