"""Attributes by the types that NCZarr records (nczarr, section 3)."""

import math

import pytest
from nczarr_metadata import Store, built, zarray

from refbrowser.formats.nczarr.members import netcdf_type
from refbrowser.model.netcdf.dataset import netcdf_view


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("<i1", "byte"),
        ("|i1", "byte"),
        ("|u1", "ubyte"),
        ("<i2", "short"),
        (">u2", "ushort"),
        ("<i4", "int"),
        ("<u4", "uint"),
        ("<i8", "int64"),
        ("<u8", "uint64"),
        ("<f4", "float"),
        (">f8", "double"),
        (">S1", "char"),
        ("<S1", "char"),
        ("<U1", "char"),
        ("|S1", "string"),
        ("|S128", "string"),
        ("|J0", None),
        ("<f2", None),
        ("", None),
        (None, None),
        (4, None),
    ],
)
def test_the_netcdf_type_of_a_dtype(written, name):
    assert netcdf_type(written) == name


def root(attributes, types):
    return Store().group(attributes=attributes, types=types).built()


@pytest.mark.parametrize(
    ("stored", "dtype", "value"),
    [
        ("text", ">S1", "text"),
        ("", ">S1", ""),
        (42, ">S1", "42"),
        ([1.0, 2.5], ">S1", "[1.0,2.5]"),
        ({"k": [1]}, ">S1", '{"k":[1]}'),
        ({"ö": None}, ">S1", '{"ö":null}'),
        (True, ">S1", "true"),
        (["a", "b"], ">S1", '["a","b"]'),
        ("NaN", ">S1", "NaN"),
        (["a", "bc"], "|S128", ["a", "bc"]),
        ("a", "|S128", "a"),
        ([1, -1], "<i2", [1, -1]),
        (1.0, "<i4", 1),
        ([], "<i4", []),
        (2**64 - 1, "<u8", 2**64 - 1),
        (1, "<f8", 1.0),
        ("Infinity", "<f4", math.inf),
        (["-Infinity", 1.5], "<f8", [-math.inf, 1.5]),
    ],
)
def test_values_as_their_type_has_them(stored, dtype, value):
    tree = root({"a": stored}, {"a": dtype})
    found = tree.root.attributes["a"]
    assert found == value
    assert type(found) is type(value)
    assert tree.root.attribute_types == {"a": netcdf_type(dtype)}
    assert tree.findings == ()


def test_not_a_number():
    tree = root({"a": "NaN", "b": ["NaN", 1]}, {"a": "<f8", "b": "<f4"})
    assert math.isnan(tree.root.attributes["a"])
    assert math.isnan(tree.root.attributes["b"][0])


@pytest.mark.parametrize(
    ("stored", "dtype"),
    [
        ("x", "<i4"),
        (40000, "<i2"),
        (-1, "|u1"),
        (1.5, "<i4"),
        (None, "<f8"),
        (7, "|S128"),
        ({"a": 1}, "<f4"),
        ([1, "x"], "<i8"),
    ],
)
def test_what_does_not_fit_its_type_stays_and_is_told(stored, dtype):
    tree = root({"a": stored, "b": 1}, {"a": dtype, "b": "<i4"})
    assert tree.root.attributes["a"] == stored
    assert tree.root.attribute_types == {"b": "int"}
    (finding,) = tree.findings
    assert finding.place.key == ".zattrs"
    assert finding.message.startswith("attribute 'a' is ")


def test_attributes_without_a_recorded_type_have_none():
    tree = root({"a": 1, "b": "NaN", "c": {"d": 2}}, {"c": "|J0"})
    assert tree.root.attributes == {"a": 1, "b": "NaN", "c": {"d": 2}}
    assert tree.root.attribute_types == {}


def test_types_that_are_no_object():
    tree = root({"a": 1}, ["a"])
    assert tree.root.attributes == {"a": 1}
    assert [item.message for item in tree.findings] == ["'types' of the attributes is not an object"]


def one(document, **attributes):
    store = Store().group(dimensions={"x": 3}, arrays=["v"])
    return store.array("v", document, ["/x"], attributes=attributes).built()


@pytest.mark.parametrize(
    ("dtype", "fill", "attribute", "scalar"),
    [
        ("<i2", [-5], [-5], -5),
        ("<f4", ["NaN"], "NaN", None),
        (">S1", "q", "q", b"q"),
        (">S1", "\xff", "\xff", b"\xff"),
        ("|S4", "abc", "abc", b"abc"),
        ("|S4", "ö", "ö", "ö".encode()),
        ("|S4", [""], "", b""),
        ("<i4", None, -1, None),
    ],
)
def test_fill_values(dtype, fill, attribute, scalar):
    tree = one(zarray((3,), dtype=dtype, fill_value=fill), _FillValue=attribute)
    node = tree.find("/v")
    assert tree.findings == ()
    if scalar is None:
        assert node.fill_value is None or math.isnan(node.fill_value)
    else:
        assert node.fill_value == scalar
    assert not isinstance(node.attributes["_FillValue"], list)


@pytest.mark.parametrize(("fill", "attribute"), [(1, 2), (1, "x"), (1, 1.5)])
def test_two_fill_values_that_differ(fill, attribute):
    tree = one(zarray((3,), fill_value=fill), _FillValue=attribute)
    (finding,) = tree.findings
    assert finding.place.key == "v/.zattrs"
    assert "which counts" in finding.message
    assert tree.find("/v").fill_value == fill


def test_a_fill_text_longer_than_the_type():
    tree = one(zarray((3,), dtype="|S2", fill_value="abc"))
    assert "does not fit" in tree.find("/v").unreadable.message


def test_fortran_order_is_told():
    store = Store().group(dimensions={"x": 3, "y": 2}, arrays=["v"])
    tree = store.array("v", zarray((3, 2), order="F"), ["/x", "/y"]).built()
    assert [(item.place.key, "ignores" in item.message) for item in tree.findings] == [("v/.zarray", True)]


def test_version_three_nodes_are_left_as_they_are():
    document = {"zarr_format": 3, "node_type": "group", "attributes": {"_nczarr_x": 1}}
    assert built({"zarr.json": document}).root.attributes == {"_nczarr_x": 1}


@pytest.mark.parametrize(
    ("dtype", "fill", "shown"),
    [
        ("<f8", 9.96921e36, []),
        ("<f4", 9.96921e36, []),
        ("<f8", 9.969209968386869e36, []),
        ("<i4", -2147483647, []),
        ("<f8", 9.97e36, ["_FillValue"]),
        ("<i4", -5, ["_FillValue"]),
    ],
)
def test_default_fills_with_the_digits_of_netcdf_are_no_attributes(dtype, fill, shown):
    tree = one(zarray((3,), dtype=dtype, fill_value=fill))
    (variable,) = netcdf_view(tree).root.variables
    assert [item.name for item in variable.attributes] == shown
