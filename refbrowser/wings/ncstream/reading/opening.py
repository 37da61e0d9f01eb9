"""A stream as a reference document, with the stream behind it; its index is kept beside the settings."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.errors import RefbrowserError, Severity
from refbrowser.formats.format import Opened, Opening
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes, RemoteBytes
from refbrowser.io.files import kept_files
from refbrowser.io.origins import local_path
from refbrowser.references.document.manifest import ManifestDocument
from refbrowser.wings.ncstream.reading.definition import StreamDefinition
from refbrowser.wings.ncstream.reading.headers import HeaderHistory, HeaderSequence
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin, document_of_origin
from refbrowser.wings.ncstream.reading.messages import MessageKind, MessageTable, StreamFault, StreamIndex
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.sections import left_out
from refbrowser.wings.ncstream.reading.walk import WalkProgress, begins_with, walk_stream
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

if TYPE_CHECKING:
    from refbrowser.io.fetching.fetch import Fetcher


_MARK = b"refbrowser index 1\n"
#: Walks that take less are done again, in seconds.
_WORTH = 1.0
_SUFFIX = ".index"
_NOT_COLUMNS = ("names", "checkpoints")
_WRONG = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    RecursionError,
    zlib.error,
    RefbrowserError,
)


def cache_folder() -> Path:
    """Return the folder of indexes, which may not be there."""
    return kept_files.cache_folder("streams")


class _Kept(NamedTuple):
    """An index, and the state of the stream that it is of."""

    state: list[Any]
    found: StreamIndex


class _Recent:
    """The indexes that were asked for last, for streams that are opened again and again while they grow."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: With the bytes that each takes.
        self._found: OrderedDict[str, tuple[_Kept, int]] = OrderedDict()

    def get(self, url: str) -> _Kept | None:
        """Return the last index of a stream, if it is still held."""
        with self._lock:
            return self._found.get(url, (None, 0))[0]

    def hold(self, known: _Kept) -> None:
        """Hold an index instead of the one that was used least."""
        url, size = known.found.url, _size(known.found.table)
        with self._lock:
            self._found.pop(url, None)
            if size > STREAM_LIMITS.stream_recent:
                return
            self._found[url] = known, size
            while sum(size for _, size in self._found.values()) > STREAM_LIMITS.stream_recent:
                self._found.popitem(last=False)


_recent = _Recent()


def indexed(
    source: LocalBytes | RemoteBytes,
    *,
    url: str,
    token: CancelToken | None = None,
    progress: WalkProgress | None = None,
) -> StreamIndex:
    """Return the index of a stream: the kept one, gone on from where the stream has grown, or a new one.

    A kept index is taken for a stream of the same name, size and time that ends with the same bytes; where
    it is longer now, the bytes before what was added must be the same.

    Raises
    ------
    RefbrowserError
        See `walk_stream`.
    """
    state = kept_files.state_of(source.identity)
    path = cache_folder() / kept_files.kept_name(url, _SUFFIX)
    known = _recent.get(url) or _loaded(path, url, source)
    if known is not None and state == known.state and begins_with(source, known.found):
        _recent.hold(known)
        return known.found
    has_grown = known is not None and source.size > known.found.size
    resume = known.found if known is not None and has_grown else None
    start = time.monotonic()
    index = walk_stream(source, url=url, token=token, progress=progress, resume=resume)
    if state is not None:
        _recent.hold(_Kept(state, index))
        if time.monotonic() - start >= _WORTH or (has_grown and path.exists()):
            _keep(path, index, state)
    return index


def _arrays(table: MessageTable) -> dict[str, npt.NDArray[Any]]:
    names = [name for name in MessageTable.__slots__ if name not in _NOT_COLUMNS]
    return {name: getattr(table, name) for name in names}


def _size(table: MessageTable) -> int:
    """Return the bytes that a table takes, nearly."""
    arrays = [*_arrays(table).values(), *table.checkpoints.values()]
    return sum(each.nbytes for each in arrays) + sum(map(len, table.names))


