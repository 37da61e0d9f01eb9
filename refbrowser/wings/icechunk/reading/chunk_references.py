"""The chunk references of Icechunk's manifests as columns: inline, native and virtual ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.identity import Recorded
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.wings.icechunk.reading.chunk_containers import expanded
from refbrowser.wings.icechunk.reading.flatbuffers import Table, Tables, damaged
from refbrowser.wings.icechunk.reading.repository import id_texts

Coords = npt.NDArray[np.int64]

#: Fields of a reference in a manifest.
INDEX, _INLINE, _OFFSET, _LENGTH, _ID, _LOCATION, _ETAG, _MODIFIED, _COMPRESSED = range(9)
_LARGEST = 1 << 62
#: What a dictionary of Zstandard begins with, unless it is only text.
_DICTIONARY = b"\x37\xa4\x30\xec"
_ID_BYTES = np.arange(12, dtype=np.int64)


def too_many() -> RefbrowserError:
    """Return the error of more references than can be held."""
    return RefbrowserError(ErrorKind.BUDGET, f"there are more than {LIMITS.references} references")


@dataclass(slots=True, eq=False)
class RefDecoder:
    """Decodes references of manifests.

    Attributes
    ----------
    place
        URL or absolute path of the root of the repository.
    containers
        Beginnings of URLs by the names of virtual chunk containers.
    recorded
        What is said of the objects that virtual chunks lie in, by URL: filled as they are decoded.
    """

    place: str
    containers: Mapping[str, str]
    recorded: dict[str, Recorded] = field(default_factory=dict)

    def decoded(self, refs: Tables, manifest: Table) -> DecodedRefs:
        """Return references as columns.

        Parameters
        ----------
        manifest
            The root of the manifest that they are in.

        Raises
        ------
        RefbrowserError
            E_FORMAT: they are damaged.
        """
        kinds = RefKinds.of(refs)
        starts, sizes = kinds.inline
        ids = kinds.ids
        texts, number = refs.buffer.texts(starts[kinds.is_inline], sizes[kinds.is_inline])
        return DecodedRefs(
            np.flatnonzero(kinds.is_inline),
            [texts[at] for at in number.tolist()],
            np.flatnonzero(kinds.is_native),
            self._native(refs.chosen(kinds.is_native), ids[kinds.is_native]),
            np.flatnonzero(kinds.is_virtual),
            self._virtual(refs.chosen(kinds.is_virtual), manifest),
        )

    def _native(self, refs: Tables, ids: npt.NDArray[np.int64]) -> DecodedRanges:
        rows = refs.buffer.rows(ids, len(_ID_BYTES))
        _, first, number = np.unique(
            rows.copy().view("V12").reshape(-1), return_index=True, return_inverse=True
        )
        names = id_texts(rows[first])
        folder = f"{self.place}/chunks/"
        return DecodedRanges([folder + name for name in names], number.reshape(-1), *_bounds(refs))

    def _virtual(self, refs: Tables, manifest: Table) -> DecodedRanges:
        starts, sizes = refs.vectors(_LOCATION, 1)
        packed, packed_sizes = refs.vectors(_COMPRESSED, 1)
        is_packed = (starts == 0) & (packed > 0)
        if ((starts == 0) & ~is_packed).any():
            raise damaged("a reference has no target")
        number = np.zeros(len(refs), np.int64)
        texts, number[~is_packed] = refs.buffer.texts(starts[~is_packed], sizes[~is_packed])
        if is_packed.any():
            some, at = refs.buffer.texts(packed[is_packed], packed_sizes[is_packed])
            number[is_packed] = at + len(texts)
            texts += _unpacked(some, manifest.content(2) or b"")
        urls = [expanded(text.decode("utf-8", "replace"), self.containers) for text in texts]
        self._record(refs, urls, number)
        return DecodedRanges(urls, number, *_bounds(refs))

    def _record(self, refs: Tables, urls: Sequence[str], number: npt.NDArray[np.int64]) -> None:
        """Take note of what is said of the objects."""
        starts, sizes = refs.vectors(_ETAG, 1)
        modified = refs.numbers(_MODIFIED, "<u4").astype(np.int64)
        has = starts > 0
        tags, at = refs.buffer.texts(starts[has], sizes[has])
        pairs = np.unique(np.stack([number[has], at], axis=1), axis=0) if has.any() else np.zeros((0, 2), int)
        for url, tag in pairs.tolist():
            self._say(urls[url], Recorded(frozenset({tags[tag].decode("utf-8", "replace")})))
        timed = ~has & (modified > 0)
        if not timed.any():
            return
        first = np.full(len(urls), _LARGEST)
        np.minimum.at(first, number[timed], modified[timed])
        for row in np.flatnonzero(first < _LARGEST).tolist():
            self._say(urls[row], Recorded(modified=int(first[row])))

    def _say(self, url: str, said: Recorded) -> None:
        before = self.recorded.get(url)
        self.recorded[url] = said if before is None else before | said


@dataclass(frozen=True, slots=True, eq=False)
class RefKinds:
    """What references of a manifest are, without where they lead.

    Attributes
    ----------
    inline
        Where the bytes of inline ones begin, 0 of others, and how many they are, each of shape (n,).
    ids
        Where the identifiers of native ones stand; 0 of others.
    """

    inline: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    ids: npt.NDArray[np.int64]

    @classmethod
    def of(cls, refs: Tables) -> RefKinds:
        """Return what references are."""
        return cls(refs.vectors(_INLINE, 1), refs.places(_ID))

    @property
    def is_inline(self) -> npt.NDArray[np.bool_]:
        """Which lie in the manifest, shape (n,)."""
        return self.inline[0] > 0

    @property
    def is_native(self) -> npt.NDArray[np.bool_]:
        """Which lie in the repository."""
        return ~self.is_inline & (self.ids > 0)

    @property
    def is_virtual(self) -> npt.NDArray[np.bool_]:
        """Which lie elsewhere."""
        return ~self.is_inline & (self.ids == 0)


@dataclass(frozen=True, slots=True, eq=False)
class RefBlock:
    """Some references of one array.

    Attributes
    ----------
    coords
        Of their chunks, shape (n, ndim).
    manifest
        The root of the manifest that they are in.
    """

    refs: Tables
    coords: Coords
    manifest: Table


@dataclass(slots=True, eq=False)
class ChunkReferences:
    """Gathers the references of arrays for a document.

    Attributes
    ----------
    builder
        What they are added to; its place is the root of the repository.
    decoder
        Decodes them.
    """

    builder: ManifestBuilder
    decoder: RefDecoder
    _count: int = 0

    def add(self, prefix: str, encoding: ChunkKeyEncoding, block: RefBlock) -> None:
        """Add some of what a manifest tells of an array.

        Parameters
        ----------
        prefix
            What stands before keys of its chunks.

        Raises
        ------
        RefbrowserError
            E_FORMAT: it is damaged; nothing of it was added then. E_BUDGET: there are too many.
        """
        self._counted(len(block.refs))
        found = self.decoder.decoded(block.refs, block.manifest)
        keys = encoding.encode_many(block.coords[found.inline_rows], prefix)
        for key, data in zip(keys, found.inline, strict=True):
            self.builder.add_bytes(key, data)
        for rows, ranges in found.ranges:
            if len(rows):
                self._add_ranges(prefix, encoding, block.coords[rows], ranges)

    def add_lost(
        self, prefix: str, encoding: ChunkKeyEncoding, manifest: str, ranges: npt.NDArray[np.int64]
    ) -> None:
        """Add references that cannot be read, for the chunks of a manifest that could not be.

        Parameters
        ----------
        ranges
            First chunk and the one behind the last along each dimension, shape (ndim, 2).
        """
        sides = np.maximum(ranges[:, 1] - ranges[:, 0], 0)
        count = math.prod(sides.tolist())
        coords = np.stack(np.unravel_index(np.arange(count), sides), axis=1) if len(sides) else None
        at = np.zeros((1, 0), np.int64) if coords is None else coords + ranges[:, 0]
        url = f"{self.builder.place}/manifests/{manifest}"
        numbers = np.zeros(len(at), np.int64)
        if len(at):
            self._add_ranges(
                prefix, encoding, at, DecodedRanges([url], numbers, numbers + _LARGEST, numbers + 1)
            )

    def _counted(self, more: int) -> None:
        self._count += more
        if self._count > LIMITS.references:
            raise too_many()

    def _add_ranges(
        self, prefix: str, encoding: ChunkKeyEncoding, coords: npt.NDArray[np.int64], found: DecodedRanges
    ) -> None:
        if not coords.shape[1]:
            url = found.urls[int(found.url[0])]
            self.builder.add_range(
                prefix + encoding.encode(()), int(found.offsets[0]), int(found.lengths[0]), url
            )
            return
        self.builder.add_ranges(prefix, coords, found.offsets, found.lengths, encoding, found.urls, found.url)


class FoundReferences:
    """Gathers the references of some chunks, one array's, out of its manifests.

    Parameters
    ----------
    count
        Of the chunks.
    """

    def __init__(self, count: int) -> None:
        self._kind = np.full(count, ReferenceKind.MISSING, np.uint8)
        self._url = np.full(count, -1, np.int32)
        self._offset = np.full(count, -1, np.int64)
        self._length = np.full(count, -1, np.int64)
        self._urls: dict[str, int] = {}
        self._inline: dict[int, bytes] = {}
        self._faults: dict[int, RefbrowserError] = {}

    def add(self, at: npt.NDArray[np.int64], found: DecodedRefs) -> None:
        """Add the references of the chunks at the rows `at`, shape (n,)."""
        rows = at[found.inline_rows]
        self._kind[rows] = ReferenceKind.INLINE
        self._length[rows] = [len(data) for data in found.inline]
        self._inline.update(zip(rows.tolist(), found.inline, strict=True))
        for own, ranges in found.ranges:
            rows = at[own]
            self._kind[rows] = ReferenceKind.RANGE
            numbers = [self._urls.setdefault(url, len(self._urls)) for url in ranges.urls]
            self._url[rows] = np.array(numbers, np.int32)[ranges.url]
            self._offset[rows], self._length[rows] = ranges.offsets, ranges.lengths

    def add_lost(self, at: npt.NDArray[np.int64], error: RefbrowserError) -> None:
        """Take note that the references of the chunks at the rows `at` cannot be read."""
        self._kind[at] = ReferenceKind.FAULTY
        self._faults.update(dict.fromkeys(at.tolist(), error))

    def columns(self) -> ReferenceColumns:
        """Return them."""
        return ReferenceColumns(
            self._kind, self._url, self._offset, self._length, tuple(self._urls), self._inline, self._faults
        )


@dataclass(frozen=True, slots=True, eq=False)
class DecodedRanges:
    """Ranges of objects: the distinct URLs, and of each range which it is in, its offset and length."""

    urls: list[str]
    url: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class DecodedRefs:
    """References of a manifest: which rows are inline, native and virtual, and what they say."""

    inline_rows: npt.NDArray[np.int64]
    inline: list[bytes]
    native_rows: npt.NDArray[np.int64]
    native: DecodedRanges
    virtual_rows: npt.NDArray[np.int64]
    virtual: DecodedRanges

    @property
    def ranges(self) -> tuple[tuple[npt.NDArray[np.int64], DecodedRanges], ...]:
        """Those that are not inline: which rows, and where they lead."""
        return (self.native_rows, self.native), (self.virtual_rows, self.virtual)


def _bounds(refs: Tables) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    offsets, lengths = refs.numbers(_OFFSET, "<u8"), refs.numbers(_LENGTH, "<u8")
    if len(refs) and max(int(offsets.max()), int(lengths.max())) >= _LARGEST:
        raise damaged("a chunk is beyond the largest possible offset")
    return offsets.astype(np.int64), lengths.astype(np.int64)


def _unpacked(texts: Sequence[bytes], dictionary: bytes) -> list[bytes]:
    """Return locations that were compressed, each by itself, with a dictionary of all."""
    from refbrowser.zstd import ZstdError, announced_size

    try:
        if any((announced_size(text) or 0) > LIMITS.url_length for text in texts):
            raise damaged("a location is too long")
        unpack = _by_zstandard if find_spec("zstandard") else _one_by_one
        return list(unpack(texts, dictionary))
    except ZstdError:
        raise damaged("a location cannot be decompressed") from None


def _one_by_one(texts: Sequence[bytes], dictionary: bytes) -> Iterator[bytes]:
    from refbrowser.zstd import ZstdDecompressor, ZstdDict, ZstdError

    known = ZstdDict(dictionary, is_raw=not dictionary.startswith(_DICTIONARY)) if dictionary else None
    for text in texts:
        decoder = ZstdDecompressor(known)
        yield decoder.decompress(text, LIMITS.url_length)
        if not decoder.eof:
            raise ZstdError("the frame ends early")


def _by_zstandard(texts: Sequence[bytes], dictionary: bytes) -> Iterator[bytes]:
    """Yield the same, ten times faster where there are very many: one decompressor reads all."""
    import zstandard

    from refbrowser.zstd import ZstdError

    try:
        known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        decompressor = zstandard.ZstdDecompressor(dict_data=known)
        for text in texts:
            yield decompressor.decompress(text, max_output_size=LIMITS.url_length)
    except zstandard.ZstdError as error:
        raise ZstdError(str(error)) from None
