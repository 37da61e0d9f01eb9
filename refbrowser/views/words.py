"""Words that every part of the window writes alike, and text from files made plain."""

from __future__ import annotations

from collections.abc import Iterable

from refbrowser.limits import LIMITS
from refbrowser.words import size_text, time_text

#: Characters of one line that are shown at most.
CELL_LIMIT = 600
#: What stands for a line's end; and spaces that Python does not count as printable stay spaces.
_VISIBLE = {
    "\n": "↵",
    "\t": " ",
    "\N{NO-BREAK SPACE}": "\N{NO-BREAK SPACE}",
    "\N{NARROW NO-BREAK SPACE}": "\N{NARROW NO-BREAK SPACE}",
}


def plain_lines(text: str, most: int) -> str:
    """Return text of several lines: cut, with control characters other than the lines' ends made visible."""
    cut = text if len(text) <= most else text[:most] + "…"
    return "\n".join(_visible(line) for line in cut.replace("\r\n", "\n").split("\n"))


def one_line(text: str) -> str:
    """Return text fit for one cell: cut, with control characters shown as a visible mark."""
    cut = text if len(text) <= CELL_LIMIT else text[:CELL_LIMIT] + "…"
    return _visible(cut)


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _VISIBLE.get(character, "·") for character in text
    )


def index_text(index: Iterable[int]) -> str:
    """Return an index as text: ``[3, 4]``."""
    return f"[{', '.join(map(str, index))}]"


#: What reading the references of a set takes that are left until arrays are touched: seconds and bytes each,
#: as measured with 5,000,000 of the parquet form.
_SECONDS_EACH, _BYTES_EACH = 4e-6, 230


def reading_words(left: int) -> str:
    """Return what reading so many references takes (``about 20 s and 1.15 GB of memory``)."""
    seconds = round(left * _SECONDS_EACH)
    time = f"{seconds} s" if seconds < 60 else time_text(seconds)
    return f"about {time} and {size_text(left * _BYTES_EACH)} of memory"


def unread_words(left: int) -> str:
    """Return that so many references are read as arrays are touched, and what would read them all."""
    begin = (
        f"{left:,} references are read as you look at arrays. The table and audits need all of them, which"
    )
    if left > LIMITS.references:
        return f"{begin} may be more than the {LIMITS.references:,} that one document can hold."
    return f"{begin} takes {reading_words(left)}."
