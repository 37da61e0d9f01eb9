"""Combine files: they are looked at, what differs is told, one document is written and proved."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from tempfile import gettempdir
from typing import Any

from refbrowser.engine.compute import HERE, Compute, Executor, check_workers
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.declarations.declarations_beside import declarations_of
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import dataset_of, open_dataset
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.exporting.combining.combination import ODD, Combination
from refbrowser.exporting.combining.combined import combined_document
from refbrowser.exporting.combining.combined_proof import CombinedProof, named_places
from refbrowser.exporting.combining.declared_mismatches import declared_mismatches, told_once
from refbrowser.exporting.combining.file_positions import divide, file_ends, no_dimension, placed_axes
from refbrowser.exporting.combining.file_set import FileSet
from refbrowser.exporting.combining.holes import Hole, hole_mismatches, holes_of
from refbrowser.exporting.combining.led_sources import with_lead
from refbrowser.exporting.combining.metadata_of_v3 import in_one_form
from refbrowser.exporting.combining.mismatches import (
    Mismatch,
    arrays_of,
    mismatches_of,
    of_files,
)
from refbrowser.exporting.combining.own_chunks import OwnChunks, off_grid, own_lines, own_note, size_question
from refbrowser.exporting.combining.plan import Era, Plan, blocked, eras_of
from refbrowser.exporting.combining.properties import ScannedSource, ScanSettings, is_named
from refbrowser.exporting.combining.regular_axis import Gaps, on_regular_axes
from refbrowser.exporting.combining.scan_journal import ScanJournal, forget_scans
from refbrowser.exporting.combining.scan_sources import ScanTask, StateTask, scan, states_of
from refbrowser.exporting.combining.selected_parts import cut_smaller, selected, without_gaps
from refbrowser.exporting.exporter import Exporter, Question, no
from refbrowser.exporting.making.made_references import sources_of
from refbrowser.exporting.request import ExportRequest, loss_lines
from refbrowser.exporting.saving.chunk_sink import ChunkSink
from refbrowser.exporting.saving.kerchunk_metadata import as_kerchunk_spells
from refbrowser.exporting.saving.lock_beside import renew_lock
from refbrowser.exporting.saving.url_spelling import can_be_plain, lies_beside, named_beside
from refbrowser.exporting.targets.references import ReferencesTarget
from refbrowser.exporting.workers.file_processes import computing
from refbrowser.formats.reference_forms import FORMS, form_of
from refbrowser.formats.references import give_memory_back
from refbrowser.formats.registry import form_named
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import Origin, in_object_store, local_path, parse_storage_options
from refbrowser.limits import LIMITS
from refbrowser.model.report import Report, first_of
from refbrowser.references.document.document import Document, ReferenceDocument
from refbrowser.references.document.fold import folded
from refbrowser.words import counted_plain

#: Files that are looked at one after another by one process.
_TOGETHER = 16
#: Files that tell whether a dimension is there.
_FIRST = 2
#: Files whose states are asked for one after another.
_ASKED = 64
#: What is told of where files lie, whatever groups they become.
_OF_PLACES = ("gap", "overlap", "double", "disorder", "new dimension")
#: Times that the odd files are looked for anew after others were left out.
_ROUNDS = 5


@dataclass(slots=True, kw_only=True, repr=False)
class CombineReport(Report):
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
    holes
        Times of regular axes that no file has.
    sizes
        Length of each dimension along which they lie.
    arrays, references
        How many the document has.
    compared, unread
        Chunks whose values were those of their files, and those that could not be read.
    losses
        What references cannot hold, or have otherwise.
    is_relative
        The document names the files relative to its own folder.
    relocked
        The lock beside it was written again.
    opened_by
        Lines of Python that open it, where more is needed than its name.
    own
        Chunks that were written anew.
    eras
        The groups that the files became; nothing for one.
    """

    target: str
    files: int
    left_out: list[tuple[str, str]] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    arrays: int = 0
    references: int = 0
    compared: int = 0
    unread: int = 0
    losses: tuple[str, ...] = ()
    is_relative: bool = False
    relocked: bool = False
    opened_by: tuple[str, ...] = ()
    own: list[OwnChunks] = field(default_factory=list)
    eras: list[Era] = field(default_factory=list)

    def size_texts(self) -> Iterator[str]:
        """Yield the dimensions along which files lie: their lengths, and how many times are holes."""
        missing = {each.dimension: each.count for each in self.holes if not each.path}
        for name, size in self.sizes.items():
            yield f"{name} {size}" + (f" ({missing[name]} missing)" if name in missing else "")

    def lines(self) -> Iterator[str]:
        """Yield the document, what differs in its files, and what was left out."""
        sizes = ", ".join(self.size_texts())
        yield (
            f"{self.target}: {counted_plain(self.files, 'file')} as one: {sizes}; "
            f"{counted_plain(self.arrays, 'array')}, "
            f"{counted_plain(self.references, 'reference')}, {counted_plain(self.compared, 'chunk')} compared"
        )
        yield from first_of([*self.own_lines(), *self.era_lines()])
        yield from first_of([f"note: {each.message}" for each in self.mismatches])
        yield from first_of([f"left out: {source}: {why}" for source, why in self.left_out])
        yield from first_of([f"note: {loss}" for loss in self.losses])

    def own_lines(self) -> Iterator[str]:
        """Yield what became of own chunks."""
        return own_lines(self.own)

    def era_lines(self) -> Iterator[str]:
        """Yield the groups that the files became, and what sets each apart."""
        for each in self.eras:
            what = f": {', '.join(each.what)}" if each.what else ""
            yield f"{each.path}: {counted_plain(len(each.files), 'file')}{what}"


