"""Names and paths of nodes in the v3 drafts (draft of 2019, Node names)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

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
