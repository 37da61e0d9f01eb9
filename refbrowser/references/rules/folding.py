"""References that stand one by one folded into gen rules (References specification, Version 1), with proof.

What comes in and what is compared are columns. A rule is only ever taken after all that it gives was compared
with the references that it stands for (`gives`), text by text and number by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.model.reference import ReferenceKind
from refbrowser.references.rules.affine_blocks import Blocks, best_blocks, blocks_of
from refbrowser.references.rules.dimensions import Int64
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.numbered_urls import NumberedUrls
from refbrowser.references.rules.text_columns import Digits, TextColumn, build
from refbrowser.references.text.json_edit import dump

#: References that a rule is made for at least, and how many times its size these take at least. As measured,
#: what compressed chunks have in common by chance stays below that; grids, files and dates are far above.
FEWEST, WORTH = 8, 2
#: Bytes that stand between two rules in a text.
_BETWEEN = 2
#: Rows that are compared at once.
_COMPARED = 1 << 15


@dataclass(frozen=True, eq=False)
class WrittenOut:
    """References of one array, a range of bytes each, no key twice.

    Attributes
    ----------
    prefix, separator
        What its keys begin with, and what stands between the coordinates.
    coordinates
        Columns of chunk coordinates.
    url
        Positions in a list of distinct URLs.
    offset, length
        Bytes.
    size
        Bytes of text that each reference takes, where templates stand for what its URL begins with.
    whole
        Whether they are whole files: offset and length mean nothing.
    """

    prefix: str
    separator: str
    coordinates: tuple[Int64, ...]
    url: Int64
    offset: Int64
    length: Int64
    size: Int64
    whole: bool = False

    def __len__(self) -> int:
        return len(self.url)

    def keys(self, rows: Int64) -> TextColumn:
        """Return the keys of rows."""
        parts: list[str | Digits] = [self.prefix]
        for number, column in enumerate(self.coordinates):
            parts += [self.separator] if number else []
            parts.append(Digits(column[rows]))
        return build(parts, len(rows))


@dataclass(frozen=True, eq=False)
class FoldedRule:
    """A gen rule, and what it stands for.

    Attributes
    ----------
    fields
        The members of the rule.
    rows
        The references that it gives, in the order in which it gives them.
    saved
        How many bytes of text less the rule takes than these.
    """

    fields: Mapping[str, Any]
    rows: Int64
    saved: int


def fold(
    array: WrittenOut,
    urls: Sequence[str],
    numbered: NumberedUrls,
    spared: Int64,
    names: Sequence[str],
    most: int,
    told: Callable[[float], None] = lambda part: None,
) -> list[FoldedRule]:
    """Return rules that make the text of an array's references smaller, those that save most first.

    No reference is in two of them; those that are in none are to stay.

    Parameters
    ----------
    urls, numbered
        The URLs that the array's positions mean.
    spared
        Bytes of each URL that a template would stand for.
    names
        Of dimensions, as many as a rule may have.
    most
        How many rules are looked for.
    told
        Called between steps with the part of the array that is searched, 0 to 1; may raise to end the work.
    """
    varying = [number for number, column in enumerate(numbered.numbers) if _varies(column[array.url])]
    numbers = [numbered.numbers[number][array.url] for number in varying]
    columns = [*array.coordinates, *numbers, array.offset, array.length]
    blocks = blocks_of(
        columns, len(array.coordinates), len(numbers), numbered.kind[array.url], array.size,
        len(urls[int(array.url[0])]) - int(spared[array.url[0]]),
    )  # fmt: skip
    blocks = best_blocks(blocks, told)
    told(1)
    gain = blocks.size - blocks.room
    chosen = np.flatnonzero((gain > 0) & (blocks.rows_in >= FEWEST))
    chosen = chosen[np.argsort(-gain[chosen], kind="stable")][:most]
    found = []
    for number, block in enumerate(chosen.tolist()):
        if not number % 64:
            told(1)
        made = _Block.of(blocks, block, columns)
        fields = _fields(made, array, urls, numbered, varying, names)
        size = len(dump(fields)) + _BETWEEN - int(spared[array.url[made.rows[0]]])
        stood = int(array.size[made.rows].sum())
        if stood >= WORTH * size:
            found.append(FoldedRule(fields, made.rows, stood - size))
    return sorted(found, key=lambda rule: -rule.saved)


def _varies(column: Int64) -> bool:
    return bool((column != column[0]).any())


@dataclass(frozen=True)
class _Side:
    """A dimension of a block: its length, what each column grows by, and of which columns it has a list."""

    length: int
    steps: tuple[int, ...]
    lists: Mapping[int, tuple[int, ...]]

    def place(self, coordinates: int) -> tuple[int, int]:
        """Return which coordinate it moves first, and how far: the farthest comes first."""
        axis = next(axis for axis in range(coordinates) if self.steps[axis])
        return axis, -self.steps[axis]


@dataclass(frozen=True)
class _Block:
    """A block with its columns: the first row, and what they grow by in each dimension, outermost first."""

    rows: Int64
    base: tuple[int, ...]
    sides: tuple[_Side, ...]

    @classmethod
    def of(cls, blocks: Blocks, block: int, columns: Sequence[Int64]) -> _Block:
        rows, counts = blocks.rows(block)
        base = tuple(int(column[rows[0]]) for column in columns)
        sides = []
        stride = len(rows)
        listed = range(blocks.coordinates, blocks.coordinates + blocks.free)
        for level, count in zip(reversed(blocks.levels), counts, strict=True):
            stride //= count
            if count == 1:
                continue
            second = int(rows[stride])
            steps = [int(column[second]) - first for column, first in zip(columns, base, strict=True)]
            lists: dict[int, tuple[int, ...]] = {}
            for number in listed if level.is_list else ():
                values = columns[number][rows[::stride]]
                if not (np.diff(values) == steps[number]).all():
                    lists[number] = tuple(values.tolist())
                    steps[number] = 0
            sides.append(_Side(count, tuple(steps), lists))
        # In the order of the coordinates, so that the rule gives its keys in theirs.
        order = sorted(range(len(sides)), key=lambda number: sides[number].place(blocks.coordinates))
        rows = rows.reshape([side.length for side in sides]).transpose(order).reshape(-1)
        return cls(rows, base, tuple(sides[number] for number in order))


@dataclass(frozen=True)
class _Name:
    """A dimension of a rule: its values are `first`, and `stride` more each."""

    name: str
    first: int
    stride: int

    def range(self, length: int) -> dict[str, int]:
        """Return the dimension as a rule has it."""
        found = {"start": self.first} if self.first else {}
        found["stop"] = self.first + (length - 1) * self.stride + 1
        return found | ({"step": self.stride} if self.stride != 1 else {})


def _named(block: _Block, coordinates: int, names: Sequence[str]) -> list[_Name]:
    """Return the dimensions: where one is a coordinate, it has the values of that, else it counts from 0."""
    found = []
    for number, side in enumerate(block.sides):
        moved = [axis for axis in range(coordinates) if side.steps[axis]]
        first, stride = 0, 1
        if len(moved) == 1 and not side.lists:
            axis = moved[0]
            step = side.steps[axis]
            alone = all(not other.steps[axis] for other in block.sides if other is not side)
            if alone and step > 0 and all(each % step == 0 for each in side.steps):
                first, stride = block.base[axis], step
        found.append(_Name(names[number], first, stride))
    return found


def _fields(
    block: _Block,
    array: WrittenOut,
    urls: Sequence[str],
    numbered: NumberedUrls,
    varying: Sequence[int],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return the members of the rule that gives a block."""
    ndim = len(array.coordinates)
    named = _named(block, ndim, names)
    key = [_printed(block, axis, named) for axis in range(ndim)]
    position = int(array.url[block.rows[0]])
    texts = numbered.texts(position, urls[position])
    parts = [texts[0]]
    places = [number for number, stop in enumerate(numbered.stops) if stop[position]]
    for number, text in zip(places, texts[1:], strict=True):
        width = int(numbered.widths[number][position])
        if number in varying:
            parts.append(_printed(block, ndim + varying.index(number), named, width))
        else:
            parts.append(f"{int(numbered.numbers[number][position]):0{width}d}")
        parts.append(text)
    fields: dict[str, Any] = {"key": array.prefix + array.separator.join(key), "url": "".join(parts)}
    if not array.whole:
        fields["offset"] = _printed(block, ndim + len(varying), named)
        fields["length"] = _printed(block, ndim + len(varying) + 1, named)
    fields["dimensions"] = {
        each.name: each.range(side.length) for each, side in zip(named, block.sides, strict=True)
    }
    return fields


