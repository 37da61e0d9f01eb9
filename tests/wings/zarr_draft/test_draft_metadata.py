"""Array and group metadata of the draft of 2019: every member right and wrong, each at its own node."""

import json
import math
import sys

import numpy as np
import pytest
from draft_documents import (
    ARRAY_OF_THE_TEXT,
    CODEC,
    GROUP_OF_THE_TEXT,
    array_json,
    built,
    group_json,
    messages,
    one_array,
    warnings_of,
)

from refbrowser.errors import ErrorKind, Severity
from refbrowser.formats.store_rules import EARLY_DRAFT
from refbrowser.model.nodes import CodecSpec
from refbrowser.wings.zarr_draft.reading.data_types import CORE, DATETIME

OTHER = "http://example.org/other"


def test_the_array_of_the_text():
    tree = built({"meta/foo/baz.array.json": ARRAY_OF_THE_TEXT})
    node = tree.find("/foo/baz")
    assert tree.findings == ()
    assert tree.flavour == EARLY_DRAFT
    assert (node.shape, node.grid.chunk_shape, node.grid.size) == ((10000, 1000), (1000, 100), 100)
    assert (node.dtype, node.type.name, node.order) == (np.dtype("<f8"), "<f8", "C")
    assert node.codecs == (CodecSpec("gzip", {"level": 1}),)
    assert math.isnan(node.fill_value)
    assert node.attributes == {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}
    assert node.metadata_keys == ("meta/foo/baz.array.json",)
    assert node.key_prefix == "data/foo/baz/"
    assert node.error is None
    assert node.unreadable is None


def test_the_group_of_the_text_is_not_json():
    tree = built({"meta/foo.group.json": GROUP_OF_THE_TEXT, "meta/foo/a.array.json": array_json()})
    error = tree.find("/foo").error
    assert error.kind is ErrorKind.JSON
    # From Python 3.13 on it is the comma that is named, not what follows it.
    line = 6 if sys.version_info >= (3, 13) else 7
    assert (error.place.line, error.place.key) == (line, "meta/foo.group.json")
    assert error.place.column is not None
    assert tree.find("/foo/a").error is None
    assert [item.severity for item in tree.findings] == [Severity.FAULT]


@pytest.mark.parametrize("name", sorted(CORE))
def test_core_types(name):
    node, tree = one_array(data_type=name, fill_value=None)
    assert node.dtype == np.dtype(name)
    assert node.dtype.str in (name, "|b1" if name == "bool" else f"|{name}")
    assert node.unreadable is None
    assert tree.findings == ()


@pytest.mark.parametrize("name", [">u2", ">u4", ">u8", "|b1", "|i1", "|u1"])
def test_types_that_are_read_with_a_notice(name):
    node, tree = one_array(data_type=name, fill_value=None)
    assert node.dtype == np.dtype(name)
    assert node.unreadable is None
    assert name in warnings_of(tree)[0]
    assert tree.findings[0].place.pointer == "/data_type"


@pytest.mark.parametrize(
    "value", ["<i3", "i2", "|S5", "<U3", "|O", "int32", "<f16", 5, None, [], ["<i2"], {}]
)
def test_types_that_are_not_known(value):
    node, tree = one_array(data_type=value)
    assert node.shape == (4, 6)
    assert node.dtype is None
    assert node.unreadable.kind is ErrorKind.META
    assert node.unreadable.place.pointer == "/data_type"
    assert len(tree.findings) == 1


def test_a_type_of_a_known_extension():
    kind = {"extension": DATETIME, "type": "<M8[ms]", "fallback": "<i8"}
    node, tree = one_array(data_type=kind, fill_value=86400000)
    assert node.dtype == np.dtype("<M8[ms]")
    assert node.fill_value == np.datetime64("1970-01-02", "ms")
    assert tree.findings == ()


@pytest.mark.parametrize("kind", ["M8[s]", "<M8", "<M8[10s]", "<M8[generic]", "|M8[s]", "<M8[s]x"])
def test_a_type_that_the_known_extension_has_not(kind):
    node, _ = one_array(data_type={"extension": DATETIME, "type": kind}, fill_value=None)
    assert node.unreadable is not None
    node, tree = one_array(data_type={"extension": DATETIME, "type": kind, "fallback": ">i8"}, fill_value=7)
    assert (node.dtype, node.fill_value) == (np.dtype(">i8"), 7)
    assert ">i8" in warnings_of(tree)[0]


