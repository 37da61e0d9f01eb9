"""Blocks of nested rows: whatever layout they come in, their buffers grow to the same array."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
from awkward import contents, index
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from nested_datasets import same, type_of_form

from refbrowser.errors import RefbrowserError
from refbrowser.exporting.nested.conformed_rows import MissingValuesError, conformed
from refbrowser.exporting.nested.growing_buffers import BufferName, GrowingBuffers
from refbrowser.exporting.nested.store_part import BufferFiles
from refbrowser.exporting.nested.target_types import Abilities, target_type
from refbrowser.model.nested import NestedType, TypeKind


def grown(array: ak.Array, cuts: list[int], type: NestedType | None = None) -> ak.Array:
    """Return an array that was put together from blocks of itself."""
    wanted, notes = target_type(type or type_of_form(array.layout.form), Abilities())
    assert not notes
    buffers: dict[str, list[np.ndarray]] = {}

    def put(name: BufferName, values: np.ndarray) -> None:
        assert values.dtype == name.dtype
        buffers.setdefault(name.name, []).append(values)

    growing = GrowingBuffers(wanted, put)
    for start, stop in pairwise([0, *sorted(cuts), len(array)]):
        growing.add(conformed(array[start:stop].layout, wanted))
    assert [name.name for name in growing.names] == list(buffers)
    whole = {name: np.concatenate(parts) for name, parts in buffers.items()}
    return ak.from_buffers(growing.form.to_json(), growing.length, whole)


_LEAVES = st.sampled_from(["int", "float", "bool", "text", "bytes", "time"])
_KINDS = st.recursive(
    _LEAVES,
    lambda below: st.one_of(
        st.tuples(st.just("list"), below),
        st.tuples(st.just("option"), below),
        st.tuples(st.just("pair"), st.tuples(below, below)),
        st.tuples(st.just("record"), st.tuples(below, below)),
        st.tuples(st.just("union"), st.tuples(below, below)),
    ),
    max_leaves=5,
)
_VALUES = {
    "int": st.integers(-(2**60), 2**60),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "text": st.text(max_size=3),
    "bytes": st.binary(max_size=3),
    "time": st.integers(0, 10**6).map(lambda seconds: np.datetime64(seconds, "s")),
}


def values_of(kind) -> st.SearchStrategy:
    if isinstance(kind, str):
        return _VALUES[kind]
    name, below = kind
    if name == "list":
        return st.lists(values_of(below), max_size=3)
    if name == "option":
        return st.none() | values_of(below)
    parts = tuple(map(values_of, below))
    if name == "pair":
        return st.tuples(*parts)
    if name == "record":
        return st.tuples(*parts).map(lambda pair: {"x": pair[0], "y": pair[1]})
    return st.one_of(*parts)


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
@given(st.data())
def test_blocks_of_any_array_grow_to_it(data) -> None:
    rows = data.draw(_KINDS.flatmap(lambda kind: st.lists(values_of(kind), max_size=8)))
    array = ak.Array(ak.from_iter(rows, allow_record=False))
    cuts = data.draw(st.lists(st.integers(0, len(array)), max_size=3))
    assert same(grown(array, cuts), array)


def numbers(*values: float) -> contents.NumpyArray:
    return contents.NumpyArray(np.array(values))


LAYOUTS = {
    "lists in any order": contents.ListArray(
        index.Index64(np.array([3, 0, 1])), index.Index64(np.array([5, 0, 4])), numbers(1, 2, 3, 4, 5)
    ),
    "lists cut from others": contents.ListOffsetArray(
        index.Index64(np.array([2, 3, 3, 5])), numbers(0, 1, 2, 3, 4, 5, 6)
    ),
    "32-bit offsets": contents.ListOffsetArray(
        index.Index32(np.array([0, 2, 3], np.int32)), numbers(1, 2, 3)
    ),
    "byte mask": contents.ByteMaskedArray(
        index.Index8(np.array([1, 0, 1], np.int8)), numbers(1, 2, 3), valid_when=True
    ),
    "bit mask": contents.BitMaskedArray(
        index.IndexU8(np.array([0b101], np.uint8)), numbers(1, 2, 3), True, 3, lsb_order=True
    ),
    "nothing masked": contents.UnmaskedArray(numbers(1, 2, 3)),
    "index": contents.IndexedArray(index.Index64(np.array([2, 2, 0])), numbers(1, 2, 3)),
    "option of lists": contents.IndexedOptionArray(
        index.Index64(np.array([1, -1, 0])),
        contents.ListOffsetArray(index.Index64(np.array([0, 1, 3])), numbers(1, 2, 3)),
    ),
    "numbers of two dimensions": contents.NumpyArray(np.arange(12.0).reshape(3, 2, 2)),
    "lists of no elements": contents.RegularArray(contents.EmptyArray(), 0, 3),
    "records longer than needed": contents.RecordArray([numbers(1, 2, 3, 4), numbers(1, 2, 3)], ["a", "b"]),
    "records without fields": contents.RecordArray([], [], 3),
    "named records": contents.RecordArray([numbers(1, 2)], ["pt"], parameters={"__record__": "Vector"}),
    "a slice of a union": contents.UnionArray(
        index.Index8(np.array([0, 1, 0, 1], np.int8)),
        index.Index64(np.array([1, 0, 1, 2])),
        [numbers(1, 2), ak.Array(["a", "b", "c"]).layout],
    )[1:],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("cuts", [[], [1], [0, 1, 2]])
def test_every_layout_has_one_form(layout, cuts: list[int]) -> None:
    array = ak.Array(layout)
    found = grown(array, cuts)
    assert ak.to_list(found) == ak.to_list(array)
    assert str(found.type) == str(array.type)


def test_a_block_may_have_one_possibility_only_or_the_same_twice() -> None:
    union = ak.Array([1, "a", None, "b"])
    wanted, _ = target_type(type_of_form(union.layout.form), Abilities())
    only = conformed(ak.Array(["x", "y"]).layout, wanted)
    assert ak.to_list(only) == ["x", "y"]
    assert only.form.type == union.layout.form.type
    twice = contents.UnionArray(
        index.Index8(np.array([1, 0, 2, 1], np.int8)),
        index.Index64(np.array([0, 0, 0, 1])),
        [ak.Array(["p"]).layout, contents.NumpyArray(np.array([5, 6])), ak.Array(["q"]).layout],
    )
    assert ak.to_list(conformed(twice, wanted)) == [5, "p", "q", 6]


def test_missing_values_where_there_are_none_are_told_with_their_place() -> None:
    array = ak.Array([{"x": [{"y": 1.0}]}])
    wanted, _ = target_type(type_of_form(array.layout.form), Abilities())
    with pytest.raises(MissingValuesError) as caught:
        conformed(ak.Array([{"x": [{"y": None}, {"y": 2.0}]}]).layout, wanted)
    assert caught.value.where == ("x", "[]", "y")
    widened, _ = target_type(type_of_form(array.layout.form), Abilities(), {caught.value.where})
    content = conformed(ak.Array([{"x": [{"y": None}, {"y": 2.0}]}]).layout, widened)
    assert ak.to_list(content) == [{"x": [{"y": None}, {"y": 2.0}]}]


@pytest.mark.parametrize("wrong", [[1.5], ["text"], [[1]], [{"x": "a"}], [{"z": 1}]])
def test_rows_of_another_type_are_refused(wrong) -> None:
    array = ak.Array([{"x": 1}])
    wanted, _ = target_type(type_of_form(array.layout.form), Abilities())
    with pytest.raises(RefbrowserError, match="not of the type"):
        conformed(ak.Array(wrong).layout, wanted)


def test_what_cannot_be_read_or_goes_on_in_itself_is_missing() -> None:
    opaque = NestedType(TypeKind.OPAQUE, name="made by a function")
    link = NestedType(TypeKind.LINK, name="tree")
    number = NestedType(TypeKind.NUMBER, dtype=np.dtype(">i4"))
    source = NestedType(TypeKind.RECORD, items=(number, opaque, link), fields=("a", "b", "c"), name="tree")
    wanted, notes = target_type(source, Abilities())
    assert [note.path for note in notes] == [("b",), ("c",)]
    rows = ak.Array(
        contents.RecordArray(
            [
                contents.NumpyArray(np.array([1, 2], ">i4").astype("i4")),
                ak.Array([None, None]).layout,
                numbers(1, 2),
            ],
            ["a", "b", "c"],
        )
    )
    found = ak.Array(conformed(rows.layout, wanted))
    assert found.to_list() == [{"a": 1, "b": None, "c": None}, {"a": 2, "b": None, "c": None}]
    assert found.type == ak.types.ArrayType(found.layout.form.type, 2)


def test_blocks_of_a_buffer_are_taken_from_its_file(tmp_path: Path) -> None:
    files, name = BufferFiles(tmp_path / "b"), BufferName("node0-data", np.dtype("i4"))
    for start in range(0, 12, 5):
        files.put(name, np.arange(start, min(start + 5, 12), dtype="i4"))
    assert files.lengths == {"node0-data": 12}
    values, state = files.spool(name, np.dtype("i4"), (4,)).take((slice(8, 16),))
    assert values.tolist() == [8, 9, 10, 11, 0, 0, 0, 0]
    assert state.stored((0,))
