"""Hierarchies of any format in the NCZarr data model."""

import numpy as np
import pytest
from hypothesis import given
from netcdf_nodes import array, attribute, group, trees, variable, view

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.store_rules import EARLY_DRAFT, RULES
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundField,
    CompoundType,
    NetcdfAttribute,
    NetcdfDimension,
    OpaqueType,
)
from refbrowser.model.netcdf.validation import validate
from refbrowser.model.nodes import Flavour, GroupNode, Hierarchy


def paths(shown):
    return [reference.path for reference in shown.dimensions]


def declared(shown):
    return [(dimension.name, dimension.size) for dimension in shown.dimensions]


# Dimensions


def test_declared_dimensions_are_shared_by_the_groups_below():
    dataset = view(
        group(
            "/",
            array("/a", (4, 3), dimension_paths=("/t", "/x")),
            group("/g", array("/g/b", (3,), dimension_paths=("/x",)), dimensions=[("y", 2)]),
            dimensions=[("t", 4, True), ("x", 3)],
        )
    )
    root = dataset.root
    assert root.dimensions == (NetcdfDimension("t", 4, unlimited=True), NetcdfDimension("x", 3))
    assert paths(root.variables[0]) == ["/t", "/x"]
    assert root.groups[0].dimensions == (NetcdfDimension("y", 2),)
    assert paths(root.groups[0].variables[0]) == ["/x"]
    assert [variable.name for variable in dataset.sharing()["/x"]] == ["a", "b"]
    assert list(dataset.dimensions()) == ["/t", "/x", "/g/y"]


def test_names_are_declared_in_the_group_that_needs_them():
    root = view(
        group(
            "/",
            array("/a", (2, 3), dimensions=("y", "x")),
            group("/g", array("/g/b", (3, 5), dimensions=("x", "y")), array("/g/c", (5,), dimensions=("y",))),
        )
    ).root
    below = root.groups[0]
    assert declared(root) == [("y", 2), ("x", 3)]
    assert declared(below) == [("y", 5)]
    assert [paths(shown) for shown in below.variables] == [["/x", "/g/y"], ["/g/y"]]


def test_a_size_without_a_name_has_one_anonymous_dimension_in_the_root():
    root = view(
        group("/", array("/a", (3, 3, 2)), group("/g", array("/g/b", (2, 7), dimensions=(None, "x"))))
    ).root
    assert root.dimensions == (
        NetcdfDimension("_Anonymous_Dim_3", 3, anonymous=True),
        NetcdfDimension("_Anonymous_Dim_2", 2, anonymous=True),
    )
    assert paths(root.variables[0]) == ["/_Anonymous_Dim_3", "/_Anonymous_Dim_3", "/_Anonymous_Dim_2"]
    assert paths(root.groups[0].variables[0]) == ["/_Anonymous_Dim_2", "/g/x"]


def test_an_anonymous_dimension_does_not_take_the_name_of_another():
    root = view(group("/", array("/a", (3,)), dimensions=[("_Anonymous_Dim_3", 4)])).root
    assert declared(root) == [("_Anonymous_Dim_3", 4), ("_Anonymous_Dim_3_2", 3)]


def test_arrays_that_disagree_about_a_size_get_dimensions_of_their_own():
    dataset = view(
        group(
            "/",
            array("/a", (3,), dimensions=("x",)),
            array("/b", (4, 5), dimensions=("x", "x")),
            array("/c", (4,), dimensions=("x",)),
            array("/x_5", (1,), dimensions=("x_4",)),
        )
    )
    root = dataset.root
    assert [paths(shown) for shown in root.variables] == [["/x"], ["/x_4", "/x_5"], ["/x_4"], ["/x_4_1"]]
    assert declared(root) == [("x", 3), ("x_4", 4), ("x_5", 5), ("x_4_1", 1)]
    note = dataset.notes()[0]
    assert note.place.path == "/b"
    assert note.message == "dimension '/x' has 3 elements, here 4: it is shown as 'x_4'"
    assert len(dataset.notes()) == 4


