"""Types that streams have: enumerations, rows of their own length, structures of texts, sequences."""

import numpy as np
import pytest
from ncgen_read import bare, dumped, generated, needs_ncgen
from netcdf_nodes import array, group, variable, view

from refbrowser.formats.cdl.writer import cdl_text
from refbrowser.model.data_type import (
    DataType,
    EnumerationType,
    RowType,
    SequenceType,
    enum_name_of,
    named_values,
    names_of,
    rows_of,
    rows_type,
    without_names,
)
from refbrowser.model.netcdf.types import (
    AtomicType,
    CompoundField,
    CompoundType,
    EnumType,
    NetcdfAttribute,
    VlenType,
)
from refbrowser.model.netcdf.validation import validate

OBJECTS = np.dtype(object)
SKY = {0: "clear", 7: "some rain"}
SKY_TYPE = EnumType("weather", AtomicType.UBYTE, ((0, "clear"), (7, "some rain")))
SKIES = EnumerationType(np.dtype("u1"), "|u1", SKY, "weather")
MORE = EnumerationType(np.dtype(">u2"), ">u2", {1: "a", 2: "a", 3: "_"})
INTEGERS = DataType.of(np.dtype(">i4"))


def rows(elements):
    return RowType(OBJECTS, elements=elements)


def structure():
    inner = np.dtype([("k", ">i4"), ("p", ">f4", (2, 3))])
    return np.dtype(
        [
            ("station", rows_type(str)),
            ("levels", rows_type(np.dtype(">f8"))),
            ("sky", named_values(np.dtype("u1"), SKY, "weather")),
            ("names", rows_type(str), (2,)),
            ("inner", inner, (3,)),
            ("reports", rows_type(inner)),
            ("blob", rows_type(bytes)),
        ]
    )


def nodes():
    return (
        array("/sky", (3,), "u1", type=SKIES, attributes={"_FillValue": 7}),
        array("/more", (3,), ">u2", type=MORE, attributes={"_FillValue": 9}),
        array("/ragged", (3,), OBJECTS, type=rows(INTEGERS), attributes={"_FillValue": -99}),
        array("/skies", (3,), OBJECTS, type=rows(SKIES)),
        array("/blob", (3,), OBJECTS, type_name="opaque"),
        array("/text", (3,), OBJECTS, type_name="string"),
        array("/table", (3,), structure()),
        array("/log", (5,), type=SequenceType(np.dtype([("t", ">f8")]))),
    )


def text(*nodes):
    return cdl_text(view(group("/", *nodes)), "d")


def test_the_types_of_variables():
    shown = {node.name: variable(node.path, node.shape, node.dtype, **more(node)) for node in nodes()}
    assert shown["sky"].type == SKY_TYPE
    assert shown["ragged"].type == VlenType("ragged_t", AtomicType.INT)
    assert shown["skies"].type == VlenType("skies_t", SKY_TYPE)
    assert shown["blob"].type == VlenType("blob_t", AtomicType.UBYTE)
    assert [note.message for note in shown["blob"].notes] == [
        "opaque elements of no fixed size are shown as rows of ubyte"
    ]
    assert shown["text"].type is AtomicType.STRING
    assert shown["log"].type == VlenType(
        "log_t", CompoundType("log_row_t", (CompoundField("t", AtomicType.DOUBLE),))
    )
    assert shown["log"].dimensions == ()
    fields = {field.name: field for field in shown["table"].type.fields}
    assert fields["station"].type is AtomicType.STRING
    assert fields["names"] == CompoundField("names", AtomicType.STRING, (2,))
    assert fields["levels"].type == VlenType("table_levels_t", AtomicType.DOUBLE)
    assert fields["sky"].type == SKY_TYPE
    assert fields["inner"].shape == (3,)
    assert fields["reports"].type.elements == fields["inner"].type


def more(node):
    return {"type": node.type, "attributes": node.attributes}


def test_fill_values_are_of_the_type_of_the_variable():
    shown = view(group("/", *nodes())).root.variables
    assert shown[0].attributes == (NetcdfAttribute("_FillValue", shown[0].type, (7,)),)
    assert shown[2].attributes == (NetcdfAttribute("_FillValue", shown[2].type, ((-99,),)),)


