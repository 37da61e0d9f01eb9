"""What arrays of any type become in a stream, and what is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_encoder as enc
from exported_streams import exported, opened

import refbrowser
from refbrowser.model.data_type import (
    DataType,
    EnumerationType,
    RowType,
    SequenceType,
    named_values,
    rows_type,
)
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, Dimension, Flavour, GroupNode, Hierarchy
from refbrowser.model.values import Chunks
from refbrowser.wings.ncstream.reading.definition import StreamType
from refbrowser.wings.ncstream.writing.definition_of import MEMBER_OF, definition_of
from refbrowser.wings.ncstream.writing.encoding import payload_of

OBJECT = np.dtype(object)
QUAKES = [("a", "<i4")]


def array(path: str, dtype: Any, shape: tuple[int, ...] = (2,), **more: Any) -> ArrayNode:
    dtype = np.dtype(dtype)
    type = more.pop("type", None) or DataType.of(dtype, more.pop("type_name", dtype.str))
    return ArrayNode(
        path=path, shape=shape, type=type, values=Chunks(grid=RegularChunkGrid(shape, shape)), **more
    )


def hierarchy(*arrays: ArrayNode, flavour: Flavour = Flavour.ZARR_V2, **groups: GroupNode) -> Hierarchy:
    root = GroupNode(arrays={each.name: each for each in arrays}, groups=groups)
    return Hierarchy(root=root, format="zarr-v2", flavour=flavour)


def only(node: ArrayNode, flavour: Flavour = Flavour.ZARR_V2, **options: Any) -> Any:
    """Return the one variable that an array becomes, and what is told of it."""
    made = definition_of(hierarchy(node, flavour=flavour), **options)
    (found,) = made.variables
    return found, [loss.what for loss in made.losses]


@pytest.mark.parametrize(
    ("dtype", "type"),
    [
        ("<i1", StreamType.BYTE),
        (">i2", StreamType.SHORT),
        ("<i4", StreamType.INT),
        (">i8", StreamType.LONG),
        ("u1", StreamType.UBYTE),
        ("<u2", StreamType.USHORT),
        (">u4", StreamType.UINT),
        ("<u8", StreamType.ULONG),
        ("<f4", StreamType.FLOAT),
        (">f8", StreamType.DOUBLE),
        ("S1", StreamType.CHAR),
        ("<U7", StreamType.STRING),
        ("V3", StreamType.OPAQUE),
    ],
)
def test_types_that_streams_have_change_nothing(dtype: str, type: StreamType) -> None:
    found, told = only(array("/a", dtype))
    assert found.variable.type is type
    assert found.variable.shape == (2,)
    assert told == []
    assert found.convert is None


@pytest.mark.parametrize(
    ("values", "type", "numbers"),
    [
        (np.array([True, False]), StreamType.BYTE, [1, 0]),
        (np.array([0.5, -2], "<f2"), StreamType.FLOAT, [0.5, -2]),
        (np.array([0.5, -2], np.longdouble), StreamType.DOUBLE, [0.5, -2]),
        (np.array(["1970-01-02", "NaT"], "M8[D]"), StreamType.LONG, [1, -(2**63)]),
        (np.array(["1970-03", "1971-01"], "M8[M]"), StreamType.LONG, [59, 365]),
        (np.array([90, 30], "m8[10s]"), StreamType.LONG, [900, 300]),
        (np.array([2, 3], "m8[W]"), StreamType.LONG, [14, 21]),
    ],
)
def test_other_numbers_become_the_nearest_and_it_is_told(
    values: Any, type: StreamType, numbers: list
) -> None:
    found, told = only(array("/a", values.dtype))
    assert found.variable.type is type
    assert found.converted(values).tolist() == numbers
    assert len(told) == 1


def test_times_get_units_by_convention() -> None:
    found, told = only(array("/a", "<M8[ms]", attributes={"units": "mine", "long_name": "t"}))
    values = {name: each.values for name, each in found.variable.attributes.items()}
    assert values["units"] == ("milliseconds since 1970-01-01",)
    assert values["calendar"] == ("proleptic_gregorian",)
    assert values["long_name"] == ("t",)
    assert values["_FillValue"] == (-(2**63),)
    assert "attribute 'units' is replaced" in told
    plain, told = only(array("/a", "<m8[Y]"))
    assert "units" not in plain.variable.attributes
    assert "plain numbers" in told[0]


def test_complex_numbers_become_two_variables(tmp_path: Path) -> None:
    values = np.array([1 + 2j, -3.5j], "<c8")
    dataset = opened(tmp_path, {"z": {"values": values}, "z_r": {"values": np.arange(3)}})
    report = exported(dataset, tmp_path / "a.ncs", profile="compatible")
    found = refbrowser.open(tmp_path / "a.ncs")
    assert found["z_r_2"][...].tolist() == [1, 0]
    assert found["z_i"][...].tolist() == [2, -3.5]
    assert found["z_r"][...].tolist() == [0, 1, 2]
    assert any("'/z_r_2'" in loss.what for loss in report.losses)


def test_texts_of_fixed_size_become_strings(tmp_path: Path) -> None:
    values = np.array([b"ab", "ä".encode(), b"\xff"], "S2")
    dataset = opened(tmp_path, {"a": {"values": values}})
    exported(dataset, tmp_path / "a.ncs")
    assert refbrowser.open(tmp_path / "a.ncs")["a"][...].tolist() == ["ab", "ä", "ÿ"]


def test_single_bytes_of_nczarr_are_texts_unless_called_characters() -> None:
    assert only(array("/a", "S1", type_name="|S1"), Flavour.NCZARR)[0].variable.type is StreamType.STRING
    assert only(array("/a", "S1", type_name=">S1"), Flavour.NCZARR)[0].variable.type is StreamType.CHAR


# Enumerations


def test_enumerations_keep_their_names_and_share_a_declaration() -> None:
    names = {0: "no", 3: "yes"}
    one = array("/a", "u1", type=EnumerationType(np.dtype("u1"), "|u1", names, "answer"))
    two = array("/b", "u1", type=EnumerationType(np.dtype("u1"), "|u1", names, "answer"))
    other = array("/c", ">u2", type=EnumerationType(np.dtype(">u2"), ">u2", {7: "x"}, "answer"))
    made = definition_of(hierarchy(one, two, other))
    types = [(each.variable.type, each.variable.enum_name) for each in made.variables]
    assert types == [
        (StreamType.ENUM1, "answer"),
        (StreamType.ENUM1, "answer"),
        (StreamType.ENUM2, "answer_2"),
    ]
    assert made.definition.root.enums == {"answer": names, "answer_2": {7: "x"}}


@pytest.mark.parametrize("dtype", ["<i4", "<u8"])
def test_enumerations_that_streams_lack_become_flags(dtype: str) -> None:
    found, told = only(array("/a", dtype, type=EnumerationType(np.dtype(dtype), dtype, {1: "so so", 2: "b"})))
    values = {name: each.values for name, each in found.variable.attributes.items()}
    assert values == {"flag_values": (1, 2), "flag_meanings": ("so_so b",)}
    assert found.variable.enum_name == ""
    assert len(told) == 1


# Structures, rows, sequences


def test_members_of_structures_are_variables_then_structures() -> None:
    inner = np.dtype([("x", "<f4"), ("y", "<f4")])
    dtype = np.dtype([("p", inner), ("n", "<i2", (3,)), ("c", "S5"), ("ok", "?"), ("z", "<c8")])
    found, told = only(array("/s", dtype))
    members = [(each.name, each.type, each.shape) for each in found.variable.members]
    assert members == [
        ("n", StreamType.SHORT, (3,)),
        ("c", StreamType.CHAR, (5,)),
        ("ok", StreamType.BYTE, ()),
        ("p", StreamType.STRUCTURE, ()),
        ("z", StreamType.STRUCTURE, ()),
    ]
    assert "fields that are structures come after the others" in told
    values = np.zeros(2, dtype)
    values["c"], values["z"], values["n"] = [b"ab", b"cde"], [1j, 2], [[1, 2, 3], [4, 5, 6]]
    changed = found.converted(values)
    assert changed["c"].tolist()[1] == [b"c", b"d", b"e", b"", b""]
    assert changed["z"].tolist() == [(0, 1), (2, 0)]
    assert len(payload_of(found.variable, changed)) > 2 * dtype.itemsize - 10


def test_members_without_a_form_become_variables_beside() -> None:
    dtype = np.dtype([("a", "<i4"), ("rows", rows_type(np.dtype("<f4"))), ("raw", rows_type(bytes), (2,))])
    made = definition_of(hierarchy(array("/s", dtype, (1,))))
    structure, rows, raw = made.variables
    assert [each.name for each in structure.variable.members] == ["a"]
    assert (rows.path, raw.path) == ("/s_rows", "/s_raw")
    assert rows.variable.is_ragged
    assert rows.variable.attributes[MEMBER_OF].values == ("s.rows",)
    assert raw.variable.shape == (1, 2)
    values = np.zeros(1, dtype)
    values["rows"][0] = np.array([1.5, 2.5])
    values["raw"][0] = [b"\x01\xff", b""]
    assert rows.converted(values)[0].tolist() == [1.5, 2.5]
    assert [each.tolist() for each in raw.converted(values)[0]] == [[1, 255], []]


def test_a_structure_of_texts_only_lost_members_is_only_beside() -> None:
    dtype = np.dtype([("rows", rows_type(np.dtype("<f4")))])
    made = definition_of(hierarchy(array("/s", dtype)))
    assert [each.path for each in made.variables] == ["/s_rows"]


def test_rows_of_their_own_length() -> None:
    found, _ = only(array("/r", object, type=RowType(OBJECT, elements=DataType.of(np.dtype("<M8[s]")))))
    variable = found.variable
    assert variable.is_ragged
    assert variable.type is StreamType.LONG
    assert variable.shape == (2,)
    assert [each.name for each in variable.dimensions][-1] == "*"
    rows = np.empty(2, object)
    rows[:] = [np.array(["1970-01-01T00:00:09"], "M8[s]"), np.array([], "M8[s]")]
    assert [each.tolist() for each in found.converted(rows)] == [[9], []]
    texts = array("/r", object, type=RowType(OBJECT, elements=DataType.of(np.dtype("<U3"))))
    made = definition_of(hierarchy(texts))
    assert made.variables == ()
    assert "rows of type" in made.left_out[0].message


def test_sequences_are_structures_where_they_cannot_be() -> None:
    node = array("/q", QUAKES, (3,), type=SequenceType(np.dtype(QUAKES)))
    found, _ = only(node)
    assert (found.variable.type, found.variable.dimensions) == (StreamType.SEQUENCE, ())
    found, _ = only(node, sequences=False)
    assert (found.variable.type, found.variable.shape) == (StreamType.STRUCTURE, (3,))
    assert found.variable.dimensions[0].is_private


def test_enumerated_fields_and_rows_keep_their_names() -> None:
    dtype = np.dtype([("e", named_values(np.dtype("u1"), {1: "one"}, "kind"))])
    made = definition_of(hierarchy(array("/s", dtype)))
    (member,) = made.variables[0].variable.members
    assert (member.type, member.enum_name) == (StreamType.ENUM1, "kind")
    assert made.definition.root.enums == {"kind": {1: "one"}}
    rows = array(
        "/r",
        object,
        type=RowType(OBJECT, elements=EnumerationType(np.dtype("u1"), "|u1", {1: "one"}, "kind")),
    )
    assert only(rows)[0].variable.type is StreamType.ENUM1


# Dimensions, groups, attributes


def test_dimensions_are_shared_private_or_unlimited() -> None:
    dimensions = {"t": Dimension("t", 4, True), "x": Dimension("x", 2)}
    shared = array("/a", "i4", (4, 2), dimensions=("t", "x"))
    short = array("/b", "i4", (3, 5), dimensions=("t", None))
    root = GroupNode(arrays={"a": shared, "b": short}, dimensions=dimensions)
    made = definition_of(Hierarchy(root=root, format="zarr-v2"))
    one, other = (each.variable.dimensions for each in made.variables)
    assert [(each.name, each.length, each.is_unlimited) for each in one] == [("t", 4, True), ("x", 2, False)]
    assert [(each.name, each.length, each.is_private) for each in other] == [("", 3, True), ("", 5, True)]
    assert list(made.definition.root.dimensions) == ["t", "x"]
    assert "not shared" in made.losses[0].what


def test_attributes_have_types_and_hidden_ones_are_left_out() -> None:
    attributes = {"_ARRAY_DIMENSIONS": ["x"], "n": [1, 2], "s": ["a", "b"], "big": 2**40, "o": {"a": 1}}
    node = array("/a", "<f4", attributes={**attributes, "_FillValue": 1.5}, attribute_types={"n": "short"})
    found, told = only(node)
    types = {name: each.type for name, each in found.variable.attributes.items()}
    assert types == {
        "n": StreamType.SHORT,
        "s": StreamType.STRING,
        "big": StreamType.LONG,
        "o": StreamType.STRING,
        "_FillValue": StreamType.FLOAT,
    }
    assert found.variable.attributes["o"].values == ('{"a":1}',)
    assert len(told) == 1


def test_a_fill_value_of_another_type_is_told() -> None:
    found, told = only(array("/a", "<i2", attributes={"_FillValue": "NaN"}))
    assert found.variable.attributes == {}
    assert "'NaN'" in told[0]
    _, told = only(array("/a", [("x", "<i2")], attributes={"_FillValue": 1}))
    assert "_FillValue is left out" in told[0]


def test_a_root_that_is_an_array_gets_a_name() -> None:
    made = definition_of(Hierarchy(root=array("/", "<i2"), format="zarr-v2"))
    assert [each.path for each in made.variables] == ["/data"]


def test_names_are_escaped_and_found_again(tmp_path: Path) -> None:
    names = ("g.1/a.b\\c", "g.1/plain", "ä ö")
    dataset = opened(tmp_path, {name: {"values": np.arange(3)} for name in names}, groups=("g.1",))
    exported(dataset, tmp_path / "a.ncs")
    found = refbrowser.open(tmp_path / "a.ncs")
    assert sorted(found.arrays) == sorted(f"/{name}" for name in names)
    assert found["/g.1/a.b\\c"][...].tolist() == [0, 1, 2]


def test_structures_with_texts_that_cannot_be_read_hold_fill_values(tmp_path: Path) -> None:
    shape = [enc.dimension("n", 2)]
    members = [enc.variable("number", enc.INT), enc.variable("text", enc.STRING)]
    header = enc.header(
        enc.group(dimensions=shape, structures=[enc.structure("s", shape=shape, variables=members)])
    )
    # The second row has a text that is not there.
    rows = enc.structure_body(enc.numbers("i", [1, 0, 2, 9]), heap=[["a"]], count=2, row_length=8)
    sent = enc.data(enc.data_body("s", enc.STRUCTURE, [(0, 2, 1)], bigend=True), enc.regular(rows))
    source = tmp_path / "source.ncs"
    source.write_bytes(enc.stream(header, sent))
    target = tmp_path / "a.ncs"
    with refbrowser.open(str(source)) as dataset:
        exported(dataset, target, skip_bad=True)
    with refbrowser.open(str(target)) as again:
        assert again["/s"][...].tolist() == [(-2147483647, ""), (-2147483647, "")]
