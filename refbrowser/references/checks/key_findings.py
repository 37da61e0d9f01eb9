"""Keys that some file systems cannot tell apart, and keys that are file and folder at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import numpy as np

from refbrowser.references.document.chunk_code import BITS, Group, join_key, pack, split_key, unpack_many
from refbrowser.references.document.refs import References


def folded(text: str) -> str:
    """Return the form that is equal for texts which differ only in case or normalisation."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def equal_keys(refs: References) -> Iterator[tuple[str, str]]:
    """Yield keys that differ from an earlier one only in case or normalisation, with that earlier one."""
    seen: dict[str, str] = {}
    for key, _ in refs.odd_keys():
        earlier = seen.setdefault(folded(key), key)
        if earlier != key:
            yield key, earlier
    groups: dict[Group, Group] = {}
    for group in _groups(refs):
        earlier_group = groups.setdefault((folded(group[0]), group[1]), group)
        if earlier_group != group:
            yield from _equal_chunks(refs, group, earlier_group)


def _groups(refs: References) -> list[Group]:
    found = dict.fromkeys(refs.table.groups[1:])
    for patch in (*refs.replaced.values(), *refs.appended.values()):
        parts = split_key(patch.key)
        if parts is not None and pack(parts[1]) is not None:
            found[parts[0]] = None
    return list(found)


def _equal_chunks(refs: References, group: Group, earlier: Group) -> Iterator[tuple[str, str]]:
    both = [refs.table.rows_of(one) for one in (group, earlier)]
    if both[0] is None or both[1] is None:
        return
    codes = [rows.codes(refs.table.code) for rows in both if rows is not None]
    for code in np.intersect1d(codes[0], codes[1]).tolist():
        key, other = join_key(group, code), join_key(earlier, code)
        if refs.find_slot(key) is not None and refs.find_slot(other) is not None:
            yield key, other


def files_that_are_folders(refs: References) -> Iterator[str]:
    """Yield keys below which other keys stand."""
    folders: dict[str, None] = {}
    groups = _groups(refs)
    for group in groups:
        _note_folders(group[0], folders)
    odd = dict(refs.odd_keys())
    for key in odd:
        _note_folders(key[: key.rfind("/") + 1], folders)
    for folder in folders:
        if folder in odd or (split_key(folder) is not None and refs.find_slot(folder) is not None):
            yield folder
    for group in groups:
        if group[1] == "/":
            yield from _shorter_chunks(refs, group)


def _note_folders(path: str, folders: dict[str, None]) -> None:
    """Note the folder that `path` (ending in ``/``) is, and those above it."""
    while path:
        path = path[:-1]
        if path in folders:
            return
        folders[path] = None
        path = path[: path.rfind("/") + 1]


def _shorter_chunks(refs: References, group: Group) -> Iterator[str]:
    """Yield chunk keys ``a/0`` of a group that has ``a/0/1`` too."""
    rows = refs.table.rows_of(group)
    if rows is None:
        return
    codes = rows.codes(refs.table.code)
    # They rise, and the number of coordinates stands on top.
    if not len(codes) or codes[0] >> np.uint64(BITS) == codes[-1] >> np.uint64(BITS):
        return
    # Not `np.unique`, which imports masked arrays: each command that looks for findings would load them.
    sizes = np.flatnonzero(np.bincount((codes >> np.uint64(BITS)).astype(np.intp))).tolist()
    for longer in sizes:
        columns = unpack_many(codes[codes >> np.uint64(BITS) == longer], int(longer))
        for shorter in sizes:
            if shorter >= longer:
                break
            heads = np.unique(np.stack(columns[: int(shorter)], axis=1), axis=0)
            for coords in heads.tolist():
                key = group[0] + "/".join(map(str, coords))
                if refs.find_slot(key) is not None:
                    yield key
