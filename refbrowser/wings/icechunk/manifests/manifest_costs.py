"""What the manifests of a snapshot cost: how many they are, their bytes, and what a step of an array reads.

All of it follows from the snapshot; no manifest is read. A *step* is all chunks of an array at one place
along a dimension, as a map at one time has them. Readers take whole manifests: those that tell of any of its
chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import KIB, MIB
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.wings.icechunk.reading.repository import ManifestFacts, Snapshot, SnapshotNode

#: Bytes of manifests that a step may read before splitting is advised, and that it reads afterwards.
_MUCH, _WANTED = MIB, 256 * KIB
#: Splitting is advised where a step then reads so many times less.
_GAIN = 4
#: Manifests that an array is split into at most: each is an entry of the snapshot, which is read to open it.
_MANIFESTS = 10_000
#: Bytes that one more manifest adds to a snapshot, about.
_ENTRY = 60


@dataclass(frozen=True, slots=True)
class StepCost:
    """What steps of an array along a dimension read of manifests.

    Attributes
    ----------
    dimension
        Its name, or ``axis 0`` where it has none.
    axis
        Its number.
    steps
        Chunks along it.
    manifests, size
        That one step reads, and their bytes: in the mean.
    most
        Bytes of the step that reads most.
    """

    dimension: str
    axis: int
    steps: int
    manifests: float
    size: float
    most: int


@dataclass(frozen=True, slots=True)
class SplitCost:
    """What another splitting of the manifests of an array would cost, as far as sizes say it.

    Attributes
    ----------
    chunks
        Chunks along the dimension that one manifest tells of.
    manifests
        Of the array.
    size
        Bytes that a step along the dimension then reads.
    added
        Bytes that the snapshot grows by.
    """

    dimension: str
    axis: int
    chunks: int
    manifests: int
    size: float
    added: int


@dataclass(frozen=True, slots=True)
class ArrayManifests:
    """The manifests of an array.

    Attributes
    ----------
    path
        Of the array.
    manifests
        How many tell of it.
    references, size
        In them, and their bytes; None where the snapshot does not tell it.
    largest
        Bytes of the largest one.
    is_shared
        Whether some tell of other arrays too.
    steps
        Along each dimension with more than one chunk.
    splits
        Those that were asked for.
    advice
        The one that is advised; None where none is.
    """

    path: str
    manifests: int
    references: int | None
    size: int | None
    largest: int
    is_shared: bool
    steps: tuple[StepCost, ...]
    splits: tuple[SplitCost, ...]
    advice: SplitCost | None


@dataclass(frozen=True, slots=True)
class ManifestCosts:
    """The manifests of a snapshot.

    Attributes
    ----------
    files, opening
        That opening reads, and the bytes of the snapshot; manifests are read later.
    manifests, references, size
        Of all arrays together; None where the snapshot does not tell it.
    """

    files: int
    opening: int
    manifests: int
    references: int | None
    size: int | None
    arrays: tuple[ArrayManifests, ...]


def manifest_costs(
    snapshot: Snapshot,
    hierarchy: Hierarchy,
    files: int,
    arrays: Iterable[str] = (),
    splits: Iterable[str] = (),
) -> ManifestCosts:
    """Return what the manifests of a snapshot cost.

    Parameters
    ----------
    files
        That opening reads.
    arrays
        Paths of those that are told; all where there are none.
    splits
        ``DIM=CHUNKS``: other splittings.

    Raises
    ------
    RefbrowserError
        E_USAGE: there is no such array or dimension, or a splitting is none.
    """
    wanted, sides = frozenset(arrays), dict(map(_split, splits))
    users: dict[str, int] = {}
    for each in snapshot.nodes:
        for name in {extent.manifest for extent in each.extents}:
            users[name] = users.get(name, 0) + 1
    found: list[ArrayManifests] = []
    dimensions: set[str] = set()
    for each in snapshot.nodes:
        path = f"/{each.path}"
        node = hierarchy.find(path)
        if isinstance(node, ArrayNode) and node.has_grid and (not wanted or path in wanted):
            found.append(_of_array(each, node, snapshot.manifests, users, sides))
            dimensions.update(map(_axis_name, node.dimensions, range(len(node.shape))))
    missing = wanted - {each.path for each in found}
    if missing:
        message = f"there is no array {quoted(min(missing))}"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(path=min(missing)))
    unknown = sides.keys() - dimensions
    if unknown:
        message = f"no array has the dimension {quoted(min(unknown))}"
        raise RefbrowserError(ErrorKind.USAGE, message)
    told = [snapshot.manifests[name] for name in users if name in snapshot.manifests]
    is_told = len(told) == len(users)
    return ManifestCosts(
        files,
        snapshot.size,
        len(users),
        sum(facts.references for facts in told) if is_told else None,
        sum(facts.size for facts in told) if is_told else None,
        tuple(found),
    )


def _axis_name(name: str | None, axis: int) -> str:
    """Return what a dimension is called here; one without a name has its number."""
    return name or f"axis {axis}"


def _split(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal() or not 0 < int(number) < 1 << 32:
        message = f"{quoted(text)} is no splitting"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="for example time=100")
    return name, int(number)


def _of_array(
    each: SnapshotNode,
    node: ArrayNode,
    told: Mapping[str, ManifestFacts],
    users: Mapping[str, int],
    sides: Mapping[str, int],
) -> ArrayManifests:
    names = {extent.manifest for extent in each.extents}
    known = [told[name] for name in names if name in told]
    is_told = len(known) == len(names)
    grid = node.grid.grid_shape
    steps = tuple(
        _steps(each, grid, axis, node.dimensions[axis], told) for axis, side in enumerate(grid) if side > 1
    )
    references = sum(facts.references for facts in known) if is_told else None
    size = sum(facts.size for facts in known) if is_told else None
    splits = [
        _as_split(step, sides[step.dimension], references, size)
        for step in steps
        if step.dimension in sides and references and size
    ]
    # Most readers take maps, one time after the other: the first dimension counts.
    advice = _advised(steps[0], references, size) if steps and references and size else None
    is_shared = any(users[name] > 1 for name in names)
    return ArrayManifests(
        f"/{each.path}",
        len(names),
        references,
        size,
        max((facts.size for facts in known), default=0),
        is_shared,
        steps,
        tuple(splits),
        None if is_shared else advice,
    )


def _steps(
    each: SnapshotNode,
    grid: Sequence[int],
    axis: int,
    name: str | None,
    told: Mapping[str, ManifestFacts],
) -> StepCost:
    """Return what steps along a dimension read: each manifest lies over a range of them."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for extent in each.extents:
        if len(extent.ranges) != len(grid):
            continue
        box = np.minimum(extent.ranges, np.array(grid, np.int64)[:, None])
        if prod(np.maximum(box[:, 1] - box[:, 0], 0).tolist()):
            ranges.setdefault(extent.manifest, []).append((int(box[axis, 0]), int(box[axis, 1])))
    rows = [
        (start, stop, told[manifest].size if manifest in told else 0)
        for manifest, some in ranges.items()
        for start, stop in _joined(some)
    ]
    bounds = np.array(rows, np.int64).reshape(-1, 3)
    lengths = bounds[:, 1] - bounds[:, 0]
    ends = np.concatenate([bounds[:, 0], bounds[:, 1]])
    changes = np.concatenate([bounds[:, 2], -bounds[:, 2]])
    order = np.lexsort((changes, ends))
    heights = np.cumsum(changes[order])
    steps = grid[axis]
    return StepCost(
        _axis_name(name, axis),
        axis,
        steps,
        float(lengths.sum()) / steps,
        float((lengths * bounds[:, 2]).sum()) / steps,
        int(heights.max(initial=0)),
    )


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges of one manifest, those that meet as one: it is read once."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return found


def _as_split(step: StepCost, chunks: int, references: int, size: int) -> SplitCost:
    manifests = -(-step.steps // chunks)
    each = size * min(chunks, step.steps) / step.steps
    return SplitCost(step.dimension, step.axis, chunks, manifests, each, _ENTRY * manifests)


def _advised(step: StepCost, references: int, size: int) -> SplitCost | None:
    """Return the splitting with a number of chunks that is easy to remember; None where it gains little."""
    if step.size <= _MUCH:
        return None
    fits = _WANTED * step.steps / size
    least = max(1.0, step.steps / _MANIFESTS)
    chunks = next((each for each in _round_numbers() if each * 2 > fits and each >= least), 1)
    found = _as_split(step, chunks, references, size)
    return found if step.size >= _GAIN * found.size else None


def _round_numbers() -> Iterable[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    for power in range(10):
        yield from (each * 10**power for each in (1, 2, 5))
