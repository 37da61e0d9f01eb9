"""What can be typed behind a verb, as values: its options, with the values of those that have some."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import Any

from refbrowser.formats.option_fields import Option

#: What options and places are called that take a file or a folder.
_FILES = frozenset({"PATH", "DOC", "FILE", "OUT", "TARGET", "STREAM", "DIR", "ORIGIN", "BASE OURS THEIRS"})
#: Letters of what is said of an option.
_WIDTH = 72


@dataclass(frozen=True, slots=True)
class OptionWords:
    """One option: its names, what it does in a few words, and what it takes.

    Attributes
    ----------
    value
        What its value is called; empty where it takes none.
    choices
        Values that are offered.
    """

    flags: tuple[str, ...]
    about: str
    value: str = ""
    choices: tuple[str, ...] = ()
    is_repeated: bool = False

    @property
    def takes_file(self) -> bool:
        """Whether its value is a file or a folder."""
        return self.value in _FILES


@dataclass(frozen=True, slots=True)
class VerbWords:
    """One verb: its name, what it does, its options, and what else may stand behind it."""

    name: str
    about: str
    options: tuple[OptionWords, ...]
    choices: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of its options."""
        return tuple(flag for option in self.options for flag in option.flags)


def verb_words(name: str, about: str, parser: argparse.ArgumentParser) -> VerbWords:
    """Return what can be typed behind a verb, as its parser takes it."""
    actions = parser._actions
    options = tuple(_option_words(each) for each in actions if each.option_strings)
    places = [each for each in actions if not each.option_strings]
    # Others are offered, too, but may be something else.
    choices = [text for each in places for text in [*(each.choices or ()), *vars(each).get("offered", ())]]
    return VerbWords(name, about, options, tuple(map(str, choices)))


def _option_words(action: argparse.Action) -> OptionWords:
    option: Option | None = getattr(action, "option", None)
    choices: Any = action.choices or (() if option is None else option.offered)
    value = "" if action.nargs == 0 else action.metavar or "VALUE"
    is_repeated = isinstance(action, argparse._AppendAction | argparse._ExtendAction)
    return OptionWords(
        tuple(action.option_strings), _brief(action), str(value), tuple(map(str, choices)), is_repeated
    )


def _brief(action: argparse.Action) -> str:
    """Return the beginning of what is said of an option: its first part, or as much as fits."""
    text = re.split(r"[;:(]", (action.help or "").replace("%%", "%"))[0].strip()
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH].rpartition(' ')[0]}…"
