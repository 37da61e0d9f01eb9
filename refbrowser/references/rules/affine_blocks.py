"""Rows of integer columns put together to blocks over which every column is affine, by numpy.

The search is greedy and goes by levels. At each one, what was found so far is put in the order of one
coordinate; neighbours that are alike and go on by equal steps become one block with a dimension more. The
coordinate is the one that leaves the fewest blocks. As coordinates may be taken again, months and years, or
files and the chunks in each, are found as mixed-radix numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from refbrowser.references.rules.dimensions import INT_ROOM, Int64

Hashes = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]

#: Dimensions that a block may have.
_MOST_LEVELS = 8
#: Values of a list in a rule: software that renders rules one by one reads it anew for each of them.
LONGEST_LIST = 100
#: Elements that make a run whatever their steps are. Two make one where others go on by the same steps, or
#: where they are alike in more than one row.
_RUN = 3
#: Blocks of which lists are tried.
_MOST_LISTED = 200_000
#: Where this part of so many blocks is left by a level, and nothing is gained by it, no more levels are made.
_VAIN = 0.8
#: Pauses in looking along one coordinate.
_PAUSES = 3
#: About how many bytes of text a rule takes beside its URL, each of its dimensions, and a number in a list.
_RULE_SIZE, _DIMENSION_SIZE, _ITEM_SIZE = 110, 40, 9


@dataclass(frozen=True)
class Level:
    """How blocks are made of those of the level below.

    Attributes
    ----------
    order
        Numbers of the lower blocks.
    start, count
        Of each block: its part of `order`.
    is_list
        Numbers of URLs go by no equal steps in the dimension of this level.
    """

    order: Int64
    start: Int64
    count: Int64
    is_list: bool = False


@dataclass(frozen=True)
class Blocks:
    """Blocks of rows.

    Attributes
    ----------
    base
        The columns at the first row of each block: coordinates, then free numbers, then all others.
    coordinates, free
        How many of the columns are coordinates, and how many behind these are numbers that may be listed.
    alike
        Of each block: blocks of equal hashes have the same dimensions and steps.
    size
        Bytes of text that the rows of each block take.
    room
        About how many bytes a rule of each block takes beyond the dimensions.
    rows_in
        How many rows each block has.
    levels
        From the lowest one.
    """

    base: tuple[Int64, ...]
    coordinates: int
    free: int
    alike: Hashes
    size: Int64
    room: Int64
    rows_in: Int64
    levels: tuple[Level, ...] = ()

    def __len__(self) -> int:
        return len(self.alike)

    @property
    def cost(self) -> int:
        """About how many bytes of text it takes to say what all blocks are."""
        return int(np.minimum(self.size, self.room + _DIMENSION_SIZE * len(self.levels)).sum())

    def rows(self, block: int) -> tuple[Int64, tuple[int, ...]]:
        """Return the rows of a block, and the lengths of its dimensions: outermost first, the last fastest.

        A dimension of length 1 is one that the block has not.
        """
        rows = np.array([block], np.int64)
        counts = []
        for level in reversed(self.levels):
            count = int(level.count[rows[0]])
            counts.append(count)
            rows = level.order[(level.start[rows][:, None] + np.arange(count)).reshape(-1)]
        return rows, tuple(counts)


def blocks_of(
    columns: Sequence[Int64], coordinates: int, free: int, kind: Int64, size: Int64, url_size: int
) -> Blocks:
    """Return each row as a block.

    Parameters
    ----------
    columns
        Coordinates, then numbers in URLs, then all others; of `coordinates` no two rows have the same.
    free
        How many columns are numbers in URLs.
    kind
        Rows of different kinds never meet in a block.
    size
        Bytes of text that each row takes.
    url_size
        Bytes of text that a URL takes.
    """
    room = np.full(len(kind), _RULE_SIZE + url_size, np.int64)
    ones = np.ones(len(kind), np.int64)
    return Blocks(tuple(columns), coordinates, free, kind.astype(np.uint64), size, room, ones)


def best_blocks(blocks: Blocks, told: Callable[[float], None] = lambda part: None) -> Blocks:
    """Return blocks that take the fewest bytes to say, as far as the search finds them.

    Parameters
    ----------
    told
        Called between steps with the part of the rows that is searched; may raise to end the work.
    """
    best = blocks
    count, done = len(blocks), 0
    # Later levels have few blocks left: the first one is nearly all of the work.
    most = _PAUSES * (len(_axes(blocks)) + 1)

    def pause() -> None:
        nonlocal done
        done += len(blocks)
        told(min(done / (most * count), 1))

    while len(blocks.levels) < _MOST_LEVELS:
        for axis in _axes(blocks) if blocks.free and len(blocks) <= _MOST_LISTED else ():
            pause()
            listed = _with_level(blocks, _runs(blocks, axis, pause, is_list=True))
            if listed.cost < best.cost:
                best = listed
        level: Level | None = None
        for axis in _axes(blocks):
            pause()
            found = _runs(blocks, axis, pause)
            if level is None or len(found.start) < len(level.start):
                level = found
        if level is None or len(level.start) == len(blocks):
            break
        is_vain = len(blocks) > _MOST_LISTED and len(level.start) > _VAIN * len(blocks)
        blocks = _with_level(blocks, level)
        if blocks.cost < best.cost:
            best = blocks
        elif is_vain:
            break
    return best


def _axes(blocks: Blocks) -> list[int]:
    """Return the coordinates that differ, the last one first."""
    axes = range(blocks.coordinates - 1, -1, -1)
    return [axis for axis in axes if len(blocks) and _differs(blocks.base[axis])]


def _differs(column: Int64 | Hashes) -> bool:
    return bool(column[0] != column[-1] or (column != column[0]).any())


def _order(blocks: Blocks, axis: int) -> tuple[Int64, Bools, Int64]:
    """Return the blocks in the order of all coordinates, `axis` fastest, those that are alike together.

    Then of each but the last one whether that which follows differs from it in `axis` alone, and by how much.
    """
    others = [blocks.base[number] for number in range(blocks.coordinates) if number != axis]
    if _differs(blocks.alike):
        # Runs that are among others, as of files that take turns, are found so.
        others.insert(0, np.unique(blocks.alike, return_inverse=True)[1].astype(np.int64))
    code = np.zeros(len(blocks), np.int64)
    total = int(blocks.base[axis].max()) + 1
    length = total
    for column in others:
        size = int(column.max()) + 1
        total *= size
        if total > INT_ROOM:
            return _order_by_columns(blocks.base[axis], others)
        code = code * size + column
    whole = code * length + blocks.base[axis]
    if (whole[1:] > whole[:-1]).all():
        order = np.arange(len(code))
    else:
        order = np.argsort(whole, kind="stable")
        whole, code = whole[order], code[order]
    return order, code[1:] == code[:-1], np.diff(whole)


def _order_by_columns(fastest: Int64, others: Sequence[Int64]) -> tuple[Int64, Bools, Int64]:
    """Do as `_order` where no integer holds all coordinates of a block."""
    order = np.lexsort([fastest, *reversed(others)])
    alone = np.ones(len(order) - 1, bool)
    for column in others:
        alone &= np.diff(column[order]) == 0
    return order, alone, np.diff(fastest[order])


def _runs(blocks: Blocks, axis: int, pause: Callable[[], None], *, is_list: bool = False) -> Level:
    """Return the level that puts neighbours along a coordinate together where they go on by equal steps."""
    order, link, step = _order(blocks, axis)
    pause()
    alike = blocks.alike[order]
    same = step[1:] == step[:-1]
    steps = alike[1:].copy()
    _mix(steps, step)
    for column in blocks.base[blocks.coordinates + (blocks.free if is_list else 0) :]:
        if _differs(column):
            step = np.diff(column[order])
            same &= step[1:] == step[:-1]
            _mix(steps, step)
    same &= link[1:] & link[:-1]
    pause()
    start, count = _cut(link, same, steps, blocks.rows_in[order] > 1)
    if is_list:
        start, count = _shortened(start, count)
    return Level(order, start, count, is_list)


def _mix(hashes: Hashes, column: Int64) -> None:
    hashes ^= column.view(np.uint64)
    hashes *= np.uint64(0x9E3779B97F4A7C15)
    hashes ^= hashes >> np.uint64(29)


def _cut(link: Bools, same: Bools, steps: Hashes, is_many: Bools) -> tuple[Int64, Int64]:
    """Return the first element and the number of elements of each run; elements in none are runs of one.

    Parameters
    ----------
    link
        Whether element k + 1 may follow element k.
    same
        Whether the steps to element k + 1 and to element k + 2 are the same ones.
    steps
        A hash of the step from element k to k + 1.
    is_many
        Whether element k has more than one row.
    """
    count = len(link) + 1
    begins = link.copy()
    begins[1:] &= ~same
    first = np.flatnonzero(begins)
    ends = link.copy()
    ends[:-1] &= ~same
    last = np.flatnonzero(ends) + 1
    is_long = last - first >= _RUN - 1
    # Runs that follow one another share an element: it belongs to the earlier one.
    starts, stops = first[is_long], last[is_long]
    shared = np.zeros(len(starts), bool)
    shared[1:] = starts[1:] == stops[:-1]
    starts = starts + shared
    kept = stops - starts >= _RUN - 1
    pairs = np.concatenate([first[~is_long], starts[~kept]])
    starts, stops = starts[kept], stops[kept]
    taken = np.zeros(count + 1, np.int64)
    taken[starts] += 1
    taken[stops + 1] -= 1
    is_taken = np.cumsum(taken[:-1]) > 0
    pairs = np.sort(pairs)
    pairs = pairs[~is_taken[pairs] & ~is_taken[pairs + 1]]
    pairs = pairs[is_many[pairs] | _are_usual(steps[pairs])]
    # Of pairs that share elements every other one.
    chain = np.ones(len(pairs), bool)
    chain[1:] = pairs[1:] != pairs[:-1] + 1
    heads = np.flatnonzero(chain)
    place = np.arange(len(pairs)) - np.repeat(heads, np.diff(heads, append=len(pairs)))
    pairs = pairs[place % 2 == 0]
    is_first = np.ones(count, bool)
    inside = np.zeros(count + 1, np.int64)
    inside[starts + 1] += 1
    inside[stops + 1] -= 1
    inside[pairs + 1] += 1
    inside[pairs + 2] -= 1
    is_first[np.cumsum(inside[:-1]) > 0] = False
    heads = np.flatnonzero(is_first)
    return heads, np.diff(heads, append=count)


def _are_usual(steps: Hashes) -> Bools:
    """Return which steps are there more than once: any two elements follow one another by some step."""
    ordered = np.sort(steps)
    again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(again):
        return np.zeros(len(steps), bool)
    usual: Bools = again[np.minimum(again.searchsorted(steps), len(again) - 1)] == steps
    return usual


def _shortened(start: Int64, count: Int64) -> tuple[Int64, Int64]:
    """Cut runs to the length that a list may have."""
    parts = -(-count // LONGEST_LIST)
    place = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    start = np.repeat(start, parts) + place * LONGEST_LIST
    return start, np.minimum(np.repeat(count, parts) - place * LONGEST_LIST, LONGEST_LIST)


def _with_level(blocks: Blocks, level: Level) -> Blocks:
    """Return the blocks that a level makes of blocks."""
    first = level.order[level.start]
    is_run = level.count > 1
    second = level.order[np.where(is_run, level.start + 1, level.start)]
    alike = blocks.alike[first]
    _mix(alike, np.where(is_run, level.count, 0))
    for column in blocks.base:
        _mix(alike, column[second] - column[first])
    size = np.add.reduceat(blocks.size[level.order], level.start)
    room = blocks.room[first]
    if level.is_list:
        room = room + np.where(is_run, level.count * _ITEM_SIZE, 0)
    # What is no run is what it was: it may meet others at a later level.
    alike = np.where(is_run, alike, blocks.alike[first])
    base = tuple(column[first] for column in blocks.base)
    rows_in = np.add.reduceat(blocks.rows_in[level.order], level.start)
    levels = (*blocks.levels, level)
    return replace(blocks, base=base, alike=alike, size=size, room=room, rows_in=rows_in, levels=levels)
