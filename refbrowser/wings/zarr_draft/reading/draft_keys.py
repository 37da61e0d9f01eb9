"""Storage keys of the v3 drafts: metadata keys and where chunks are (draft of 2019, Storage keys).

The draft of 2019 has ``meta/foo.array.json`` and ``data/foo/0.0``, the later ones have
``meta/root/foo.array.json`` and ``data/root/foo/c0/0``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.model.chunk_keys import ChunkKeyEncoding

#: Characters of a name, at most.
LONGEST = 255
_NAME = re.compile(r"[A-Za-z0-9._-]{1,255}\Z")
_KEY = re.compile(r"[A-Za-z0-9/._-]+\Z")


def is_name(text: str) -> bool:
    """Whether `text` can be the name of a node: 1 to 255 of ``a-z A-Z 0-9 - _ .``, and not only dots."""
    return _NAME.match(text) is not None and text.strip(".") != ""


def check_name(text: str) -> None:
    """Raise E_USAGE where `text` is no name of a node."""
    if is_name(text):
        return
    raise RefbrowserError(
        ErrorKind.USAGE,
        f"{quoted(text)} is not a node name",
        advice=f"a name has 1 to {LONGEST} of a-z A-Z 0-9 - _ . and is not only dots",
    )


def parts_of(path: str) -> tuple[str, ...]:
    """Return the names along a path; none for the root, ``/``.

    Parameters
    ----------
    path
        Absolute; the leading ``/`` may be left out.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: a part is not a name.
    """
    inner = path.removeprefix("/")
    parts = tuple(inner.split("/")) if inner else ()
    for part in parts:
        check_name(part)
    return parts


def joined(parts: Iterable[str]) -> str:
    """Return the absolute path of the names along it."""
    return "/" + "/".join(parts)


def is_key(text: str) -> bool:
    """Whether `text` can be a key that this program writes: names and chunk identifiers between slashes."""
    return _KEY.match(text) is not None and all(part.strip(".") for part in text.split("/"))


def has_key_characters(text: str) -> bool:
    """Whether `text` has the characters of a key only (Store interface)."""
    return _KEY.match(text) is not None


def case_clashes(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of siblings whose names are equal when case is ignored, in the order of the second."""
    seen: dict[str, str] = {}
    clashes = []
    for name in names:
        first = seen.setdefault(name.lower(), name)
        if first != name:
            clashes.append((first, name))
    return clashes


#: The entry document of the drafts from March 2020 on.
ENTRY = "zarr.json"
METADATA, DATA = "meta", "data"
SEPARATORS = (".", "/", "-", "_")


class NodeKind(StrEnum):
    """What a metadata document describes; `IMPLIED` a group that has none."""

    ARRAY = "array"
    GROUP = "group"
    IMPLIED = "implied group"


@dataclass(frozen=True, slots=True)
class DraftKey:
    """What a metadata key describes.

    Attributes
    ----------
    path
        Of the node, absolute.
    """

    path: str
    kind: NodeKind


