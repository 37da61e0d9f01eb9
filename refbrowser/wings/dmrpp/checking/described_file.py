"""A description of a file (DMR++) compared with the file: whether it is still that file, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.findings.range_findings import range_findings
from refbrowser.engine.opening import OpenRequest, dataset_of, open_document
from refbrowser.errors import Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.sniffing import HEAD, FileKind, Found, file_kind
from refbrowser.io.access.access import Location
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes, RemoteBytes
from refbrowser.io.identity import identity_on_disk
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.rules.rule_search import SearchTime
from refbrowser.wings.dmrpp.checking.description_kinds import (
    DESCRIPTION_DIFFERS,
    DESCRIPTION_NOT_HDF5,
    DESCRIPTION_STALE,
    DESCRIPTION_UNREAD,
)
from refbrowser.wings.dmrpp.reading.dmr_arrays import DmrOrigin
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

#: Seconds that are spent on ranges, and chunks that are compared together.
_SECONDS, _PAGE = 5.0, 65_536


def described_findings(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return where the DMR++ behind a dataset is not of the file that it describes, as far as that is read.

    Its size and first bytes are asked for, and of HDF5 where its chunks are; no chunk is read.
    """
    origin = dataset.document.made_from(DmrOrigin)
    return [] if origin is None else list(_Comparison(dataset, origin, control).findings())


