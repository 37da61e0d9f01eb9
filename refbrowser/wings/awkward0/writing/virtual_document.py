"""An opened file of Awkward 0 as a reference document that other software reads.

Stored members of an archive become ranges of it. What fsspec and zarr-python cannot decode or take (packed
members, a last chunk shorter than the others) is written into the document, while there is room, and so are
the offsets and indexes that a form names and the file does not have; what has no room is left out and told.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.found_members import Found, find_member, member_rows
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.request import Loss
from refbrowser.exporting.rewritten_document import NO_ROOM, DocumentFullError, Remaking
from refbrowser.formats.expansion_manifest import ExpansionManifest, single_manifests
from refbrowser.io.access.access import split_chained
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.archive_reading import read_archive
from refbrowser.limits import LIMITS
from refbrowser.model.nested import FORM_ATTRIBUTE, NAME_ATTRIBUTE
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import (
    ByteRange,
    Inline,
    Reference,
    ReferenceColumns,
    ReferenceKind,
    WholeFile,
)
from refbrowser.model.selection import Selection
from refbrowser.references.document.document import Document
from refbrowser.wings.awkward0.layouts.layouts import Layout, ListIndex, ListLayout, UnionLayout, walk
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
from refbrowser.wings.awkward0.reading.opening import Awkward0Origin

_LEVEL = 6
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MadeBuffer:
    """A buffer that is made.

    Attributes
    ----------
    source
        Name of the array that it is made from.
    make
        Makes it; None where the source is not what it should be.
    """

    name: str
    source: str
    make: Callable[[npt.NDArray[Any]], Ints | None]


def made_buffers(array: Awkward0Array) -> list[MadeBuffer]:
    """Return the buffers that the form of an array names, and its schema does not have."""
    found = [] if array.layout is None else [_made_buffer(each) for each in walk(array.layout)]
    return [each for each in found if each is not None]


def _made_buffer(layout: Layout) -> MadeBuffer | None:
    if isinstance(layout, ListLayout) and layout.how is ListIndex.COUNTS:
        return MadeBuffer(f"{layout.key}-offsets", f"{layout.key}-counts", offsets_of_counts)
    if isinstance(layout, UnionLayout) and layout.index is None:
        return MadeBuffer(f"{layout.key}-index", f"{layout.key}-tags", running_numbers)
    return None


def offsets_of_counts(counts: npt.NDArray[Any]) -> Ints | None:
    """Return where lists of these lengths begin and end; None where one is no length."""
    if len(counts) and (int(counts.min()) < 0 or int(counts.max()) > (2**63 - 1) // len(counts)):
        return None
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def running_numbers(tags: npt.NDArray[Any]) -> Ints:
    """Return for each tag how many of its value stand before it."""
    index = np.empty(len(tags), np.int64)
    for tag in np.unique(tags):
        where = np.flatnonzero(tags == tag)
        index[where] = np.arange(len(where))
    return index


def zarr_of_buffer(
    dataset: Dataset, source: ArrayNode, wanted: MadeBuffer, token: CancelToken
) -> tuple[bytes, bytes] | None:
    """Return the metadata and the one chunk of a buffer; None where it cannot be made.

    Raises
    ------
    RefbrowserError
        The source cannot be read.
    """
    box = tuple(range(0, size) for size in source.shape)
    read = dataset.session.read(source, dataset.access, Selection(box), cancel=token, export=True)
    made = wanted.make(read)
    if made is None:
        return None
    metadata = {
        "zarr_format": 2,
        "shape": [len(made)],
        "chunks": [max(len(made), 1)],
        "dtype": "<i8",
        "compressor": {"id": "zlib", "level": 1},
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    return json.dumps(metadata).encode(), zlib.compress(made.astype("<i8").tobytes(), _LEVEL)


#: Chunks whose references are made together.
_PAGE = 1024
#: Bytes of the chunks that one large chunk is cut into: other software reads chunks as a whole.
_CUT = 4 << 20
NO_FORM = "Awkward 2 cannot use its buffers as they are: other software gets them without awkward_form"


def virtual_document(dataset: Dataset, control: JobControl) -> tuple[Document, list[Loss]]:
    """Return the document of a file of Awkward 0 with references that other software can follow.

    Raises
    ------
    RefbrowserError
        An entry is faulty.
    """
    writing = _Writing(dataset, control)
    writing.write()
    return writing.document()


@dataclass(slots=True)
class _Array:
    """A Zarr array of the document.

    Attributes
    ----------
    chunk_bytes
        What each chunk has to have; None where that is not known before it is decoded.
    """

    node: ArrayNode
    manifest: ExpansionManifest
    chunk_bytes: int | None

    def pages(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the coordinates of the chunks."""
        grid = self.manifest.grid_shape
        for start in range(0, prod(grid), _PAGE):
            flat = np.arange(start, min(start + _PAGE, prod(grid)))
            coords = np.stack(np.unravel_index(flat, grid), axis=1) if grid else np.zeros((1, 0))
            yield coords.astype(np.int64)