@dataclass(frozen=True, slots=True)
class KeyScheme:
    """How one age of the draft writes keys.

    Attributes
    ----------
    below
        What stands between ``meta`` or ``data`` and the path of a node.
    root
        Key of a root document without its ending.
    suffixes
        What may end metadata keys, after ``.array`` or ``.group``.
    """

    below: str
    root: str
    suffixes: tuple[str, ...]

    def metadata_key(self, path: str, kind: NodeKind) -> str:
        """Return the metadata key of an array or group.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: not the path of a node.
        """
        end = f".{'array' if kind is NodeKind.ARRAY else 'group'}{self.suffixes[0]}"
        parts = parts_of(path)
        return f"{METADATA}{self.below}{joined(parts)}{end}" if parts else f"{self.root}{end}"

    def children_prefix(self, path: str) -> str:
        """Return what the metadata keys of everything below a node begin with; ends in ``/``."""
        return f"{METADATA}{self.below}{_slashed(path)}"

    def data_prefix(self, path: str) -> str:
        """Return what the chunk keys of an array begin with; ends in ``/``."""
        return f"{DATA}{self.below}{_slashed(path)}"

    def parse(self, key: str) -> DraftKey | None:
        """Return what a metadata key describes, None where it is the key of no node.

        Exactly one ending is cut: ``meta/x.array.json.array.json`` is that of the array ``x.array.json``.
        """
        for kind in (NodeKind.ARRAY, NodeKind.GROUP):
            for suffix in self.suffixes:
                end = f".{kind}{suffix}"
                if key.endswith(end):
                    path = self._path(key.removesuffix(end))
                    return None if path is None else DraftKey(path, kind)
        return None

    def _path(self, stem: str) -> str | None:
        if stem == self.root:
            return "/"
        start = f"{METADATA}{self.below}/"
        parts = stem.removeprefix(start).split("/")
        if not stem.startswith(start) or not all(map(is_name, parts)):
            return None
        return joined(parts)


SCHEME_2019 = KeyScheme("", "root", (".json",))


def scheme_2020(suffix: str | None) -> KeyScheme:
    """Return the keys of the later drafts; without a suffix from the entry document the usual ones."""
    return KeyScheme("/root", f"{METADATA}/root", (".json", "") if suffix is None else (suffix,))


def _slashed(path: str) -> str:
    parts = parts_of(path)
    return f"{joined(parts)}/" if parts else "/"


@dataclass(frozen=True, slots=True)
class ChunkSpelling:
    """One way in which the chunk keys of an array may be written: what stands before them, and how."""

    prefix: str
    encoding: ChunkKeyEncoding


def spellings_2019(path: str, separator: Any, ndim: int) -> tuple[ChunkSpelling, ...]:
    """Return how the chunk keys of an array are written in the draft of 2019: the first is what we write.

    Raises
    ------
    RefbrowserError
        `E_META`: another separator than the known ones.
    """
    prefix = SCHEME_2019.data_prefix(path)
    usual = ChunkSpelling(prefix, ChunkKeyEncoding("v2", _separator(separator, ".")))
    # By the letter of the rule, the path of the root and the slash after it stand side by side.
    found = [usual, ChunkSpelling(f"{prefix}/", usual.encoding)] if path == "/" else [usual]
    if ndim == 0:
        # The identifier of a chunk without coordinates is the empty text.
        empty = ChunkKeyEncoding("v2", usual.encoding.separator, "")
        found += [ChunkSpelling(prefix, empty), ChunkSpelling(prefix.removesuffix("/"), empty)]
    return tuple(found)


def spellings_2020(path: str, separator: Any, ndim: int) -> tuple[ChunkSpelling, ...]:
    """Return how the chunk keys of an array are written in the later drafts, the most usual way first.

    Raises
    ------
    RefbrowserError
        `E_META`: another separator than the known ones.
    """
    prefix = scheme_2020(None).data_prefix(path)
    known = _separator(separator, "/")
    found = [ChunkSpelling(prefix, ChunkKeyEncoding("draft", known))]
    if ndim == 0:
        # zarr-python 2 writes c0, the text of the draft says c.
        found.append(ChunkSpelling(prefix, ChunkKeyEncoding("draft", known, "c")))
    if separator is None or ndim == 0:
        # Until September 2020 there was no c, and a separator was rarely written.
        found.append(ChunkSpelling(prefix, ChunkKeyEncoding("v2", _separator(separator, "."))))
    return tuple(found)


def _separator(value: Any, default: Any) -> Any:
    if value is None:
        return default
    if value not in SEPARATORS:
        raise RefbrowserError(
            ErrorKind.META,
            f"the separator {quoted(value)} of chunk keys is not one of {' '.join(SEPARATORS)}",
        )
    return value
