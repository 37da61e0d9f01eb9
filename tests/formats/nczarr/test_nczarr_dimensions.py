"""How arrays refer to dimensions, and what is made of those that do not (nczarr, sections 2, 3 and 3b)."""

import numpy as np
import pytest
from nczarr_metadata import Store, built, zarray

from refbrowser.model.nodes import Dimension, Flavour

GROUP = {"zarr_format": 2}


def messages(tree):
    return [(item.place.key, item.message) for item in tree.findings]


@pytest.mark.parametrize(
    ("group", "name", "reference"),
    [
        ("", "x", "/x"),
        ("g/h", "y", "/g/h/y"),
        ("sp ace", "d im", "/sp ace/d im"),
        ("sp ace", "d im", r"/sp\ ace/d\ im"),
        ("", r"b\k", r"/b\k"),
        ("", r"b\k", r"/b\\k"),
        ("", "a/b", r"/a\/b"),
        ("g\\", "x", r"/g\/x"),
        ("g", "end\\", "/g/end\\"),
        ("größe", "名", "/größe/名"),
    ],
)
def test_a_reference_as_it_stands_or_with_escapes(group, name, reference):
    store = Store().group(groups=[group.split("/")[0]] if group else [], arrays=["v"])
    if group:
        parts = group.split("/")
        for count in range(1, len(parts)):
            store.group("/".join(parts[:count]), groups=[parts[count]])
        store.group(group, dimensions={name: 3})
    else:
        store.group(dimensions={name: 3}, arrays=["v"])
    node = store.array("v", zarray((3,)), [reference]).built().find("/v")
    assert node.dimensions == (name,)
    assert node.dimension_paths == (f"/{group}/{name}" if group else f"/{name}",)


def test_the_literal_reading_wins():
    store = Store().group(dimensions={r"b\\k": 3, r"b\k": 3}, arrays=["v"])
    node = store.array("v", zarray((3,)), [r"/b\\k"]).built().find("/v")
    assert node.dimension_paths == (r"/b\\k",)


def test_variables_on_an_unlimited_dimension_take_its_size():
    store = Store().group(dimensions={"t": {"size": 7, "unlimited": 1}, "x": 2}, arrays=["full", "short"])
    store.array("full", zarray((7, 2), chunks=(1, 2)), ["/t", "/x"])
    store.array("short", zarray((3, 2), chunks=(2, 2)), ["/t", "/x"])
    tree = store.built()
    assert tree.findings == ()
    assert tree.find("/short").shape == (7, 2)
    assert tree.find("/short").grid.grid_shape == (4, 1)
    assert tree.find("/short").manifest[1].shape == (7, 2)
    assert tree.find("/full").shape == (7, 2)


def test_a_size_that_is_not_the_shape_is_told_and_the_array_stays_readable():
    store = Store().group(dimensions={"x": 5, "t": {"size": 2, "unlimited": 1}}, arrays=["v", "w", "fine"])
    store.array("v", zarray((4,)), ["/x"])
    store.array("w", zarray((3,)), ["/t"])
    tree = store.array("fine", zarray((5,)), ["/x"]).built()
    assert messages(tree) == [
        ("v/.zattrs", "dimension '/x' is declared and has 5 elements, the shape 4"),
        ("w/.zattrs", "dimension '/t' is unlimited and has 2 elements, the shape 3"),
    ]
    node = tree.find("/v")
    assert (node.shape, node.dimensions, node.dimension_paths) == ((4,), ("x",), (None,))
    assert (node.error, node.unreadable) == (None, None)
    assert tree.find("/fine").dimension_paths == ("/x",)


def test_a_dangling_reference():
    store = Store().group(dimensions={"x": 6}, arrays=["v"])
    tree = store.array("v", zarray((4, 6)), ["/g/y", "/x"]).built()
    assert messages(tree) == [("v/.zattrs", "dimension '/g/y' is not declared in any group")]
    node = tree.find("/v")
    assert (node.dimensions, node.dimension_paths) == (("y", "x"), (None, "/x"))


def test_anonymous_sizes():
    store = Store().group(arrays=["v", "w"])
    store.array("v", zarray((4, 6)), [4, "6"])
    tree = store.array("w", zarray((4,)), [5]).built()
    assert tree.find("/v").dimension_paths == (None, None)
    assert messages(tree) == [("w/.zattrs", "an anonymous dimension has size 5, the shape 4")]


def test_a_bare_name_is_looked_for_upwards():
    store = Store().group(dimensions={"x": 6, "y": 9}, groups=["g"])
    store.group("g", dimensions={"y": 4}, arrays=["v"])
    node = store.array("g/v", zarray((4, 6)), ["y", "x"]).built().find("/g/v")
    assert node.dimension_paths == ("/g/y", "/x")