@dataclass(eq=False)
class _Comparison:
    dataset: Dataset
    origin: DmrOrigin
    control: JobControl
    #: What the library tells of the file.
    _described: Dataset | None = field(init=False, default=None)

    @property
    def _place(self) -> Place:
        return Place(document=self.dataset.path, url=self.origin.file)

    def findings(self) -> Iterator[Finding]:
        """Yield what is found: of ranges, of the whole file, then of arrays."""
        if not self.dataset.document.urls.texts:
            # All values stand in the description.
            return
        yield from self._of_ranges()
        try:
            # That it may be read is known before anything else names it.
            location = self.dataset.access.resolve(self.origin.file)
            with ExitStack() as stack:
                source = self._source(location, stack)
                size, kind = source.size, file_kind(bytes(source.read(0, HEAD)))
            yield from self._of_state(location, size)
            if kind is FileKind.HDF5:
                yield from self._of_arrays(location)
            elif not Found(kind).is_data:
                message = f"the file does not begin as HDF5 does, but as: {kind}"
                yield DESCRIPTION_NOT_HDF5.finding(message, self._place)
        except RefbrowserError as error:
            message = f"the file could not be compared: {error.message}"
            yield DESCRIPTION_UNREAD.finding(message, self._place, error=error.kind)

    def _source(self, location: Location, stack: ExitStack) -> ByteSource:
        if location.scheme == "file":
            return stack.enter_context(LocalBytes(location.path))
        access, token = self.dataset.access, self.control.token
        return RemoteBytes(self.origin.file, access, self.dataset.session.fetcher, token, first=HEAD)

    def _of_ranges(self) -> Iterator[Finding]:
        """Yield the ranges that the file cannot have."""
        left = SearchTime(lambda: self.control.token.cancelled, _SECONDS)
        for finding in range_findings(self.dataset.document, self.dataset.access, left):
            key = finding.place.key
            path = None if key is None else f"/{key.rpartition('/')[0]}"
            place = Place(document=self.dataset.path, key=key, path=path, url=finding.place.url)
            yield finding.at(place)

    def _of_state(self, location: Location, size: int) -> Iterator[Finding]:
        """Yield what is not as it was recorded."""
        recorded = self.origin.recorded
        told = recorded.get("file_size", "")
        if told.isdecimal() and int(told) != size:
            message = f"the file has {size} bytes; it had {told} when it was described"
            yield DESCRIPTION_STALE.finding(message, self._place)
            return
        state = identity_on_disk(location.path) if location.scheme == "file" else None
        if state is None or "file_modified" not in recorded:
            return
        changed = datetime.fromtimestamp(state.modified_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if changed != recorded["file_modified"]:
            told = quoted(recorded["file_modified"])[1:-1]
            message = f"the file was changed at {changed}; it is described as it was at {told}"
            yield DESCRIPTION_STALE.finding(message, self._place)

    def _of_arrays(self, location: Location) -> Iterator[Finding]:
        """Yield the arrays whose chunks are elsewhere in the file than it is said."""
        request = OpenRequest(location.url, settings=self.dataset.access.settings)
        opened = open_document(request, self.control, self.dataset.session)
        self._described = dataset_of(
            request.path, opened.document, opened.access, self.dataset.session, self.control
        )
        for node in self.dataset.hierarchy.walk():
            if isinstance(node, ArrayNode) and node.error is None:
                self.control.check()
                yield from self._of_array(node)

    def _of_array(self, said: ArrayNode) -> Iterator[Finding]:
        first = _first_range(said)
        if first is None:
            # Its values stand in the description, or it has none.
            return
        assert self._described is not None
        there = self._described.hierarchy.find(said.path)
        if not isinstance(there, ArrayNode):
            # Servers give arrays other names; chunks tell which one it is.
            there = self._by_first_chunk.get(first)
        if there is None:
            yield self._differs(said, "the file has no array of this name, nor one whose chunks begin there")
        elif there.error is None and (why := _other_form(said, there)):
            yield self._differs(said, why)
        elif there.values.encoded is not None:
            yield from self._of_chunks(said, there)

    def _of_chunks(self, said: ArrayNode, there: ArrayNode) -> Iterator[Finding]:
        count, first = 0, None
        for start in range(0, said.grid.size, _PAGE):
            self.control.check()
            coords = _coords(said, start, min(start + _PAGE, said.grid.size))
            ours, theirs = (each.manifest.columns(coords) for each in (said, there))
            other = ours.kind != theirs.kind
            is_range = ours.kind == ReferenceKind.RANGE
            other |= is_range & ((ours.offset != theirs.offset) | (ours.length != theirs.length))
            rows = np.flatnonzero(other)
            count += len(rows)
            if first is None and len(rows):
                first = said.manifest.key(tuple(coords[rows[0]].tolist()))
        if count:
            which = f"{counted_plain(count, 'chunk')} of {said.grid.size}"
            yield self._differs(
                said, f"the file has {which} elsewhere, in another length or not at all", first
            )

    def _differs(self, node: ArrayNode, message: str, key: str | None = None) -> Finding:
        return DESCRIPTION_DIFFERS.finding(message, replace(self._place, path=node.path, key=key))

    @cached_property
    def _by_first_chunk(self) -> dict[tuple[int, int], ArrayNode]:
        assert self._described is not None
        nodes = (each for each in self._described.hierarchy.walk() if isinstance(each, ArrayNode))
        found = ((_first_range(node), node) for node in nodes if node.error is None)
        return {first: node for first, node in found if first is not None}


def _coords(node: ArrayNode, start: int, stop: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    grid = node.grid.grid_shape
    if not grid:
        return np.zeros((stop - start, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(start, stop), grid), axis=1).astype(np.int64)


def _first_range(node: ArrayNode) -> tuple[int, int] | None:
    """Return offset and length of the first chunk that is stored in a file, of those that come first."""
    if node.values.encoded is None or not node.grid.size:
        return None
    columns = node.manifest.columns(_coords(node, 0, min(_PAGE, node.grid.size)))
    rows = np.flatnonzero(columns.kind == ReferenceKind.RANGE)
    return (int(columns.offset[rows[0]]), int(columns.length[rows[0]])) if len(rows) else None


def _other_form(said: ArrayNode, there: ArrayNode) -> str:
    """Return what of an array is another in the file than it is said; empty where nothing is."""
    if said.shape != there.shape:
        return f"its shape is {list(there.shape)} in the file, not {list(said.shape)}"
    if there.values.encoded is None:
        return ""
    if said.grid != there.grid:
        return f"its chunks are of {list(there.grid.largest)} in the file, not {list(said.grid.largest)}"
    ours, theirs = said.known_dtype, there.known_dtype
    if ours.itemsize != theirs.itemsize or ours.str[0] != theirs.str[0]:
        return f"its elements are {theirs.str} in the file, not {ours.str}"
    names = [[codec.name for codec in each.codecs] for each in (said, there)]
    if names[0] != names[1]:
        return (
            f"its filters are {' '.join(names[1]) or 'none'} in the file, not {' '.join(names[0]) or 'none'}"
        )
    return ""
