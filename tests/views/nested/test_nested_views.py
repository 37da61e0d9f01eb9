"""What views make of nested rows: single values, lines, numbers, counts; compared with awkward and numpy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import awkward as ak
import numpy as np
import pytest
from deep import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested.python_values import python_values
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import NestedFault, NestedRows, NestedType, TypeKind
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Rows
from refbrowser.views.nested import nested_tally as nested_collect
from refbrowser.views.nested.nested_lines import NestedFolds
from refbrowser.views.nested.nested_numbers import choices_of, field_numbers, joined, paired
from refbrowser.views.nested.nested_tally import Tally, collect, density, nearest
from refbrowser.views.nested.nested_values import NestedValue, ValueKind, row_value, short_text

NUMBERS = st.one_of(st.none(), st.integers(-9, 9), st.floats(allow_nan=False, width=32))
LISTS = st.recursive(NUMBERS | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3), max_leaves=12)

#: Those nearer to zero are taken as zero beside great ones.
FLOATS = st.floats().filter(lambda number: not 0 < abs(number) < 1e-200)


def rows_of(array: ak.Array, *faults: NestedFault) -> NestedRows:
    return NestedRows(array.layout, faults)


def written_out(value: NestedValue) -> Any:
    """Return a value with all that is below it."""
    if value.kind is ValueKind.LIST:
        return [written_out(value.item(number)) for number in range(value.length)]
    if value.kind is ValueKind.RECORD:
        items = [written_out(value.item(number)) for number in range(value.length)]
        return tuple(items) if value.is_tuple else dict(zip(value.fields, items, strict=True))
    return None if value.kind is ValueKind.MISSING else value.scalar()


class TestValues:
    @settings(max_examples=examples(60), deadline=None)
    @given(
        st.lists(st.one_of(LISTS, st.fixed_dictionaries({"x": NUMBERS, "y": LISTS})), min_size=1, max_size=5)
    )
    def test_every_value_is_reached(self, plain: list[Any]) -> None:
        array = ak.Array(plain)
        rows = rows_of(array)
        assert [written_out(row_value(rows, row)) for row in range(len(array))] == array.to_list()
        for row in range(len(array)):
            assert short_text(row_value(rows, row)) is not None

    def test_every_kind_of_option(self) -> None:
        content = ak.contents.NumpyArray(np.arange(10.0))
        bits = ak.index.IndexU8(np.array([0b10110010, 0b01], np.uint8))
        for lsb in (True, False):
            for when in (True, False):
                layout = ak.contents.BitMaskedArray(bits, content, when, 10, lsb)
                rows = NestedRows(layout)
                found = [written_out(row_value(rows, row)) for row in range(10)]
                assert found == python_values(layout)
        mask = ak.index.Index8(np.array([0, 1] * 5, np.int8))
        masked = ak.contents.ByteMaskedArray(mask, content, valid_when=True)
        assert [written_out(row_value(NestedRows(masked), row)) for row in range(3)] == [None, 1.0, None]

    def test_unions_regular_lists_and_bytes(self) -> None:
        plain = [np.arange(6).reshape(2, 3).tolist(), "text", b"\x00", None, {"a": 1}]
        array = ak.Array(plain)
        rows = rows_of(array)
        assert [written_out(row_value(rows, row)) for row in range(5)] == plain
        regular = ak.contents.NumpyArray(np.arange(12).reshape(2, 3, 2))
        assert written_out(row_value(NestedRows(regular), 1)) == [[6, 7], [8, 9], [10, 11]]

    def test_what_is_below_a_fault_is_unreadable(self) -> None:
        error = RefbrowserError(ErrorKind.DECODE, "damaged")
        array = ak.Array([{"a": {"b": 1, "bc": 2}}])
        value = row_value(rows_of(array, NestedFault("a/b", error)), 0).item(0)
        assert [value.item(number).kind for number in range(2)] == [ValueKind.UNREADABLE, ValueKind.NUMBER]
        assert short_text(value) == "{b: !, bc: 2}"


class TestFolds:
    @settings(max_examples=examples(60), deadline=None)
    @given(st.integers(1, 5), st.lists(st.tuples(st.integers(0, 200), st.integers(1, 4)), max_size=30))
    def test_lines_and_paths_agree(self, rows: int, steps: list[tuple[int, int]]) -> None:
        folds, opened = NestedFolds(rows), dict[tuple[int, ...], int]()

        def paths(above: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
            found = []
            for child in range(count):
                path = (*above, child)
                found += [path, *paths(path, opened.get(path, 0))]
            return found

        for pick, count in steps:
            listed = paths((), rows)
            path = listed[pick % len(listed)]
            if path in opened:
                folds.fold(path)
                opened = {each: size for each, size in opened.items() if each[: len(path)] != path}
            else:
                folds.unfold(path, count)
                opened[path] = count
            listed = paths((), rows)
            assert folds.lines == len(listed)
            assert [folds.path(line) for line in range(len(listed))] == listed
            assert [folds.line(path) for path in listed] == list(range(len(listed)))
        folds.fold_all()
        assert folds.lines == rows


class TestNumbers:
    @settings(max_examples=examples(60), deadline=None)
    @given(st.lists(st.lists(st.lists(st.integers(-9, 9) | st.none(), max_size=4), max_size=4), min_size=1))
    def test_numbers_and_lengths_are_those_of_awkward(self, plain: list[Any]) -> None:
        typed = ak.Array([*plain, [[1, None]]])
        found = joined([field_numbers(rows_of(typed[:1]), 0, ()), field_numbers(rows_of(typed[1:]), 1, ())])
        flat = ak.flatten(typed, axis=None)
        assert found.numbers[np.isfinite(found.numbers)].tolist() == ak.drop_none(flat).to_list()
        assert found.values == len(ak.drop_none(flat))
        assert found.missing == int(ak.sum(ak.is_none(typed, axis=2), axis=None))
        assert found.lengths[0].tolist() == ak.num(typed).to_list()
        assert found.lengths[1].tolist() == ak.flatten(ak.num(typed, axis=2)).to_list()
        of_rows = np.repeat(np.arange(len(typed)), ak.to_numpy(ak.sum(ak.num(typed, axis=2), axis=1)))
        assert found.rows.tolist() == of_rows.tolist()

    def test_pairs(self) -> None:
        array = ak.Array(
            [{"a": [1, 2], "b": 5, "c": [1]}, {"a": [], "b": 6, "c": [2]}, {"a": [3], "b": None, "c": []}]
        )
        a, b = (field_numbers(rows_of(array), 0, (name,)) for name in "ab")
        across, upwards = paired(b, a)
        assert np.array_equal(across.numbers, [5, 5, np.nan], equal_nan=True)
        assert upwards.numbers.tolist() == [1, 2, 3]
        assert paired(a, b)[1].numbers[:2].tolist() == [5, 5]
        two = ak.Array([{"a": [1, 2], "c": [1]}, {"a": [3], "c": [4, 5]}])
        with pytest.raises(RefbrowserError, match="different lengths"):
            paired(*(field_numbers(rows_of(two), 0, (name,)) for name in "ac"))


class TestTally:
    @settings(max_examples=examples(100), deadline=None)
    @given(st.lists(st.lists(FLOATS, max_size=30), min_size=1, max_size=5))
    @example([[2.63e210, -1e-120]])
    def test_every_number_is_counted_where_it_is(self, parts: list[list[float]]) -> None:
        tally = Tally()
        for part in parts:
            tally.add(np.array(part, np.float64))
        known = np.array([number for part in parts for number in part if np.isfinite(number)])
        bars = tally.bars()
        assert bars.total == tally.count == len(known)
        assert len(bars.counts) <= 80
        if len(known):
            counts, _edges = np.histogram(np.clip(known, -1e300, 1e300), bars.edges)
            assert counts.tolist() == bars.counts.tolist()
            assert tally.low == np.clip(known.min(), -1e300, 1e300)

    def test_few_whole_numbers_have_a_bar_each(self) -> None:
        tally = Tally()
        tally.add(np.array([3, 3, 4]))
        tally.add(np.array([-1]))
        bars = tally.bars()
        assert bars.counts.tolist() == [1, 0, 0, 0, 2, 1]
        assert bars.ends(0) == (-1, -1)
        assert bars.at(3.2) == 4
        assert bars.at(9) is None


class TestCollecting:
    """Blocks of rows, with limits; a row that fails leaves the others."""

    @pytest.fixture
    def read(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
        asked: list[tuple[int, int]] = []

        def read_rows(
            _session: Any, node: Any, _access: Any, start: int, stop: int, _token: Any
        ) -> NestedRows:
            asked.append((start, stop))
            if start <= 700 < stop:
                raise RefbrowserError(ErrorKind.RANGE, "its list reaches beyond the content")
            return NestedRows(node.nested.array[start:stop].layout)

        monkeypatch.setattr(nested_collect, "read_rows", read_rows)
        return asked

    def node(self, array: ak.Array) -> ArrayNode:
        number = NestedType(TypeKind.NUMBER, dtype=np.dtype("f8"))
        kind = NestedType(TypeKind.LIST, items=(number,))
        values = SimpleNamespace(type=kind, length=len(array), buffers=(), array=array)
        return ArrayNode(
            path="/a",
            shape=(len(array),),
            type=DataType(np.dtype(object)),
            values=Rows(grid=RegularChunkGrid((len(array),), (1,)), source=values),
        )  # type: ignore[arg-type]

    def test_all_rows_but_one_that_fails(self, read: list[tuple[int, int]]) -> None:
        node = self.node(ak.Array([[float(number)] for number in range(3_000)]))
        dataset: Any = SimpleNamespace(session=None, access=Access("/", from_network=False), hierarchy=None)
        told: list[Any] = []
        found = collect(dataset, node, choices_of(node), JobControl(), told.append)
        assert found.is_complete
        assert found.skipped == 1
        assert found.error is not None
        assert found.sums[0].values == 2_999
        assert 700 not in found.fields[0].numbers

    def test_more_than_can_be_held_is_counted(
        self, read: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(nested_collect, "HELD", 1_000)
        node = self.node(ak.Array([[1.0, 2.0]] * 5_000))
        dataset: Any = SimpleNamespace(session=None, access=Access("/", from_network=False), hierarchy=None)
        found = collect(dataset, node, choices_of(node), JobControl(), lambda _found: None)
        assert found.rows == 5_000
        assert found.sums[0].values == 2 * 4_999
        assert len(found.fields[0].numbers) <= 1_000
        assert found.point_rows * 2 >= len(found.fields[0].numbers)
        assert found.point_rows < 1_000

    def test_no_more_than_wanted(self, read: list[tuple[int, int]]) -> None:
        node = self.node(ak.Array([[1.0]] * 5_000))
        dataset: Any = SimpleNamespace(session=None, access=Access("/", from_network=False), hierarchy=None)
        found = collect(dataset, node, choices_of(node), JobControl(), lambda _found: None, 200)
        assert found.rows == 256
        assert read == [(0, 256)]


def test_points_in_cells() -> None:
    x, y = np.array([0.0, 0.1, 5.0, np.nan]), np.array([0.0, 0.1, 5.0, 1.0])
    found = density(x, y, ((-1, 9), (-1, 9)), (10, 10))
    assert found.counts.sum() == 3
    assert found.counts[1, 1] == 2
    assert found.shades[1, 1] == 1
    assert 0 < found.shades[6, 6] < 1
    assert nearest(x, y, (4.9, 5.0), (0.5, 0.5)) == 2
    assert nearest(x, y, (3.0, 3.0), (0.5, 0.5)) is None
