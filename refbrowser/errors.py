"""One family of errors: what happened, where, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

#: Foreign text inside a message is cut at this many characters.
QUOTE_LIMIT = 120


class Outcome(StrEnum):
    """How a command ends: the word that its JSON has for it, each with an exit code."""

    OK = "ok"
    INTERNAL = "internal"
    INPUT = "input"
    USAGE = "usage"
    NOT_INSTALLED = "not-installed"
    DIFFERS = "differs"
    PERMISSION = "permission"
    FAILED = "failed"
    NOT_COMPARED = "not-compared"
    NOT_FOUND = "not-found"
    EXISTS = "exists"
    NO_DISPLAY = "no-display"
    INTERRUPTED = "interrupted"
    CLOSED = "closed"
    TERMINATED = "terminated"

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return EXIT_CODES[self]


#: The one table of exit codes; the manual's page on the command line lists the same.
EXIT_CODES = {
    Outcome.OK: 0,
    Outcome.INTERNAL: 1,
    Outcome.INPUT: 2,
    Outcome.USAGE: 2,
    Outcome.NOT_INSTALLED: 2,
    Outcome.DIFFERS: 2,
    Outcome.PERMISSION: 3,
    Outcome.FAILED: 4,
    Outcome.NOT_COMPARED: 5,
    Outcome.NOT_FOUND: 6,
    Outcome.EXISTS: 7,
    Outcome.NO_DISPLAY: 8,
    Outcome.INTERRUPTED: 130,
    Outcome.CLOSED: 141,
    Outcome.TERMINATED: 143,
}


class ErrorKind(StrEnum):
    """The kinds of error, with the exit code that each gives on the command line."""

    JSON = "E_JSON"
    ENCODING = "E_ENCODING"
    FORMAT = "E_FORMAT"
    SCHEMA = "E_SCHEMA"
    TEMPLATE = "E_TEMPLATE"
    REF = "E_REF"
    BUDGET = "E_BUDGET"
    META = "E_META"
    DECODE = "E_DECODE"
    UNSAFE = "E_UNSAFE"
    PROTOCOL = "E_PROTOCOL"
    USAGE = "E_USAGE"
    BLOCKED = "E_BLOCKED"
    SOURCE = "E_SOURCE"
    RANGE = "E_RANGE"
    IO = "E_IO"

    @property
    def outcome(self) -> Outcome:
        """How a command ends with an error of this kind, unless its class says more."""
        if self is ErrorKind.BLOCKED:
            return Outcome.PERMISSION
        if self in (ErrorKind.SOURCE, ErrorKind.RANGE, ErrorKind.IO):
            return Outcome.FAILED
        return Outcome.USAGE if self is ErrorKind.USAGE else Outcome.INPUT

    @property
    def exit_code(self) -> int:
        """The exit code of the process: 2 bad input, 3 permission needed, 4 source or disk failing."""
        return self.outcome.exit_code


class Severity(StrEnum):
    """How bad a finding is: a fault cannot be read, a warning can."""

    FAULT = "fault"
    WARNING = "warning"


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def quoted(text: object, limit: int = QUOTE_LIMIT) -> str:
    """Return foreign text quoted, escaped and cut, fit for a message or a terminal line."""
    plain = str(text)
    cut = plain[:limit]
    shown = cut if cut.isprintable() else "".join(map(_escaped, cut))
    return f"'{shown}…'" if len(plain) > limit else f"'{shown}'"


def sentence(message: str, advice: str, place: object) -> str:
    """Return ``what; advice (where)``."""
    # Advice may be a sentence of its own: here it goes on after the message.
    line = f"{message}; {advice[0].lower()}{advice[1:].removesuffix('.')}" if advice else message
    return f"{line} ({place})" if place else line


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something is: in a document, in a rule, under a key, in a file.

    Lines and columns count from 1, columns in characters: of the document, or where there is a key and no
    pointer, of the text of that key. Rows and rules count from 0; `start` and `stop` are bytes of `url`;
    `span` is the part of the text of a template or field, in characters (start, stop); `attribute` is one of
    the node at `path`.
    """

    document: str | None = None
    pointer: str | None = None
    line: int | None = None
    column: int | None = None
    rule: int | None = None
    field: str | None = None
    row: int | None = None
    key: str | None = None
    path: str | None = None
    url: str | None = None
    start: int | None = None
    stop: int | None = None
    span: tuple[int, int] | None = None
    attribute: str | None = None

    @property
    def is_in_document(self) -> bool:
        """Whether line and column are those of the document."""
        return self.pointer is not None or self.key is None

    def __str__(self) -> str:
        parts = []
        if self.document is not None:
            parts.append(quoted(self.document))
        if self.line is not None and self.is_in_document:
            parts.append(f"line {self.line}, column {self.column}")
        for name in ("pointer", "rule", "field", "row", "path", "attribute", "key", "url"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name} {quoted(value) if isinstance(value, str) else value}")
        if self.line is not None and not self.is_in_document:
            parts.append(f"character {self.column} of its line {self.line}")
        if self.start is not None:
            parts.append(f"bytes {self.start} to {'the end' if self.stop is None else self.stop}")
        return ", ".join(parts)

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))


NOWHERE = Place()