@pytest.mark.parametrize(
    ("dtype", "fill", "more", "attribute"),
    [
        ("u1", np.uint8(7), {"type": SKIES}, (7,)),
        ("u1", np.uint8(255), {"type": SKIES}, None),
        (OBJECTS, np.array([1, 2]), {"type": rows(DataType.of(np.dtype("i4")))}, ((1, 2),)),
        (OBJECTS, np.array([], "i4"), {"type": rows(DataType.of(np.dtype("i4")))}, None),
        (OBJECTS, b"\1\2", {"type_name": "opaque"}, ((1, 2),)),
        (OBJECTS, b"", {"type_name": "opaque"}, None),
    ],
)
def test_fill_values_of_arrays(dtype, fill, more, attribute):
    found = variable("/a", (2,), dtype, fill_value=fill, **more).attributes
    assert [each.values for each in found] == ([] if attribute is None else [attribute])


def test_the_notation():
    written = [line.strip() for line in text(*nodes()).splitlines()]
    for line in (
        r"ubyte enum weather {clear = 0, some\ rain = 7} ;",
        r"ushort enum more_t {a = 1, a_2 = 2, __ = 3} ;",
        "int(*) ragged_t ;",
        "weather(*) skies_t ;",
        "table_inner_t(*) table_reports_t ;",
        "string names(2) ;",
        "log_row_t(*) log_t ;",
        "log_t log ;",
        r"weather sky:_FillValue = some\ rain ;",
        "ragged_t ragged:_FillValue = {-99} ;",
    ):
        assert line in written, line
    (refused,) = (line for line in written if "more:_FillValue" in line)
    assert refused == "// more_t more:_FillValue = 9 ; (no value of the enumeration is 9)"


@needs_ncgen
def test_ncgen_reads_it_and_ncdump_writes_the_same(tmp_path):
    cdl = text(*nodes())
    assert bare(dumped(generated(cdl, tmp_path))) == bare(cdl)


def test_a_fill_value_of_defaults_alone_is_not_told():
    dtype = structure()
    values = np.zeros(2, dtype)
    values["station"] = values["names"] = ""
    for at in range(2):
        values["levels"][at], values["reports"][at], values["blob"][at] = np.zeros(0), np.zeros(0, "i4"), b""
    values["sky"] = [255, 7]
    values["inner"]["k"], values["inner"]["p"] = -2147483647, 9.969209968386869e36
    unset, rain = values
    assert variable("/a", (2,), dtype, fill_value=unset).notes == variable("/a", (2,), dtype).notes
    notes = variable("/a", (2,), dtype, fill_value=rain).notes
    (told,) = (note.message for note in notes if note.attribute)
    assert "cannot have a compound type" in told


def test_characters_of_structures_have_the_shape_of_their_field():
    dtype = np.dtype([("one", "S1"), ("three", "S1", (3,)), ("text", "S4", (2,))])
    fields = variable("/a", (2,), dtype).type.fields
    assert [field.shape for field in fields] == [(), (3,), (2, 4)]


def test_the_grammar_of_nczarr_has_warnings_for_them():
    assert {finding.severity.value for finding in validate(view(group("/", *nodes())))} == {"warning"}


def test_files_of_numpy_hold_no_names_of_values(tmp_path, recwarn):
    sky = named_values(np.dtype("u1"), SKY, "sky")
    dtype = np.dtype(
        {"names": ["a", "b", "c"], "formats": ["i4", (sky, 2), [("d", sky)]], "offsets": [2, 6, 9]}
    )
    values = np.zeros(3, dtype)
    values["b"] = 7
    np.save(tmp_path / "a.npy", without_names(values))
    assert not list(recwarn)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), values)
    plain = np.zeros(3, [("a", "i4")])
    assert without_names(plain) is plain


def test_what_members_hold_is_kept_by_types():
    dtype = structure()
    assert rows_of(dtype["station"]) is str
    assert rows_of(dtype["blob"]) is bytes
    assert rows_of(dtype["levels"]) == np.dtype(">f8")
    assert rows_of(np.dtype("O")) is None
    assert names_of(dtype["sky"]) == SKY
    assert enum_name_of(dtype["sky"]) == "weather"
    assert names_of(np.dtype("u1")) == {}