def gather(
    request: Combination,
    control: JobControl | None = None,
    compute: Compute = HERE,
    journal: ScanJournal | None = None,
) -> FileSet:
    """Look at all files, many at a time.

    Parameters
    ----------
    journal
        Has what was found before, in files that are not looked at again where they are as they were. It takes
        what is found, and is closed.

    Raises
    ------
    RefbrowserError
        A file cannot be read, unless such are left out.
    """
    control = control or JobControl()
    request.check()
    settings = {**request.settings, **parse_storage_options(request.storage_options)}
    named = sources_of(request.sources, settings, control.token)
    files = FileSet(request.looking())
    gone = {each for each in named if any(is_named(each, text) for text in request.leave_out)}
    files.left_out = [(each, "left out") for each in named if each in gone]
    sources = [each for each in named if each not in gone]
    if not sources:
        raise RefbrowserError(ErrorKind.USAGE, "there is no file to combine")
    with journal or ScanJournal("", files.looking, resume=False) as journal:
        gathering = _Gathering(request, control, journal, files, len(sources))
        # A misspelt dimension is told before processes are started for all files.
        first = sources[:_FIRST] if compute.is_here and request.concat and not journal.known else []
        for some in (first, sources[len(first) :]):
            if some:
                gathering.scan(some, compute)
    files.sort_as(sources)
    why = {source: error.message for source, error in gathering.bad}
    files.left_out += [(source, why[source]) for source in sources if source in why]
    return files


