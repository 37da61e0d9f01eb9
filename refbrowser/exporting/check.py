"""Checking an export with other software: what that reads is compared with what the source holds, by name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.codecs.workers.confinement import clean_environment
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting import check_child
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.request import ExportRequest
from refbrowser.formats.registry import form_named
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import in_object_store
from refbrowser.io.processes import run_program
from refbrowser.limits import LIMITS
from refbrowser.loading import load
from refbrowser.model.grid import RegularChunkGrid

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


#: Attributes that belong to the format, not to the dataset.
_INTERNAL = ("_nczarr", "_NCZARR", "_NCProperties", "_ARRAY_DIMENSIONS", "_Netcdf4")


@dataclass(frozen=True, slots=True)
class Program:
    """Software that read the target."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One comparison.

    Attributes
    ----------
    program
        What read the target.
    path
        Of the node in the target; ``/`` where it is the whole of it.
    what
        ``opening``, ``shape``, ``dimensions``, ``attributes`` (or one of them by name) or ``values``.
    expected, found
        In words, cut; empty where they are equal.
    scope
        ``whole``, or how much of the values was compared.
    """

    program: str
    path: str
    what: str
    is_equal: bool
    expected: str = ""
    found: str = ""
    scope: str = "whole"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What other software read.

    Attributes
    ----------
    notes
        What was not checked, and why.
    """

    programs: tuple[Program, ...]
    items: tuple[CheckItem, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether no comparison found a difference."""
        return all(item.is_equal for item in self.items)


@dataclass(slots=True)
class Answers:
    """What a program said, so far."""

    version: str = ""
    at: str = "/"
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    digests: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    elements: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def take(self, line: bytes) -> None:
        """Take one line of its answer."""
        found = json.loads(line)
        if "program" in found:
            self.version = found["version"]
        elif "reading" in found:
            self.at = found["reading"]
        elif "of" in found:
            place = found["of"], json.dumps(found["box"])
            self.digests[place] = found["digest"]
            self.elements[place] = found.get("elements", [])
        elif "failed" in found:
            self.failures[found["failed"]] = found["error"]
        elif "ended" in found:
            self.failures[self.at] = found["ended"]
        else:
            self.nodes[found.get("group", found.get("array"))] = found


def ask_program(
    program: str,
    asked: dict[str, Any],
    answers: Answers,
    token: CancelToken,
    script: str = "",
    seconds: float = LIMITS.check_time,
) -> str:
    """Have a program read a target in a process of its own; returns why it ended before it was done.

    Parameters
    ----------
    asked
        What `refbrowser.exporting.check_child` takes, but for the name of the program and its memory.
    script
        The path of what does the same for a program that the former does not know.
    seconds
        How long it may take.
    """
    target = asked["target"]
    asked = asked | {"program": program, "memory": LIMITS.check_memory}
    environment = None
    if not in_object_store(target):
        # What reads from a store needs its keys, and the network.
        asked["target"] = os.path.realpath(target)
        environment = clean_environment()
    command = [sys.executable, "-I", script or str(Path(check_child.__file__))]
    given = json.dumps(asked).encode()
    try:
        ended = run_program(command, given, answers.take, seconds, token, environment)
    except OSError as error:
        return f"{program} cannot be started: {error.strerror}"
    if not ended.in_time:
        return f"{program} was ended after {seconds:g} s"
    if ended.code:
        last = ended.errors.strip().splitlines()[-1:] or [""]
        return f"{program} crashed ({_how(ended.code)}) {last[0]}".strip()
    return ""


def compared_attributes(
    program: str, path: str, expected: dict[str, Any], found: dict[str, Any]
) -> Iterator[CheckItem]:
    """Yield one comparison where all attributes are equal, else one for each that differs."""
    wanted = {name: check_child.plain(value) for name, value in expected.items() if not _internal(name)}
    got = {name: value for name, value in found.items() if not _internal(name)}
    different = [
        name
        for name in dict.fromkeys([*wanted, *got])
        if name not in wanted or name not in got or not _alike(wanted[name], got[name])
    ]
    if not different:
        yield CheckItem(program, path, "attributes", True)
    for name in different:
        one, other = (words_of(values[name]) if name in values else "nothing" for values in (wanted, got))
        yield CheckItem(program, path, f"attribute {quoted(name)}", False, one, other)


def _internal(name: str) -> bool:
    return name.startswith(_INTERNAL)


def _alike(one: Any, other: Any) -> bool:
    """Tell whether attributes are the same: a float may have been one of 32 bits on its way."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or bool(np.float32(one) == np.float32(other))
    if isinstance(one, dict) and isinstance(other, str):
        # NCZarr writes what JSON has no number for as a text.
        return list(one) == ["float"] and one["float"] == other.lower().replace("infinity", "inf")
    return type(one) is type(other) and bool(one == other)


def compared(program: str, path: str, what: str, expected: Any, found: Any) -> CheckItem:
    """Return the comparison of two JSON values."""
    if expected == found:
        return CheckItem(program, path, what, True)
    return CheckItem(program, path, what, False, words_of(expected), words_of(found))


def words_of(value: Any) -> str:
    """Return a JSON value in words."""
    return quoted(json.dumps(value, ensure_ascii=False))[1:-1]


#: Bytes of the parts of an array that are compared one by one.
PART = 8 * 1024 * 1024
#: Larger arrays are sampled: so many parts of them are compared, the first and the last among them.
WHOLE = 256 * 1024 * 1024
SAMPLED = 16


def _parts(shape: tuple[int, ...], size: int) -> RegularChunkGrid:
    return RegularChunkGrid(shape, Sides(size=PART).within(shape, size))


def compared_boxes(shape: tuple[int, ...], size: int) -> list[list[list[int]]]:
    """Return the parts of an array that are compared, as first element and the one after the last by axis.

    Parameters
    ----------
    size
        Bytes of an element, about.
    """
    grid = _parts(shape, size)
    numbers = range(grid.size)
    if grid.size > SAMPLED and prod(shape) * size > WHOLE:
        numbers = np.unique(np.linspace(0, grid.size - 1, SAMPLED).astype(np.int64)).tolist()
    boxes = []
    for number in numbers:
        coords = np.unravel_index(number, grid.grid_shape) if shape else ()
        boxes.append(
            [
                [int(at) * side, min((int(at) + 1) * side, length)]
                for at, side, length in zip(coords, grid.chunk_shape, shape, strict=True)
            ]
        )
    return boxes


def scope_of(shape: tuple[int, ...], size: int, count: int) -> str:
    """Return in words how much of an array is compared in so many parts of it."""
    parts = _parts(shape, size).size
    return "whole" if count >= parts else f"sampled: {count} of {parts} parts of at most {PART >> 20} MiB"


def first_difference(kind: str, mine: bytes, yours: bytes, box: list[list[int]]) -> tuple[str, str]:
    """Return the first element that differs, as it is expected and as it was found.

    Parameters
    ----------
    kind, mine, yours
        As `check_child.elements` tells them.
    """
    wanted, found = _listed(kind, mine), _listed(kind, yours)
    at = next((at for at, (one, two) in enumerate(zip(wanted, found, strict=False)) if one != two), 0)
    shape = tuple(stop - start for start, stop in box)
    inside = np.unravel_index(at, shape) if shape else ()
    where = [int(number) + start for number, (start, _) in zip(inside, box, strict=True)]
    return (
        f"{quoted(wanted[at], limit=60)} at {where}",
        f"{quoted(found[at], limit=60) if at < len(found) else 'nothing'} there",
    )


def _listed(kind: str, data: bytes) -> list[Any]:
    if kind == "text":
        texts: list[Any] = json.loads(data)
        return texts
    try:
        return np.frombuffer(data, np.dtype(f"<{kind}")).tolist()
    except TypeError:
        return [data]


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def check_export(dataset: Dataset, request: ExportRequest, control: JobControl | None = None) -> CheckReport:
    """Read a complete target with other software, and compare it with the source.

    Parameters
    ----------
    request
        The one by which the target was written.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is no store and no stream, or is not there. The source cannot be read.
    """
    kind = load(form_named(request.format).target)
    if in_object_store(request.target) or os.path.lexists(request.target):
        found: CheckReport = kind.check(dataset, request, control or JobControl())
        return found
    raise RefbrowserError(ErrorKind.IO, "the target does not exist", Place(path=request.target))
