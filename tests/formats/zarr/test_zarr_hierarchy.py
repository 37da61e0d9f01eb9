import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarr_metadata import built, zarr_json, zarray

from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.nodes import ArrayNode, CodecSpec, Dimension, GroupNode

GROUP = {"zarr_format": 2}


def paths(tree):
    return [(type(node).__name__[0], node.path) for node in tree.walk()]


def messages(tree, severity=None):
    return [item.message for item in tree.findings if severity in (None, item.severity)]


def test_groups_and_arrays_in_document_order(hierarchy):
    tree = hierarchy(
        {
            ".zgroup": GROUP,
            ".zattrs": {"title": "x"},
            "z/.zarray": zarray(),
            "b/.zgroup": GROUP,
            "b/c/d/.zarray": zarray(),
            "a/.zarray": zarray(),
            "a/.zattrs": {"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]},
        }
    )
    assert paths(tree) == [("G", "/"), ("A", "/z"), ("A", "/a"), ("G", "/b"), ("G", "/b/c"), ("A", "/b/c/d")]
    assert tree.root.attributes == {"title": "x"}
    assert tree.findings == ()
    node = tree.find("/a")
    assert node.attributes["units"] == "m"
    assert node.dimensions == ("y", "x")
    assert node.metadata_keys == ("a/.zarray", "a/.zattrs")
    assert node.manifest == ("a/", node.grid, ChunkKeyEncoding())
    assert tree.find("b/c").metadata_keys == ()
    assert tree.find("/nothing") is None
    assert tree.find("/z/nothing") is None


def test_the_fields_of_an_array(hierarchy):
    codecs = [{"id": "shuffle", "elementsize": 2}, {"id": "zlib", "level": 5}]
    node = hierarchy(
        {
            "a/.zarray": zarray(
                dtype=">i2",
                fill_value=-7,
                order="F",
                dimension_separator="/",
                filters=codecs[:1],
                compressor=codecs[1],
            )
        }
    ).find("/a")
    assert (node.shape, node.grid.chunk_shape, node.dtype, node.type.name) == (
        (4, 6),
        (2, 3),
        np.dtype(">i2"),
        ">i2",
    )
    assert (node.order, node.fill_value, node.format) == ("F", -7, "zarr-v2")
    assert node.chunk_keys == ChunkKeyEncoding("v2", "/")
    assert node.codecs == (CodecSpec("shuffle", {"elementsize": 2}), CodecSpec("zlib", {"level": 5}))
    assert (node.error, node.unreadable) == (None, None)
    assert node.dimensions == (None, None)


def test_the_fields_of_an_array_of_version_3(hierarchy):
    node = hierarchy(
        {
            "zarr.json": {"zarr_format": 3, "node_type": "group", "attributes": {"t": 1}},
            "a/zarr.json": zarr_json(
                data_type="float32",
                fill_value="0x7fc00000",
                dimension_names=["y", None],
                attributes={"units": "m"},
                codecs=[
                    {"name": "transpose", "configuration": {"order": [1, 0]}},
                    {"name": "bytes", "configuration": {"endian": "big"}},
                    {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
                ],
            ),
        }
    ).find("/a")
    assert (node.dtype, node.type.name, node.format) == (np.dtype(">f4"), ">f4", "zarr-v3")
    assert np.isnan(node.fill_value)
    assert node.dimensions == ("y", None)
    assert node.attributes == {"units": "m"}
    assert [spec.name for spec in node.codecs] == ["transpose", "bytes", "zstd"]
    assert node.manifest[2] == ChunkKeyEncoding("default", "/")
    assert node.unreadable is None


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ({"name": "default"}, ChunkKeyEncoding("default", "/")),
        ({"name": "v2"}, ChunkKeyEncoding("v2", ".")),
        ("v2", ChunkKeyEncoding("v2", ".")),
        ({"name": "v2", "configuration": {"separator": "/"}}, ChunkKeyEncoding("v2", "/")),
    ],
)
def test_chunk_key_encodings(hierarchy, encoding, expected):
    assert (
        hierarchy({"a/zarr.json": zarr_json(chunk_key_encoding=encoding)}).find("/a").chunk_keys == expected
    )


