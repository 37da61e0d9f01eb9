"""Words that every part of the window writes alike: counts, sizes, and text from files made plain."""

from __future__ import annotations

from collections.abc import Iterable

from refbrowser.limits import LIMITS
from refbrowser.model.flavour import Flavour

#: The flavours of stores by their names in the model, and what the menu calls them.
FLAVOURS = (
    (Flavour.ZARR_V2.value, "Zarr v&2"),
    (Flavour.ZARR_V3.value, "Zarr v&3"),
    (Flavour.NCZARR.value, "&NCZarr"),
    (Flavour.DRAFT_2019.value, "Zarr v3 &draft of 2019"),
    (Flavour.DRAFT_2020.value, "Zarr v3 d&raft of 2020"),
)
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


def size_text(size: int | None) -> str:
    """Return a number of bytes as people write it (``12.4 MB``); ``unknown`` for None."""
    if size is None:
        return "unknown"
    value = float(size)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{size} B" if unit == "B" else f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def count_text(count: int) -> str:
    """Return a whole number with thin spaces between the thousands."""
    return f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def index_text(index: Iterable[int]) -> str:
    """Return an index as text: ``[3, 4]``."""
    return f"[{', '.join(map(str, index))}]"


def time_text(seconds: float) -> str:
    """Return how long something takes, in its two largest units (``4.6 s``, ``3 min 20 s``, ``2 d 4 h``)."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


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
        f"{left:,} references are read as you look at arrays. Keys, edits and audits need all of them, which"
    )
    if left > LIMITS.references:
        return f"{begin} may be more than the {LIMITS.references:,} that one document can hold."
    return f"{begin} takes {reading_words(left)}."