@dataclass(slots=True)
class _Writing(Remaking):
    """Gathers what changes in the document."""

    def write(self) -> None:
        """Make everything anew that has to be."""
        arrays = list(_arrays(self.dataset))
        for number, array in enumerate(arrays):
            self.control.check()
            self.control.progress(number, len(arrays), note="references")
            self._add(array)
        origin = self.dataset.document.made_from(Awkward0Origin)
        for each in () if origin is None else origin.arrays:
            self.control.check()
            self._add_made(each.path, made_buffers(each))

    def _add(self, array: _Array) -> None:
        prefix, room = array.node.key_prefix, self.room
        try:
            made = self._cut(array)
            if made is None:
                made = [pair for coords in array.pages() for pair in self._chunks(array, coords)]
        except DocumentFullError:
            self.room = room
            self.leave_out(array.node, NO_ROOM)
        except RefbrowserError as error:
            self.room = room
            self.leave_out(array.node, f"it cannot be read and is left out: {error.message}")
        else:
            self.remade.add(prefix)
            self.references += made

    # Chunks

    def _chunks(self, array: _Array, coords: npt.NDArray[np.int64]) -> Iterator[tuple[str, Reference]]:
        """Yield keys and references of chunks as other software takes them."""
        columns = array.manifest.columns(coords)
        keys = array.manifest.encoding.encode_many(coords, array.manifest.prefix)
        members = dict(self._members(columns))
        inlined = [row for row in range(len(columns)) if self._is_inlined(array, columns, row, members)]
        stored = [row for row in members if row not in set(inlined)]
        # A part of no bytes of a member needs its local header, and no more.
        self._fetch(_chosen(columns, stored, empty=True), keys)
        answers = self._fetch(_chosen(columns, inlined), keys)
        for row in np.flatnonzero(columns.kind != ReferenceKind.MISSING).tolist():
            reference = columns.reference(row)
            if row in members and row not in answers:
                reference = self._range(reference, members[row])
            if row in answers:
                reference = Inline(answers[row].ljust(array.chunk_bytes or 0, b"\0"))
            yield keys[row], reference

    def _cut(self, array: _Array) -> list[tuple[str, Reference]] | None:
        """Return the references of smaller chunks instead of a large one; None where that cannot be.

        The last one is padded.
        """
        node, size = array.node, array.chunk_bytes or 0
        if size < 2 * _CUT or prod(array.manifest.grid_shape) != 1 or not node.shape:
            return None
        coords = np.zeros((1, len(node.shape)), np.int64)
        columns = array.manifest.columns(coords)
        found = dict(self._members(columns)).get(0)
        if columns.kind[0] not in (ReferenceKind.RANGE, ReferenceKind.WHOLE) or (
            found is not None and found.member.is_packed
        ):
            return None
        key = array.manifest.key((0,) * len(node.shape))
        reference = columns.reference(0)
        if found is not None:
            self._fetch(_chosen(columns, [0], empty=True), [key])
            reference = self._range(reference, found)
        if isinstance(reference, WholeFile):
            reference = ByteRange(reference.url, 0, size)
        assert isinstance(reference, ByteRange)
        each = size // node.shape[0]
        rows = max(_CUT // each, 1)
        whole, rest = divmod(node.shape[0], rows)
        made: list[tuple[str, Reference]] = [
            (self._key(array, at), ByteRange(reference.url, reference.offset + at * rows * each, rows * each))
            for at in range(whole)
        ]
        if rest:
            tail = self._tail(columns, rest * each, size, key)
            made.append((self._key(array, whole), Inline(tail.ljust(rows * each, b"\0"))))
            self._take(rows * each)
        stored = self.dataset.document.expansion.value(f"{node.key_prefix}.zarray")
        metadata = json.loads(stored or b"{}")
        metadata["chunks"] = [rows, *metadata["chunks"][1:]]
        self.metadata[f"{node.key_prefix}.zarray"] = json.dumps(metadata).encode()
        return made

    def _key(self, array: _Array, number: int) -> str:
        return array.manifest.key((number, *(0,) * (len(array.node.shape) - 1)))

    def _tail(self, columns: ReferenceColumns, length: int, size: int, key: str) -> bytes:
        """Return the last bytes of the one chunk that columns tell of."""
        start = np.where(columns.kind == ReferenceKind.WHOLE, 0, columns.offset)
        kinds = np.full(1, ReferenceKind.RANGE, np.uint8)
        part = replace(columns, kind=kinds, offset=start + size - length, length=np.full(1, length, np.int64))
        return self._fetch(part, [key])[0]

    def _take(self, size: int) -> None:
        if size > min(self.room, LIMITS.inline_value):
            raise DocumentFullError
        self.room -= size

    def _members(self, columns: ReferenceColumns) -> Iterator[tuple[int, Found]]:
        """Yield the rows that are members of archives."""
        access, session = self.dataset.access, self.dataset.session
        for row in member_rows(columns).tolist():
            url = columns.urls[columns.url[row]]
            archive = access.resolve(split_chained(url).archive).url
            token = self.control.token
            directory = read_archive(archive, access, session.fetcher, token)
            yield row, find_member(url, directory, access)

    def _is_inlined(
        self, array: _Array, columns: ReferenceColumns, row: int, members: dict[int, Found]
    ) -> bool:
        """Tell whether the bytes of a chunk have to stand in the document; room is taken for them."""
        kind, length = columns.kind[row], int(columns.length[row])
        if kind not in (ReferenceKind.RANGE, ReferenceKind.WHOLE):
            return False
        member = members[row].member if row in members else None
        if kind == ReferenceKind.WHOLE and member is not None:
            length = member.size
        is_short = array.chunk_bytes is not None and 0 <= length < array.chunk_bytes
        if not is_short and (member is None or not member.is_packed):
            return False
        self._take(max(length, array.chunk_bytes or 0))
        return True

    def _range(self, reference: Reference, found: Found) -> Reference:
        """Return where the bytes of a stored member, or of a part of it, lie in its archive."""
        start = self.dataset.access.memory.archives.data_start(found.archive, found.row)
        assert start is not None
        if isinstance(reference, ByteRange):
            return ByteRange(found.archive, start + reference.offset, reference.length)
        return ByteRange(found.archive, start, found.member.size)

    def _fetch(self, columns: ReferenceColumns, keys: Sequence[str]) -> dict[int, bytes]:
        """Return the bytes of the rows of columns that are not missing."""
        wanted = np.flatnonzero(columns.kind != ReferenceKind.MISSING).tolist()
        if not wanted:
            return {}
        answers = self.dataset.session.fetch_all(
            columns, self.dataset.access, token=self.control.token, key=lambda row: keys[row], export=True
        )
        found: dict[int, bytes] = {}
        for row in wanted:
            answer = answers[row]
            if isinstance(answer, RefbrowserError):
                raise answer
            found[row] = answer
        return found

    # Buffers that the form names

    def _add_made(self, path: str, wanted: Sequence[MadeBuffer]) -> None:
        """Add what is made of the buffers of an array; without room for it its form is left out."""
        key = f"{path.strip('/')}/.zattrs"
        stored = self.dataset.document.expansion.value(key)
        attributes: dict[str, Any] = json.loads(stored) if stored else {}
        if self.dataset.hierarchy.find(path) is None or NAME_ATTRIBUTE not in attributes:
            return
        if FORM_ATTRIBUTE in attributes and all(self._add_one(path, each) for each in wanted):
            return
        if attributes.pop(FORM_ATTRIBUTE, None) is not None:
            self.metadata[key] = json.dumps(attributes, ensure_ascii=False).encode()
        if f"{path.strip('/')}/.zgroup" in self.dataset.document.expansion.metadata_keys():
            self.losses.append(Loss(path, NO_FORM))

    def _add_one(self, path: str, wanted: MadeBuffer) -> bool:
        node = self.dataset.hierarchy.find(f"{path}/{wanted.source}")
        if not isinstance(node, ArrayNode) or node.error or node.key_prefix in self.gone:
            return False
        size = 8 * (node.shape[0] + 1)
        if size > min(self.room, LIMITS.inline_value):
            return False
        made = zarr_of_buffer(self.dataset, node, wanted, self.control.token)
        if made is None:
            return False
        self.room -= len(made[1])
        prefix = f"{path.strip('/')}/{wanted.name}/"
        self.references += [(f"{prefix}.zarray", Inline(made[0])), (f"{prefix}0", Inline(made[1]))]
        return True


def _arrays(dataset: Dataset) -> Iterator[_Array]:
    """Yield the arrays that the document describes, not those of values, which are made from them."""
    for node in dataset.hierarchy.walk():
        is_described = isinstance(node, ArrayNode) and node.metadata_keys and node.nested is None
        if not is_described or not isinstance(node, ArrayNode) or not node.has_manifest:
            continue
        is_plain = not node.codecs or all(codec.name == "bytes" for codec in node.codecs)
        size = prod(node.grid.largest) * node.dtype.itemsize if node.dtype is not None else None
        for manifest in single_manifests(node.manifest):
            yield _Array(node, manifest, size if is_plain else None)
            break


def _chosen(columns: ReferenceColumns, rows: Sequence[int], *, empty: bool = False) -> ReferenceColumns:
    """Return columns with nothing but the chosen rows; of the bytes of these none where `empty`."""
    kinds = np.full(len(columns), ReferenceKind.MISSING, np.uint8)
    kinds[list(rows)] = ReferenceKind.RANGE if empty else columns.kind[list(rows)]
    nothing = np.zeros(len(columns), np.int64)
    return (
        replace(columns, kind=kinds, offset=nothing, length=nothing)
        if empty
        else replace(columns, kind=kinds)
    )