def _printed(block: _Block, column: int, named: Sequence[_Name], width: int = 0) -> str:
    """Return the jinja-str of one column of a block."""
    constant, terms = block.base[column], []
    for side, each in zip(block.sides, named, strict=True):
        if column in side.lists:
            items = ",".join(map(str, side.lists[column]))
            terms.append((1, f"[{items}][{each.name}]"))
            constant -= block.base[column]
        elif side.steps[column]:
            factor = side.steps[column] // each.stride
            terms.append((factor, each.name))
            constant -= factor * each.first
    if not terms:
        return f"{constant:0{width}d}"
    text = _sum(constant, terms)
    if not width:
        return f"{{{{{text}}}}}"
    is_alone = len(terms) == 1 and not constant and terms[0][0] == 1
    return f"{{{{'%0{width}d' % {text if is_alone else f'({text})'}}}}}"


def _sum(constant: int, terms: Sequence[tuple[int, str]]) -> str:
    """Return a sum as text; a constant stands in front where all else would begin with a minus."""
    found = "".join(
        f"{'-' if factor < 0 else '+'}{'' if abs(factor) == 1 else f'{abs(factor)}*'}{name}"
        for factor, name in sorted(terms, key=lambda term: term[0] < 0)
    )
    if found.startswith("-"):
        return f"{constant}{found}"
    return found[1:] + (f"{constant:+d}" if constant else "")


