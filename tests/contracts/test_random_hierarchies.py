"""Random hierarchies: read as zarr-python wrote them, and kept by an export to each flavour."""

from __future__ import annotations

import math
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_hierarchies import trees, write_tree

import refbrowser
from refbrowser.model.nodes import ArrayNode

#: Each example writes, exports and reads stores on the disk.
EXAMPLES = 6


def plain(attributes):
    """Attributes with what is equal spelled alike: one number has several types in netCDF."""
    return {
        name: float(value) if isinstance(value, int | float) else value for name, value in attributes.items()
    }


def assert_kept(dataset, tree):
    """Every array and group of a tree is in a dataset, with its values and attributes."""
    found = {node.path for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)}
    assert found == {f"/{path}" for path in tree.arrays}
    for path, array in tree.arrays.items():
        ours = dataset[f"/{path}"]
        assert ours.shape == array.values.shape
        assert np.array_equal(ours[...], array.values), path
        assert plain(array.attributes).items() <= plain(dict(ours.attrs)).items()
    for path, attributes in tree.groups.items():
        node = dataset.hierarchy.find(f"/{path}")
        assert node is not None
        assert plain(attributes).items() <= plain(dict(node.attributes)).items()


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 3])
@given(tree=trees(), data=st.data())
@settings(max_examples=EXAMPLES)
def test_what_zarr_python_writes_is_read(version, tree, data):
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "store")
        write_tree(tree, store, version)
        with refbrowser.open(store) as dataset:
            assert_kept(dataset, tree)
            assert dataset.hierarchy.findings == ()
            for path, array in tree.arrays.items():
                if math.prod(array.values.shape):
                    index = data.draw(index_of(array.values.shape))
                    assert np.array_equal(dataset[f"/{path}"][index], array.values[index])


def index_of(shape):
    from hypothesis.extra import numpy as hnp

    return hnp.basic_indices(shape, allow_newaxis=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "target"),
    [
        *((2, "zarr-v3"), (3, "zarr-v2"), (2, "zarr-v3-draft"), (3, "nczarr")),
        *(
            pytest.param(*pair, marks=pytest.mark.long)
            for pair in ((2, "zarr-v2"), (3, "zarr-v3"), (3, "zarr-v3-draft"), (2, "nczarr"))
        ),
    ],
)
@given(tree=trees())
@settings(max_examples=EXAMPLES)
def test_an_export_keeps_everything(version, target, tree):
    with tempfile.TemporaryDirectory() as folder:
        store, out = Path(folder, "store"), Path(folder, "out")
        write_tree(tree, store, version)
        refbrowser.export(store, out, format=target, allow=[folder])
        with refbrowser.open(out) as dataset:
            assert_kept(dataset, tree)
        if target in ("zarr-v2", "zarr-v3"):
            assert_read_by_zarr_python(out, tree)


def assert_read_by_zarr_python(store, tree):
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.open_group(str(store), mode="r")
        for path, array in tree.arrays.items():
            assert np.array_equal(root[path][...], array.values)
            assert plain(array.attributes).items() <= plain(dict(root[path].attrs)).items()
        for path, attributes in tree.groups.items():
            assert plain(attributes).items() <= plain(dict(root[path].attrs if path else root.attrs)).items()
