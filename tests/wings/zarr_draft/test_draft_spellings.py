"""Chunk keys that are written otherwise than usual in stores on the disk, found without a listing."""

import zipfile

import numpy as np
import pytest
from draft_documents import array_json, as_bytes
from test_draft_hierarchy import VALUES, chunks_of

import refbrowser

NO_SIDES = {"type": "regular", "chunk_shape": []}
SCALAR = array_json(shape=[], chunk_grid=NO_SIDES)
CORE = "https://purl.org/zarr/spec/protocol/core/3.0"
LATER = {
    "zarr.json": {"zarr_format": CORE, "metadata_encoding": CORE, "metadata_key_suffix": ".json"},
}
CASES = {
    "root": {"root.array.json": array_json()} | chunks_of("data/"),
    "root of june 2019": {"meta/root.array.json": array_json()} | chunks_of("data/root/"),
    "scalar": {"meta/a.array.json": SCALAR, "data/a/0": b"\7\0"},
    "scalar without identifier": {"meta/a.array.json": SCALAR, "data/a": b"\7\0"},
    "later scalar": LATER | {"meta/root/a.array.json": SCALAR, "data/root/a/c": b"\7\0"},
    "scalar of zarr-python": LATER | {"meta/root/a.array.json": SCALAR, "data/root/a/c0": b"\7\0"},
    "before september 2020": LATER | {"meta/root/a.array.json": array_json()} | chunks_of("data/root/a/"),
}


def write_folder(keys, folder):
    for key, value in keys.items():
        path = folder / "store" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(value))
    return folder / "store"


def write_zip(keys, folder):
    with zipfile.ZipFile(folder / "store.zip", "w") as archive:
        for key, value in keys.items():
            archive.writestr(f"inner/{key}", as_bytes(value))
    return folder / "store.zip"


@pytest.mark.parametrize("write", [write_folder, write_zip])
@pytest.mark.parametrize("name", list(CASES))
def test_values(tmp_path, name, write):
    with refbrowser.open(write(CASES[name], tmp_path)) as dataset:
        (path,) = dataset.arrays
        found = dataset[path][...]
        assert np.array_equal(found, VALUES) if found.ndim else found == 7


def test_missing_chunks_and_the_usual_way_where_none_is_seen(tmp_path):
    keys = {"root.array.json": array_json(), "data/1.1": chunks_of("data/")["data/1.1"]}
    with refbrowser.open(write_folder(keys, tmp_path)) as dataset:
        found = dataset["/"][...]
        assert np.array_equal(found[2:, 3:], VALUES[2:, 3:])
        assert (found[:2] == -1).all()
        assert (found[:, :3] == -1).all()


def test_an_array_of_ever_so_many_chunks_is_opened_at_once(tmp_path):
    grid = {"type": "regular", "chunk_shape": [1, 1]}
    document = array_json(shape=[10**12, 10**6], chunk_grid=grid)
    keys = {"root.array.json": document, "data/0.7": b"\5\0"}
    with refbrowser.open(write_folder(keys, tmp_path)) as dataset:
        assert dataset["/"][0, 6:9].tolist() == [-1, 5, -1]
