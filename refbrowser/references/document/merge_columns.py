"""Reference columns in which some rows are taken from others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from refbrowser.model.reference import ReferenceColumns, ReferenceKind

_Item = TypeVar("_Item")


class _Layered(Mapping[int, _Item], Generic[_Item]):
    """Rows to values: those of `upper` win, moved to where they stand.

    Parameters
    ----------
    hidden
        Rows of `lower` that are replaced, whatever by.
    places
        Where rows of `upper` stand, to their number.
    """

    def __init__(
        self,
        lower: Mapping[int, _Item],
        hidden: set[int],
        upper: Mapping[int, _Item],
        places: dict[int, int],
    ):
        self._lower, self._hidden = lower, hidden
        #: Rows to what holds their value, and the row there.
        self._places = {row: (upper, number) for row, number in places.items()}
        if isinstance(lower, _Layered):
            # Each of very many rules may add a layer: they are held as one.
            self._lower, self._hidden = lower._lower, lower._hidden | hidden
            kept = {row: place for row, place in lower._places.items() if row not in hidden}
            self._places = kept | self._places

    def __getitem__(self, row: int) -> _Item:
        if row in self._places:
            upper, number = self._places[row]
            return upper[number]
        return self._lower[row]

    def __iter__(self) -> Iterator[int]:
        yield from (row for row in self._lower if row not in self._hidden)
        yield from self._places

    def __len__(self) -> int:
        return sum(1 for _ in self)


def merged(lower: ReferenceColumns, at: npt.NDArray[np.int64], upper: ReferenceColumns) -> ReferenceColumns:
    """Return `lower` with the rows `at` replaced by the rows of `upper`, in that order."""

    def layered(
        which: ReferenceKind, below: Mapping[int, _Item], above: Mapping[int, _Item]
    ) -> Mapping[int, _Item]:
        # Of a million rows hardly any is of these kinds: the others are not held one by one.
        mine = np.flatnonzero(upper.kind == which)
        hidden = set(at[lower.kind[at] == which].tolist())
        if not len(mine) and not hidden:
            return below
        return _Layered(below, hidden, above, dict(zip(at[mine].tolist(), mine.tolist(), strict=True)))

    kind, url = lower.kind.copy(), lower.url.copy()
    offset, length = lower.offset.copy(), lower.length.copy()
    kind[at] = upper.kind
    url[at] = np.where(upper.url >= 0, upper.url + len(lower.urls), -1)
    offset[at] = upper.offset
    length[at] = upper.length
    return ReferenceColumns(
        kind, url, offset, length, (*lower.urls, *upper.urls),
        layered(ReferenceKind.INLINE, lower.inline, upper.inline),
        layered(ReferenceKind.FAULTY, lower.faults, upper.faults),
    )  # fmt: skip
