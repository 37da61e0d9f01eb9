"""Which part of a variable each of its messages gives, and the regular grid of tiles that they make."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from refbrowser.formats.ncstream.messages import MessageTable

Ints = npt.NDArray[np.int64]
#: Elements that a tile has at least: fewer are not worth the time that a tile takes.
_LEAST = 1 << 16
#: Elements that a tile has at most where any part of a message can be read alone.
_MOST = 1 << 21
#: Tiles of a message that was cut, about, and of a variable that has one.
_OF_CUT, _OF_ALL = 64, 1 << 16
#: Tiles of a variable of which something is lost, at most where its messages are small.
_OF_DAMAGED = 1 << 10


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """What each of some messages of a variable gives, in their order.

    Attributes
    ----------
    numbers
        Of the messages, ascending, shape (n,).
    starts, sizes, strides
        Shape (n, rank); the stride of a single element is 1.
    arrived
        Where the stream was cut off within the last of them: how many of its elements are there; else -1.
    damaged
        Which of them cannot be read; None where all can.
    has_lost_rest
        What none of them gives may have been lost with messages of which more is not known.
    """

    numbers: Ints
    starts: Ints
    sizes: Ints
    strides: Ints
    arrived: int = -1
    damaged: npt.NDArray[np.bool_] | None = None
    has_lost_rest: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def lasts(self) -> Ints:
        """The last element of each along each dimension."""
        return self.starts + (self.sizes - 1) * self.strides

    def section(self, row: int) -> tuple[range, ...]:
        """Return what one of them gives, a range for each dimension."""
        columns = (self.starts[row], self.sizes[row], self.strides[row])
        each = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(range(start, start + (size - 1) * by + 1, by) for start, size, by in each)

    def taken(self, rows: npt.NDArray[np.bool_] | Ints) -> Sections:
        """Return some of them."""
        damaged = None if self.damaged is None else self.damaged[rows]
        columns = (self.numbers[rows], self.starts[rows], self.sizes[rows], self.strides[rows])
        return Sections(*columns, damaged=damaged, has_lost_rest=self.has_lost_rest)


def sections_of(table: MessageTable, numbers: Ints, shape: tuple[int, ...]) -> tuple[Sections, Ints]:
    """Return what messages give, and the numbers of those whose section is none of the variable.

    Messages without any element are left out.
    """
    rank = len(shape)
    # A scalar may be without a section.
    fits = table.rank[numbers] == rank if rank else table.rank[numbers] <= 0
    good = numbers[fits]
    rows = table.section[good][:, None] + np.arange(rank)[None, :]
    starts, sizes, strides = (column[rows] for column in (table.starts, table.sizes, table.strides))
    filled = (sizes != 0).all(axis=1)
    lengths = np.asarray(shape, np.int64)[None, :]
    inside = (starts >= 0) & (starts < lengths) & (strides > 0) & (sizes > 0)
    # In this form no product can overflow.
    inside &= sizes - 1 <= (lengths - 1 - starts) // np.maximum(strides, 1)
    good_rows = inside.all(axis=1) & filled
    bad = np.concatenate([numbers[~fits], good[filled & ~good_rows]])
    strides = np.where(sizes > 1, strides, 1)
    found = Sections(good, starts, sizes, strides)
    return found.taken(good_rows), np.sort(bad)


def regular_chunks(sections: Sections) -> tuple[tuple[int, ...], Sections] | None:
    """Return the shape of the chunks of a regular grid that sections are, and one section a chunk.

    Where several give the same chunk the last one counts. None where they are not all whole chunks of one
    grid.
    """
    if not len(sections):
        return None
    chunk = sections.sizes[0]
    whole = (sections.sizes == chunk).all() and (sections.strides == 1).all()
    if not whole or (sections.starts % chunk).any():
        return None
    coords = sections.starts // chunk
    # The last of equal ones: the first when looked at from the end.
    _, at = np.unique(coords[::-1], axis=0, return_index=True)
    rows = np.sort(len(sections) - 1 - at)
    return tuple(chunk.tolist()), sections.taken(rows)


def tile_shape(
    shape: tuple[int, ...], sections: Sections, *, divisible: bool, least: int = _LEAST, most: int = _MOST
) -> tuple[int, ...]:
    """Return the shape of tiles in which a variable is read whose messages are no regular chunks.

    Parameters
    ----------
    divisible
        Any part of a message can be read alone; else a tile holds a whole one where that is possible.
    least, most
        Elements of a tile: smaller ones are joined, larger ones parted where they are `divisible`.
    """
    sides = [1] * len(shape)
    if len(sections):
        reach = (sections.lasts - sections.starts + 1).max(axis=0)
        sides = np.minimum(reach, np.maximum(shape, 1)).tolist()
    if divisible:
        sides = _smaller(sides, most)
    # Small tiles are joined, the last dimensions first.
    for axis in reversed(range(len(shape))):
        others = prod(sides) // sides[axis]
        if others * sides[axis] >= least:
            break
        times = -(-least // max(others * sides[axis], 1))
        sides[axis] = max(min(sides[axis] * times, shape[axis]), 1)
    return tuple(sides)


def cut_tile_shape(
    shape: tuple[int, ...], sections: Sections, is_cut: npt.NDArray[np.bool_], *, divisible: bool
) -> tuple[int, ...]:
    """Return the shape of tiles for a variable one of whose messages was cut: one tile hides little.

    Parameters
    ----------
    is_cut
        Which of `sections` that is.
    """
    cut = sections.taken(is_cut)
    return tile_shape(
        shape,
        cut if divisible else sections,
        divisible=divisible,
        least=min(prod(shape) // _OF_ALL, _MOST),
        most=max(min(prod(cut.sizes[0].tolist()) // _OF_CUT, _MOST), 1),
    )


def damaged_tile_shape(
    shape: tuple[int, ...], sections: Sections, lost: Sections, *, divisible: bool
) -> tuple[int, ...]:
    """Return the shape of tiles for a variable of which something is lost: one tile hides little else.

    Parameters
    ----------
    lost
        What damaged messages were to give.
    """
    least = min(prod(shape) // _OF_DAMAGED, _MOST)
    known = [each for each in (sections, lost) if len(each)]
    if not known:
        return tile_shape(shape, sections, divisible=divisible)
    if not divisible:
        return tile_shape(shape, sections, divisible=False, least=least)
    # Where all begin and end at multiples of a number, no tile lies across the end of one.
    edges = np.concatenate([edge for each in known for edge in (each.starts, each.lasts + 1)])
    sides = np.maximum(np.gcd.reduce(edges, axis=0), 1)[None, :]
    of_one = Sections(np.zeros(1, np.int64), np.zeros_like(sides), sides, np.ones_like(sides))
    return tile_shape(shape, of_one, divisible=True, least=least)


def _smaller(sides: list[int], most: int) -> list[int]:
    """Return the sides of a tile of not too many elements, cut along its first dimensions."""
    cut = list(sides)
    for axis in range(len(cut)):
        if prod(cut) <= most:
            break
        inner = prod(cut[axis + 1 :])
        cut[axis] = max(min(cut[axis], most // inner), 1)
    return cut
