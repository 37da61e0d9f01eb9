"""A file of netCDF-4 as netCDF4-python and h5py read it, compared with its source."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from refbrowser.engine.jobs import JobControl
from refbrowser.exporting import check_child
from refbrowser.exporting.check import (
    Answers,
    CheckItem,
    CheckReport,
    Program,
    ask_program,
    compared,
    compared_attributes,
    compared_boxes,
    first_difference,
    scope_of,
)
from refbrowser.exporting.request import ExportRequest, Tally
from refbrowser.exporting.targets.netcdf4_writing import (
    ElementReader,
    PlannedGroup,
    PlannedVariable,
    Writing,
    item_size,
)
from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.model.netcdf.types import AtomicType, NetcdfAttribute

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

#: One library is netCDF's own, with an HDF5 of its own; the other knows nothing of netCDF.
_PROGRAMS = ("netCDF4", "h5py")


class FileCheck:
    """What programs read of a file that was written.

    Parameters
    ----------
    root
        What was written.
    reached
        How far variables reach along unlimited dimensions, by path.
    """

    def __init__(
        self,
        dataset: Dataset,
        request: ExportRequest,
        root: PlannedGroup,
        reached: Mapping[str, int],
        control: JobControl,
    ) -> None:
        self._request = request
        self._control = control
        self._reached = reached
        self._groups = {path or "/": group for path, group in _groups("", root)}
        declared = (item for group in self._groups.values() for item in group.dimensions.items())
        self._names = {path: name for path, (name, _) in declared}
        self._variables = {
            f"{path.rstrip('/')}/{plan.name}": plan
            for path, group in self._groups.items()
            for plan in group.variables
        }
        self._boxes = {
            path: compared_boxes(plan.node.shape, item_size(plan.type, plan.node))
            for path, plan in self._variables.items()
        }
        self._writing = Writing(
            dataset.session, dataset.access, control.token, control, Tally(), skip_bad=request.skip_bad
        )
        self._digests: dict[tuple[str, str], list[str]] = {}

    def report(self) -> CheckReport:
        """Run every program, and compare."""
        programs: list[Program] = []
        items: list[CheckItem] = []
        notes: list[str] = []
        for name in _PROGRAMS:
            if find_spec(name) is None:
                notes.append(f"{name} is not installed: nothing was checked with it")
                continue
            answers = Answers()
            told = self._run(name, answers, self._boxes, show=False)
            if told:
                answers.failures[answers.at] = told
            programs.append(Program(name, answers.version or "of unknown version"))
            items += self._items(name, answers)
        return CheckReport(tuple(programs), tuple(items), tuple(notes))

    def _run(
        self, program: str, answers: Answers, boxes: Mapping[str, list[list[list[int]]]], *, show: bool
    ) -> str:
        asked = {
            "target": self._request.target,
            "container": "netcdf4",
            "show": show,
            "groups": [path for path in self._groups if path != "/"],
            "arrays": list(boxes.items()),
        }
        return ask_program(program, asked, answers, self._control.token)

    def _items(self, program: str, answers: Answers) -> Iterator[CheckItem]:
        for path, failure in answers.failures.items():
            yield CheckItem(program, path, "reading", False, "a node that is read", failure)
        for path, group in self._groups.items():
            if path in answers.nodes:
                found = answers.nodes[path]["attributes"]
                yield from compared_attributes(program, path, _plain(group.attributes), found)
        for number, (path, plan) in enumerate(self._variables.items()):
            self._control.progress(number, len(self._variables))
            if path in answers.nodes:
                yield from self._node(program, path, plan, answers.nodes[path])
                yield self._values(program, path, plan, answers)
            elif path not in answers.failures:
                yield CheckItem(program, path, "opening", False, "a variable", "nothing")
        self._control.progress(len(self._variables), len(self._variables))

    def _node(
        self, program: str, path: str, plan: PlannedVariable, found: dict[str, Any]
    ) -> Iterator[CheckItem]:
        shape = list(plan.node.shape)
        if program == "netCDF4":
            # There all are as long as the longest along an unlimited dimension.
            shape = [
                max(side, self._reached.get(name, 0))
                for name, side in zip(plan.dimensions, shape, strict=True)
            ]
        yield compared(program, path, "shape", shape, found["shape"])
        if found["dimensions"] is not None:
            names = [self._names[name] for name in plan.dimensions]
            yield compared(program, path, "dimensions", names, found["dimensions"])
        expected = _plain(plan.attributes)
        if plan.fill is not None:
            expected[FILL_ATTRIBUTE] = plan.fill
        yield from compared_attributes(program, path, expected, found["attributes"])

    def _values(self, program: str, path: str, plan: PlannedVariable, answers: Answers) -> CheckItem:
        boxes = self._boxes[path]
        scope = scope_of(plan.node.shape, item_size(plan.type, plan.node), len(boxes))
        for box in boxes:
            self._control.check()
            place = path, json.dumps(box)
            found = answers.digests.get(place)
            if found is None:
                failure = answers.failures.get(path, "nothing")
                return CheckItem(program, path, "values", False, "values", failure, scope)
            if place not in self._digests:
                self._digests[place] = check_child.digest(self._expected(plan, box))
            if self._digests[place] != found:
                return CheckItem(
                    program, path, "values", False, *self._difference(program, path, box, found), scope
                )
        return CheckItem(program, path, "values", True, scope=scope)

    def _expected(self, plan: PlannedVariable, box: list[list[int]]) -> Any:
        """Return the elements of a box, from the source."""
        _, values, _ = ElementReader(plan, self._writing).read(tuple(slice(*part) for part in box))
        return values

    def _difference(self, program: str, path: str, box: list[list[int]], found: list[str]) -> tuple[str, str]:
        """Return the first element that differs, as it is expected and as it was found."""
        kind, data = check_child.elements(self._expected(self._variables[path], box))
        if kind != found[0]:
            return f"elements of type {kind}", f"elements of type {found[0]}"
        answers = Answers()
        self._run(program, answers, {path: [box]}, show=True)
        shown = answers.elements.get((path, json.dumps(box)))
        if not shown:
            return "other values", "values that could not be read again"
        return first_difference(kind, data, base64.b64decode(shown[1]), box)


def _groups(above: str, group: PlannedGroup) -> Iterator[tuple[str, PlannedGroup]]:
    yield above, group
    for below in group.groups:
        yield from _groups(f"{above}/{below.name}", below)


def _plain(attributes: tuple[NetcdfAttribute, ...]) -> dict[str, Any]:
    """Return the values of attributes, those of texts as texts."""
    found: dict[str, Any] = {}
    for each in attributes:
        is_text = each.type in (AtomicType.CHAR, AtomicType.STRING)
        found[each.name] = each.values[0] if is_text and len(each.values) == 1 else list(each.values)
    return found