def _keep(path: Path, index: StreamIndex, state: list[Any]) -> None:
    """Write an index to the cache, where it is not too large; a failure does not matter."""
    table, columns = index.table, _arrays(index.table)
    if _size(table) > STREAM_LIMITS.stream_index:
        return
    arrays = [*columns.values(), *(table.checkpoints[number] for number in sorted(table.checkpoints))]
    packed = zlib.compress(b"".join(each.tobytes() for each in arrays), 1)
    faults = [[getattr(fault, each.name) for each in fields(StreamFault)] for fault in index.faults]
    facts = {
        "url": index.url,
        "state": state,
        "size": index.size,
        "walked": index.walked,
        "has_start": index.has_start,
        "has_end": index.has_end,
        "tail": index.tail,
        "names": table.names,
        "faults": faults,
        "columns": [[name, each.dtype.str, len(each)] for name, each in columns.items()],
        "checkpoints": [[number, len(table.checkpoints[number])] for number in sorted(table.checkpoints)],
    }
    with contextlib.suppress(*_WRONG):
        kept_files.write_kept(
            path, _MARK, json.dumps(facts).encode() + b"\n" + packed, STREAM_LIMITS.stream_cache
        )


def _loaded(path: Path, url: str, source: ByteSource) -> _Kept | None:
    """Return an index of the folder; None where there is none that can be read."""
    try:
        line, _, packed = kept_files.read_kept(path, _MARK, STREAM_LIMITS.stream_index).partition(b"\n")
        facts = json.loads(line)
        if facts["url"] != url:
            return None
        table = _table(facts, packed)
        check_table(table, facts["size"])
        index = _index(facts, table, source)
        kept_files.was_used(path)
        return _Kept(facts["state"], index)
    except _WRONG:
        return None


def _table(facts: dict[str, Any], packed: bytes) -> MessageTable:
    """Return the table of a kept index.

    Raises
    ------
    ValueError
        It is none.
    """
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, STREAM_LIMITS.stream_index)
    at = 0

    def take(dtype: str, count: int) -> Any:
        nonlocal at
        array = np.frombuffer(data, np.dtype(dtype), count, at).copy()
        at += array.nbytes
        return array

    columns = {name: take(dtype, count) for name, dtype, count in facts["columns"]}
    checkpoints = {number: take("<i8", 2 * count).reshape(-1, 2) for number, count in facts["checkpoints"]}
    if at != len(data) or not unpacker.eof:
        raise ValueError("the columns do not fill the file")
    return MessageTable(**columns, names=tuple(facts["names"]), checkpoints=checkpoints)


def _index(facts: dict[str, Any], table: MessageTable, source: ByteSource) -> StreamIndex:
    """Return a kept index with the definitions, which are read from the stream."""
    headers, history = HeaderSequence(StreamDefinition()), HeaderHistory()
    for number in np.flatnonzero(table.kind == MessageKind.HEADER).tolist():
        header = source.read(int(table.payload_offset[number]), int(table.payload_length[number]))
        headers.add(bytes(header))
        history.add(number, headers.definition)
        history.thin()
    return StreamIndex(
        url=facts["url"],
        size=facts["size"],
        walked=facts["walked"],
        table=table,
        definition=headers.definition,
        headers=tuple(history.headers),
        faults=tuple(_fault(values) for values in facts["faults"]),
        has_start=facts["has_start"],
        has_end=facts["has_end"],
        tail=facts["tail"],
    )


def _fault(values: list[Any]) -> StreamFault:
    made: dict[str, Callable[[Any], Any]] = {"severity": Severity}
    named = {each.name: value for each, value in zip(fields(StreamFault), values, strict=True)}
    return StreamFault(**{name: made.get(name, lambda one: one)(value) for name, value in named.items()})


_OF_RANGES = ("starts", "sizes", "strides")
_NOT_KEPT = ("names", "checkpoints", *_OF_RANGES)