def test_a_fallback_stands_for_an_unknown_type():
    kind = {"extension": OTHER, "type": {"any": "value"}, "fallback": "<f4", "more": 1}
    node, tree = one_array(data_type=kind, fill_value="NaN")
    assert node.dtype == np.dtype("<f4")
    assert OTHER in warnings_of(tree)[0]
    assert "<f4" in warnings_of(tree)[0]


@pytest.mark.parametrize(
    "fallback", [..., None, "<i3", 4, {"extension": OTHER, "type": "x", "fallback": "<i4"}]
)
def test_an_unknown_type_without_a_good_fallback(fallback):
    kind = {"extension": OTHER, "type": "x", "fallback": fallback}
    node, _ = one_array(data_type={name: value for name, value in kind.items() if value is not ...})
    assert OTHER in node.unreadable.message


GOOD_FILLS = [
    ("bool", True, np.True_),
    ("i1", -128, -128),
    ("<u8", 2**64 - 1, 2**64 - 1),
    ("<i8", -(2**63), -(2**63)),
    (">i8", 2**53 + 1, 2**53 + 1),
    ("<f8", 0.5, 0.5),
    ("<f8", 3, 3.0),
    ("<f4", "Infinity", np.inf),
    (">f2", "-Infinity", -np.inf),
    ("<c8", [1, -0.5], 1 - 0.5j),
    (">c16", ["Infinity", 2], complex(np.inf, 2)),
]


@pytest.mark.parametrize(("name", "value", "wanted"), GOOD_FILLS)
def test_fill_values(name, value, wanted):
    node, tree = one_array(data_type=name, fill_value=value)
    assert node.fill_value == wanted
    assert node.fill_value.dtype == np.dtype(name).newbyteorder("=")
    assert tree.findings == ()


def test_nan_fill_values():
    assert math.isnan(one_array(data_type="<f4", fill_value="NaN")[0].fill_value)
    value = one_array(data_type="<c8", fill_value=["NaN", 1])[0].fill_value
    assert math.isnan(value.real)
    assert value.imag == 1


def test_an_undefined_fill_value():
    node, tree = one_array(fill_value=None)
    assert node.fill_value is None
    assert tree.findings == ()


BAD_FILLS = [
    ("bool", 0),
    ("bool", "true"),
    ("i1", 128),
    ("u1", -1),
    ("<i2", 1.0),
    ("<i2", True),
    ("<i2", "1"),
    ("<i8", 2**63),
    ("<f8", "nan"),
    ("<f8", "1.5"),
    ("<f8", True),
    ("<f2", 1e9),
    ("<c8", 1),
    ("<c8", [1]),
    ("<c8", [1, 2, 3]),
    ("<c8", [1, "x"]),
    ("<c8", ["NaN", None]),
    ("<f8", {}),
]


@pytest.mark.parametrize(("name", "value"), BAD_FILLS)
def test_fill_values_that_do_not_fit(name, value):
    node, tree = one_array(data_type=name, fill_value=value)
    assert node.fill_value is None
    assert node.unreadable is None
    assert "fill value" in warnings_of(tree)[0]
    assert tree.findings[0].place.pointer == "/fill_value"


def test_a_float_of_too_many_digits_for_its_type_is_reported():
    text = json.dumps(array_json(data_type="<f4", fill_value="@")).replace('"@"', "1e39")
    tree = built({"meta/a.array.json": text})
    assert tree.find("/a").fill_value is None


def test_constants_that_are_no_json_are_taken_with_a_notice():
    text = json.dumps(array_json(data_type="<f8", fill_value=math.nan))
    tree = built({"meta/a.array.json": text})
    assert math.isnan(tree.find("/a").fill_value)
    assert "NaN is not JSON" in warnings_of(tree)[0]


def test_large_integers_stay_exact():
    tree = built({"root.group.json": group_json(attributes={"n": 2**80 + 1})})
    assert tree.root.attributes["n"] == 2**80 + 1


