"""Checking a stream with siphon: what that reads is compared with what the source holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.exporting import check_child
from refbrowser.exporting.blocks import TASK_BYTES
from refbrowser.exporting.checking import (
    Answers,
    CheckItem,
    CheckReport,
    Program,
    ask_program,
    compared,
    compared_attributes,
)
from refbrowser.exporting.ncstream import geometry
from refbrowser.exporting.ncstream.export import StreamExport
from refbrowser.exporting.ncstream.plan import VariablePlan
from refbrowser.exporting.ncstream.reading import BlockReader
from refbrowser.exporting.request import ExportRequest
from refbrowser.formats.ncstream.definition import DataType, StreamAttribute, StreamGroup
from refbrowser.formats.ncstream.dtypes import is_ragged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refbrowser.engine.dataset import Dataset

_NAME = "siphon"


def check_stream(dataset: Dataset, request: ExportRequest, control: JobControl) -> CheckReport:
    """Read a stream with siphon, and compare it with the source.

    Raises
    ------
    RefbrowserError
        The source cannot be read.
    Cancelled
        The control's token was cancelled.
    """
    if not request.stream.is_compatible:
        note = "siphon reads one message for each variable: only the compatible profile is checked with it"
        return CheckReport((), (), (note,))
    if find_spec(_NAME) is None:
        return CheckReport((), (), ("siphon is not installed: nothing was checked with it",))
    return _Check(dataset, request, control).report()


class _Check:
    def __init__(self, dataset: Dataset, request: ExportRequest, control: JobControl) -> None:
        self.dataset = dataset
        self.request = request
        self.control = control
        self.export = StreamExport(dataset, request)
        self.answers = Answers()

    def report(self) -> CheckReport:
        """Run siphon, and compare."""
        told = ask_program(
            _NAME, {"target": self.request.target, "show": False}, self.answers, self.control.token
        )
        if told:
            self.answers.failures[self.answers.at] = told
        program = Program(_NAME, self.answers.version or "of unknown version")
        return CheckReport((program,), tuple(self._items()))

    def _items(self) -> Iterator[CheckItem]:
        answers = self.answers
        for path, failure in answers.failures.items():
            yield CheckItem(_NAME, path, "reading", False, "a node that is read", failure)
        yield from self._groups("/", self.export.streamed.definition.root)
        for number, plan in enumerate(self.export.plans):
            self.control.progress(number, len(self.export.plans))
            path = plan.streamed.path
            found = answers.nodes.get(path)
            if found is not None:
                variable = plan.streamed.variable
                yield compared(_NAME, path, "shape", list(variable.shape), found["shape"])
                names = [each.name for each in variable.dimensions]
                yield compared(_NAME, path, "dimensions", names, found["dimensions"])
                yield from compared_attributes(_NAME, path, _plain(variable.attributes), found["attributes"])
                yield self._values(plan)
            elif path not in answers.failures:
                yield CheckItem(_NAME, path, "opening", False, "a variable", "nothing")
        self.control.progress(len(self.export.plans), len(self.export.plans))

    def _groups(self, path: str, group: StreamGroup) -> Iterator[CheckItem]:
        found = self.answers.nodes.get(path)
        if found is not None:
            yield from compared_attributes(_NAME, path, _plain(group.attributes), found["attributes"])
        for name, below in group.groups.items():
            yield from self._groups(f"{path.rstrip('/')}/{name}", below)

    def _values(self, plan: VariablePlan) -> CheckItem:
        path = plan.streamed.path
        found = self.answers.digests.get((path, json.dumps([])))
        if found is None:
            failure = self.answers.failures.get(path, "nothing")
            return CheckItem(_NAME, path, "values", False, "values", failure)
        expected = self._expected(plan)
        if expected == found:
            return CheckItem(_NAME, path, "values", True)
        words = ("other values", "values") if expected[0] == found[0] else (expected[0], found[0])
        return CheckItem(_NAME, path, "values", False, *words)

    def _expected(self, plan: VariablePlan) -> list[str]:
        """Return the digest of the values of the source; of numbers a block at a time."""
        reader = BlockReader(self.dataset.session, self.dataset.access, plan, self.control.token)
        dtype = plan.streamed.variable.type.dtype
        if dtype is None or dtype.kind == "S" or is_ragged(plan.streamed.variable):
            block = reader.read(tuple(slice(0, length) for length in plan.shape))
            return check_child.digest(_comparable(plan, block.values))
        sha, little = hashlib.sha256(), dtype.newbyteorder("<")
        sides = geometry.run(plan.shape, (1,) * len(plan.shape), TASK_BYTES // dtype.itemsize)
        for box in geometry.boxes(plan.shape, sides):
            sha.update(np.ascontiguousarray(reader.read(box).values, little).tobytes())
        return [little.str.lstrip("<|>"), sha.hexdigest()]


def _plain(attributes: Mapping[str, StreamAttribute]) -> dict[str, Any]:
    return {name: list(each.values) if each.values else None for name, each in attributes.items()}


def _comparable(plan: VariablePlan, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values in the form in which the child tells them: rows and opaque values as texts."""
    variable = plan.streamed.variable
    if is_ragged(variable):
        dtype = variable.type.dtype
        return np.array([check_child.row_text(np.asarray(row, dtype)) for row in values.reshape(-1)], object)
    if variable.type is DataType.OPAQUE:
        return np.array([bytes(item).hex() for item in values.reshape(-1).tolist()], object)
    return values
