"""Which values of a nested table are unfolded, and which of its lines each value is on."""

from __future__ import annotations

from bisect import bisect_right, insort

#: From the row of the array down: its number, then that of the element or field on each level.
NestedPath = tuple[int, ...]


class _Open:
    """The lines below one unfolded value.

    Attributes
    ----------
    count
        How many values are right below it.
    size
        Lines below it in all.
    below
        Those of them that are unfolded themselves.
    """

    __slots__ = ("_keys", "_starts", "below", "count", "size")

    def __init__(self, count: int) -> None:
        self.count = self.size = count
        self.below: dict[int, _Open] = {}
        self._keys: list[int] = []
        self._starts: list[int] | None = None

    def line(self, child: int) -> int:
        """Return the line of a value right below, counted from the first of them."""
        at = bisect_right(self._keys, child - 1)
        if not at:
            return child
        last = self._keys[at - 1]
        return self.starts()[at - 1] + self.below[last].size + child - last

    def starts(self) -> list[int]:
        """Return the lines of the unfolded ones."""
        if self._starts is None:
            self._starts, more = [], 0
            for key in self._keys:
                self._starts.append(key + more)
                more += self.below[key].size
        return self._starts

    def child(self, line: int) -> tuple[int, int]:
        """Return which value right below a line is of, and the line below that value (-1: its own)."""
        at = bisect_right(self.starts(), line) - 1
        if at < 0:
            return line, -1
        key, inside = self._keys[at], line - self.starts()[at]
        size = self.below[key].size
        return (key, inside - 1) if inside <= size else (key + inside - size, -1)

    def put(self, child: int, opened: _Open) -> None:
        """Unfold a value right below."""
        self.below[child] = opened
        insort(self._keys, child)
        self._starts = None

    def drop(self, child: int) -> int:
        """Fold a value right below; returns how many lines are gone."""
        self._keys.remove(child)
        self._starts = None
        return self.below.pop(child).size

    def grow(self, lines: int) -> None:
        """Note that there are more lines below, or less."""
        self.size += lines
        self._starts = None


class NestedFolds:
    """The rows of an array of any length, some of them unfolded."""

    def __init__(self, rows: int) -> None:
        self._root = _Open(rows)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return self._root.size

    @property
    def unfolded(self) -> int:
        """How many lines there are more than rows."""
        return self._root.size - self._root.count

    def path(self, line: int) -> NestedPath:
        """Return what is on a line."""
        opened, path = self._root, []
        while line >= 0:
            child, line = opened.child(line)
            path.append(child)
            if line >= 0:
                opened = opened.below[child]
        return tuple(path)

    def line(self, path: NestedPath) -> int:
        """Return the line of a value; of one that is folded away that of what it is folded into."""
        opened, line = self._root, -1
        for child in path:
            line += 1 + opened.line(child)
            inner = opened.below.get(child)
            if inner is None:
                break
            opened = inner
        return line

    def is_open(self, path: NestedPath) -> bool:
        """Whether a value is unfolded."""
        return self._find(path) is not None

    def count(self, path: NestedPath) -> int:
        """Return how many values are shown right below one."""
        opened = self._find(path)
        return 0 if opened is None else opened.count

    def unfold(self, path: NestedPath, count: int) -> None:
        """Show the `count` values right below one."""
        above = self._find(path[:-1])
        if above is None or path[-1] in above.below or count <= 0:
            return
        above.put(path[-1], _Open(count))
        self._grow(path[:-1], count)

    def fold(self, path: NestedPath) -> None:
        """Show nothing below a value."""
        above = self._find(path[:-1])
        if above is None or path[-1] not in above.below:
            return
        self._grow(path[:-1], -above.drop(path[-1]))

    def fold_all(self) -> None:
        """Show the rows alone."""
        self._root = _Open(self._root.count)

    def _find(self, path: NestedPath) -> _Open | None:
        opened: _Open | None = self._root
        for child in path:
            opened = None if opened is None else opened.below.get(child)
        return opened

    def _grow(self, path: NestedPath, lines: int) -> None:
        opened = self._root
        opened.grow(lines)
        for child in path:
            opened = opened.below[child]
            opened.grow(lines)
