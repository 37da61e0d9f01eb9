"""Going through the keys of a store: which chunks are there, and which keys belong to nothing.

Keys come folder by folder and are looked at some thousands at a time; of each array a bit for each chunk is
kept, so that millions of chunks take little memory.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import NAMES_ALIKE
from refbrowser.formats.stores.reader import StoreReader, is_safe_key
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.listing import NO_CHUNK, OUTSIDE, STRAY_KINDS, ListedChunks, StoreListing, flat_index
from refbrowser.model.metadata_keys import is_metadata_key

if TYPE_CHECKING:
    from refbrowser.io.archives.directory import ZipDirectory


#: Names that are given together, at most.
PAGE = 16_384

#: A folder (``""``, ``a/b/``) and names right below it.
Listed = tuple[str, list[str]]


def list_folder(
    root: str, token: CancelToken, closed: Callable[[str], None] = lambda folder: None
) -> Iterator[Listed]:
    """Yield the files below a folder.

    Parameters
    ----------
    closed
        Told each folder that is not looked into: what is in it is not known. Links to folders are not
        followed, and some may not be read.
    """
    waiting = [""]
    while waiting:
        token.check()
        folder = waiting.pop()
        try:
            entries = os.scandir(os.path.join(root, folder))
        except OSError:
            closed(folder)
            continue
        with entries:
            files: list[str] = []
            for entry in entries:
                if entry.is_symlink() and _leads_to_folder(entry):
                    closed(f"{folder}{entry.name}/")
                    continue
                if _is_folder(entry):
                    waiting.append(f"{folder}{entry.name}/")
                    continue
                files.append(entry.name)
                if len(files) == PAGE:
                    token.check()
                    yield folder, files
                    files = []
            if files:
                yield folder, files


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def list_archive(directory: ZipDirectory, folder: str, token: CancelToken) -> Iterator[Listed]:
    """Yield the members of an archive that are below a leading folder (``""``, ``store/``)."""
    names = (name[len(folder) :] for name in directory.names() if name.startswith(folder))
    for parent, group in groupby(names, key=lambda name: name[: name.rfind("/") + 1]):
        while page := [name[len(parent) :] for name in islice(group, PAGE)]:
            token.check()
            yield parent, page


def list_reader(reader: StoreReader, token: CancelToken) -> Iterator[Listed]:
    """Yield what a reader can list: the objects of an object store.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: there are too many to list them all, so that nothing is known to be missing.
    """
    waiting, left = [""], LIMITS.audit_folders
    while waiting:
        token.check()
        left -= 1
        folder = waiting.pop()
        names = reader.names(folder)
        if names is None or names.cut or not left:
            message = "the store has more names than the limit"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(key=folder or None))
        waiting += [f"{folder}{name}/" for name in names.folders]
        for start in range(0, len(names.files), PAGE):
            yield folder, list(names.files[start : start + PAGE])


#: Keys of one kind, in one array, that are told one by one; the rest is counted.
TOLD = 50
#: Kinds of findings times arrays that are told.
MOST_GROUPS = 1_000
_SAFE_DIGITS = 18
#: Names of a folder that are faster looked at one by one.
_FEW = 32
_NUMBERS = re.compile(r"[0-9]+(?:,[0-9]+)*\Z", re.ASCII)

OF_NOTHING = "the key belongs to no group or array"
BAD_NAME = "the name is not a key: it is never read"
WRONG_CASE = "the key differs from another of the store only in case"
CLOSED = "the folder is a link or cannot be read: missing keys in it are not known"
UNLISTED = "the metadata belongs to no known group or array: consolidated metadata may lack it"


@dataclass(slots=True)
class _Tally:
    """The chunks of one array that were seen."""

    prefix: str
    grid_shape: tuple[int, ...]
    encoding: ChunkKeyEncoding
    stored: int = 0
    bits: npt.NDArray[np.uint8] | None = None

    def add(self, coords: npt.NDArray[np.int64]) -> None:
        if self.bits is None:
            self.stored += len(coords)
            return
        flat = flat_index(coords, self.grid_shape)
        np.bitwise_or.at(self.bits, flat >> 3, np.uint8(1) << (flat & 7).astype(np.uint8))

    def add_one(self, coords: tuple[int, ...]) -> None:
        if self.bits is None:
            self.stored += 1
            return
        number = 0
        for at, length in zip(coords, self.grid_shape, strict=True):
            number = number * length + at
        self.bits[number >> 3] |= 1 << (number & 7)

    def listed(self) -> ListedChunks:
        stored = self.stored if self.bits is None else int(np.bitwise_count(self.bits).sum())
        return ListedChunks(self.grid_shape, stored, self.bits)


@dataclass(slots=True)
class _Group:
    """Keys that share what is wrong with them."""

    keys: list[str] = field(default_factory=list)
    count: int = 0


class ListingCheck:
    """Takes the keys of a store and tells what it holds.

    Parameters
    ----------
    metadata
        Keys of the metadata that was read.
    """

    def __init__(self, metadata: Iterable[str]) -> None:
        self._metadata = frozenset(metadata)
        self._lowered: Mapping[str, str] = {key.casefold(): key for key in self._metadata}
        self._tallies: dict[str, _Tally] = {}
        self._bits_left = LIMITS.audit_bits
        self._groups: dict[tuple[str, str], _Group] = {}
        self._keys = 0
        self._hidden: set[str] = set()
        self._unknown: set[str] = set()
        self._last: tuple[str, _Tally | None] = ("\0", None)

    def add_array(self, prefix: str, grid_shape: tuple[int, ...], encoding: ChunkKeyEncoding) -> None:
        """Add an array whose chunks have keys that begin with `prefix`; of two spellings the first counts."""
        if prefix in self._tallies:
            return
        tally = _Tally(prefix, grid_shape, encoding)
        size = prod(grid_shape)
        if size <= self._bits_left:
            self._bits_left -= size
            tally.bits = np.zeros((size + 7) // 8, np.uint8)
        self._tallies[prefix] = tally

    def add_unknown(self, prefix: str) -> None:
        """Add an array of which nothing is known: keys that begin with `prefix` may be its chunks."""
        self._unknown.add(prefix)

    def add(self, folder: str, names: Sequence[str]) -> None:
        """Add keys: names right below a folder (``""``, ``temp/``, ``temp/c/0/``), each key once."""
        self._keys += len(names)
        tally = self._tally_of(folder)
        if tally is None and self._is_unknown(folder):
            return
        if tally is None:
            for name in names:
                self._note(folder + name, OF_NOTHING, "")
            return
        within = folder[len(tally.prefix) :]
        coords = None
        if len(names) > _FEW:
            coords = _all_coords([within + name for name in names], tally.encoding, len(tally.grid_shape))
        if coords is None:
            for name in names:
                self._add_one(tally, within + name)
            return
        inside = np.all(coords < np.array(tally.grid_shape, np.int64), axis=1)
        tally.add(coords[inside])
        for row in np.flatnonzero(~inside).tolist():
            key = tally.prefix + tally.encoding.encode(tuple(coords[row].tolist()))
            self._note(key, OUTSIDE, tally.prefix)

    def _add_one(self, tally: _Tally, text: str) -> None:
        """Add what stands after the prefix of an array."""
        coords = tally.encoding.decode(text, len(tally.grid_shape))
        if coords is None:
            wrong_case = tally.encoding.decode(text.casefold(), len(tally.grid_shape)) is not None
            self._note(tally.prefix + text, WRONG_CASE if wrong_case else NO_CHUNK, tally.prefix)
        elif all(at < length for at, length in zip(coords, tally.grid_shape, strict=True)):
            tally.add_one(coords)
        else:
            self._note(tally.prefix + text, OUTSIDE, tally.prefix)

    def leave_out(self, folder: str) -> None:
        """Take note of a folder that could not be looked into: of arrays in it nothing is known."""
        hidden = [
            prefix for prefix in self._tallies if prefix.startswith(folder) or folder.startswith(prefix)
        ]
        for prefix in hidden:
            self._hidden.add(prefix)
        self._note_one(folder.rstrip("/"), CLOSED if hidden else OF_NOTHING, "")

    def _tally_of(self, folder: str) -> _Tally | None:
        """Return the array that keys right below a folder may be chunks of: the innermost one above."""
        if self._last[0] != folder:
            found, above = self._tallies.get(folder), folder
            while found is None and above:
                above = above[: above.rstrip("/").rfind("/") + 1]
                found = self._tallies.get(above)
            self._last = (folder, found)
        return self._last[1]

    def _is_unknown(self, folder: str) -> bool:
        return any(folder.startswith(prefix) for prefix in self._unknown)

    def _note(self, key: str, reason: str, prefix: str) -> None:
        """Note a key that is no chunk; one that is metadata is where it belongs."""
        if not is_safe_key(key) or not key.isprintable():
            reason = BAD_NAME
        elif key in self._metadata or key.rpartition("/")[2] == ".zmetadata":
            return
        elif is_metadata_key(key):
            reason = UNLISTED
        elif key.casefold() in self._lowered:
            reason = WRONG_CASE
        self._note_one(key, reason, prefix)

    def _note_one(self, key: str, reason: str, prefix: str) -> None:
        group = self._groups.get((reason, prefix))
        if group is None:
            group = self._groups.setdefault(
                (reason, prefix if len(self._groups) < MOST_GROUPS else ""), _Group()
            )
        group.count += 1
        if len(group.keys) <= TOLD:
            group.keys.append(key)

    def result(self, more: Iterable[Finding] = ()) -> StoreListing:
        """Return what was found; `more` is what is wrong with the container."""
        findings = [*self._strays(), *case_clashes(self._metadata), *more]
        known = {prefix: tally for prefix, tally in self._tallies.items() if prefix not in self._hidden}
        chunks = {prefix: tally.listed() for prefix, tally in known.items()}
        return StoreListing(chunks, tuple(findings), self._keys)

    def _strays(self) -> Iterable[Finding]:
        for (reason, _), group in self._groups.items():
            for number, key in enumerate(group.keys):
                more = group.count - TOLD if number == TOLD else 1
                yield _finding(reason, key, more)


def _finding(message: str, key: str, count: int = 1) -> Finding:
    return Finding(
        severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=Place(key=key), count=count,
        what=STRAY_KINDS.get(message),
    )  # fmt: skip


def _all_coords(texts: list[str], encoding: ChunkKeyEncoding, ndim: int) -> npt.NDArray[np.int64] | None:
    """Return the coordinates in chunk keys at once; None unless each text is one."""
    if not ndim:
        return None
    skip = len(encoding.spelled([""]))
    numbers = ",".join([text[skip:] for text in texts]).replace(encoding.separator, ",")
    if numbers.count(",") != len(texts) * ndim - 1 or not _NUMBERS.match(numbers):
        return None
    parts = numbers.split(",")
    if max(map(len, parts)) > _SAFE_DIGITS:
        return None
    coords = np.array(list(map(int, parts)), np.int64).reshape(-1, ndim)
    return coords if encoding.encode_many(coords) == texts else None


def case_clashes(metadata: Iterable[str]) -> list[Finding]:
    """Return siblings whose names differ by case only: on some disks they would be one.

    Those whose metadata have clashing keys themselves are left out: the findings of the document tell them.
    """
    names: dict[str, dict[str, None]] = {}
    keys = list(metadata)
    folded = Counter(key.casefold() for key in keys)
    for key in keys:
        if folded[key.casefold()] > 1:
            continue
        at = key.find("/")
        while at >= 0:
            path = key[:at]
            names.setdefault(path.casefold(), {})[path] = None
            at = key.find("/", at + 1)
    found = []
    for paths in names.values():
        by_parent: dict[str, list[str]] = {}
        for path in paths:
            by_parent.setdefault(path.rpartition("/")[0], []).append(path)
        for siblings in by_parent.values():
            if len(siblings) > 1:
                others = ", ".join(map(quoted, siblings[1:]))
                message = f"{quoted(siblings[0])} and {others} differ only in case"
                place = Place(path=f"/{siblings[0]}")
                found.append(NAMES_ALIKE.finding(message, place, error=ErrorKind.META))
    return found
