"""Trying an installed reader: what it reads of a sample of each array is held against what is read here.

The reader runs in a process of its own that opens the dataset and what it may refer to, writes nothing and
has no network. Where the system cannot hold it to that, only what cannot lead it elsewhere is tried.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.codecs.workers.confinement import in_force
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.readers.outcome import ReaderVerdict, Trial
from refbrowser.engine.sources import sources_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.check import Answers, ask_program, first_difference
from refbrowser.exporting.check_child import elements
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.model.flavour import Flavour
from refbrowser.tools.readers.probes.installed import CHILD, FORMS, InstalledReader

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset

#: Elements along a dimension of a part of a sample.
_SIDE = 16
#: What a reader says of its own environment, and not of the dataset.
_ABOUT_ITSELF = ("ImportError", "ModuleNotFoundError", "PackageNotFoundError", "NotComparedError")

Box = list[list[int]]


@dataclass(frozen=True, slots=True)
class Sample:
    """What is read here of an array.

    Attributes
    ----------
    values
        Kind and bytes of the elements of each box, as `check_child.elements` has them.
    unread
        Why they cannot be read here; empty where they were.
    """

    path: str
    shape: tuple[int, ...]
    boxes: tuple[Box, ...] = ()
    values: tuple[tuple[str, bytes], ...] = ()
    unread: str = ""


def try_reader(
    reader: InstalledReader,
    dataset: Dataset,
    arrays: Sequence[str] = (),
    control: JobControl | None = None,
) -> list[Trial]:
    """Return what a reader makes of arrays, of which a sample is read: corners of a few chunks.

    Parameters
    ----------
    dataset
        As it was opened; what was edited since is not what the reader finds.
    arrays
        Absolute paths; all arrays where there are none.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the dataset is no store, references or repository on this machine. `E_BLOCKED`: it refers
        to what it may not read, or to other machines. `E_UNSAFE`: this system cannot hold a reader to it.
    Cancelled
        The control was cancelled.
    """
    control = control or JobControl()
    asked = asked_of(dataset)
    samples = []
    for path in arrays or tuple(dataset.arrays):
        control.token.check()
        samples.append(sample_of(dataset.array(path), control))
    readable = [each for each in samples if not each.unread]
    asked |= {"arrays": [[each.path, each.boxes] for each in readable], "library": reader.library}
    answers = Answers()
    ended = ""
    if readable:
        ended = ask_program(
            reader.program, asked, answers, control.token, script=str(CHILD), seconds=LIMITS.try_time
        )
    version = answers.version or reader.version
    return [Trial(reader.name, version, each.path, *judged(each, answers, ended)) for each in samples]


def asked_of(dataset: Dataset) -> dict[str, Any]:
    """Return what a reader is asked: how the dataset is opened, and what may be read for that."""
    store, form = dataset.document.store, dataset.document.format
    if store is not None:
        form = "zip-store" if store.container == "zip" else "store"
    path = local_path(dataset.path)
    if form not in FORMS or path is None:
        message = "readers are tried on stores, references and repositories of this machine alone"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=dataset.path))
    _check_held(dataset, form)
    return {
        "form": form,
        "target": os.path.realpath(path),
        "zip_folder": "" if store is None else store.folder.strip("/"),
        "is_nczarr": dataset.hierarchy.flavour == Flavour.NCZARR,
        "opened_with": dict(dataset.document.opened_with),
        "opens": list(_folders(dataset, form)),
        "groups": [],
        "show": True,
    }


def _check_held(dataset: Dataset, form: str) -> None:
    """Raise where a reader could be led elsewhere by what the dataset says."""
    if "not held back" not in in_force().values():
        return
    # Templates, and codecs that are not known here, may run code in a reader.
    is_plain = form in ("store", "zip-store") and all(
        each.node.unreadable is None for each in dataset.arrays.values()
    )
    if not is_plain:
        message = "this system cannot hold a reader to the files of the dataset: none is tried"
        raise RefbrowserError(ErrorKind.UNSAFE, message, Place(document=dataset.path))


def _folders(dataset: Dataset, form: str) -> Iterator[str]:
    """Yield the folders beside the dataset itself that its references may be read from."""
    if form.startswith("refs-"):
        yield dataset.access.base
    for want in dataset.access.wanted(sources_of(dataset.document)):
        origin = want.origin
        named = want.pattern if origin is None else origin.folder or str(origin)
        if origin is None or origin.scheme != "file":
            message = f"no reader is tried on what other machines hold: {quoted(named)}"
            raise RefbrowserError(ErrorKind.BLOCKED, message, Place(document=dataset.path))
        if not want.allowed:
            message = f"the dataset may not read {quoted(named)}: no reader is tried on it"
            advice = f"--allow {named}"
            raise RefbrowserError(ErrorKind.BLOCKED, message, Place(document=dataset.path), advice)
        yield origin.folder


# What is read here


def sample_of(array: Array, control: JobControl) -> Sample:
    """Return what is read here of an array."""
    path, shape = array.path, array.shape
    if array.node.unreadable is not None:
        return Sample(path, shape, unread=array.node.unreadable.message)
    boxes = tuple(_boxes(array))
    try:
        values = tuple(_values(array, box, control) for box in boxes)
    except RefbrowserError as error:
        return Sample(path, shape, boxes, unread=error.message)
    return Sample(path, shape, boxes, values)


def _values(array: Array, box: Box, control: JobControl) -> tuple[str, bytes]:
    control.token.check()
    index = tuple(slice(start, stop) for start, stop in box)
    return elements(array[index if index else ()])


def _boxes(array: Array) -> Iterator[Box]:
    """Yield a small array whole; of others a corner of the first, the middle and the last chunk."""
    shape = array.shape
    size = 1 if array.dtype is None else max(array.dtype.itemsize, 1)
    if prod(shape) * size <= LIMITS.try_sample:
        yield [[0, side] for side in shape]
        return
    most = LIMITS.try_sample // size
    side = next(each for each in range(_SIDE, 0, -1) if each ** len(shape) <= most or each == 1)
    found = [[_corner(axis, side, part) for axis in _edges(array)] for part in (0, 1, 2)]
    yield from (box for at, box in enumerate(found) if box not in found[:at])


def _edges(array: Array) -> Iterator[tuple[int, list[int]]]:
    """Yield the length of each dimension, and where the chunks of its first, middle and last place begin."""
    chunks = array.chunks or array.shape
    for length, sides in zip(array.shape, chunks, strict=True):
        if isinstance(sides, int):
            last = (length - 1) // sides
            yield length, [0, last // 2 * sides, last * sides]
        else:
            starts = np.cumsum([0, *sides[:-1]])
            yield length, [0, int(starts[len(starts) // 2]), int(starts[-1])]


def _corner(axis: tuple[int, list[int]], side: int, part: int) -> list[int]:
    length, starts = axis
    start = starts[part]
    return [start, min(start + side, length)]


# What the reader made of it


def judged(sample: Sample, answers: Answers, ended: str) -> tuple[ReaderVerdict, str]:
    """Return the verdict about an array, and the reader's reason.

    Parameters
    ----------
    answers
        What `reader_child` told.
    ended
        Why it ended before it was done; empty where it did not.
    """
    if sample.unread:
        return ReaderVerdict.UNKNOWN, f"refbrowser does not read it: {_line(sample.unread)}"
    failure = answers.failures.get(sample.path, answers.failures.get("/", ""))
    if failure.partition(":")[0] in _ABOUT_ITSELF:
        return ReaderVerdict.UNKNOWN, _line(failure)
    node = answers.nodes.get(sample.path)
    if node is not None and node["shape"] != list(sample.shape):
        return ReaderVerdict.WRONG, f"its shape is {node['shape']}, not {list(sample.shape)}"
    for box, values in zip(sample.boxes, sample.values, strict=True):
        found = answers.elements.get((sample.path, json.dumps(box)))
        if found is None:
            if not failure and ended:
                crashed = "crashed" in ended
                return ReaderVerdict.REFUSES if crashed else ReaderVerdict.UNKNOWN, _line(ended)
            opened = ReaderVerdict.REFUSES if node is None else ReaderVerdict.OPENS
            return opened, _line(failure or "it gave no values")
        kind, data = found[0], base64.b64decode(found[1])
        if not _are_equal(values, (kind, data)):
            return ReaderVerdict.WRONG, _difference(values, (kind, data), box)
    return ReaderVerdict.DECODES, ""


def _are_equal(mine: tuple[str, bytes], yours: tuple[str, bytes]) -> bool:
    """Tell whether elements are the same values: readers may have them as another type."""
    if mine == yours:
        return True
    if "text" in (mine[0], yours[0]):
        return False
    try:
        one, other = (np.frombuffer(data, np.dtype(f"<{kind}")) for kind, data in (mine, yours))
    except TypeError:
        return False  # Structures, whose bytes differ.
    if one.shape != other.shape or {one.dtype.kind, other.dtype.kind} & set("mM"):
        return False
    is_real = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=is_real))


def _difference(mine: tuple[str, bytes], yours: tuple[str, bytes], box: Box) -> str:
    if mine[0] != yours[0] and "text" in (mine[0], yours[0]):
        return f"it reads {yours[0]}, not {mine[0]}"
    expected, found = first_difference(mine[0], mine[1], yours[1], box)
    return _line(f"{found.removesuffix(' there')} instead of {expected}")


def _line(text: str) -> str:
    """Return what a reader says as one line that acts on no terminal."""
    return quoted(" ".join(text.split()), limit=LIMITS.try_reason)[1:-1]