def gives(
    rule: GenRule,
    array: WrittenOut,
    rows: Int64,
    urls: Sequence[str],
    told: Callable[[int], None] = lambda count: None,
) -> bool:
    """Return whether a rule gives just the references at `rows`, in that order; every one is compared.

    Parameters
    ----------
    urls
        The URLs that the array's positions mean, rendered.
    told
        Called between steps with how many are compared; may raise to end the work.
    """
    if rule.structure_faults or rule.clashes or rule.count != len(rows) or rule.columns is None:
        return False
    if any(field.faults for field in rule.fields.values()):
        return False
    for start in range(0, len(rows), _COMPARED):
        told(start)
        if not _gives_some(rule, start, array, rows[start : start + _COMPARED], urls):
            return False
    return True


def _gives_some(rule: GenRule, start: int, array: WrittenOut, rows: Int64, urls: Sequence[str]) -> bool:
    column = rule.rows(start, start + len(rows)).column("key")
    expected = array.keys(rows)
    if column is None or column.faults or not isinstance(column.values, TextColumn):
        return False
    if column.values.separator != expected.separator:
        return False
    if not np.array_equal(column.values.data, expected.data):
        return False
    found = rule.references(np.arange(start, start + len(rows), dtype=np.int64))
    if not (found.kind == (ReferenceKind.WHOLE if array.whole else ReferenceKind.RANGE)).all():
        return False
    if not array.whole and not (
        np.array_equal(found.offset, array.offset[rows]) and np.array_equal(found.length, array.length[rows])
    ):
        return False
    # Each distinct URL of the rule is one of the array's, and at the same rows.
    wanted = array.url[rows]
    meant = np.zeros(len(found.urls), np.int64)
    meant[found.url] = wanted
    return np.array_equal(meant[found.url], wanted) and all(
        text == urls[number] for text, number in zip(found.urls, meant.tolist(), strict=True)
    )


def dimension_names(taken: Callable[[str], bool], count: int) -> tuple[str, ...]:
    """Return names for dimensions, as few letters as can be, of which none is taken."""

    def names() -> Iterator[str]:
        letters = "ijklmnpqrstxyzabcdefgh"
        yield from letters
        number = 1
        while True:
            yield f"i{number}"
            number += 1

    found: list[str] = []
    for name in names():
        if len(found) == count:
            break
        if not taken(name):
            found.append(name)
    return tuple(found)
