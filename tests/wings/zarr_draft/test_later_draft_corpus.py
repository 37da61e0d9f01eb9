"""What zarr-python 2 writes as the draft of 2020, in a folder and a zip file, read as it reads it itself."""

from pathlib import Path

import numpy as np
import pytest
from corpus_values import expected, same_values
from zarr2_environment import run_with_zarr2

import refbrowser
from refbrowser.formats.store_rules import LATER_DRAFT

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("draft")
    run_with_zarr2(HERE / "write_draft_with_zarr2.py", folder)
    return folder


@pytest.fixture(scope="module", params=["store", "store.zip"])
def dataset(request, corpus):
    with refbrowser.open(corpus / request.param) as opened:
        yield opened


@pytest.mark.slow
def test_every_array_reads_as_its_writer_reads_it(corpus, dataset):
    assert dataset.hierarchy.flavour == LATER_DRAFT
    assert dataset.hierarchy.findings == ()
    wanted = expected(corpus)
    assert len(wanted) > 30
    assert set(dataset.arrays) == {f"/{path}" for path in wanted}
    for path, entry in wanted.items():
        node = dataset[f"/{path}"]
        assert same_values(np.asarray(node[...]), entry, corpus), path
        # It keeps the filters of an array among its attributes.
        entry["attributes"].pop("filters", None)
        assert dict(node.attrs) == entry["attributes"], path


def test_parts_of_it(corpus, dataset):
    for path, entry in expected(corpus).items():
        values = np.load(corpus / entry["file"], allow_pickle=False)
        node = dataset[f"/{path}"]
        if values.ndim == 2 and values.size:
            part = np.asarray(node[3, ::-2])
            assert part.astype(values.dtype).tobytes() == values[3, ::-2].tobytes(), path


def test_groups_and_dimensions(dataset):
    assert dataset.attrs == {"title": "a draft"}
    assert dataset["/bare/inner"].attrs == {"deep": True}
    assert dataset["/bare"].attrs == {}
    assert dataset["/layouts/named"].dimensions == ("y", "x")