@pytest.mark.parametrize(
    "uri",
    [
        "http://purl.org/zarr/spec/protocol/core/3.0",
        "https://purl.org/zarr/spec/protocol/core/3.0",
        "http://purl.org/zarr/spec/protocol/core/3.1",
        "http://purl.org/zarr/spec/protocol/core/3",
    ],
)
def test_versions_that_are_read(uri):
    node, tree = one_array(zarr_format=uri, something_new={"x": 1})
    assert node.error is None
    assert tree.findings == ()


@pytest.mark.parametrize(
    "uri",
    [
        "http://purl.org/zarr/spec/protocol/core/4.0",
        "http://purl.org/zarr/spec/protocol/core/2.0",
        "http://purl.org/zarr/spec/protocol/core/30",
        "http://purl.org/zarr/spec/protocol/core/3.0/dev",
        "http://example.org/zarr/3.0",
        "ftp://purl.org/zarr/spec/protocol/core/3.0",
        "3.0",
        3,
        None,
        [],
    ],
)
def test_versions_that_are_refused(uri):
    node, tree = one_array(zarr_format=uri)
    assert node.error.kind is ErrorKind.META
    assert node.error.place.key == "meta/a.array.json"
    assert node.attributes == {}
    assert messages(tree, Severity.FAULT)
    tree = built({"meta/g.group.json": group_json(zarr_format=uri), "meta/g/a.array.json": array_json()})
    assert tree.find("/g").error is not None
    assert tree.find("/g/a").error is None


@pytest.mark.parametrize(
    ("member", "field", "wanted"),
    [
        ("extensions", "attributes", {}),
        ("attributes", "attributes", {}),
        ("chunk_codecs", "codecs", ()),
        ("fill_value", "fill_value", None),
    ],
)
def test_members_that_may_be_absent(member, field, wanted):
    node, tree = one_array(**{member: ...})
    assert getattr(node, field) == wanted
    assert node.unreadable is None
    assert node.error is None
    assert member in warnings_of(tree)[0]


@pytest.mark.parametrize("member", ["data_type", "chunk_grid", "chunk_memory_layout", "zarr_format"])
def test_members_without_which_there_is_no_data(member):
    node, _ = one_array(**{member: ...})
    assert node.shape == (4, 6)
    assert node.unreadable.place.pointer == f"/{member}"


@pytest.mark.parametrize(
    "shape", [..., None, 4, "4", [4.0], [True], ["4"], [-1], [4, [6]], [2**63], [1] * 33]
)
def test_shapes_that_are_none(shape):
    node, _ = one_array(shape=shape)
    assert node.error.place.pointer == "/shape"
    assert node.error.kind in (ErrorKind.META, ErrorKind.BUDGET)


@pytest.mark.parametrize(
    "grid",
    [
        None,
        [2, 3],
        {"type": "regular"},
        {"type": "regular", "chunk_shape": [2]},
        {"type": "regular", "chunk_shape": [2, 0]},
        {"type": "regular", "chunk_shape": [2, 3.0]},
        {"type": "regular", "chunk_shape": [2, True]},
        {"type": "regular", "chunk_shape": [2, -3]},
        {"type": "regular", "chunk_shape": "23"},
        {"type": "regular", "chunk_shape": [2, 3], "separator": ""},
        {"type": "regular", "chunk_shape": [2, 3], "separator": "x"},
        {"type": "rectilinear", "chunk_shape": [2, 3]},
        {"extension": OTHER, "type": "regular", "chunk_shape": [2, 3]},
    ],
)
def test_chunk_grids_that_are_not_read(grid):
    node, _ = one_array(chunk_grid=grid)
    assert node.shape == (4, 6)
    assert node.unreadable.place.pointer == "/chunk_grid"


def test_a_dimension_of_length_zero_has_no_chunks():
    node, tree = one_array(shape=[0, 6])
    assert node.grid.size == 0
    assert tree.findings == ()


@pytest.mark.parametrize("layout", [None, "c", "A", "", 0, {"extension": OTHER, "type": "sparse"}])
def test_memory_layouts_that_are_not_known(layout):
    node, _ = one_array(chunk_memory_layout=layout)
    assert node.unreadable.place.pointer == "/chunk_memory_layout"


