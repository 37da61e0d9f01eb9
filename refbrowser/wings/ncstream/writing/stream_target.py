"""Exporting to a stream of messages, and reading that with siphon."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested.nested_variables import may_miss
from refbrowser.engine.reading_kinds import reading_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting import check_child
from refbrowser.exporting.block_sides import boxes, run_sides
from refbrowser.exporting.blocks import TASK_BYTES, element_size
from refbrowser.exporting.check import (
    Answers,
    CheckItem,
    CheckReport,
    Program,
    ask_program,
    compared,
    compared_attributes,
)
from refbrowser.exporting.exporter import Target, coding
from refbrowser.exporting.request import ExportEstimate, ExportRequest, Loss, Tally
from refbrowser.exporting.source_losses import damage, unread_attributes
from refbrowser.exporting.targets.taken_arrays import chosen_of
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import SequenceType
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.wings.ncstream.reading import magics
from refbrowser.wings.ncstream.reading.definition import (
    StreamAttribute,
    StreamDefinition,
    StreamGroup,
    StreamType,
    StreamVariable,
)
from refbrowser.wings.ncstream.reading.elements import STRUCTURES, is_ragged
from refbrowser.wings.ncstream.reading.messages import MessageKind, MessageTable, StreamIndex
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.writing.definition_of import (
    StreamedDataset,
    StreamedVariable,
    StreamLoss,
    definition_of,
)
from refbrowser.wings.ncstream.writing.encoding import header_body, header_message, header_messages
from refbrowser.wings.ncstream.writing.message_writing import StreamRun, write_variable
from refbrowser.wings.ncstream.writing.stream_file import StreamFile, WrittenMessage
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions
from refbrowser.wings.ncstream.writing.stream_plan import StreamBlockReader, VariablePlan, is_made, planned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refbrowser.engine.dataset import Dataset


#: Chunks whose references are looked at together, and at most.
PAGE = 65_536
_LOOKED_AT = 1 << 20
#: Bytes of a message beside its payload, and of a header for each variable, about.
_HEAD, _VARIABLE = 100, 4096


def estimated(plans: Iterable[VariablePlan], token: CancelToken) -> ExportEstimate:
    """Return what writing variables will cost."""
    messages = source = target = missing = 0
    for plan in plans:
        stored, gone = _stored(plan, token)
        messages += plan.messages
        missing += gone if plan.leaves_out else 0
        source += stored
        target += plan.size + plan.messages * _HEAD + _VARIABLE
    return ExportEstimate(messages, missing, source, target)


def _stored(plan: VariablePlan, token: CancelToken) -> tuple[int, int]:
    """Return the stored bytes of an array, about, and how many of its chunks are missing."""
    node = plan.source
    decoded = prod(plan.shape) * element_size(node)
    if is_made(node) or not node.has_manifest or node.grid.size > _LOOKED_AT:
        return decoded, 0
    grid, manifest = node.grid, node.manifest
    taken = prod(plan.shape) / max(1, prod(node.shape))
    stored = gone = 0
    for start in range(0, grid.size, PAGE):
        token.check()
        columns = manifest.columns(_coords(node, start, min(start + PAGE, grid.size)))
        gone += int(np.count_nonzero(columns.kind == ReferenceKind.MISSING))
        whole = int(np.count_nonzero(columns.kind == ReferenceKind.WHOLE))
        stored += int(columns.length[columns.kind == ReferenceKind.RANGE].sum())
        stored += whole * prod(grid.largest) * element_size(node)
    return int(stored * taken), gone


def _coords(node: ArrayNode, start: int, stop: int) -> np.ndarray:
    shape = node.grid.grid_shape
    if not shape:
        return np.zeros((stop - start, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1).astype(np.int64)


def compatible_notes(streamed: StreamedDataset) -> Iterator[StreamLoss]:
    """Yield what siphon does not understand although the grammar and the Java readers do (wire notes, 5)."""
    for each in streamed.variables:
        path, variable = each.node.path, each.variable
        if each.path.count("/") > 2:
            yield StreamLoss(path, "siphon does not find variables of groups more than one deep")
        if variable.type in (StreamType.STRING, StreamType.OPAQUE) and len(variable.shape) > 1:
            yield StreamLoss(path, "siphon reads texts and opaque values along one dimension")
        if is_ragged(variable) and len(variable.shape) > 1:
            yield StreamLoss(path, "siphon reads ragged rows along one dimension")
        if variable.type is StreamType.STRUCTURE and not all(map(_is_scalar_number, variable.members)):
            yield StreamLoss(path, "siphon reads only structures of single numbers")
        if isinstance(each.node.type, SequenceType):
            yield StreamLoss(path, "the sequence is written as structures: siphon reads no header with one")


def _is_scalar_number(member: StreamVariable) -> bool:
    return member.type.dtype is not None and not member.dimensions


def is_last(variable: StreamVariable) -> bool:
    """Tell whether a message comes behind the others: the Java reader loses its place there."""
    return variable.type in (StreamType.STRING, StreamType.OPAQUE, StreamType.SEQUENCE)


def verify_stream(file: StreamFile, path: str, definition: StreamDefinition, token: CancelToken) -> int:
    """Return how many messages were found again: each where it was written, with the bytes that it had.

    Parameters
    ----------
    path
        Of the file, for errors.

    Raises
    ------
    RefbrowserError
        `IO`: something is not as it was written.
    OSError
        The file cannot be read.
    """
    index = walk_stream(file, url=path, token=token)
    if index.faults:
        raise _failed(path, str(index.faults[0].message))
    if index.walked != file.size or not (index.has_start and index.has_end):
        raise _failed(path, f"the stream ends at byte {index.walked} of {file.size}")
    if header_body(index.definition) != header_body(definition):
        raise _failed(path, "the header differs")
    _compare(file, index, path, token)
    return len(file.messages)


def _compare(file: StreamFile, index: StreamIndex, path: str, token: CancelToken) -> None:
    if len(index.table) != len(file.messages):
        raise _failed(path, f"{len(index.table)} messages where {len(file.messages)} were written")
    for row, message in enumerate(file.messages):
        token.check()
        if not _is_same(index.table, row, message) or not all(map(file.holds, message.parts)):
            raise _failed(path, f"message {row} ({quoted(message.path)}) differs from what was written")


def _is_same(table: MessageTable, row: int, message: WrittenMessage) -> bool:
    if (table.offset[row], table.stop[row]) != (message.offset, message.stop):
        return False
    if not message.path:
        return bool(table.kind[row] == MessageKind.HEADER)
    found = table.payload_offset[row], table.payload_length[row]
    return (
        table.kind[row] in (MessageKind.DATA, MessageKind.DATA_COLUMN)
        and table.names[table.variable[row]] == message.path
        and found == (message.payload_offset, message.payload_length)
        and (table.ranges(row) or ()) == (message.section or ())
    )


def _failed(path: str, what: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.IO, f"verification failed: {what}", Place(path=path))


class StreamTarget(Target):
    """A stream: planned when it is made.

    Raises
    ------
    RefbrowserError
        An array cannot be written (and `skip_bad` is not set); `E_USAGE`: an option has no meaning.
    """

    written_anew: ClassVar[str] = "a stream is always written in one run: it cannot be resumed"

    def __init__(self, dataset: Dataset, request: ExportRequest) -> None:
        super().__init__(dataset, request)
        self.options = request.chosen(StreamOptions)
        self.chosen = chosen_of(dataset, request.arrays, "a stream")
        self.skipped: list[RefbrowserError] = []
        self.streamed = self.described()
        for error in self.streamed.left_out:
            self._bad(error)
        self.plans = self._planned()
        self.losses = self._told()

    def described(self) -> StreamedDataset:
        """Return what the header says, and where the values of each variable come from."""
        return definition_of(self.chosen.hierarchy, sequences=not self.options.is_compatible)

    def _bad(self, error: RefbrowserError) -> None:
        if not self.request.skip_bad:
            raise error
        self.skipped.append(error)

    def _planned(self) -> list[VariablePlan]:
        """Return how each variable is written, in the order of their messages."""
        groups = list(dict.fromkeys(each.path.rpartition("/")[0] for each in self.streamed.variables))

        def place(each: StreamedVariable) -> tuple[bool, int, bool]:
            group = groups.index(each.path.rpartition("/")[0])
            return is_last(each.variable), group, each.variable.type in STRUCTURES

        # As in the header, where structures stand behind the variables of their group.
        ordered = sorted(self.streamed.variables, key=place)
        plans = []
        for each in ordered:
            source, selection = self.chosen.sources[each.node.path]
            try:
                plans.append(planned(each, source, selection, self.options))
            except RefbrowserError as error:
                self._bad(error)
        return plans

    def _told(self) -> tuple[Loss, ...]:
        found = [Loss(loss.path, loss.what) for loss in self.streamed.losses]
        if self.options.is_compatible:
            found += (Loss(loss.path, loss.what) for loss in compatible_notes(self.streamed))
        taken = (node for node, _ in self.chosen.sources.values())
        found += (Loss(node.path, "what is missing is NaN") for node in taken if may_miss(node))
        for error in self.chosen.left_out:
            found.append(Loss(error.place.path or "/", f"left out: {error.message}"))
        found += damage(self.dataset, self.request)
        nodes = [*self.chosen.hierarchy.walk()]
        return (*unread_attributes(self.dataset.hierarchy, nodes), *found)

    @property
    def arrays(self) -> int:
        """How many arrays are written: complex numbers are two variables."""
        return len({plan.source.path for plan in self.plans})

    def cost(self, token: CancelToken) -> ExportEstimate:
        """Return what the export will cost; reads references, no data."""
        return estimated(self.plans, token)

    def questions(self) -> Iterator[RefbrowserError]:
        """Yield the errors of large chunks, and of very many messages."""
        for plan in self.plans:
            large = None if plan.copied or is_made(plan.source) else reading_of(plan.source).chunk_question()
            if large is not None:
                yield large
        count = sum(plan.messages for plan in self.plans)
        if count > LIMITS.write_out_question:
            text = f"{count} messages are more than {LIMITS.write_out_question} (write_out_question)"
            advice = "give --yes, or choose arrays and selections"
            yield RefbrowserError(ErrorKind.BUDGET, text, advice=advice)

    def write(self, made: BinaryIO, tally: Tally, control: JobControl) -> None:
        """Write all messages."""
        self._file = file = StreamFile(made)
        done, total = 0, sum(plan.steps for plan in self.plans)

        def step() -> None:
            nonlocal done
            done += 1
            control.check()
            control.progress(done, total, read_bytes=tally.read_bytes, requests=tally.requests)

        checksums, skip_bad = self.options.has_checksums, self.request.skip_bad
        with coding(self.dataset, control) as (session, token):
            run = StreamRun(session, self.dataset.access, file, token, tally, checksums, skip_bad, step)
            file.append((magics.START,))
            for header in self._headers():
                file.whole("", None, (), (header,))
            with file.flushed():
                self.write_data(run)
            file.append((magics.END,))
        tally.written_bytes = file.size

    def verify(self, made: BinaryIO, tally: Tally, control: JobControl) -> int:
        """Walk the stream again, and compare every message."""
        target = os.path.realpath(self.name)
        return verify_stream(self._file, target, self.streamed.definition, control.token)

    @classmethod
    def check(cls, dataset: Dataset, request: ExportRequest, control: JobControl) -> CheckReport:
        """Read a stream with siphon, and compare it with the source."""
        if not request.chosen(StreamOptions).is_compatible:
            note = (
                "siphon reads one message for each variable: only the compatible profile is checked with it"
            )
            return CheckReport((), (), (note,))
        if find_spec(_NAME) is None:
            return CheckReport((), (), ("siphon is not installed: nothing was checked with it",))
        return _Check(dataset, request, control).report()

    def _headers(self) -> Iterable[bytes]:
        definition = self.streamed.definition
        # Other readers know but one.
        return [header_message(definition)] if self.options.is_compatible else header_messages(definition)

    def write_data(self, run: StreamRun) -> None:
        """Write the data messages."""
        for plan in self.plans:
            write_variable(run, plan)


_NAME = "siphon"
_SCRIPT = Path(__file__).with_name("siphon_child.py")


class _Check:
    def __init__(self, dataset: Dataset, request: ExportRequest, control: JobControl) -> None:
        self.dataset = dataset
        self.request = request
        self.control = control
        self.export = StreamTarget(dataset, request)
        self.answers = Answers()

    def report(self) -> CheckReport:
        """Run siphon, and compare."""
        asked = {"target": self.request.target, "show": False}
        told = ask_program(_NAME, asked, self.answers, self.control.token, str(_SCRIPT))
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
        reader = StreamBlockReader(self.dataset.session, self.dataset.access, plan, self.control.token)
        dtype = plan.streamed.variable.type.dtype
        if dtype is None or dtype.kind == "S" or is_ragged(plan.streamed.variable):
            block = reader.read(tuple(slice(0, length) for length in plan.shape))
            return check_child.digest(_comparable(plan, block.values))
        sha, little = hashlib.sha256(), dtype.newbyteorder("<")
        sides = run_sides(plan.shape, (1,) * len(plan.shape), TASK_BYTES // dtype.itemsize)
        for box in boxes(plan.shape, sides):
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
    if variable.type is StreamType.OPAQUE:
        return np.array([bytes(item).hex() for item in values.reshape(-1).tolist()], object)
    return values
