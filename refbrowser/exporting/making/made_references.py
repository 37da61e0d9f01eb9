"""References of many files of data: a document for each, proved against the file before it is called done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from refbrowser.engine.compute import HERE, Compute, check_workers
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.declarations.array_facts import check_declared
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.exporter import Exporter
from refbrowser.exporting.option_fields import ExportOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest, loss_lines
from refbrowser.exporting.saving.chosen_arrays import chosen_of
from refbrowser.exporting.saving.lock_beside import renew_lock
from refbrowser.exporting.saving.reference_proof import Proof, proved
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.exporting.targets.references import ReferencesTarget
from refbrowser.exporting.workers.file_processes import computing
from refbrowser.formats.library.process import Chain, one_after_another
from refbrowser.formats.parquet_text import PARQUET
from refbrowser.formats.reference_forms import FORMS, JSON, form_of
from refbrowser.formats.registry import form_named, places_named
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.name_patterns import fitting, is_pattern
from refbrowser.io.files.hidden_siblings import remove_leftovers_of
from refbrowser.io.origins import (
    ConnectionSettings,
    Origin,
    in_object_store,
    local_path,
    parse_storage_options,
)
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.report import Report, first_of
from refbrowser.references.declarations.declared_arrays import Declarations
from refbrowser.references.document.document import Document
from refbrowser.words import counted

#: Lines of a list of files, and of its bytes, at most.
_LISTED, _LIST_SIZE = 1_000_000, 256 << 20
#: What errors say of files that are not there, or may not be read: not of what is in them.
_UNREAD = (ErrorKind.BLOCKED, ErrorKind.IO, ErrorKind.SOURCE, ErrorKind.RANGE, ErrorKind.USAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeRequest:
    """What references are made of, and how.

    Attributes
    ----------
    sources
        Paths and URLs of files, patterns of them (``*``), and lists of such: ``@FILE``, one a line.
    target
        The document of the only file; else the folder of documents that have the names of their files.
    format
        One of `referring`; as `form_of` says where it is empty.
    options
        How the references are written.
    force
        Replace documents that are there.
    resume
        Leave documents as they are that are newer than their files.
    arrays
        Names or paths of the arrays that are taken, with their coordinates; all where it is empty.
    skip_bad
        Leave out files of which no references can be made; else the first ends all.
    allow, storage_options, settings
        As `OpenRequest` has them.
    opening
        Options of opening the files, as `OpenRequest.options` has them.
    declared
        What each file is held against.
    """

    sources: tuple[str, ...]
    target: str
    format: str = ""
    options: ExportOptions = field(default_factory=ReferenceOptions)
    arrays: tuple[str, ...] = ()
    force: bool = False
    resume: bool = False
    skip_bad: bool = False
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    opening: Mapping[str, Any] = field(default_factory=dict)
    declared: Declarations = field(default_factory=Declarations)


@dataclass(frozen=True, slots=True)
class MakeTask:
    """One file, and the document to be made of it."""

    source: str
    target: str
    request: MakeRequest


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Made(Report):
    """A document that was made.

    Attributes
    ----------
    arrays, references
        How many it has.
    compared
        Chunks whose values were those of the file.
    unread
        Chunks that cannot be read of the file either.
    alone
        How many of the compared ones no library has read, only the reader of this program.
    losses
        What references cannot hold, or have otherwise.
    held
        Arrays whose values stand in the document itself, as no reference gives them, each with why.
    was_there
        It was there already.
    is_relative
        It names the file relative to its own folder.
    relocked
        The lock beside it was written again.
    opened_by
        Lines of Python that open it, where more is needed than its name.
    """

    source: str
    target: str
    arrays: int = 0
    references: int = 0
    compared: int = 0
    unread: int = 0
    alone: int = 0
    losses: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    was_there: bool = False
    is_relative: bool = False
    relocked: bool = False
    opened_by: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what was made, and what was not kept."""
        if self.was_there:
            yield f"{self.target}: newer than its file, left as it is"
            return
        yield (
            f"{self.target}: {counted(self.arrays, 'array')}, {counted(self.references, 'reference')}; "
            f"{counted(self.compared, 'chunk')} compared with {self.with_what}"
        )
        yield from first_of([f"note: {loss}" for loss in self.losses])

    @property
    def with_what(self) -> str:
        """What the chunks were compared with, in words."""
        if not self.alone:
            return "the file"
        if self.alone == self.compared:
            return "our own reader only"
        return f"the file, {self.alone} of them with our own reader only"


