"""What was found in files, on disk until these are combined: who was interrupted goes on with it.

A journal is a file of this computer's user, for one document that is made. Each entry is checked by its sum:
what a killed process left half-written is not taken. Who goes on asks whether files are still as they were.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import threading
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from refbrowser.exporting.combining.properties import (
    ArrayProperties,
    Attributes,
    FileChunks,
    Ints,
    ScannedSource,
    ScanSettings,
    Values,
)
from refbrowser.io.files.journal import modified
from refbrowser.io.files.kept_files import kept_name
from refbrowser.io.files.own_names import open_own
from refbrowser.io.files.permissions import document_name, state_folder
from refbrowser.io.processes import is_running, start_mark
from refbrowser.version import __version__

_VERSION = 1
#: Bytes of a journal: of what is found above nothing is kept.
LARGEST = 1 << 30
#: Journals that nobody goes on with, and bytes of them all; the oldest are given up.
_KEPT, _KEPT_BYTES = 20, 2 << 30
#: The line before an entry: its sum, and the bytes of its text and of its columns.
_HEAD = re.compile(rb"([0-9a-f]{8}) (\d{1,12}) (\d{1,12})\n")
_LONGEST_HEAD = 64
_NAME = re.compile(r"([0-9a-f]{40})-(\d{1,10})-(\d*)-[0-9a-f]{8}\.looks")
#: Types of columns and values, by their kinds.
_KINDS = "biufcSUmM"
#: Journals that this process writes now; who goes on waits so many seconds for one who was cancelled to end.
_open: set[Path] = set()
_changed = threading.Condition()
_PATIENCE = 5.0


class ScanJournal:
    """The journal of one document that is being made of files; what cannot be written is not kept.

    Not safe to share across threads.

    Parameters
    ----------
    target
        The document; one without a name has no journal.
    looking
        What is looked at in files.
    resume
        Go on with what an earlier run found; else that is forgotten.
    """

    def __init__(self, target: str, looking: ScanSettings, *, resume: bool) -> None:
        self.path = Path()
        self._file: BinaryIO | None = None
        self._arrays: dict[tuple[ArrayProperties, ...], int] = {}
        self._shared: dict[tuple[str, str], Values] = {}
        #: What an earlier run found, by source.
        self.known: dict[str, ScannedSource] = {}
        if target:
            # A folder that cannot be written to keeps nobody from combining.
            with contextlib.suppress(OSError):
                self._begin(target, looking, resume)

    def __enter__(self) -> ScanJournal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _begin(self, target: str, looking: ScanSettings, resume: bool) -> None:
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = os.getpid()
        name = f"{_stem(target)}-{own}-{start_mark(own)}-{secrets.token_hex(4)}.looks"
        self.path = folder / name
        said = sorted((name, str(value)) for name, value in looking.opening.items())
        head = [
            _VERSION,
            __version__,
            looking.dimensions,
            looking.inline,
            looking.valued,
            looking.selected,
            said,
        ]
        end = 0
        with _changed:
            if resume:
                _changed.wait_for(lambda: not _is_written(target), _PATIENCE)
            _open.add(self.path)
        for path in _left(target):
            # Whose it is now is known by its name: of two who want it one finds it gone.
            with contextlib.suppress(FileNotFoundError):
                path.rename(self.path)
                end = self._read(json.loads(json.dumps(head))) if resume else 0
            if end:
                break
        for path in _left(target):
            path.unlink(missing_ok=True)
        _give_up_oldest(folder)
        descriptor = open_own(self.path, os.O_RDWR | os.O_CREAT)
        self._file = os.fdopen(descriptor, "r+b")
        # Whatever a killed process left torn ends here.
        self._file.truncate(end)
        self._file.seek(end)
        if not end:
            self._file.write(_entry({"looks": head}))
            self._file.flush()

    # Writing

    def add(self, found: Iterable[ScannedSource]) -> None:
        """Note what was found in files whose state is known."""
        if self._file is None:
            return
        try:
            told = [each for each in found if each.states and all(state for _, state in each.states)]
            data = b"".join(part for each in told for part in self._parts(each))
            if self._file.tell() + len(data) <= LARGEST:
                self._file.write(data)
                self._file.flush()
        except OSError:
            # What is there of it is torn, and not taken.
            self.close()

    def _parts(self, found: ScannedSource) -> Iterator[bytes]:
        number = self._arrays.get(found.arrays)
        if number is None:
            number = self._arrays[found.arrays] = len(self._arrays)
            yield _entry({"arrays": [astuple(each) for each in found.arrays]})
        chunks = found.chunks
        columns = [each for each in (chunks.url, chunks.offset, chunks.length) if each is not None]
        blobs = [*columns, *chunks.positions.values()]
        values = []
        for path, each in found.values.items():
            digest = found.digests[path].hex() if path in found.digests else None
            values.append([path, each.dtype.str, each.shape, digest])
            if digest is None or (path, digest) not in self._shared:
                blobs.append(np.ascontiguousarray(each))
            if digest is not None:
                self._shared[path, digest] = each
        told = {
            "source": found.source,
            "states": found.states,
            "arrays": number,
            "groups": found.groups,
            "urls": chunks.urls,
            "counts": chunks.counts,
            "columns": [each.dtype.str for each in columns],
            "positions": [[at, len(each)] for at, each in chunks.positions.items()],
            "inline": [[row, len(data)] for row, data in chunks.inline.items()],
            "values": values,
            "digests": [[path, digest.hex()] for path, digest in found.digests.items()],
            "losses": found.losses,
        }
        yield _entry(told, *(each.tobytes() for each in blobs), *chunks.inline.values())

    def close(self) -> None:
        """Write no more; what is there is kept."""
        if self._file is not None:
            self._file.close()
            self._file = None
        with _changed:
            _open.discard(self.path)
            _changed.notify_all()

    # Reading

    def _read(self, head: Any) -> int:
        """Take what is whole; return where it ends: 0 where the journal is of something else."""
        with self.path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            first = _next(file, size) if size <= LARGEST else None
            if first is None or first[0].get("looks") != head:
                return 0
            end = file.tell()
            arrays: list[tuple[ArrayProperties, ...]] = []
            try:
                while (entry := _next(file, size)) is not None:
                    told, body = entry
                    if "source" in told:
                        found = self._found(told, memoryview(body), arrays)
                        self.known[found.source] = found
                    else:
                        arrays.append(tuple(map(_properties, told["arrays"])))
                    end = file.tell()
            except (ValueError, TypeError, KeyError, IndexError):
                # Its sum is right, and yet it is none of ours: what was before it is.
                pass
        self._arrays = {each: number for number, each in enumerate(arrays)}
        return end

    def _found(
        self, told: dict[str, Any], body: memoryview, arrays: list[tuple[ArrayProperties, ...]]
    ) -> ScannedSource:
        counts = tuple(map(int, told["counts"]))
        rest = _Body(body)
        columns = [rest.array(dtype, (sum(counts),)) for dtype in told["columns"]]
        url = columns.pop(0) if len(columns) == 3 else None
        offset, length = columns
        positions: dict[int, Ints] = {int(at): rest.array("<i8", (count,)) for at, count in told["positions"]}
        values: dict[str, Values] = {}
        for path, dtype, shape, digest in told["values"]:
            known = self._shared.get((path, digest))
            values[path] = rest.array(dtype, shape) if known is None else known
            if digest is not None:
                self._shared[path, digest] = values[path]
        inline = {int(row): rest.take(size) for row, size in told["inline"]}
        return ScannedSource(
            told["source"],
            arrays[told["arrays"]],
            tuple((path, _attributes(each)) for path, each in told["groups"]),
            FileChunks(tuple(map(str, told["urls"])), counts, url, offset, length, positions, inline),
            values,
            {path: bytes.fromhex(digest) for path, digest in told["digests"]},
            tuple(told["losses"]),
            tuple((name, tuple(state)) for name, state in told["states"]),
        )


class _Body:
    """What stands behind the text of an entry, taken from its beginning on."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        data = bytes(self._data[self._at : self._at + size])
        if len(data) != size:
            raise ValueError("it ends before its values do")
        self._at += size
        return data

    def array(self, dtype: str, shape: Iterable[int]) -> Any:
        """Return the next values."""
        kind, sides = np.dtype(dtype), tuple(shape)
        if kind.kind not in _KINDS or kind.hasobject:
            raise TypeError("values of a type that is not kept")
        count = int(np.prod(sides, dtype=object))
        return np.frombuffer(self.take(count * kind.itemsize), kind).reshape(sides)


