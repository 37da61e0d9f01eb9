"""The grammar of the data model: what breaks it is found where it is."""

import pytest

from refbrowser.errors import Severity
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundField,
    CompoundType,
    DimensionReference,
    EnumType,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfDimension,
    NetcdfGroup,
    NetcdfVariable,
    OpaqueType,
    VlenType,
)
from refbrowser.model.netcdf.validation import fqn_fault, validate

CHAR, INT = AtomicType.CHAR, AtomicType.INT


def found(root=None, version="2.0.0", **members):
    dataset = NetcdfDataset(root=root or NetcdfGroup(**members), version=version)
    return [
        (finding.severity, finding.place.path, finding.place.attribute, finding.message)
        for finding in validate(dataset)
    ]


def single(*, severity=Severity.FAULT, **members):
    """Return path, attribute and message of the one finding."""
    ((kind, path, attribute, message),) = found(**members)
    assert kind is severity
    return path, attribute, message


def attribute(name="a", type=INT, values=(1,)):
    return NetcdfAttribute(name, type, values)


def variable(name="v", type=INT, **members):
    return NetcdfVariable(name=name, type=type, **members)


def below(*names, **members):
    """Return a root with nested groups of these names, the members in the innermost."""
    node = NetcdfGroup(name=names[-1], **members)
    for name in reversed(names[:-1]):
        node = NetcdfGroup(name=name, groups=(node,))
    return NetcdfGroup(groups=(node,))


def test_a_whole_dataset_without_findings():
    opaque = OpaqueType("o", 4)
    compound = CompoundType("c", (CompoundField("a", opaque, (2,)), CompoundField("b", CHAR, (3,))))
    inner = NetcdfGroup(
        name="sp ace",
        dimensions=(NetcdfDimension("d im", 2),),
        variables=(
            variable("w", compound, dimensions=(DimensionReference(r"/sp\ ace/d\ im", 2),)),
            variable("t", dimensions=(DimensionReference("/t", 2), DimensionReference("/t", 4))),
        ),
    )
    root = NetcdfGroup(
        types=(opaque, compound),
        dimensions=(NetcdfDimension("t", 4, unlimited=True),),
        variables=(
            variable("t", AtomicType.STRING, dimensions=(DimensionReference("/t", 4),)),
            variable("s", attributes=(attribute("f", opaque, (b"1234",)), attribute("_", CHAR, ("é",)))),
        ),
        attributes=(attribute("d", AtomicType.DOUBLE, (1, 2.5)), attribute("v1.2-x", INT, (-(2**31),))),
        groups=(inner,),
    )
    assert found(root) == []


@pytest.mark.parametrize("version", ["2", "2.0", "a.b.c", "2.0.0.0", "2.0.0\n", ""])
def test_a_version_is_three_numbers(version):
    ((_, path, _, message),) = found(version=version)
    assert path == "/"
    assert "three numbers" in message


@pytest.mark.parametrize("name", ["", "a\x00", "a\n", "\x1fb"])
def test_names_are_not_empty_and_hold_no_control_characters(name):
    for members in (
        {"dimensions": (NetcdfDimension(name, 1),)},
        {"variables": (variable(name),)},
        {"types": (OpaqueType(name, 1),)},
        {"groups": (NetcdfGroup(name=name),)},
    ):
        assert single(**members)[1] is None
    path, place, _ = single(attributes=(attribute(name),))
    assert (path, place) == ("/", name)


def test_what_only_netcdf_refuses_is_a_warning():
    for name in ("a/b", "a ", "-a"):
        assert "netCDF refuses" in single(variables=(variable(name),), severity=Severity.WARNING)[2]


def test_findings_say_where_with_escapes():
    node = variable("v w", attributes=(attribute("b ad", values=("x",)),))
    assert single(root=below("a b", "c", variables=(node,))) == (
        r"/a\ b/c/v\ w",
        "b ad",
        "the value 'x' is not of type int",
    )


def test_names_that_are_there_twice():
    assert "two dimensions" in single(dimensions=(NetcdfDimension("x", 1), NetcdfDimension("x", 2)))[2]
    assert "two variables" in single(variables=(variable(), variable()))[2]
    assert "two groups" in single(groups=(NetcdfGroup(name="g"), NetcdfGroup(name="g")))[2]
    assert "two types" in single(types=(OpaqueType("o", 1), OpaqueType("o", 2)))[2]
    assert single(attributes=(attribute(), attribute()))[:2] == ("/", "a")


def test_names_that_are_one_to_netcdf():
    members = {"variables": (variable("g"),), "groups": (NetcdfGroup(name="g"),)}
    assert single(**members, severity=Severity.WARNING)[0] == "/g"
    two = ("é", "e\u0301")
    assert single(variables=tuple(map(variable, two)), severity=Severity.WARNING)[0] == "/é"
    dimensions = tuple(NetcdfDimension(name, 1) for name in two)
    assert single(dimensions=dimensions, severity=Severity.WARNING)[0] == "/é"
    assert single(attributes=tuple(map(attribute, two)), severity=Severity.WARNING)[1] == "é"
    assert found(variables=(variable("x"),), dimensions=(NetcdfDimension("x", 1),)) == []


