"""Lists of constants in templates: made once, and those of integers also as tables and running sums.

The offsets of chunks of different lengths are ``[10, 20, 30][:i]|sum``: a list of tens of thousands of
numbers in the text of a template. jinja2's parser would take a second for it, so long lists of plain integers
are cut out of the text before it is parsed, and kept by their text from one parse to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from refbrowser.limits import LIMITS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int64 = npt.NDArray[np.int64]

#: Characters between brackets from which a list is cut out.
_LEAST = 64
_CHARACTERS = "-0123456789, \t\r\n"
#: Bytes that a number, and what is around a text, count for; see `template_values.weight`.
_NUMBER_SIZE, _TEXT_SIZE = 8, 2


class ConstantList(list[Any]):
    """A list whose items stand in a template. Nothing changes it: what operators give is another list."""

    @cached_property
    def size(self) -> int:
        """About how many bytes of text it stands for."""
        texts = [len(item.encode("utf-8", "surrogatepass")) for item in self if isinstance(item, str)]
        return _TEXT_SIZE + sum(texts) + len(texts) * _TEXT_SIZE + (len(self) - len(texts)) * _NUMBER_SIZE

    @cached_property
    def is_integers(self) -> bool:
        """Whether all items are integers."""
        return all(type(item) is int for item in self)

    @cached_property
    def items_table(self) -> IntegerTable | None:
        """The integers as a table; None where they do not fit."""
        return _table(self)

    @cached_property
    def sums_table(self) -> IntegerTable | None:
        """The sum of the first k integers for each k up to their number; None where they do not fit."""
        import numpy as np

        items = self.items_table
        if items is None or int(np.abs(items.column).astype(np.float64).sum()) > 2**61:
            return None
        sums = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(items.column, out=sums[1:])
        return IntegerTable(sums)

    def items_at(self, positions: range) -> IntegerTable | None:
        """Return the integers at positions, which are there; negative ones count from the end."""
        import numpy as np

        table = self.items_table
        return None if table is None else IntegerTable(table.column[np.asarray(positions)])

    def sums_of(self, start: int | range | None, stop: int | range | None) -> IntegerTable | None:
        """Return the sums of the slices of which one end runs over a range within the length."""
        import numpy as np

        sums = self.sums_table
        if sums is None:
            return None
        first, last = self._clamped(start, 0), self._clamped(stop, len(self))
        return IntegerTable(sums.column[np.maximum(first, last)] - sums.column[first])

    def _clamped(self, end: int | range | None, default: int) -> Any:
        import numpy as np

        if end is None:
            return default
        if isinstance(end, int):
            return slice(end, None).indices(len(self))[0]
        ends = np.asarray(end)
        return np.where(ends < 0, ends + len(self), ends)

    def sum_of(self, start: int | None, stop: int | None) -> int:
        """Return the sum of the integers of a slice, which is not made."""
        first, last, _ = slice(start, stop).indices(len(self))
        table = self.sums_table
        if table is None:
            return sum(self[first:last])
        return int(table.column[max(first, last)]) - int(table.column[first])


@dataclass(frozen=True, eq=False)
class IntegerTable:
    """Integers by position, at least one."""

    column: Int64

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IntegerTable):
            return NotImplemented
        return self is other or self.column.tobytes() == other.column.tobytes()

    def __hash__(self) -> int:
        return hash((len(self.column), int(self.column[-1])))

    def last_position(self, value: Any) -> Any:
        """Return the last position of an integer or of each of a column, -1 where it is not in the table."""
        import numpy as np

        if isinstance(value, int) and abs(value) > 2**62:
            return -1
        ordered, order = self._sorted
        place = np.searchsorted(ordered, value, side="right") - 1
        found = np.where((place >= 0) & (ordered[np.maximum(place, 0)] == value), order[place], -1)
        return int(found) if isinstance(value, int) else found

    @cached_property
    def is_distinct(self) -> bool:
        """Whether no integer is in it twice."""
        ordered, _ = self._sorted
        return bool((ordered[1:] != ordered[:-1]).all())

    @cached_property
    def _sorted(self) -> tuple[Int64, Int64]:
        import numpy as np

        order = np.argsort(self.column, kind="stable")
        return self.column[order], order

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """Return the least and greatest integer at the positions from `first` to `last`."""
        part = self.column[first : last + 1]
        return int(part.min()), int(part.max())


def _table(numbers: ConstantList) -> IntegerTable | None:
    import numpy as np

    if not numbers or not numbers.is_integers or max(map(abs, (max(numbers), min(numbers)))) > 2**62:
        return None
    return IntegerTable(np.array(numbers, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class ListCut:
    """A list of integers in a text: where its items stand, between the brackets."""

    start: int
    stop: int
    items: ConstantList


def find_lists(text: str) -> list[ListCut]:
    """Return what looks like a long list of plain integers, wherever it stands in a text."""
    found = []
    at = text.find("[") if len(text) > _LEAST else -1
    while at >= 0 and (stop := text.find("]", at)) >= 0:
        at = text.rfind("[", at, stop)
        if stop - at > _LEAST and text[at + 1] in _CHARACTERS:
            items = _integers(text[at + 1 : stop])
            if items is not None:
                found.append(ListCut(at + 1, stop, items))
        at = text.find("[", stop)
    return found


@lru_cache(maxsize=8)
def _integers(text: str) -> ConstantList | None:
    """Return the integers of a text as jinja writes them; None for anything that is not plainly that."""
    if len(text) > LIMITS.template_list or text.strip(_CHARACTERS):
        return None
    plain = "".join(text.split()).removesuffix(",")
    try:
        numbers = ConstantList(map(int, text.rstrip().removesuffix(",").split(",")))
    except ValueError:
        return None
    # Leading zeros, double signs and the like are not plain: jinja2's parser tells what they are.
    if ",".join(map(str, numbers)) != plain or not _allowed(numbers):
        return None
    return numbers


def _allowed(numbers: Sequence[int]) -> bool:
    return max(max(numbers), -min(numbers)).bit_length() <= LIMITS.template_integer_bits
