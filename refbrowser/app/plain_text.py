"""Text from files as one line of plain text."""

from __future__ import annotations

#: Characters of one line that are shown at most.
CELL_LIMIT = 600
#: What stands for a line's end; and spaces that Python does not count as printable stay spaces.
_VISIBLE = {
    "\n": "↵",
    "\t": " ",
    "\N{NO-BREAK SPACE}": "\N{NO-BREAK SPACE}",
    "\N{NARROW NO-BREAK SPACE}": "\N{NARROW NO-BREAK SPACE}",
}


def one_line(text: str) -> str:
    """Return text fit for one cell: cut, with control characters shown as a visible mark."""
    cut = text if len(text) <= CELL_LIMIT else text[:CELL_LIMIT] + "…"
    if cut.isprintable():
        return cut
    return "".join(
        character if character.isprintable() else _VISIBLE.get(character, "·") for character in cut
    )
