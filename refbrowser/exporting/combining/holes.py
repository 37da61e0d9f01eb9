"""Holes on regular axes: which times no file has, and what readers see there as missing."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.exporting.combining.array_of_files import ArrayOfFiles
from refbrowser.exporting.combining.combination import Combination, Remedy
from refbrowser.exporting.combining.file_positions import mismatch_along
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.combining.placed_axis import PlacedAxis
from refbrowser.exporting.combining.properties import ScannedSource
from refbrowser.model.cf import DEFAULT_FILLS, Packing
from refbrowser.model.fill_values import parse_fill_value
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.time_axis import TimeAxis, runs_of

#: Runs of times that a report has one by one.
_RUNS = 1_000
#: The value of the shortest integers that is rarely one: netCDF has no default for these.
_RARE = {"i1": -128, "u1": 255}


@dataclass(frozen=True, slots=True)
class Hole:
    """Times of a regular axis that no file has.

    Attributes
    ----------
    dimension
        The axis.
    path
        Of the array that alone lacks them; empty where all do.
    count, size
        How many times there are none of, and how many the axis has.
    runs
        The first and last time of each run of neighbours, of the first thousand.
    text
        The times in words.
    what
        What is counted: times, or those that are new to a document which files are added to.
    """

    dimension: str
    path: str
    count: int
    size: int
    runs: tuple[tuple[str, str], ...]
    text: str
    what: str = "times"

    def __str__(self) -> str:
        whose = f"{self.path}: of {self.dimension}" if self.path else f"{self.dimension}:"
        return f"{whose} {self.count:,} of {self.size:,} {self.what} are missing: {self.text}"


@dataclass(frozen=True, slots=True)
class HoleFill:
    """What holes of an array read as: a fill value, as in JSON, and attributes that mark it as missing."""

    fill: Any
    attributes: dict[str, Any] = field(default_factory=dict)


def holes_of(arrays: Sequence[ArrayOfFiles], axes: Sequence[PlacedAxis], request: Combination) -> list[Hole]:
    """Return the holes of all arrays together, and those that single arrays have besides.

    Those that a document has already to which files are added are not among them.
    """
    found = []
    for axis in axes:
        if axis.regular is None:
            continue
        parts = np.array(axis.of_file, np.int64)
        there = np.zeros(len(axis.lengths), bool)
        there[parts[parts >= 0]] = True
        found += _hole(axis, axis.regular, "", ~there)
        for array in arrays:
            if array.role == "same" or not (axis.is_new or axis.name in array.first.dimensions):
                continue
            own = np.zeros(len(axis.lengths), bool)
            own[parts[array.files]] = True
            found += _hole(axis, axis.regular, array.path, there & ~own)
    if request.extends:
        before = {axis.name: axis.lengths[axis.of_file[0]] for axis in axes}
        found = [replace(each, size=each.size - before[each.dimension], what="new times") for each in found]
    return found


def _hole(axis: PlacedAxis, regular: TimeAxis, path: str, lacking: npt.NDArray[np.bool_]) -> list[Hole]:
    positions = np.flatnonzero(np.repeat(lacking, axis.lengths))
    if not len(positions):
        return []
    runs = list(runs_of(positions))[:_RUNS]
    firsts, lasts = (regular.texts(np.array(each, np.int64)) for each in zip(*runs, strict=True))
    pairs = tuple(zip(firsts, lasts, strict=True))
    return [Hole(axis.name, path, len(positions), axis.size, pairs, regular.runs_text(positions))]


def hole_mismatches(
    holes: Sequence[Hole],
    files: Sequence[ScannedSource],
    arrays: Sequence[ArrayOfFiles],
    axes: Sequence[PlacedAxis],
    request: Combination,
) -> list[Mismatch]:
    """Return the holes as what files differ in, and the arrays in which no value can stand for them."""
    found = [
        mismatch_along("hole", each.path or each.dimension, str(each), [], [], is_blocking=False)
        for each in holes
    ]
    for array in arrays:
        if not has_holes(array, axes) or request.accepts("holes", array.path):
            continue
        if hole_fill(array, files, request) is None:
            remedies = [Remedy("leave_out_var", array.path), Remedy("accept", f"holes:{array.path}")]
            if (rare := _RARE.get(array.first.dtype)) is not None:
                remedies.insert(0, Remedy("set_attr", f"{array.path}:{FILL_ATTRIBUTE}={rare}"))
            message = f"{array.path}: no value means missing, so that holes would read as values"
            found.append(mismatch_along("holes", array.path, message, [], remedies))
    return found


def has_holes(array: ArrayOfFiles, axes: Sequence[PlacedAxis]) -> bool:
    """Tell whether an array has holes on a regular axis."""
    for axis in axes:
        if axis.regular is None or array.role == "same" or array.path == axis.path:
            continue
        if axis.is_new or axis.name in array.first.dimensions:
            parts = {axis.of_file[number] for number in array.files}
            if len(parts) < len(axis.lengths):
                return True
    return False


def hole_fill(array: ArrayOfFiles, files: Sequence[ScannedSource], request: Combination) -> HoleFill | None:
    """Return what stands for the holes of an array; None where no value can.

    In Zarr v2 the fill value means missing. In v3 it is a value, unless an attribute says the same.
    """
    told = array.first
    if told.dtype[:1] not in ("i", "u", "f"):
        return None
    dtype = np.dtype(told.dtype)
    attributes: dict[str, Any] = {name: json.loads(text) for name, text in told.attributes}
    attributes |= request.sets(array.path)
    fill = parse_fill_value(json.loads(told.fill), dtype)
    is_v2 = told.form == "zarr-v2"
    if fill is not None and (is_v2 or fill != fill):
        return HoleFill(json.loads(told.fill))
    packing = Packing.from_attributes(attributes, dtype, fill, fill_marks=is_v2)
    marks = [each for each in packing.missing if each != packing.default_fill]
    if fill is not None and np.array(fill, dtype).view(packing.stored)[()] in marks:
        return HoleFill(json.loads(told.fill))
    mark = np.array(marks[0], packing.stored).view(dtype)[()] if marks else _unmarked(told.dtype)
    if mark is None or (fill is not None and _lacks_chunks(array, files)):
        return None
    plain = mark.item() if mark == mark else "NaN"
    said = {} if is_v2 or marks else {FILL_ATTRIBUTE: _spelled(mark)}
    return HoleFill(plain, said)


def _unmarked(dtype: str) -> Any:
    """Return the value that means missing where nothing is said; None where all values of a type count."""
    if dtype[:1] == "f":
        return np.dtype(dtype).type(np.nan)
    default = DEFAULT_FILLS.get(dtype)
    return None if default is None else np.dtype(dtype).type(default)


def _spelled(mark: Any) -> Any:
    """Return a value as xarray writes it into attributes of Zarr v3: floats as base64 of doubles."""
    if mark.dtype.kind == "f":
        return base64.b64encode(struct.pack("<d", mark)).decode("ascii")
    return mark.item()


def _lacks_chunks(array: ArrayOfFiles, files: Sequence[ScannedSource]) -> bool:
    """Tell whether a file lacks chunks, which read as the fill value that its array has."""
    pairs: list[tuple[int, int]] = list(zip(array.files, array.numbers, strict=True))
    return any(at in files[number].chunks.positions for number, at in pairs)
