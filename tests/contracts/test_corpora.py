"""All that zarr-python 2 and 3 can write, read as they read it themselves."""

import json

import numpy as np
import pytest
from corpus_values import differences, expected
from stores_as_documents import document_of

import refbrowser
from refbrowser.model.nodes import ArrayNode


@pytest.fixture(scope="module", params=["v2", "v3"])
def corpus(request):
    return request.getfixturevalue(f"corpus_{request.param}")


@pytest.fixture(scope="module")
def dataset(corpus):
    with refbrowser.open(document_of(corpus / "store", corpus / "document.json")) as opened:
        yield opened


def test_every_array_reads_as_its_writer_reads_it(corpus, dataset):
    assert len(expected(corpus)) > 150
    assert differences(dataset, corpus) == []


def test_nothing_is_found_fault_with(dataset):
    assert dataset.hierarchy.problems == ()


def test_every_node_is_there(corpus, dataset):
    paths = {node.path for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)}
    assert paths == {f"/{path}" for path in expected(corpus)}


def test_single_elements_and_slices(corpus, dataset):
    for path, entry in expected(corpus).items():
        node = dataset[f"/{path}"]
        if "file" not in entry or not all(node.shape):
            continue
        wanted = np.load(corpus / entry["file"], allow_pickle=False)
        index = tuple(slice(None, None, -2) if size > 3 else size // 2 for size in node.shape)
        ours = np.asarray(node[index]).astype(wanted.dtype)
        assert ours.tobytes() == wanted[(*index, ...)].tobytes(), path


def test_the_consolidated_metadata_alone_is_enough(corpus, tmp_path):
    name = ".zmetadata" if (corpus / "store" / ".zmetadata").exists() else "zarr.json"
    document = tmp_path / "one.json"
    document.write_text(json.dumps({name: (corpus / "store" / name).read_text()}))
    with refbrowser.open(document) as opened:
        paths = {node.path for node in opened.hierarchy.walk() if isinstance(node, ArrayNode)}
        assert paths == {f"/{path}" for path in expected(corpus)}
        assert opened.hierarchy.problems == ()