def check_table(table: MessageTable, size: int) -> None:
    """Raise why a table is none of a stream.

    Parameters
    ----------
    size
        Bytes of the stream.

    Raises
    ------
    ValueError
        Columns have different lengths, or numbers point to nothing.
    """
    columns = [getattr(table, name) for name in MessageTable.__slots__ if name not in _NOT_KEPT]
    ranges = [getattr(table, name) for name in _OF_RANGES]
    if any(len(each) != len(table) for each in columns) or len({len(each) for each in ranges}) > 1:
        raise ValueError("columns have different lengths")
    if any(each.dtype.kind not in "iub" for each in (*columns, *ranges)):
        raise ValueError("columns are not integers")
    if not all(isinstance(name, str) for name in table.names):
        raise ValueError("names are not text")
    used = table.section + np.maximum(table.rank, 0)
    payload_stop = table.payload_offset + table.payload_length
    in_order = np.r_[True, table.offset[1:] >= table.stop[:-1]] if len(table) else True
    sound = (
        (table.kind <= max(MessageKind))
        & (table.variable >= -1)
        & (table.variable < len(table.names))
        & ((table.rank <= 0) | (table.section >= 0) & (used <= len(table.starts)))
        & (table.offset >= 0)
        & (table.stop >= table.offset)
        & (table.stop <= size)
        & (table.payload_offset >= 0)
        & (table.payload_length >= 0)
        & (payload_stop <= size)
        & in_order
    )
    if not np.all(sound):
        raise ValueError("numbers point to nothing")


__all__ = ["StreamOrigin", "StreamReading", "document_of_stream", "open_stream"]


def open_named_stream(opening: Opening) -> Opened:
    """Open the stream at a path or URL.

    Raises
    ------
    RefbrowserError
        It is none, or it cannot be read.
    """
    access = Access.for_document(opening.path, opening.allow, opening.settings)
    identity = opening.identity()
    document = open_stream(
        opening.path,
        access,
        opening.fetcher(),
        options=opening.chosen(StreamReading),
        token=opening.token,
        progress=opening.progress,
    )
    return Opened(document, access, identity)


def open_stream(
    path: str,
    access: Access,
    fetcher: Fetcher,
    *,
    options: StreamReading | None = None,
    token: CancelToken | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> ManifestDocument:
    """Open a stream of messages: a local file, or a URL.

    Parameters
    ----------
    path
        As the user named it.
    access
        What may be read, of `Access.for_document`.
    fetcher
        Reads URLs.
    options
        How it is read.
    progress
        Called with the bytes walked so far, and in all.

    Raises
    ------
    RefbrowserError
        `E_FORMAT` (``not-ncstream``): it is none; else it cannot be read.
    """
    with ExitStack() as stack:
        source: LocalBytes | RemoteBytes
        local = local_path(path)
        if local is not None:
            file = stack.enter_context(LocalBytes(os.path.realpath(local)))
            source, url = file, file.path
        else:
            url = access.resolve(path).url
            source = RemoteBytes(path, access, fetcher, token)
        index = indexed(source, url=url, token=token, progress=progress)
    return document_of_stream(index, options or StreamReading(), name=path)


def document_of_stream(index: StreamIndex, options: StreamReading, *, name: str) -> ManifestDocument:
    """Return the document of a stream that was walked.

    Parameters
    ----------
    name
        For messages.
    """
    origin = StreamOrigin(index, options)
    # What is said of the end of the stream has the number behind the last message.
    last = len(index.table) if options.until is None else options.until
    spreading = set(origin.layouts.spreading.tolist())
    if index.has_start and not index.has_end:
        # It may have been cut between two messages.
        spreading.add(len(index.table))
    notes = [
        replace(index.finding(each), is_loss=each.number in spreading, is_anywhere=each.number in spreading)
        for each in index.faults
        if each.number <= last
    ]
    for each in left_out(index.definition):
        found = each.finding
        notes.append(found.at(replace(found.place, url=index.url)))
    return document_of_origin(origin, notes, name=name)