@pytest.mark.parametrize("size", [-1, 1.5, None, True])
def test_sizes_of_dimensions(size):
    assert single(dimensions=(NetcdfDimension("x", size),))[0] == "/x"


def test_a_fixed_size_of_zero():
    assert single(dimensions=(NetcdfDimension("x", 0),), severity=Severity.WARNING)[0] == "/x"
    assert found(dimensions=(NetcdfDimension("x", 0, unlimited=True),)) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/y", "there is no dimension '/y'"),
        ("x", "'x' is not a fully qualified name"),
        ("//x", "'//x' is not a fully qualified name"),
        ("/g/x", "there is no dimension '/g/x'"),
        ("/a\n", "the name 'a\\n' holds a control character"),
    ],
)
def test_dangling_references(path, message):
    node = variable(dimensions=(DimensionReference(path, 1),))
    assert single(variables=(node,), dimensions=(NetcdfDimension("x", 1),)) == ("/v", None, message)


def test_references_whose_size_is_another():
    def sizes(size, dimension):
        node = variable(dimensions=(DimensionReference("/x", size),))
        return found(variables=(node,), dimensions=(dimension,))

    assert "has 2 elements, here '3'" in sizes(3, NetcdfDimension("x", 2))[0][3]
    assert sizes(1, NetcdfDimension("x", 2))
    assert sizes(3, NetcdfDimension("x", 2, unlimited=True))
    assert sizes(-1, NetcdfDimension("x", 2, unlimited=True))
    assert not sizes(1, NetcdfDimension("x", 2, unlimited=True))


@pytest.mark.parametrize(
    ("type", "values"),
    [
        (AtomicType.BYTE, (128,)),
        (AtomicType.UBYTE, (-1,)),
        (AtomicType.UINT64, (2**64,)),
        (INT, (1, 2.0)),
        (INT, (True,)),
        (AtomicType.FLOAT, ("1",)),
        (AtomicType.DOUBLE, (False,)),
        (CHAR, (1,)),
        (CHAR, ("a", "b")),
        (AtomicType.STRING, ("a", b"b")),
        (AtomicType.STRING, ("a", "b\0")),
        (OpaqueType("o", 2), (b"123",)),
        (CompoundType("c", ()), ((1,),)),
    ],
)
def test_values_of_attributes(type, values):
    assert single(attributes=(attribute("bad", type, values),))[:2] == ("/", "bad")
    node = variable(attributes=(attribute(), attribute("bad", type, values)))
    assert single(variables=(node,))[:2] == ("/v", "bad")


def test_an_attribute_without_values_is_accepted_with_a_warning():
    assert single(attributes=(attribute(values=()),), severity=Severity.WARNING)[1] == "a"


def test_types_are_declared_around_their_users():
    opaque = OpaqueType("o", 2)
    nested = CompoundType("c", (CompoundField("f", opaque),))
    assert found(below("g", "h", types=(opaque,), variables=(variable(type=opaque),))) == []
    assert "not declared" in single(variables=(variable(type=opaque),))[2]
    assert "not declared" in single(types=(nested,))[2]
    beside = NetcdfGroup(
        groups=(
            NetcdfGroup(name="g", types=(opaque,)),
            NetcdfGroup(name="h", variables=(variable(type=opaque),)),
        )
    )
    assert single(root=beside)[0] == "/h/v"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((), "a compound type has no field"),
        ((CompoundField("a", INT), CompoundField("a", CHAR)), "two fields are named 'a'"),
        ((CompoundField("a", INT, (2, -1)),), "the size '-1' of field 'a' is not an integer of at least 0"),
        ((CompoundField("", INT),), "a name is empty"),
    ],
)
def test_fields_of_compound_types(fields, message):
    assert single(types=(CompoundType("c", fields),)) == ("/c", None, message)


def test_what_netcdf_has_beyond_the_grammar_is_a_warning():
    text = CompoundType("c", (CompoundField("a", AtomicType.STRING),))
    message = "field 'a' is a string, which has no fixed size in NCZarr"
    assert single(types=(text,), severity=Severity.WARNING) == ("/c", None, message)
    for beyond, name in ((EnumType("e", INT, ((1, "a"),)), "int enum e"), (VlenType("r", INT), "int(*) r")):
        message = f"'{name}' is not a type of NCZarr"
        assert single(types=(beyond,), severity=Severity.WARNING) == (f"/{beyond.name}", None, message)


def test_the_size_of_an_opaque_type():
    assert single(types=(OpaqueType("o", -1),))[0] == "/o"
    assert single(types=(OpaqueType("o", 0),), severity=Severity.WARNING)[0] == "/o"


def test_fully_qualified_names_as_texts():
    assert fqn_fault("/") is None
    assert fqn_fault(r"/sp\ ace/a\/b") is None
    assert fqn_fault("x")
    assert fqn_fault("/a//b")
    assert fqn_fault("/a\x01")
