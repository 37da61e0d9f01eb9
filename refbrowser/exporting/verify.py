"""Reading an export again: every chunk by hash, metadata and attributes by value."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from refbrowser.engine.reading.decoding import DecodePool
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.buffers import Buffer
from refbrowser.exporting.chunks import ArrayExport, Away
from refbrowser.exporting.journal import Journal, Written
from refbrowser.exporting.layout import ArrayLayout, StoreLayout
from refbrowser.exporting.objects import PORTION, Assembled, ObjectCoder, Stored
from refbrowser.formats.flavour import hierarchy_of_flavour
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.model.values import NO_MANIFEST

#: Keys of chunks that differ which an error names.
NAMED = 5
#: Objects of each array that are read again where the store has confirmed the bytes of all.
SAMPLED = 16


class ObjectPlace(Protocol):
    """What objects are written into: a folder, a zip file, or a part of an object store."""

    target: Any
    partial: Path

    def begin(self, entries: Iterable[Written]) -> None:
        """Go on with what an earlier run has written."""

    def write(self, key: str, portions: Iterable[Buffer], size: int) -> Any:
        """Write one object whole; returns where it is."""

    def holds(self, entry: Written) -> bool:
        """Tell whether an object that an earlier run has written is still there."""

    def stored(self, key: str, place: Any) -> Stored:
        """Return an object as it was written, by its key and what `write` gave."""

    def confirmed(self, entries: Sequence[Written]) -> Collection[str]:
        """Return the keys of objects that need not be read to know that they are as they were written."""


class JournalSink:
    """Writes objects to the incomplete target and notes them."""

    def __init__(self, target: ObjectPlace, journal: Journal) -> None:
        self.target = target
        self.journal = journal
        self._known = {entry.key for entry in journal.entries() if target.holds(entry)}

    def has(self, key: str) -> bool:
        """Tell whether an earlier run has written an object."""
        return key in self._known

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Write an object and note it."""
        self.journal.add(written_to(self.target, array, key, made))

    @property
    def goes_on(self) -> bool:
        """Whether there is something of an earlier run."""
        return bool(self._known)


def written_to(target: ObjectPlace, array: ArrayExport, key: str, made: Assembled) -> Written:
    """Write an object, and return what is to be noted of it."""
    digest = hashlib.sha256()
    place = target.write(key, _hashed(made.portions(), digest), made.size)
    return Written(key, made.size, digest.hexdigest(), made.digest, array.layout.target.path, place)


def _hashed(portions: Iterable[Buffer], digest: Any) -> Iterator[Buffer]:
    for portion in portions:
        digest.update(portion)
        yield portion


class Complete(Protocol):
    """A target that an export has written."""

    def stored(self, key: str) -> Stored:
        """Return an object."""


class CompareSink:
    """Compares objects with those of a complete target."""

    def __init__(self, target: Complete) -> None:
        self.target = target
        self.compared = 0
        self.different: list[str] = []
        self._lock = threading.Lock()

    def has(self, key: str) -> bool:
        """Every object is to be compared."""
        return False

    def put(self, array: ArrayExport, key: str, made: Assembled) -> None:
        """Compare an object, by bytes or else by elements."""
        digest = hashlib.sha256()
        for portion in made.portions():
            digest.update(portion)
        try:
            stored = self.target.stored(key)
            same = _digest(stored) == digest.hexdigest()
            if not same and made.digest is not None:
                same = array.coder_for(key).digest(stored) == made.digest
        except (OSError, RefbrowserError):
            same = False
        with self._lock:
            self.compared += 1
            if not same:
                self.different.append(key)


def verify_chunks(
    target: ObjectPlace,
    journal: Journal,
    arrays: Sequence[ArrayExport],
    pool: DecodePool,
    token: CancelToken,
    away: Away | None = None,
) -> int:
    """Read every object of the target again and compare it; returns how many.

    Of objects whose bytes the target confirms by itself some of each array are read: their elements are
    compared too.

    Parameters
    ----------
    away
        Reads those of arrays that it made.

    Raises
    ------
    RefbrowserError
        `E_IO`: objects are not what was written; they are written again by the next run.
    """
    exports = {array.layout.target.path: array for array in arrays}
    different: list[str] = []
    queue = pool.queue(token)

    def check(entry: Written) -> None:
        array = exports.get(entry.array)
        if not is_good(target, entry, None if array is None else array.coder_for(entry.key)):
            different.append(entry.key)

    entries = journal.entries()
    made_away = {array.layout.target.path for array in arrays if away is not None and array.is_direct}
    wanted = list(_unconfirmed(entries, target.confirmed(entries)))
    for entry in wanted:
        if entry.array in made_away:
            continue
        queue.put(partial(check, entry), min(entry.size, PORTION))
    queue.join()
    if away is not None:
        different += away.different([entry for entry in wanted if entry.array in made_away], token)
    for key in different:
        journal.drop(key)
    if different:
        advice = "check the disk; --resume writes them again"
        raise differing(sorted(different), len(entries), str(target.target), advice)
    return len(entries)


