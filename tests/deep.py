"""How deep the normal run looks: a part of what a run with ``--long`` tries, drawn the same way each time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

#: The normal run tries one of so many examples, and no fewer than these.
SHARE, LEAST = 8, 6
#: Of places that lie between those that matter it tries one of so many.
BETWEEN = 13


def is_long() -> bool:
    """Whether the run was asked for all there is."""
    return settings.get_current_profile_name() == "long"


def examples(number: int) -> int:
    """Return how many examples of a law are tried, of `number` in a long run."""
    return number if is_long() else min(number, max(LEAST, number // SHARE))


def places(start: int, stop: int, bounds: Iterable[int]) -> list[int]:
    """Return where to cut or break bytes: at each bound, beside it, and at some places between.

    A long run tries every place from `start` to before `stop`.
    """
    if is_long():
        return list(range(start, stop))
    near = {bound + by for bound in bounds for by in (-1, 0, 1)}
    return sorted({each for each in near if start <= each < stop} | set(range(start, stop, BETWEEN)))


def some(cases: Sequence[T], of: int) -> Sequence[T]:
    """Return one of so many cases of the same law; all of them in a long run."""
    return cases if is_long() else cases[::of]
