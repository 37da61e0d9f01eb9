"""Text from files as one line of plain text."""

from __future__ import annotations

#: Characters of one line that are shown at most.
CELL_LIMIT = 600


def one_line(text: str) -> str:
    """Return text fit for one cell: cut, with control characters shown as a visible mark."""
    cut = text if len(text) <= CELL_LIMIT else text[:CELL_LIMIT] + "…"
    if cut.isprintable():
        return cut
    return "".join(
        character if character.isprintable() else "␊" if character == "\n" else "·" for character in cut
    )
