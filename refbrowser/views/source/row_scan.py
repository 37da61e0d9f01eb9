"""Finds where the rows of a JSON text begin, portion by portion: its lines, or a layout of one that has none.

The rows are those of a text as it is, whatever is wrong with it: they tile it, and nothing is parsed. A text
of a hundred megabytes takes about a second; its first rows are there with its first portion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: A list or object without others in it stays on one row if it has at most so many bytes.
SHORT = 120
#: A longer list is filled into rows of about so many bytes.
FILLED = 96
#: A row has at most so many bytes; what is longer goes on in the next one.
WIDEST = 240
#: Rows that are laid out; what follows them is cut into rows of the widest.
MOST = 20_000_000
#: Bytes that are looked at together.
PORTION = 1 << 19
#: Depths of rows that go on from the one before: outside of a string, and within one.
GOES_ON, IN_STRING = 254, 255
#: The deepest row; what is nested deeper is shown as deep as this.
DEEPEST = 250
#: Bytes of space that a row may begin with before it counts as its text.
_SPACE_MOST = 4096

Positions = npt.NDArray[np.int64]

_QUOTE, _BACKSLASH, _NEWLINE, _COMMA = b'"\\\n,'
_MARKS = np.zeros(256, np.bool_)
_MARKS[list(b"{}[],")] = True
_SPACE = np.zeros(256, np.bool_)
_SPACE[list(b" \t\r\n")] = True
#: Within one line: what is passed over for each line belongs to that alone.
_BLANK = _SPACE.copy()
_BLANK[_NEWLINE] = False
_STEP = np.zeros(256, np.int8)
_STEP[list(b"{[")] = 1
_STEP[list(b"}]")] = -1


@dataclass(frozen=True, slots=True)
class RowStarts:
    """Some rows that follow those before.

    Attributes
    ----------
    starts
        Bytes of the text where they begin, rising.
    depths
        How deep each stands; `GOES_ON` or `IN_STRING` where it goes on from the one before.
    covered
        Bytes of the text that have been looked at.
    """

    starts: npt.NDArray[np.uint32]
    depths: npt.NDArray[np.uint8]
    covered: int


@dataclass(frozen=True, slots=True)
class _Portion:
    """Some bytes of the text, with what stands in them outside of strings.

    Attributes
    ----------
    base
        Where the first byte stands in the text.
    marks
        Brackets and commas outside of strings, by their places in `array`.
    depths
        How deep the text is behind each of them.
    is_last
        Whether the text ends with it.
    """

    array: npt.NDArray[np.uint8]
    base: int
    marks: Positions
    depths: Positions
    in_string: Callable[[Positions], npt.NDArray[np.bool_]]
    is_last: bool

    def without_space(self, at: Positions, space: npt.NDArray[np.bool_] = _SPACE) -> Positions:
        """Return places moved forward over white space, to the end of the portion at most."""
        at = at.copy()
        size = len(self.array)
        moving = np.flatnonzero(at < size)
        for _ in range(_SPACE_MOST):
            moving = moving[space[self.array[at[moving]]]]
            if not len(moving):
                break
            at[moving] += 1
            moving = moving[at[moving] < size]
        return at


class LineRows:
    """The rows of a text are its lines."""

    def __init__(self) -> None:
        self._begins = True
        self._depth = 0

    def take(self, portion: _Portion) -> tuple[Positions, Positions, int]:
        """Return places and depths of the rows that begin in a portion, and how much of it is done."""
        array, done = portion.array, len(portion.array)
        starts = np.flatnonzero(array == _NEWLINE) + 1
        if self._begins:
            starts = np.concatenate([[0], starts])
        first = portion.without_space(starts, _BLANK)
        self._begins = bool(len(starts)) and int(first[-1]) == done and not portion.is_last
        if self._begins or (len(starts) and int(starts[-1]) == done):
            # What the last line begins with is known with the bytes behind.
            done = int(starts[-1])
            starts, first = starts[:-1], first[:-1]
        marks = portion.marks
        known = np.concatenate([[self._depth], portion.depths])
        depths = known[marks.searchsorted(starts)]
        is_there = first < np.append(starts[1:], done)
        depths[is_there] += np.minimum(_STEP[array[first[is_there]]], 0)
        self._depth = int(known[marks.searchsorted(done)])
        return starts, depths, done


class LaidOutRows:
    """The rows of a text as it would be written over many lines: one for each member and item.

    What is short stays on one row, long lists of plain values are filled into rows.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._begins = True
        #: Of the last bracket: whether it opens a list or an object, and where it stands in the text.
        self._in_list, self._opened, self._closed = False, 0, True
        #: Where the last mark stands in the text.
        self._before = 0

    def take(self, portion: _Portion) -> tuple[Positions, Positions, int]:
        """Return places and depths of the rows that begin in a portion, and how much of it is done."""
        done = self._decided(portion)
        count = int(portion.marks.searchsorted(done))
        marks, depths = portion.marks[:count], portion.depths[:count]
        starts, deep = self._breaks(portion, marks, depths)
        if self._begins:
            starts, deep = np.concatenate([[0], starts]), np.concatenate([[self._depth], deep])
        starts = portion.without_space(starts)
        # Of two that came to the same place the last one is that of a closing bracket.
        kept = np.append(starts[1:] != starts[:-1], True) if len(starts) else np.zeros(0, np.bool_)
        starts, deep = starts[kept], deep[kept]
        if count:
            self._depth = int(depths[-1])
        self._begins = bool(len(starts)) and int(starts[-1]) >= done
        if self._begins:
            self._depth = int(deep[-1])
            starts, deep = starts[:-1], deep[:-1]
        return starts, deep, done

    def _decided(self, portion: _Portion) -> int:
        """Return up to which byte is known what stays on one row."""
        size = len(portion.array)
        if portion.is_last:
            return size
        steps = _STEP[portion.array[portion.marks]]
        brackets = portion.marks[steps != 0]
        if len(brackets) and steps[steps != 0][-1] > 0 and size - int(brackets[-1]) <= SHORT:
            return int(brackets[-1])
        return size

    def _breaks(self, portion: _Portion, marks: Positions, depths: Positions) -> tuple[Positions, Positions]:
        array, base = portion.array, portion.base
        steps = _STEP[array[marks]]
        numbers = np.flatnonzero(steps)
        places = marks[numbers]
        opens = steps[numbers] > 0
        ends = np.append(places[1:], len(array) + SHORT)
        is_short = opens & np.append(~opens[1:], False) & (ends - places < SHORT)
        # The bracket before each mark, itself included: the first is that of the portions before.
        last = np.cumsum(steps != 0)
        short = np.concatenate([[False], is_short])
        closed = np.concatenate([[self._closed], ~opens])
        in_list = np.concatenate([[self._in_list], array[places] == ord("[")])
        opened = np.concatenate([[self._opened], places + base])
        own = np.zeros(len(marks), np.int64)
        own[numbers] = 1
        before = last - own  # The bracket before, where the mark is one itself.
        is_comma = steps == 0
        breaks = ~short[last] & is_comma
        begin = opened[last]
        row = (marks + base - begin) // FILLED
        former = np.concatenate([[self._before], marks[:-1] + base]) - begin
        filled = is_comma & in_list[last] & ~closed[last]
        breaks &= ~filled | (row != np.maximum(former, 0) // FILLED)
        breaks |= (steps > 0) & ~short[last]
        breaks |= (steps < 0) & ~short[before]
        if len(marks):
            self._before = int(marks[-1]) + base
        if len(places):
            self._in_list, self._opened = bool(array[places[-1]] == ord("[")), int(places[-1]) + base
            self._closed = not bool(opens[-1])
        starts = marks + (steps >= 0)
        return starts[breaks], depths[breaks]


Layout = LineRows | LaidOutRows


def scan_rows(
    portions: Iterable[bytes], layout: Layout, pause: Callable[[], None] = lambda: None
) -> Iterator[RowStarts]:
    """Yield where the rows of a text begin.

    Parameters
    ----------
    portions
        The text from its beginning.
    layout
        What its rows are; a new one for each text.
    pause
        Called for each portion; may raise to end the work.
    """
    wide = _Wide()
    state = _State()
    rest, count = b"", 0
    for data, is_last in _with_last(_portions(portions)):
        pause()
        portion = state.look(rest + data, is_last)
        starts, depths, done = layout.take(portion)
        if count > MOST:
            starts, depths = starts[:0], depths[:0]
        count += len(starts)
        yield wide.cut(portion, starts, depths, done)
        rest = state.keep(portion, done)
    yield wide.end(state.base)


def _portions(portions: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes in portions of like size; a short one first, for the first rows."""
    kept: list[bytes] = []
    size, wanted = 0, PORTION // 8
    for portion in portions:
        for start in range(0, len(portion), PORTION):
            some = portion[start : start + PORTION]
            kept.append(some)
            size += len(some)
            if size >= wanted:
                yield b"".join(kept)
                kept, size, wanted = [], 0, PORTION
    if kept:
        yield b"".join(kept)


def _with_last(portions: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    before: bytes | None = None
    for portion in portions:
        if before is not None:
            yield before, False
        before = portion
    if before is not None:
        yield before, True


class _State:
    """Where the text was left: its place, how deep it is, and whether it is in a string."""

    def __init__(self) -> None:
        self.base = 0
        self._depth = 0
        self._in_string = self._escaped = False

    def look(self, data: bytes, is_last: bool) -> _Portion:
        """Return what stands in the bytes that follow."""
        array = np.frombuffer(data, np.uint8)
        quotes = array == _QUOTE
        if self._escaped and len(array):
            quotes[0] = False
        if _BACKSLASH in data:
            quotes[_escaped(array, self._escaped)] = False
        parity = np.cumsum(quotes, dtype=np.uint8) & 1
        if self._in_string:
            parity ^= 1
        lines = np.flatnonzero(array == _NEWLINE)
        # No string goes over the end of a line: what is not closed there is a fault of that line alone.
        broken = len(lines) and bool(parity[lines].any())
        at_lines = np.concatenate([[0], parity[lines]]) if broken else None

        def in_string(at: Positions) -> npt.NDArray[np.bool_]:
            state = parity[at]
            if at_lines is not None:
                state = state ^ at_lines[lines.searchsorted(at)].astype(np.uint8)
            return state.astype(np.bool_)

        marks = np.flatnonzero(_MARKS[array])
        marks = marks[~in_string(marks)]
        depths = self._depth + np.cumsum(_STEP[array[marks]], dtype=np.int64)
        return _Portion(array, self.base, marks, depths, in_string, is_last)

    def keep(self, portion: _Portion, done: int) -> bytes:
        """Go on behind so many bytes of a portion; return what is looked at again."""
        array = portion.array
        if done:
            last = np.array([done - 1])
            is_open = bool(portion.in_string(last)[0])
            self._in_string = is_open and int(array[done - 1]) != _NEWLINE
            self._escaped = _odd_backslashes(array[:done], self._escaped)
            count = int(portion.marks.searchsorted(done))
            if count:
                self._depth = int(portion.depths[count - 1])
        self.base += done
        return array[done:].tobytes()


def _odd_backslashes(array: npt.NDArray[np.uint8], before: bool) -> bool:
    """Return whether the bytes end in a backslash that escapes what follows."""
    other = np.flatnonzero(array[::-1] != _BACKSLASH)
    count = int(other[0]) if len(other) else len(array) + before
    return bool(count % 2)


def _escaped(array: npt.NDArray[np.uint8], before: bool) -> Positions:
    """Return the bytes that a backslash escapes, but for one behind the end."""
    slashes = np.flatnonzero(array == _BACKSLASH)
    begins = np.append(True, np.diff(slashes) != 1)
    starts = slashes[begins]
    stops = slashes[np.append(begins[1:], True)] + 1
    odd = (stops - starts + ((starts == 0) & before)) % 2 == 1
    after = stops[odd]
    return after[after < len(array)]


class _Wide:
    """Cuts rows that are too long into several."""

    def __init__(self) -> None:
        self._row = 0

    def cut(self, portion: _Portion, starts: Positions, depths: Positions, done: int) -> RowStarts:
        """Return the rows that begin in a portion, and those into which long ones are cut."""
        starts = starts + portion.base
        end = portion.base + done
        begins = np.concatenate([[self._row], starts])
        sizes = np.diff(np.append(begins, end))
        more = np.maximum(sizes - 1, 0) // WIDEST
        # Of the last row all is cut that is known of it; what is cut already is not cut again.
        if len(starts) or more[-1]:
            self._row = int(begins[-1] + more[-1] * WIDEST)
        depths = np.clip(depths, 0, DEEPEST)
        if more.any():
            starts, depths = self._with_cuts(portion, begins, depths, more)
        return RowStarts(starts.astype(np.uint32), depths.astype(np.uint8), end)

    @staticmethod
    def _with_cuts(
        portion: _Portion, begins: Positions, depths: Positions, more: Positions
    ) -> tuple[Positions, Positions]:
        which = np.repeat(np.arange(len(begins)), more)
        number = np.arange(len(which)) - np.repeat(np.cumsum(more) - more, more) + 1
        cuts = begins[which] + number * WIDEST
        in_string = portion.in_string(np.maximum(cuts - 1 - portion.base, 0))
        starts = np.concatenate([begins[1:], cuts])
        deep = np.concatenate([depths, np.where(in_string, IN_STRING, GOES_ON)])
        order = np.argsort(starts, kind="stable")
        return starts[order], deep[order]

    def end(self, size: int) -> RowStarts:
        """Return that there are no more rows."""
        return RowStarts(np.zeros(0, np.uint32), np.zeros(0, np.uint8), size)
