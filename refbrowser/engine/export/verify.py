"""Reading an export again: every chunk by hash, metadata and attributes by value."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.engine.decoding import DecodePool
from refbrowser.engine.export.chunks import values_digest
from refbrowser.engine.export.folder import TargetFolder
from refbrowser.engine.export.journal import Journal, Written
from refbrowser.engine.export.layout import ArrayLayout
from refbrowser.engine.export.targets import Target
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.hierarchies import hierarchy_of_flavour
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy

#: Keys of chunks that differ which an error names.
NAMED = 5


class JournalSink:
    """Writes chunks to the incomplete target and notes them."""

    def __init__(self, folder: TargetFolder, journal: Journal) -> None:
        self.folder = folder
        self.journal = journal
        self._known = {entry.key for entry in journal.entries() if self._is_there(entry)}

    def _is_there(self, entry: Written) -> bool:
        try:
            return self.folder.path(entry.key).stat().st_size == entry.size
        except OSError:
            return False

    def has(self, key: str) -> bool:
        """Tell whether an earlier run has written a chunk."""
        return key in self._known

    def put(
        self, layout: ArrayLayout, key: str, data: bytes | memoryview, values: npt.NDArray[Any] | None
    ) -> None:
        """Write a chunk and note it."""
        self.folder.write(key, data)
        dtype = layout.target.dtype
        digest = None if values is None or dtype is None else values_digest(values, dtype)
        self.journal.add(
            Written(key, len(data), hashlib.sha256(data).hexdigest(), digest, layout.target.path)
        )


class CompareSink:
    """Compares chunks with those of a complete target."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.compared = 0
        self.different: list[str] = []
        self._lock = threading.Lock()
        self._pipelines: dict[str, CodecPipeline] = {}

    def has(self, key: str) -> bool:
        """Every chunk is to be compared."""
        return False

    def put(
        self, layout: ArrayLayout, key: str, data: bytes | memoryview, values: npt.NDArray[Any] | None
    ) -> None:
        """Compare a chunk, by bytes or else by elements."""
        try:
            stored = self.folder.joinpath(*key.split("/")).read_bytes()
            same = stored == data or (values is not None and self._same_values(layout, stored, values))
        except (OSError, RefbrowserError):
            same = False
        with self._lock:
            self.compared += 1
            if not same:
                self.different.append(key)

    def _same_values(self, layout: ArrayLayout, stored: bytes, values: npt.NDArray[Any]) -> bool:
        pipeline = self._pipelines.setdefault(layout.target.path, CodecPipeline.for_array(layout.target))
        decoded = pipeline.decode(stored)
        return values_digest(decoded, pipeline.dtype) == values_digest(values, pipeline.dtype)


def verify_chunks(
    folder: TargetFolder,
    journal: Journal,
    layouts: Iterable[ArrayLayout],
    pool: DecodePool,
    token: CancelToken,
) -> int:
    """Read every chunk of the target again and compare it; returns how many.

    Raises
    ------
    RefbrowserError
        `E_IO`: chunks are not what was written; they are written again by the next run.
    Cancelled
        `token` was cancelled.
    """
    pipelines = {
        layout.target.path: CodecPipeline.for_array(layout.target)
        for layout in layouts
        if layout.target.unreadable is None
    }
    different: list[str] = []
    queue = pool.queue(token)

    def check(entry: Written) -> None:
        if not _is_good(folder, entry, pipelines.get(entry.array)):
            different.append(entry.key)

    entries = journal.entries()
    for entry in entries:
        queue.put(partial(check, entry), entry.size)
    queue.join()
    for key in different:
        journal.drop(key)
    if different:
        advice = "check the disk; --resume writes them again"
        raise differing(sorted(different), len(entries), str(folder.target), advice)
    return len(entries)


def _is_good(folder: TargetFolder, entry: Written, pipeline: CodecPipeline | None) -> bool:
    try:
        data = folder.read(entry.key)
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            return False
        if entry.values is None or pipeline is None:
            return True
        return values_digest(pipeline.decode(data), pipeline.dtype) == entry.values
    except (OSError, RefbrowserError):
        return False


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
class _Folder:
    """The metadata of a Zarr store on disk."""

    folder: Path
    keys: tuple[str, ...]

    def metadata_keys(self) -> Iterable[str]:
        return self.keys

    def value(self, key: str) -> bytes:
        return self.folder.joinpath(*key.split("/")).read_bytes()


def verify_metadata(
    folder: Path,
    keys: Iterable[str],
    groups: Iterable[GroupNode],
    layouts: Iterable[ArrayLayout],
    target: Target,
) -> None:
    """Read the metadata of a store again and compare it with the source, by value.

    Raises
    ------
    RefbrowserError
        `E_IO`: a node is not as it should be.
    """
    source = _Folder(folder, tuple(keys))
    hierarchy = hierarchy_of_flavour(target.flavour, source, lambda *_: _no_manifest(), target.flavour)
    for group in groups:
        _check_attributes(hierarchy, target.group_path(group), target.attributes(group))
    for layout in layouts:
        node = _check_attributes(hierarchy, layout.target.path, target.attributes(layout.wanted))
        wanted = layout.target
        same = (
            isinstance(node, ArrayNode)
            and (node.shape, node.dtype, node.dimensions) == (wanted.shape, wanted.dtype, wanted.dimensions)
            and node.grid == wanted.grid
            and _same_scalar(node.fill_value, wanted.fill_value)
        )
        if not same:
            raise _wrong_node(layout.target.path, "shape, type, dimensions, chunks or fill value")


def _no_manifest() -> Any:
    return None


def _check_attributes(hierarchy: Hierarchy, path: str, wanted: Mapping[str, Any]) -> Any:
    node = hierarchy.find(path)
    if node is None or node.error is not None:
        raise _wrong_node(path, "metadata")
    if not same_value(dict(node.attributes), dict(wanted)):
        raise _wrong_node(path, "attributes")
    return node


def _wrong_node(path: str, what: str) -> RefbrowserError:
    return RefbrowserError(
        ErrorKind.IO, f"verification failed: {what} are not those of the source", Place(path=path)
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
