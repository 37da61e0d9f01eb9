"""Learning what a dataset should hold from what it holds: regular axes of its times, rules of its chunks.

Gaps in times that are regular otherwise are not learned: they are told as missing from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.expectations.axis_times import AxisTimes, coordinate_of, read_times
from refbrowser.engine.expectations.present_chunks import chunks_of
from refbrowser.engine.findings.chunk_table import coords_of
from refbrowser.errors import RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.limits import LIMITS
from refbrowser.model.calendars import DAY, LENGTHS, calendar_dates
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.time_axis import AxisWords, TimeAxis, TimeStep
from refbrowser.references.expectations.chunk_sets import ChunkBlock, ChunkSet, UndecidedSetError
from refbrowser.references.expectations.expectation import Expectation, ExpectedAxis
from refbrowser.references.rules.folding import WrittenOut, dimension_names, fold
from refbrowser.references.rules.numbered_urls import NumberedUrls
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

Ints = npt.NDArray[np.int64]

#: An array that lacks no larger part of its chunks is taken for one that should be full.
_LACKING = 4
#: Rules that are made of one array, and chunks of it that are written out beside them, at most.
_MOST_RULES, _MOST_WRITTEN = 200, 10_000
#: Times of which an axis is learned.
_FEWEST = 2
#: What stands for the URLs of rules of which keys alone count.
_ANYWHERE = "-"
_UNITS = (
    ("week", 7 * DAY), ("day", DAY), ("hour", LENGTHS["hours"]), ("minute", LENGTHS["minutes"]),
    ("second", LENGTHS["seconds"]),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned, and of what nothing could be."""

    expectation: Expectation
    notes: tuple[str, ...] = ()


def learn(dataset: Dataset, control: JobControl) -> Learned:
    """Return what a dataset holds as an expectation.

    The coordinates of its times are read, nothing else.
    """
    control.stage("learning what is there")
    axes, notes = list[ExpectedAxis](), list[str]()
    by_axis: set[str] = set()
    for coordinate, arrays in _coordinates(dataset):
        control.check()
        try:
            times = read_times(dataset, coordinate, control.token)
        except RefbrowserError:
            # A dimension of no time, such as a latitude: its chunks are told by rules.
            continue
        words = regular_axis(coordinate.name, times)
        if words is None:
            notes.append(f"the times of {coordinate.path} are not regular: their chunks are expected instead")
            continue
        paths = tuple(node.path for node in arrays) or (coordinate.path,)
        axes.append(ExpectedAxis(words, "", paths if len(paths) <= LIMITS.expect_axes else ()))
        by_axis |= {coordinate.path, *paths}
    rules, refs = list[dict[str, Any]](), dict[str, Any]()
    for node in dataset.hierarchy.walk():
        if not isinstance(node, ArrayNode) or node.path in by_axis or not node.has_manifest or not node.shape:
            continue
        control.check()
        manifests = [*single_manifests(node.manifest)]
        made = _rules_of(manifests[0]) if len(manifests) == 1 else None
        if made is None:
            notes.append(f"the chunks of {node.path} follow no rules that are short: they are not expected")
            continue
        rules += made[0]
        refs |= made[1]
    said = {"version": 1, "gen": rules, "refs": refs} if rules or refs else None
    return Learned(Expectation(tuple(axes), said), tuple(notes))


def _coordinates(dataset: Dataset) -> Iterator[tuple[ArrayNode, list[ArrayNode]]]:
    """Yield each coordinate that may be one of times, with the arrays that have its dimension."""
    arrays = [node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)]
    found: dict[str, tuple[ArrayNode, list[ArrayNode]]] = {}
    for node in arrays:
        if node.dimensions == (node.name,):
            found.setdefault(node.path, (node, []))
    for node in arrays:
        for name in node.dimensions:
            if name is None or name == node.name:
                continue
            coordinate = coordinate_of(dataset.hierarchy, node, name)
            if coordinate is not None and coordinate.path in found:
                found[coordinate.path][1].append(node)
    yield from found.values()


def regular_axis(name: str, times: AxisTimes) -> AxisWords | None:
    """Return the regular axis that times lie on, from the first to the last; None where they lie on none."""
    instants = np.unique(times.instants)
    if len(instants) < _FEWEST:
        return None
    step = _months_of(instants, times.calendar) or _length_of(instants)
    if step is None:
        return None
    axis = TimeAxis(times.calendar, int(instants[0]), step, 0)
    if step.months:
        axis = AxisWords(name, "", "", step).axis(times.calendar, instants)
    count = int(axis.positions(instants[-1:])[0][0]) + 1
    begin, end = axis.texts(np.array([0, count - 1]))
    return AxisWords(name, _short(begin), _short(end), step)


def _short(text: str) -> str:
    return text.removesuffix(":00") if len(text) == 19 else text