def test_derived_names_are_not_those_of_dimensions_that_come_later():
    axes = {"a": ("x", 3), "b": ("x", 4), "c": ("x_5", 6), "d": ("x", 5)}
    nodes = [array(f"/{each}", (size,), dimensions=(name,)) for each, (name, size) in axes.items()]
    assert declared(view(group("/", *nodes)).root) == [("x", 3), ("x_4", 4), ("x_5", 6), ("x_5_2", 5)]


def test_a_name_means_the_nearest_dimension():
    inner = group("/g/h", array("/g/h/a", (3, 4), dimensions=("x", "x")))
    root = view(group("/", group("/g", inner, dimensions=[("x", 4)]), dimensions=[("x", 3)])).root
    shown = root.groups[0].groups[0]
    # The one of the root has the size, but is hidden.
    assert paths(shown.variables[0]) == ["/g/h/x", "/g/h/x_4"]


def test_an_array_may_end_early_along_an_unlimited_dimension_only():
    nodes = [array(f"/{name}", (2,), dimension_paths=(f"/{name}",)) for name in ("t", "x")]
    root = view(group("/", *nodes, dimensions=[("t", 4, True), ("x", 4)])).root
    assert [paths(shown) for shown in root.variables] == [["/t"], ["/x_2"]]


def test_a_dangling_reference_is_told_and_its_name_used():
    node = array("/a", (2,), dimension_paths=("/nothing/t",), dimensions=("t",))
    root = view(group("/", node)).root
    assert paths(root.variables[0]) == ["/t"]
    assert "no dimension '/nothing/t'" in root.variables[0].notes[0].message


def test_dimension_paths_with_blanks_and_backslashes():
    node = array("/sp ace/a", (2, 3), dimension_paths=("/sp ace/d im", "/b\\k"))
    root = view(group("/", group("/sp ace", node, dimensions=[("d im", 2)]), dimensions=[("b\\k", 3)])).root
    shown = root.groups[0].variables[0]
    assert paths(shown) == [r"/sp\ ace/d\ im", r"/b\\k"]
    assert [reference.name for reference in shown.dimensions] == ["d im", "b\\k"]


def test_coordinate_variables():
    root = view(
        group(
            "/",
            array("/x", (2,), dimensions=("x",)),
            array("/y", (2, 2), dimensions=("x", "y")),
            array("/s"),
        )
    ).root
    assert [shown.is_coordinate for shown in root.variables] == [True, False, False]


# Types


@pytest.mark.parametrize(
    ("dtype", "type"),
    [
        ("i1", "byte"),
        ("u1", "ubyte"),
        (">i2", "short"),
        ("<u2", "ushort"),
        (">i4", "int"),
        ("u4", "uint"),
        ("i8", "int64"),
        (">u8", "uint64"),
        ("f4", "float"),
        (">f8", "double"),
        ("S1", "char"),
        ("S5", "string"),
        ("U1", "string"),
        ("U5", "string"),
    ],
)
def test_types_that_netcdf_has(dtype, type):
    shown = variable("/a", (), dtype)
    assert shown.type is AtomicType(type)
    assert shown.notes == ()


@pytest.mark.parametrize(
    ("dtype", "type"),
    [("?", "byte"), ("f2", "float"), ("M8[ns]", "int64"), ("m8[s]", "int64"), ("O", "string")],
)
def test_types_that_netcdf_lacks_are_told(dtype, type):
    shown = variable("/a", (), dtype)
    assert shown.type is AtomicType(type)
    assert len(shown.notes) == 1


def test_text_of_variable_length_is_string_without_a_word():
    assert variable("/a", (), "O", type_name="string").notes == ()


