"""The rows of a text as far as they are known, what of them is folded away, and the bytes of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from refbrowser.views.source.row_scan import GOES_ON, IN_STRING, RowStarts
from refbrowser.views.source.source_text import SourceText

#: Lists and objects that are folded together at most.
FOLDS = 100_000
#: Rows that are looked at together for the end of what is folded.
_LOOKED = 1 << 20
#: Rows that one long line is looked through for its beginning or its end.
_BEFORE = 4096
_CONTINUATION = range(0x80, 0xC0)


class RowSpan(NamedTuple):
    """The bytes of one row.

    Attributes
    ----------
    depth
        How deep the row stands; of one that goes on from rows before, as deep as the first of these.
    in_string
        Whether the row begins within a string.
    goes_on
        Whether it goes on from the row before.
    """

    start: int
    stop: int
    depth: int
    in_string: bool
    goes_on: bool


class TextRows:
    """Rows by their numbers; those that are folded away have no place among the seen ones.

    Parameters
    ----------
    text
        Whose rows they are.
    """

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.count = 0
        #: Bytes of the text whose rows are known.
        self.covered = 0
        self._starts = np.zeros(1024, np.uint32)
        self._depths = np.zeros(1024, np.uint8)
        #: What is folded: the row that stays, and the first row behind.
        self._folds: dict[int, int] = {}
        self._hidden = np.zeros((0, 2), np.int64)
        self._before = np.zeros(1, np.int64)

    @property
    def is_complete(self) -> bool:
        """Whether all rows are known."""
        return self.covered >= self.text.size

    def add(self, rows: RowStarts) -> None:
        """Take the rows that follow."""
        stop = self.count + len(rows.starts)
        if stop > len(self._starts):
            size = max(stop, 2 * len(self._starts))
            self._starts = np.resize(self._starts[: self.count], size)
            self._depths = np.resize(self._depths[: self.count], size)
        self._starts[self.count : stop] = rows.starts
        self._depths[self.count : stop] = rows.depths
        if self.count == 0 and stop:
            self._starts[0] = 0
        self.count, self.covered = stop, rows.covered

    # Rows

    def row_at(self, position: int) -> int:
        """Return the row of a byte; the last one known where it is further on."""
        known = self._starts[: self.count]
        return max(int(known.searchsorted(min(position, self.text.size), side="right")) - 1, 0)

    def span(self, row: int) -> RowSpan:
        """Return where a row stands; whole characters belong to one row."""
        depth = int(self._depths[row])
        before = self._depths[max(0, row - _BEFORE) : row + 1]
        begun = np.flatnonzero(before < GOES_ON)
        shown = int(before[begun[-1]]) if len(begun) else 0
        end = int(self._starts[row + 1]) if row + 1 < self.count else self.covered
        return RowSpan(
            self._whole(int(self._starts[row])),
            self._whole(end),
            shown,
            depth == IN_STRING,
            depth >= GOES_ON,
        )

    def _whole(self, position: int) -> int:
        """Return where the next character begins, where a row was cut within one."""
        if not 0 < position < self.text.size:
            return position
        around = self.text.read(position, position + 3)
        if around[:1] and around[0] not in _CONTINUATION:
            return position
        begun = self.text.read(max(0, position - 3), position)
        lead = next((byte for byte in reversed(begun) if byte not in _CONTINUATION), 0)
        if lead < 0xC0:
            return position
        return position + next((at for at, byte in enumerate(around) if byte not in _CONTINUATION), 0)

    def read(self, span: RowSpan) -> bytes:
        """Return the bytes of a row."""
        return self.text.read(span.start, span.stop)

    def number(self, row: int) -> int:
        """Return which line a row belongs to, from 1, where rows that go on do not count."""
        return self.lines_in(0, row + 1)

    def lines_in(self, first: int, stop: int) -> int:
        """Return how many lines begin in the rows from `first` up to `stop`."""
        return int(np.count_nonzero(self._depths[first:stop] < GOES_ON))

    # Folding

    @property
    def seen(self) -> int:
        """How many rows are not folded away."""
        return self.count - int(self._before[-1])

    def opens(self, row: int) -> bool:
        """Tell whether a list or object begins in a row that goes on in deeper ones."""
        if not 0 <= row < self.count or self._depths[row] >= GOES_ON:
            return False
        after = self._depths[row + 1 : min(self.count, row + 1 + _BEFORE)]
        follower = np.flatnonzero(after < GOES_ON)
        return len(follower) > 0 and bool(after[follower[0]] > self._depths[row])

    def is_folded(self, row: int) -> bool:
        """Tell whether what begins in a row is folded."""
        return row in self._folds

    def end_of(self, row: int) -> int:
        """Return the row that closes what begins in a row, or the last one known."""
        depth = self._depths[row]
        for start in range(row + 1, self.count, _LOOKED):
            some = self._depths[start : min(start + _LOOKED, self.count)] <= depth
            if some.any():
                return start + int(some.argmax())
        return self.count - 1

    def folded_rows(self, row: int) -> int:
        """Return how many rows are folded away below a row."""
        return self._folds.get(row, row + 1) - row - 1

    def fold(self, rows: Iterable[int]) -> None:
        """Fold what begins in some rows; the row that closes it stays."""
        for row in rows:
            if len(self._folds) < FOLDS and self.opens(row):
                self._folds[row] = self.end_of(row)
        self._sort()

    def unfold(self, rows: Iterable[int]) -> None:
        """Show what begins in some rows again."""
        for row in rows:
            self._folds.pop(row, None)
        self._sort()

    def fold_at(self, depth: int) -> None:
        """Fold everything that begins so deep."""
        depths = self._depths[: self.count]
        self.fold(np.flatnonzero((depths[:-1] == depth) & (depths[1:] != depth))[:FOLDS].tolist())

    def unfold_all(self) -> None:
        """Fold nothing."""
        self._folds.clear()
        self._sort()

    def reveal(self, row: int) -> None:
        """Unfold all in which a row is folded away."""
        self.unfold([first for first, end in self._folds.items() if first < row < end])

    @property
    def has_folds(self) -> bool:
        """Whether anything is folded."""
        return bool(self._folds)

    def _sort(self) -> None:
        hidden: list[tuple[int, int]] = []
        for first, end in sorted(self._folds.items()):
            if not hidden or first + 1 > hidden[-1][1]:
                hidden.append((first + 1, end))
        self._hidden = np.array(hidden, np.int64).reshape(-1, 2)
        self._before = np.concatenate([[0], np.cumsum(self._hidden[:, 1] - self._hidden[:, 0])])

    def row_of_seen(self, place: int) -> int:
        """Return which row has a place among the seen ones."""
        starts = self._hidden[:, 0] - self._before[:-1]
        return place + int(self._before[bisect_right(starts, place)])

    def seen_place(self, row: int) -> int:
        """Return the place of a row among the seen ones; of one that is folded away, that of what is seen."""
        number = int(self._hidden[:, 0].searchsorted(row, side="right"))
        if number and row < self._hidden[number - 1, 1]:
            row = int(self._hidden[number - 1, 0]) - 1
            number -= 1
        return row - int(self._before[number])


def is_wide(sample: bytes) -> bool:
    """Tell whether a text has lines that nobody can read: it is laid out then."""
    lines: npt.NDArray[np.int64] = np.flatnonzero(np.frombuffer(sample, np.uint8) == 0x0A)
    longest = int(np.diff(np.concatenate([[0], lines, [len(sample)]])).max())
    return longest > WIDE


#: The longest line, in bytes, of a text that is shown by its lines at first.
WIDE = 400