def test_a_root_array(hierarchy):
    tree = hierarchy({".zarray": zarray(), ".zattrs": {"a": 1}})
    assert isinstance(tree.root, ArrayNode)
    assert (tree.root.path, tree.root.manifest[0], tree.root.attributes) == ("/", "", {"a": 1})
    assert hierarchy({"zarr.json": zarr_json()}).find("/").shape == (4, 6)


BAD_V2 = {
    "not json": '{"shape": [',
    "not text": b"\xff",
    "a list": "[]",
    "no shape": zarray(shape=...),
    "negative": zarray(shape=[-1, 2]),
    "fraction": zarray(shape=[1.5, 2]),
    "a boolean": zarray(shape=[True, 2]),
    "chunks": zarray(chunks=[2]),
    "chunk of 0": zarray(chunks=[0, 3]),
    "format": zarray(zarr_format=3),
    "order": zarray(order="K"),
    "filters": zarray(filters={}),
    "compressor": zarray(compressor="zlib"),
    "separator": zarray(dimension_separator="-"),
    "rank": zarray(shape=[1] * 33, chunks=[1] * 33),
    "elements": zarray(shape=[2**63, 1]),
    "nesting": "[" * 100_000,
    "nesting of objects": '{"a":' * 250 + "1" + "}" * 250,
    "digits": '{"shape": [' + "1" * 50 + "]}",
}
BAD_V3 = {
    "no node type": zarr_json(node_type=...),
    "version": zarr_json(zarr_format=2),
    "codecs": zarr_json(codecs="zstd"),
    "no keys": zarr_json(chunk_key_encoding=...),
    "keys": zarr_json(chunk_key_encoding={"name": "made_up"}),
    "shape": zarr_json(shape=None),
}


@pytest.mark.parametrize("name", [*BAD_V2, *BAD_V3])
def test_a_bad_array_has_its_error_and_hides_nothing(hierarchy, name):
    key = "bad/.zarray" if name in BAD_V2 else "bad/zarr.json"
    bad = BAD_V2.get(name, BAD_V3.get(name))
    tree = hierarchy({"a/.zarray": zarray(), key: bad, "bad/.zattrs": {"x": 1}, "z/.zarray": zarray()})
    assert paths(tree) == [("G", "/"), ("A", "/a"), ("A", "/bad"), ("A", "/z")]
    error = tree.find("/bad").error
    assert error.place.key == key
    assert tree.find("/bad").metadata_keys == (key, "bad/.zattrs")
    (finding,) = tree.findings
    assert (finding.severity, finding.place.key, finding.message) == (Severity.FAULT, key, error.message)


UNREADABLE = {
    "type": zarray(dtype="<i3"),
    "codec": zarray(compressor={"id": "FITSAscii", "var": "t"}),
    "pickle": zarray(dtype="|O", filters=[{"id": "pickle"}]),
    "no object codec": zarray(dtype="|O"),
    "fill value": zarray(fill_value="x"),
}
UNREADABLE_V3 = {
    "v3 type": zarr_json(data_type="float7"),
    "v3 codec": zarr_json(codecs=["made_up"]),
    "v3 grid": zarr_json(chunk_grid={"name": "rectilinear", "configuration": {}}),
    "v3 transformer": zarr_json(storage_transformers=[{"name": "x"}]),
    "v3 extension": zarr_json(made_up={"name": "x"}),
    "v3 fill value": zarr_json(fill_value="x"),
}


@pytest.mark.parametrize("name", [*UNREADABLE, *UNREADABLE_V3])
def test_what_is_not_known_is_browsable(hierarchy, name):
    key = "a/.zarray" if name in UNREADABLE else "a/zarr.json"
    tree = hierarchy({key: UNREADABLE.get(name, UNREADABLE_V3.get(name))})
    node = tree.find("/a")
    assert node.error is None
    assert node.unreadable.place.key == key
    assert node.shape == (4, 6)
    (finding,) = tree.findings
    assert finding.severity is Severity.WARNING


