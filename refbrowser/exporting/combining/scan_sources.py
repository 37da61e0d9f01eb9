"""Looking at files, and at reference documents that are like one that was opened: their text tells enough.

Of a thousand documents nearly all have the keys and metadata of another one, but for attributes of groups.
What these mean is known then, and what a document refers to is taken from its JSON: no more is made of it.
One that is otherwise in anything, or cannot be read so, is opened as any file: that tells what is wrong.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.session import Session
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining.properties import (
    HELD,
    ArrayProperties,
    ArrayRead,
    Attributes,
    FileChunks,
    Ints,
    ScannedSource,
    ScanSettings,
    States,
    Values,
    absolute,
    arrays_read,
    coords_of,
    is_made_over,
    looked_at,
    plain_values,
    shared,
)
from refbrowser.formats.library.process import one_after_another
from refbrowser.formats.registry import facet
from refbrowser.io.access.access import Access, lock_path
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.fetching.byte_sources import RemoteBytes
from refbrowser.io.files.kept_files import state_of
from refbrowser.io.origins import ConnectionSettings, Origin, local_path, parse_storage_options
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Reference, ReferenceColumns, ReferenceKind, columns_of
from refbrowser.references.content.made_text import plain_attribute
from refbrowser.references.content.reference_values import decode_inline
from refbrowser.references.content.table import smallest
from refbrowser.references.content.value_table import json_of

#: Bytes of a document whose text is looked at; a larger one is read as columns in less time and memory.
_LARGEST = 2 << 20
#: Kinds of documents that are known at a time, by their keys, and of those with the same keys.
_KINDS, _OF_KEYS = 32, 8
#: Documents, none of which was like one before, after which nothing is expected of the others.
_GIVEN_UP = 32
#: How often the documents of a task are looked through for those that are like one that was opened.
_LOOKS = 4
#: Files of this computer that a document refers to, whose states are kept; of one with more nothing is.
_STATED = 64
#: Offsets and lengths above are left to what reads numbers of any size.
_MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class ScanTask:
    """Files that are looked at one after another."""

    sources: tuple[str, ...]
    looking: ScanSettings


@dataclass(frozen=True, slots=True)
class StateTask:
    """Files whose states are asked for."""

    names: tuple[str, ...]
    looking: ScanSettings


def states_of(task: StateTask) -> States:
    """Return what tells files and objects from what is there later; nothing of those that do not tell."""
    looking = task.looking
    allow, settings = _rights(looking)
    found = []
    with Session() as session:
        for name in task.names:
            if local_path(name) is not None:
                found.append((name, _state_on_disk(name)))
                continue
            try:
                access = Access.for_document(name, allow, settings)
                state = state_of(RemoteBytes(name, access, session.fetcher).identity)
            except RefbrowserError:
                state = None
            found.append((name, tuple(state or ())))
    return tuple(found)


def _rights(looking: ScanSettings) -> tuple[tuple[Origin, ...], dict[Origin, ConnectionSettings]]:
    """Return what may be read from, and how."""
    settings = {**looking.settings, **parse_storage_options(looking.storage_options)}
    return tuple(map(Origin.parse, looking.allow)), settings


def _state_on_disk(path: str) -> tuple[Any, ...]:
    """Return size and time of a regular file; nothing where there is none."""
    try:
        status = os.stat(local_path(path) or path)
    except OSError:
        return ()
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else ()


def _states(source: str, state: tuple[Any, ...], urls: Sequence[str]) -> States:
    """Return the states of a file, and of others on this computer that it refers to."""
    own = os.path.realpath(local_path(source) or source)
    others = [url for url in urls if local_path(url) is not None and url != own]
    if not state or len(others) > _STATED:
        return ()
    return ((source, state), *((url, _state_on_disk(url)) for url in others))


def scan(task: ScanTask) -> list[ScannedSource | tuple[str, RefbrowserError]]:
    """Return what is in files; of those that cannot be read why."""
    found: list[ScannedSource | tuple[str, RefbrowserError]] = []
    likeness = _Likeness(task.looking)
    known = likeness.look(task.sources)
    for number, source in enumerate(task.sources, 1):
        try:
            found.append(known.get(source) or _looked(source, task.looking, likeness))
            if likeness.has_learned:
                known |= likeness.look([each for each in task.sources[number:] if each not in known])
        except RefbrowserError as error:
            found.append((source, error))
    return found


def _looked(source: str, looking: ScanSettings, likeness: _Likeness) -> ScannedSource:
    """Return what is in a file; what a process that has read others does not read, another one does."""
    opening = OpenRequest(
        source,
        allow=looking.allow,
        storage_options=looking.storage_options,
        settings=looking.settings,
        stale=looking.stale,
        options=looking.opening,
    )
    # Before anything is read: what is changed meanwhile is looked at again.
    state = _state_on_disk(source) if local_path(source) is not None else ()
    chain = None
    try:
        with one_after_another() as chain, open_dataset(opening) as dataset:
            if not (chain.is_mixed and dataset.document.notes):
                found = _with_states(looked_at(dataset, source, looking), dataset, state)
                likeness.learn(dataset, found)
                return found
    except RefbrowserError:
        if chain is None or not chain.is_mixed:
            raise
    with open_dataset(opening) as dataset:
        return _with_states(looked_at(dataset, source, looking), dataset, state)


def _with_states(found: ScannedSource, dataset: Dataset, state: tuple[Any, ...]) -> ScannedSource:
    """Return what was found in a file with its state: of what came from elsewhere as it was told."""
    source, access = found.source, dataset.access
    if local_path(source) is None:
        state = tuple(state_of(access.memory.identities.known(access.locate(source).url)) or ())
    found.states = _states(source, state, found.chunks.urls)
    return found


# Documents that are like others


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """What documents with the same keys and the same metadata have in common.

    Attributes
    ----------
    fixed, texts
        Positions of the entries that are no chunks, and what these are.
    free
        Positions of the attributes of groups, by the number of the group.
    rows
        Position of the entry of each row of the columns.
    held
        Rows whose bytes stand in the document.
    read
        Arrays whose values are read: each with its node, what decodes a chunk, and the row of its only one.
    """

    arrays: tuple[ArrayProperties, ...]
    groups: tuple[tuple[str, Attributes], ...]
    counts: tuple[int, ...]
    positions: dict[int, Ints]
    fixed: tuple[int, ...]
    texts: tuple[str, ...]
    free: dict[int, int]
    rows: tuple[int, ...]
    held: frozenset[int]
    read: tuple[tuple[ArrayRead, ArrayNode, CodecPipeline, int], ...]


class _UnlikeError(Exception):
    """A document is not like the other one after all."""


_kinds: dict[Any, list[_Kind]] = {}
#: Documents that were learned from since one was like another.
_in_vain = 0
_lock = threading.Lock()


class _Likeness:
    """Documents that are looked at by their text, where such were opened before."""

    def __init__(self, looking: ScanSettings) -> None:
        self._looking = looking
        self._looks_left = _LOOKS
        #: Whether a document was opened that those which follow may be like.
        self.has_learned = False
        self._allow, self._settings = _rights(looking)

    def look(self, sources: Sequence[str]) -> dict[str, ScannedSource]:
        """Return what is in the documents that are like one that was opened, by source."""
        global _in_vain
        by_folder: dict[str, list[_Text]] = {}
        self.has_learned = False
        self._looks_left -= 1
        if not _kinds or _in_vain >= _GIVEN_UP or self._looks_left < 0:
            return {}
        for source in sources:
            if (text := self._text_of(source)) is not None:
                by_folder.setdefault(os.path.dirname(os.path.realpath(source)), []).append(text)
        found = {}
        for texts in by_folder.values():
            access = Access.for_document(texts[0].source, self._allow, self._settings)
            asked = columns_of(each for text in texts for each in text.asked())
            with Session() as session:
                answers = iter(session.fetch_all(asked, access))
            for text in texts:
                data = [*islice(answers, len(text.kind.read))]
                with suppress(_UnlikeError, RefbrowserError, ValueError):
                    found[text.source] = text.looked_at(data, access)
        _in_vain = 0 if found else _in_vain
        return found

    # Lists of thousands of entries, which are gone at its end.
    @collected_later()
    def _text_of(self, source: str) -> _Text | None:
        found = _entries_of(source)
        # What is read of one with a lock is held against that when it is opened, and only then.
        if found is None or os.path.lexists(lock_path(local_path(source) or source)):
            return None
        keys, values, state = found
        for kind in _kinds.get(self._key(source, keys), ()):
            if kind.texts == _taken(values, kind.fixed):
                with suppress(_UnlikeError, RefbrowserError, ValueError):
                    groups = _groups_of(kind, values)
                    columns = _references_of(_taken(values, kind.rows), kind.held)
                    return _Text(source, state, kind, groups, columns)
        return None

    def learn(self, dataset: Dataset, looked: ScannedSource) -> None:
        """Take note of a document that was opened: others may be like it."""
        global _in_vain
        found = _entries_of(looked.source) if _in_vain < _GIVEN_UP else None
        if found is None or not _is_plain(dataset) or looked.losses:
            return
        kind = _kind_of(dataset, looked, self._looking, *found[:2])
        if kind is not None:
            with _lock:
                if len(_kinds) >= _KINDS:
                    _kinds.clear()
                known = _kinds.setdefault(self._key(looked.source, found[0]), [])
                known[:] = [kind, *known][:_OF_KEYS]
                _in_vain += 1
                self.has_learned = True

    def _key(self, source: str, keys: tuple[str, ...]) -> Any:
        looking = self._looking
        # What a file is taken for may depend on how its name ends.
        return (
            source.rpartition(".")[2],
            looking.dimensions,
            looking.inline,
            looking.valued,
            looking.selected,
            keys,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """A document that is like another one, by its text."""

    source: str
    state: tuple[Any, ...]
    kind: _Kind
    groups: tuple[tuple[str, Attributes], ...]
    columns: ReferenceColumns

    def asked(self) -> list[Reference]:
        """Return the references of the chunks whose values are read."""
        return [self.columns.reference(row) for *_, row in self.kind.read]

    def looked_at(self, answers: Sequence[bytes | RefbrowserError], access: Access) -> ScannedSource:
        """Return what is in it, given the bytes of the chunks whose values are read."""
        kind, columns = self.kind, self.columns
        values: dict[str, Values] = {}
        digests: dict[str, bytes] = {}
        for (each, node, pipeline, row), data in zip(kind.read, answers, strict=True):
            if isinstance(data, RefbrowserError):
                raise data
            path, decoded = each.told.path, partial(_decoded, node, pipeline, data)
            if not each.is_compared:
                values[path] = decoded(each.told)
                continue
            held = (data,) if row in columns.inline else None
            digests[path], found = shared(each.told, held, decoded)
            if each.stays:
                values[path] = found
        names: dict[str, int] = {}
        numbers = [names.setdefault(absolute(url, access), len(names)) for url in columns.urls]
        is_held = columns.kind == ReferenceKind.INLINE
        chunks = FileChunks(
            tuple(names),
            kind.counts,
            smallest(np.array([*numbers, 0])[columns.url]) if len(names) > 1 else None,
            smallest(columns.offset),
            smallest(np.where(is_held, HELD, columns.length)),
            dict(kind.positions),
            dict(columns.inline),
        )
        states = _states(self.source, self.state, chunks.urls)
        return ScannedSource(self.source, kind.arrays, self.groups, chunks, values, digests, states=states)


def _decoded(node: ArrayNode, pipeline: CodecPipeline, data: bytes, told: ArrayProperties) -> Values:
    """Return the values of an array of one chunk, which may be larger than the array."""
    chunk = pipeline.decode(data)[tuple(map(slice, told.shape))]
    return plain_values(np.array(chunk, node.dtype))


def _entries_of(source: str) -> tuple[tuple[str, ...], tuple[Any, ...], tuple[Any, ...]] | None:
    """Return keys, values and state of a plain document on this computer: ``version`` 1 and ``refs``."""
    path = local_path(source)
    if path is None:
        return None
    try:
        with open_regular(os.path.realpath(path)) as (descriptor, identity):
            if identity.size > _LARGEST:
                return None
            # Of files of data no more is read.
            text = os.read(descriptor, 1)
            text += os.read(descriptor, identity.size) if text == b"{" else b""
        if len(text) != identity.size or b"{{" in text:
            return None
        # An object is a tuple: a list is one of JSON.
        told = json.loads(text.decode(), object_pairs_hook=tuple)
    except (RefbrowserError, OSError, ValueError, RecursionError):
        return None
    if len(told) != 2 or {name for name, _ in told} != {"version", "refs"}:
        return None
    version, refs = (dict(told)[name] for name in ("version", "refs"))
    if type(version) is not int or version != 1 or not isinstance(refs, tuple) or not refs:
        return None
    keys, values = zip(*refs, strict=True)
    return keys, values, (identity.size, identity.modified_ns)


def _taken(values: Sequence[Any], places: tuple[int, ...]) -> tuple[Any, ...]:
    return itemgetter(*places)(values) if len(places) > 1 else tuple(values[at] for at in places)


def _is_plain(dataset: Dataset) -> bool:
    """Tell whether keys and metadata alone say what a document is."""
    document = dataset.document
    return not (
        document.notes
        or document.rules
        or document.store is not None
        or dataset.elsewhere
        or facet(document, "complete") is not None
        or is_made_over(dataset)
    )


def _kind_of(
    dataset: Dataset,
    looked: ScannedSource,
    looking: ScanSettings,
    keys: tuple[str, ...],
    values: tuple[Any, ...],
) -> _Kind | None:
    places = {key: at for at, key in enumerate(keys)}
    if len(places) < len(keys):
        return None
    rows: list[int] = []
    first: dict[str, int] = {}
    nodes: dict[str, ArrayNode] = {}
    for number, told in enumerate(looked.arrays):
        node = dataset.hierarchy.find(told.path)
        divided = node.values.divided if isinstance(node, ArrayNode) else None
        if told.problem or divided is None or not isinstance(node, ArrayNode):
            return None
        there = looked.chunks.positions.get(number)
        there = np.arange(looked.chunks.counts[number]) if there is None else there
        coords = coords_of(told.grid.grid_shape, there)
        nodes[told.path], first[told.path] = node, len(rows)
        found = [places.get(key) for key in divided.keys.encode_many(coords, node.key_prefix)]
        if None in found:
            return None
        rows += [at for at in found if at is not None]
    # Those of consolidated metadata would stand there, too.
    is_told_twice = any(key.endswith((".zmetadata", "zarr.json")) for key in keys)
    names = [] if is_told_twice else [f"{path}/.zattrs".lstrip("/") for path, _ in looked.groups]
    free = {number: places[name] for number, name in enumerate(names) if name in places}
    others = {*rows, *free.values()}
    fixed = tuple(at for at in range(len(keys)) if at not in others)
    texts = _taken(values, fixed)
    read = []
    for each in arrays_read(looked.arrays, looking):
        node = nodes[each.told.path]
        only = each.told.grid.size == 1 and looked.chunks.counts[looked.arrays.index(each.told)] == 1
        if not only or node.values.encoded is None or node.values.encoded.witness is not None:
            return None
        read.append((each, node, CodecPipeline.for_array(node), first[each.told.path]))
    if not all(isinstance(text, str) for text in texts):
        return None
    held = frozenset(np.flatnonzero(looked.chunks.length == HELD).tolist())
    counts, positions = looked.chunks.counts, dict(looked.chunks.positions)
    return _Kind(
        looked.arrays, looked.groups, counts, positions, fixed, texts, free, tuple(rows), held, tuple(read)
    )


def _groups_of(kind: _Kind, values: Sequence[Any]) -> tuple[tuple[str, Attributes], ...]:
    """Return the groups with the attributes that a document has; they are called as in the other one."""
    groups = list(kind.groups)
    for number, at in kind.free.items():
        path, before = groups[number]
        text = values[at]
        # What is no JSON, or stands twice, is for those who tell of it.
        how: Any = {"object_pairs_hook": _once, "parse_constant": _once}
        told = json.loads(text, **how) if isinstance(text, str) else None
        if not isinstance(told, dict) or [*told] != [name for name, _ in before]:
            raise _UnlikeError
        groups[number] = (
            path,
            tuple((name, json_of(plain_attribute(each)).decode()) for name, each in told.items()),
        )
    return tuple(groups)


def _once(members: list[tuple[str, Any]] | str) -> dict[str, Any]:
    """Return an object whose members stand in it once."""
    found = {} if isinstance(members, str) else dict(members)
    if len(found) < len(members):
        raise _UnlikeError
    return found


def _bytes_of(value: Any) -> bytes:
    """Return the bytes of a chunk that stands in the document."""
    if type(value) is not str or not value.isascii() or len(value) > LIMITS.inline_value:
        raise _UnlikeError
    return decode_inline(value)


def _references_of(entries: Sequence[Any], held: frozenset[int]) -> ReferenceColumns:
    """Return the entries of chunks as columns."""
    inline = {row: _bytes_of(entries[row]) for row in sorted(held)}
    ranges = [each for row, each in enumerate(entries) if row not in held] if held else entries
    if {*map(type, ranges)} - {list} or {*map(len, ranges)} - {3}:
        raise _UnlikeError
    urls, offsets, lengths = zip(*ranges, strict=True) if ranges else ((), (), ())
    if {*map(type, urls)} - {str} or {*map(type, offsets), *map(type, lengths)} - {int}:
        raise _UnlikeError
    numbers = {url: number for number, url in enumerate(dict.fromkeys(urls))}
    if not all(url and url.isascii() and len(url) <= LIMITS.url_length for url in numbers):
        raise _UnlikeError
    if ranges and (min(*offsets, *lengths) < 0 or max(*offsets, *lengths) > _MOST):
        raise _UnlikeError
    url = np.fromiter(map(numbers.__getitem__, urls), np.int32, len(urls))
    columns = url, np.array(offsets, np.int64), np.array(lengths, np.int64)
    kind = np.full(len(entries), ReferenceKind.RANGE, np.uint8)
    if held:
        kind[list(held)] = ReferenceKind.INLINE
        there = kind == ReferenceKind.RANGE
        url, offset, length = (np.full(len(entries), nothing) for nothing in (-1, 0, -1))
        url[there], offset[there], length[there] = columns
        columns = url.astype(np.int32), offset, length
    return ReferenceColumns(kind, *columns, tuple(numbers), inline)
