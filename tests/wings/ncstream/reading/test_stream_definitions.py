"""What headers say: attributes of all kinds, dimensions, groups, enumerations; and the CDL of it."""

import shutil
import subprocess

import pytest
import stream_encoder as enc
from looped import looped
from stream_encoder import dimension, group, header, stream, variable
from stream_reading import opened
from structure_constructs import ALL

NUMBERS = {
    enc.BYTE: (-1, 2),
    enc.SHORT: (-300, 2),
    enc.INT: (-70000, 2),
    enc.LONG: (-(2**40), 2),
    enc.FLOAT: (0.5, -2.0),
    enc.DOUBLE: (1e300, -2.0),
}
UNSIGNED = {enc.UBYTE: 200, enc.USHORT: 60000, enc.UINT: 3 * 10**9, enc.ULONG: 2**64 - 1}
NAMES = {
    enc.BYTE: "byte",
    enc.SHORT: "short",
    enc.INT: "int",
    enc.LONG: "int64",
    enc.FLOAT: "float",
    enc.DOUBLE: "double",
    enc.UBYTE: "ubyte",
    enc.USHORT: "ushort",
    enc.UINT: "uint",
    enc.ULONG: "uint64",
}


def attributes_of(folder, *attributes):
    with opened(folder, stream(header(group(attributes=attributes)))) as dataset:
        root = dataset.hierarchy.root
        return dict(root.attributes), dict(root.attribute_types)


@pytest.mark.parametrize("make", [enc.number_attribute, enc.typed_attribute])
@pytest.mark.parametrize("type", NUMBERS)
def test_attributes_of_numbers(type, make, tmp_path):
    many, one = make("many", type, *NUMBERS[type]), make("one", type, NUMBERS[type][0])
    values, types = attributes_of(tmp_path, many, one)
    assert values == {"many": list(NUMBERS[type]), "one": NUMBERS[type][0]}
    assert types == {"many": NAMES[type], "one": NAMES[type]}


@pytest.mark.parametrize("type", UNSIGNED)
def test_unsigned_attributes(type, tmp_path):
    values, types = attributes_of(tmp_path, enc.typed_attribute("a", type, UNSIGNED[type]))
    assert (values, types) == ({"a": UNSIGNED[type]}, {"a": NAMES[type]})


def test_unsigned_attributes_of_servers_before_5(tmp_path):
    old = enc.attribute("a", type=enc.BYTE, length=1, data=b"\xc8", unsigned=True)
    values, types = attributes_of(tmp_path, old)
    assert (values, types) == ({"a": 200}, {"a": "ubyte"})


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (enc.text_attribute("a", "ä text"), "ä text"),
        (enc.text_attribute("a", "one", "two"), ["one", "two"]),
        (enc.typed_attribute("a", enc.STRING, "new"), "new"),
        (enc.attribute("a", length=1, texts=["no type at all"]), "no type at all"),
        (enc.attribute("a", type=0, length=3, data=b"abc"), "abc"),
        (enc.attribute("a", length=3, data=b"abc", data_type=enc.CHAR), "abc"),
        # A type that is not 0 counts before what else is there.
        (enc.attribute("a", type=enc.INT, length=1, data=b"\0\5", data_type=enc.SHORT), 5),
    ],
)
def test_the_type_of_an_attribute_is_found_in_order(made, value, tmp_path):
    values, _ = attributes_of(tmp_path, made)
    found = values["a"]
    assert found == value or found == [value]


def test_an_attribute_without_a_value_is_there(tmp_path):
    for empty in (enc.attribute("a", type=enc.INT, length=0), enc.attribute("a", length=0)):
        values, _ = attributes_of(tmp_path, empty)
        assert list(values) == ["a"]
        assert values["a"] in ("", [], None)


def test_an_attribute_that_lies_is_told(tmp_path):
    lies = [
        enc.attribute("short", type=enc.INT, length=2, data=b"\0\0\0\1"),
        enc.attribute("huge", type=enc.INT, length=2**32 - 1, data=b"\0\0\0\1"),
        enc.attribute("odd", length=1, data=b"\0", data_type=77),
        enc.text_attribute("good", "stays"),
    ]
    values, _ = attributes_of(tmp_path, *lies)
    assert values["good"] == "stays"


