"""An object that a store does not have is a missing chunk wherever its array is read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import fsspec
import numpy as np
import pytest
import zarr
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

import refbrowser
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.formats.references import document_chunks
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import Origin
from refbrowser.model.selection import Selection
from refbrowser.references.edits.edits import SetMetadata, SetReference
from refbrowser.tools.explain.report.explain import Question, explain

KINDS = {
    "raw": {"compressors": None},
    "packed": {},
    "sharded": {"shards": (4, 6), "compressors": None},
}


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An array of 6 chunks or shards of which the first two are stored."""
    options = KINDS[request.param]
    array = zarr.create_group(tmp_path / "s", zarr_format=3).create_array(
        "a",
        shape=(12, 12),
        chunks=(2, 6) if "shards" in options else (4, 6),
        dtype="<i4",
        fill_value=7,
        **options,
    )
    array[:4] = np.arange(48).reshape(4, 12)
    return tmp_path / "s"


def test_states_and_values_of_pieces(store: Path) -> None:
    pieces: list[EndedPart] = []
    with refbrowser.open(store) as dataset:
        node = dataset["/a"].node
        for index in (np.s_[:], np.s_[1:, ::5]):
            pieces.clear()
            selection = Selection.from_index(index, node.shape)
            values = dataset.session.read(node, dataset.access, selection, on_part=pieces.append)
            wanted = np.full((12, 12), 7)
            wanted[:4] = np.arange(48).reshape(4, 12)
            assert np.array_equal(values, wanted[index])
            states = {piece.part.coords: piece.state for piece in pieces}
            assert states == {
                (row, column): PartState.MISSING if row else PartState.DONE
                for row in range(3)
                for column in range(2)
            }


def test_nothing_is_missing_of_a_store_that_is_gone(store: Path) -> None:
    with refbrowser.open(store) as dataset:
        array = dataset["/a"]
        assert array[11, 0] == 7
        store.rename(store.with_name("elsewhere"))
        for index in (np.s_[:], np.s_[11:, 3:5]):
            with pytest.raises(RefbrowserError, match="there is no such file"):
                array[index]
        store.with_name("elsewhere").rename(store)
        assert array[11, 0] == 7


def test_zarr_python_sees_no_such_key(store: Path) -> None:
    with refbrowser.open(store) as dataset:
        seen = zarr.open_group(dataset.store(), mode="r")["a"]
        assert np.array_equal(seen[...], dataset["/a"][...])


def test_explained_as_missing(store: Path) -> None:
    with refbrowser.open(store) as dataset:
        gone = explain(dataset, Question(array="/a", index=(5, 0)), CancelToken())
        assert gone.kind == "missing"
        assert "fill value 7" in gone.verdict
        assert explain(dataset, Question(array="/a", index=(0, 1)), CancelToken()).kind == "value"


def test_only_whole_objects_of_the_store_may_be_absent(tmp_path: Path) -> None:
    """A range of a file that is not there is an error; so is a file outside of the store."""
    array = zarr.create_group(tmp_path / "s", zarr_format=2).create_array("a", shape=(2,), dtype="<i4")
    array[:] = [1, 2]
    with refbrowser.open(tmp_path / "s") as dataset:
        allowed = dataset.access.allow([Origin.parse(str(tmp_path))])
        for value, wanted in (
            ([str(tmp_path / "s" / "x")], None),
            ([str(tmp_path / "s" / "x"), 0, 8], ErrorKind.IO),
            ([str(tmp_path / "other")], ErrorKind.IO),
        ):
            document = dataset.document.apply(SetReference("a/0", value))
            edited = dataset.with_document(document).with_access(allowed)["/a"]
            if wanted is None:
                assert edited[...].tolist() == [0, 0]
                continue
            with pytest.raises(RefbrowserError) as caught:
                edited[...]
            assert caught.value.kind is wanted


def test_an_edited_attribute_is_saved_as_references(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2, attributes={"title": "old"})
    group.create_array("a", shape=(5,), chunks=(2,), dtype="<i4", attributes={"units": "m"})[:] = range(5)
    zarr.consolidate_metadata(tmp_path / "s", zarr_format=2)
    before = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    with refbrowser.open(tmp_path / "s") as dataset:
        document = dataset.document.apply(SetMetadata("a/.zattrs", {"units": "km"}))
        document = document.apply(SetMetadata(".zattrs", {"title": "new"}))
        edited = dataset.with_document(document)
        assert edited["/a"].attrs == {"units": "km"}
        assert edited.hierarchy.flavour == dataset.hierarchy.flavour
        (tmp_path / "d.json").write_bytes(b"".join(document_chunks(document)))
    assert before == {path: path.read_bytes() for path in before}
    system = fsspec.filesystem(
        "reference", fo=str(tmp_path / "d.json"), remote_protocol="file", simple_templates=False
    )
    store = zarr.storage.FsspecStore(AsyncFileSystemWrapper(system), path="", read_only=True)
    seen = zarr.open_group(store, mode="r", zarr_format=2)
    assert seen.attrs["title"] == "new"
    assert seen["a"].attrs["units"] == "km"
    assert seen["a"][...].tolist() == [0, 1, 2, 3, 4]
    with refbrowser.open(tmp_path / "d.json") as dataset:
        assert dataset["/a"][...].tolist() == [0, 1, 2, 3, 4]


def test_absence_is_told_of_stores_only(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    inside = AbsentError(ErrorKind.IO, "gone", Place(url=str(tmp_path / "s/a/0")))
    beside = AbsentError(ErrorKind.IO, "gone", Place(url=str(tmp_path / "s2/a/0")))
    denied = RefbrowserError(ErrorKind.IO, "denied", inside.place)
    store = Access.for_store(str(tmp_path / "s"))
    assert store.is_missing(inside)
    assert store.is_missing(inside.at(inside.place))
    assert not store.is_missing(beside)
    assert not store.is_missing(denied)
    assert not store.is_missing(None)
    assert not Access.for_document(tmp_path / "s/d.json").is_missing(inside)
    remote = Access.for_store("https://host.example/data/s/")
    assert remote.is_missing(inside.at(Place(url="https://host.example/data/s/a/0")))
    assert not remote.is_missing(inside)


def test_keys_of_a_store_exist_where_their_objects_do(store: Path) -> None:
    (store / "a" / "c" / "2").mkdir()
    (store / "a" / "c" / "2" / "0").touch()
    with refbrowser.open(store) as dataset:
        keys = dataset.store()
        wanted = {"a/zarr.json": True, "a/c/0/0": True, "a/c/1/0": False, "a/c/2/0": True, "a/c/9/9": False}
        assert {key: asyncio.run(keys.exists(key)) for key in wanted} == wanted


def test_objects_that_may_not_be_asked_for_are_not_said_to_be_absent(store: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").touch()
    (store / "a" / "c" / "0" / "0").unlink()
    (store / "a" / "c" / "0" / "0").symlink_to(tmp_path / "outside")
    with refbrowser.open(store) as dataset, pytest.raises(RefbrowserError) as caught:
        asyncio.run(dataset.store().exists("a/c/0/0"))
    assert caught.value.kind in (ErrorKind.UNSAFE, ErrorKind.BLOCKED)
