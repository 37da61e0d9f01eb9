"""Comparing two datasets of any format: structure, metadata by meaning, documents, references, values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from refbrowser.engine.comparing.chunk_differences import compare_chunks, reference_text
from refbrowser.engine.comparing.differences import (
    ArrayComparison,
    ChunkComparison,
    ChunkState,
    Comparison,
    Difference,
    DifferenceKind,
    ValueComparison,
    difference_kind,
)
from refbrowser.engine.comparing.document_differences import DocumentDifferences
from refbrowser.engine.comparing.node_differences import array_differences, group_differences
from refbrowser.engine.comparing.value_differences import compare_values
from refbrowser.engine.dataset import Array, Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.store_listing import list_store
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.option_fields import Item, Kind, documented, option
from refbrowser.io.access.local_files import open_regular, read_bytes
from refbrowser.io.origins import local_path
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.references.edits.compare import Side
from refbrowser.references.edits.many_edits import is_relative

#: What is read of the values of arrays: of `AUTO` a sample where references do not say what they are.
AUTO, NO_VALUES, SAMPLE, ALL = "auto", "none", "sample", "all"
VALUES = (AUTO, NO_VALUES, SAMPLE, ALL)
#: Larger files are not read to see whether both have the same bytes; others so many bytes at a time.
LARGEST_COPY = 1 << 30
_PORTION = 1 << 22
#: Pairs of arrays that are looked at for another name.
_PAIRS = 10_000
#: URLs that are looked at for relative ones.
_URLS = 1_000


@documented
@dataclass(frozen=True, slots=True)
class CompareRequest:
    """What is compared."""

    values: str = field(
        default=AUTO,
        metadata=option(
            "--values",
            "compare values: auto, a sample where the references do not tell whether they are the same; "
            "none; a sample of each array, always the same blocks; or all",
            kind=Kind.CHOICE,
            items=tuple(Item(each, each) for each in VALUES),
        ),
    )
    arrays: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--array ARRAY",
            "compare just this array (repeatable)",
            about="Paths of the arrays that are compared; all where there are none.",
            kind=Kind.TEXTS,
        ),
    )
    ignore: tuple[DifferenceKind, ...] = field(
        default=(),
        metadata=option(
            "--ignore KIND",
            "differences that do not count: attributes, layout, references... (repeatable)",
            about="Kinds of differences that are neither looked for nor told.",
            kind=Kind.TEXTS,
            parse=difference_kind,
            values=lambda: list(DifferenceKind),
        ),
    )


def compare_datasets(
    here: Dataset, there: Dataset, request: CompareRequest | None = None, control: JobControl | None = None
) -> Comparison:
    """Return how two datasets differ.

    Stores are listed, so that it is known which chunks are missing. Values are read as far as both datasets
    may read them; what cannot be read is told in the result and never equal.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: neither has an array that is asked for; or a store cannot be listed.
    """
    request, control = request or CompareRequest(), control or JobControl()
    if request.values not in VALUES:
        raise RefbrowserError(ErrorKind.USAGE, f"values are compared as {', '.join(VALUES)}")
    for dataset in (here, there):
        list_store(dataset, control)
    return _Comparing(here, there, request, control).compared()


@dataclass(slots=True, eq=False)
class _Comparing:
    here: Dataset
    there: Dataset
    request: CompareRequest
    control: JobControl
    are_copies: bool = False

    def compared(self) -> Comparison:
        mine, theirs = _arrays(self.here.hierarchy), _arrays(self.there.hierarchy)
        if self.request.arrays:
            self._check(mine, theirs)
            wanted = {_path(each) for each in self.request.arrays}
            mine, theirs = (
                {path: node for path, node in side.items() if path in wanted} for side in (mine, theirs)
            )
        both = [path for path in mine if path in theirs]
        renamed = self._renamed(mine, theirs)
        pairs = [(mine[path], theirs[path]) for path in both]
        pairs += [(mine[path], theirs[other]) for path, other in renamed.items()]
        self.are_copies = self.request.values != NO_VALUES and _are_copies(
            self.here, self.there, self.control
        )
        found = [] if self.request.arrays else list(self._structure(mine, theirs, renamed))
        for one, other in pairs:
            self.control.check()
            found += array_differences(one, other)
        arrays = tuple(self._array(one, other) for one, other in pairs)
        spelled: list[Difference] = []
        unlooked = 0
        if not self.request.arrays:
            alike = all(each.chunks.is_decided and not each.chunks.different for each in arrays)
            documents = DocumentDifferences(self.here, self.there, self.control, same_references=alike)
            found += documents.differences
            spelled, unlooked = documents.spelled, documents.unlooked
        ignored = self.request.ignore
        return Comparison(
            here=self.here.path,
            there=self.there.path,
            format_here=self.here.format,
            format_there=self.there.format,
            differences=tuple(each for each in found if each.kind not in ignored),
            arrays=arrays,
            spelled=tuple(each for each in spelled if each.kind not in ignored),
            unlooked=unlooked,
            notes=tuple(self._notes()),
        )

    def _check(self, mine: dict[str, ArrayNode], theirs: dict[str, ArrayNode]) -> None:
        for path in self.request.arrays:
            if _path(path) not in mine and _path(path) not in theirs:
                message = f"neither side has an array {quoted(path)}"
                raise RefbrowserError(ErrorKind.USAGE, message, Place(path=_path(path)))

    # Structure

    def _structure(
        self, mine: dict[str, ArrayNode], theirs: dict[str, ArrayNode], renamed: dict[str, str]
    ) -> Iterator[Difference]:
        groups = _groups(self.here.hierarchy), _groups(self.there.hierarchy)
        is_one_format = self.here.format == self.there.format
        nodes = (*mine.values(), *theirs.values())
        used = {name for node in nodes for name in node.dimension_paths if name is not None}
        for path in dict.fromkeys((*groups[0], *groups[1])):
            if path not in groups[1]:
                yield Difference(DifferenceKind.GROUP, path, "", Side.HERE, here="group")
            elif path not in groups[0]:
                yield Difference(DifferenceKind.GROUP, path, "", Side.THERE, there="group")
            else:
                yield from group_differences(
                    groups[0][path], groups[1][path], is_one_format=is_one_format, used=used
                )
        for path, other in renamed.items():
            note = "the same references, and at least one"
            yield Difference(DifferenceKind.ARRAY, path, "renamed", Side.BOTH, path, other, note)
        for path, node in mine.items():
            if path not in theirs and path not in renamed:
                yield Difference(DifferenceKind.ARRAY, path, "", Side.HERE, here=_array_text(node))
        for path, node in theirs.items():
            if path not in mine and path not in renamed.values():
                yield Difference(DifferenceKind.ARRAY, path, "", Side.THERE, there=_array_text(node))

    def _renamed(self, mine: dict[str, ArrayNode], theirs: dict[str, ArrayNode]) -> dict[str, str]:
        """Return arrays that have another name there: those with the same references, and some."""
        alone = [node for path, node in mine.items() if path not in theirs and node.has_manifest]
        others = [node for path, node in theirs.items() if path not in mine and node.has_manifest]
        found: dict[str, str] = {}
        pairs = ((one, other) for one in alone for other in others if _alike(one, other))
        for one, other in islice(pairs, _PAIRS):
            if one.path in found or other.path in found.values() or _first(one) != _first(other):
                continue
            chunks = compare_chunks(one, other, (self.here, self.there), self.control)
            same = chunks.counts.get(ChunkState.SAME, 0)
            if same and same + chunks.counts[ChunkState.MISSING] == sum(chunks.counts.values()):
                found[one.path] = other.path
        return found

    # Arrays

    def _array(self, one: ArrayNode, other: ArrayNode) -> ArrayComparison:
        ignored = self.request.ignore
        chunks = ChunkComparison(why="references are ignored")
        if DifferenceKind.REFERENCES not in ignored:
            self.control.stage("comparing references")
            chunks = compare_chunks(
                one, other, (self.here, self.there), self.control, are_copies=self.are_copies
            )
        if DifferenceKind.VALUES in ignored:
            is_ignored = DifferenceKind.REFERENCES in ignored
            return ArrayComparison(one.path, other.path, chunks, is_ignored=is_ignored)
        values = self._values(one, other, chunks) if self._wants_values(chunks) else None
        return ArrayComparison(one.path, other.path, chunks, values)

    def _wants_values(self, chunks: ChunkComparison) -> bool:
        wanted = self.request.values
        return wanted in (SAMPLE, ALL) or (wanted == AUTO and not chunks.is_decided)

    def _values(self, one: ArrayNode, other: ArrayNode, chunks: ChunkComparison) -> ValueComparison:
        self.control.stage("comparing values")
        first = None
        if chunks.states is not None:
            differs = np.isin(chunks.states, [state for state in ChunkState if state.differs])
            first = np.argwhere(differs)
        arrays = Array(self.here, one), Array(self.there, other)
        return compare_values(*arrays, self.control, sample=self.request.values != ALL, first=first)

    def _notes(self) -> Iterator[str]:
        bases = self.here.access.base, self.there.access.base
        if bases[0] != bases[1] and all(_has_relative(each) for each in (self.here, self.there)):
            yield (
                "relative URLs start in the folder of their document, and these documents are in different "
                "folders: the same text points to different files"
            )
        for name, dataset in (("here", self.here), ("there", self.there)):
            if dataset.damage:
                yield f"what is {name} is damaged: {dataset.damage[0].message}"


def _are_copies(here: Dataset, there: Dataset, control: JobControl) -> bool:
    """Tell whether both are local files with the same bytes, as far as these are not too large to be read."""
    paths = _file_of(here), _file_of(there)
    if paths[0] is None or paths[1] is None:
        return False
    try:
        with open_regular(paths[0]) as (mine, one), open_regular(paths[1]) as (theirs, other):
            if one.size != other.size or one.size > LARGEST_COPY:
                return False
            for start in range(0, one.size, _PORTION):
                control.check()
                control.progress(start, one.size, note=here.path)
                size = min(_PORTION, one.size - start)
                portion = read_bytes(mine, size, start)
                if len(portion) < size or portion != read_bytes(theirs, size, start):
                    return False
    except (OSError, RefbrowserError):
        # What reads their values tells why they cannot be read.
        return False
    return True


def _file_of(dataset: Dataset) -> str | None:
    """Return the local file that a dataset is; None of documents, stores and what lies elsewhere."""
    if not dataset.document.rules_are_made:
        return None
    (place,) = dataset.document.places.values()
    path = local_path(place)
    return os.path.realpath(path) if path is not None and os.path.isfile(path) else None


def _path(path: str) -> str:
    return f"/{path.strip('/')}"


def _arrays(hierarchy: Hierarchy) -> dict[str, ArrayNode]:
    return {node.path: node for node in hierarchy.walk() if isinstance(node, ArrayNode)}


def _groups(hierarchy: Hierarchy) -> dict[str, GroupNode]:
    return {node.path: node for node in hierarchy.walk() if isinstance(node, GroupNode)}


def _array_text(node: ArrayNode) -> str:
    return f"{node.type.name or 'unknown type'} {list(node.shape)}"


def _alike(one: ArrayNode, other: ArrayNode) -> bool:
    """Tell whether nothing but the name and what is said of an array may differ."""
    if one.shape != other.shape or not one.grid.agrees(other.grid):
        return False
    found = array_differences(one, replace(other, path=one.path))
    return all(each.kind in (DifferenceKind.ATTRIBUTE, DifferenceKind.DIMENSION) for each in found)


def _first(node: ArrayNode) -> str:
    """Return the first reference of an array as text."""
    if 0 in node.manifest.grid_shape:
        return ""
    columns = node.manifest.columns(np.zeros((1, len(node.manifest.grid_shape)), np.int64))
    try:
        return reference_text(columns.reference(0))
    except RefbrowserError as error:
        return error.message
    except KeyError:
        return ""


def _has_relative(dataset: Dataset) -> bool:
    urls = dataset.document.refs.table.urls[:_URLS]
    return not dataset.document.rules_are_made and any(map(is_relative, urls))
