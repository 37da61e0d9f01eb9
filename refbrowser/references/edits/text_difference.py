"""Two texts from the place where they differ."""

from __future__ import annotations

from bisect import bisect_left

#: Characters before the first difference that are shown with it.
LEAD = 8


def from_difference(one: str, other: str, lead: int = LEAD) -> tuple[str, str]:
    """Return two texts from `lead` characters before they differ; ``…`` stands for what is left out.

    A beginning that is hardly longer than that stays.
    """
    start = first_difference(one, other) - lead
    return (one, other) if start <= lead or one == other else (f"…{one[start:]}", f"…{other[start:]}")


def first_difference(one: str, other: str) -> int:
    """Return how many characters at the beginning of two texts are the same."""
    length = min(len(one), len(other))
    # Comparing slices costs the memory's speed, a loop over characters a hundred times that.
    return bisect_left(range(1, length + 1), True, key=lambda size: one[:size] != other[:size])
