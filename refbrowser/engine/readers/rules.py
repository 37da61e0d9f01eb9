"""Rules of what readers make of features, and the readers themselves: data, all in ``rules.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from refbrowser.engine.readers.features import Features
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.versions import VersionRange
from refbrowser.errors import ErrorKind, RefbrowserError, quoted

_FILE = Path(__file__).with_name("rules.toml")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Remedy:
    """What makes an array readable: an export, or an edit of the document.

    Attributes
    ----------
    name
        By which rules name it.
    words
        What is done, as a sentence without its full stop.
    export
        The format that is written; empty where nothing is.
    options
        Of the export, by the names of its options.
    add
        Keys that are added to the document, with their JSON values.
    """

    name: str
    words: str
    export: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    add: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Through:
    """Another reader, by which a reader reads: what that one cannot read, this one cannot.

    Attributes
    ----------
    reader, version
        The other one.
    when
        Features, as patterns: only what has one of them is read so. Everything where there are none.
    is_alone
        What the other one reads by has no part in it.
    """

    reader: str
    version: str
    when: tuple[str, ...] = ()
    is_alone: bool = False

    def is_asked(self, features: Features) -> bool:
        """Return whether what has these features is read so."""
        return not self.when or any(matching(pattern, features) for pattern in self.when)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownReader:
    """Software that reads datasets.

    Attributes
    ----------
    name
        On the command line.
    title
        For people.
    versions
        That are shown, oldest first; the last one is taken where none is said.
    remedy
        What makes most things readable for it, where several remedies are needed.
    opens
        How it is called, for people.
    through
        The readers that it reads by.
    """

    name: str
    title: str
    versions: tuple[str, ...]
    remedy: str = ""
    opens: str = ""
    through: tuple[Through, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What versions of a reader make of features.

    Attributes
    ----------
    reader
        Its name.
    needs
        Patterns of features: the rule is about each that one of them fits.
    outcome
        What becomes of what has them.
    source
        A URL, or ``measured with`` and a version.
    versions
        Of the reader.
    also
        Patterns of features that have to be there, too.
    reason
        What the reader does, as a phrase that begins with a verb; empty where it decodes.
    remedy
        The name of what makes it readable.
    note
        The code under which audits tell it.
    """

    reader: str
    needs: tuple[str, ...]
    outcome: ReaderVerdict
    source: str
    versions: VersionRange = field(default_factory=VersionRange)
    also: tuple[str, ...] = ()
    reason: str = ""
    remedy: str = ""
    note: str = ""

    def concerned(self, features: Features) -> set[str]:
        """Return those of some features that the rule is about; none where it does not apply."""
        if not all(matching(pattern, features) for pattern in self.also):
            return set()
        return {found for pattern in self.needs for found in matching(pattern, features)}


def matching(pattern: str, features: Features) -> tuple[str, ...]:
    """Return the features that a pattern fits: a feature, or the beginning of one with ``*`` behind it."""
    if "*" not in pattern:
        return (pattern,) if pattern in features else ()
    return tuple(each for each in features if fnmatchcase(each, pattern))


@dataclass(frozen=True)
class RuleBook:
    """All that is known of readers.

    Attributes
    ----------
    readers, remedies
        By name, in the order of the file.
    """

    readers: Mapping[str, KnownReader]
    remedies: Mapping[str, Remedy]
    rules: tuple[Rule, ...]

    def of_reader(self, name: str, version: str) -> Iterator[Rule]:
        """Yield the rules of one version of a reader."""
        for rule in self.rules:
            if rule.reader == name and version in rule.versions:
                yield rule

    def reader(self, name: str) -> KnownReader:
        """Return the reader of a name.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is none.
        """
        found = self.readers.get(name.lower())
        if found is None:
            raise RefbrowserError(
                ErrorKind.USAGE,
                f"there is no reader {quoted(name)}",
                advice=f"known: {', '.join(self.readers)}",
            )
        return found


@cache
def rule_book() -> RuleBook:
    """Return what the file says; it is read once."""
    return parse_rules(tomllib.loads(_FILE.read_text("utf-8")))


def parse_rules(document: Mapping[str, Any]) -> RuleBook:
    """Return what a document says of readers.

    Raises
    ------
    RefbrowserError
        `E_SCHEMA`: a member is missing, unknown or wrong, or names something that is not there.
    """
    readers = {each.name: each for each in map(_reader, document.get("reader", ()))}
    remedies = {each.name: each for each in (_made(Remedy, each) for each in document.get("remedy", ()))}
    book = RuleBook(readers, remedies, tuple(map(_rule, document.get("rule", ()))))
    _check(book)
    return book


def _reader(said: Mapping[str, Any]) -> KnownReader:
    through = tuple(_made(Through, each) for each in said.get("through", ()))
    return _made(KnownReader, {**said, "through": through})


def _rule(said: Mapping[str, Any]) -> Rule:
    versions = VersionRange.of(said.get("versions", ""))
    return _made(Rule, {**said, "versions": versions, "outcome": ReaderVerdict(said.get("outcome", ""))})


def _made(kind: type[T], said: Mapping[str, Any]) -> T:
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    for name in said:
        if name not in known:
            raise _wrong(f"a {kind.__name__.lower()} has no member {quoted(name)}", said)
    for name, each in known.items():
        if name not in said and each.default is MISSING and each.default_factory is MISSING:
            raise _wrong(f"a {kind.__name__.lower()} lacks {quoted(name)}", said)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in said.items()})


def _check(book: RuleBook) -> None:
    """Raise where a name is that of nothing, or a rule does not say why."""
    for reader in book.readers.values():
        for each in reader.through:
            if each.reader not in book.readers:
                raise _wrong(f"there is no reader {quoted(each.reader)}", {"reader": reader.name})
    for rule in book.rules:
        if rule.reader not in book.readers:
            raise _wrong(f"there is no reader {quoted(rule.reader)}", {"needs": rule.needs})
        if (rule.outcome is ReaderVerdict.DECODES) == bool(rule.reason):
            raise _wrong(
                "a rule says why, unless values are read", {"reader": rule.reader, "needs": rule.needs}
            )
    named = {rule.remedy for rule in book.rules} | {reader.remedy for reader in book.readers.values()}
    if missing := named - set(book.remedies) - {""}:
        raise _wrong(f"there is no remedy {quoted(min(missing))}", {})


def _wrong(message: str, said: Mapping[str, Any]) -> RefbrowserError:
    about = f": {quoted(str(dict(said)))}" if said else ""
    return RefbrowserError(ErrorKind.SCHEMA, f"rules of readers: {message}{about}")
