"""The planner: every row is covered exactly by its cut, and every byte is accounted for."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind
from refbrowser.io.plan import LOCAL, MOST_WASTE, Link, RangePlan, Request, plan_ranges
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

KIB = 1 << 10
SMALL = Link("small", block=(16, 256), blocks=4)
RANGE, WHOLE = ReferenceKind.RANGE, ReferenceKind.WHOLE


def columns(rows: list[tuple[int, int, int, int]], urls: int = 3) -> ReferenceColumns:
    """Rows of (kind, url, offset, length)."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    return ReferenceColumns(
        table[:, 0].astype(np.uint8),
        table[:, 1].astype(np.int32),
        table[:, 2],
        table[:, 3],
        tuple(f"http://host/{number}" for number in range(urls)),
    )


def ranges(*rows: tuple[int, int, int]) -> ReferenceColumns:
    return columns([(RANGE, *row) for row in rows])


def regular(number: int, length: int, step: int) -> ReferenceColumns:
    return columns([(RANGE, 0, i * step, length) for i in range(number)])


row_values = st.one_of(
    st.tuples(st.just(RANGE), st.integers(0, 2), st.integers(0, 5000), st.integers(0, 700)),
    st.tuples(st.just(RANGE), st.integers(0, 2), st.integers(0, 10**6), st.integers(0, 10**5)),
    st.tuples(st.just(WHOLE), st.integers(0, 2), st.just(0), st.just(-1)),
    st.tuples(st.sampled_from([ReferenceKind.MISSING, ReferenceKind.INLINE, ReferenceKind.FAULTY]),
              st.just(-1), st.just(0), st.just(0)),
)  # fmt: skip
link_values = st.sampled_from([Link("a"), Link("b", latency=0.15, per_connection=1e7), SMALL, LOCAL])


@given(row_values, link_values)
def test_one_row_is_planned_as_beside_others(row: tuple[int, int, int, int], link: Link) -> None:
    alone = plan_ranges(columns([row]), [link] * 3)
    beside = plan_ranges(columns([row, (ReferenceKind.MISSING, -1, 0, 0)]), [link] * 3)
    for name in RangePlan.__dataclass_fields__:
        assert np.array_equal(getattr(alone, name), getattr(beside, name)), name


def segments(
    plan: RangePlan,
) -> list[tuple[int, int, int, list[tuple[int, int, int]], list[tuple[int, int]]]]:
    """(url, start, stop, rows with their cuts, requests) of each segment, in plain numbers."""
    found = []
    for number in range(plan.segments):
        rows = slice(plan.rows_of[number], plan.rows_of[number + 1])
        requests = slice(plan.requests_of[number], plan.requests_of[number + 1])
        cuts = zip(
            plan.rows[rows].tolist(),
            plan.cut_start[rows].tolist(),
            plan.cut_length[rows].tolist(),
            strict=True,
        )
        bounds = zip(plan.request_start[requests].tolist(), plan.request_stop[requests].tolist(), strict=True)
        place = int(plan.segment_url[number]), int(plan.segment_start[number]), int(plan.segment_stop[number])
        found.append((*place, list(cuts), list(bounds)))
    return found


@given(st.lists(row_values, max_size=60), st.lists(link_values, min_size=3, max_size=3))
def test_each_row_is_cut_from_its_own_bytes(rows: list[tuple[int, int, int, int]], links: list[Link]) -> None:
    plan = plan_ranges(columns(rows), links)
    seen: list[int] = plan.empty.tolist()
    for url, start, stop, cuts, _ in segments(plan):
        for row, cut, length in cuts:
            kind, row_url, offset, row_length = rows[row]
            seen.append(row)
            assert row_url == url
            if kind == WHOLE:
                assert (start, stop, cut, length) == (0, -1, 0, -1)
            else:
                assert (start + cut, length) == (offset, row_length)
                assert start <= offset
                assert offset + row_length <= stop
    assert sorted(seen) == [i for i, row in enumerate(rows) if row[0] in (RANGE, WHOLE)]


@given(st.lists(row_values, max_size=60), st.lists(link_values, min_size=3, max_size=3))
def test_requests_cover_segments_and_bytes_are_counted(
    rows: list[tuple[int, int, int, int]], links: list[Link]
) -> None:
    plan = plan_ranges(columns(rows), links)
    requested = 0
    for url, start, stop, _, bounds in segments(plan):
        if stop < 0:
            assert bounds == [(0, -1)]
            continue
        assert [first for first, _ in bounds] == [start, *(last for _, last in bounds[:-1])]
        assert bounds[-1][1] == stop
        assert all(last > first for first, last in bounds)
        requested += stop - start
        smallest, largest = links[url].block
        if len(bounds) > 1:
            assert all(smallest <= last - first <= 2 * largest for first, last in bounds)
    useful = 0
    for url in range(3):
        spans = sorted((row[2], row[2] + row[3]) for row in rows if row[0] == RANGE and row[1] == url)
        reach = 0
        for first, last in spans:
            useful += max(last - max(first, reach), 0)
            reach = max(reach, last)
    assert plan.useful_bytes == useful
    assert plan.wasted_bytes == requested - useful
    assert 0 <= plan.wasted_bytes <= MOST_WASTE * useful


@given(st.lists(row_values, max_size=40), st.lists(link_values, min_size=3, max_size=3))
def test_segments_begin_and_end_with_needed_bytes(
    rows: list[tuple[int, int, int, int]], links: list[Link]
) -> None:
    plan = plan_ranges(columns(rows), links)
    for _, start, stop, cuts, _ in segments(plan):
        if stop >= 0:
            assert cuts[0][1] == 0
            assert max(cut + length for _, cut, length in cuts) == stop - start
            assert [cut for _, cut, _ in cuts] == sorted(cut for _, cut, _ in cuts)


