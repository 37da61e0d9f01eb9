"""Text that leaves this machine in reports: without the user's folder, and what lets somebody in."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable
from functools import lru_cache
from html import escape

from refbrowser.io.secret_names import IN_TEXTS, IN_URLS

#: What stands for something that is not told.
HIDDEN = "…"
#: Characters behind the end of what is shown that are looked at.
_BEYOND = 4096
#: Such a parameter up to its value; the value in a text, and where a text is one argument.
_NAMED = rf"((?:(?<![\w.-]){IN_TEXTS}|(?<=[?&;])(?:{IN_URLS}))=)"
_IN_TEXT = re.compile(_NAMED + r"[^&#;\s\"'<>)]+", re.IGNORECASE)
_IN_ARGUMENT = re.compile(_NAMED + r"[^&#]+", re.IGNORECASE | re.DOTALL)
#: A name with a password before a host; of a text that was cut in it, what is left of them.
_USER = re.compile(r"(://)[^/?#\s@\"'<>]*(?:@|…)")


def shareable(text: str) -> str:
    """Return text that may be sent to others.

    The home folder is ``~``; of URLs, names and passwords and the values of parameters that let somebody in,
    as signatures do, are left out.
    """
    return _without_home(_without_secrets(text, _IN_TEXT))


def cut_text(text: str, most: int) -> str:
    """Return text that may be sent to others, cut at so many characters."""
    # What is hidden may begin before the cut and be known by what follows it.
    begin = text[: most + _BEYOND]
    told = shareable(begin)
    return f"{told[:most]}…" if len(told) > most or len(text) > len(begin) else told


def shareable_html(text: str) -> str:
    """Return HTML of which all text may be sent to others, as `shareable` does."""
    return _without_home(_without_secrets(text, _IN_TEXT), escape)


def shareable_command(arguments: Iterable[str]) -> str:
    """Return a command as a shell takes it, fit to be sent to others."""
    return " ".join(map(_argument, arguments))


def _argument(text: str) -> str:
    told = _without_home(_without_secrets(text, _IN_ARGUMENT))
    # A shell knows the home folder outside of quotes only.
    return f"~/{shlex.quote(told[2:])}" if told.startswith("~/") and told[2:] else shlex.quote(told)


def _without_secrets(text: str, named: re.Pattern[str]) -> str:
    if "://" in text:
        text = _USER.sub(rf"\1{HIDDEN}@", text)
    return named.sub(rf"\1{HIDDEN}", text) if "=" in text else text


def _without_home(text: str, spelled: Callable[[str], str] = str) -> str:
    home = spelled(os.path.expanduser("~").rstrip("/\\"))
    return _home(home).sub("~", text) if len(home) > 1 and home in text else text


@lru_cache(maxsize=4)
def _home(home: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])")
