"""Verdicts, features, versions and remedies in words, as lines, pages and the window have them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from refbrowser.engine.readers.matrix import ArrayGroup, Cause, Cell, Matrix, worst
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.rules import KnownReader, Remedy
from refbrowser.exporting.option_fields import group_of
from refbrowser.formats.option_fields import declared
from refbrowser.formats.registry import written
from refbrowser.words import counted, plural

#: How each verdict is marked, and called: the mark stands beside the word, so that no colour is needed.
MARKS = {
    ReaderVerdict.DECODES: "✓",
    ReaderVerdict.OPENS: "◐",
    ReaderVerdict.REFUSES: "✗",
    ReaderVerdict.WRONG: "!",
    ReaderVerdict.UNKNOWN: "?",
}
WORDS = {
    ReaderVerdict.DECODES: "reads",
    ReaderVerdict.OPENS: "opens only",
    ReaderVerdict.REFUSES: "refuses",
    ReaderVerdict.WRONG: "reads wrongly",
    ReaderVerdict.UNKNOWN: "not known",
}
_FACETS = {
    "form": "form",
    "metadata": "metadata",
    "codec-v2": "codec",
    "codec-v3": "codec",
    "type": "type",
    "grid": "chunk grid",
    "order": "order of elements",
    "byte-order": "byte order",
    "document": "document",
    "fill": "fill value",
    "shape": "shape",
    "dimensions": "dimensions",
    "zip": "keys of the zip file",
    "place": "place in the hierarchy",
    "keys": "chunk keys",
    "_FillValue": "_FillValue",
}
#: Features that are told of arrays, in this order.
_TOLD = ("form", "metadata", "type", "codec-v2", "codec-v3", "grid", "order", "byte-order", "document")
#: What needs no words, as nearly every array has it.
_USUAL = {"grid:regular", "codec-v3:bytes", "document:gen"}


@dataclass(frozen=True, slots=True)
class VersionRun:
    """Versions of one reader that follow each other, and that make the same of the arrays of a row."""

    reader: KnownReader
    versions: tuple[str, ...]
    cell: Cell

    @property
    def label(self) -> str:
        """Title and versions: ``GDAL 3.6 to 3.10``."""
        return versions_label(self.reader, self.versions)


def version_runs(matrix: Matrix, group: ArrayGroup) -> list[VersionRun]:
    """Return the columns of a row, those of one reader put together where the same becomes of them."""
    runs: list[VersionRun] = []
    for column, cell in zip(matrix.columns, group.cells, strict=True):
        last = runs[-1] if runs else None
        if last is not None and last.reader is column.reader and last.cell == cell:
            runs[-1] = VersionRun(column.reader, (*last.versions, column.version), cell)
        else:
            runs.append(VersionRun(column.reader, (column.version,), cell))
    return runs


@dataclass(frozen=True, slots=True)
class GroupRun:
    """Versions of one reader that follow each other, and that make the same of all arrays: a row.

    Attributes
    ----------
    cells
        One for each row of arrays of the matrix.
    """

    reader: KnownReader
    versions: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def label(self) -> str:
        """Title and versions."""
        return versions_label(self.reader, self.versions)

    @property
    def verdict(self) -> ReaderVerdict:
        """The worst of its cells."""
        return worst(cell.verdict for cell in self.cells)

    @property
    def remedy(self) -> Remedy | None:
        """What makes all arrays readable: one thing that all cells need, else what suits the reader."""
        unread = [cell for cell in self.cells if cell.verdict is not ReaderVerdict.DECODES]
        named = {cell.remedy for cell in unread}
        return next(iter(named)) if len(named) == 1 else next((cell.fallback for cell in unread), None)


def reader_rows(matrix: Matrix) -> list[GroupRun]:
    """Return the readers as rows, those versions together of which the same becomes."""
    rows: list[GroupRun] = []
    for number, column in enumerate(matrix.columns):
        cells = tuple(group.cells[number] for group in matrix.groups)
        last = rows[-1] if rows else None
        if last is not None and last.reader is column.reader and last.cells == cells:
            rows[-1] = GroupRun(column.reader, (*last.versions, column.version), cells)
        else:
            rows.append(GroupRun(column.reader, (column.version,), cells))
    return rows


def versions_label(reader: KnownReader, versions: Sequence[str]) -> str:
    """Return the title of a reader with versions: ``GDAL 3.6 to 3.10``."""
    return f"{reader.title} {versions[0]}" + (f" to {versions[-1]}" if len(versions) > 1 else "")


def matrix_summary(matrix: Matrix) -> str:
    """Return how many versions of readers read how many arrays."""
    found = [matrix.verdict(number) for number in range(len(matrix.columns))]
    count = sum(len(group.arrays) for group in matrix.groups)
    able = found.count(ReaderVerdict.DECODES)
    read = plural(able, "reads", "read")
    all_of = "the array" if count == 1 else f"all {counted(count, 'array')}"
    return f"{able} of {counted(len(found), 'reader version')} {read} {all_of}"


def cell_about(label: str, group: ArrayGroup, cell: Cell, path: str) -> Iterator[str]:
    """Yield all about a cell as lines: verdict, causes with their sources, what helps."""
    yield f"{label} {WORDS[cell.verdict]}: {group_words(group, 3)}"
    yield f"The arrays need: {needs_words(group)}"
    for cause in cell.causes:
        source = f" [{cause.source}]" if cause.source else ""
        yield f"Cause: {cause_words(cause)}{source}"
    for source in cell.sources:
        yield f"Known from: {source}"
    remedy = cell.remedy
    if remedy is not None:
        yield f"What helps: {remedy.words}."
        if command := remedy_command(remedy, path):
            yield f"On the command line: {command}"


def group_words(group: ArrayGroup, most: int = 1) -> str:
    """Return which arrays a row is about: ``/a, /b and 3 more arrays``."""
    return arrays_words(group.arrays, most)


def arrays_words(arrays: Sequence[str], most: int = 1) -> str:
    """Return the first of some arrays, and how many more there are."""
    shown = ", ".join(arrays[:most])
    left = len(arrays) - most
    return f"{shown} and {counted(left, 'more array')}" if left > 0 else shown


def feature_words(feature: str) -> str:
    """Return a feature in words: ``codec zstd``."""
    facet, _, value = feature.partition(":")
    return f"{_FACETS.get(facet, facet)} {value}"


def needs_words(group: ArrayGroup) -> str:
    """Return what arrays need of a reader, without what is usual."""
    told = sorted(
        (each for each in group.features - _USUAL if each.partition(":")[0] in _TOLD),
        key=lambda each: (_TOLD.index(each.partition(":")[0]), each),
    )
    return ", ".join(each.partition(":")[2] for each in told)


def cause_words(cause: Cause) -> str:
    """Return why an array is not read, with what is the cause."""
    return f"{cause.reason} ({', '.join(map(feature_words, cause.features))})"


def remedy_command(remedy: Remedy, path: str) -> str:
    """Return the command that makes a dataset readable; empty where no export does."""
    if not remedy.export:
        return ""
    names = map(_named, (path, _target(remedy, path)))
    words = ["refbrowser", "export", *names, "--to", remedy.export, *_flags(remedy)]
    return shlex.join(words)


def _named(path: str) -> str:
    """Return a path that is taken for no option."""
    return f"./{path}" if path.startswith("-") else path


def _flags(remedy: Remedy) -> Iterator[str]:
    group = group_of(written()[remedy.export])
    options = {} if group is None else declared(group)
    for name, value in remedy.options.items():
        yield options[name].flag
        if value is not True:
            yield str(value)


def _target(remedy: Remedy, path: str) -> str:
    """Return a name for what is made, in the working folder."""
    name = PurePosixPath(re.split("[?#]", path.rstrip("/"))[0]).name
    return f"{name.split('.')[0] or 'dataset'}-{remedy.export}{written()[remedy.export].suffix}"
