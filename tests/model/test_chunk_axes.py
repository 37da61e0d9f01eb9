import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.chunk_axes import EdgeAxis, RegularAxis, axis_of


@st.composite
def runs(draw):
    """Sides, counts and extents of runs, and a size that they cover."""
    sides = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    counts = [draw(st.integers(1, 3)) for _ in sides]
    extents = [draw(st.integers(1, side)) if draw(st.booleans()) else side for side in sides]
    total = sum(extent * count for extent, count in zip(extents, counts, strict=True))
    return sides, counts, extents, draw(st.integers(0, total))


def listed(sides, counts, extents, size):
    """Return start, side and extent of each chunk, the plain way."""
    found, start = [], 0
    for side, count, extent in zip(sides, counts, extents, strict=True):
        for _ in range(count):
            if start < size:
                found.append((start, side, min(extent, size - start)))
            start += extent
    return found


@given(runs())
def test_chunks_are_those_of_a_plain_list(case):
    sides, counts, extents, size = case
    axis = axis_of(size, sides, np.array(counts), np.array(extents))
    chunks = listed(*case)
    numbers = np.arange(len(chunks))
    assert axis.count == len(chunks)
    if not chunks:
        return
    assert axis.largest == max(side for _, side, _ in chunks)
    columns = (axis.starts(numbers), axis.sides(numbers), axis.extents(numbers))
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == chunks
    assert [(axis.start(n), axis.side(n), axis.extent(n)) for n in numbers.tolist()] == chunks
    assert axis.starts(np.array([len(chunks)])).tolist() == [size]


@given(runs())
def test_an_index_leads_to_a_chunk_and_back(case):
    sides, counts, extents, size = case
    axis = axis_of(size, sides, np.array(counts), np.array(extents))
    places = np.arange(size)
    found = axis.find(places)
    assert found.tolist() == [axis.chunk_of(place) for place in range(size)]
    within = places - axis.starts(found)
    assert ((within >= 0) & (within < axis.extents(found))).all()
    assert (axis.starts(found) + within == places).all()


@given(runs(), st.data())
def test_a_selection_touches_the_chunks_of_its_elements(case, data):
    sides, counts, extents, size = case
    axis = axis_of(size, sides, np.array(counts), np.array(extents))
    start, stop = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    taken = range(start, stop, data.draw(st.integers(1, 9)))
    chunks, selected = listed(*case), axis.selected(taken)
    touched = sorted({axis.chunk_of(place) for place in taken})
    assert selected.count() == len(touched)
    assert list(selected.chunks()) == selected.column().tolist() == touched
    assert [selected.at(place) for place in range(len(touched))] == touched
    places = np.arange(len(touched))[::2]
    assert selected.column(places).tolist() == touched[::2]
    elements = []
    for part in selected.parts():
        low, side, _ = chunks[part.at]
        inside = [low + at for at in range(part.inside.start, part.inside.stop, part.inside.step)]
        assert inside == list(taken[part.target])
        assert part.whole == (len(inside) == side)
        elements += inside
    assert elements == list(taken)
    untouched = set(range(axis.count)) - set(touched)
    assert all(selected.part(at) is None for at in untouched)
    if selected.all_whole and isinstance(axis, EdgeAxis):
        assert all(part.whole for part in selected.parts())


@given(runs(), st.data())
def test_a_part_is_divided_where_the_axis_is(case, data):
    sides, counts, extents, size = case
    axis = axis_of(size, sides, np.array(counts), np.array(extents))
    start, stop = sorted((data.draw(st.integers(0, size)), data.draw(st.integers(0, size))))
    part = axis.between(start, stop)
    cuts = {at for at, _, _ in listed(*case) if start < at < stop}
    assert part.size == stop - start
    assert not part.is_padded
    assert (
        part.starts(np.arange(part.count)).tolist()
        == [at - start for at in sorted({start, *cuts})][: part.count]
    )
    assert part.count == (len(cuts) + 1 if stop > start else 0)


@given(runs())
def test_runs_tell_all_of_an_axis(case):
    sides, counts, extents, size = case
    axis = axis_of(size, sides, np.array(counts), np.array(extents))
    told = axis.runs
    assert listed(*(column.tolist() for column in told), size) == [
        (at, side, extent) for at, side, extent in listed(*case)
    ]
    if size:
        assert axis_of(size, *told) == axis


