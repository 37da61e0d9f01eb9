"""Which message supplied each element: against painting one element after the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.wings.ncstream.reading.sections import Sections
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS
from refbrowser.wings.ncstream.views import supply as module
from refbrowser.wings.ncstream.views.supply import (
    LOST,
    NEVER,
    UNDECIDED,
    Supply,
    is_lost,
    messages_of_element,
    supply_of,
    taken_for,
)
from refbrowser.wings.ncstream.views.supply_classes import MOST_ALONE, TOGETHER, SupplyKind, coloured, labels

Section = tuple[range, ...]


def sections_from(parts: Sequence[Section], numbers: Sequence[int] | None = None, rank: int = 2) -> Sections:
    """Return sections; message numbers are 10, 11, ... where they are not given."""
    columns = [
        np.array([[getattr(each, name) for each in part] for part in parts], np.int64).reshape(
            len(parts), rank
        )
        for name in ("start", "step")
    ]
    sizes = np.array([[len(each) for each in part] for part in parts], np.int64).reshape(len(parts), rank)
    given_numbers = range(10, 10 + len(parts)) if numbers is None else numbers
    return Sections(np.array(given_numbers, np.int64), columns[0], sizes, columns[1])


def axis_range(size: int) -> st.SearchStrategy[range]:
    return st.builds(
        lambda start, stop, step: range(start, max(start + 1, stop), step),
        st.integers(0, size - 1),
        st.integers(1, size),
        st.integers(1, size + 2),
    )


@st.composite
def cases(
    draw: st.DrawFn,
) -> tuple[tuple[int, ...], list[Section], tuple[int, ...], tuple[int, ...], list[range]]:
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=4)))
    parts = draw(st.lists(st.tuples(*map(axis_range, shape)), max_size=8))
    axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(1, min(2, len(shape))))]
    indices = draw(st.tuples(*(st.integers(0, size - 1) for size in shape)))
    taken = [draw(axis_range(shape[axis])) for axis in axes]
    return shape, parts, indices, tuple(axes), taken


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(cases(), st.sampled_from([0, 256]), st.sampled_from([3, 1000]))
def test_it_is_what_painting_each_element_gives(case, small: int, at_once: int) -> None:
    shape, parts, indices, axes, taken = case
    sections = sections_from(parts, rank=len(shape))
    # Small messages are laid down together, large ones one by one: both ways.
    with patch.object(module, "_SMALL_SECTION", small), patch.object(module, "_AT_ONCE", at_once):
        supply = supply_of(sections, indices, axes, taken)
    for position in itertools.product(*(range(len(each)) for each in taken)):
        full = list(indices)
        for axis, each, at in zip(axes, taken, position, strict=True):
            full[axis] = each[at]
        givers = [
            10 + number
            for number, part in enumerate(parts)
            if all(index in each for index, each in zip(full, part, strict=True))
        ]
        assert supply.message_at(position) == (givers[-1] if givers else NEVER)
        assert supply.counts[position] == len(givers)
        assert messages_of_element(sections, full) == givers
    assert supply.seen.sum() + supply.count(NEVER) == supply.rows.size
    assert supply.overwritten == int((supply.counts > 1).sum())


@pytest.mark.parametrize("small", [0, 256])
def test_overlaps_are_counted_over_all_messages(small: int) -> None:
    parts = [(range(0, 4), range(0, 5)), (range(1, 3), range(0, 5, 2)), (range(1, 2), range(2, 4))] * 2
    with patch.object(module, "_SMALL_SECTION", small), patch.object(module, "_AT_ONCE", 3):
        supply = supply_of(sections_from(parts), (0, 0), (0, 1), [range(4), range(5)])
    assert supply.counts.tolist() == [[2] * 5, [4, 2, 6, 4, 4], [4, 2, 4, 2, 4], [2] * 5]
    assert supply.rows.tolist() == [[3] * 5, [4, 3, 5, 5, 4], [4, 3, 4, 3, 4], [3] * 5]


def test_sections_as_large_as_numbers_are_met_without_overflow() -> None:
    far = 2**62
    parts = [(range(far, far + 5, 3),), (range(7, far, 2**61),), (range(0, 2**62, 2**33),)]
    sections = sections_from(parts, rank=1)
    ranges = [range(far - 1, far + 5)], [range(0, 12, 7)], [range(0, 2**62, 2**50)], [range(1, 2**62, 2**50)]
    for (taken,) in ranges:
        supply = supply_of(sections, (0,), (0,), [taken[:6]])
        for at, index in enumerate(taken[:6]):
            givers = [10 + number for number, (part,) in enumerate(parts) if index in part]
            assert supply.message_at((at,)) == (givers[-1] if givers else NEVER)


def test_a_scalar_has_its_message() -> None:
    supply = supply_of(sections_from([(), ()], rank=0), (), (), [])
    assert supply.message_at(()) == 11
    assert supply.counts[()] == 2


def test_work_is_bounded_and_what_was_not_found_out_is_told() -> None:
    object.__setattr__(STREAM_LIMITS, "supply_work", 100)
    try:
        parts = [(range(0, 10), range(0, 10)), *[(range(0, 5), range(0, 10))] * 5]
        supply = supply_of(sections_from(parts), (0, 0), (0, 1), [range(10), range(10)])
    finally:
        object.__setattr__(STREAM_LIMITS, "supply_work", 1 << 30)
    assert supply.message_at((0, 0)) == 15
    assert supply.message_at((9, 9)) == UNDECIDED
    assert supply.count(NEVER) == 0


def test_a_picture_of_a_large_array_is_sampled() -> None:
    taken = taken_for((10**9, 10**9), most=10_000)
    assert len(taken[0]) * len(taken[1]) <= 10_000
    sections = sections_from([(range(0, 10**9), range(0, 5 * 10**8)), (range(0, 10), range(0, 10**9))])
    supply = supply_of(sections, (0, 0), (0, 1), taken)
    assert [supply.message_at(place) for place in ((0, 99), (1, 0), (1, 99))] == [11, 10, NEVER]


def test_it_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        supply_of(sections_from([(range(3), range(3))]), (0, 0), (0, 1), [range(3), range(3)], token)


def test_classes_tell_messages_and_what_was_never_sent_apart() -> None:
    parts = [(range(0, 4), range(0, 6)), (range(2, 4), range(0, 3)), (range(0, 4), range(0, 1))]
    supply = supply_of(sections_from(parts), (0, 0), (0, 1), [range(5), range(6)])
    shown = coloured(supply)
    assert [(each.kind, each.first, each.elements, each.overwritten) for each in shown.legend] == [
        (SupplyKind.MESSAGE, 10, 16, 0),
        (SupplyKind.MESSAGE, 11, 4, 4),
        (SupplyKind.MESSAGE, 12, 4, 4),
        (SupplyKind.NEVER, -1, 6, 0),
    ]
    assert shown.classes[:, 0].tolist() == [5, 5, 5, 5, 6]
    assert shown.classes[3].tolist() == [5, 3, 3, 0, 0, 0]
    named = labels(supply)
    assert {label.number: label.centre for label in named} == {11: (2, 1), 12: (1, 0)} | {10: (1, 2)}


@pytest.mark.parametrize("count", [12, 13, 15, 16, 17, 100])
def test_many_messages_share_classes_in_their_order(count: int) -> None:
    parts = [(range(row, row + 1), range(0, 4)) for row in range(count)]
    shown = coloured(supply_of(sections_from(parts), (0, 0), (0, 1), [range(count), range(4)]))
    assert len(shown.legend) == min(TOGETHER, count)
    assert all(each.is_scale == (count > MOST_ALONE) for each in shown.legend)
    assert (shown.legend[0].first, shown.legend[-1].last) == (10, 9 + count)
    assert [each.first for each in shown.legend[1:]] == [each.last + 1 for each in shown.legend[:-1]]
    assert sum(each.elements for each in shown.legend) == 4 * count


def test_a_message_looks_the_same_in_every_slice() -> None:
    parts = [(range(row, row + 1), range(0, 4)) for row in range(40)]
    sections = sections_from(parts)
    for rows in (range(0, 5), range(3, 5), range(4, 5)):
        shown = coloured(supply_of(sections, (0, 0), (0, 1), [rows, range(4)]))
        assert {each.first: each.place for each in shown.legend}[14] == 4
    places = [each.place for each in coloured(_rows(sections, range(0, 40, 12))).legend]
    assert len(set(places)) == len(places) == 4


def _rows(sections: Sections, rows: range) -> Supply:
    return supply_of(sections, (0, 0), (0, 1), [rows, range(4)])


@pytest.mark.slow
@given(cases(), st.data())
def test_of_a_message_that_was_cut_what_arrived_counts_and_the_rest_is_lost(case, data):
    shape, parts, indices, axes, ranges = case
    if not parts:
        return
    elements = list(itertools.product(*parts[-1]))
    arrived = data.draw(st.integers(0, len(elements) - 1))
    sections = replace(sections_from(parts, rank=len(shape)), arrived=arrived)
    supply = supply_of(sections, indices, axes, ranges)
    last = 10 + len(parts) - 1
    given_, lost = set(elements[:arrived]), set(elements[arrived:])
    for position in np.ndindex(supply.rows.shape):
        element = list(indices)
        for axis, taken, at in zip(axes, ranges, position, strict=True):
            element[axis] = taken[at]
        place = tuple(element)
        messages = [
            10 + at
            for at, part in enumerate(parts[:-1])
            if all(each in one for each, one in zip(place, part, strict=True))
        ]
        messages += [last] if place in given_ else []
        assert messages_of_element(sections, place) == messages
        assert is_lost(sections, place) == (place in lost)
        wanted = messages[-1] if messages else LOST if place in lost else NEVER
        assert supply.message_at(position) == wanted
        assert supply.counts[position] == len(messages)
    kinds = {each.kind for each in coloured(supply).legend}
    assert (SupplyKind.LOST in kinds) == bool(supply.count(LOST))
    assert sum(each.elements for each in coloured(supply).legend) == supply.rows.size
    labels(supply)