def _months_of(instants: Ints, calendar: str) -> TimeStep | None:
    """Return the step of times of which no two lie in one month, all by as many months apart."""
    years, months, days = calendar_dates(instants // DAY, calendar)
    steps = np.diff(years * 12 + months)
    if not steps.all() or not _is_monthly(instants, days):
        return None
    usual = int(np.bincount(steps).argmax()) if int(steps.max()) < LIMITS.expect_runs else 0
    if not usual or (steps % usual).any():
        return None
    word, count = ("year", usual // 12) if usual % 12 == 0 else ("month", usual)
    return TimeStep(usual, 0, _step_text(count, word))


def _step_text(count: int, word: str) -> str:
    """Return a step in words: ``month``, ``3 months``."""
    return word if count == 1 else counted_plain(count, word)


def _is_monthly(instants: Ints, days: Ints) -> bool:
    """Tell whether times are those of months: on one day of each, at the end, or in the middle."""
    return bool((days == days[0]).all()) or bool((days >= 28).all()) or int(np.ptp(days)) <= 3


def _length_of(instants: Ints) -> TimeStep | None:
    """Return the step of times that are apart by multiples of the usual one."""
    steps = np.diff(instants)
    values, counts = np.unique(steps, return_counts=True)
    usual = int(values[counts.argmax()])
    # Where gaps are no multiples of it, what all have in common is the step, if it is there at all.
    if (values % usual).any():
        usual = gcd(*values.tolist())
        if usual not in values:
            return None
    for word, length in _UNITS:
        if usual % length == 0 and (word != "week" or usual == length):
            return TimeStep(0, usual, _step_text(usual // length, word))
    return None


def _rules_of(manifest: ExpansionManifest) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
    """Return rules, and references one by one, that have the keys of an array's chunks.

    All of its grid, where little of it is missing; else just those that are there; None where these are too
    many to say.
    """
    grid = manifest.grid_shape
    try:
        there = chunks_of(manifest)
    except UndecidedSetError:
        return None
    total = ChunkSet.whole(grid).count
    if total and (total - there.count) * _LACKING <= total:
        there = ChunkSet.whole(grid)
    if len(there.blocks) > _MOST_RULES or len(there.numbers) > LIMITS.expect_runs:
        return None
    rules = [_rule(manifest, block) for block in there.blocks if block.count > 1]
    # A rule without a dimension gives nothing.
    single = [tuple(axis.start for axis in block.axes) for block in there.blocks if block.count == 1]
    refs: dict[str, Any] = {manifest.key(coords): [_ANYWHERE] for coords in single}
    return _folded(manifest, there.numbers, rules, refs) if len(there.numbers) else (rules, refs)


def _folded(
    manifest: ExpansionManifest, numbers: Ints, rules: list[dict[str, Any]], refs: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
    """Return rules and references with those of further chunks, folded; None where too many stay."""
    grid = manifest.grid_shape
    coords = coords_of(numbers, grid)
    zeros = np.zeros(len(coords), np.int64)
    keys = manifest.encoding.encode_many(coords, manifest.prefix)
    sizes = np.full(len(coords), len(keys[-1]) + len(_ANYWHERE) + 8, np.int64)
    spelled = manifest.encoding.encode((0,) * len(grid)).split("0", 1)[0]
    written = WrittenOut(
        manifest.prefix + spelled, manifest.encoding.separator, tuple(coords.T.copy()), zeros, zeros, zeros,
        sizes, whole=True,
    )  # fmt: skip
    names = dimension_names(lambda name: False, LIMITS.dimensions_per_rule)
    numbered = NumberedUrls.of([_ANYWHERE])
    found = fold(written, [_ANYWHERE], numbered, np.zeros(1, np.int64), names, _MOST_RULES)
    left = np.ones(len(coords), bool)
    for rule in found:
        rules.append(dict(rule.fields))
        left[rule.rows] = False
    rest = np.flatnonzero(left).tolist()
    if len(rest) > _MOST_WRITTEN:
        return None
    return rules, {**refs, **{keys[at]: [_ANYWHERE] for at in rest}}


def _rule(manifest: ExpansionManifest, block: ChunkBlock) -> dict[str, Any]:
    """Return the gen rule that has the keys of a block."""
    marks, dimensions = [], dict[str, Any]()
    names = iter(dimension_names(lambda name: False, len(block.axes)))
    for each in block.axes:
        if len(each) == 1:
            marks.append(str(each.start))
            continue
        name = next(names)
        marks.append("{{" + name + "}}")
        said = {"start": each.start, "stop": each[-1] + 1, "step": each.step}
        dimensions[name] = {
            key: value for key, value in said.items() if (key, value) not in (("start", 0), ("step", 1))
        }
    key = manifest.prefix + manifest.encoding.spelled(marks)
    return {"key": key, "url": _ANYWHERE, "dimensions": dimensions}
