"""What is selected in the table of references: entries of refs, and rows that only look so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The selected rows by where they come from.

    Attributes
    ----------
    entries
        Positions in `refs` as first ones and ends that do not belong.
    rules
        Numbers of the gen rules that give the others.
    generated
        How many rows those are.
    """

    entries: tuple[tuple[int, int], ...] = ()
    rules: tuple[int, ...] = ()
    generated: int = 0

    @property
    def count(self) -> int:
        """Number of entries of refs."""
        return sum(stop - start for start, stop in self.entries)


def split_rows(runs: tuple[tuple[int, int], ...], refs_rows: int, gen_rows: list[int]) -> SelectedRows:
    """Return rows of the Version 0 view, given as runs, by where they come from."""
    entries = tuple((start, min(stop, refs_rows)) for start, stop in runs if start < refs_rows)
    generated, rules, first = 0, [], refs_rows
    for number, rows in enumerate(gen_rows):
        own = sum(max(0, min(stop, first + rows) - max(start, first)) for start, stop in runs)
        if own:
            rules.append(number)
            generated += own
        first += rows
    return SelectedRows(entries, tuple(rules), generated)