def _unconfirmed(entries: Sequence[Written], confirmed: Collection[str]) -> Iterator[Written]:
    """Yield the objects that are to be read: those that nothing confirms, and some of the others."""
    of_array: dict[str, list[Written]] = {}
    for entry in entries:
        if entry.key in confirmed:
            of_array.setdefault(entry.array, []).append(entry)
        else:
            yield entry
    for some in of_array.values():
        yield from some[:: -(-len(some) // SAMPLED)]


def is_good(target: ObjectPlace, entry: Written, coder: ObjectCoder | None) -> bool:
    """Tell whether an object is what was written."""
    try:
        stored = Held.of(target.stored(entry.key, entry.place))
        if stored.size != entry.size or _digest(stored) != entry.sha256:
            return False
        return entry.values is None or coder is None or coder.digest(stored) == entry.values
    except (OSError, RefbrowserError):
        return False


class Held:
    """An object that is small enough to be read once."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    @classmethod
    def of(cls, stored: Stored) -> Stored:
        """Return an object held in memory where it is small."""
        return cls(stored.read_at(0, stored.size)) if stored.size <= PORTION else stored

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of the object; fewer where it ends."""
        whole = not offset and size >= self.size
        return self._data if whole else self._data[offset : offset + size]


def _digest(stored: Stored) -> str:
    """Return the SHA-256 of the bytes of an object."""
    digest = hashlib.sha256()
    for offset in range(0, stored.size, PORTION):
        digest.update(stored.read_at(offset, PORTION))
    return digest.hexdigest()


def differing(keys: list[str], count: int, target: str, advice: str) -> RefbrowserError:
    """Return the error for chunks that are not what they should be."""
    named = ", ".join(map(quoted, keys[:NAMED])) + (", …" if len(keys) > NAMED else "")
    return RefbrowserError(
        ErrorKind.IO,
        f"verification failed: {len(keys)} of {count} chunks differ from the source: {named}",
        Place(path=target, key=keys[0]),
        advice,
    )


@dataclass(frozen=True, slots=True)
class _Metadata:
    """The metadata of a store, read again."""

    texts: Mapping[str, bytes]

    def metadata_keys(self) -> Iterable[str]:
        return list(self.texts)

    def value(self, key: str) -> bytes:
        return self.texts[key]


def verify_metadata(
    texts: Mapping[str, bytes],
    groups: Iterable[GroupNode],
    layouts: Iterable[ArrayLayout],
    target: StoreLayout,
) -> None:
    """Compare the metadata of a store with the source, by value.

    Parameters
    ----------
    texts
        By key, read again.

    Raises
    ------
    RefbrowserError
        `E_IO`: a node is not as it should be.
    """
    hierarchy = hierarchy_of_flavour(target.flavour, _Metadata(texts), lambda *_: NO_MANIFEST, target.flavour)
    for group in groups:
        _check_attributes(hierarchy, target.group_path(group), target.attributes(group))
    for layout in layouts:
        node = _check_attributes(hierarchy, layout.target.path, target.attributes(layout.wanted))
        wanted = layout.target
        same = (
            isinstance(node, ArrayNode)
            and (node.shape, node.dtype, node.dimensions) == (wanted.shape, wanted.dtype, wanted.dimensions)
            and node.has_grid
            and node.grid == wanted.grid
            and _same_scalar(node.fill_value, wanted.fill_value)
        )
        if not same:
            raise _wrong_node(layout.target.path, "shape, type, dimensions, chunks or fill value")


def _check_attributes(hierarchy: Hierarchy, path: str, wanted: Mapping[str, Any]) -> Any:
    node = hierarchy.find(path)
    if node is None or node.error is not None:
        raise _wrong_node(path, "metadata")
    if not same_value(dict(node.attributes), dict(wanted)):
        raise _wrong_node(path, "attributes")
    return node


def _wrong_node(path: str, what: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.IO, f"verification failed: {what} differ from the source", Place(path=path)
    )


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are the same; NaN is itself, and 1 is not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and bool(one == other)


def _same_scalar(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return np.asarray(one).tobytes() == np.asarray(other).tobytes() or bool(one == other)
