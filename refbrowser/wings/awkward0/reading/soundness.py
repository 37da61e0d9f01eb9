"""Looks at all bytes and all values of a file of Awkward 0, for faults that its schemas do not tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested.rows import read_rows
from refbrowser.errors import RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.io.access.access import chained_url
from refbrowser.io.archives.known_archives import Confirm
from refbrowser.io.cancel import linked
from refbrowser.io.fetching.archive_reading import read_members
from refbrowser.limits import LIMITS
from refbrowser.model.nested import NestedFault
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange
from refbrowser.model.selection import Selection
from refbrowser.wings.awkward0.files.container import ZipContainer
from refbrowser.wings.awkward0.reading.opening import Awkward0Origin

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.archives.directory import ZipDirectory

#: Bytes of members that are read together.
_TOGETHER = 32 << 20
#: Rows of an array that are read beside as many as it has bytes.
_ROWS_WITHOUT_BYTES = 1 << 20


def value_findings(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return what is wrong with the blobs and the values behind a dataset, all of them read."""
    origin = dataset.document.made_from(Awkward0Origin)
    if origin is None:
        return []
    dataset = dataset.with_access(dataset.access.confirming(Confirm.ALWAYS))
    # Closing the session cancels what read with it: the caller's token is to outlive that.
    with linked(control.token) as token:
        own = JobControl(token, lambda changes: control.progress(changes["done"], changes["total"]))
        found = list(_blob_findings(dataset, origin, own))
        for array in origin.arrays:
            node = dataset.hierarchy.find(array.path)
            if isinstance(node, ArrayNode) and node.has_grid and node.unreadable is None:
                found += row_findings(dataset, node, own)
    return found


# Blobs


def _blob_findings(dataset: Dataset, origin: Awkward0Origin, control: JobControl) -> Iterator[Finding]:
    """Yield the members of an archive whose bytes cannot be read whole, or have another CRC-32."""
    container = origin.container
    if not isinstance(container, ZipContainer):
        return
    directory = container.directory
    for names in _batches(directory):
        answers = read_members(
            directory, names, dataset.access, dataset.session.fetcher, control.token, LIMITS.chunk_size
        )
        for name, answer in answers.items():
            if isinstance(answer, RefbrowserError):
                yield _fault(answer.at(replace(answer.place, key=name)))
    for name in container.names():
        row = directory.find(name)
        if row is not None and directory.error(row) is None and _is_large(directory, row):
            try:
                _confirm(dataset, directory, row, control)
            except RefbrowserError as error:
                yield _fault(error)


def _is_large(directory: ZipDirectory, row: int) -> bool:
    return max(directory.size_of(row), directory.packed_size_of(row)) > _TOGETHER


def _batches(directory: ZipDirectory) -> Iterator[list[str]]:
    """Yield the names of members that are read together; what cannot be read was told with the archive."""
    names: list[str] = []
    size = 0
    for name in directory.names():
        row = directory.find(name)
        if row is None or directory.error(row) is not None or _is_large(directory, row):
            continue
        own = directory.size_of(row) + directory.packed_size_of(row)
        if names and size + own > _TOGETHER:
            yield names
            names, size = [], 0
        names.append(name)
        size += own
    if names:
        yield names


def _confirm(dataset: Dataset, directory: ZipDirectory, row: int, control: JobControl) -> None:
    """Read a large member, part by part where it is stored as it is: before any of it is given.

    Raises
    ------
    RefbrowserError
        It cannot be read, or has another CRC-32 than the directory says.
    """
    name = directory.member(row).name
    part = ByteRange(chained_url(name, directory.url), 0, 1)
    dataset.session.read_reference(name, part, dataset.access, control.token)


# Values


def row_findings(dataset: Dataset, node: ArrayNode, control: JobControl) -> Iterator[Finding]:
    """Yield what cannot be read of an array: each field once, and the first rows that are broken."""
    told: set[str] = set()
    for start, stop in _blocks(node):
        try:
            faults = _read(dataset, node, start, stop, control)
        except RefbrowserError as error:
            yield _fault(error, node.path)
            return
        for fault in faults:
            if fault.path not in told:
                told.add(fault.path)
                yield _fault(fault.error, f"{node.path}/{fault.path}".rstrip("/"))
        control.progress(stop, node.shape[0] if node.shape else 1)


def _blocks(node: ArrayNode) -> Iterator[tuple[int, int]]:
    if not node.shape:
        yield 0, 1
        return
    rows, side = node.shape[0], node.grid.regular.chunk_shape[0]
    if node.nested is not None:
        # A row takes a byte at least, but of sparse arrays: they may have more than anybody can wait for.
        rows = min(rows, sum(buffer.nbytes for buffer in node.nested.buffers) + _ROWS_WITHOUT_BYTES)
    for start in range(0, rows, side):
        yield start, min(start + side, rows)


def _read(
    dataset: Dataset, node: ArrayNode, start: int, stop: int, control: JobControl
) -> tuple[NestedFault, ...]:
    session, access = dataset.session, dataset.access
    if node.nested is not None:
        # The rows of a cycle are rows of an array: one turn leads to all of them.
        found = read_rows(session, node, access, start, stop, control.token, turns=1).faults
        return tuple(fault for fault in found if not fault.is_cut)
    index = (slice(start, stop),) if node.shape else ()
    session.read(node, access, Selection.from_index(index, node.shape), cancel=control.token)
    return ()


def _fault(error: RefbrowserError, path: str | None = None) -> Finding:
    place = error.place if error.place.path is not None else replace(error.place, path=path)
    return Finding(
        severity=Severity.FAULT, kind=error.kind, message=error.message, place=place, advice=error.advice
    )