def test_optional_extensions_are_fine(hierarchy):
    assert hierarchy({"a/zarr.json": zarr_json(made_up={"must_understand": False})}).findings == ()


def test_nesting_of_metadata_is_limited(hierarchy):
    def nested(levels):
        return '{"a":' * levels + "1" + "}" * levels

    limit = LIMITS.json_nesting
    tree = hierarchy({"a/.zattrs": nested(limit), "b/.zattrs": nested(limit + 1), "c/.zattrs": nested(10**6)})
    assert tree.find("/a").attributes["a"]
    assert [(item.place.key, item.kind) for item in tree.findings] == [
        ("b/.zattrs", ErrorKind.BUDGET),
        ("c/.zattrs", ErrorKind.BUDGET),
    ]


def test_an_empty_dimension_may_have_chunks_of_nothing(hierarchy):
    node = hierarchy({"a/.zarray": zarray(shape=[0, 6], chunks=[0, 3])}).find("/a")
    assert node.error is None
    assert node.grid.chunk_shape == (1, 3)
    assert node.grid.size == 0


def test_metadata_that_is_not_read_yet_is_no_fault(hierarchy):
    blocked = RefbrowserError(ErrorKind.BLOCKED, "not read yet")
    tree = hierarchy({"a/.zarray": blocked, "b/.zgroup": blocked, "b/c/.zarray": zarray()})
    assert tree.findings == ()
    assert tree.find("/a").error.kind is ErrorKind.BLOCKED
    assert tree.find("/b").error.kind is ErrorKind.BLOCKED
    assert tree.find("/b/c").error is None


def test_bad_attributes_leave_the_array_readable(hierarchy):
    tree = hierarchy({"a/.zarray": zarray(), "a/.zattrs": "{"})
    assert tree.find("/a").error is None
    assert [item.place.key for item in tree.findings] == ["a/.zattrs"]
    assert tree.findings[0].kind is ErrorKind.JSON
    assert (tree.findings[0].place.line, tree.findings[0].place.column) == (1, 2)


def test_words_that_are_not_json_and_duplicates_are_warnings(hierarchy):
    tree = hierarchy(
        {"a/.zarray": zarray(dtype="<f4", fill_value=float("nan")), "a/.zattrs": '{"x": 1, "x": Infinity}'}
    )
    assert np.isnan(tree.find("/a").fill_value)
    assert tree.find("/a").attributes == {"x": float("inf")}
    assert len(messages(tree, Severity.WARNING)) == 3


def test_absent_members_are_warnings(hierarchy):
    tree = hierarchy({"a/.zarray": zarray(compressor=..., filters=..., fill_value=..., order=...)})
    assert tree.find("/a").error is None
    assert len(messages(tree, Severity.WARNING)) == 4


def test_not_a_number_in_an_array_of_integers_is_a_warning(hierarchy):
    tree = hierarchy({"a/.zarray": zarray(fill_value="NaN")})
    assert tree.find("/a").fill_value is None
    assert tree.find("/a").unreadable is None
    assert len(messages(tree, Severity.WARNING)) == 1


def test_consolidated_metadata_stands_in_for_single_keys(hierarchy):
    entries = {".zgroup": GROUP, "g/.zgroup": GROUP, "g/a/.zarray": zarray(), "g/a/.zattrs": {"u": 1}}
    tree = hierarchy({".zmetadata": {"zarr_consolidated_format": 1, "metadata": entries}})
    assert paths(tree) == [("G", "/"), ("G", "/g"), ("A", "/g/a")]
    assert tree.find("/g/a").attributes == {"u": 1}
    assert tree.find("/g/a").metadata_keys == (".zmetadata",)
    assert tree.findings == ()


