"""The same dataset in the layout of each age of netcdf-c (nczarr, section 3)."""

import json

import numpy as np
import pytest
from nczarr_metadata import AGES, TITLES, Store, built, zarray

import refbrowser
from refbrowser.model.nodes import CodecSpec, Dimension, Flavour


def dataset(age):
    new = age in ("lower", "attributes")
    char = ">S1" if new else "<U1"
    store = Store(age)
    store.group(
        dimensions={"x": 6, "t": {"size": 4, "unlimited": 1} if new else 4},
        arrays=["v", "text", "one"],
        groups=["g"],
        attributes={"_NCProperties": "version=2", "title": "a", "n": 42, "third": 0.333333},
        types={"title": char, "n": char, "third": "<f8"},
    )
    filters = {"filters": [{"id": "shuffle", "elementsize": 0}], "compressor": {"id": "zlib", "level": 4}}
    fill = [-5] if age.startswith("objects") else -5
    store.array(
        "v",
        zarray(fill_value=fill, chunks=(2, 3), **filters),
        ["/t", "/x"],
        attributes={"_FillValue": fill, "_ARRAY_DIMENSIONS": ["t", "x"]},
        types={"_FillValue": "<i2"},
    )
    store.array("text", zarray((6,), dtype=char, fill_value=""), ["/x"])
    scalar = {"scalar": 1} if age == "attributes" else {}
    store.array(
        "one",
        zarray((1,), dtype="<f8"),
        [],
        storage="chunked" if scalar else "scalar",
        attributes={"_ARRAY_DIMENSIONS": ["_scalar_"]},
        **scalar,
    )
    store.group("g", dimensions={"y": 2}, arrays=["w"])
    store.array("g/w", zarray((2, 6)), ["/g/y", "/x"])
    return store


@pytest.mark.parametrize("age", AGES)
def test_a_dataset_of_each_age(age):
    tree = dataset(age).built()
    assert tree.findings == ()
    assert (tree.flavour, tree.age, tree.format) == (Flavour.NCZARR, TITLES[age], "nczarr")
    root, group = tree.root, tree.find("/g")
    assert root.dimensions["x"] == Dimension("x", 6)
    assert root.dimensions["t"] == Dimension("t", 4, unlimited=age in ("lower", "attributes"))
    assert list(root.arrays) == ["v", "text", "one"]
    assert root.attributes == {"title": "a", "n": "42", "third": 0.333333}
    assert root.attribute_types == {"title": "char", "n": "char", "third": "double"}
    assert root.internal_attributes["_NCProperties"] == "version=2"
    assert group.dimensions == {"y": Dimension("y", 2)}
    v = tree.find("/v")
    assert (v.shape, v.dimensions, v.dimension_paths) == ((4, 6), ("t", "x"), ("/t", "/x"))
    assert (v.attributes, v.attribute_types) == ({"_FillValue": -5}, {"_FillValue": "short"})
    assert v.fill_value == np.int16(-5)
    assert v.codecs == (CodecSpec("shuffle", {"elementsize": 0}), CodecSpec("zlib", {"level": 4}))
    assert v.manifest[0] == "v/"
    assert v.manifest[1].grid_shape == (2, 2)
    w = tree.find("/g/w")
    assert (w.dimensions, w.dimension_paths) == (("y", "x"), ("/g/y", "/x"))
    one = tree.find("/one")
    assert (one.shape, one.dimensions, one.dimension_paths, one.attributes) == ((), (), (), {})
    assert one.manifest[2].encode(()) == "0"
    text = tree.find("/text")
    assert (text.type.name, text.dtype, text.fill_value) == (">S1", np.dtype("S1"), b"")


@pytest.mark.parametrize("age", AGES)
def test_what_the_format_keeps_for_itself_is_kept_as_stored(age):
    tree = dataset(age).built()
    for node in tree.walk():
        assert not any(name.lower().startswith("_nczarr") for name in node.attributes)
        assert any("nc" in name.lower() for name in node.internal_attributes)
    kept = {
        "objects-oldest": ".nczvar",
        "objects": ".nczarray",
        "upper": "_NCZARR_ARRAY",
    }.get(age, "_nczarr_array")
    assert tree.find("/v").internal_attributes["_ARRAY_DIMENSIONS"] == ["t", "x"]
    assert "/t" in str(tree.find("/v").internal_attributes[kept])