def forget_scans(target: str) -> None:
    """Remove what was kept of files that a document was made of."""
    with contextlib.suppress(OSError):
        for path in _left(target):
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return state_folder() / "combining"


def _stem(target: str) -> str:
    return kept_name(document_name(target), "")


def _left(target: str) -> list[Path]:
    """Return the journals of a document that nobody writes, the newest first."""
    stem = _stem(target)
    found = [path for path in _nobodys(_folder()) if path.name.startswith(stem)]
    return sorted(found, key=modified, reverse=True)


def _is_written(target: str) -> bool:
    stem = _stem(target)
    return any(path.name.startswith(stem) for path in _open)


def _nobodys(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match is None or path in _open:
            continue
        if int(match[2]) == os.getpid() or not is_running(int(match[2]), match[3]):
            yield path


def _give_up_oldest(folder: Path) -> None:
    total = 0
    for number, path in enumerate(sorted(_nobodys(folder), key=modified, reverse=True)):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
            if number >= _KEPT or total > _KEPT_BYTES:
                path.unlink()


def _entry(told: dict[str, Any], *blobs: bytes) -> bytes:
    text = json.dumps(told, separators=(",", ":")).encode()
    body = b"".join((text, *blobs))
    return b"%08x %d %d\n%b" % (zlib.crc32(body), len(text), len(body) - len(text), body)


def _next(file: BinaryIO, size: int) -> tuple[dict[str, Any], bytes] | None:
    """Return the next entry; None where there is none that is whole."""
    match = _HEAD.fullmatch(file.readline(_LONGEST_HEAD))
    if match is None or int(match[2]) + int(match[3]) > size - file.tell():
        return None
    text, rest = file.read(int(match[2])), file.read(int(match[3]))
    if zlib.crc32(rest, zlib.crc32(text)) != int(match[1], 16):
        return None
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (told, rest) if isinstance(told, dict) else None


def _properties(told: list[Any]) -> ArrayProperties:
    names = ArrayProperties.__dataclass_fields__
    members = dict(zip(names, told, strict=True))
    for name in ("shape", "dimensions", "chunks"):
        members[name] = tuple(members[name])
    members["attributes"] = _attributes(members["attributes"])
    return ArrayProperties(**members)


def _attributes(told: list[Any]) -> Attributes:
    return tuple((str(name), str(text)) for name, text in told)