def test_differences_from_consolidated_metadata_are_warnings(hierarchy):
    entries = {".zgroup": GROUP, "a/.zarray": zarray(fill_value=1), "a/.zattrs": {"x": float("nan")}}
    single = {
        ".zmetadata": {"metadata": entries},
        ".zgroup": GROUP,
        "a/.zattrs": {"x": float("nan")},
        "a/.zarray": zarray(fill_value=2),
        "b/.zarray": zarray(),
    }
    tree = hierarchy(single)
    assert tree.find("/a").fill_value == 2
    found = [(item.place.key, item.place.pointer) for item in tree.findings if "NaN" not in item.message]
    assert found == [(".zmetadata", "/metadata/a~1.zarray"), (".zmetadata", None)]
    assert "b/.zarray" in tree.findings[-1].message


def test_consolidated_metadata_that_is_broken(hierarchy):
    for value in ("{", '{"metadata": 1}', '{"metadata": {"a/.zarray": 3, "x": {}}}'):
        tree = hierarchy({".zmetadata": value, "a/.zarray": zarray()})
        assert tree.find("/a").error is None
        assert {item.place.key for item in tree.findings} == {".zmetadata"}


def test_consolidated_metadata_of_version_3(hierarchy):
    group = {
        "zarr_format": 3,
        "node_type": "group",
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": {"a": zarr_json(), "b": zarr_json(fill_value=1)},
        },
    }
    tree = hierarchy({"g/zarr.json": group, "g/b/zarr.json": zarr_json(fill_value=2)})
    assert paths(tree) == [("G", "/"), ("G", "/g"), ("A", "/g/b"), ("A", "/g/a")]
    assert tree.find("/g/b").fill_value == 2
    assert [item.place.pointer for item in tree.findings] == ["/consolidated_metadata/metadata/b"]


def test_version_3_counts_where_both_are(hierarchy):
    tree = hierarchy({"a/.zarray": zarray(), "a/zarr.json": zarr_json(), "b/.zarray": zarray()})
    assert tree.find("/a").format == "zarr-v3"
    assert tree.find("/b").format == "zarr-v2"
    assert len(tree.findings) == 1


def test_version_2_counts_where_version_3_is_broken(hierarchy):
    tree = hierarchy({"a/zarr.json": "{", "a/.zarray": zarray(), "a/.zattrs": {"x": 1}})
    node = tree.find("/a")
    assert (node.format, node.error, node.attributes) == ("zarr-v2", None, {"x": 1})
    assert [(item.severity, item.place.key) for item in tree.findings] == [(Severity.FAULT, "a/zarr.json")]


def test_the_kind_of_what_cannot_be_read(hierarchy):
    tree = hierarchy({"a/.zarray": zarray(dtype="|O", filters=[{"id": "pickle"}])})
    assert [item.kind for item in tree.findings] == [ErrorKind.UNSAFE]


def test_dimensions_of_groups(hierarchy):
    def dimensions(*names):
        return {"_ARRAY_DIMENSIONS": list(names)}

    tree = hierarchy(
        {
            "a/.zarray": zarray(),
            "a/.zattrs": dimensions("y", "x"),
            "g/b/.zarray": zarray(shape=[4, 5]),
            "g/b/.zattrs": dimensions("y", "x"),
            "c/.zarray": zarray(shape=[4, 7]),
            "c/.zattrs": dimensions("y", "x"),
            "d/.zarray": zarray(),
            "d/.zattrs": dimensions("y"),
            "e/.zarray": zarray(),
            "e/.zattrs": {"_ARRAY_DIMENSIONS": "y x"},
        }
    )
    assert tree.root.dimensions == {"y": Dimension("y", 4), "x": Dimension("x", 6)}
    assert tree.find("/g").dimensions == {"x": Dimension("x", 5)}
    assert tree.find("/d").dimensions == (None, None)
    assert len(tree.findings) == 3
    assert tree.find("/a").dimension_paths == ("/y", "/x")
    assert tree.find("/g/b").dimension_paths == ("/y", "/g/x")
    assert tree.find("/c").dimension_paths == ("/y", None)
    assert tree.find("/d").dimension_paths == (None, None)