@pytest.mark.parametrize(
    ("references", "text"),
    [
        (["/x"], "the references to dimensions are '['/x']', not a list of 2"),
        ("/x", "the references to dimensions are '/x', not a list of 2"),
        ([["/x"], "/x"], "the reference to a dimension is '['/x']', not a text"),
        ([None, "/x"], "the reference to a dimension is 'None', not a text"),
    ],
)
def test_references_of_a_wrong_kind(references, text):
    store = Store().group(dimensions={"x": 6, "y": 4}, arrays=["v"])
    attributes = {"_ARRAY_DIMENSIONS": ["y", "x"]}
    tree = store.array("v", zarray((4, 6)), references, attributes=attributes).built()
    assert messages(tree) == [("v/.zattrs", text)]
    assert tree.find("/v").dimensions[1] == "x"
    assert tree.find("/v").shape == (4, 6)


@pytest.mark.parametrize("size", [-1, "3", 1.5, None, True, {"size": "a"}, {}, 2**70, [3]])
def test_dimensions_of_a_wrong_kind_are_left_out(size):
    tree = Store().group(dimensions={"bad": size, "x": 2}).built()
    assert list(tree.root.dimensions) == ["x"]
    ((key, message),) = messages(tree)
    assert key == ".zattrs"
    assert message.startswith("the size of dimension 'bad' is ")


# Plain Zarr through netCDF eyes


def test_plain_zarr_has_dimensions_in_the_group_of_each_array():
    named = {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}
    keys = {
        ".zgroup": GROUP,
        "v/.zarray": zarray(),
        "v/.zattrs": named,
        "g/.zgroup": GROUP,
        "g/v/.zarray": zarray((2, 6)),
        "g/v/.zattrs": named,
        "g/w/.zarray": zarray((6, 6)),
    }
    tree = built(keys)
    assert tree.findings == ()
    assert (tree.flavour, tree.age) == (Flavour.NCZARR, "")
    assert tree.find("/v").dimension_paths == ("/y", "/x")
    assert tree.find("/g/v").dimension_paths == ("/g/y", "/g/x")
    assert tree.find("/g").dimensions == {"y": Dimension("y", 2), "x": Dimension("x", 6)}
    assert tree.find("/g/w").dimensions == ("_Anonymous_Dim_6",) * 2
    assert tree.find("/g/w").dimension_paths == ("/_Anonymous_Dim_6",) * 2
    assert list(tree.root.dimensions) == ["y", "x", "_Anonymous_Dim_6"]
    assert tree.find("/v").attributes == {"units": "m"}
    assert tree.find("/v").internal_attributes == {"_ARRAY_DIMENSIONS": ["y", "x"]}


def test_names_of_other_sizes_and_of_a_wrong_kind():
    keys = {
        ".zgroup": GROUP,
        "a/.zarray": zarray((3,)),
        "a/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]},
        "b/.zarray": zarray((4,)),
        "b/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]},
        "c/.zarray": zarray((3,)),
        "c/.zattrs": {"_ARRAY_DIMENSIONS": ["x", "y"]},
        "d/.zarray": zarray((3,)),
        "d/.zattrs": {"_ARRAY_DIMENSIONS": [None]},
    }
    tree = built(keys)
    assert tree.find("/a").dimension_paths == ("/x",)
    assert (tree.find("/b").dimensions, tree.find("/b").dimension_paths) == (("x",), (None,))
    assert tree.find("/c").dimension_paths == ("/_Anonymous_Dim_3",)
    assert tree.find("/d").dimension_paths == ("/_Anonymous_Dim_3",)
    assert messages(tree) == [
        ("b/.zarray", "dimension '/x' has 3 elements, the shape 4"),
        ("c/.zarray", "_ARRAY_DIMENSIONS is '['x', 'y']', not a list of 1 names"),
    ]


def test_an_array_that_nczarr_says_nothing_of_takes_declared_dimensions_by_name():
    store = Store().group(dimensions={"x": 6}, groups=["g"])
    store.group("g", arrays=["v", "w"])
    store.array("g/v", zarray((6,)), ["/x"])
    store.keys |= {"g/w/.zarray": zarray((4, 6)), "g/w/.zattrs": {"_ARRAY_DIMENSIONS": ["y", "x"]}}
    tree = store.built()
    assert tree.find("/g/w").dimension_paths == ("/g/y", "/x")
    assert messages(tree) == [("g/w/.zarray", "the array has no NCZarr metadata: '_nczarr_array' is absent")]


def test_scalars_of_plain_zarr():
    keys = {".zgroup": GROUP, "a/.zarray": zarray(()), "b/.zarray": zarray((1,))}
    keys["a/.zattrs"] = keys["b/.zattrs"] = {"_ARRAY_DIMENSIONS": ["_scalar_"]}
    tree = built(keys)
    assert tree.find("/a").dimensions == ()
    assert tree.find("/b").dimension_paths == ("/_scalar_",)
    assert tree.findings == ()


def test_a_root_array():
    tree = built({".zarray": zarray((3,), fill_value=7), ".zattrs": {"units": "m"}})
    assert tree.root.dimensions == ("_Anonymous_Dim_3",)
    assert tree.root.attributes == {"units": "m"}
    assert tree.root.fill_value == np.int16(7)