#: Options that are given or not.
_SWITCHES = {"force", "resume", "skip_bad", "yes", "relative", "merge", "sort"}
#: An option of the command line, and its value: a name in capitals, a number, a path or what is quoted.
_OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?: ((?:[A-Z0-9/'{]|[a-z]+[=:])[^\s;)]*))?")


def _in_python(advice: str) -> str:
    """Return advice in the words of the Python API: ``--resume`` is ``resume=True`` there."""
    if "in Python" in advice or "refbrowser " in advice:
        return advice

    def keyword(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        value: str | bool = found[2].strip("'") if found[2] else True
        return f"{name}={value!r}" if found[2] or name in _SWITCHES else name

    return _OPTION.sub(keyword, advice)


class RefbrowserError(Exception):
    """Anything that refbrowser reports: a kind, what happened, where, and advice.

    Parameters
    ----------
    kind
        Decides the exit code of the command line.
    message
        What happened, in one sentence without a full stop; foreign text in it went through `quoted`.
    place
        Where it happened.
    advice
        What the user can do, where there is something.
    """

    def __init__(self, kind: ErrorKind, message: str, place: Place = NOWHERE, advice: str = "") -> None:
        # Not by `super`: what is an error of the system too would take these for its own.
        Exception.__init__(self, kind, message, place, advice)
        self.kind = kind
        self.message = message
        self.place = place
        self.advice = advice
        if advice:
            self.add_note(_in_python(advice))  # a traceback of Python shows it below the message

    @property
    def outcome(self) -> Outcome:
        """How a command ends with it."""
        return self.kind.outcome

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.message}{where}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.kind, self.message, self.place, self.advice), dict(self.__dict__)

    def at(self, place: Place) -> RefbrowserError:
        """Return this error with another place."""
        return RefbrowserError(self.kind, self.message, place, self.advice)


def _again(
    cls: type[RefbrowserError], kind: ErrorKind, message: str, place: Place, advice: str
) -> RefbrowserError:
    """Return an error that was pickled, whatever its class is made of."""
    error = cls.__new__(cls)
    RefbrowserError.__init__(error, kind, message, place, advice)
    return error


def usage_error(message: str, advice: str = "") -> RefbrowserError:
    """Return the error of something that was asked for and cannot be meant."""
    return RefbrowserError(ErrorKind.USAGE, message, advice=advice)


class DistinctError(RefbrowserError):
    """An error that is asked for by its class, which it keeps wherever it is told."""

    def at(self, place: Place) -> RefbrowserError:
        """Return this error with another place."""
        return type(self)(self.kind, self.message, place, self.advice)


class AbsentError(DistinctError):
    """What was to be read is not there: no such file, or the server says that it has no such object.

    In a store that is a chunk that was never written; anywhere else it is an error like others.
    """

    outcome = Outcome.NOT_FOUND


class TargetExistsError(DistinctError):
    """There is something in the place of what is to be written, and nobody said to replace it."""

    outcome = Outcome.EXISTS


class NotInstalledError(DistinctError):
    """A package or a library of the system is needed that is not installed."""

    outcome = Outcome.NOT_INSTALLED


class NoDisplayError(DistinctError):
    """There is no display to open a window on."""

    outcome = Outcome.NO_DISPLAY


class RefusedError(DistinctError):
    """The server does not say whether there is such an object: it may not be read (status 401 or 403)."""


class NotPermittedError(DistinctError):
    """The system does not let this user read or write a file."""


class OversizeError(DistinctError):
    """A whole object is larger than what was to be read of it at most; it was not read."""


class ChangedError(DistinctError):
    """A file or object is another one than when the document was opened: it has to be opened again."""


class SpareCommaError(DistinctError):
    """A JSON text has a comma before a closing bracket; without it there may be nothing wrong."""


class StaleError(DistinctError):
    """A file is not the one of the lock, and such files are not to be read."""


class NotHeldError(DistinctError):
    """A format has no form for the elements of an array, whatever its options are but those of the advice."""


# Errors that programs get are those of Python, too. Inside they are not: whoever handles errors of the system
# there does not mean what was found about a dataset.


class MissingFileError(AbsentError, FileNotFoundError):
    """What was to be read is not there."""


class DeniedFileError(RefusedError, PermissionError):
    """The server does not let this user read an object."""


class LockedFileError(NotPermittedError, PermissionError):
    """The system does not let this user read or write a file."""


class BlockedPlaceError(DistinctError, PermissionError):
    """A place was not allowed: nothing is read from there."""


class ExistingFileError(TargetExistsError, FileExistsError):
    """There is something in the place of what is to be written."""


_BUILT_IN: dict[type[RefbrowserError], type[RefbrowserError]] = {
    AbsentError: MissingFileError,
    RefusedError: DeniedFileError,
    NotPermittedError: LockedFileError,
    TargetExistsError: ExistingFileError,
}


@contextmanager
def native_errors() -> Iterator[None]:
    """Raise errors that Python has a class for as that, too; also as the decorator of a function."""
    try:
        yield
    except RefbrowserError as error:
        made = _BUILT_IN.get(type(error))
        if made is None and type(error) is RefbrowserError and error.kind is ErrorKind.BLOCKED:
            made = BlockedPlaceError
        if made is None:
            raise
        native = made(error.kind, error.message, error.place, error.advice)
        raise native.with_traceback(error.__traceback__) from error.__cause__
