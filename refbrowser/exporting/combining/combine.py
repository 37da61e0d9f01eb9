"""Combine files: they are looked at, what differs is told, one document is written and proved."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from refbrowser.engine.compute import HERE, Compute, check_workers
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, dataset_of, open_dataset
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.combination import ODD, Combination
from refbrowser.exporting.combining.combined import Plan, blocked, combined_document
from refbrowser.exporting.combining.mismatches import (
    ArrayOfFiles,
    Mismatch,
    arrays_of,
    mismatches_of,
    of_files,
)
from refbrowser.exporting.combining.placing import divide, file_ends, placed_axes
from refbrowser.exporting.combining.properties import (
    FileSet,
    LookedAt,
    LookTask,
    is_named,
    look_at,
)
from refbrowser.exporting.exporter import Exporter
from refbrowser.exporting.request import ExportRequest
from refbrowser.exporting.saving.making import FORMS, computing, sources_of
from refbrowser.exporting.saving.proving import different, is_same
from refbrowser.exporting.targets.references import ReferencesTarget
from refbrowser.formats.library.process import end_spare, one_after_another
from refbrowser.formats.references import give_memory_back
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import Origin, local_path
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.selection import Selection
from refbrowser.references.document.document import Document
from refbrowser.references.edits.fold import folded

#: Files that are looked at one after another by one process.
_TOGETHER = 16
#: Files whose values are compared with those of the result, and elements of each array.
_COMPARED, _ELEMENTS = 3, 1 << 20
#: Times that the odd files are looked for anew after others were left out.
_ROUNDS = 5


@dataclass(slots=True, kw_only=True)
class CombineReport:
    """What became of files.

    Attributes
    ----------
    target
        The document.
    files
        How many are in it.
    left_out
        The others, with why.
    mismatches
        What differs in those that are in it.
    sizes
        Length of each dimension along which they lie.
    arrays, references
        How many the document has.
    compared, unread
        Chunks whose values were those of their files, and those that could not be read.
    losses
        What references cannot hold, or have otherwise.
    """

    target: str
    files: int
    left_out: list[tuple[str, str]] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    arrays: int = 0
    references: int = 0
    compared: int = 0
    unread: int = 0
    losses: tuple[str, ...] = ()


def gather(request: Combination, control: JobControl | None = None, compute: Compute = HERE) -> FileSet:
    """Look at all files, many at a time.

    Raises
    ------
    RefbrowserError
        A file cannot be read, unless such are left out.
    Cancelled
        The control's token was cancelled.
    """
    control = control or JobControl()
    request.check()
    named = sources_of(request.sources)
    files = FileSet(request.looking())
    gone = {each for each in named if any(is_named(each, text) for text in request.leave_out)}
    files.left_out = [(each, "left out") for each in named if each in gone]
    sources = [each for each in named if each not in gone]
    if not sources:
        raise RefbrowserError(ErrorKind.USAGE, "there is no file to combine")
    together = max(1, min(_TOGETHER, len(sources) // 8))
    tasks = [
        LookTask(tuple(sources[start : start + together]), files.looking)
        for start in range(0, len(sources), together)
    ]
    done = 0
    control.progress(0, len(sources))
    with computing(compute, sources) as chosen, chosen.open(control.token) as executor:
        check_workers(executor)
        for task, answers in executor.run(look_at, tasks, control.token):
            if isinstance(answers, BaseException):
                raise answers
            for answer in answers:
                if isinstance(answer, LookedAt):
                    files.add(answer)
                elif request.skip_bad:
                    files.left_out.append((answer[0], answer[1].message))
                else:
                    error = answer[1]
                    raise error.at(replace(error.place, document=error.place.document or answer[0]))
            done += len(task.sources)
            control.progress(done, len(sources), note=os.path.basename(task.sources[-1]))
    files.sort_as(sources)
    return files


def plan_of(files: FileSet, request: Combination) -> Plan:
    """Return what becomes of files that were looked at; nothing is read.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: what is said names what is not there, or no file is left.
    """
    request.check()
    gone = dict(files.left_out)
    for text in request.leave_out:
        gone |= {} if text == ODD else dict.fromkeys(files.named(text), "left out")
    for _ in range(_ROUNDS):
        left = [each for each in files.files if each.source not in gone]
        if not left:
            raise RefbrowserError(ErrorKind.USAGE, "no file is left to be combined")
        plan = _planned(left, request)
        odd = [] if ODD not in request.leave_out else list(of_files(plan.mismatches))
        if not odd:
            break
        gone |= {source: _why(plan, source) for source in odd}
    plan.left_out = list(gone.items())
    return plan


def _why(plan: Plan, source: str) -> str:
    return next(f"odd: {each.kind} of {each.path}" for each in plan.blocking if source in each.files)


def _planned(files: list[LookedAt], request: Combination) -> Plan:
    arrays = arrays_of(files, request)
    axes, found = placed_axes(files, arrays, request)
    divided = divide(arrays, axes)
    told = [*mismatches_of(files, arrays, request), *found, *file_ends(files, arrays, axes), *divided]
    told.sort(key=lambda each: not each.is_blocking)
    return Plan(request, files, [], arrays, axes, told)


def lacks(files: FileSet, request: Combination) -> bool:
    """Tell whether files must be looked at anew, since other values of them are wanted."""
    return files.looking != request.looking()


def combine(
    request: Combination,
    control: JobControl | None = None,
    compute: Compute = HERE,
    told: Callable[[Plan], None] = lambda plan: None,
) -> CombineReport:
    """Combine files into one document, compared with some of them before it gets its name.

    Parameters
    ----------
    told
        Called with what was found before anything is written.

    Raises
    ------
    RefbrowserError
        `E_META`: a difference stands against it; as `gather` and `plan_of`; the document cannot be written.
    Cancelled
        The control's token was cancelled.
    """
    control = control or JobControl()
    if request.format not in FORMS:
        message = f"{quoted(request.format)} is no form of references"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(FORMS)}")
    local = local_path(request.target)
    if local is not None and os.path.exists(local) and not request.force:
        message = "the document is there already"
        raise RefbrowserError(ErrorKind.IO, message, Place(document=request.target), "give --force")
    files = gather(request, control, compute)
    plan = plan_of(files, request)
    del files
    told(plan)
    if plan.blocking:
        raise blocked(plan)
    return write(plan, control)


def combined_dataset(plan: Plan, session: Session, control: JobControl | None = None) -> Dataset:
    """Return the files of a plan as one dataset; nothing is written.

    Raises
    ------
    RefbrowserError
        As `combined_document`.
    """
    control = control or JobControl()
    document = combined_document(plan, control.token, name=plan.request.target)
    return _dataset(plan, document, session, control)


def _dataset(plan: Plan, document: Document, session: Session, control: JobControl) -> Dataset:
    request = plan.request
    folders = {os.path.dirname(url) for file in plan.files for url in file.chunks.urls}
    allow = tuple(Origin.parse(each) for each in (*request.allow, *_folders_of(plan.files, folders)))
    path = request.target or "combined.json"
    access = Access.for_document(os.path.abspath(path), allow, request.settings)
    return dataset_of(path, document, access, session, control)


def _written(plan: Plan, control: JobControl) -> Document:
    """Return the document of a plan as a text alone; the plan has no references afterwards."""
    made = combined_document(plan, control.token, name=plan.request.target)
    for file in plan.files:
        file.chunks.forget()
    _tidy()
    document: Document = made.written()
    origin = made.origin
    del made
    _tidy()
    if plan.request.fold:
        document = folded(replace(document, origin=None), control.check).after
    return replace(document, origin=origin)


def _tidy() -> None:
    """Give memory back: documents and what they stand for know each other, and are found by collecting."""
    gc.collect()
    give_memory_back()


def _folders_of(files: Sequence[LookedAt], folders: set[str]) -> Iterator[str]:
    """Yield the folders of local files that were named: these may be read, as the user named them."""
    named = {
        os.path.dirname(os.path.realpath(path))
        for each in files
        if (path := local_path(each.source)) is not None
    }
    below = {each + os.sep for each in folders}
    yield from sorted(each for each in named if any(one.startswith(each + os.sep) for one in below))


def write(plan: Plan, control: JobControl | None = None) -> CombineReport:
    """Write the document of a plan, whose references are forgotten.

    Raises
    ------
    RefbrowserError
        A difference stands against it, the document cannot be written, or it gives other values.
    Cancelled
        The control's token was cancelled.
    """
    control, request = control or JobControl(), plan.request
    report = CombineReport(
        target=request.target,
        files=len(plan.files),
        left_out=plan.left_out,
        mismatches=plan.mismatches,
        sizes={axis.name: axis.size for axis in plan.axes},
        arrays=len(plan.arrays),
        losses=tuple(dict.fromkeys(loss for file in plan.files for loss in file.losses)),
    )
    with Session() as session:
        dataset = _dataset(plan, _written(plan, control), session, control)
        writing = ExportRequest(request.target, request.format, force=request.force, options=request.options)
        exporter = Exporter(dataset, writing, CombinedReferences)
        target = exporter.target
        assert isinstance(target, CombinedReferences)
        proof = CombinedProof(plan)
        target.proof = proof
        done = exporter.run(control)
    report.references, report.compared, report.unread = done.chunks, proof.compared, proof.unread
    report.losses += tuple(dict.fromkeys(str(each) for each in done.losses))
    return report


class CombinedReferences(ReferencesTarget):
    """References of many files that are compared with some of these before the document gets its name."""

    proof: CombinedProof

    def prove(self, path: str, document: Document, token: CancelToken) -> None:
        """Raise `E_IO` where a document gives other values than the files."""
        _tidy()
        with open_dataset(self.proof.opening(path)) as made:
            self.check_rows(made.document, document)
            self.proof.check(made, self.proof.some(), token)


@dataclass(slots=True)
class CombinedProof:
    """Compares a document with the files that it was made of.

    Attributes
    ----------
    compared, unread
        Chunks whose values were those of their files, and those that could not be read.
    """

    plan: Plan
    compared: int = 0
    unread: int = 0

    def some(self) -> list[int]:
        """Return the numbers of the first, a middle and the last file."""
        return sorted({0, len(self.plan.files) // 2, len(self.plan.files) - 1})[:_COMPARED]

    def opening(self, path: str) -> OpenRequest:
        """Return how the document is opened: files that were named may be read."""
        plan, request = self.plan, self.plan.request
        folders = {os.path.dirname(url) for each in plan.files for url in each.chunks.urls}
        return OpenRequest(
            path,
            allow=(*request.allow, *_folders_of(plan.files, folders)),
            storage_options=request.storage_options,
            settings=request.settings,
            stale=request.stale,
        )

    def check(self, made: Dataset, numbers: Iterable[int], token: CancelToken) -> None:
        """Compare files with a dataset.

        Raises
        ------
        RefbrowserError
            `E_IO`: it gives other values.
        Cancelled
            `token` was cancelled.
        """
        for number in numbers:
            token.check()
            opening = replace(self.opening(self.plan.files[number].source), allow=self.plan.request.allow)
            before = self.compared, self.unread
            chain = None
            try:
                with one_after_another() as chain:
                    self._check_file(made, opening, number)
                    is_sure = not chain.is_mixed or self.unread == before[1]
            except RefbrowserError:
                is_sure = chain is None or not chain.is_mixed
                if is_sure:
                    raise
            if not is_sure:
                # A process that has read other files may be at fault.
                self.compared, self.unread = before
                self._check_file(made, opening, number)
        end_spare()

    def _check_file(self, made: Dataset, opening: OpenRequest, number: int) -> None:
        with open_dataset(opening) as file:
            for array in self.plan.arrays:
                if number in array.files:
                    self._compare(made, file, array, number)

    def _compare(self, made: Dataset, file: Dataset, array: ArrayOfFiles, number: int) -> None:
        plan, told = self.plan, array.told[array.files.index(number)]
        if not prod(told.shape) or (array.role == "same" and number != array.files[0]):
            return
        node = made.hierarchy.find(array.path)
        if not isinstance(node, ArrayNode):
            return
        starts, inner = [], []
        for size, axis in zip(plan.shape(array), plan.axes_of(array), strict=True):
            part = None if axis is None else axis.of_file[number]
            starts.append(0 if axis is None or part is None else axis.starts[part])
            inner.append(size if axis is None or part is None else axis.lengths[part])
        extra = len(starts) - len(told.shape)
        # Its first chunk and its last one, as far as they can be compared.
        room = _ELEMENTS
        sides: list[int] = []
        for length, side in zip(reversed(told.shape), reversed(told.chunks), strict=True):
            sides.insert(0, max(1, min(length, side, room)))
            room //= sides[0]
        begin = tuple(slice(0, side) for side in sides)
        end = tuple(slice(length - side, length) for length, side in zip(told.shape, sides, strict=True))
        source = file.hierarchy.find(told.path)
        assert isinstance(source, ArrayNode)
        source = file.document.by_library(source) or source
        for own in (begin,) if begin == end else (begin, end):
            moved = (
                slice(at + each.start, at + each.stop) for at, each in zip(starts[extra:], own, strict=True)
            )
            index = (*(slice(at, at + 1) for at in starts[:extra]), *moved)
            try:
                expected = np.asarray(
                    file.session.read(source, file.access, Selection.from_index(own, source.shape))
                )
                found = np.asarray(
                    made.session.read(node, made.access, Selection.from_index(index, node.shape))
                )
            except RefbrowserError as error:
                if error.kind not in (ErrorKind.BLOCKED, ErrorKind.SOURCE, ErrorKind.RANGE, ErrorKind.IO):
                    raise
                self.unread += 1
                continue
            if array.role != "placed":
                if plan.request.time_units or expected.dtype.hasobject:
                    return
                expected = expected.astype(found.dtype)
            if not is_same(found.reshape(expected.shape), expected):
                raise different(array.path, f"{quoted(plan.files[number].source)} has other values")
            self.compared += 1