def test_contiguous_chunks_are_read_by_at_least_64_requests() -> None:
    plan = plan_ranges(regular(128, 1 << 20, 1 << 20), [Link()] * 3)
    assert plan.request_count == 64
    assert plan.wasted_bytes == 0


def test_tiny_chunks_become_few_requests() -> None:
    plan = plan_ranges(regular(20_000, 5_000, 5_000), [Link()] * 3)
    assert 64 <= plan.request_count <= 130
    assert min(stop - start for _, start, stop in plan.requests() if stop) >= 64 * KIB


def test_every_second_chunk_is_not_merged() -> None:
    plan = plan_ranges(regular(512, 128 * KIB, 256 * KIB), [Link()] * 3)
    assert plan.request_count == 512
    assert plan.wasted_bytes == 0


def test_small_gaps_are_read_over() -> None:
    plan = plan_ranges(regular(20_000, 4_000, 4_200), [Link()] * 3)
    assert plan.request_count < 200
    assert plan.wasted_bytes <= 200 * 20_000


def test_a_slow_narrow_link_reads_less_waste_than_a_fast_far_one() -> None:
    chunks = regular(2_000, 20 * KIB, 40 * KIB)
    narrow = plan_ranges(chunks, [Link(latency=0.001, per_connection=1e6, total=1e6)] * 3)
    far = plan_ranges(chunks, [Link(latency=1.0, per_connection=1e9, total=1e9)] * 3)
    assert narrow.wasted_bytes == 0
    assert far.wasted_bytes > 0


def test_one_large_row_is_one_buffer_and_many_requests() -> None:
    plan = plan_ranges(ranges((0, 1000, 100 << 20)), [Link()] * 3)
    assert plan.segments == 1
    assert plan.request_count >= 64
    assert plan.requests()[0].start == 1000
    assert plan.requests()[-1].stop == 1000 + (100 << 20)


def test_local_neighbours_are_joined_and_gaps_are_not_read() -> None:
    plan = plan_ranges(ranges((0, 0, 10), (0, 10, 10), (0, 21, 10)), [LOCAL] * 3)
    assert plan.requests() == [Request("http://host/0", 0, 20), Request("http://host/0", 21, 31)]


def test_hosts_are_planned_by_their_own_links() -> None:
    rows = [(RANGE, url, i * 64 * KIB, 32 * KIB) for url in (0, 1) for i in range(500)]
    far = Link("far", latency=2.0, per_connection=1e9, total=1e9)
    near = Link("near", latency=0.0001, per_connection=1e6, total=1e6)
    plan = plan_ranges(columns(rows), [far, near, near])
    counts = np.bincount(np.repeat(plan.segment_url, np.diff(plan.requests_of)))
    assert counts[0] < 200
    assert counts[1] == 500


def test_whole_files_are_read_once_and_never_merged() -> None:
    rows = [(WHOLE, 1, 0, -1), (RANGE, 1, 0, 10), (WHOLE, 1, 0, -1), (WHOLE, 2, 0, -1)]
    plan = plan_ranges(columns(rows), [Link()] * 3)
    assert plan.requests() == [
        Request("http://host/1", 0, 10),
        Request("http://host/1", 0, None),
        Request("http://host/2", 0, None),
    ]


def test_a_range_beyond_any_object_is_an_error_of_its_row() -> None:
    plan = plan_ranges(ranges((0, 2**63 - 10, 100), (0, 0, 5)), [Link()] * 3)
    assert plan.faults[0].kind == ErrorKind.RANGE
    assert plan.faults[0].place.start == 2**63 - 10
    assert plan.requests() == [Request("http://host/0", 0, 5)]


def test_offsets_near_the_largest_number() -> None:
    top = 2**63 - 1
    plan = plan_ranges(ranges((2, top - 5, 5), (0, 3, 4), (2, top - 20, 10), (1, 0, 1)), [SMALL] * 3)
    assert sorted(plan.requests()) == sorted(
        {*plan.requests(), Request("http://host/0", 3, 7), Request("http://host/1", 0, 1)}
    )
    assert plan.requests()[-1].stop == top


def test_equal_and_nested_rows_share_their_bytes() -> None:
    plan = plan_ranges(ranges((0, 0, 100), (0, 20, 30), (0, 20, 30), (0, 60, 80)), [SMALL] * 3)
    assert (plan.useful_bytes, plan.wasted_bytes) == (140, 0)
    assert plan.segments == 1


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_million_references_are_planned_soon(shuffled: bool) -> None:
    number = 1_000_000
    slots = np.arange(number)
    if shuffled:
        slots = np.random.default_rng(3).permutation(number)
    table = ReferenceColumns(
        np.full(number, RANGE, np.uint8),
        (slots // 20_000).astype(np.int32),
        slots % 20_000 * 50_000,
        np.full(number, 30_000, np.int64),
        tuple(f"http://host/{i}" for i in range(50)),
    )
    began = time.process_time()
    plan = plan_ranges(table, [Link("host")] * 50)
    # 0.2 s is the aim; the test only catches a change of order.
    assert time.process_time() - began < 2
    assert plan.useful_bytes == number * 30_000


def test_nothing_to_plan() -> None:
    plan = plan_ranges(columns([(ReferenceKind.MISSING, -1, 0, 0)]), [Link()] * 3)
    assert (plan.segments, plan.request_count, plan.requests()) == (0, 0, [])