def test_nczarr_tells_char_and_string_apart_by_the_name_of_the_type():
    assert variable("/a", (), "S1", Flavour.NCZARR, type_name=">S1").type is AtomicType.CHAR
    assert variable("/a", (), "S1", Flavour.NCZARR, type_name="|S1").type is AtomicType.STRING


def test_compound_types_with_nested_and_dimensioned_fields():
    inner = np.dtype([("r", "<f4"), ("k", "V3")])
    dtype = np.dtype([("in", inner, (2,)), ("name", "S4"), ("m", "<i2", (2, 3))])
    root = view(group("/", array("/rec", (), dtype))).root
    opaque, nested, outer = root.types
    assert opaque == OpaqueType("rec_in_k_t", 3)
    assert nested == CompoundType(
        "rec_in_t", (CompoundField("r", AtomicType.FLOAT), CompoundField("k", opaque))
    )
    assert outer.name == "rec_t"
    assert outer.fields == (
        CompoundField("in", nested, (2,)),
        CompoundField("name", AtomicType.CHAR, (4,)),
        CompoundField("m", AtomicType.SHORT, (2, 3)),
    )
    assert root.variables[0].type is outer


def test_fields_that_netcdf_lacks_are_told():
    shown = variable("/a", (), [("t", "U3"), ("none", "V0"), ("b", "?"), ("c", "?")])
    assert shown.type.fields == (
        CompoundField("t", AtomicType.UINT, (3,)),
        CompoundField("b", AtomicType.BYTE),
        CompoundField("c", AtomicType.BYTE),
    )
    assert shown.notes[0].message == (
        "the text of field 't' is shown as code points; the field 'none' has no bytes and is not shown; "
        "bool is shown as byte: 0 and 1"
    )


def test_equal_structures_are_one_type_in_the_innermost_group_around_them():
    pair = np.dtype([("a", "<i4"), ("b", "<i4")])
    root = view(
        group(
            "/",
            array("/n", (), "V2"),
            group(
                "/g",
                group("/g/h", array("/g/h/p", (), pair)),
                group("/g/i", array("/g/i/q", (), pair.newbyteorder(">")), array("/g/i/o", (), "V2")),
            ),
        )
    ).root
    between = root.groups[0]
    assert [type.name for type in root.types] == ["n_t"]
    assert [type.name for type in between.types] == ["p_t"]
    assert not between.groups[0].types
    assert {shown.variables[0].type for shown in between.groups} == set(between.types)


def test_a_type_takes_no_name_that_is_in_use():
    nodes = [array("/v", (), "V2"), array("/v_t", (5,), "V3"), group("/v_t_t")]
    root = view(group("/", *nodes, dimensions=[("v_t_2", 5)])).root
    assert [type.name for type in root.types] == ["v_t_3", "v_t_t_2"]


@pytest.mark.parametrize(
    ("dtype", "part", "name"), [("c8", "float", "complex64"), ("c16", "double", "complex128")]
)
def test_complex_numbers_are_pairs(dtype, part, name):
    fields = tuple(CompoundField(letter, AtomicType(part)) for letter in "ri")
    assert variable("/a", (), dtype).type == CompoundType(name, fields)


def test_what_cannot_be_shown_is_told_by_its_group():
    error = RefbrowserError(ErrorKind.META, "shape is 7")
    unknown = RefbrowserError(ErrorKind.META, "the type 'x' is not known")
    nodes = [array("/bad", error=error), array("/odd", dtype=None, unreadable=unknown), array("/good")]
    dataset = view(group("/", *nodes))
    assert [shown.name for shown in dataset.root.variables] == ["good"]
    assert [(note.message, note.place.path) for note in dataset.notes()] == [
        ("the array '/bad' is not shown: shape is 7", "/"),
        ("the array '/odd' is not shown: the type 'x' is not known", "/"),
    ]


def test_a_root_that_is_an_array_gets_a_name():
    dataset = view(array("/", (2,)))
    assert dataset.root.variables[0].name == "data"
    assert "has no name" in dataset.notes()[0].message
    root = GroupNode(arrays={"": array("/")}, groups={"data": group("/data")})
    assert view(root).root.variables[0].name == "data_2"


