"""What rows of each type are for views; the arrays of fields; how much rows may need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from awkward0_encoder import Encoder

from refbrowser.errors import ErrorKind
from refbrowser.model.data_type import RowType
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Inline
from refbrowser.wings.awkward0.awkward_limits import AwkwardLimits
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts.building import build_layout
from refbrowser.wings.awkward0.layouts.schema import read_schema
from refbrowser.wings.awkward0.reading import value_arrays as module
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
from refbrowser.wings.awkward0.reading.value_arrays import value_arrays
from refbrowser.wings.awkward0.rows.layout_values import LayoutValues

E = Encoder("x")
Root = dict[str, Any]


def array_of(encoder: Encoder, root: Root, **fields: Any) -> Awkward0Array:
    members = encoder.members(root, **fields)
    schema = read_schema(members["x.json"])

    def find(name: str) -> Blob | None:
        data = members.get(name)
        return None if data is None else Blob(name, Inline(data), len(data), len(data))

    return Awkward0Array("x", "/x", "x.json", schema, build_layout(schema, find))


def nodes_of(root: Root, encoder: Encoder = E, **fields: Any) -> dict[str, ArrayNode]:
    return {node.path: node for node in value_arrays(array_of(encoder, root, **fields))}


def lists(content: Any) -> Root:
    return E.jagged([2, 0, 1], content)


def masked(content: Any) -> Root:
    return E.make("MaskedArray", E.basic([True, False, False]), content)


NUMBERS, TIMES = np.array([1.0, 2, 3], ">f4"), np.array([1, 2, 3], "M8[s]")


@pytest.mark.parametrize(
    ("root", "dtype", "shape", "row_dtype"),
    [
        (E.make("IndexedArray", E.basic([0, 1, 2]), E.basic(NUMBERS)), "f4", (3,), None),
        (E.make("IndexedArray", E.basic([0, 1, 2]), E.basic(np.ones((3, 4, 2)))), "f8", (3, 4, 2), None),
        (masked(E.basic([1, 2, 3])), "f8", (3,), None),
        (masked(E.basic([1j, 2, 3])), "c16", (3,), None),
        (masked(E.basic(TIMES)), "M8[s]", (3,), None),
        (masked(lists(E.basic(NUMBERS))), "O", (3,), None),
        (lists(E.basic(NUMBERS)), "O", (3,), "f4"),
        (lists(E.basic(TIMES)), "O", (3,), "M8[s]"),
        (lists(masked(E.basic([1, 2, 3]))), "O", (3,), None),
        (lists(lists(E.basic([1, 2, 3]))), "O", (3,), None),
        (lists(E.basic(np.ones((3, 2)))), "O", (3,), None),
        (E.strings(["a", "b"]), "O", (2,), None),
        (E.strings([b"a", b"b"], None), "O", (2,), None),
        (E.table(a=[1, 2, 3]), "O", (3,), None),
    ],
)
def test_rows_have_the_numpy_type_that_views_know(
    root: Root, dtype: str, shape: tuple[int, ...], row_dtype: str | None
) -> None:
    node = nodes_of(root)["/x"]
    assert node.error is None
    assert (node.dtype, node.shape) == (np.dtype(dtype), shape)
    found = node.type.row_dtype if isinstance(node.type, RowType) else None
    assert found == (None if row_dtype is None else np.dtype(row_dtype))
    assert not isinstance(node.type, RowType) or node.type.dimension == "*"
    assert node.grid.shape == shape
    assert node.manifest.stored() == node.grid.size
    assert node.fill_value is None


def test_fields_are_arrays_through_lists_options_and_records() -> None:
    inner = E.table(z=[1, 2, 3])
    nodes = nodes_of(lists(masked(E.table(a=[1.0, 2, 3], b=inner))))
    assert {path: node.type.name for path, node in nodes.items()} == {
        "/x": "var * ?{a: float64, b: {z: int64}}",
        "/x/a": "var * ?float64",
        "/x/b": "var * ?{z: int64}",
        "/x/b/z": "var * ?int64",
    }
    assert [node.shape for node in nodes.values()] == [(3,)] * 4


def test_fields_of_unions_have_no_array_of_their_own() -> None:
    union = E.make(
        "UnionArray.fromtags",
        E.basic(np.array([0, 1, 0], "u1")),
        {"list": [E.table(a=[1, 2]), E.table(b=[1])]},
    )
    assert list(nodes_of(union)) == ["/x"]


def test_names_of_fields_become_parts_of_paths() -> None:
    pairs = {"pairs": [[name, E.basic([1, 2])] for name in ("", "a/b", "..", "node1-data", "n")]}
    nodes = nodes_of(E.make("Table.frompairs", pairs, 0))
    assert list(nodes) == ["/x", "/x/%", "/x/a%2Fb", "/x/%2E.", "/x/%6Eode1-data", "/x/n"]


def test_fields_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    root = E.table(**{f"f{number}": [1] for number in range(5)})
    monkeypatch.setattr(module, "AWKWARD_LIMITS", AwkwardLimits(awkward_fields=3))
    assert len(nodes_of(root)) == 4
    deep = E.table(a=E.table(b=E.table(c=[1])))
    monkeypatch.setattr(module, "AWKWARD_LIMITS", AwkwardLimits(awkward_field_levels=2))
    assert list(nodes_of(deep)) == ["/x", "/x/a", "/x/a/b"]


def test_cycles_end() -> None:
    encoder = Encoder("x")
    counts = encoder.basic([1, 1])
    table = {
        "call": ["awkward0", "Table", "frompairs"],
        "args": [{"pairs": [["a", encoder.basic([1, 2])], ["self", {"ref": 99}]]}, {"json": 0}],
        "id": 50,
    }
    root = {"call": ["awkward0", "JaggedArray", "fromcounts"], "args": [counts, table], "id": 99}
    nodes = nodes_of(root, encoder)
    assert nodes["/x"].error is None
    assert len(nodes) < 50


def test_what_people_wrote_about_an_array_is_its_attributes() -> None:
    encoder = Encoder("x")
    nodes = nodes_of(encoder.jagged([1], [1.0]), encoder, doc="made", metadata={"run": 7})
    assert nodes["/x"].attributes == {"doc": "made", "metadata": {"run": 7}}
    assert nodes_of(lists(E.basic([1, 2, 3])))["/x"].attributes == {}


def test_arrays_that_are_broken_have_their_error() -> None:
    broken = nodes_of({"call": ["os", "system"], "args": [{"json": "true"}]})["/x"]
    assert broken.error is not None
    assert broken.error.kind is ErrorKind.UNSAFE
    assert not value_arrays(array_of(E, {"json": 4}))


def test_more_elements_than_can_be_counted_are_refused() -> None:
    huge = E.make("SparseArray", 2**63, E.basic(np.zeros(0, "i8")), E.basic(np.zeros(0)))
    node = nodes_of(huge)["/x"]
    assert node.error is not None
    fine = nodes_of(E.make("SparseArray", 2**62, E.basic(np.zeros(0, "i8")), E.basic(np.zeros(0))))["/x"]
    assert fine.error is None
    assert fine.shape == (2**62,)
    assert fine.grid is not None


# How much rows may need


def needed(root: Root, start: int, stop: int, *fields: str) -> dict[int, tuple[int, int]]:
    """Return by number of elements of the buffer which of them are needed."""
    array = array_of(E, root)
    assert array.built is not None
    assert array.layout is not None
    values = LayoutValues(array.layout, array.built.by_number)
    for name in fields:
        values = values.field(name)
    return {part.buffer.count: (part.start, part.stop) for part in values.parts(start, stop)}


def ones(count: int, dtype: str = "i8") -> Root:
    return E.basic(np.ones(count, dtype))


@pytest.mark.parametrize(
    ("root", "wanted"),
    [
        (E.make("JaggedArray.fromcounts", ones(20), ones(99)), {20: (0, 7), 99: (0, 99)}),
        (E.make("JaggedArray.fromoffsets", ones(21), ones(99)), {21: (5, 8), 99: (0, 99)}),
        (E.make("JaggedArray", ones(20), ones(22), ones(99)), {20: (5, 7), 22: (5, 7), 99: (0, 99)}),
        (E.make("MaskedArray", ones(20, "?"), ones(21)), {20: (5, 7), 21: (5, 7)}),
        (E.make("BitMaskedArray", ones(3, "u1"), ones(20)), {3: (0, 1), 20: (5, 7)}),
        (E.make("IndexedMaskedArray", ones(20), ones(99)), {20: (5, 7), 99: (0, 99)}),
        (E.make("IndexedArray", ones(20), ones(99)), {20: (5, 7), 99: (0, 99)}),
        (E.table(a=ones(20), b=ones(21)), {20: (5, 7), 21: (5, 7)}),
        (
            E.make("UnionArray", ones(20, "u1"), ones(21), {"list": [ones(99)]}),
            {20: (5, 7), 21: (5, 7), 99: (0, 99)},
        ),
        (E.make("UnionArray.fromtags", ones(20, "u1"), {"list": [ones(99)]}), {20: (0, 7), 99: (0, 99)}),
        (E.make("JaggedArray.fromfolding", ones(99), 3), {99: (15, 21)}),
        (E.make("ChunkedArray", {"list": [ones(6), ones(50), ones(3)]}, [6, 50, 3]), {6: (5, 6), 50: (0, 1)}),
    ],
)
def test_rows_need_what_lies_in_them_and_all_that_an_index_may_lead_to(
    root: Root, wanted: dict[int, tuple[int, int]]
) -> None:
    assert needed(root, 5, 7) == wanted


def test_a_view_of_a_table_needs_the_rows_that_it_shows() -> None:
    base = E.table(a=ones(100))
    view = E.make("Table.fromview", {"tuple": [{"json": 90}, {"json": -2}, {"json": 20}]}, base)
    assert needed(view, 5, 7) == {100: (78, 81)}
    by_index = E.make("Table.fromview", ones(20), base)
    assert needed(by_index, 5, 7) == {20: (5, 7), 100: (0, 100)}


def test_a_field_needs_its_own_buffers() -> None:
    assert needed(E.table(a=ones(20), b=ones(21)), 5, 7, "b") == {21: (5, 7)}
    jagged = E.make("JaggedArray.fromcounts", ones(20), E.table(a=ones(98), b=ones(99)))
    assert needed(jagged, 5, 7, "a") == {20: (0, 7), 98: (0, 98)}
