"""Where the ranges of gen rules lie in a file, by arithmetic, however many there are; and their URLs."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from refbrowser.io.access import is_chained, storage_url
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.integer_expressions import Affine, bounds
from refbrowser.references.rules.layouts import ChunkLayout, Generated, RangeLayout
from refbrowser.references.rules.text_columns import TextColumn
from refbrowser.views.bytes.byte_runs import Ints, Lattice, LatticeStep

#: URLs of a rule that are compared with that of the file.
URLS_MOST = 100_000
_LARGEST = (1 << 63) - 1


def may_lead_to(rule: Generated, url: str) -> bool:
    """Tell whether references that something makes may lead to a file; False is certain."""
    if isinstance(rule, RangeLayout):
        return rule.head == url
    if isinstance(rule, ChunkLayout):
        head = storage_url(rule.head + rule.tail)
        return head == url if is_chained(rule.head) else url.startswith(rule.head) and not rule.tail
    assert isinstance(rule, GenRule)
    if "url" not in rule.fields:
        return False
    start = rule.static_origin()
    return url.startswith(start) or start.startswith(url)


def lattices_of(
    rule: GenRule, url: str
) -> list[tuple[Lattice, tuple[tuple[int, int], ...]]] | tuple[int, int]:
    """Return the ranges of a rule in a file by arithmetic, each with the dimensions that the URL fixes.

    Where that cannot be, the bytes between which they are: from the first to behind the last, or twice 0.
    """
    columns = rule.columns
    if columns is None:
        return []
    offset, length = columns.integers.get("offset"), columns.integers.get("length")
    if offset is None or length is None:
        return 0, 0
    reach, sizes = bounds(offset, rule.space), bounds(length, rule.space)
    if reach is None or sizes is None:
        return 0, 0
    span = max(reach[0], 0), min(max(reach[1] + sizes[1], 0), _LARGEST)
    places = _places_of_url(rule, url)
    if places is None or not isinstance(offset, Affine) or sizes[0] != sizes[1]:
        return span
    found = []
    for fixed in places:
        lattice = _lattice(rule, offset, sizes[0], fixed)
        if lattice is None:
            return span
        found.append((lattice, tuple(fixed.items())))
    return found


class RuleUrls(NamedTuple):
    """The URLs of a rule, one for each combination of those dimensions that they depend on.

    Attributes
    ----------
    slots
        The dimensions, by number.
    positions
        Where in each of them each URL is, in the order of `texts`.
    """

    slots: list[int]
    positions: tuple[Ints, ...]
    texts: list[str]


def urls_of_rule(rule: GenRule, most: int) -> RuleUrls | None:
    """Return the URLs of a rule; None where there may be more than `most`."""
    columns = rule.columns
    if columns is None or "url" not in rule.fields:
        return RuleUrls([], (), [])
    slots = sorted(columns.slots("url"))
    lengths = tuple(rule.space.lengths[slot] for slot in slots)
    count = prod(lengths)
    if count > most or columns.is_wide:
        return None
    found = np.unravel_index(np.arange(count), lengths) if slots else ()
    index = tuple(column.astype(np.int64) for column in found)
    none = np.zeros(count, np.int64)
    positions = [
        index[slots.index(slot)] if slot in slots else none for slot in range(len(rule.space.dimensions))
    ]
    values = columns.column("url", positions, count).values
    texts = values.texts if isinstance(values, TextColumn) else values
    return RuleUrls(slots, index, [str(text or "") for text in texts])


def _places_of_url(rule: GenRule, url: str) -> list[dict[int, int]] | None:
    """Return where in the dimensions of its URL a rule leads to a file; None where that is not decided."""
    urls = urls_of_rule(rule, URLS_MOST)
    if urls is None:
        return None
    hits = [at for at, text in enumerate(urls.texts) if text == url]
    return [
        {slot: int(column[at]) for slot, column in zip(urls.slots, urls.positions, strict=True)}
        for at in hits
    ]


def _lattice(rule: GenRule, offset: Affine, length: int, fixed: dict[int, int]) -> Lattice | None:
    terms, base = dict(offset.terms), offset.constant
    steps = []
    for slot, dimension in enumerate(rule.space.dimensions):
        coefficient = terms.get(slot, 0)
        if slot in fixed:
            base += coefficient * dimension.values[fixed[slot]] if coefficient else 0
        elif not coefficient:
            if dimension.length > 1:
                # The same bytes again and again.
                return None
        elif not isinstance(dimension.values, range):
            return None
        else:
            stride = coefficient * dimension.values.step
            base += coefficient * dimension.values.start + min(stride, 0) * (dimension.length - 1)
            steps.append(LatticeStep(abs(stride), dimension.length, slot, stride < 0))
    return Lattice.of(base, length, steps)
