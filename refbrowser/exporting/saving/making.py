"""References of many files of data: a document for each, proved against the file before it is called done."""

from __future__ import annotations

import glob
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.compute import HERE, Compute, check_workers
from refbrowser.engine.dataset import Array, Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.exporter import Exporter
from refbrowser.exporting.request import ExportRequest
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.exporting.targets.references import ReferencesTarget
from refbrowser.formats.registry import form_named
from refbrowser.io.origins import ConnectionSettings, Origin, in_object_store, local_path
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.selection import Selection

#: Forms of references.
FORMS = ("refs-v1", "refs-v0", "refs-parquet")
#: Files that are worth starting processes for.
_MANY = 8
#: Lines of a list of files, and of its bytes, at most.
_LISTED, _LIST_SIZE = 1_000_000, 256 << 20
#: Elements of a chunk that are compared.
_COMPARED = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeRequest:
    """What references are made of, and how.

    Attributes
    ----------
    sources
        Paths and URLs of files, patterns of paths (``*``), and lists of such: ``@FILE``, one a line.
    target
        The document of the only file; else the folder of documents that have the names of their files.
    format
        One of `FORMS`.
    options
        How the references are written.
    force
        Replace documents that are there.
    resume
        Leave documents as they are that are newer than their files.
    skip_bad
        Leave out files of which no references can be made; else the first ends all.
    allow, storage_options, settings
        As `OpenRequest` has them.
    """

    sources: tuple[str, ...]
    target: str
    format: str = "refs-v1"
    options: ReferenceOptions = field(default_factory=ReferenceOptions)
    force: bool = False
    resume: bool = False
    skip_bad: bool = False
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MakeTask:
    """One file, and the document to be made of it."""

    source: str
    target: str
    request: MakeRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A document that was made.

    Attributes
    ----------
    arrays, references
        How many it has.
    compared
        Chunks whose values were those of the file.
    unread
        Chunks of these that cannot be read of the file either.
    losses
        What references cannot hold, or have otherwise.
    was_there
        It was there already.
    """

    source: str
    target: str
    arrays: int = 0
    references: int = 0
    compared: int = 0
    unread: int = 0
    losses: tuple[str, ...] = ()
    was_there: bool = False


@dataclass(slots=True)
class MakeReport:
    """What became of all files, in the order in which they were done."""

    made: list[Made] = field(default_factory=list)
    left_out: list[tuple[str, RefbrowserError]] = field(default_factory=list)


def tasks_of(request: MakeRequest) -> list[MakeTask]:
    """Return what there is to do; nothing is made.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no file, or two have one name; `E_IO`: a list cannot be read.
    """
    if request.format not in FORMS:
        message = f"{quoted(request.format)} is no form of references"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(FORMS)}")
    sources = sources_of(request.sources)
    if not sources:
        raise RefbrowserError(ErrorKind.USAGE, "there is no file to make references of")
    suffix = form_named(request.format).suffix
    endings = (suffix, ".json", ".json.gz", ".json.zst", ".parq", ".parquet")
    if len(sources) == 1 and request.target.endswith(endings) and not os.path.isdir(request.target):
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


def sources_of(texts: Iterable[str]) -> list[str]:
    """Return the files that texts name, as `MakeRequest.sources` does, each once.

    Raises
    ------
    RefbrowserError
        `E_IO`: a list cannot be read; `E_BUDGET`: it is too long.
    """
    return list(dict.fromkeys(source for text in texts for source in _sources(text)))


def _sources(text: str) -> Iterator[str]:
    """Yield the files that a text names: itself, what a pattern fits, or what stands in a list."""
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
        for line in filter(None, map(str.strip, lines)):
            yield from _fitting(line)
    else:
        yield from _fitting(text)


def _fitting(text: str) -> Iterator[str]:
    """Yield the file that a text names, or those that fit it where it is a pattern."""
    if local_path(text) is not None and glob.has_magic(text) and not os.path.exists(text):
        yield from sorted(glob.glob(text, recursive=True))
    else:
        yield text


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
    if not in_object_store(request.target):
        for folder in {os.path.dirname(os.path.abspath(task.target)) for task in tasks}:
            os.makedirs(folder, exist_ok=True)
    control.progress(0, len(tasks))
    with _computing(compute, len(tasks)) as chosen, chosen.open(control.token) as executor:
        check_workers(executor)
        for number, (task, answer) in enumerate(executor.run(make_one, tasks, control.token), 1):
            done(task.source, answer)
            if isinstance(answer, Made):
                report.made.append(answer)
            elif isinstance(answer, RefbrowserError) and request.skip_bad:
                report.left_out.append((task.source, answer))
            else:
                raise answer
            control.progress(number, len(tasks), note=os.path.basename(task.source))
    return report


@contextmanager
def _computing(compute: Compute, files: int) -> Iterator[Compute]:
    """Give where files are worked on: headers are parsed by Python, which one process does one at a time."""
    count = min(os.cpu_count() or 1, files // _MANY)
    if not compute.is_here or count < 2:
        yield compute
        return
    with ExitStack() as stack:
        pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        yield replace(compute, given=pool)


class ProvedReferences(ReferencesTarget):
    """References that are compared with the file that they were made of before the document gets its name."""

    #: The file, and how the document is opened, but for its path.
    source: Dataset
    opening: OpenRequest
    #: Arrays, and of their chunks those that were compared, and those that are unreadable in the file too.
    proved = (0, 0, 0)

    def prove(self, path: str) -> None:
        """Raise `E_IO` where a document gives other values than the file."""
        with open_dataset(replace(self.opening, path=path)) as references:
            self.proved = _compared(self.source, references)


def make_one(task: MakeTask) -> Made:
    """Make the references of one file, and compare some values that they give with those of the file.

    Raises
    ------
    RefbrowserError
        None can be made; or they give other values: then there is no document, or the one that was there.
    """
    request = task.request
    if request.resume and _is_newer(task):
        return Made(source=task.source, target=task.target, was_there=True)
    opening = OpenRequest(
        task.source,
        allow=request.allow,
        storage_options=request.storage_options,
        settings=request.settings,
    )
    with open_dataset(opening) as dataset:
        writing = ExportRequest(
            task.target,
            request.format,
            force=request.force or request.resume,
            skip_bad=request.skip_bad,
            options=request.options,
        )
        folder = os.path.dirname(os.path.realpath(task.source))
        allow = (*request.allow, folder if local_path(task.source) is not None else str(_origin(dataset)))
        exporter = Exporter(dataset, writing, ProvedReferences)
        target = exporter.target
        assert isinstance(target, ProvedReferences)
        target.source, target.opening = dataset, replace(opening, allow=allow)
        report = exporter.run(JobControl())
    arrays, compared, unread = target.proved
    losses = tuple(dict.fromkeys(str(each) for each in report.losses))
    return Made(
        source=task.source,
        target=task.target,
        arrays=arrays,
        references=report.chunks,
        compared=compared,
        unread=unread,
        losses=losses,
    )


def _is_newer(task: MakeTask) -> bool:
    """Tell whether a document is there that was made after its file was."""
    local = local_path(task.source)
    try:
        made = os.stat(task.target).st_mtime_ns
        return local is None or made > os.stat(local).st_mtime_ns
    except OSError:
        return False


def _origin(dataset: Dataset) -> object:
    return dataset.access.locate(dataset.path).origin


def _compared(dataset: Dataset, references: Dataset) -> tuple[int, int, int]:
    """Return how many arrays references have, and how many of their chunks were compared and unreadable.

    Raises
    ------
    RefbrowserError
        `E_IO`: they give other values than the file.
    """
    compared = unread = 0
    for path, array in references.arrays.items():
        original = dataset.arrays.get(path)
        if original is None or array.shape != original.shape:
            raise _different(path, "the file has no such array")
        if not array.node.has_grid or not prod(array.shape):
            continue
        # One read of all of them costs a third; it fails as a whole.
        across = _across(array.node.grid)
        try:
            _compare(dataset, original, array, across)
            compared += array.node.grid.count(Selection.from_index(across, array.shape))
        except _NotThereError:
            for index in _samples(array.node.grid):
                try:
                    _compare(dataset, original, array, index)
                    compared += 1
                except _NotThereError:
                    unread += 1
    return len(references.arrays), compared, unread


class _NotThereError(Exception):
    """The file itself does not give the values."""


def _compare(dataset: Dataset, original: Array, array: Array, index: tuple[slice, ...]) -> None:
    try:
        expected = np.asarray(_of_library(dataset, original, index))
    except RefbrowserError as error:
        raise _NotThereError from error
    if not _is_same(np.asarray(array[index]), expected):
        raise _different(array.path, "their values are not those of the file")


def _of_library(dataset: Dataset, array: Array, index: tuple[slice, ...]) -> Any:
    """Return values as the library of the file reads them, where there is one that does."""
    node = dataset.document.by_library(array.node)
    if node is None:
        return array[index]
    return dataset.session.read(node, dataset.access, Selection.from_index(index, array.shape))


def _different(path: str, what: str) -> RefbrowserError:
    message = f"verification failed: references were made of {quoted(path)}, but {what}"
    return RefbrowserError(ErrorKind.IO, message, Place(path=path))


def _is_same(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> bool:
    if found.shape != expected.shape:
        return False
    if found.dtype.hasobject or expected.dtype.hasobject:
        return bool(repr(found.tolist()) == repr(expected.tolist()))
    if expected.dtype.names is not None:
        # What fills up structures is a member in Zarr.
        names = set(expected.dtype.names)
        return names <= set(found.dtype.names or ()) and all(
            _is_same(found[name], expected[name]) for name in names
        )
    little = expected.astype(found.dtype, copy=False)
    return found.tobytes() == little.tobytes()


def _across(grid: RegularChunkGrid) -> tuple[slice, ...]:
    """Return a part of an array with something of its first chunk and its last one, and one between."""
    counts, room = grid.grid_shape, _COMPARED
    longest = counts.index(max(counts)) if counts else -1
    sides: list[slice] = []
    for axis in reversed(range(grid.ndim)):
        last, side = counts[axis] - 1, grid.chunk_shape[axis]
        if axis == longest and last:
            step = (last if last % 2 else last // 2) * side
            sides.insert(0, slice(0, last * side + 1, step))
        else:
            length = max(1, min(grid.shape[axis] - last * side, room))
            room //= length
            sides.insert(0, slice(last * side, last * side + length))
    return tuple(sides)


def _samples(grid: RegularChunkGrid) -> Sequence[tuple[slice, ...]]:
    """Return parts of an array to be compared: of its first chunk, its middle and its last one."""
    numbers = sorted({0, grid.size // 2, grid.size - 1})
    found = []
    for number in numbers:
        coords: list[int] = []
        for count in reversed(grid.grid_shape):
            number, at = divmod(number, count)
            coords.insert(0, at)
        begins, room = grid.origin(tuple(coords)), _COMPARED
        sides: list[int] = []
        for length in reversed(grid.extent(tuple(coords))):
            sides.insert(0, max(1, min(length, room)))
            room //= sides[0]
        found.append(tuple(slice(at, at + side) for at, side in zip(begins, sides, strict=True)))
    return found
