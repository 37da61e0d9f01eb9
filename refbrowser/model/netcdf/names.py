r"""Names and fully qualified names of the NCZarr data model, with their escapes.

A name is any text without control characters (the seed's prose, which is wider than its character list).
A fully qualified name (FQN) is ``/`` and the names from the root down, joined by ``/``; in them ``/``, ``\``
and a blank are written ``\/``, ``\\`` and ``\ `` ("Fully Qualified Names").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

#: Path of a node or dimension: the names from the root down, without escapes.
Parts = tuple[str, ...]

#: Bytes of the longest name that netcdf-c takes.
LONGEST_NAME = 256

_ESCAPED = re.compile(r"[/\\ ]")
_ESCAPE = re.compile(r"\\([/\\ ])")
#: A name within an FQN: an escape pair is skipped as a whole, so that ``\\/`` ends one.
_PART = re.compile(r"(?:\\[/\\ ]|[^/])*", re.DOTALL)


def escape(name: str) -> str:
    r"""Return a name as it stands in an FQN.

    >>> escape("b\\k")
    'b\\\\k'
    """
    return _ESCAPED.sub(lambda match: "\\" + match[0], name)


def unescape(text: str) -> str:
    """Return the name that a part of an FQN stands for.

    A backslash at the end, or before any other character, stands for itself.
    """
    return _ESCAPE.sub(lambda match: match[1], text)


def join(parts: Sequence[str]) -> str:
    """Return the FQN of the names from the root down; ``/`` of none."""
    return "/" + "/".join(map(escape, parts))


def split(fqn: str) -> Parts:
    r"""Return the names in an FQN, from the root down; it is split at every ``/`` without escape.

    Raises
    ------
    RefbrowserError
        `META`: it does not begin with ``/``, or a name in it is empty.
    """
    if fqn == "/":
        return ()
    parts = _raw_parts(fqn[1:])
    if not fqn.startswith("/") or "" in parts:
        raise RefbrowserError(ErrorKind.META, f"{quoted(fqn)} is not a fully qualified name")
    return tuple(map(unescape, parts))


def plain_path(parts: Sequence[str]) -> str:
    """Return a path without escapes, as netcdf-c stores it and `ArrayNode.dimension_paths` has it."""
    return "/" + "/".join(parts)


def resolve(reference: str, group: Parts, declared: Container[Parts]) -> Parts | None:
    """Return which declared dimension a reference means, or None.

    The text is first taken as it stands, which is what writers in the field mean, then with its escapes
    undone. One that does not begin with ``/`` is looked for in its group, then in the groups around it.

    Parameters
    ----------
    reference
        An FQN, or a name.
    group
        Where the reference stands.
    declared
        The dimensions that there are.
    """
    if reference.startswith("/"):
        return next((parts for parts in _readings(reference[1:]) if parts in declared), None)
    for reading in (reference,), (unescape(reference),):
        for depth in range(len(group), -1, -1):
            if (*group[:depth], *reading) in declared:
                return (*group[:depth], *reading)
    return None


def name_fault(name: str) -> str | None:
    """Return why a text is no name of the data model, or None."""
    if not name:
        return "a name is empty"
    if min(name) < " ":
        return f"the name {quoted(name)} holds a control character"
    try:
        name.encode()
    except UnicodeEncodeError:
        return f"the name {quoted(name)} is not Unicode text"
    return None


def name_refused(name: str) -> str | None:
    """Return why netcdf-c does not take a name that the data model allows, or None."""
    size = len(unicodedata.normalize("NFC", name).encode("utf-8", "replace"))
    if size > LONGEST_NAME:
        return f"the name {quoted(name)} has {size} bytes; netCDF takes {LONGEST_NAME}"
    if "/" in name or "\x7f" in name:
        return f"the name {quoted(name)} holds {'/' if '/' in name else 'the control character DEL'}"
    if name.endswith(" "):
        return f"the name {quoted(name)} ends with a blank"
    if name[:1] < "\x7f" and not name[:1].isalnum() and name[:1] != "_":
        return f"the name {quoted(name)} begins with {quoted(name[:1])}"
    return None


class FreeNames:
    """Gives names that nothing else in a group has.

    Parameters
    ----------
    taken
        The names that are in use.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        #: The next number to try for each name that was wished for.
        self._numbers: dict[str, int] = {}

    def take(self, wish: str) -> str:
        """Return the name wished for, with a number where it is in use, and take it."""
        name = wish
        while name in self._taken:
            number = self._numbers.get(wish, 2)
            self._numbers[wish] = number + 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name

    def add(self, name: str) -> None:
        """Take a name that came into use elsewhere."""
        self._taken.add(name)


def _raw_parts(text: str) -> list[str]:
    """Return what lies between the slashes without escape, escapes kept."""
    parts = []
    position = 0
    while position <= len(text):
        end = _end_of_part(text, position)
        parts.append(text[position:end])
        position = end + 1
    return parts


def _end_of_part(text: str, start: int) -> int:
    match = _PART.match(text, start)
    return len(text) if match is None else match.end()


def _readings(text: str) -> Iterator[Parts]:
    """Yield what an FQN without its leading slash can mean, the likeliest first."""
    yield tuple(text.split("/"))
    raw = _raw_parts(text)
    yield tuple(raw)
    yield tuple(map(unescape, raw))
