"""Code for what is shown of a store of the drafts runs, and gives the same values."""

import numpy as np
import pytest

import refbrowser
from refbrowser import zarr_draft
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.views.plot.snippet_store import source_of
from refbrowser.views.plot.snippets import SnippetView, xarray_snippet, zarr_snippet

VALUES = np.arange(12.0).reshape(3, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("with_xarray", "attributes"), [(False, {}), (True, {"_ARRAY_DIMENSIONS": ["y", "x"]})]
)
def test_the_code_gives_what_is_shown(tmp_path, attributes, with_xarray):
    pytest.importorskip("xarray")
    hierarchy = zarr_draft.DraftHierarchy(zarr_draft.FolderStore(tmp_path / "store"))
    array = hierarchy.create_array(
        "/g/a", shape=(3, 4), data_type="<f8", chunk_shape=(2, 3), attributes=attributes
    )
    array[...] = VALUES
    with refbrowser.open(tmp_path / "store") as dataset:
        node = dataset["/g/a"].node
        state = SliceState(node.shape, dimension_names(node), 1, 0, (0, 0))
        view = SnippetView(node, state, (range(3), range(4)), True)
        source = source_of(dataset, dataset.document.urls.texts)
        code = xarray_snippet(source, dataset.hierarchy, view) if with_xarray else zarr_snippet(source, view)
    variables = {}
    exec(compile(code, "pasted.py", "exec"), variables)
    assert np.array_equal(np.asarray(variables["values"]), VALUES)
