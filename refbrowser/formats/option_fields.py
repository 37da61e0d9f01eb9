"""Options: each is one field, from which the API, the command line, dialogs and the manual follow.

An option is a field of a dataclass whose metadata is `option(...)`: what it is called on the command line,
what is said of it, and how a dialog asks for it. `documented` writes the docstring.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum, auto
from inspect import cleandoc
from typing import Any, TypeVar

from refbrowser.errors import ErrorKind, RefbrowserError, quoted

_KEY = "option"
#: The metadata of a field whose value is a group of options of its own.
OPTIONS_WITHIN = {"options": "within"}
#: Letters in a line of the documentation of the API.
_WIDTH = 105


class Kind(Enum):
    """What an option takes, and how a dialog asks for it."""

    #: A text in a line.
    TEXT = auto()
    #: An integer in a field of numbers.
    NUMBER = auto()
    #: One of several values.
    CHOICE = auto()
    #: One of several texts, or one's own; the command line takes it several times.
    TEXTS = auto()
    #: Yes or no, a tick; the command line has a word for what is not usual.
    TICK = auto()
    #: Yes, no, or neither; the command line has a word for each.
    EITHER = auto()
    #: The shape or the size of chunks.
    SIDES = auto()
    #: A codec of the table, and its level.
    CODEC = auto()
    #: Of single arrays, in their table; the command line takes ``PATH=TEXT`` several times.
    ARRAYS = auto()


@dataclass(frozen=True, slots=True)
class Item:
    """One of the values that a dialog offers.

    Attributes
    ----------
    text
        As the command line takes it; empty where nothing is said. ``{name}`` stands for the name of the
        target without its suffixes.
    title
        In the list.
    why
        A sentence that is shown while it is chosen.
    sets
        Another option of the same group, a yes or no, that is set instead.
    formats
        That have it; all that have the option where empty.
    """

    text: str
    title: str
    why: str = ""
    sets: str = ""
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """Another option of the same group has this value, else the option means nothing.

    Attributes
    ----------
    message, advice
        Of the error where it is said all the same.
    """

    option: str
    value: Any
    message: str
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What is said of one option; its name, its type and its usual value are those of its field.

    Attributes
    ----------
    flag
        Its name on the command line. Options of several groups may share one.
    short
        Another name there, of one letter: ``-o``.
    help
        On the command line and in the manual; called for it where it takes long to tell.
    about
        In the documentation of the API, where more is to be said than `help` says.
    heading
        Below which the help of the command line lists it; among the first ones where empty.
    needed
        The command line asks for it, although its field has a usual value.
    kind
        What it takes.
    metavar
        What the command line calls its value.
    many
        Of texts: the command line takes several at once.
    means
        What the flag alone sets, where it takes no value.
    parse
        Makes the value of a text, or raises `E_USAGE`.
    limits, unit
        Of a number: the lowest and the highest one, and what it counts.
    title
        In the dialog, as a tooltip names it; a dialog does not ask for an option without one.
    label
        In the dialog, with ``&`` before the letter that leads to it; the title where empty.
    widget
        The name of what asks for it; made of the names of its group and field where empty.
    place
        Row and column (0 or 1) in the dialog; behind all that have one where None.
    is_wide
        It takes both columns.
    items
        That a dialog offers.
    values
        Returns what a shell offers, where `items` do not say it.
    hint, tip
        In an empty field, and in a tooltip.
    keep
        Of sides: what stands for those of the source.
    formats
        That have it; all of its group where empty.
    otherwise
        What is said where a format does not have it, or `needs` is not so: no full stop.
    needs
        What another option has to be.
    follows
        Of a tick: another option, and its value at which the tick is set.
    decides
        Of opening: what is named is of the format that has it, whatever it looks like.
    names_place
        Of opening: its value is a path or URL, which may be read as the user names it.
    """

    flag: str
    help: str | Callable[[], str]
    short: str = ""
    about: str = ""
    heading: str = ""
    needed: bool = False
    kind: Kind = Kind.TEXT
    metavar: str = ""
    many: bool = False
    means: Any = None
    parse: Callable[[str], Any] | None = None
    limits: tuple[int, int] = (0, 2**31 - 1)
    unit: str = ""
    title: str = ""
    label: str = ""
    widget: str = ""
    place: tuple[int, int] | None = None
    is_wide: bool = False
    items: tuple[Item, ...] = ()
    values: Callable[[], Iterable[str]] | None = None
    hint: str = ""
    tip: str = ""
    keep: str = ""
    formats: tuple[str, ...] = ()
    otherwise: str = ""
    needs: Needs | None = None
    follows: tuple[str, Any] | None = None
    decides: bool = False
    names_place: bool = False

    @property
    def words(self) -> str:
        """What is said of it on the command line."""
        return self.help if isinstance(self.help, str) else self.help()

    @property
    def offered(self) -> tuple[str, ...]:
        """The values that a shell offers."""
        found = [item.text for item in self.items] if self.values is None else self.values()
        # Some stand for another text, or for none.
        return tuple(text for text in found if text and "{" not in text)

    @property
    def row(self) -> str:
        """Its line in a table of the manual."""
        value = self.metavar
        if self.kind is Kind.CHOICE and self.means is None and not value:
            value = "/".join(item.text for item in self.items)
        words = self.words.replace("|", "\\|")
        return f"| `{self.flag}{f' {value}' if value else ''}` | {words} |"

    def has(self, format: str) -> bool:
        """Whether a format of its group has it."""
        return not self.formats or format in self.formats

    def value(self, said: Any) -> Any:
        """Return the value of what was said: a text, some texts, or what a flag or a tick means.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: it is none.
        """
        if self.kind is Kind.NUMBER:
            return _number(str(said), self)
        if not isinstance(said, str):
            one = self.parse
            some = tuple(said if one is None else map(one, said)) if isinstance(said, Sequence) else said
            return dict(some) if self.kind is Kind.ARRAYS else some
        return said if self.parse is None else self.parse(said)