@dataclass(slots=True)
class _Gathering:
    """What is found in files, some after others, and those that cannot be read."""

    request: Combination
    control: JobControl
    journal: ScanJournal
    files: FileSet
    count: int
    bad: list[tuple[str, RefbrowserError]] = field(default_factory=list)
    done: int = 0

    def scan(self, sources: list[str], compute: Compute) -> None:
        """Look at some of the files, where they are not known."""
        looking, control = self.files.looking, self.control
        with computing(compute, sources) as chosen, chosen.open(control.token) as executor:
            check_workers(executor)
            there = set()
            for known in _still_known(self.journal, sources, looking, executor, control.token):
                there.add(known.source)
                self.files.add(known)
            left = [each for each in sources if each not in there]
            self.done += len(there)
            control.progress(self.done, self.count)
            together = max(1, min(_TOGETHER, len(left) // 8))
            tasks = (ScanTask(each, looking) for each in _cut(left, together))
            for task, answers in executor.run(scan, tasks, control.token):
                if isinstance(answers, RefbrowserError):
                    raise answers.at(
                        replace(answers.place, document=answers.place.document or task.sources[0])
                    )
                if isinstance(answers, BaseException):
                    raise answers
                self._take(answers)
                self.done += len(task.sources)
                control.progress(self.done, self.count, note=os.path.basename(task.sources[-1]))

    def _take(self, answers: list[ScannedSource | tuple[str, RefbrowserError]]) -> None:
        looked = [each for each in answers if isinstance(each, ScannedSource)]
        self.journal.add(looked)
        for each in looked:
            # Of a hundred thousand files they would take as much as their references.
            each.states = ()
            self.files.add(each)
        _check_dimensions(self.files.files, self.request)
        self.bad += [each for each in answers if not isinstance(each, ScannedSource)]
        if self.bad and not self.request.skip_bad:
            source, error = self.bad[0]
            raise error.at(replace(error.place, document=error.place.document or source))


def _check_dimensions(files: Sequence[ScannedSource], request: Combination) -> None:
    """Raise `E_USAGE` where the first files lack a dimension, and others are to have the same arrays."""
    accepted = any(each.partition(":")[0] == "presence" for each in request.accept)
    may_differ = request.merge or accepted or ODD in request.leave_out
    if len(files) < _FIRST or len(files) > 2 * _TOGETHER or may_differ:
        return
    arrays = list({told: None for file in files for told in file.arrays})
    for name in request.concat:
        if not any(name in told.dimensions for told in arrays):
            raise no_dimension(name, arrays)


def _still_known(
    journal: ScanJournal, sources: list[str], looking: ScanSettings, executor: Executor, token: CancelToken
) -> Iterator[ScannedSource]:
    """Yield what was found in files before that are as they were then."""
    known = {source: found for source in sources if (found := journal.known.pop(source, None)) is not None}
    journal.known.clear()
    names = list(dict.fromkeys(name for each in known.values() for name, _ in each.states))
    tasks = (StateTask(each, looking) for each in _cut(names, _ASKED))
    states: dict[str, tuple[Any, ...]] = {}
    for _, answer in executor.run(states_of, tasks, token):
        if isinstance(answer, BaseException):
            raise answer
        states |= answer
    for found in known.values():
        if all(states[name] == state for name, state in found.states):
            found.states = ()
            yield found


def _cut(names: list[str], count: int) -> Iterator[tuple[str, ...]]:
    return (tuple(names[start : start + count]) for start in range(0, len(names), count))


def plan_of(files: FileSet, request: Combination) -> Plan:
    """Return what becomes of files that were looked at; nothing is read.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: what is said names what is not there, or no file is left.
    """
    request.check()
    gone = dict(files.left_out)
    # What they are added to stays, whatever is said of files.
    base = {files.files[0].source} if request.extends else set()
    for text in request.leave_out:
        gone |= (
            {}
            if text == ODD
            else dict.fromkeys((each for each in files.named(text) if each not in base), "left out")
        )
    for _ in range(_ROUNDS):
        left = [each for each in files.files if each.source not in gone]
        if not left:
            raise RefbrowserError(ErrorKind.USAGE, "no file is left to combine")
        plan = _planned(left, request)
        odd = [] if ODD not in request.leave_out else [*of_files(plan.mismatches)]
        odd = [each for each in odd if each not in base]
        if not odd:
            break
        gone |= {source: _why(plan, source) for source in odd}
    plan.left_out = [*gone.items(), *plan.left_out]
    return _in_eras(plan, left) if request.split else plan


def _in_eras(plan: Plan, files: Sequence[ScannedSource]) -> Plan:
    """Return a plan whose files become a group for each era; as it is where all are stored alike."""
    eras = eras_of(plan)
    if len(eras) == 1:
        message = "all files store their arrays alike: no groups are made"
        plan.mismatches.append(
            Mismatch(kind="eras", path="/", name="eras", message=message, is_blocking=False)
        )
        return plan
    request = replace(plan.request, split="")
    told = [each for each in plan.mismatches if each.kind in _OF_PLACES]
    plan.mismatches, plan.eras = [], eras
    for era in eras:
        sources = {plan.files[number].source for number in era.files}
        part = _planned([each for each in files if each.source in sources], request)
        part.below = era.path
        plan.parts.append(part)
        own = (each for each in part.mismatches if each.kind not in _OF_PLACES)
        told += [
            replace(each, path=f"{era.path}{each.path}", message=f"{era.path}: {each.message}")
            for each in own
        ]
    plan.mismatches = sorted(told, key=lambda each: not each.is_blocking)
    return plan


def _why(plan: Plan, source: str) -> str:
    return next(f"odd: {each.kind} of {each.path}" for each in plan.blocking if source in each.files)


def _planned(files: list[ScannedSource], request: Combination) -> Plan:
    files, told = cut_smaller(in_one_form(files), request)
    files, gone, off = selected(files, request)
    plan, gaps = _laid(files, request)
    if request.extends and 0 in gaps:
        raise _gaps_of_document(files[0], *gaps[0])
    if gaps:
        # A file whose own times have holes lies in parts.
        parts, within = without_gaps(files, gaps, request)
        off += within
        plan, _ = _laid(parts, request)
    plan.left_out = gone
    plan.mismatches = sorted([*off, *plan.mismatches, *told], key=lambda each: not each.is_blocking)
    return plan


def _gaps_of_document(document: ScannedSource, dimension: str, places: Sequence[int]) -> RefbrowserError:
    """Return the error of a document whose own times were joined end to end where some are missing."""
    message = f"{quoted(dimension)} of the document has {counted_plain(len(places), 'gap')} itself"
    advice = "combine all files again with --axis, or append without it"
    return RefbrowserError(ErrorKind.META, message, Place(document=document.source), advice)


def _laid(files: list[ScannedSource], request: Combination) -> tuple[Plan, Gaps]:
    """Return the plan of files, and the files whose own times have holes on a regular axis."""
    arrays = arrays_of(files, request)
    names = [name for array in arrays for told in array.groups() for name in told.dimensions]
    request.names().check([each.path for each in arrays], names)
    axes, found = placed_axes(files, arrays, request)
    axes, off, gaps = on_regular_axes(axes, files, arrays, request)
    found += off
    divided = divide(arrays, axes, request)
    told = [
        *told_once(declared_mismatches(files, request), mismatches_of(files, arrays, request), request),
        *found,
        *file_ends(files, arrays, axes),
        *divided,
    ]
    holes = holes_of(arrays, axes, request)
    told += hole_mismatches(holes, files, arrays, axes, request)
    plan = Plan(request, files, [], arrays, axes, told, holes)
    if plan.filled and not plan.blocking:
        placed = (each for each in arrays if each.role == "placed" and not each.has_own)
        told += filter(None, (off_grid(plan.laid(each), files) for each in placed))
    if not plan.blocking:
        for laid in (plan.laid(each) for each in arrays if each.has_own):
            note, size = own_note(laid, files)
            plan.own_size += size
            told += [note] if request.reencode else []
    return plan, gaps


def lacks(files: FileSet, request: Combination) -> bool:
    """Tell whether files must be looked at anew, since other values of them are wanted."""
    return files.looking != request.looking()


def combine(
    request: Combination,
    control: JobControl | None = None,
    compute: Compute = HERE,
    told: Callable[[Plan], None] = lambda plan: None,
    question: Question = no,
) -> CombineReport:
    """Combine files into one document, compared with some of them before it gets its name.

    Parameters
    ----------
    told
        Called with what was found before anything is written.
    question
        Asked, with the error that a no becomes, above a size that needs a question.

    Raises
    ------
    RefbrowserError
        `E_META`: a difference stands against it; as `gather` and `plan_of`; the document cannot be written.
    """
    control = control or JobControl()
    request, unsaid = with_lead(request, control)
    said = declarations_of(request.declares, request.target)
    request = replace(request, format=form_of(request.target, request.format), declared=said)
    local = local_path(request.target)
    may_be_there = request.force or request.resume or form_named(request.format).adds
    if local is not None and os.path.exists(local) and not may_be_there:
        message = "the document exists already"
        raise TargetExistsError(
            ErrorKind.IO, message, Place(document=request.target), "give --force to replace it"
        )
    journal = ScanJournal(request.target, request.looking(), resume=request.resume)
    files = gather(request, control, compute, journal)
    plan = plan_of(files, request)
    del files
    told(plan)
    if plan.blocking:
        raise blocked(plan)
    size = size_question(plan.own_size)
    if size is not None and not question(size):
        raise size
    control.stage("the document is written")
    report = write(plan, control)
    report.losses = (*(f"of the NcML: {each}" for each in unsaid), *report.losses)
    forget_scans(request.target)
    return report


#: What a document is called that has no name yet.
_UNNAMED = "combined.json"


def _dataset(plan: Plan, document: Document, session: Session, control: JobControl) -> Dataset:
    request = plan.request
    allow = (*map(Origin.parse, request.allow), *named_places(plan))
    path = request.target or _UNNAMED
    settings = {**request.settings, **parse_storage_options(request.storage_options)}
    place = path if local_path(path) is None else os.path.abspath(path)
    access = Access.for_document(place, allow, settings)
    return dataset_of(path, document, access, session, control)


def _combined(plan: Plan, control: JobControl, sink: ChunkSink | None = None) -> Document:
    """Return the document of a plan, which has no references afterwards; only a folded one has a text."""
    opening = CombinedProof(plan).file_opening
    made = combined_document(plan, control, name=plan.request.target, opening=opening, sink=sink)
    for file in plan.files:
        file.chunks.forget()
    _tidy()
    if not plan.request.fold:
        return made
    origin, text = made.origin, replace(made.written(), origin=None)
    del made
    _tidy()
    return replace(folded(text, control).after, origin=origin)


def _tidy() -> None:
    """Give memory back: documents and what they stand for know each other, and are found by collecting."""
    gc.collect()
    give_memory_back()


def _sink_for(request: Combination) -> ChunkSink:
    """Return what takes own chunks: a file beside a document, or one that is there while it is needed."""
    is_document = request.format in FORMS
    if in_object_store(request.target):
        return ChunkSink("" if is_document else os.path.join(gettempdir(), "refbrowser"), stays=False)
    return ChunkSink(request.target, stays=is_document)


def made(plan: Plan, session: Session, control: JobControl | None = None) -> tuple[Dataset, CombineReport]:
    """Return the dataset of a plan, whose references are forgotten, compared with files; nothing is written.

    Raises
    ------
    RefbrowserError
        A difference stands against it, or it gives other values.
    """
    control, report = control or JobControl(), _report_of(plan)
    document = _text_of(_combined(plan, control), plan.request.target or _UNNAMED)
    _tidy()
    dataset = _dataset(plan, document, session, control)
    proof = CombinedProof(plan)
    proof.check(dataset, proof.some(), control.token)
    report.own = plan.own
    report.references, report.compared, report.unread = len(document.refs), proof.compared, proof.unread
    return dataset, report


def _text_of(made: Document, target: str) -> ReferenceDocument:
    """Return a document as a new text: that which `write` writes where nothing else is asked for."""
    made = as_kerchunk_spells(made)
    if lies_beside(made, target):
        made = named_beside(made, target)
    if can_be_plain(made) and made.expansion.rows <= LIMITS.write_out_question:
        return ReferenceDocument.read(made.to_plain_chunks(), name=made.name)
    # Its templates are seen and changed; nobody knows those of one that is made later.
    return replace(made.written(), origin=None)


def _report_of(plan: Plan) -> CombineReport:
    return CombineReport(
        target=plan.request.target,
        files=len(plan.files),
        left_out=plan.left_out,
        mismatches=plan.mismatches,
        holes=plan.holes,
        sizes={
            f"{part.below}/{axis.name}".removeprefix("/"): axis.size
            for part in plan.parts or [plan]
            for axis in part.axes
        },
        arrays=sum(len(part.arrays) for part in plan.parts or [plan]),
        eras=plan.eras,
        losses=tuple(dict.fromkeys(loss for file in plan.files for loss in file.losses)),
    )


def write(plan: Plan, control: JobControl | None = None) -> CombineReport:
    """Write the document of a plan, whose references are forgotten.

    Raises
    ------
    RefbrowserError
        A difference stands against it, the document cannot be written, or it gives other values.
    """
    control, request, report = control or JobControl(), plan.request, _report_of(plan)
    request = replace(request, format=form_of(request.target, request.format))
    with Session() as session, _sink_for(request) as sink:
        dataset = _dataset(plan, _combined(plan, control, sink), session, control)
        if sink.path:
            beside = Origin("file", folder=os.path.dirname(sink.path))
            dataset = dataset.with_access(dataset.access.allow([beside]))
        force = request.force or request.resume
        writing = ExportRequest(request.target, request.format, force=force, options=request.options)
        proof, is_document = CombinedProof(plan), request.format in FORMS
        exporter = Exporter(dataset, writing, CombinedReferences if is_document else None)
        target = exporter.target
        if isinstance(target, CombinedReferences):
            target.proof = proof
        else:
            target.taken_in = frozenset({sink.path} - {""})
            # What is committed is read again by its target, which knows of no files.
            proof.check(dataset, proof.some(), control.token)
        done = exporter.run(control)
        sink.keep()
    report.own = plan.own
    report.references, report.compared, report.unread = done.chunks, proof.compared, proof.unread
    report.losses += tuple(loss_lines(done.losses))
    report.opened_by = done.opened_by
    if isinstance(target, CombinedReferences):
        report.is_relative = target.is_relative
        report.relocked = renew_lock(proof.opening(request.target), control)
    return report


class CombinedReferences(ReferencesTarget):
    """References of many files that are compared with some of these before the document gets its name."""

    names_beside = True
    proof: CombinedProof

    def prove(self, path: str, document: Document, token: CancelToken) -> None:
        """Raise `E_IO` where a document gives other values than the files."""
        _tidy()
        with open_dataset(self.proof.opening(path)) as made:
            self.check_rows(made.document, document)
            self.proof.check(made, self.proof.some(), token)
