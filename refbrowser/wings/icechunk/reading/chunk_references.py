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
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.wings.icechunk.reading.chunk_containers import expanded
from refbrowser.wings.icechunk.reading.flatbuffers import Table, Tables, damaged
from refbrowser.wings.icechunk.reading.repository import ManifestExtent, id_texts

#: Fields of a reference in a manifest.
_INDEX, _INLINE, _OFFSET, _LENGTH, _ID, _LOCATION, _ETAG, _MODIFIED, _COMPRESSED = range(9)
_LARGEST = 1 << 62
#: What a dictionary of Zstandard begins with, unless it is only text.
_DICTIONARY = b"\x37\xa4\x30\xec"
_ID_BYTES = np.arange(12, dtype=np.int64)


def too_many() -> RefbrowserError:
    """Return the error of more references than can be held."""
    return RefbrowserError(ErrorKind.BUDGET, f"there are more than {LIMITS.references} references")


@dataclass(slots=True, eq=False)
class ChunkReferences:
    """Gathers the references of an array.

    Attributes
    ----------
    builder
        What they are added to; its place is the root of the repository.
    containers
        Beginnings of URLs by the names of virtual chunk containers.
    recorded
        What is said of the objects that virtual chunks lie in, by URL.
    """

    builder: ManifestBuilder
    containers: Mapping[str, str]
    recorded: dict[str, Recorded] = field(default_factory=dict)
    _count: int = 0

    def add(self, prefix: str, encoding: ChunkKeyEncoding, array: Table, extent: ManifestExtent) -> None:
        """Add what a manifest tells of an array.

        Parameters
        ----------
        prefix
            What stands before keys of its chunks.
        array
            What a manifest tells of it.
        extent
            Which chunks count.

        Raises
        ------
        RefbrowserError
            E_FORMAT: it is damaged; nothing of it was added then. E_BUDGET: there are too many.
        """
        refs = array.tables(1)
        self._counted(len(refs))
        coords = _coords(refs, len(extent.ranges))
        inside = ((coords >= extent.ranges[:, 0]) & (coords < extent.ranges[:, 1])).all(axis=1)
        if not np.all(inside):
            refs, coords = refs.chosen(np.flatnonzero(inside)), coords[inside]
        starts, sizes = refs.vectors(_INLINE, 1)
        is_inline = starts > 0
        ids = refs.places(_ID)
        is_native = ~is_inline & (ids > 0)
        is_virtual = ~is_inline & ~is_native
        native = self._native(refs.chosen(is_native), ids[is_native])
        virtual = self._virtual(refs.chosen(is_virtual), array.buffer.root)
        texts, number = refs.buffer.texts(starts[is_inline], sizes[is_inline])
        keys = encoding.encode_many(coords[is_inline], prefix)
        for key, at in zip(keys, number.tolist(), strict=True):
            self.builder.add_bytes(key, texts[at])
        for rows, found in ((is_native, native), (is_virtual, virtual)):
            if rows.any():
                self._add_ranges(prefix, encoding, coords[rows], found)

    def add_lost(self, prefix: str, encoding: ChunkKeyEncoding, extent: ManifestExtent) -> None:
        """Add references that cannot be read, for the chunks of a manifest that could not be."""
        sides = np.maximum(extent.ranges[:, 1] - extent.ranges[:, 0], 0)
        count = math.prod(sides.tolist())
        coords = np.stack(np.unravel_index(np.arange(count), sides), axis=1) if len(sides) else None
        at = np.zeros((1, 0), np.int64) if coords is None else coords + extent.ranges[:, 0]
        url = f"{self.builder.place}/manifests/{extent.manifest}"
        numbers = np.zeros(len(at), np.int64)
        if len(at):
            self._add_ranges(prefix, encoding, at, _Ranges([url], numbers, numbers + _LARGEST, numbers + 1))

    def _counted(self, more: int) -> None:
        self._count += more
        if self._count > LIMITS.references:
            raise too_many()

    def _add_ranges(
        self, prefix: str, encoding: ChunkKeyEncoding, coords: npt.NDArray[np.int64], found: _Ranges
    ) -> None:
        if not coords.shape[1]:
            url = found.urls[int(found.url[0])]
            self.builder.add_range(
                prefix + encoding.encode(()), int(found.offsets[0]), int(found.lengths[0]), url
            )
            return
        self.builder.add_ranges(prefix, coords, found.offsets, found.lengths, encoding, found.urls, found.url)

    def _native(self, refs: Tables, ids: npt.NDArray[np.int64]) -> _Ranges:
        rows = refs.buffer.rows(ids, len(_ID_BYTES))
        _, first, number = np.unique(
            rows.copy().view("V12").reshape(-1), return_index=True, return_inverse=True
        )
        names = id_texts(rows[first])
        folder = f"{self.builder.place}/chunks/"
        return _Ranges([folder + name for name in names], number.reshape(-1), *_bounds(refs))

    def _virtual(self, refs: Tables, manifest: Table) -> _Ranges:
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
        return _Ranges(urls, number, *_bounds(refs))

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
class _Ranges:
    """Ranges of objects: the distinct URLs, and of each range which it is in, its offset and length."""

    urls: list[str]
    url: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


def _coords(refs: Tables, ndim: int) -> npt.NDArray[np.int64]:
    """Return the coordinates of the chunks, shape (n, ndim)."""
    starts, counts = refs.vectors(_INDEX, 4)
    if (counts != ndim).any():
        raise damaged("a chunk has coordinates of another number of dimensions")
    at = starts[:, None] + 4 * np.arange(ndim, dtype=np.int64)
    return refs.buffer.values("<u4", at).astype(np.int64).reshape(len(refs), ndim)


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
