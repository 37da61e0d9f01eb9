"""The objects of a target (chunks and shards), made of units that are encoded one by one.

A *unit* is what is encoded by itself: the chunk, or an inner chunk of a shard. A shard is put together as
``sharding_indexed`` says: the encoded inner chunks one after another, and the index before or behind them.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import ShardLayout
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.layout import ArrayLayout

#: Bytes of an object that are held in memory; larger ones are put together in a file.
HELD = 64 * 1024 * 1024
#: Bytes that are taken from such a file at once.
PORTION = 16 * 1024 * 1024
#: Offset and length of an inner chunk that is not stored, in the index of a shard.
_ABSENT = 2**64 - 1
#: Stands for the elements of a unit that is not stored.
_NO_UNIT = "-"

Buffer = bytes | memoryview


class Stored(Protocol):
    """An object that can be read in parts."""

    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of it."""
        ...


class ObjectCoder:
    """How the objects of one array are made of units, and read again."""

    def __init__(self, layout: ArrayLayout) -> None:
        self.pipeline = CodecPipeline.for_array(layout.target)
        self.shard: ShardLayout | None = self.pipeline.shard
        inner = self.shard.inner if self.shard is not None else self.pipeline
        assert isinstance(inner, CodecPipeline)
        self.unit_pipeline = inner
        self.unit_shape = inner.shape
        #: Units along each axis of an object.
        self.units = tuple(
            side // unit for side, unit in zip(self.pipeline.shape, self.unit_shape, strict=True)
        )

    def unit_digests(self, stored: Stored) -> Iterator[str]:
        """Yield the digest of the elements of each unit of an object, in C order.

        Raises
        ------
        RefbrowserError
            `DECODE`: the bytes are not those of an object.
        """
        if self.shard is None:
            decoded = self.pipeline.decode(stored.read_at(0, stored.size))
            yield values_digest(decoded, self.pipeline.dtype)
            return
        start, stop = self.shard.index_range(stored.size)
        ranges = self.shard.inner_ranges(stored.read_at(start, stop - start), stored.size)
        for offset, size in ranges.tolist():
            if offset < 0:
                yield _NO_UNIT
                continue
            decoded = self.unit_pipeline.decode(stored.read_at(offset, size))
            yield values_digest(decoded, self.unit_pipeline.dtype)

    def digest(self, stored: Stored) -> str:
        """Return the digest of the elements of an object; that of what `Assembly` was given for it."""
        return _joined(self.unit_digests(stored))


def values_digest(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> str:
    """Return the SHA-256 of elements as the target holds them: C order, its type."""
    cast = np.ascontiguousarray(values.astype(dtype, copy=False))
    if cast.dtype.hasobject:
        texts = json.dumps([value.hex() if isinstance(value, bytes) else value for value in cast.reshape(-1)])
        return hashlib.sha256(texts.encode()).hexdigest()
    return hashlib.sha256(cast.reshape(-1).view(np.uint8).data).hexdigest()


def _joined(digests: Iterable[str]) -> str:
    found = list(digests)
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()


class Assembled:
    """The bytes of an object, in one portion or many, in memory or in a file.

    Attributes
    ----------
    size
        Bytes.
    digest
        Of its elements; None where they were never decoded.
    """

    def __init__(self, portions: Iterable[Buffer], size: int, digest: str | None) -> None:
        self._portions = portions
        self.size = size
        self.digest = digest

    @classmethod
    def of(cls, data: Buffer, digest: str | None = None) -> Assembled:
        """Return an object of one portion."""
        return cls((data,), len(data), digest)

    def portions(self) -> Iterator[Buffer]:
        """Yield the bytes, once."""
        yield from self._portions


class Assembly:
    """One object being put together from its units, which are added in any order.

    Parameters
    ----------
    folder
        Where a file is made for an object that is too large to be held.
    """

    def __init__(self, coder: ObjectCoder, folder: Path) -> None:
        self.coder = coder
        self._file = tempfile.SpooledTemporaryFile(HELD, dir=str(folder))  # noqa: SIM115 - closed by `finish`
        count = prod(coder.units)
        self._table = np.full((count, 2), _ABSENT, np.uint64)
        self._digests: list[str | None] = [_NO_UNIT] * count
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """Whether no unit was added."""
        return not self._at

    def add(self, unit: int, data: Buffer, digest: str | None) -> None:
        """Add the bytes of a unit, by its number in C order, and the digest of its elements if known."""
        self._table[unit] = self._at, len(data)
        self._digests[unit] = digest
        self._file.write(data)
        self._at += len(data)

    def finish(self) -> Assembled:
        """Return the whole object; its bytes can be taken once."""
        shard = self.coder.shard
        digest = None if None in self._digests else _joined(filter(None, self._digests))
        if shard is None:
            return Assembled(self._portions(), self._at, digest)
        stored = self._table[:, 0] != _ABSENT
        if not shard.index_at_end:
            self._table[stored, 0] += np.uint64(shard.index_size)
        index = shard.index.encode(self._table.reshape(*shard.grid.grid_shape, 2))
        if len(index) != shard.index_size:
            raise RefbrowserError(ErrorKind.META, "the index of the shard has another size than it says")
        parts = (self._portions(), [index]) if shard.index_at_end else ([index], self._portions())
        return Assembled((portion for part in parts for portion in part), self._at + len(index), digest)

    def _portions(self) -> Iterator[bytes]:
        with self._file:
            self._file.seek(0)
            while portion := self._file.read(PORTION):
                yield portion

    def discard(self) -> None:
        """Give up the object."""
        self._file.close()
