"""Checking a store with zarr-python and netCDF4: what these read is compared with what the source holds."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import quoted
from refbrowser.exporting import check_child
from refbrowser.exporting.blocks import element_size
from refbrowser.exporting.check import (
    Answers,
    CheckItem,
    CheckReport,
    Program,
    ask_program,
    compared,
    compared_attributes,
)
from refbrowser.exporting.layout import ArrayLayout
from refbrowser.exporting.nested.store_part import GATHERED
from refbrowser.exporting.options import Sides
from refbrowser.exporting.request import ExportRequest
from refbrowser.exporting.targets.store import StoreExport
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import Flavour
from refbrowser.model.selection import Selection

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: Which programs read a flavour, and the module that each is.
_PROGRAMS = {
    Flavour.ZARR_V2: ("zarr-python",),
    Flavour.ZARR_V3: ("zarr-python",),
    Flavour.NCZARR: ("netCDF4", "zarr-python"),
}
_MODULES = {"zarr-python": "zarr", "netCDF4": "netCDF4"}
#: Bytes of the parts of an array that are compared one by one.
PART = 8 * 1024 * 1024
#: Larger arrays are sampled: so many parts of them are compared, the first and the last among them.
WHOLE = 256 * 1024 * 1024
SAMPLED = 16
#: A program that crashes is started again for the arrays after the one that it crashed at, so many times.
_RESTARTS = 5
#: netcdf-c says so of a zip file where it was built without libzip.
_LACKS = "feature that was not turned on"


def check_store(dataset: Dataset, request: ExportRequest, control: JobControl) -> CheckReport:
    """Read a store with the programs that know its format, and compare it with the source.

    Raises
    ------
    RefbrowserError
        The source cannot be read.
    Cancelled
        The control's token was cancelled.
    """
    above = os.path.dirname(os.path.realpath(request.target))
    with tempfile.TemporaryDirectory(prefix=".refbrowser-check-", dir=above) as folder:
        return _Check(dataset, request, control, Path(folder) / GATHERED).report()


class _Check:
    def __init__(self, dataset: Dataset, request: ExportRequest, control: JobControl, folder: Path) -> None:
        self.dataset = dataset
        self.request = request
        self.control = control
        self.export = StoreExport(dataset, request)
        self.export.gather(folder, control)
        self.gathered = {
            array.layout.target.path: array.spool for array in self.export.arrays if array.spool is not None
        }
        self.layouts = {layout.target.path: layout for layout in self.export.layouts}
        self.boxes = {path: _boxes_of(layout) for path, layout in self.layouts.items()}
        self.digests: dict[tuple[str, str], list[str]] = {}

    def report(self) -> CheckReport:
        """Run every program, and compare."""
        flavour, notes = self.export.target.flavour, []
        names = _PROGRAMS.get(flavour, ())
        if not names:
            notes.append(
                f"zarr-python and netCDF4 do not read {flavour.label}: nothing was checked with them"
            )
        programs: list[Program] = []
        items: list[CheckItem] = []
        for name in names:
            if find_spec(_MODULES[name]) is None:
                notes.append(f"{name} is not installed: nothing was checked with it")
                continue
            answers = self._ask(name)
            if not answers.nodes and any(_LACKS in failure for failure in answers.failures.values()):
                notes.append(
                    f"this {name} was built without what such a store needs: nothing was checked with it"
                )
                continue
            programs.append(Program(name, answers.version or "of unknown version"))
            items += self._compared(name, answers)
        return CheckReport(tuple(programs), tuple(items), tuple(notes))

    # Asking

    def _ask(self, program: str) -> Answers:
        """Return what a program reads; what makes it crash is one of its answers."""
        answers = Answers()
        arrays = list(self.boxes)
        for _ in range(_RESTARTS + 1):
            told = self._run(program, answers, arrays, show=False)
            if not told:
                return answers
            answers.failures[answers.at] = told
            if answers.at not in arrays:
                return answers
            arrays = arrays[arrays.index(answers.at) + 1 :]
        for path in arrays:
            answers.failures[path] = "not read: the program had crashed too often"
        return answers

    def _run(self, program: str, answers: Answers, arrays: list[str], *, show: bool) -> str:
        """Run a program; returns why it ended before it was done."""
        options = self.export.options
        asked = {
            "target": self.request.target,
            "container": options.container,
            "zip_folder": options.zip_folder.strip("/"),
            "show": show,
            "groups": [path for path in self._groups() if path != "/"],
            "arrays": [[path, self.boxes[path]] for path in arrays],
        }
        return ask_program(program, asked, answers, self.control.token)

    def _groups(self) -> dict[str, dict[str, Any]]:
        """Return the attributes of the groups by their paths in the target."""
        if "/" in self.layouts:
            return {}
        target = self.export.target
        return {target.group_path(group): target.attributes(group) for group in self.export.groups}

    # Comparing

    def _compared(self, program: str, answers: Answers) -> Iterator[CheckItem]:
        nodes = [*self._groups(), *self.layouts]
        for path, failure in answers.failures.items():
            what = "opening" if path not in answers.nodes else "reading"
            yield CheckItem(program, path, what, False, "a node that is read", failure)
        for path, expected in self._groups().items():
            if path in answers.nodes:
                yield from compared_attributes(program, path, expected, answers.nodes[path]["attributes"])
        for number, (path, layout) in enumerate(self.layouts.items()):
            self.control.progress(number, len(self.layouts))
            if path in answers.nodes:
                yield from self._node(program, layout, answers.nodes[path])
                yield self._values(program, layout, answers)
            elif path not in answers.failures and not _is_ended(answers, nodes):
                yield CheckItem(program, path, "opening", False, "an array", "nothing")
        self.control.progress(len(self.layouts), len(self.layouts))

    def _node(self, program: str, layout: ArrayLayout, found: dict[str, Any]) -> Iterator[CheckItem]:
        path, target = layout.target.path, layout.target
        shape = list(layout.wanted.shape)
        if not shape and program == "zarr-python" and self.export.target.flavour is Flavour.NCZARR:
            shape = [1]  # So NCZarr stores a scalar.
        yield compared(program, path, "shape", shape, found["shape"])
        if found["dimensions"] is not None and any(target.dimensions):
            names = list(target.dimensions)[: len(shape)]
            yield compared(program, path, "dimensions", names, found["dimensions"])
        expected = self.export.target.attributes(layout.wanted)
        yield from compared_attributes(program, path, expected, found["attributes"])

    def _values(self, program: str, layout: ArrayLayout, answers: Answers) -> CheckItem:
        path = layout.target.path
        scope = _scope(layout, len(self.boxes[path]))
        for box in self.boxes[path]:
            self.control.check()
            place = path, json.dumps(box)
            found = answers.digests.get(place)
            if found is None:
                failure = answers.failures.get(path, "nothing")
                return CheckItem(program, path, "values", False, "values", failure, scope)
            if place not in self.digests:
                self.digests[place] = check_child.digest(self._expected(layout, box))
            if self.digests[place] != found:
                expected, other = self._difference(program, layout, box, found)
                return CheckItem(program, path, "values", False, expected, other, scope)
        return CheckItem(program, path, "values", True, scope=scope)

    def _expected(self, layout: ArrayLayout, box: list[list[int]]) -> npt.NDArray[Any]:
        """Return the elements of a box of the target, from the source."""
        if layout.target.path in self.gathered:
            return self.gathered[layout.target.path].take(tuple(slice(*part) for part in box))[0]
        axes = list(layout.selection.axes)
        for axis, (start, stop) in zip(layout.kept_axes, box, strict=False):
            axes[axis] = axes[axis][start:stop]
        selection = Selection(tuple(axes), layout.selection.dropped)
        values = self.dataset.session.read(
            layout.source, self.dataset.access, selection, cancel=self.control.token, export=True
        )
        converted = layout.converted(np.asarray(values))
        if layout.spreads:
            own = [slice(*part) for part in box[len(layout.kept_axes) :]]
            index: tuple[Any, ...] = (..., *own)
            converted = converted[index]
        dtype = layout.target.dtype
        return converted if dtype is None else converted.astype(dtype, copy=False)

    def _difference(
        self, program: str, layout: ArrayLayout, box: list[list[int]], found: list[str]
    ) -> tuple[str, str]:
        """Return the first element that differs, as it is expected and as it was found."""
        kind, data = check_child.elements(self._expected(layout, box))
        if kind != found[0]:
            return f"elements of type {kind}", f"elements of type {found[0]}"
        path, place = layout.target.path, (layout.target.path, json.dumps(box))
        kept, self.boxes[path] = self.boxes[path], [box]
        answers = Answers()
        try:
            self._run(program, answers, [path], show=True)
        finally:
            self.boxes[path] = kept
        if not answers.elements.get(place):
            return "other values", "values that could not be read again"
        mine = _listed(kind, data)
        yours = _listed(kind, base64.b64decode(answers.elements[place][1]))
        at = next((at for at, (one, two) in enumerate(zip(mine, yours, strict=False)) if one != two), 0)
        shape = tuple(stop - start for start, stop in box)
        inside = np.unravel_index(at, shape) if shape else ()
        where = [int(number) + start for number, (start, _) in zip(inside, box, strict=True)]
        return (
            f"{quoted(mine[at], limit=60)} at {where}",
            f"{quoted(yours[at], limit=60) if at < len(yours) else 'nothing'} there",
        )


def _boxes_of(layout: ArrayLayout) -> list[list[list[int]]]:
    """Return the parts of an array that are compared, as first element and the one after the last by axis."""
    shape = layout.wanted.shape
    sides = Sides(size=PART).within(shape, element_size(layout.source))
    grid = RegularChunkGrid(shape, sides)
    numbers = range(grid.size)
    if grid.size > SAMPLED and prod(shape) * element_size(layout.source) > WHOLE:
        numbers = np.unique(np.linspace(0, grid.size - 1, SAMPLED).astype(np.int64)).tolist()
    boxes = []
    for number in numbers:
        coords = np.unravel_index(number, grid.grid_shape) if shape else ()
        boxes.append(
            [
                [int(at) * side, min((int(at) + 1) * side, length)]
                for at, side, length in zip(coords, sides, shape, strict=True)
            ]
        )
    return boxes


def _scope(layout: ArrayLayout, count: int) -> str:
    shape = layout.wanted.shape
    parts = RegularChunkGrid(shape, Sides(size=PART).within(shape, element_size(layout.source))).size
    return "whole" if count >= parts else f"sampled: {count} of {parts} parts of at most {PART >> 20} MiB"


def _is_ended(answers: Answers, nodes: list[str]) -> bool:
    """Whether a program could not go on from some node: what comes after it is not missing."""
    return any(path not in answers.nodes for path in nodes if path in answers.failures) or (
        "/" in answers.failures
    )


def _listed(kind: str, data: bytes) -> list[Any]:
    if kind == "text":
        texts: list[Any] = json.loads(data)
        return texts
    try:
        return np.frombuffer(data, np.dtype(f"<{kind}")).tolist()
    except TypeError:
        return [data]