def test_a_group_that_must_be_understood_warns_and_keeps_its_arrays(hierarchy):
    group = {"zarr_format": 3, "node_type": "group", "attributes": {"t": 1}}
    optional = {"extra": {"must_understand": False}, "consolidated_metadata": None}
    assert hierarchy({"zarr.json": group | optional, "a/zarr.json": zarr_json()}).findings == ()
    tree = hierarchy({"zarr.json": group | {"extra": {}}, "a/zarr.json": zarr_json()})
    assert ["'extra'" in finding.message for finding in tree.findings] == [True]
    assert tree.find("/a").unreadable is None
    assert tree.root.attributes == {"t": 1}


@pytest.mark.parametrize("attributes", [[], "text", None, 3])
def test_attributes_of_v3_that_are_no_object_warn(hierarchy, attributes):
    group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    tree = hierarchy({"zarr.json": group, "a/zarr.json": zarr_json(attributes=attributes)})
    assert [finding.place.key for finding in tree.findings] == ["zarr.json", "a/zarr.json"]
    assert tree.find("/a").attributes == {}


def test_extensions_that_need_not_be_understood(hierarchy):
    codecs = ["bytes", {"name": "made_up", "must_understand": False}]
    transformers = [{"name": "made_up", "must_understand": False}]
    tree = hierarchy({"a/zarr.json": zarr_json(codecs=codecs, storage_transformers=transformers)})
    assert tree.find("/a").unreadable is None
    assert [codec.name for codec in tree.find("/a").codecs] == ["bytes"]
    for bad in ({"codecs": ["bytes", "made_up"]}, {"storage_transformers": [{"name": "made_up"}]}):
        assert hierarchy({"a/zarr.json": zarr_json(**bad)}).find("/a").unreadable is not None


def test_nodes_below_an_array_are_kept(hierarchy):
    tree = hierarchy({"a/.zarray": zarray(), "a/b/.zarray": zarray()})
    assert paths(tree) == [("G", "/"), ("A", "/a"), ("G", "/a"), ("A", "/a/b")]
    assert isinstance(tree.find("/a"), ArrayNode)
    assert tree.find("/a/b").path == "/a/b"
    assert len(tree.findings) == 1
    tree = hierarchy({".zarray": zarray(), "b/.zarray": zarray()})
    assert paths(tree) == [("G", "/"), ("A", "/"), ("A", "/b")]


def test_keys_that_are_no_paths(hierarchy):
    tree = hierarchy({"/a/.zarray": zarray(), "b/../.zarray": zarray(), "c/.zarray": zarray()})
    assert paths(tree) == [("G", "/"), ("A", "/c")]
    assert len(tree.findings) == 2


def test_groups_are_nested_only_so_deep(hierarchy):
    deep = "/".join(["a"] * LIMITS.group_nesting)
    tree = hierarchy(
        {f"{deep}/.zarray": zarray(), f"{deep}/a/.zarray": zarray(), f"{'a/' * 2000}.zgroup": GROUP}
    )
    assert tree.find(deep).shape == (4, 6)
    assert [item.kind for item in tree.findings] == [ErrorKind.BUDGET] * 2


def test_no_metadata_at_all(hierarchy):
    tree = hierarchy({})
    assert isinstance(tree.root, GroupNode)
    assert len(tree.findings) == 1


def test_a_manifest_that_cannot_be_made_leaves_the_array_browsable(hierarchy):
    def manifests(prefix, grid, encoding):
        raise RefbrowserError(ErrorKind.BUDGET, "too many")

    node = hierarchy({"a/.zarray": zarray()}, manifests).find("/a")
    assert node.unreadable.kind is ErrorKind.BUDGET
    assert node.shape == (4, 6)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*zarray(), "dimension_separator"]), JSON, max_size=3))
def test_any_v2_metadata_gives_a_node(changes):
    tree = built({"a/.zarray": zarray(**changes), "b/.zarray": zarray()})
    assert isinstance(tree.find("/a"), ArrayNode)
    assert tree.find("/b").error is None


@given(st.dictionaries(st.sampled_from([*zarr_json(), "dimension_names"]), JSON, max_size=3))
def test_any_v3_metadata_gives_a_node(changes):
    tree = built({"a/zarr.json": zarr_json(**changes), "b/zarr.json": zarr_json()})
    assert tree.find("/a") is not None
    assert tree.find("/b").error is None
