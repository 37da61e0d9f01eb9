"""CDL as text: the notation of ``ncdump -h``, and what stands in comments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.formats.cdl.words import (
    KEYWORDS,
    constants,
    escaped_name,
    text_constant,
    unwritable,
    writable_name,
)
from refbrowser.formats.cdl.writer import cdl_lines, cdl_text
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundField,
    CompoundType,
    DimensionReference,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfDimension,
    NetcdfGroup,
    NetcdfVariable,
    Note,
    OpaqueType,
)

CHAR, INT = AtomicType.CHAR, AtomicType.INT


def text(name="d", **members):
    return cdl_text(NetcdfDataset(root=NetcdfGroup(**members)), name)


def lines(**members):
    return [line.strip() for line in text(**members).splitlines()[1:-1] if line.strip()]


def variable(name="v", type=INT, **members):
    return NetcdfVariable(name=name, type=type, **members)


def attribute(name="a", type=INT, *values):
    return NetcdfAttribute(name, type, values or (1,))


def test_the_whole_notation():
    opaque = OpaqueType("o", 4)
    compound = CompoundType(
        "c", (CompoundField("k", opaque), CompoundField("m m", AtomicType.DOUBLE, (2, 3)))
    )
    inner = NetcdfGroup(
        name="g 1",
        dimensions=(NetcdfDimension("y", 2), NetcdfDimension("x", 5)),
        variables=(
            variable(
                "w", compound, dimensions=(DimensionReference("/x", 3), DimensionReference(r"/g\ 1/x", 5))
            ),
        ),
        attributes=(attribute(),),
        groups=(NetcdfGroup(name="h"),),
    )
    assert text(
        types=(opaque, compound),
        dimensions=(NetcdfDimension("x", 3), NetcdfDimension("t", 7, unlimited=True)),
        variables=(
            variable(
                "v",
                AtomicType.FLOAT,
                dimensions=(DimensionReference("/t", 7), DimensionReference("/x", 3)),
                attributes=(
                    attribute("_FillValue", AtomicType.FLOAT, -1.0),
                    attribute("units", CHAR, "m"),
                    attribute("st", AtomicType.STRING, "a", "b"),
                ),
                notes=(Note("told"), Note("told too", "units")),
            ),
            variable("key", opaque, attributes=(attribute("_FillValue", opaque, b"\x01\x02\xff\0"),)),
        ),
        attributes=(attribute("title", AtomicType.STRING, "t"), attribute("n", AtomicType.SHORT, 1, 2)),
        groups=(inner,),
        notes=(Note("of the root"),),
    ).splitlines() == [
        "netcdf d {",
        "types:",
        "  opaque(4) o ;",
        "  compound c {",
        "    o k ;",
        "    double m\\ m(2, 3) ;",
        "  }; // c",
        "dimensions:",
        "\tx = 3 ;",
        "\tt = UNLIMITED ; // (7 currently)",
        "variables:",
        "\tfloat v(t, x) ;",
        "\t\tv:_FillValue = -1.f ;",
        '\t\tv:units = "m" ;',
        '\t\tstring v:st = "a", "b" ;',
        "\t\t// told",
        "\t\t// 'units': told too",
        "\to key ;",
        "\t\to key:_FillValue = 0X0102FF00 ;",
        "",
        "// global attributes:",
        '\t\tstring :title = "t" ;',
        "\t\t:n = 1s, 2s ;",
        "// of the root",
        "",
        "group: g\\ 1 {",
        "  dimensions:",
        "  \ty = 2 ;",
        "  \tx = 5 ;",
        "  variables:",
        "  \tc w(/x, x) ;",
        "",
        "  // group attributes:",
        "  \t\t:a = 1 ;",
        "",
        "  group: h {",
        "    } // group h",
        "  } // group g\\ 1",
        "}",
    ]


def test_lines_come_one_by_one():
    dataset = NetcdfDataset(root=NetcdfGroup(dimensions=(NetcdfDimension("x", 1),)))
    given_out = cdl_lines(dataset, "d")
    assert next(given_out) == "netcdf d {\n"
    assert list(given_out) == ["dimensions:\n", "\tx = 1 ;\n", "}\n"]


@pytest.mark.parametrize(
    ("type", "values", "written"),
    [
        ("byte", (-128, 127), "-128b, 127b"),
        ("ubyte", (255,), "255UB"),
        ("short", (-1,), "-1s"),
        ("ushort", (65535,), "65535US"),
        ("int", (-(2**31), 0), "-2147483648, 0"),
        ("uint", (2**32 - 1,), "4294967295U"),
        ("int64", (-(2**63),), "-9223372036854775808LL"),
        ("uint64", (2**64 - 1,), "18446744073709551615ULL"),
        ("float", (1.0, -0.0, 0.1, 1e10), "1.f, -0.f, 0.1f, 1.e+10f"),
        ("float", (np.nan, np.inf, -np.inf), "NaNf, Infinityf, -Infinityf"),
        ("float", (float(np.float32(1 / 3)),), "0.33333334f"),
        ("float", (1.0094516611370189e18,), "1.00945166e+18f"),
        ("float", (3.4028234663852886e38,), "3.4028235e+38f"),
        ("double", (1.0, 0.1, 1e22, 5e-324), "1., 0.1, 1.e+22, 4.94065645841247e-324"),
        ("double", (np.nan, -np.inf), "NaN, -Infinity"),
        ("double", (1 / 3, 0.1 + 0.2), "0.3333333333333333, 0.30000000000000004"),
        ("char", ("a",), '"a"'),
        ("char", (), '""'),
        ("int", (), '""'),
    ],
)
def test_constants(type, values, written):
    assert constants(AtomicType(type), values) == written


def number(written):
    return float(written.removesuffix("f").replace("Infinity", "inf"))


@given(st.floats(allow_nan=False), st.floats(width=32, allow_nan=False))
def test_numbers_are_written_exactly(double, single):
    assert number(constants(AtomicType.DOUBLE, (double,))) == double
    assert np.float32(number(constants(AtomicType.FLOAT, (single,)))) == single


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a'b\"c\\d", r'"a\'b\"c\\d"'),
        ("\b\f\n\r\t\v", r'"\b\f\n\r\t\v"'),
        ("\0\x01\x1b\x7f", r'"\000\001\033\177"'),
        ("é日?%{}", '"é日?%{}"'),
        # What acts on a terminal is written as the bytes that it has.
        ("\x9b", r'"\302\233"'),
        ("\u202e", r'"\342\200\256"'),
        # A byte that is not UTF-8, and half a character.
        ("\udcff", r'"\377"'),
        ("\ud800", '"\N{REPLACEMENT CHARACTER}"'),
    ],
)
def test_texts(value, written):
    assert text_constant(value) == written


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a-b.c_d@e+f", "a-b.c_d@e+f"),
        ("a b", r"a\ b"),
        ("1a1", r"\1a1"),
        ("a!\"#$&'()*,:;<=>[]^`{|}~", "a" + "".join(f"\\{c}" for c in "!\"#$&'()*,:;<=>[]^`{|}~")),
        ("a\\b", r"a\\b"),
        # ncdump leaves it, and ncgen then refuses it.
        ("a%b", r"a\%b"),
        ("a\x01b\x7f", r"a\%01b\%7f"),
        ("é日", "é日"),
    ],
)
def test_names(name, written):
    assert escaped_name(name) == written


@given(
    st.text(st.sampled_from("ab /?%1-é\x01\u05d0\x9b") | st.characters()) | st.sampled_from(sorted(KEYWORDS))
)
def test_the_nearest_name_can_be_written(name):
    assert unwritable(writable_name(name)) is None
    if unwritable(name) is None:
        assert writable_name(name) == name


def test_parts_that_cannot_keep_their_name_get_another():
    shown = lines(
        dimensions=(NetcdfDimension("a/b", 2), NetcdfDimension("a_b", 3), NetcdfDimension("int", 4, True)),
        variables=(
            variable("long", dimensions=(DimensionReference(r"/a\/b", 2), DimensionReference("/a_b", 3))),
            variable("q?"),
        ),
        groups=(NetcdfGroup(name="a_b"), NetcdfGroup(name="q_")),
    )
    assert shown == [
        "dimensions:",
        "a_b = 2 ; // named 'a/b'",
        "a_b_2 = 3 ; // named 'a_b'",
        "int_ = UNLIMITED ; // (4 currently), named 'int'",
        "variables:",
        "int long_(a_b, a_b_2) ; // named 'long'",
        "int q_ ; // named 'q?'",
        "group: a_b_3 { // named 'a_b'",
        "} // group a_b_3",
        "group: q__2 { // named 'q_'",
        "} // group q__2",
    ]


def test_names_that_differ_in_the_form_of_their_letters_are_one_to_netcdf():
    two = ("é", "e\u0301")
    shown = lines(
        variables=tuple(map(variable, two)),
        attributes=tuple(map(attribute, two)),
    )
    assert shown[1:3] == ["int é ;", "int é_2 ; // named 'e\u0301'"]
    assert shown[4:] == [":é = 1 ;", "// :e\u0301 = 1 ; (another attribute is named 'é')"]


def test_a_variable_with_the_name_of_a_section():
    assert lines(variables=(variable("data", attributes=(attribute(),)),))[1:] == [
        "int data ;",
        "data :a = 1 ;",
    ]


def test_sizes_that_need_another_spelling():
    dimensions = (
        NetcdfDimension("zero", 0),
        NetcdfDimension("large", 2**32 - 1),
        NetcdfDimension("larger", 2**32),
    )
    assert lines(dimensions=dimensions)[1:] == [
        "zero = UNLIMITED ; // (0 currently), fixed in the dataset",
        "large = 4294967295 ;",
        "larger = 4294967296LL ;",
    ]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (attribute("NAME"), "the name 'NAME' is reserved by netCDF"),
        (attribute("a/b"), "the name 'a/b' holds /"),
        (attribute("long"), "the name 'long' is a reserved word of CDL"),
        (attribute("_ChunkSizes"), "the name '_ChunkSizes' is a reserved word of CDL"),
        (attribute("what?"), "the name 'what?' holds '?', which ncgen does not read"),
        (attribute("אב"), "the name 'אב' holds 'א', which ncgen does not read"),
        (attribute(""), "a name is empty"),
        (attribute("x\n} group: y {"), "the name 'x\\n} group: y {' holds a control character"),
        (attribute("ok"), "another attribute is named 'ok'"),
        (attribute("_FillValue", AtomicType.SHORT), "it must be one value of type int"),
        (attribute("_FillValue", INT, 1, 2), "it must be one value of type int"),
        (attribute("_QuantizeBitGroomNumberOfSignificantDigits"), "ncgen would execute it"),
    ],
)
def test_attributes_that_netcdf_cannot_hold_are_comments(wrong, why):
    shown = lines(variables=(variable(attributes=(attribute("ok"), wrong)),))
    assert shown[2] == "v:ok = 1 ;"
    assert shown[3].startswith("// v:")
    assert shown[3].endswith(f" ; ({why})")
    assert len(shown) == 4


def test_names_of_types_are_words_of_the_language():
    assert set(map(str, AtomicType)) <= KEYWORDS


def test_fill_values_belong_to_variables():
    assert lines(attributes=(attribute("_FillValue"),))[1].startswith("// :_FillValue = 1 ;")


def test_quantized_floats_keep_their_attribute():
    digits = attribute("_QuantizeBitGroomNumberOfSignificantDigits", INT, 3)
    shown = lines(variables=(variable(type=AtomicType.FLOAT, attributes=(digits,)),))
    assert shown[2] == "v:_QuantizeBitGroomNumberOfSignificantDigits = 3 ;"


def test_attributes_without_values():
    found = [
        NetcdfAttribute("c", CHAR, ()),
        NetcdfAttribute("i", INT, ()),
        NetcdfAttribute("s", AtomicType.STRING, ()),
    ]
    assert lines(attributes=tuple(found))[1:] == [
        ':c = "" ;',
        ':i = "" ; // no values of type int',
        ':s = "" ; // no values of type string',
    ]


def test_variables_without_a_type_or_dimension_are_comments():
    empty = OpaqueType("nothing", 0)
    hollow = CompoundType("hollow", (CompoundField("f", empty),))
    shown = lines(
        types=(empty, hollow),
        variables=(
            variable("a", empty),
            variable("b", hollow),
            variable("c", OpaqueType("other", 2)),
            variable("d", dimensions=(DimensionReference("/nothing", 1),)),
            variable("e"),
        ),
    )
    assert [line for line in shown if not line.startswith("// ")] == ["types:", "variables:", "int e ;"]


def test_types_and_dimensions_are_named_by_their_path_where_a_nearer_one_hides_them():
    far, near = OpaqueType("t", 2), OpaqueType("t", 3)
    inner = NetcdfGroup(
        name="g",
        types=(near,),
        variables=(variable("a", far), variable("b", near)),
    )
    beside = NetcdfGroup(name="h", dimensions=(NetcdfDimension("d", 1),), variables=(variable("c", far),))
    of_beside = variable("e", dimensions=(DimensionReference("/h/d", 1),))
    first, last = (NetcdfGroup(name=name, variables=(of_beside,)) for name in "fi")
    shown = lines(types=(far,), groups=(first, inner, beside, last))
    assert {"/t a ;", "t b ;", "t c ;", "int e(/h/d) ;"} <= set(shown)
    # ncgen does not look ahead.
    told = "// the variable 'e' is not written: a dimension is not declared before it"
    assert shown.index(told) < shown.index("int e(/h/d) ;")


def test_fields_get_names_that_can_be_written():
    type = CompoundType("c", (CompoundField("int", INT), CompoundField("int_", INT)))
    assert lines(types=(type,))[2:4] == ["int int_ ; // named 'int'", "int int__2 ; // named 'int_'"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a b", "netcdf ab {"),
        ("{", "netcdf _ {"),
        ("", "netcdf unnamed {"),
        ("a:b", "netcdf a\\:b {"),
        ("x\n}", "netcdf x\\} {"),
    ],
)
def test_the_name_of_the_dataset(name, line):
    assert text(name).splitlines() == [line, "}"]


@given(st.text(), st.text(), st.text())
def test_no_text_of_a_dataset_ends_a_line_or_acts_on_a_terminal(name, value, told):
    note = Note(told)
    node = variable(name, attributes=(attribute(name, CHAR, value),), notes=(note,))
    shown = text(
        name,
        dimensions=(NetcdfDimension(name, 1),),
        variables=(node,),
        groups=(NetcdfGroup(name=name, notes=(note,)),),
    )
    assert not set(shown.replace("\n", "").replace("\t", "")) & set(map(chr, [*range(32), *range(127, 160)]))
    assert shown.count("\n") == 12
    shown.encode()
