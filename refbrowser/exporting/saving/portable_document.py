"""The document of an opened store as other software reads it.

fsspec has no missing chunks: a reference must lead to something. So arrays with missing chunks get a
reference for each chunk that is there, in the place of their rule. It has no members of archives either:
stored ones become ranges of the archive, deflated ones are written into the document while there is room.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.found_members import Found, find_member, member_rows
from refbrowser.engine.store_listing import can_be_listed, list_store
from refbrowser.errors import AbsentError, RefbrowserError
from refbrowser.exporting.request import Loss
from refbrowser.exporting.rewritten_document import Rewriting, rewritten
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.formats.registry import facet
from refbrowser.formats.store_manifest import StoreManifest
from refbrowser.formats.store_rules import RULES
from refbrowser.io.access.access import split_chained
from refbrowser.io.fetching.archive_reading import read_archive
from refbrowser.limits import LIMITS
from refbrowser.model.listing import ListedChunks
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceColumns, ReferenceKind
from refbrowser.references.rules.gen import RENDERED_ONLY, GenRule

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.references.document.document import Document

Ints = npt.NDArray[np.int64]
#: Chunks whose references are made together.
_PAGE = 16_384
UNKNOWN = "missing chunks are not known; for those other software raises an error instead of the fill value"
NO_RULE = "the references of its chunks do not fit into the document: other software reads the fill value"


@dataclass(slots=True)
class Portable:
    """A document for other software, and what it does not say."""

    document: Document
    losses: list[Loss] = field(default_factory=list)


def portable_document(dataset: Dataset, control: JobControl, version: int = 0) -> Portable:
    """Return the document of a dataset with references that other software can follow.

    That of a dataset that is neither a store nor made from messages is returned as it is. A store that can be
    listed is listed.

    Parameters
    ----------
    version
        That it will be written in: rules in Version 1 are told of.

    Raises
    ------
    RefbrowserError
        The store cannot be listed, or an entry is faulty.
    """
    if not dataset.document.has_keys:
        make = facet(dataset.document, "portable")
        return Portable(*make(dataset, control)) if make else Portable(replace(_said(dataset), origin=None))
    if dataset.document.store is None:
        return Portable(_said(dataset))
    portable = _followed(dataset, control)
    if version == 1 and portable.document.rules:
        portable.losses.append(Loss("/", RENDERED_ONLY))
    loss = RULES[dataset.document.store.flavour].loss
    if loss:
        portable.losses.append(Loss("/", loss))
    return portable


def _said(dataset: Dataset) -> Document:
    """Return the document of a dataset; where it was edited, with the edits as they are in its text."""
    return dataset.document.written() if dataset.document.is_edited else dataset.document


def foreseen_losses(dataset: Dataset) -> Iterator[Loss]:
    """Yield what `portable_document` will not say of messages, where that is known before they are read."""
    foreseen = facet(dataset.document, "foreseen")
    if foreseen is not None:
        yield from foreseen(dataset)


def _followed(dataset: Dataset, control: JobControl) -> Portable:
    """Return the document of a store with references that lead to something, as far as that is known."""
    document, store = dataset.document.written(), dataset.document.store
    left_out = frozenset() if document.store is None else document.store.left_out
    if not can_be_listed(dataset):
        losses = [Loss(f"/{prefix.rstrip('/')}", NO_RULE) for prefix in sorted(left_out)]
        return Portable(document, [Loss("/", f"the store cannot be listed: {UNKNOWN}"), *losses])
    list_store(dataset, control)
    arrays = list(_arrays(dataset))
    unknown: list[Loss] = []
    if store is not None and store.container != "zip":
        unknown = [Loss(array.node.path, UNKNOWN) for array in arrays if array.listed is None]
        arrays = [
            array
            for array in arrays
            if array.manifest.prefix in left_out or (array.listed is not None and array.listed.missing)
        ]
    if not arrays:
        return Portable(document, unknown)
    writing = _Writing(dataset, arrays, control)
    how = Rewriting(keeps=writing.keeps, rule_stays=writing.rule_stays, added=writing.references())
    made = replace(rewritten(document, how, control.token), origin=store, notes=dataset.document.notes)
    return Portable(made, [*unknown, *writing.losses()])


def _arrays(dataset: Dataset) -> Iterator[_Array]:
    """Yield the arrays, with what the listing found of those whose grid is still that of the store."""
    for node in dataset.hierarchy.walk():
        if isinstance(node, ArrayNode) and node.has_manifest:
            for manifest in single_manifests(node.manifest):
                listed = manifest.listed if isinstance(manifest, StoreManifest) else None
                yield _Array(node, manifest, listed)


@dataclass(slots=True)
class _Array:
    """An array whose references are written out.

    Attributes
    ----------
    others
        Coordinates of chunks whose references come from elsewhere than the rule of the array.
    zipped
        Deflated members that found no room in the document.
    """

    node: ArrayNode
    manifest: ExpansionManifest
    listed: ListedChunks | None
    others: dict[tuple[int, ...], None] = field(default_factory=dict)
    zipped: int = 0

    def coords_of(self, key: str) -> tuple[int, ...] | None:
        """Return the coordinates of the chunk with a key, None where it is no chunk of this array."""
        if not key.startswith(self.manifest.prefix):
            return None
        inside = key[len(self.manifest.prefix) :]
        coords = self.manifest.encoding.decode(inside, len(self.manifest.grid_shape))
        grid = self.manifest.grid_shape
        if coords is None or any(at >= side for at, side in zip(coords, grid, strict=True)):
            return None
        return coords

    def pages(self) -> Iterator[Ints]:
        """Yield the coordinates of chunks that may have a reference, each once, some thousands at a time."""
        grid, size = self.manifest.grid_shape, _size(self.manifest.grid_shape)
        seen = set()
        for start in range(0, size, _PAGE):
            stop = min(start + _PAGE, size)
            flat = np.arange(start, stop) if self.listed is None else self.listed.rows(start, stop)
            if len(flat):
                coords = np.stack(np.unravel_index(flat, grid), axis=1) if grid else np.zeros((1, 0))
                page = coords.astype(np.int64)
                if self.others:
                    seen |= set(map(tuple, page.tolist())) & self.others.keys()
                yield page
        rest = [coords for coords in self.others if coords not in seen]
        for start in range(0, len(rest), _PAGE):
            yield np.array(rest[start : start + _PAGE], np.int64).reshape(-1, len(grid))


def _chosen(columns: ReferenceColumns, rows: Sequence[int], kind: ReferenceKind) -> ReferenceColumns:
    """Return columns with nothing but the chosen rows: all of each (`WHOLE`), or no byte of it (`RANGE`)."""
    kinds = np.full(len(columns), ReferenceKind.MISSING, np.uint8)
    kinds[list(rows)] = kind
    nothing = np.zeros(len(columns), np.int64)
    return replace(columns, kind=kinds, offset=nothing, length=nothing)


def _size(grid: Sequence[int]) -> int:
    size = 1
    for side in grid:
        size *= side
    return size


class _Writing:
    """Writes out the references of some arrays."""

    def __init__(self, dataset: Dataset, arrays: Sequence[_Array], control: JobControl) -> None:
        self._dataset = dataset
        self._control = control
        # Of two spellings of the chunk keys of an array the first counts: the store was listed by it.
        self._arrays = {array.manifest.prefix: array for array in reversed(arrays)}
        self._room = LIMITS.inlined_members

    def _array_of(self, key: str) -> tuple[_Array, tuple[int, ...]] | None:
        """Return the array that a key is a chunk of: the innermost one above it."""
        at = len(key)
        while at >= 0:
            at = key.rfind("/", 0, at)
            array = self._arrays.get(key[: at + 1])
            if array is not None:
                coords = array.coords_of(key)
                return None if coords is None else (array, coords)
        return None

    def keeps(self, key: str) -> bool:
        """Tell whether an entry stays: chunks of the arrays are written out with the others."""
        found = self._array_of(key)
        if found is not None:
            found[0].others[found[1]] = None
        return found is None

    def rule_stays(self, rule: GenRule) -> bool:
        """Tell whether a rule stays: those that give chunks of the arrays do not."""
        first = rule.row(0).key if rule.count else None
        found = None if first is None else self._array_of(first)
        if found is None:
            return True
        array = found[0]
        if rule.count == _size(array.manifest.grid_shape):
            return False
        for start in range(0, rule.count, _PAGE):
            self._control.check()
            for key in rule.rows(start, min(start + _PAGE, rule.count)).keys:
                coords = None if key is None else array.coords_of(key)
                if coords is not None:
                    array.others[coords] = None
        return False

    def references(self) -> Iterator[tuple[str, Reference]]:
        """Yield key and reference of every chunk that is there."""
        done = 0
        for array in self._arrays.values():
            for coords in array.pages():
                self._control.check()
                columns = array.manifest.columns(coords)
                keys = array.manifest.encoding.encode_many(coords, array.manifest.prefix)
                resolved = self._resolved(array, columns, keys)
                for row in np.flatnonzero(columns.kind != ReferenceKind.MISSING).tolist():
                    yield keys[row], resolved.get(row) or columns.reference(row)
                done += len(coords)
                self._control.progress(done, None, note="references")

    def _resolved(
        self, array: _Array, columns: ReferenceColumns, keys: Sequence[str]
    ) -> dict[int, Reference]:
        """Return what stands for the rows that are members of archives, where something can."""
        members = dict(self._members(columns))
        gone = [row for row in member_rows(columns).tolist() if row not in members]
        columns.kind[gone] = ReferenceKind.MISSING
        stored = [row for row, found in members.items() if not found.member.is_packed]
        # A part of no bytes of a member needs its local header, and no more.
        self._fetch(_chosen(columns, stored, ReferenceKind.RANGE), keys)
        starts = self._dataset.access.memory.archives.data_start
        found: dict[int, Reference] = {}
        for row in stored:
            start = starts(members[row].archive, members[row].row)
            assert start is not None
            found[row] = ByteRange(members[row].archive, start, members[row].member.size)
        inlined = []
        for row, each in members.items():
            size = each.member.size
            if not each.member.is_packed:
                continue
            if size <= min(self._room, LIMITS.inline_value):
                self._room -= size
                inlined.append(row)
            else:
                array.zipped += 1
        answers = self._fetch(_chosen(columns, inlined, ReferenceKind.WHOLE), keys)
        return found | {row: Inline(answers[row]) for row in inlined}

    def _members(self, columns: ReferenceColumns) -> Iterator[tuple[int, Found]]:
        """Yield the rows that are members of archives, and are there."""
        access, resources = self._dataset.access, self._dataset.session
        for row in member_rows(columns).tolist():
            url = columns.urls[columns.url[row]]
            archive = access.resolve(split_chained(url).archive).url
            directory = read_archive(archive, access, resources.fetcher, self._control.token)
            with contextlib.suppress(AbsentError):
                yield row, find_member(url, directory, access)

    def _fetch(self, columns: ReferenceColumns, keys: Sequence[str]) -> list[bytes]:
        answers = self._dataset.session.fetch_all(
            columns, self._dataset.access, token=self._control.token, key=lambda row: keys[row], export=True
        )
        good: list[bytes] = []
        for answer in answers:
            if isinstance(answer, RefbrowserError):
                raise answer
            good.append(answer)
        return good

    def losses(self) -> list[Loss]:
        """Return what other software will not be able to read."""
        return [
            Loss(
                array.node.path,
                f"{array.zipped} chunks are deflated zip members that do not fit into the document: "
                "other software cannot read them, and may refuse the document",
            )
            for array in self._arrays.values()
            if array.zipped
        ]
