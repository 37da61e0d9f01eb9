"""The axis of a document that files are added to: which of its holes they fill, and those that they leave."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.expectations.axis_times import AxisTimes
from refbrowser.engine.expectations.learning import regular_axis
from refbrowser.engine.expectations.present_chunks import present_chunks
from refbrowser.exporting.combining.combination import Remedy
from refbrowser.exporting.combining.file_positions import mismatch_along
from refbrowser.exporting.combining.holes import HoleFill
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.combining.plan import Plan
from refbrowser.exporting.combining.properties import Ints, short
from refbrowser.exporting.combining.times import target_units
from refbrowser.model.cf import TimeUnits
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.time_axis import instants_of, runs_of
from refbrowser.references.expectations.chunk_sets import UndecidedSetError
from refbrowser.words import counted_plain

Mask = npt.NDArray[np.bool_]

#: Runs of times that a line names.
_RUNS = 3


# What is there already


def filling(plan: Plan, dataset: Dataset) -> list[Mismatch]:
    """Return which missing times files fill, and where chunks are there already, which stands against it."""
    axis = plan.axes[0]
    there = _there(plan, dataset)
    found = [_of_file(plan, number, there.get(number, {})) for number in range(1, len(plan.files))]
    order = sorted(range(1, len(axis.lengths)), key=lambda part: axis.starts[part])
    for one, other in pairwise(order):
        if axis.starts[one] + axis.lengths[one] > axis.starts[other]:
            names = [plan.files[axis.of_file.index(part)].source for part in (other, one)]
            message = f"{axis.name}: {short(names[0])} overlaps {short(names[1])}"
            remedies = [Remedy("leave_out", each) for each in names]
            found.append(mismatch_along("overlap", axis.name, message, names[:1], remedies))
    return found


def _there(plan: Plan, dataset: Dataset) -> dict[int, dict[str, Mask]]:
    """Return at which times of each file the document has chunks, by number of the file and path."""
    axis = plan.axes[0]
    found: dict[int, dict[str, Mask]] = {}
    for array in plan.arrays:
        node = dataset.hierarchy.find(array.path)
        if array.role != "placed" or not isinstance(node, ArrayNode):
            continue
        at = node.dimensions.index(axis.name)
        for number in array.files[1:]:
            part = axis.of_file[number]
            places = axis.starts[part] + np.arange(axis.lengths[part])
            found.setdefault(number, {})[array.path] = _has_chunks(node, at, places)
    return found


def _has_chunks(node: ArrayNode, at: int, places: Ints) -> Mask:
    """Return at which places along an axis an array has chunks; at all where that is not known."""
    try:
        tally = present_chunks(node).tally(at)
    except UndecidedSetError:
        return np.ones(len(places), bool)
    return np.asarray(tally.at(node.grid.dimensions[at].find(places)) > 0)


def _of_file(plan: Plan, number: int, masks: dict[str, Mask]) -> Mismatch:
    axis, source = plan.axes[0], plan.files[number].source
    size = axis.lengths[axis.of_file[number]]
    # Values that stand in the document do not say where they are missing.
    taken = np.logical_or.reduce([*masks.values()]) if masks else np.ones(size, bool)
    if not taken.any():
        message = f"{short(source)}: fills {counted_plain(size, 'missing time')}"
        return mismatch_along("late", axis.name, message, [source], [], is_blocking=False)
    which = ", ".join(path for path, mask in masks.items() if mask.any()) or axis.path
    message = (
        f"{axis.name}: {short(source)} overlaps {short(plan.files[0].source)}, which has values of {which} "
        f"at {_dates(plan, number, np.flatnonzero(taken))}"
    )
    remedies = [Remedy("leave_out", source), Remedy("accept", f"overlap:{axis.name}")]
    return mismatch_along("overlap", axis.name, message, [source], remedies)


def _dates(plan: Plan, number: int, places: Ints) -> str:
    """Return times of a file in words."""
    axis = plan.axes[0]
    assert axis.values is not None
    coordinate = next(each for each in plan.arrays if each.path == axis.path)
    units, values = target_units(coordinate.first, plan.request), axis.values[axis.of_file[number]]
    runs = [*runs_of(places)]
    ends = values[[end for run in runs[:_RUNS] for end in run]]
    texts = [f"{each:g}" for each in ends.tolist()] if units is None else units.texts(ends)
    words = [
        one if one == other else f"{one} to {other}"
        for one, other in zip(texts[::2], texts[1::2], strict=True)
    ]
    more = sum(last - first + 1 for first, last in runs[_RUNS:])
    return ", ".join(words) + (f" and {more} more" if more else "")


# What stays missing


def offering_axis(plan: Plan, dataset: Dataset) -> list[Mismatch]:
    """Return the differences of files; gaps behind a regular axis of times say how they are kept."""
    step = "" if plan.request.axis else _step(plan, dataset)
    if not step:
        return plan.mismatches
    name = plan.axes[0].name
    option = shlex.join(["--axis", f"{name}={step}"])
    return [
        replace(each, message=f"{each.message} ({option} keeps them as missing)")
        if (each.kind, each.path) == ("gap", name)
        else each
        for each in plan.mismatches
    ]


def _step(plan: Plan, dataset: Dataset) -> str:
    """Return the step of the times of a document; empty where these are not regular."""
    axis = plan.axes[0]
    node = dataset.hierarchy.find(axis.path)
    units = TimeUnits.from_attributes(node.attributes) if isinstance(node, ArrayNode) else None
    values = None if units is None or axis.values is None else plan.files[0].values.get(axis.path)
    if not isinstance(node, ArrayNode) or units is None or values is None or values.dtype.kind not in "iuf":
        return ""
    known = instants_of(values, units) if np.isfinite(values).all() else None
    if known is None:
        return ""
    words = regular_axis(axis.name, AxisTimes(node, units.calendar, np.arange(len(values)), *known))
    if words is None:
        return ""
    at, is_exact = words.axis(units.calendar).positions(*known)
    return words.step.text if is_exact.all() and np.array_equal(at, np.arange(len(at))) else ""


def unmarked(plan: Plan, dataset: Dataset) -> Iterator[Mismatch]:
    """Yield the arrays whose holes would read as values, since chunks of the document do so already."""
    for array in plan.arrays:
        fill, node = plan.hole_fill(array), dataset.hierarchy.find(array.path)
        if fill is None or array.role != "placed" or not isinstance(node, ArrayNode):
            continue
        if fill == HoleFill(json.loads(array.first.fill)) or not _lacks_chunks(node):
            continue
        message = (
            f"{array.path}: no value means missing, so that holes would read as values, as chunks do that "
            "the document lacks already"
        )
        remedies = [Remedy("leave_out_var", array.path), Remedy("accept", f"holes:{array.path}")]
        yield mismatch_along("holes", array.path, message, [], remedies)


def _lacks_chunks(node: ArrayNode) -> bool:
    try:
        return present_chunks(node).count < node.grid.size
    except UndecidedSetError:
        return True