@given(runs(), runs())
def test_axes_agree_where_their_chunks_are_the_same(one, other):
    axes = [axis_of(case[3], case[0], np.array(case[1]), np.array(case[2])) for case in (one, other)]
    both = [[(at, side) for at, side, _ in listed(*case)] for case in (one, other)]
    count = min(map(len, both))
    assert axes[0].agrees(axes[1]) == (both[0][:count] == both[1][:count])
    assert axes[0].agrees(axes[1]) == axes[1].agrees(axes[0])


def test_equal_edges_are_regular_however_they_are_written():
    regular = RegularAxis(10, 4)
    for sides, counts in (([4, 4, 4], None), ([4], [3]), ([4, 4], [1, 9]), ([4, 4, 4, 7], None)):
        assert axis_of(10, sides, None if counts is None else np.array(counts)) == regular
    assert axis_of(0, [4, 5]) == RegularAxis(0, 4)
    # A last chunk that is not stored as long as the others is one of its own.
    assert axis_of(10, [4, 4, 2]).spelling == [[4, 2], 2]
    assert axis_of(10, [4, 4, 2]) != regular


def test_chunks_that_are_stored_longer_than_they_are():
    months = axis_of(90, [31, 31, 31], extents=np.array([31, 28, 31]))
    assert months.is_padded
    assert months.spelling == [31, 28, 31]
    assert (months.side(1), months.extent(1)) == (31, 28)
    assert not months.agrees(axis_of(90, [31, 28, 31]))
    # The last one may reach over the edge, as those of regular grids do.
    assert axis_of(59, [31, 31], extents=np.array([31, 28])) == RegularAxis(59, 31)


def test_dimensions_agree_as_far_as_both_reach():
    year = axis_of(120, [31, 28, 31, 30])
    assert year.agrees(axis_of(90, [31, 28, 31]))
    assert axis_of(59, [31, 28]).agrees(year)
    assert not year.agrees(axis_of(90, [31, 29, 30]))
    assert not year.agrees(RegularAxis(120, 31))
    assert axis_of(9, [3, 3, 2, 1]).agrees(RegularAxis(6, 3))
    assert not RegularAxis(6, 3).agrees(RegularAxis(6, 2))


@pytest.mark.parametrize(
    ("size", "sides", "counts", "words"),
    [
        (9, [4, 4], None, "add up to 8, the dimension has 9"),
        (9, [], None, "is empty"),
        (9, [4, 0, 5], None, "0, not at least 1"),
        (9, [4, -4, 9], None, "-4, not at least 1"),
        (9, [4, 5], [1, 0], "0, not at least 1"),
    ],
)
def test_edges_that_cannot_be(size, sides, counts, words):
    with pytest.raises(RefbrowserError, match=words) as caught:
        axis_of(size, sides, None if counts is None else np.array(counts))
    assert caught.value.kind is ErrorKind.META


@pytest.mark.parametrize(("size", "sides"), [(2**61, [2**60, 2**60]), (10, [2**62, 1])])
def test_longer_edges_than_are_counted(size, sides):
    with pytest.raises(RefbrowserError) as caught:
        axis_of(size, sides)
    assert caught.value.kind is ErrorKind.BUDGET


def test_an_extent_is_not_longer_than_its_side():
    with pytest.raises(RefbrowserError):
        axis_of(9, [4, 5], extents=np.array([5, 5]))


@pytest.mark.parametrize("count", [10**12, 2**62])
def test_runs_of_any_length_cost_what_one_edge_costs(count):
    tracemalloc.start()
    axis = axis_of(10**12 + 7, [1, 3, 1], np.array([10**6, 7, count]))
    selected = axis.selected(range(0, axis.size, 2))
    assert axis.count == 10**12 + 7 - 14
    assert axis.chunk_of(axis.size - 1) == axis.count - 1
    assert selected.count() == len(range(0, 10**6, 2)) + 7 + len(range(10**6 + 22, axis.size, 2))
    assert selected.at(selected.count() - 1) == axis.count - 1
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


@pytest.mark.slow
def test_a_million_edges_are_columns():
    sides = np.random.default_rng(0).integers(1, 400, 10**6)
    tracemalloc.start()
    axis = axis_of(int(sides.sum()), sides)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 40 * len(sides)
    assert peak < 160 * len(sides)
    assert axis.count == len(sides)
    # What lies between two places is looked at, not what is before or behind it.
    started = time.process_time()
    for place in range(0, axis.size, axis.size // 1000):
        axis.selected(range(place, place + 1)).count()
    assert time.process_time() - started < 2
