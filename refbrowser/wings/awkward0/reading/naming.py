"""Names of arrays: what the members of a container tell of them, and the paths that they are shown under."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import takewhile

from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import METADATA_NAMES

#: What the schema of each array ends with, unless another suffix was asked for.
SCHEMA_ENDING = ".json"
#: The schema of a group of HDF5.
SCHEMA_DATASET = "schema.json"
#: What an array without a name is called.
NAMELESS = "array"
#: What stands between a name and the numbers of its blobs, most likely: no letter and no digit.
_DELIMITER = re.compile(r"\W+\Z")
#: What an empty part is written as, and the beginning of a character that is escaped.
_ESCAPE, _SLASH = "%", "%2F"
_HEX = re.compile(r"%([0-9A-F]{2})")
#: Characters that are escaped: those that no line of text shows, and what looks like an escape.
_ODD = re.compile(r"[\x00-\x1f\x7f]|%(?=[0-9A-F]{2}|\Z)")
_RESERVED = METADATA_NAMES | {".", ".."}
#: Names of buffers: ``node12-counts``.
_BUFFER = re.compile(r"nodex?[0-9]+-")
_MOST_PARTS = LIMITS.group_nesting // 4
#: Characters that are kept of a name that is too long for a key.
_CUT = 200


@dataclass(frozen=True, slots=True)
class SchemaName:
    """What the name of a schema's member and the prefix in it tell.

    Attributes
    ----------
    array
        Name of the array, as a listing of the container gives it.
    base
        What stands before the names in the schema: the folder that the files were put into, with a ``/`` at
        its end; empty for none.
    """

    array: str
    base: str = ""


def schema_name(member: str, prefix: str) -> SchemaName:
    """Return the name of the array whose schema is stored under `member`.

    The array's name is what the member and the prefix of its blobs begin with; the rest are delimiters and
    suffixes, which stand nowhere (persistence notes, section 5, "ZIP").
    """
    base, rest = _without_base(member, prefix)
    name = _name_in_folder(rest, prefix)
    return SchemaName(base + name if name else base.rstrip("/"), base)


def _name_in_folder(member: str, prefix: str) -> str:
    if member.rpartition("/")[2] == SCHEMA_DATASET and prefix == member[: -len(SCHEMA_DATASET)]:
        return prefix.rstrip("/")
    common = _common(member, prefix)
    if common == prefix:
        # The suffix of schemas begins as the delimiter does: ``one-`` and ``one-schema``.
        common = _DELIMITER.sub("", common)
    if member.endswith(SCHEMA_ENDING):
        stem = member[: -len(SCHEMA_ENDING)]
        # Another suffix may end so, too: ``one.schema.json`` of ``one-``.
        is_longer = common and not prefix.startswith(stem) and not stem[len(common)].isalnum()
        return common if is_longer else stem
    return common


def _common(one: str, other: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one[: sum(1 for _ in same)]


def _without_base(member: str, prefix: str) -> tuple[str, str]:
    """Return the folder that all names in a schema are below, and the member's name in that."""
    base = ""
    while True:
        rest = member[len(base) :]
        folder = rest[: rest.rfind("/") + 1]
        if prefix.startswith(folder):
            return base, rest
        base += rest[: rest.index("/") + 1]


def array_paths(names: Iterable[str]) -> list[str]:
    """Return the paths that arrays are shown under, one for each name; none is the same as or below another.

    What no key can hold is escaped as in URLs (`name_of_path` undoes it); a name that is taken gets a number.
    """
    wanted = [_parts(name) for name in names]
    whole = {"/".join(parts) for parts in wanted}
    paths: dict[str, None] = {}
    for parts in wanted:
        is_below = any("/".join(parts[:count]) in whole for count in range(1, len(parts)))
        joined = (_SLASH if is_below else "/").join(parts)
        paths[first_free(f"/{joined}", paths)] = None
    return list(paths)


def first_free(path: str, taken: Container[str]) -> str:
    """Return a path, with the first number behind it that makes it one of its own."""
    found, number = path, 1
    while found in taken:
        number += 1
        found = f"{path}-{number}"
    return found


def name_of_path(path: str) -> str:
    """Return the name that a path was made from, where it was not cut and needed no number."""
    parts = path.removeprefix("/").split("/")
    return "/".join("" if part == _ESCAPE else _HEX.sub(_unescaped, part) for part in parts)


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _parts(name: str) -> list[str]:
    if not name:
        return [NAMELESS]
    parts = [escaped_part(part) for part in name.split("/")]
    if len(parts) > _MOST_PARTS:
        parts = [_SLASH.join(parts)]
    if sum(map(len, parts)) > LIMITS.key_length // 2:
        return [_SLASH.join(parts)[:_CUT]]
    return parts


def escaped_part(part: str) -> str:
    """Return a part of a name as a part of keys."""
    if not part:
        return _ESCAPE
    kept = _ODD.sub(lambda found: f"%{ord(found[0]):02X}", part)
    if part in _RESERVED or _BUFFER.match(part):
        return f"%{ord(part[0]):02X}{kept[1:]}"
    return kept
