"""Rows of layouts: right wherever they begin and end, and read from nothing but what they need."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from awkward0_encoder import Encoder, Expression
from awkward_memory import MemoryBuffers, listed, made, read
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.nested import CUT
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.rows import positions as sums
from refbrowser.wings.awkward0.rows.layout_reading import MOST_RUNS, NEAR, Extent
from refbrowser.wings.awkward0.rows.layout_values import LayoutValues

Make = Callable[[Encoder], Expression]
LONG = 20_000


def names(values: LayoutValues) -> list[str]:
    """Return the names of the buffers of an array."""
    return [buffer.name for buffer in values.buffers]


def long_counts() -> np.ndarray[Any, Any]:
    """Return counts of more lists than have a mark each."""
    return np.random.default_rng(3).integers(0, 4, LONG)


# -- what is read ------------------------------------------------------------------------------------------


def test_ten_lists_read_their_elements_only() -> None:
    counts = long_counts()
    offsets = np.append(0, np.cumsum(counts))
    numbers = np.arange(offsets[-1])
    values = made(lambda e: e.jagged(counts, numbers))
    index, content = names(values)
    first = MemoryBuffers()
    assert listed(values.rows(15_000, 15_010, first)) == [
        numbers[offsets[row] : offsets[row + 1]].tolist() for row in range(15_000, 15_010)
    ]
    assert first.bytes_of[content] == offsets[15_010] - offsets[15_000]
    again = MemoryBuffers()
    values.rows(15_020, 15_030, again)
    # All counts were summed up at first; from then on those since the last mark are enough.
    assert again.bytes_of[index] == 15_030 - 15_020 // sums.STEP * sums.STEP


def test_sums_take_little_memory() -> None:
    values = made(lambda e: e.jagged(np.zeros(3 << 20, "i8"), []))
    tracemalloc.start()
    values.rows(values.length - 1, values.length, MemoryBuffers())
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1 << 20


def test_offsets_and_starts_are_read_by_row() -> None:
    counts = long_counts()
    offsets = np.append(0, np.cumsum(counts))
    by_offsets = made(
        lambda e: e.make("JaggedArray.fromoffsets", e.basic(offsets), e.basic(np.arange(offsets[-1])))
    )
    reader = MemoryBuffers()
    by_offsets.rows(100, 103, reader)
    index, content = names(by_offsets)
    assert reader.read == {(index, 100, 104), (content, offsets[100], offsets[103])}
    by_starts = made(
        lambda e: e.make(
            "JaggedArray", e.basic(offsets[:-1]), e.basic(offsets[1:]), e.basic(np.arange(offsets[-1]))
        )
    )
    reader = MemoryBuffers()
    by_starts.rows(100, 103, reader)
    starts, stops, content = names(by_starts)
    assert reader.read == {(starts, 100, 103), (stops, 100, 103), (content, offsets[100], offsets[103])}


def test_columns_are_read_together() -> None:
    values = made(lambda e: e.table(**{f"c{n}": e.jagged([1, 2], [1, 2, n]) for n in range(20)}))
    reader = MemoryBuffers()
    assert listed(values.rows(0, 2, reader))[1]["c7"] == [2, 7]
    assert [len(each) for each in reader.rounds] == [20, 20]


def test_a_field_reads_its_own_buffers_only() -> None:
    values = made(lambda e: e.table(x=[1, 2, 3], y=e.jagged([1, 0, 2], e.table(p=[5, 6, 7], q=[8, 9, 10]))))
    field = values.field("y").field("q")
    reader = MemoryBuffers()
    assert listed(field.rows(1, 3, reader)) == [[], [9, 10]]
    assert {name for name, _, _ in reader.read} == set(names(field)) < set(names(values))
    assert len(names(field)) == 2


def test_bits_are_read_by_byte() -> None:
    bits = np.random.default_rng(1).random(80) < 0.5
    values = made(
        lambda e: e.make("BitMaskedArray", e.basic(np.packbits(bits)), e.basic(np.arange(80)), True, False)
    )
    reader = MemoryBuffers()
    assert listed(values.rows(13, 27, reader)) == [None if bits[row] else row for row in range(13, 27)]
    mask, content = names(values)
    assert reader.read == {(mask, 1, 4), (content, 13, 27)}


def test_rows_far_apart_do_not_read_what_lies_between() -> None:
    rows = [0, 900_000, 5, 450_000]
    values = made(lambda e: e.make("IndexedArray", e.basic(rows), e.basic(np.arange(1_000_000))))
    reader = MemoryBuffers()
    assert listed(values.rows(0, 4, reader)) == rows
    assert reader.bytes_of[names(values)[1]] < 4 * NEAR


def test_sparse_rows_are_made_only_as_they_are_asked_for() -> None:
    places = np.arange(0, 10**12, 10**8)
    values = made(lambda e: e.make("SparseArray", 10**12, e.basic(places), e.basic(np.arange(10_000) + 1)))
    reader = MemoryBuffers()
    assert listed(values.rows(5 * 10**8 - 1, 5 * 10**8 + 2, reader)) == [0, 6, 0]
    assert reader.bytes_of[names(values)[1]] == 1
    values.rows(0, 1, reader := MemoryBuffers())
    assert reader.bytes_of[names(values)[0]] <= sums.STEP


def test_chunks_that_are_not_touched_are_not_read() -> None:
    values = made(lambda e: e.make("ChunkedArray", [e.basic([n, n]) for n in range(50)], [2] * 50))
    reader = MemoryBuffers()
    assert listed(values.rows(41, 44, reader)) == [20, 21, 21]
    assert len(reader.read) == 2


# -- right wherever they begin -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_values() -> dict[str, tuple[LayoutValues, Any]]:
    """Return arrays of lists and of a union by name, with what they hold."""
    counts = long_counts()
    offsets = np.append(0, np.cumsum(counts))
    numbers = np.arange(offsets[-1])
    lists = [numbers[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    order = np.random.default_rng(4).permutation(LONG)[:100]
    tags = (counts > 1).astype("u1")
    position = np.where(tags, np.cumsum(tags) - 1, np.cumsum(1 - tags) - 1)
    pairs = counts.reshape(-1, 4)
    return {
        "counts": (made(lambda e: e.jagged(counts, numbers)), lists),
        "picked": (
            made(lambda e: e.make("IndexedArray", e.basic(order), e.jagged(counts, numbers))),
            [lists[row] for row in order],
        ),
        "picked offsets": (
            made(
                lambda e: e.make(
                    "IndexedArray",
                    e.basic(order),
                    e.make("JaggedArray.fromoffsets", e.basic(offsets), e.basic(numbers)),
                )
            ),
            [lists[row] for row in order],
        ),
        "tags": (
            made(
                lambda e: e.make("UnionArray.fromtags", e.basic(tags), [e.basic(numbers), e.basic(-numbers)])
            ),
            [-int(at) if tag else int(at) for tag, at in zip(tags, position, strict=True)],
        ),
        "pairs": (
            made(lambda e: e.make("JaggedArray.fromcounts", e.basic(pairs), e.basic(numbers))),
            [lists[at : at + 4] for at in range(0, LONG, 4)],
        ),
        "sparse": (
            made(lambda e: e.make("SparseArray", 3 * LONG, e.basic(np.arange(LONG) * 3), e.basic(counts))),
            [int(each) for count in counts for each in (count, 0, 0)],
        ),
    }


@pytest.mark.parametrize("name", ["counts", "picked", "picked offsets", "tags", "pairs", "sparse"])
@given(data=st.data())
def test_any_rows(long_values: dict[str, tuple[LayoutValues, Any]], name: str, data: st.DataObject) -> None:
    values, expected = long_values[name]
    assert values.length == len(expected)
    start = data.draw(st.integers(0, len(expected)))
    stop = data.draw(st.integers(start, min(start + 40, len(expected))))
    assert read(values, start, stop) == expected[start:stop]


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 50)), max_size=400),
    st.integers(1, 5),
)
def test_extents_cover_lists_in_few_runs(lists: list[tuple[int, int]], spread: int) -> None:
    starts = np.array([start * spread for start, _ in lists], np.int64)
    counts = np.array([count for _, count in lists], np.int64)
    extent = Extent.covering(starts, starts + counts)
    assert len(extent.starts) <= MOST_RUNS
    assert (extent.starts[1:] > extent.stops[:-1]).all()
    held = extent.positions()
    assert len(held) == extent.size
    for start, count in zip(starts, counts, strict=True):
        rows = np.arange(start, start + count)
        assert (held[extent.locate(rows)] == rows).all()


def test_lists_may_overlap_and_be_out_of_order() -> None:
    starts, stops = [6, 0, 1, 4, 99], [8, 3, 7, 4, 99]
    values = made(lambda e: e.make("JaggedArray", e.basic(starts), e.basic(stops), e.basic(np.arange(8))))
    expected = [list(range(a, b)) for a, b in zip(starts, stops, strict=True)]
    assert read(values, 0, 5) == expected
    assert read(values, 2, 4) == expected[2:4]


def test_views_of_tables() -> None:
    def viewed(view: Any) -> LayoutValues:
        return made(
            lambda e: e.make("Table.fromview", view(e), e.table(x=[0, 1, 2, 3, 4], y=e.strings("abcde")))
        )

    back = viewed(lambda e: (4, -2, 3))
    assert read(back, 0, 3) == [{"x": 4, "y": "e"}, {"x": 2, "y": "c"}, {"x": 0, "y": "a"}]
    assert read(back.field("x"), 1, 3) == [2, 0]
    picked = viewed(lambda e: e.basic([3, 3, 0]))
    assert read(picked, 1, 3) == [{"x": 3, "y": "d"}, {"x": 0, "y": "a"}]


def test_texts_whose_bytes_are_no_text() -> None:
    values = made(lambda e: e.strings([b"a\xff", "zwölf".encode(), b"\xc3", b"\xb6", b""]))
    assert read(values, 0, 5) == ["a\ufffd", "zwölf", "\ufffd", "\ufffd", ""]
    # As a whole these bytes are text: the characters are cut.
    values = made(lambda e: e.strings([b"\xc3", b"\xb6x"]))
    assert read(values, 0, 2) == ["\ufffd", "\ufffdx"]
    values = made(lambda e: e.strings(["Ä", "b"], "utf-16-le"))
    assert read(values, 0, 2) == ["Ä", "b"]


def test_numpy_strings() -> None:
    points = np.array([[0x61, 0x110000], [0xDC80, 0]], "<u4").view("<U2").reshape(-1)
    assert read(made(lambda e: e.basic(points)), 0, 2) == ["a\ufffd", "\ufffd"]
    assert read(made(lambda e: e.basic(np.array([b"a\0b", b"", b"abc"], "S4"))), 0, 3) == [
        b"a\0b",
        b"",
        b"abc",
    ]
    pairs = np.array([["a", "bc"], ["", "d"]], ">U2")
    assert read(made(lambda e: e.basic(pairs)), 1, 2) == [["", "d"]]


def test_unions_keep_the_types_of_their_possibilities() -> None:
    values = made(
        lambda e: e.make(
            "UnionArray",
            e.basic([0, 1, 2, 0], "u1"),
            e.basic([1, 0, 0, 0]),
            [
                e.basic([1, 2]),
                e.basic([1.5]),
                e.make("MaskedArray", e.basic([True]), e.strings(["hidden"])),
            ],
        )
    )
    assert read(values, 0, 4) == [2, 1.5, None, 1]
    assert type(read(values, 0, 4)[0]) is int
    assert read(values, 2, 3) == [None]


# -- cycles ------------------------------------------------------------------------------------------------


def test_a_cycle_is_unrolled_a_few_turns() -> None:
    values = made(
        lambda e: {
            "call": ["awkward0", "Table", "frompairs"],
            "args": [
                {
                    "pairs": [
                        ["x", e.basic([1, 2])],
                        ["next", e.make("IndexedArray", e.basic([1, 0]), {"ref": 99})],
                    ]
                },
                {"json": 0},
            ],
            "id": 99,
        }
    )
    rows = values.turned(6).rows(0, 1, MemoryBuffers())
    (row,) = listed(rows)
    seen = []
    while row is not None:
        seen.append(row["x"])
        row = row["next"]
    assert seen == [1, 2, 1, 2, 1, 2, 1]
    (fault,) = rows.faults
    assert (fault.path, fault.error.kind) == ("/".join([*["next"] * 7, CUT]), ErrorKind.BUDGET)
    assert fault.is_cut


@pytest.mark.long
def test_a_cycle_of_many_branches_is_bounded() -> None:
    values = made(
        lambda e: {
            "call": ["awkward0", "Table", "frompairs"],
            "args": [
                {"pairs": [["x", e.basic([1])], *([f"c{at}", {"ref": 99}] for at in range(30))]},
                {"json": 0},
            ],
            "id": 99,
        }
    )
    reader = MemoryBuffers()
    rows = values.rows(0, 1, reader)
    assert rows.faults
    assert {fault.error.kind for fault in rows.faults} == {ErrorKind.BUDGET}
    assert sum(map(len, reader.rounds)) < 25_000


# -- what cannot be read -----------------------------------------------------------------------------------


def test_a_broken_column_hides_no_other() -> None:
    values = made(lambda e: e.jagged([1, 1], e.table(good=[1, 2], bad={"ref": 77}, worse=e.basic([3, 4]))))
    rows = values.rows(0, 2, MemoryBuffers(names(values)[-1]))
    assert listed(rows) == [[{"good": n, "bad": None, "worse": None}] for n in (1, 2)]
    found = {fault.path: fault.error.kind for fault in rows.faults}
    assert found == {"bad": ErrorKind.SCHEMA, "worse": ErrorKind.SOURCE}
    assert read(values.field("good"), 0, 2) == [[1], [2]]
    with pytest.raises(RefbrowserError, match="77"):
        values.field("bad").rows(0, 2, MemoryBuffers())


def test_a_broken_possibility_hides_no_other() -> None:
    values = made(
        lambda e: e.make("UnionArray.fromtags", e.basic([0, 1, 0], "u1"), [e.basic([1, 2]), e.strings(["a"])])
    )
    rows = values.rows(0, 3, MemoryBuffers(names(values)[-1]))
    assert listed(rows) == [1, None, 2]
    assert [fault.path for fault in rows.faults] == ["#1"]
    # Rows without it are whole.
    assert not values.rows(2, 3, MemoryBuffers(names(values)[-1])).faults


def test_errors_of_layouts_do_not_keep_what_was_read() -> None:
    values = made(lambda e: e.table(good=[1, 2], bad={"ref": 77}))
    for _ in range(3):
        (fault,) = values.rows(0, 2, MemoryBuffers()).faults
        assert fault.error.__traceback__ is None


BIG = 2**62
#: What points where it must not, and what is said of it.
WRONG: dict[str, tuple[Make, ErrorKind, str]] = {
    "counts below 0": (lambda e: e.jagged([1, -1, 1], [1, 2]), ErrorKind.SCHEMA, "negative"),
    "counts beyond the content": (lambda e: e.jagged([1, 5], [1, 2]), ErrorKind.SCHEMA, "length is 2"),
    "counts beyond any length": (lambda e: e.jagged([BIG, BIG, BIG], [1, 2]), ErrorKind.SCHEMA, "add up"),
    "offsets that fall": (
        lambda e: e.make("JaggedArray.fromoffsets", e.basic([0, 2, 1]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "before",
    ),
    "offsets below 0": (
        lambda e: e.make("JaggedArray.fromoffsets", e.basic([-1, 1]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "before",
    ),
    "offsets beyond the content": (
        lambda e: e.make("JaggedArray.fromoffsets", e.basic([0, BIG]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "length is 2",
    ),
    "starts below 0": (
        lambda e: e.make("JaggedArray", e.basic([-1]), e.basic([1]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "before",
    ),
    "stops before starts": (
        lambda e: e.make("JaggedArray", e.basic([1]), e.basic([0]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "before",
    ),
    "unsigned positions beyond any length": (
        lambda e: e.make("JaggedArray", e.basic([0], "u8"), e.basic([2**63], "u8"), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "beyond any length",
    ),
    "a local index that jumps": (
        lambda e: e.make("JaggedArray.fromlocalindex", e.basic([0, 2]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "local index",
    ),
    "an index below 0": (
        lambda e: e.make("IndexedArray", e.basic([-1]), e.basic([1])),
        ErrorKind.SCHEMA,
        "before the first",
    ),
    "an index beyond the content": (
        lambda e: e.make("IndexedArray", e.basic([1]), e.basic([1])),
        ErrorKind.SCHEMA,
        "length is 1",
    ),
    "an index of a row that not all columns have": (
        lambda e: e.make("IndexedArray", e.basic([2]), e.table(x=[1, 2, 3], y=[1, 2])),
        ErrorKind.SCHEMA,
        "length is 2",
    ),
    "a tag of nothing": (
        lambda e: e.make("UnionArray.fromtags", e.basic([1], "u1"), [e.basic([1])]),
        ErrorKind.SCHEMA,
        "tag",
    ),
    "a mask of an absent row": (
        lambda e: e.make("IndexedMaskedArray", e.basic([0, 7]), e.basic([1])),
        ErrorKind.SCHEMA,
        "length is 1",
    ),
    "another mark of what is missing": (
        lambda e: e.make("IndexedMaskedArray", e.basic([0, -2]), e.basic([1])),
        ErrorKind.SCHEMA,
        "before the first",
    ),
    "a sparse index that falls": (
        lambda e: e.make("SparseArray", 5, e.basic([3, 1]), e.basic([1, 2])),
        ErrorKind.SCHEMA,
        "ascend",
    ),
    "a view of an absent row": (
        lambda e: e.make("Table.fromview", e.basic([0, 3]), e.table(x=[1, 2, 3])),
        ErrorKind.SCHEMA,
        "length is 3",
    ),
    "a view before the first row": (
        lambda e: e.make("Table.fromview", e.basic([-1]), e.table(x=[1, 2, 3])),
        ErrorKind.SCHEMA,
        "before the first",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_positions_are_checked(name: str) -> None:
    make, kind, match = WRONG[name]
    values = made(make)
    with pytest.raises(RefbrowserError, match=match) as caught:
        values.rows(0, values.measure(MemoryBuffers()), MemoryBuffers())
    assert caught.value.kind is kind


def test_a_possibility_that_is_not_there_is_a_fault() -> None:
    values = made(
        lambda e: e.make("UnionArray", e.basic([0, 1], "u1"), e.basic([0, 9]), [e.basic([1]), e.basic([1.5])])
    )
    rows = values.rows(0, 2, MemoryBuffers())
    assert listed(rows) == [1, None]
    assert [fault.path for fault in rows.faults] == ["#1"]


def test_parents_of_absurdly_many_lists() -> None:
    values = made(lambda e: e.make("JaggedArray.fromparents", e.basic([0, 2**60]), e.basic([1, 2])))
    with pytest.raises(RefbrowserError, match="lists") as caught:
        values.measure(MemoryBuffers())
    assert caught.value.kind is ErrorKind.BUDGET


def test_too_many_bytes_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    values = made(lambda e: e.table(a=np.arange(100), b=np.arange(100, dtype="i1")))
    monkeypatch.setattr(
        "refbrowser.wings.awkward0.rows.layout_reading.AWKWARD_LIMITS",
        replace(AWKWARD_LIMITS, awkward_rows=500),
    )
    rows = values.rows(0, 100, MemoryBuffers())
    # What fits is read.
    assert [fault.path for fault in rows.faults] == ["a"]
    assert listed(rows)[99] == {"a": None, "b": 99}
    assert not values.rows(40, 80, MemoryBuffers()).faults


def test_rows_that_are_not_there() -> None:
    values = made(lambda e: e.basic([1, 2, 3]))
    for start, stop in ((0, 4), (-1, 2), (2, 1)):
        with pytest.raises(RefbrowserError, match="requested") as caught:
            values.rows(start, stop, MemoryBuffers())
        assert caught.value.kind is ErrorKind.USAGE
