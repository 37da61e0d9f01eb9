"""Holding the chunks of a dataset against those of another document: rules, or a branch of a repository."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.expectations.axis_times import AxisTimes, coordinate_of, read_times
from refbrowser.engine.expectations.expected_results import ExpectedResult, RowRun
from refbrowser.engine.expectations.present_chunks import LOOKED, chunks_of
from refbrowser.engine.findings.chunk_table import coords_of
from refbrowser.errors import Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import EXPECTED_EXTRA, EXPECTED_MISSING, EXPECTED_UNDECIDED
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.time_axis import TimeAxis, TimeStep
from refbrowser.references.expectations.chunk_sets import ChunkSet, Tally, UndecidedSetError
from refbrowser.references.expectations.rule_blocks import rule_blocks
from refbrowser.references.rules.gen import GenRule
from refbrowser.words import counted, span_text

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.expectations.holding import Held
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.document.document import Document

Ints = npt.NDArray[np.int64]

#: Runs of rows that are told one by one.
_TOLD = 8
_MICROSECOND = TimeStep(0, 1, "microsecond")


@dataclass(frozen=True, slots=True)
class ExpectedChunks:
    """What is expected: a document, and the arrays that it describes where it does."""

    document: Document
    hierarchy: Hierarchy | None = None

    def manifest(self, node: ArrayNode, own: ExpansionManifest) -> ExpansionManifest | None:
        """Return the chunks that are expected of an array of the dataset; None where it is told nothing.

        Parameters
        ----------
        own
            The chunks that the dataset has.
        """
        other = None if self.hierarchy is None else self.hierarchy.find(node.path)
        if isinstance(other, ArrayNode) and other.has_manifest:
            manifests = [*single_manifests(other.manifest)]
            return manifests[0] if len(manifests) == 1 else None
        reach = _reach(self.document, own)
        grid = tuple(max(mine, its) for mine, its in zip(own.grid_shape, reach, strict=True))
        return ExpansionManifest(self.document.expansion, own.prefix, grid, own.encoding)


def _reach(document: Document, own: ExpansionManifest) -> tuple[int, ...]:
    """Return how far the rules of a document go beyond the grid of an array along each axis."""
    reach = [0] * len(own.grid_shape)
    for _, rule in document.expansion.rules_of(own.prefix):
        if isinstance(rule, GenRule):
            for block in rule_blocks(rule, own.prefix, len(reach), own.encoding):
                reach = [max(far, axis[-1] + 1) for far, axis in zip(reach, block.axes, strict=True)]
    return tuple(reach)


def hold_chunks(
    dataset: Dataset, expected: ExpectedChunks, held: Held, control: JobControl
) -> Iterator[Finding]:
    """Hold the chunks of each array against those that are expected; yield what differs.

    Nothing is expanded: rules are blocks. Codes: ``expected-missing``, ``expected-extra``,
    ``expected-undecided``.
    """
    for node in dataset.hierarchy.walk():
        if not isinstance(node, ArrayNode) or not node.has_manifest or not node.shape:
            continue
        control.check()
        manifests = [*single_manifests(node.manifest)]
        if len(manifests) == 1:
            yield from _of_array(dataset, node, manifests[0], expected, held, control)
    for node in expected.hierarchy.walk() if expected.hierarchy is not None else ():
        if isinstance(node, ArrayNode) and dataset.hierarchy.find(node.path) is None:
            held.results.append(ExpectedResult(node.name, node.path, expected=1, missing=1))
            message = f"the array {quoted(node.path)} is expected and not there"
            yield EXPECTED_MISSING.finding(message, Place(document=dataset.document.name, path=node.path))


def _of_array(
    dataset: Dataset,
    node: ArrayNode,
    own: ExpansionManifest,
    expected: ExpectedChunks,
    held: Held,
    control: JobControl,
) -> Iterator[Finding]:
    place = Place(document=dataset.document.name, path=node.path)
    subject = node.name or node.path
    try:
        manifest = expected.manifest(node, own)
        if manifest is None:
            return
        grid = tuple(map(max, own.grid_shape, manifest.grid_shape))
        wanted = _in_grid(chunks_of(manifest), grid)
        if not wanted.count:
            return
        there = _in_grid(chunks_of(own), grid)
        both = wanted.meet(there)
        missing = wanted.tally(0).less(both.tally(0))
        extra = there.tally(0).less(both.tally(0))
    except UndecidedSetError:
        why = "which chunks are missing is not decided (0 rows checked): a rule is not affine"
        held.results.append(ExpectedResult(subject, node.path, undecided=why))
        yield EXPECTED_UNDECIDED.finding(why, place, checked=0)
        return
    rows = _dated(dataset, node, [*missing.runs()], control) if missing.counts.any() else ()
    held.results.append(
        ExpectedResult(
            subject, node.path, None, (), wanted.count, missing.total, tuple(rows), extra.total
        )
    )  # fmt: skip
    if missing.total:
        _mark(node, wanted, there, held)
        message = f"{missing.total:,} of {counted(wanted.count, 'chunk')} missing: {_words(rows)}"
        yield EXPECTED_MISSING.finding(message, place)
    if extra.total:
        message = f"{counted(extra.total, 'chunk')} not expected: {_rows_words(extra)}"
        yield EXPECTED_EXTRA.finding(message, place)


def _in_grid(chunks: ChunkSet, grid: tuple[int, ...]) -> ChunkSet:
    """Return the same chunks in a grid that is at least as large."""
    if chunks.grid_shape == grid or not len(chunks.numbers):
        return replace(chunks, grid_shape=grid)
    coords = coords_of(chunks.numbers, chunks.grid_shape)
    numbers = np.ravel_multi_index(tuple(coords.T), grid).astype(np.int64)
    return ChunkSet(grid, chunks.blocks, numbers)


def _mark(node: ArrayNode, wanted: ChunkSet, there: ChunkSet, held: Held) -> None:
    """Mark the chunks that are missing and lie in the grid, where that is not too large."""
    grid = node.manifest.grid_shape
    total = ChunkSet.whole(grid).count
    if total > LOOKED:
        return
    coords = coords_of(np.arange(total), grid)
    lacking = _holds(wanted, coords) & ~_holds(there, coords)
    held.marks.add(node.path, EXPECTED_MISSING.code, coords[lacking])


def _holds(chunks: ChunkSet, coords: Ints) -> npt.NDArray[np.bool_]:
    inside = np.isin(np.ravel_multi_index(tuple(coords.T), chunks.grid_shape), chunks.numbers)
    for block in chunks.blocks:
        inside |= block.holds(coords)
    return inside


def _dated(
    dataset: Dataset, node: ArrayNode, runs: list[tuple[int, int, int]], control: JobControl
) -> list[RowRun]:
    """Return runs of rows with the dates of their elements, where the first dimension has times."""
    rows = [RowRun(start, stop - 1, count) for start, stop, count in runs]
    times = _times(dataset, node, control)
    if times is None:
        return rows
    axis, instants = node.grid.dimensions[0], TimeAxis(times.calendar, 0, _MICROSECOND, 0)
    dated = []
    for row in rows:
        ends = axis.starts(np.array([row.first, min(row.last + 1, axis.count)], np.int64))
        some = times.instants[np.searchsorted(times.at, ends[0]) : np.searchsorted(times.at, ends[1])]
        if row.last >= axis.count or not len(some):
            dated.append(row)
            continue
        begin, end = instants.texts(np.array([some.min(), some.max()]))
        if begin.endswith("T00:00:00") and end.endswith("T00:00:00"):
            begin, end = begin[:10], end[:10]
        dated.append(replace(row, begin=begin, end=end))
    return dated


def _times(dataset: Dataset, node: ArrayNode, control: JobControl) -> AxisTimes | None:
    name = node.dimensions[0] if node.dimensions else None
    coordinate = None if name is None else coordinate_of(dataset.hierarchy, node, name)
    try:
        return None if coordinate is None else read_times(dataset, coordinate, control.token)
    except RefbrowserError:
        # Its dimension is not one of time, or cannot be read: rows are told by their numbers.
        return None


def _words(rows: list[RowRun] | tuple[RowRun, ...]) -> str:
    """Return rows in words: ``rows 500,000 to 500,743 (2015-03-01 to 2015-03-31)``."""
    words = []
    for row in rows[:_TOLD]:
        where = f"row {row.first:,}" if row.first == row.last else f"rows {row.first:,} to {row.last:,}"
        when = span_text(row.begin, row.end)
        words.append(f"{where} ({when})" if when else where)
    more = sum(row.last - row.first + 1 for row in rows[_TOLD:])
    return ", ".join(words) + (f" and {counted(more, 'more row')}" if more else "")


def _rows_words(tally: Tally) -> str:
    return _words([RowRun(start, stop - 1, count) for start, stop, count in tally.runs()])
