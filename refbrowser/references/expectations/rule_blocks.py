"""The chunks that a gen rule gives to an array, as blocks: read off its key by arithmetic, never expanded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.limits import LIMITS
from refbrowser.references.expectations.chunk_sets import ChunkBlock, UndecidedSetError
from refbrowser.references.rules.integer_expressions import Affine
from refbrowser.references.rules.rule_keys import match_chunks

if TYPE_CHECKING:
    from refbrowser.model.chunk_keys import ChunkKeyEncoding
    from refbrowser.references.rules.dimensions import RowSpace
    from refbrowser.references.rules.gen import GenRule
    from refbrowser.references.rules.integer_expressions import IntegerExpression
    from refbrowser.references.rules.rule_keys import ChunkMatch

#: Progressions that a sum of two dimensions is taken apart into.
_MOST_APART = 1_000


def rule_blocks(rule: GenRule, prefix: str, ndim: int, encoding: ChunkKeyEncoding) -> Iterator[ChunkBlock]:
    """Yield blocks of the chunks of an array that a rule has keys of; they may meet.

    Parameters
    ----------
    prefix
        What stands before the keys of the array's chunks: ``temp/``.

    Raises
    ------
    UndecidedSetError
        The key is no affine one, or one dimension decides along two axes.
    """
    if not rule.count or not rule.may_give(prefix):
        return
    pattern = rule.pattern
    match = None if pattern is None else match_chunks(pattern, prefix, ndim, encoding)
    if match is False:
        return
    if match is None or pattern is None:
        raise UndecidedSetError
    axes = _axes(match, pattern.space, ndim)
    if np.prod([len(each) for each in axes], dtype=object) > LIMITS.expect_blocks:
        raise UndecidedSetError
    yield from (ChunkBlock(each) for each in product(*axes))


def _axes(match: ChunkMatch, space: RowSpace, ndim: int) -> list[list[range]]:
    """Return the progressions of coordinates along each axis; none along one of a key that never fits."""
    axes: list[list[range]] = [[] for _ in range(ndim)]
    used: set[int] = set()
    for axis, value in match.constants:
        axes[axis] = [range(value, value + 1)]
    for expression, value in match.fixed:
        if not isinstance(expression, Affine) or expression.terms:
            raise UndecidedSetError
        if expression.constant != value:
            return [[] for _ in range(ndim)]
    for expression, axis in match.equations:
        if used & expression.uses:
            raise UndecidedSetError
        used |= expression.uses
        axes[axis] = _progressions(expression, space)
    for axis, width in match.widths:
        # What is padded with zeros is the key of no chunk.
        least = 10 ** (width - 1) if width > 1 else 0
        cut = (range(_first_from(each, least), each.stop, each.step) for each in axes[axis])
        axes[axis] = [each for each in cut if each]
    return axes


def _first_from(each: range, least: int) -> int:
    steps = -(-(least - each.start) // each.step)
    return each.start + max(steps, 0) * each.step


def _progressions(expression: IntegerExpression, space: RowSpace) -> list[range]:
    """Return the values of an expression as rising progressions."""
    if not isinstance(expression, Affine):
        raise UndecidedSetError
    found = [range(expression.constant, expression.constant + 1)]
    for slot, factor in sorted(expression.terms, key=lambda term: abs(term[1])):
        terms = [_times(each, factor) for each in _runs(space.dimensions[slot].values)]
        if len(found) * len(terms) > LIMITS.expect_blocks:
            raise UndecidedSetError
        found = [sum_ for one in found for other in terms for sum_ in _sums(one, other)]
    return found


def _runs(values: range | tuple[object, ...]) -> list[range]:
    """Return the integers of a dimension as rising progressions."""
    if isinstance(values, range):
        return [values if values.step > 0 else values[::-1]]
    if not all(isinstance(value, int) for value in values):
        raise UndecidedSetError
    column = np.unique(np.array(values, object))
    found: list[range] = []
    for value in column.tolist():
        last = found[-1] if found else None
        if last is not None and (len(last) == 1 or value - last[-1] == last.step):
            step = value - last[-1]
            found[-1] = range(last.start, value + step, step)
        else:
            found.append(range(value, value + 1))
    return found


def _length(each: range) -> int:
    """Return how many numbers a rising progression has, as many as they may be."""
    return max(-(-(each.stop - each.start) // each.step), 0)


def _times(each: range, factor: int) -> range:
    start, last, step = each.start * factor, each[-1] * factor, each.step * factor
    return range(start, last + 1, step) if step > 0 else range(last, start + 1, -step)


def _sums(one: range, other: range) -> list[range]:
    """Return the sums of each of one and each of another progression: one again, or a few that may meet."""
    start = one.start + other.start
    if _length(one) == 1 or _length(other) == 1:
        longer = one if _length(other) == 1 else other
        return [range(start, start + longer[-1] - longer.start + 1, longer.step)]
    low, high = sorted((one, other), key=lambda each: each.step)
    if high.step % low.step or high.step > low.step * _length(low):
        few, many = sorted((one, other), key=_length)
        if _length(few) > _MOST_APART:
            raise UndecidedSetError
        return [range(many.start + each, many[-1] + each + 1, many.step) for each in few]
    return [range(start, one[-1] + other[-1] + 1, low.step)]