def test_an_array_of_numpy_texts_is_not_taken_for_char_in_newer_ages():
    store = Store("attributes").group(dimensions={"x": 2}, arrays=["a"])
    tree = store.array("a", zarray((2,), dtype="<U1", fill_value=""), ["/x"]).built()
    assert tree.find("/a").dtype == np.dtype("<U1")


def test_lower_case_in_attributes_counts_before_all_else():
    other = {"dims": {"x": 9}, "vars": ["a"], "groups": []}
    keys = {
        ".zgroup": {"zarr_format": 2, "_nczarr_group": other, "_NCZARR_GROUP": other},
        ".nczgroup": other,
        ".zattrs": {
            "_NCZARR_GROUP": other,
            "_nczarr_group": {"dimensions": {"x": 4}, "arrays": ["a"], "groups": []},
        },
        "a/.zarray": zarray((4,)),
        "a/.zattrs": {"_nczarr_array": {"dimension_references": ["/x"]}},
    }
    tree = built(keys)
    assert tree.root.dimensions == {"x": Dimension("x", 4)}
    assert tree.age == "netcdf-c 4.9.3 or later"
    assert [(finding.place.key, "differs" in finding.message) for finding in tree.findings] == [
        (".zattrs", True),
        (".zgroup", True),
        (".zgroup", True),
        (".nczgroup", True),
    ]
    del keys[".zattrs"]["_nczarr_group"], keys[".zattrs"]["_NCZARR_GROUP"], keys[".nczgroup"]
    keys[".zgroup"]["_nczarr_group"] = {"dims": {"x": 4}, "vars": ["a"], "groups": []}
    tree = built(keys)
    assert tree.root.dimensions == {"x": Dimension("x", 4)}
    assert tree.age == "netcdf-c 4.9.1 to 4.9.2"


def test_new_member_names_count_before_old_ones():
    keys = {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": {"_nczarr_group": {"dims": {"x": 9}, "dimensions": {"x": 4}, "vars": [], "arrays": ["a"]}},
        "a/.zarray": zarray((4,)),
        "a/.zattrs": {"_nczarr_array": {"dimrefs": ["/y"], "dimension_references": ["/x"]}},
    }
    assert built(keys).find("/a").dimension_paths == ("/x",)


def test_consolidated_metadata_alone_is_enough():
    store = dataset("attributes")
    tree = built({".zmetadata": {"zarr_consolidated_format": 1, "metadata": store.keys}})
    assert tree.find("/g/w").dimension_paths == ("/g/y", "/x")
    assert tree.find("/one").shape == ()
    assert tree.findings == ()


CHUNKS = {
    "v/0.0": np.arange(6, dtype="<i2").tobytes(),
    "text/0": b"abcde\0",
    "one/0": np.array(2.5).tobytes(),
    "g/w/0.0": np.arange(12, dtype="<i2").tobytes(),
}


@pytest.mark.parametrize("age", AGES)
def test_values_of_each_age_in_a_folder(age, tmp_path):
    """Of old ages too a char is one byte, a scalar has one chunk."""
    keys = {key: json.dumps(document).encode() for key, document in dataset(age).keys.items()}
    keys["v/.zarray"] = keys["v/.zarray"].replace(b'"zlib"', b'"gone"')
    for key, data in (keys | CHUNKS).items():
        path = tmp_path / "store" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with refbrowser.open(tmp_path / "store") as opened:
        assert opened.hierarchy.flavour == Flavour.NCZARR
        assert opened.hierarchy.age == TITLES[age]
        assert opened["/text"][...].tolist() == [b"a", b"b", b"c", b"d", b"e", b""]
        assert opened["/one"][()] == 2.5
        assert opened["/g/w"][1].tolist() == [6, 7, 8, 9, 10, 11]
        assert "'gone' is not known" in opened["/v"].node.unreadable.message
