import pytest
from zarr_metadata import built, zarr_json, zarray

from refbrowser.formats.zarr.keys import ChunkKey, KeyClassifier, MetadataKey, StrayKey

TREE = built(
    {
        "a/.zarray": zarray(),
        "s/.zarray": zarray(dimension_separator="/"),
        "n/.zarray": zarray(shape=[], chunks=[]),
        "g/c/zarr.json": zarr_json(),
        "bad/.zarray": "{",
    }
)
CLASSIFIER = KeyClassifier(TREE)


@pytest.mark.parametrize(
    ("key", "path", "coords"),
    [
        ("a/0.0", "/a", (0, 0)),
        ("a/1.1", "/a", (1, 1)),
        ("s/1/0", "/s", (1, 0)),
        ("n/0", "/n", ()),
        ("g/c/c/1/1", "/g/c", (1, 1)),
    ],
)
def test_chunks(key, path, coords):
    assert CLASSIFIER.classify(key) == ChunkKey(TREE.find(path), coords)


@pytest.mark.parametrize(
    ("key", "path"), [(".zgroup", "/"), ("a/.zattrs", "/a"), ("g/c/zarr.json", "/g/c"), ("q/.zarray", "/q")]
)
def test_metadata(key, path):
    assert CLASSIFIER.classify(key) == MetadataKey(path)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("a/2.0", "/a"),
        ("a/0", "/a"),
        ("a/00.0", "/a"),
        ("a/0/0", "/a"),
        ("s/0.0", "/s"),
        ("bad/0.0", "/bad"),
        ("x/0.0", None),
        ("0.0", None),
        ("", None),
        ("/", None),
    ],
)
def test_strays(key, path):
    assert CLASSIFIER.classify(key) == StrayKey(TREE.find(path) if path else None)


def test_chunks_of_a_root_array():
    tree = built({".zarray": zarray()})
    assert KeyClassifier(tree).classify("1.1") == ChunkKey(tree.root, (1, 1))
    assert KeyClassifier(tree).classify("1.2") == StrayKey(tree.root)