def one_of(what: str, names: tuple[str, ...]) -> Callable[[str], str]:
    """Return what takes one of some names.

    Parameters
    ----------
    what
        They are the names of; for the error.
    """

    def parsed(text: str) -> str:
        if text in names:
            return text
        message = f"there is no {what} {quoted(text)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(names)}")

    return parsed


def option(named: str, help: str | Callable[[], str], **facts: Any) -> dict[str, Option]:
    """Return the metadata of a field that is an option: see `Option`.

    Parameters
    ----------
    named
        As the command line has it: ``--tile-size SIZE``.
    """
    flag, _, metavar = named.partition(" ")
    return {_KEY: Option(flag=flag, metavar=metavar, help=help, **facts)}


def _number(text: str, of: Option) -> int:
    low, high = of.limits
    if not re.fullmatch("-?[0-9]{1,18}", text.strip()) or not low <= int(text) <= high:
        message = f"{quoted(text)} is not a number from {low} to {high} ({of.flag})"
        raise RefbrowserError(ErrorKind.USAGE, message)
    return int(text)


O = TypeVar("O")  # noqa: E741 - options


def like(group: type, name: str) -> Any:
    """Return a field with the option, and the usual value, that one of another group has."""
    return field(default=usual(group, name), metadata={_KEY: declared(group)[name]})


def declared(group: type) -> dict[str, Option]:
    """Return the options of a group by the names of their fields."""
    return {each.name: each.metadata[_KEY] for each in _fields(group) if _KEY in each.metadata}


def groups_within(group: type) -> dict[str, type]:
    """Return the groups of options that are fields of a group, by the names of these."""
    within: Any = [each for each in _fields(group) if OPTIONS_WITHIN.items() <= each.metadata.items()]
    return {each.name: each.default_factory for each in within}


def _fields(group: type) -> tuple[Field[Any], ...]:
    return fields(group)


def usual(group: type, name: str) -> Any:
    """Return the value of an option where nothing is said; `MISSING` where something has to be."""
    found = next(each for each in _fields(group) if each.name == name)
    return found.default if found.default_factory is MISSING else found.default_factory()


def documented(group: type[O]) -> type[O]:
    """Let the docstring of a group of options tell each; a decorator above that of the dataclass."""
    import textwrap

    lines = cleandoc(group.__doc__ or "").splitlines()
    if "Attributes" not in lines:
        lines += ["", "Attributes", "----------"]
    for name, each in declared(group).items():
        about = each.about or f"{each.words[:1].upper()}{each.words[1:]}."
        lines += [name, *textwrap.wrap(about, _WIDTH, initial_indent="    ", subsequent_indent="    ")]
    group.__doc__ = "\n".join(lines) + "\n"
    return group