def test_versions():
    versions = {flavour: view(group("/"), flavour).version for flavour in RULES}
    assert versions[Flavour.NCZARR] == versions[Flavour.ZARR_V2] == "2.0.0"
    assert versions[Flavour.ZARR_V3] == versions[EARLY_DRAFT] == "3.0.0"


# Attributes


@pytest.mark.parametrize(
    ("value", "type", "values"),
    [
        ("m", "char", ("m",)),
        ("", "char", ("",)),
        ("42", "char", ("42",)),
        (["a", "b"], "string", ("a", "b")),
        (["a"], "string", ("a",)),
        (1, "int", (1,)),
        ([1, -(2**31)], "int", (1, -(2**31))),
        (2**31, "int64", (2**31,)),
        ([2**63, 0], "uint64", (2**63, 0)),
        (1.0, "double", (1.0,)),
        ([1, 2.5], "double", (1.0, 2.5)),
        ([1.5, "-Infinity"], "double", (1.5, -np.inf)),
        ([], "char", ()),
    ],
)
def test_types_of_attributes_are_inferred(value, type, values):
    assert attribute(value) == (AtomicType(type), values, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "null"),
        ({"k": [1, "é"]}, '{"k":[1,"é"]}'),
        ([[1], [2]], "[[1],[2]]"),
        ([1, None], "[1,null]"),
        ([1, "x"], '[1,"x"]'),
        (2**64, "18446744073709551616"),
        ([-1, 2**63], "[-1,9223372036854775808]"),
    ],
)
def test_other_values_become_json_text_and_are_told(value, text):
    type, values, notes = attribute(value)
    assert (type, values) == (AtomicType.CHAR, (text,))
    assert notes == ["netCDF has no type for the value; it is shown as JSON text"]


@pytest.mark.parametrize(
    ("value", "recorded", "values"),
    [
        ("m", "char", ("m",)),
        ({"k": [1]}, "char", ('{"k":[1]}',)),
        (42, "char", ("42",)),
        ("m", "string", ("m",)),
        (["m", "n"], "string", ("m", "n")),
        ([1, 2], "short", (1, 2)),
        (3.0, "ubyte", (3,)),
        (255, "ubyte", (255,)),
        (1, "float", (1.0,)),
        (0.1, "float", (float(np.float32(0.1)),)),
        ("-Infinity", "double", (-np.inf,)),
        (18446744073709551615, "uint64", (18446744073709551615,)),
        ([], "int", ()),
    ],
)
def test_recorded_types_of_attributes_count(value, recorded, values):
    assert attribute(value, recorded) == (AtomicType(recorded), values, [])


def test_nan_of_a_recorded_type():
    assert np.isnan(attribute("NaN", "float")[1][0])


@pytest.mark.parametrize(
    ("value", "recorded", "type"),
    [(256, "ubyte", "int"), ("x", "int", "char"), (1e39, "float", "double"), ([1, None], "int", "char")],
)
def test_a_value_that_is_not_of_its_recorded_type_is_told(value, recorded, type):
    shown, _, notes = attribute(value, recorded)
    assert shown is AtomicType(type)
    assert "recorded type" in notes[0]


def test_a_type_of_an_attribute_that_netcdf_does_not_have_is_inferred():
    assert attribute(1, "json") == (AtomicType.INT, (1,), [])


def test_what_formats_keep_for_themselves_is_left_out():
    hidden = {"_ARRAY_DIMENSIONS": ["x"], "_nczarr_array": {}, "_NCZARR_ATTR": {}, "_NCProperties": "v"}
    assert [each.name for each in view(group("/", attributes={**hidden, "_own": 1})).root.attributes] == [
        "_own"
    ]


# Fill values


