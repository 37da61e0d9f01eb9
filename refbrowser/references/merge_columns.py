"""Reference columns in which some rows are taken from others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.model.reference import ReferenceColumns

_Item = TypeVar("_Item")


class _Layered(Mapping[int, _Item], Generic[_Item]):
    """Rows to values: those of `upper` win, moved to where they stand."""

    def __init__(
        self, lower: Mapping[int, _Item], hidden: set[int], upper: Mapping[int, _Item], at: list[int]
    ):
        self._lower = lower
        self._hidden = hidden
        self._upper = upper
        self._places = {place: number for number, place in enumerate(at)}
        self._at = at

    def __getitem__(self, row: int) -> _Item:
        if row in self._places:
            return self._upper[self._places[row]]
        return self._lower[row]

    def __iter__(self) -> Iterator[int]:
        yield from (row for row in self._lower if row not in self._hidden)
        yield from (self._at[number] for number in self._upper)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def merged(lower: ReferenceColumns, at: npt.NDArray[np.int64], upper: ReferenceColumns) -> ReferenceColumns:
    """Return `lower` with the rows `at` replaced by the rows of `upper`, in that order."""
    kind, url = lower.kind.copy(), lower.url.copy()
    offset, length = lower.offset.copy(), lower.length.copy()
    kind[at] = upper.kind
    url[at] = np.where(upper.url >= 0, upper.url + len(lower.urls), -1)
    offset[at] = upper.offset
    length[at] = upper.length
    places = at.tolist()
    hidden = set(places)
    inline: Mapping[int, bytes] = _Layered(lower.inline, hidden, upper.inline, places)
    return ReferenceColumns(
        kind, url, offset, length, (*lower.urls, *upper.urls), inline,
        _Layered(lower.faults, hidden, upper.faults, places),
    )  # fmt: skip
