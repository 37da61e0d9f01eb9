"""All that zarr-python 2 and 3 can write, read as they read it themselves."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import zarr
from corpus_values import differences, expected
from stores_as_documents import document_of
from zarr2_environment import run_with_zarr2

import refbrowser
from refbrowser.model.netcdf.fill import ADDED
from refbrowser.model.nodes import ArrayNode

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", params=["v2", "v3"])
def corpus(request):
    return request.getfixturevalue(f"corpus_{request.param}")


@pytest.fixture(scope="module")
def dataset(corpus):
    with refbrowser.open(document_of(corpus / "store", corpus / "document.json")) as opened:
        yield opened


@pytest.mark.slow
def test_every_array_reads_as_its_writer_reads_it(corpus, dataset):
    assert len(expected(corpus)) > 150
    assert differences(dataset, corpus) == []


def test_nothing_is_found_fault_with(dataset):
    assert dataset.hierarchy.findings == ()


def test_every_node_is_there(corpus, dataset):
    paths = {node.path for node in dataset.hierarchy.walk() if isinstance(node, ArrayNode)}
    assert paths == {f"/{path}" for path in expected(corpus)}


@pytest.mark.slow
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
        assert opened.hierarchy.findings == ()


@pytest.mark.slow
def test_a_folder_opens_as_its_references_do(corpus):
    with refbrowser.open(corpus / "store") as opened:
        assert differences(opened, corpus) == []
        assert opened.hierarchy.findings == ()


@pytest.fixture(scope="module")
def exported(corpus_v2, tmp_path_factory):
    """The corpus of version 2 exported to version 2, and what could not be."""
    target = tmp_path_factory.mktemp("exported") / "store"
    report = refbrowser.export(corpus_v2 / "store", target, format="zarr-v2", skip_bad=True)
    return target, left_out(report)


def left_out(report):
    """What is not in an export: arrays that cannot be read, and those that the target has no form for."""
    unread = {error.place.path for error in report.skipped}
    return unread | {loss.path for loss in report.losses if loss.what.startswith("left out")}


@pytest.mark.slow
def test_zarr_python_2_reads_what_is_exported(corpus_v2, exported):
    target, skipped = exported
    # zarr-python 3, which makes the metadata, has no fields with shapes, and no objects but text and bytes.
    assert skipped <= {f"/structures/1{end}" for end in ("", "_zero")} | {
        f"/objects/{name}" for name in ("arrays", "json", "json_ascii", "labels", "msgpack")
    }
    found = json.loads(run_with_zarr2(HERE / "read_with_zarr2.py", corpus_v2, target))
    assert [text for text in found if f"/{text.partition(':')[0]}" not in skipped] == []


@pytest.mark.long
@pytest.mark.parametrize("corpus_name", ["corpus_v2", "corpus_v3"])
def test_zarr_python_3_reads_what_is_exported_to_v3(corpus_name, request, tmp_path):
    corpus = request.getfixturevalue(corpus_name)
    report = refbrowser.export(corpus / "store", tmp_path / "out", format="zarr-v3", skip_bad=True)
    skipped = left_out(report)
    # What marks missing values in Zarr v2 is an attribute in v3, which is told.
    marked = {loss.path for loss in report.losses if loss.what == ADDED}
    assert bool(marked) == (corpus_name == "corpus_v2")
    found = differences(_AsZarrPython(tmp_path / "out", marked), corpus)
    assert [text for text in found if f"/{text.partition(':')[0]}" not in skipped] == []
    assert len(skipped) < len(expected(corpus)) / 10


class _AsZarrPython:
    """A store as zarr-python 3 reads it, asked as ours is."""

    def __init__(self, store, marked):
        self.marked = marked
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.root = zarr.open_group(str(store), mode="r")

    def __getitem__(self, path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = self.root[path.lstrip("/")]
        return _Unmarked(array) if path in self.marked else array


class _Unmarked:
    """An array without the attribute that was added to it."""

    def __init__(self, array):
        self.array = array
        self.attrs = dict(array.attrs)
        del self.attrs["_FillValue"]

    def __getitem__(self, selection):
        return self.array[selection]
