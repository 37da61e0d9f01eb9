"""Rows of a rule for the chunks of an array: coordinates against the pattern of the key, as columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.rules.dimensions import INT_ROOM, Int64
from refbrowser.references.rules.gen_keys import KeyPattern, rows_of
from refbrowser.references.rules.gen_solver import Plan, make_plan
from refbrowser.references.rules.integer_expressions import IntegerExpression, bounds, fits_int64
from refbrowser.references.rules.lowering import IntegerPiece

_RUNS = re.compile(r"[0-9]+|[^0-9]+")

MISSING = -1
UNDECIDED = -2


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """How the coordinates of an array's chunks meet the integers of a key.

    Attributes
    ----------
    constants
        (axis, coordinate) that the key fixes.
    equations
        (expression, axis): the expression has the value of that coordinate.
    fixed
        (expression, value) from digits in the prefix.
    widths
        (axis, width): digits that the key pads with zeros; a coordinate has none, so it must be as long.
    """

    constants: tuple[tuple[int, int], ...]
    equations: tuple[tuple[IntegerExpression, int], ...]
    fixed: tuple[tuple[IntegerExpression, int], ...]
    widths: tuple[tuple[int, int], ...]


def match_chunks(
    pattern: KeyPattern, prefix: str, ndim: int, encoding: ChunkKeyEncoding
) -> ChunkMatch | Literal[False] | None:
    """Return how keys ``prefix + encoding.encode(coords)`` meet a pattern.

    False where no key of the rule can be one of these, None where that cannot be read off the pattern.
    """
    if not pattern.separated or ndim == 0:
        return None
    tokens = _pattern_tokens(pattern)
    if tokens is None:
        return None
    target = _target_tokens(prefix, ndim, encoding)
    mismatch: Literal[False] | None = None if pattern.may_be_negative else False
    if len(tokens) != len(target):
        return mismatch
    constants, equations, fixed, widths = [], [], [], []
    for mine, other in zip(tokens, target, strict=True):
        if isinstance(other, int):
            if isinstance(mine, IntegerPiece):
                equations.append((mine.value, other))
                widths.append((other, mine.width))
            elif mine.isdecimal() and (mine == "0" or mine[0] != "0"):
                constants.append((other, int(mine)))
            else:
                return mismatch
        elif isinstance(mine, IntegerPiece):
            if not other.isdecimal() or f"{int(other):0{max(mine.width, 1)}d}" != other:
                return mismatch
            fixed.append((mine.value, int(other)))
        elif mine != other:
            return mismatch
    return ChunkMatch(tuple(constants), tuple(equations), tuple(fixed), tuple(widths))


def _pattern_tokens(pattern: KeyPattern) -> list[str | IntegerPiece] | None:
    """Return the key as runs of digits, other texts and integers; None where digits touch an integer."""
    tokens: list[str | IntegerPiece] = []
    for piece in pattern.pieces:
        runs: list[str | IntegerPiece] = _RUNS.findall(piece) if isinstance(piece, str) else [piece]
        if tokens and _is_number(tokens[-1]) and _is_number(runs[0]):
            return None
        tokens.extend(runs)
    return tokens


def _is_number(token: str | IntegerPiece) -> bool:
    return isinstance(token, IntegerPiece) or "0" <= token[0] <= "9"


def _target_tokens(prefix: str, ndim: int, encoding: ChunkKeyEncoding) -> list[str | int]:
    """Return the keys of chunks as runs of text and numbers of axes."""
    tokens: list[str | int] = []
    axis = 0
    for run in _RUNS.findall(encoding.encode((0,) * ndim)):
        if run == "0":
            tokens.append(axis)
            axis += 1
        else:
            tokens.append(run)
    runs: list[str] = _RUNS.findall(prefix)
    if runs and tokens and isinstance(tokens[0], str):
        tokens[0] = runs.pop() + tokens[0]
    return [*runs, *tokens]


def find_rows(pattern: KeyPattern, match: ChunkMatch, coords: Int64) -> Int64 | None:
    """Return the last row for each chunk, -1 where the rule gives none; None where numpy cannot decide it.

    A row beyond 2^63 is `UNDECIDED`: columns have no room for its number.
    """
    size = len(coords)
    plan = _plan(pattern, match)
    if plan.open or any(length > INT_ROOM for length in pattern.space.lengths):
        return None
    if not all(fits_int64(piece.value, pattern.space) for piece in pattern.numbers):
        return None
    good = np.ones(size, dtype=bool)
    for axis, value in match.constants:
        good &= coords[:, axis] == value
    for axis, width in match.widths:
        if width > 1:
            good &= coords[:, axis] >= 10 ** (width - 1)
    inputs = []
    for expression, axis in match.equations:
        inputs.append(_within(np.ascontiguousarray(coords[:, axis]), expression, pattern, good))
    for expression, value in match.fixed:
        limited = min(value, INT_ROOM)
        inputs.append(_within(np.full(size, limited, dtype=np.int64), expression, pattern, good))
    rows = rows_of(pattern, plan, inputs, size)
    return rows if good.all() else np.where(good, rows, MISSING)


def _within(
    column: Int64, expression: IntegerExpression, pattern: KeyPattern, good: npt.NDArray[np.bool_]
) -> Int64:
    """Mark the rows that no value of the expression has; what is left cannot wrap in any step."""
    low, high = bounds(expression, pattern.space) or (0, 0)
    if not len(column) or (int(column.min()) >= low and int(column.max()) <= high):
        return column
    good &= (column >= low) & (column <= high)
    return np.clip(column, low, high)


def _plan(pattern: KeyPattern, match: ChunkMatch) -> Plan:
    expressions = [expression for expression, _ in (*match.equations, *match.fixed)]
    return make_plan(
        pattern.space,
        [(expression, number) for number, expression in enumerate(expressions)],
        len(expressions),
    )