def test_later_definitions_replace_earlier_ones(tmp_path):
    first = group(
        dimensions=[dimension("t", 2, unlimited=True), dimension("x", 3)],
        attributes=[enc.text_attribute("title", "old"), enc.text_attribute("kept", "yes")],
        groups=[group("g", variables=[variable("v", enc.INT, [dimension("x", 3)])])],
    )
    second = group(
        dimensions=[dimension("t", 5, unlimited=True)],
        attributes=[enc.typed_attribute("title", enc.STRING, "new")],
        groups=[group("g", attributes=[enc.text_attribute("note", "n")]), group("h")],
        variables=[variable("w", enc.INT, [dimension("t", 5, unlimited=True)])],
    )
    with opened(tmp_path, stream(header(first), header(second))) as dataset:
        assert dict(dataset.attrs) == {"title": "new", "kept": "yes"}
        assert set(dataset.groups) == {"/", "/g", "/h"}
        assert dict(dataset.groups["/g"].attrs) == {"note": "n"}
        root = dataset.hierarchy.root
        assert {name: (each.size, each.unlimited) for name, each in root.dimensions.items()} == {
            "t": (5, True),
            "x": (3, False),
        }
        assert dataset["/w"].shape == (5,)
        assert dataset["/g/v"].dimensions == ("x",)


def test_an_unlimited_dimension_that_grows_lengthens_its_variables(tmp_path):
    def said(length):
        time = dimension("t", length, unlimited=True)
        return header(group(dimensions=[time], variables=[variable("v", enc.SHORT, [time])]))

    def sent(start, *values):
        body = enc.data_body("v", enc.SHORT, [(start, len(values), 1)], bigend=True)
        return enc.data(body, enc.regular(enc.numbers("h", values)))

    with opened(tmp_path, stream(said(0), said(2), sent(0, 1, 2), said(3), sent(2, 3))) as dataset:
        assert dataset["/v"][...].tolist() == [1, 2, 3]


def test_enumerations_are_named(tmp_path):
    sky = {0: "clear", 7: "heavy rain"}
    made = group(
        enums=[enc.enumeration("sky", sky)],
        variables=[variable("seen", enc.ENUM1, [], enum="sky", immediate=b"\7")],
        groups=[group("g", variables=[variable("deep", enc.ENUM1, [enc.VLEN], enum="sky")])],
    )
    with opened(tmp_path, stream(header(made))) as dataset:
        node = dataset["/seen"].node
        assert (dict(node.type.names), node.type.enum_name) == (sky, "sky")
        assert dict(dataset["/g/deep"].node.type.names) == sky
        text = dataset.cdl()
    assert r"ubyte enum sky {clear = 0, heavy\ rain = 7} ;" in text
    assert "sky seen ;" in text
    assert "sky(*) deep_t ;" in text


def test_names_and_texts_of_the_dataset_are_kept(tmp_path):
    made = header(group(), location="file.nc", title="A title", id="an id")
    with opened(tmp_path, stream(made)) as dataset:
        definition = dataset.document.origin.index.definition
        assert (definition.location, definition.title, definition.id) == ("file.nc", "A title", "an id")


def test_structures_and_sequences_in_cdl(tmp_path):
    members = [variable("a", enc.INT), variable("names", enc.STRING, [dimension("m", 2)])]
    log = enc.structure("log", enc.SEQUENCE, variables=[variable("t", enc.DOUBLE)])
    table = enc.structure("table", shape=[dimension("n", 3)], variables=members)
    made = group(dimensions=[dimension("n", 3), dimension("m", 2)], structures=[table, log])
    with opened(tmp_path, stream(header(made))) as dataset:
        lines = [line.strip() for line in dataset.cdl().splitlines()]
    for line in ("string names(2) ;", "table_t table(n) ;", "log_row_t(*) log_t ;", "log_t log ;"):
        assert line in lines


#: Those whose definitions differ.
OF_ALL_TYPES = [
    each
    for each in ALL
    if each.name.startswith(("type-1", "string", "opaque", "ragged", "two", "escaped", "zeros", "char"))
    or each.name in ("structure", "structure-of-everything", "sequence", "column-structure", "gaps-fill")
]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ncgen") is None, reason="ncgen (netcdf-bin) is not there")
@looped("construct", OF_ALL_TYPES)
def test_ncgen_reads_the_cdl_of_every_construct(construct, tmp_path):
    with opened(tmp_path, construct.stream) as dataset:
        text = dataset.cdl()
    assert "is not written" not in text
    source = tmp_path / "a.cdl"
    source.write_text(text, "utf-8")
    made = subprocess.run(
        ["ncgen", "-4", "-o", tmp_path / "a.nc", source], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, f"{made.stderr}\n{text}"