@pytest.mark.parametrize(
    "uri",
    [
        "http://purl.org/zarr/spec/codec/gzip",
        "https://purl.org/zarr/spec/codec/gzip",
        "https://purl.org/zarr/spec/codecs/gzip/1.0",
        "http://purl.org/zarr/spec/codec/gzip/1.0",
    ],
)
@pytest.mark.parametrize("inline", [True, False])
def test_uris_of_codecs(uri, inline):
    options = {"level": 1} if inline else {"configuration": {"level": 1}}
    node, tree = one_array(chunk_codecs=[{"codec": uri, **options}])
    assert node.codecs == (CodecSpec("gzip", {"level": 1}),)
    assert tree.findings == ()


@pytest.mark.parametrize(
    "codecs",
    [
        None,
        {"codec": f"{CODEC}gzip"},
        ["gzip"],
        [{"id": "gzip"}],
        [{"codec": 5}],
        [{"codec": "gzip"}],
        [{"codec": "delta", "dtype": "<i2"}],
        [{"codec": f"{CODEC}gzip", "level": "x"}],
        [{"codec": f"{CODEC}gzip", "configuration": 5}],
        [{"codec": f"{CODEC}gzip"}] * 17,
    ],
)
def test_codecs_that_are_wrong(codecs):
    node, _ = one_array(chunk_codecs=codecs)
    assert node.unreadable.place.pointer == "/chunk_codecs"


def test_a_codec_that_is_not_known_is_named():
    uri = f"{CODEC}fancy/1.0"
    node, tree = one_array(chunk_codecs=[{"codec": f"{CODEC}gzip"}, {"codec": uri, "q": 1}])
    assert node.unreadable is None
    assert node.codecs[1] == CodecSpec(uri, {"q": 1})
    assert uri in warnings_of(tree)[0]


def test_attributes_that_are_no_object():
    node, tree = one_array(attributes=[1])
    assert node.attributes == {}
    assert tree.findings[0].place.pointer == "/attributes"


@pytest.mark.parametrize(
    "extension",
    [
        {"extension": OTHER, "must_understand": True},
        {"extension": OTHER},
        {},
        "x",
        None,
        {"extension": OTHER, "must_understand": "false"},
        {"must_understand": 0},
    ],
)
def test_extensions_that_must_be_understood(extension):
    node, _ = one_array(extensions=[extension])
    assert node.unreadable.place.pointer == "/extensions"
    tree = built(
        {
            "meta/g.group.json": group_json(extensions=[extension], attributes={"kept": 1}),
            "meta/g/a.array.json": array_json(),
            "meta/h.array.json": array_json(),
        }
    )
    group = tree.find("/g")
    assert group.error.kind is ErrorKind.META
    assert group.attributes == {"kept": 1}
    assert (dict(group.arrays), dict(group.groups)) == ({}, {})
    assert tree.find("/h").error is None


def test_extensions_that_may_be_ignored():
    node, tree = one_array(extensions=[{"extension": OTHER, "must_understand": False, "x": 1}])
    assert node.unreadable is None
    assert OTHER in warnings_of(tree)[0]


def test_a_root_that_must_be_understood_closes_the_store():
    refused = group_json(extensions=[{"extension": OTHER, "must_understand": True}])
    tree = built({"root.group.json": refused, "meta/a.array.json": array_json()})
    assert tree.root.error is not None
    assert list(tree.walk()) == [tree.root]


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "null", '{"a": }', b"\xff{}", "[" * 100_000])
def test_documents_that_cannot_be_read(text):
    tree = built({"meta/a.array.json": text, "meta/b.group.json": text, "meta/good.array.json": array_json()})
    for path in ("/a", "/b"):
        assert tree.find(path).error.place.key.startswith(f"meta{path}.")
    assert tree.find("/good").unreadable is None
    assert len(messages(tree, Severity.FAULT)) == 2


def test_dimension_names_of_xarray():
    node, tree = one_array(attributes={"_ARRAY_DIMENSIONS": ["y", "x"]})
    assert node.dimensions == ("y", "x")
    assert tree.root.dimensions["x"].size == 6
    node, tree = one_array(attributes={"_ARRAY_DIMENSIONS": ["y"]})
    assert node.dimensions == (None, None)
    assert warnings_of(tree)
