"""Bad NCZarr: the right finding at the right node, and the rest works."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nczarr_metadata import AGES, Source, Store, built, zarray

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.nczarr.hierarchy import build_hierarchy
from refbrowser.model.nodes import ArrayNode


def good():
    store = Store().group(dimensions={"x": 6, "y": 4}, arrays=["v", "w"], groups=["g"])
    store.array("v", zarray(), ["/y", "/x"], attributes={"units": "m"}, types={"units": ">S1"})
    store.array("w", zarray((6,)), ["/x"])
    store.group("g", arrays=["u"])
    return store.array("g/u", zarray((4,)), ["/y"])


def told(tree):
    return [(item.place.key, item.message) for item in tree.findings]


def check_the_rest(tree, *but):
    for path, dimensions in (("/v", ("/y", "/x")), ("/w", ("/x",)), ("/g/u", ("/y",))):
        if path not in but:
            assert tree.find(path).dimension_paths == dimensions


def test_lists_and_keys_that_differ():
    store = good()
    store.keys[".zattrs"]["_nczarr_group"] |= {"arrays": ["w", "gone", "w"], "groups": ["none"]}
    tree = store.built()
    check_the_rest(tree)
    assert list(tree.root.arrays) == ["w", "v"]
    assert told(tree) == [
        (".zattrs", "array 'gone' is in the list of the group, but does not exist"),
        (".zattrs", "array 'v' is not in the list of the group: netCDF does not show it"),
        (".zattrs", "group 'none' is in the list of the group, but does not exist"),
        (".zattrs", "group 'g' is not in the list of the group: netCDF does not show it"),
    ]


@pytest.mark.parametrize("value", [None, "v", {"v": 1}, [1]])
def test_a_list_of_a_wrong_kind(value):
    store = good()
    store.keys[".zattrs"]["_nczarr_group"]["arrays"] = value
    tree = store.built()
    check_the_rest(tree)
    ((key, message),) = told(tree)
    assert key == ".zattrs"
    assert message.startswith("the arrays of the group are ")


@pytest.mark.parametrize(
    ("key", "member", "node"),
    [(".zattrs", "_nczarr_group", "/"), ("v/.zattrs", "_nczarr_array", "/v")],
)
@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_members_of_a_wrong_kind(key, member, node, value):
    store = good()
    store.keys[key][member] = value
    tree = store.built()
    assert told(tree)[0] == (key, f"member '{member}' is not an object")
    check_the_rest(tree, *(["/v"] if node == "/v" else ["/v", "/w", "/g/u"]))
    assert tree.find("/v").attributes == {"units": "m"}


def test_a_missing_zattrs_of_an_array():
    store = good()
    del store.keys["v/.zattrs"]
    tree = store.built()
    assert told(tree) == [("v/.zarray", "the array has no NCZarr metadata: '_nczarr_array' is absent")]
    assert tree.find("/v").dimensions == ("_Anonymous_Dim_4", "_Anonymous_Dim_6")
    check_the_rest(tree, "/v")


def test_a_missing_zattrs_of_a_group():
    store = good()
    del store.keys["g/.zattrs"]
    tree = store.built()
    assert told(tree) == [("g/.zattrs", "the group has no NCZarr metadata: '_nczarr_group' is absent")]
    check_the_rest(tree)


@pytest.mark.parametrize("text", ["{", "[]", "nul"])
def test_a_broken_zattrs(text):
    store = good()
    store.keys["v/.zattrs"] = text
    tree = store.built()
    assert [key for key, _ in told(tree)] == ["v/.zattrs"]
    assert tree.find("/v").shape == (4, 6)
    check_the_rest(tree, "/v")


def test_a_broken_object_of_the_oldest_age():
    store = Store("objects-oldest").group(dimensions={"x": 6}, arrays=["v", "w"])
    store.array("v", zarray((6,)), ["/x"]).array("w", zarray((6,)), ["/x"])
    store.keys["v/.nczvar"] = "{"
    tree = store.built()
    assert [key for key, _ in told(tree)] == ["v/.nczvar"]
    assert tree.find("/w").dimension_paths == ("/x",)
    assert tree.find("/v").shape == (6,)


def test_metadata_that_is_elsewhere_and_not_read_yet_is_no_fault():
    store = good()
    store.keys["v/.zattrs"] = RefbrowserError(ErrorKind.BLOCKED, "not read yet")
    tree = store.built()
    assert tree.findings == ()
    check_the_rest(tree, "/v")


def test_a_broken_array():
    store = good()
    store.keys["v/.zarray"]["shape"] = [4, "x"]
    tree = store.built()
    assert "shape" in tree.find("/v").error.message
    check_the_rest(tree, "/v")


def test_a_scalar_with_chunks_of_another_size_stays_an_array():
    store = Store().group(arrays=["s"])
    tree = store.array("s", zarray((1,), chunks=(4,)), [], scalar=1).built()
    assert tree.find("/s").shape == (1,)
    assert told(tree) == [("s/.zattrs", "the references to dimensions are '[]', not a list of 1")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**66) | st.floats() | st.text("a/x\\ ", max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("axyt", max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.data())
def test_no_value_anywhere_raises(data):
    store = dataset_of_any_age(data)
    keys = store.keys
    for _ in range(data.draw(st.integers(1, 3))):
        key = data.draw(st.sampled_from(sorted(keys)))
        spoil(keys[key], data)
    tree = build_hierarchy(Source(keys), lambda prefix, grid, encoding: None, "nczarr")
    for node in tree.walk():
        if isinstance(node, ArrayNode) and node.error is None:
            assert len(node.dimensions) == len(node.dimension_paths) == len(node.shape)


def dataset_of_any_age(data):
    store = Store(data.draw(st.sampled_from(AGES)))
    store.group(dimensions={"x": 6, "t": {"size": 4, "unlimited": 1}}, arrays=["v", "s"], groups=["g"])
    store.array("v", zarray(), ["/t", "/x"], attributes={"_FillValue": 1}, types={"_FillValue": "<i2"})
    store.array("s", zarray((1,)), [], scalar=1)
    return store.group("g", attributes={"a": "b"}, types={"a": ">S1"})


def spoil(document, data):
    """Replace a member of a document, or one further down."""
    inner = [value for value in document.values() if isinstance(value, dict) and value]
    if inner and data.draw(st.booleans()):
        spoil(data.draw(st.sampled_from(inner)), data)
    elif document:
        document[data.draw(st.sampled_from(sorted(document)))] = data.draw(JSON)


def test_nothing_at_all():
    tree = built({})
    assert tree.root.path == "/"
    assert [item.message for item in tree.findings] == [
        "there is no Zarr metadata: no key belongs to an array"
    ]


def test_control_characters_that_netcdf_leaves_in_texts():
    keys = {".zgroup": {"zarr_format": 2}, ".zattrs": '{"a\\"b": "x\ny\\\\\tz", "c":\n1}'}
    tree = built(keys)
    assert tree.root.attributes == {'a"b': "x\ny\\\tz", "c": 1}
    assert told(tree) == [(".zattrs", "texts have control characters, which JSON requires to be escaped")]