@pytest.mark.parametrize(
    ("dtype", "fill", "value"),
    [
        ("<i2", np.int16(-1), -1),
        ("<i2", np.int16(0), 0),
        ("<f4", np.float32(0.5), 0.5),
        ("S1", b"x", "x"),
        ("U3", np.str_("né"), "né"),
        ("?", np.bool_(True), 1),
        ("f2", np.float16(2), 2.0),
        ("M8[s]", np.datetime64("1970-01-02", "s"), 86400),
        ("V2", np.void(b"\x01\x02"), b"\x01\x02"),
    ],
)
def test_the_fill_value_becomes_an_attribute_of_the_variables_type(dtype, fill, value):
    shown = variable("/a", (), dtype, fill_value=fill, attributes={"units": "m"})
    assert shown.attributes[0] == NetcdfAttribute("_FillValue", shown.type, (value,))
    assert [each.name for each in shown.attributes] == ["_FillValue", "units"]


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        ("<i2", None),
        ("<i2", np.int16(-32767)),
        ("f8", np.float64(9.969209968386869e36)),
        ("f4", np.float32(9.96921e36)),
        ("S1", b""),
        ("S4", b""),
        ("V2", np.void(b"\0\0")),
    ],
)
def test_what_netcdf_takes_by_default_is_not_set(dtype, fill):
    assert variable("/a", (), dtype, fill_value=fill).attributes == ()


@pytest.mark.parametrize(
    ("dtype", "written", "value"),
    [
        ("<i2", -7, -7),
        ("<i2", [-7], -7),
        ("<i2", -7.0, -7),
        ("<f8", "-Infinity", -np.inf),
        # As xarray writes it into Zarr v3.
        ("<f4", "AAAAAAAA+D8=", 1.5),
        ("<i2", -32767, -32767),
        ("S1", "x", "x"),
    ],
)
def test_the_attribute_that_is_written_counts(dtype, written, value):
    shown = variable("/a", (), dtype, fill_value=None, attributes={"_FillValue": written})
    assert shown.attributes == (NetcdfAttribute("_FillValue", shown.type, (value,)),)
    assert shown.notes == ()


@pytest.mark.parametrize("written", ["NaN", 1.5, 70000, [1, 2], None, True and "x"])
def test_a_written_fill_value_of_another_type_is_told(written):
    shown = variable("/a", (), "<i2", fill_value=np.int16(3), attributes={"_FillValue": written})
    assert shown.attributes == (NetcdfAttribute("_FillValue", AtomicType.SHORT, (3,)),)
    assert shown.notes[0].attribute == "_FillValue"


def test_the_fill_value_of_a_structure_is_told():
    dtype = np.dtype([("a", "i4")])
    shown = variable("/a", (), dtype, fill_value=np.ones(1, dtype)[0])
    assert shown.attributes == ()
    assert "compound type" in shown.notes[0].message
    assert variable("/a", (), dtype, fill_value=np.zeros(1, dtype)[0]).notes == ()


# Everything


@pytest.mark.slow
@given(trees())
def test_every_hierarchy_is_shown_by_the_grammar(root):
    dataset = view(root)
    faults = [finding for finding in validate(dataset) if finding.severity is Severity.FAULT]
    assert faults == []
    shown = [shown.node for _, each in dataset.walk() for shown in each.variables]
    nodes = [node for node in Hierarchy(root=root, format="").walk() if hasattr(node, "shape")]
    assert set(map(id, shown)) == set(map(id, nodes))
    for _, each in dataset.walk():
        for item in each.variables:
            assert tuple(reference.size for reference in item.dimensions) == item.node.shape


@pytest.mark.slow
def test_ten_thousand_arrays_share_what_they_can():
    nodes = [array(f"/v{i}", (4, i % 9), dimensions=("t", f"x{i % 9}")) for i in range(10_000)]
    root = view(group("/", *nodes)).root
    assert len(root.variables) == 10_000
    assert len(root.dimensions) == 10