@dataclass(slots=True, repr=False)
class MakeReport(Report):
    """What became of all files, in the order in which they were done."""

    made: list[Made] = field(default_factory=list)
    left_out: list[tuple[str, RefbrowserError]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the documents, and the files of which there are none."""
        yield f"{counted(len(self.made), 'document')} made, {counted(len(self.left_out), 'file')} left out"
        yield from first_of([next(each.lines()) for each in self.made])
        yield from first_of([f"left out: {source}: {error.message}" for source, error in self.left_out])


def tasks_of(request: MakeRequest) -> list[MakeTask]:
    """Return what there is to do; nothing is made.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no file, or two have one name; `E_IO`: a list cannot be read.
    """
    settings = {**request.settings, **parse_storage_options(request.storage_options)}
    sources = sources_of(request.sources, settings)
    # It goes to other processes with each file.
    request = replace(request, sources=(), format=form_of(request.target, request.format))
    if not sources:
        raise RefbrowserError(ErrorKind.USAGE, "there is no file to make references of")
    form = form_named(request.format)
    suffix = form.suffix
    endings = (suffix, *JSON, *PARQUET)
    is_one = request.target.lower().endswith(endings) and not os.path.isdir(request.target)
    # What gets more of what it has is a folder itself.
    if is_one or (form.adds and len(sources) == 1):
        if len(sources) > 1:
            raise _one_for_many(request.target, len(sources))
        return [MakeTask(sources[0], request.target, request)]
    found: dict[str, MakeTask] = {}
    for source in sources:
        name = source.partition("?")[0].rstrip("/").rsplit("/", 1)[-1] or "data"
        separator = "/" if in_object_store(request.target) else os.sep
        target = f"{request.target.rstrip(separator)}{separator}{name}{suffix}"
        task = MakeTask(source, target, request)
        if (other := found.setdefault(task.target, task)) is not task:
            message = f"{quoted(source)} and {quoted(other.source)} have the same name"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="make their references into two folders")
    return list(found.values())


def _one_for_many(target: str, count: int) -> RefbrowserError:
    """Return the error of many files and the name of one document."""
    message = f"{quoted(target)} is the name of one document, and there are {count} files"
    advice = (
        "combine them along one of their dimensions (--concat DIM) or a new one (--new-dim NAME=FROM), "
        "or name a folder for a document of each"
    )
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


def sources_of(
    texts: Iterable[str],
    settings: Mapping[Origin, ConnectionSettings] | None = None,
    token: CancelToken | None = None,
) -> list[str]:
    """Return the files that texts name, as `MakeRequest.sources` does, each once.

    Parameters
    ----------
    settings
        How to connect to places whose files a pattern selects.

    Raises
    ------
    RefbrowserError
        `E_IO`: a list cannot be read; `E_BUDGET`: it is too long; a place of a pattern cannot be listed.
    """
    found = (name for text in texts for name in _named(text))
    return list(dict.fromkeys(source for name in found for source in _fitting(name, settings or {}, token)))


def _named(text: str) -> Iterator[str]:
    """Yield what a text names: itself, or what is in a list; either may be patterns."""
    if text.startswith("@") and not os.path.exists(text):
        path = text[1:]
        try:
            with open(path, "rb") as file:
                data = file.read(_LIST_SIZE + 1)
            lines = data.decode().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RefbrowserError(ErrorKind.IO, "the list cannot be read", Place(document=path)) from error
        if len(data) > _LIST_SIZE or len(lines) > _LISTED:
            raise RefbrowserError(ErrorKind.BUDGET, "the list is too long", Place(document=path))
        yield from filter(None, map(str.strip, lines))
    else:
        yield text


def _fitting(
    text: str, settings: Mapping[Origin, ConnectionSettings], token: CancelToken | None
) -> Iterator[str]:
    """Yield the file that a text names, or those that fit it where it is a pattern."""
    if not is_pattern(text) or (local_path(text) is not None and os.path.exists(text)):
        yield text
    else:
        yield from fitting(text, settings, token)


def make(
    request: MakeRequest,
    control: JobControl | None = None,
    compute: Compute = HERE,
    done: Callable[[str, Made | BaseException], None] = lambda source, answer: None,
) -> MakeReport:
    """Make references of files, many at a time.

    Parameters
    ----------
    compute
        Where; in processes of this machine where nothing is said and there are many files.
    done
        Called with each file, and the document that was made of it, or why there is none.

    Raises
    ------
    RefbrowserError
        As `tasks_of`; of the first file of which none can be made, unless those are left out.
    Cancelled
        The control's token was cancelled; `resume` goes on.
    """
    control = control or JobControl()
    tasks, report = tasks_of(request), MakeReport()
    control.progress(0, len(tasks))
    sources = [task.source for task in tasks]
    folders = {} if in_object_store(request.target) else _folders(tasks)
    with (
        _without_leftovers(folders),
        computing(compute, sources) as chosen,
        chosen.open(control.token) as executor,
    ):
        check_workers(executor)
        for number, (task, answer) in enumerate(executor.run(make_one, tasks, control.token), 1):
            done(task.source, answer)
            if isinstance(answer, Made):
                report.made.append(answer)
            elif isinstance(answer, RefbrowserError) and request.skip_bad and not _is_lost(answer):
                report.left_out.append((task.source, answer))
            else:
                raise answer
            control.progress(number, len(tasks), note=os.path.basename(task.source))
    return report


def _folders(tasks: Iterable[MakeTask]) -> dict[str, list[str]]:
    """Return the folders that documents are written to, with their names there."""
    folders: dict[str, list[str]] = {}
    for task in tasks:
        folder, name = os.path.split(os.path.abspath(task.target))
        folders.setdefault(folder, []).append(name)
    return folders


@contextmanager
def _without_leftovers(folders: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Make folders, and remove what killed processes leave there: those of before, and those of this run.

    Not as each document is made: a folder may hold thousands, and those that are there are left alone.
    """
    for folder, names in folders.items():
        os.makedirs(folder, exist_ok=True)
        remove_leftovers_of(folder, names)
    try:
        yield
    finally:
        for folder, names in folders.items():
            remove_leftovers_of(folder, names)


def _is_lost(error: RefbrowserError) -> bool:
    """Tell whether the process has ended that worked on a file, which may be as good as any."""
    from concurrent.futures import BrokenExecutor

    return isinstance(error.__cause__, BrokenExecutor)


class ProvedReferences(ReferencesTarget):
    """References that are compared with the file that they were made of before the document gets its name."""

    names_beside = True
    #: The file, and how the document is opened, but for its path.
    source: Dataset
    opening: OpenRequest
    proof = Proof()
    #: Whether chunks that cannot be read may be so because of other files.
    is_mixed = False

    def prove(self, path: str, document: Document, token: CancelToken) -> None:
        """Raise `E_IO` where a document gives other values than the file."""
        with open_dataset(replace(self.opening, path=path)) as references:
            self.check_rows(references.document, document)
            self.proof = proved(self.source, references, token)
        if self.is_mixed and self.proof.unread:
            raise RefbrowserError(ErrorKind.IO, "chunks of the file cannot be read")


def make_one(task: MakeTask) -> Made:
    """Make the references of one file, and compare some values that they give with those of the file.

    What a library does not read in a process that has read other files is read again in one that has not.

    Raises
    ------
    RefbrowserError
        None can be made; or they give other values: then there is no document, or the one that was there.
    """
    if task.request.resume and _is_newer(task):
        return Made(source=task.source, target=task.target, was_there=True)
    chain = None
    try:
        with one_after_another() as chain:
            return _made(task, chain)
    except RefbrowserError:
        if chain is None or not chain.is_mixed:
            raise
    return _made(task)


def _made(task: MakeTask, chain: Chain | None = None) -> Made:
    request = task.request
    opening = OpenRequest(
        task.source,
        allow=request.allow,
        storage_options=request.storage_options,
        settings=request.settings,
        options=request.opening,
    )
    with open_dataset(opening) as dataset:
        is_mixed = chain is not None and chain.is_mixed
        if is_mixed and dataset.document.notes:
            raise RefbrowserError(ErrorKind.FORMAT, dataset.document.notes[0].message)
        if (unread := _unread_file(dataset)) is not None:
            raise unread
        if request.declared:
            check_declared(request.declared, dataset)
        writing = ExportRequest(
            task.target,
            request.format,
            _choices(dataset, request.arrays),
            force=request.force or request.resume,
            skip_bad=request.skip_bad,
            options=request.options,
        )
        folder = os.path.dirname(os.path.realpath(task.source))
        own = folder if local_path(task.source) is not None else str(_origin(dataset))
        allow = (*request.allow, own, *map(str, places_named(request.opening)))
        if form_of(task.target, request.format) not in FORMS:
            return _made_by_target(task, dataset, writing)
        exporter = Exporter(dataset, writing, ProvedReferences)
        target = exporter.target
        assert isinstance(target, ProvedReferences)
        target.source, target.opening = dataset, replace(opening, allow=allow, options={})
        target.is_mixed = is_mixed
        report = exporter.run(JobControl())
        relocked = renew_lock(replace(target.opening, path=task.target), JobControl())
    proof = target.proof
    return Made(
        source=task.source,
        target=task.target,
        arrays=proof.arrays,
        references=report.chunks,
        compared=proof.compared,
        unread=proof.unread,
        alone=proof.alone,
        losses=tuple(loss_lines(report.losses)),
        held=tuple(_held(dataset, target.dataset)),
        is_relative=target.is_relative,
        relocked=relocked,
    )


def _made_by_target(task: MakeTask, dataset: Dataset, writing: ExportRequest) -> Made:
    """Write the references of a file into what is no document: its target compares them itself."""
    report = Exporter(dataset, writing).run(JobControl())
    return Made(
        source=task.source,
        target=task.target,
        arrays=report.arrays,
        references=report.chunks,
        compared=report.verified,
        losses=tuple(loss_lines(report.losses)),
        opened_by=report.opened_by,
    )


def _choices(dataset: Dataset, names: tuple[str, ...]) -> tuple[ArrayChoice, ...] | None:
    """Return the arrays that are named, with their coordinates; None where all are taken."""
    if not names:
        return None
    nodes = [node for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)]
    told = {node.path: (node.dimensions, node.attributes) for node in nodes}
    chosen = chosen_of(names, told, dataset.path)
    return tuple(ArrayChoice(path) for path in told if path in chosen)


def _held(source: Dataset, made: Dataset) -> Iterator[str]:
    """Yield the arrays whose values stand in a document, as no reference gives them, each with why."""
    for node in source.hierarchy.walk():
        why = node.not_referencable if isinstance(node, ArrayNode) else ""
        if why and made.hierarchy.find(node.path) is not None:
            yield f"{node.path}: {why}"


def _is_newer(task: MakeTask) -> bool:
    """Tell whether a document is there that was made after its file was."""
    local = local_path(task.source)
    try:
        made = os.stat(task.target).st_mtime_ns
        return local is None or made > os.stat(local).st_mtime_ns
    except OSError:
        return False


def _unread_file(dataset: Dataset) -> RefbrowserError | None:
    """Return why a file cannot be read that arrays are in; None where all are there, or broken themselves."""
    told = {note.message for note in dataset.document.notes if note.kind in _UNREAD}
    errors = (each.node.error for each in dataset.arrays.values()) if told else ()
    return next((each for each in errors if each is not None and each.message in told), None)


def _origin(dataset: Dataset) -> object:
    return dataset.access.locate(dataset.path).origin
