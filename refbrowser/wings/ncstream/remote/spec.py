"""How a request of CDM Remote names sections, and the URLs of a service (wire notes, section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.io.origins import http_url
from refbrowser.limits import LIMITS

#: What a backslash precedes in a request.
_RESERVED = re.compile(r"([\\.();,])")
#: What ends a name: a section, or the next name. Servers part names by semicolons, siphon by commas.
_ENDS = re.compile(r"[(;,]")
_DIMENSION = re.compile(r"\s*([0-9]{1,19})(?:\s*:\s*([0-9]{1,19})(?:\s*:\s*([0-9]{1,19}))?)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class SectionRequest:
    """A variable, and what is wanted of it.

    Attributes
    ----------
    path
        Absolute, without escapes (``/ocean/temp``).
    axes
        A range for each dimension, None for all of one; None where all of the variable is wanted.
    """

    path: str
    axes: tuple[range | None, ...] | None = None

    def ranges(self, shape: Sequence[int], *, is_ragged: bool = False) -> tuple[range, ...]:
        """Return the elements that are wanted of a variable of a shape, one range an axis.

        Parameters
        ----------
        is_ragged
            The variable has one more dimension, of variable length, of which only all can be wanted.

        Raises
        ------
        RefbrowserError
            `E_RANGE`: the section does not fit the shape.
        """
        axes = self.axes if self.axes is not None else (None,) * len(shape)
        if is_ragged and len(axes) == len(shape) + 1 and axes[-1] is None:
            axes = axes[:-1]
        if len(axes) != len(shape):
            raise self._unfit(f"the section has {len(axes)} dimensions, the variable {len(shape)}")
        for number, (axis, length) in enumerate(zip(axes, shape, strict=True)):
            if axis is not None and axis[-1] >= length:
                raise self._unfit(f"index {axis[-1]} of dimension {number} is not below {length}")
        return tuple(
            range(length) if axis is None else axis for axis, length in zip(axes, shape, strict=True)
        )

    def _unfit(self, message: str) -> RefbrowserError:
        return RefbrowserError(ErrorKind.RANGE, message, Place(path=self.path))


def escaped(path: str) -> str:
    """Return the path of a variable as requests write it."""
    return _RESERVED.sub(r"\\\1", path)


def spec_of(path: str, ranges: Sequence[range] = (), *, is_ragged: bool = False) -> str:
    """Return what asks for a section of a variable; all of it where there are no ranges.

    Parameters
    ----------
    path
        Absolute, without escapes.
    ranges
        With positive steps; none of them empty.
    is_ragged
        All of a further dimension, of variable length, is wanted.
    """
    dimensions = [_written(taken) for taken in ranges]
    if not dimensions:
        return escaped(path)
    return f"{escaped(path)}({','.join([*dimensions, ':'] if is_ragged else dimensions)})"


def _written(taken: range) -> str:
    text = f"{taken[0]}:{taken[-1]}"
    return text if taken.step == 1 or len(taken) == 1 else f"{text}:{taken.step}"


def spellings_of(paths: Iterable[str]) -> dict[str, str]:
    """Return each way in which a request may name one of these variables, and its path.

    With escapes and, as siphon does, without; with a ``/`` at the beginning and without.
    """
    known = list(paths)
    found: dict[str, str] = {}
    for path in known:
        for name in (escaped(path), path):
            found.setdefault(name, path)
            found.setdefault(name.removeprefix("/"), path)
    # What one is called rightly is not another one's without escapes.
    return found | {escaped(path): path for path in known}


def requests_in(text: str, spellings: Mapping[str, str]) -> list[SectionRequest]:
    """Return what the value of ``var`` in a request asks for.

    Parameters
    ----------
    spellings
        Of `spellings_of`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is malformed; `NoSuchVariableError`: no variable has that name.
    """
    longest = max(map(len, spellings), default=0)
    found = []
    at = 0
    while at <= len(text):
        stop = _end_of_name(text, at, spellings, longest)
        path, axes, at = spellings[text[at:stop]], None, stop
        if text[at : at + 1] == "(":
            close = text.find(")", at)
            if close < 0:
                raise _malformed(f"{quoted(text[at:])} has no closing parenthesis")
            axes, at = _axes(text[at + 1 : close]), close + 1
        if text[at : at + 1] not in ("", ";", ","):
            raise _malformed(f"{quoted(text[at:])} follows a section")
        found.append(SectionRequest(path, axes))
        at += 1
    return found


class NoSuchVariableError(RefbrowserError):
    """A request names a variable that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(ErrorKind.USAGE, f"there is no variable {quoted(name)}")


def _end_of_name(text: str, at: int, spellings: Mapping[str, str], longest: int) -> int:
    """Return where the longest known name ends that stands at a place of a request."""
    for stop in reversed(list(_ends(text, at, at + longest))):
        if text[at:stop] in spellings:
            return stop
    name = _ENDS.split(text[at:], maxsplit=1)[0]
    raise NoSuchVariableError(name) if name else _malformed("a name is missing")


def _ends(text: str, at: int, last: int) -> Iterator[int]:
    """Yield where a name that begins at a place may end, at `last` at the latest."""
    for found in _ENDS.finditer(text, at, last + 1):
        yield found.start()
    if len(text) <= last:
        yield len(text)


def _axes(text: str) -> tuple[range | None, ...] | None:
    if not text.strip():
        return None
    parts = text.split(",", LIMITS.rank + 1)
    if len(parts) > LIMITS.rank + 1:
        raise _malformed(f"a section has more than {LIMITS.rank} dimensions")
    return tuple(_axis(part) for part in parts)


def _axis(text: str) -> range | None:
    if text.strip() == ":":
        return None
    match = _DIMENSION.fullmatch(text)
    if match is None:
        raise _malformed(f"{quoted(text)} is not one of i, first:last, first:last:stride and :")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    step = 1 if match[3] is None else int(match[3])
    if last < first or step < 1:
        raise _malformed(
            f"{quoted(text)} selects nothing: write first:last, with last included, and a stride from 1"
        )
    return range(first, last + 1, step)


def _malformed(message: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message)


#: What a query holds as it is; nothing in it may be taken for a chain of URLs (``::``).
_PLAIN = "/(),:"


def endpoint_of(path: str) -> str:
    """Return the http URL that requests are sent to; a request in what was named is left out."""
    url, _, query = http_url(path).partition("#")[0].partition("?")
    kept = [part for part in query.split("&") if part and part.partition("=")[0].lower() not in _OWN]
    return f"{url}?{'&'.join(kept)}" if kept else url


#: Parameters of requests.
_OWN = frozenset({"req", "var", "deflate"})


def header_url(endpoint: str) -> str:
    """Return the URL of the description of the dataset."""
    return _asking(endpoint, "req=header")


def data_url(endpoint: str, path: str, ranges: Sequence[range], *, is_ragged: bool = False) -> str:
    """Return the URL of a section of a variable, given by its absolute path without escapes."""
    spec = spec_of(path, ranges, is_ragged=is_ragged)
    return _asking(endpoint, f"req=data&var={_colons(quote(spec, safe=_PLAIN))}")


def _asking(endpoint: str, query: str) -> str:
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def _colons(text: str) -> str:
    return text.replace("::", "%3A%3A")
