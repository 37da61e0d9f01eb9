"""The objects of a target (chunks and shards), made of units that are encoded one by one.

A *unit* is what is encoded by itself: the chunk, or an inner chunk of a shard. A shard is put together as
``sharding_indexed`` says: the encoded inner chunks one after another, and the index before or behind them.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import ShardLayout
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.buffers import Buffer, Buffers
from refbrowser.exporting.layout import ArrayLayout
from refbrowser.limits import LIMITS

#: Bytes of an object that are held in memory; larger ones are put together in a file.
HELD = LIMITS.export_block
#: Bytes that are taken from such a file at once.
PORTION = 16 * 1024 * 1024
#: Offset and length of an inner chunk that is not stored, in the index of a shard.
_ABSENT = 2**64 - 1
#: Stands for the elements of a unit that is not stored.
_NO_UNIT = "-"


class Stored(Protocol):
    """An object that can be read in parts."""

    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of it."""
        ...


class ObjectCoder:
    """How the objects of one array are made of units, and read again.

    Parameters
    ----------
    shape
        Of the objects as they are stored, where those of the array are unequal.
    """

    def __init__(self, layout: ArrayLayout, shape: tuple[int, ...] | None = None) -> None:
        self.pipeline = CodecPipeline.for_array(layout.target, shape)
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
    """One object being put together from its units, which are added in any order and stand in C order.

    Parameters
    ----------
    folder
        Where a file is made for an object that is too large to be held.
    buffers
        Gives the memory of any other.
    """

    def __init__(self, coder: ObjectCoder, folder: Path, buffers: Buffers) -> None:
        assert coder.shard is not None
        self.shard = coder.shard
        self._folder = folder
        self._buffers = buffers
        count = prod(coder.units)
        # What is never written to is never there.
        self._held: memoryview | None = buffers.take(min(HELD, count * coder.unit_pipeline.stored_most))
        self._file: BinaryIO | None = None
        self._table = np.full((count, 2), _ABSENT, np.uint64)
        self._digests: list[str | None] = [_NO_UNIT] * count
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """Whether no unit was added."""
        return not self._at

    def add(self, unit: int, data: Buffer, digest: str | None) -> None:
        """Add the bytes of a unit, by its number in C order, and the digest of its elements if known."""
        end = self._at + len(data)
        if self._held is not None and end > len(self._held):
            # Closed when its bytes were taken, or the object is given up.
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            self._file.write(self._held[: self._at])
            self._release()
        if self._held is not None:
            self._held[self._at : end] = memoryview(data).cast("B")
        elif self._file is not None:
            self._file.write(data)
        self._table[unit] = self._at, len(data)
        self._digests[unit] = digest
        self._at = end

    def finish(self) -> Assembled:
        """Return the whole object; its bytes can be taken once."""
        shard, table = self.shard, np.full_like(self._table, _ABSENT)
        digest = None if None in self._digests else _joined(filter(None, self._digests))
        stored = np.flatnonzero(self._table[:, 0] != _ABSENT)
        added, sizes = self._table[stored, 0], self._table[stored, 1]
        before = 0 if shard.index_at_end else shard.index_size
        table[stored, 0] = np.cumsum(sizes) - sizes + np.uint64(before)
        table[stored, 1] = sizes
        index = shard.index.encode(table.reshape(*shard.grid.grid_shape, 2))
        if len(index) != shard.index_size:
            raise RefbrowserError(ErrorKind.META, "the index of the shard does not have the size it declares")
        # Units that were added in their order are taken together.
        cuts = np.flatnonzero(added[1:] != added[:-1] + sizes[:-1]) + 1
        runs = [(int(some[0, 0]), int(some[-1].sum())) for some in np.split(self._table[stored], cuts)]
        units = self._portions(runs)
        portions = chain(units, [index]) if shard.index_at_end else chain([index], units)
        return Assembled(portions, self._at + len(index), digest)

    def _portions(self, runs: list[tuple[int, int]]) -> Iterator[Buffer]:
        """Yield the bytes of runs of units, given by where they begin and end."""
        for start, stop in runs:
            for at in range(start, stop, PORTION):
                end = min(at + PORTION, stop)
                if self._held is not None:
                    yield self._held[at:end]
                elif self._file is not None:
                    self._file.seek(at)
                    yield self._file.read(end - at)
        self._release()
        self.discard()

    def _release(self) -> None:
        """Let the memory be used again."""
        if self._held is not None:
            self._buffers.give(self._held)
        self._held = None

    def discard(self) -> None:
        """Give up the object; what still comes for it after a failure may be in any state."""
        # Its memory is not used again: a unit that is being added would end up in another object.
        self._held = None
        if self._file is not None:
            self._file.close()
