"""Files of Awkward 0 as references that fsspec and zarr-python read: what those have is what was written."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import fsspec
import numpy as np
import pytest
import zarr
from awkward0_encoder import Encoder, for_hdf5, write_folder, write_hdf5, zipped

import refbrowser
from refbrowser.cli import main
from refbrowser.limits import LIMITS
from refbrowser.wings.awkward0.writing import virtual_document as virtual_awkward0

DATA = Path("/work/shared/data/awkward0")


Told = pytest.CaptureFixture[str]


def exported(path: Path, tmp_path: Path, capsys: Told, *options: str) -> tuple[Path, str]:
    """Export a file as references; return them and what was told."""
    target = tmp_path / "refs.json"
    assert main(["export", str(path), str(target), "--to", "refs-v1", "--force", *options]) == 0
    told = capsys.readouterr()
    return target, told.out + told.err


def opened(target: Path) -> Any:
    """Open references with zarr-python, as fsspec gives them by default."""
    filesystem = fsspec.filesystem(
        "reference", fo=str(target), asynchronous=True, remote_protocol="file", skip_instance_cache=True
    )
    return zarr.open_group(
        zarr.storage.FsspecStore(filesystem, read_only=True, path=""), mode="r", zarr_format=2
    )


class Buffers:
    """The arrays of a group as `awkward.from_buffers` asks for them."""

    def __init__(self, group: Any) -> None:
        self.group = group

    def __getitem__(self, name: str) -> Any:
        return self.group[name][...]


def restored(group: Any) -> Any:
    return ak.from_buffers(group.attrs["awkward_form"], group.attrs["awkward_length"], Buffers(group))


def make(e: Encoder) -> Any:
    lists = e.jagged([2, 0, 1], e.basic([1.5, 2.5, 3.5], codecs=["zlib.decompress"]))
    contents = {"list": [e.basic([1, 2]), e.strings(["x"])]}
    union = e.make("UnionArray.fromtags", e.basic([0, 1, 0], "u1"), contents)
    return e.table(lists=lists, union=union, fixed=e.basic([[1, 2], [3, 4], [5, 6]], "i2"))


VALUES = [
    {"lists": [1.5, 2.5], "union": 1, "fixed": [1, 2]},
    {"lists": [], "union": "x", "fixed": [3, 4]},
    {"lists": [3.5], "union": 2, "fixed": [5, 6]},
]


def archive(method: int) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        encoder = Encoder("one")
        path = folder / "x.awkd"
        path.write_bytes(zipped(encoder.members(make(encoder)), methods=method))
        return path

    return write


def folder_of_blobs(folder: Path) -> Path:
    encoder = Encoder("one")
    return write_folder(folder / "blobs", encoder.members(make(encoder)))


def hdf5(chunked: bool) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        pytest.importorskip("h5py")
        encoder = for_hdf5("one")
        options = {"chunks": True, "compression": "gzip"} if chunked else {}
        return write_hdf5(folder / "x.h5", encoder.members(make(encoder)), **options)

    return write


CONTAINERS: dict[str, Callable[[Path], Path]] = {
    "stored": archive(zipfile.ZIP_STORED),
    "deflated": archive(zipfile.ZIP_DEFLATED),
    "bzip2": archive(zipfile.ZIP_BZIP2),
    "lzma": archive(zipfile.ZIP_LZMA),
    "folder": folder_of_blobs,
    "hdf5": hdf5(False),
    "chunked hdf5": hdf5(True),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container(container: str, tmp_path: Path, capsys: Told) -> None:
    path = CONTAINERS[container](tmp_path)
    target, told = exported(path, tmp_path, capsys)
    assert "not kept" not in told
    assert ak.to_list(restored(opened(target)["one"])) == VALUES
    references = json.loads(target.read_text())["refs"]
    assert not [value for value in references.values() if isinstance(value, list) and "zip://" in value[0]]
    # What the archive stores as it is stays where it is.
    is_range = isinstance(references[_key(references, "-data/0")], list)
    assert is_range == (container in ("stored", "folder", "hdf5"))


def _key(references: dict[str, Any], end: str) -> str:
    return next(key for key in references if key.endswith(end))


def test_basic_arrays_and_plain_values(tmp_path: Path, capsys: Told) -> None:
    members: dict[str, bytes] = {}
    for name, root in {
        "big": lambda e: e.basic([1, -2], ">i4"),
        "coded": lambda e: e.basic([0.5], codecs=["zlib.decompress", "lzma.decompress"]),
        "number": lambda e: {"json": 0.4},
        "text": lambda e: {"json": "angular"},
    }.items():
        encoder = Encoder(name)
        members |= encoder.members(root(encoder))
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(members))
    group = opened(exported(path, tmp_path, capsys)[0])
    assert group["big"][...].tolist() == [1, -2]
    assert group["coded"][...].tolist() == [0.5]
    assert group["number"][...].item() == 0.4
    assert group["text"][...].item() == "angular"


@pytest.mark.parametrize("count", [8, 13, 16, 17, 23])
def test_large_chunks_are_cut_and_the_last_is_padded(
    count: int, tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtual_awkward0, "_CUT", 32)
    values = np.arange(2.0 * count).reshape(count, 2)
    encoder = Encoder("one")
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(encoder.members(encoder.basic(values, offset=8))))
    target, _ = exported(path, tmp_path, capsys)
    array = opened(target)["one"]
    assert array.chunks == (2, 2)
    assert array[...].tolist() == values.tolist()
    references = json.loads(target.read_text())["refs"]
    last = references[f"one/{(count - 1) // 2}.0"]
    assert isinstance(last, str) == bool(count % 2)
    with refbrowser.open(target, allow=[str(tmp_path)]) as dataset:
        assert dataset["/one"][...].tolist() == values.tolist()


def test_what_has_no_room_is_left_out_and_told(
    tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(zipfile.ZIP_DEFLATED)(tmp_path)
    monkeypatch.setitem(LIMITS.__dict__, "inlined_members", 8)
    target, told = exported(path, tmp_path, capsys)
    assert "inlined_members" in told
    group = opened(target)["one"]
    assert "awkward_form" not in group.attrs


def test_damaged_members_hide_no_others(tmp_path: Path, capsys: Told) -> None:
    encoder = Encoder("one")
    data = zipped(encoder.members(make(encoder)), methods=zipfile.ZIP_DEFLATED)
    path = tmp_path / "x.awkd"
    at = data.index(b"one-")
    path.write_bytes(data[: at + 12] + bytes([data[at + 12] ^ 0xFF]) + data[at + 13 :])
    target, told = exported(path, tmp_path, capsys)
    assert "cannot be read and is left out" in told
    references = json.loads(target.read_text())["refs"]
    assert sum(key.endswith("-data/0") for key in references) >= 2


def test_one_array_of_several(tmp_path: Path, capsys: Told) -> None:
    members: dict[str, bytes] = {}
    for name in ("a", "b"):
        encoder = Encoder(name)
        members |= encoder.members(encoder.jagged([1, 2], [1, 2, 3]))
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(members))
    target, _ = exported(path, tmp_path, capsys, "--array", "/b")
    assert ak.to_list(restored(opened(target)["b"])) == [[1], [2, 3]]
    assert not [key for key in json.loads(target.read_text())["refs"] if key.startswith("a/")]


def test_arrays_without_a_form_are_told(tmp_path: Path, capsys: Told) -> None:
    encoder = Encoder("one")
    root = encoder.make("SparseArray", 5, encoder.basic([1]), encoder.basic([7]))
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(encoder.members(root)))
    target, told = exported(path, tmp_path, capsys)
    assert "without awkward_form" in told
    assert sorted(opened(target)["one"].attrs) == ["awkward0_name", "awkward0_schema", "awkward_length"]


def test_counts_that_are_no_lengths_make_no_offsets(tmp_path: Path, capsys: Told) -> None:
    encoder = Encoder("one")
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(encoder.members(encoder.jagged([1, -1], [1.0]))))
    target, told = exported(path, tmp_path, capsys)
    assert "without awkward_form" in told
    assert "awkward_form" not in opened(target)["one"].attrs


@pytest.mark.long
@pytest.mark.skipif(not DATA.exists(), reason="the sample files are not here")
@pytest.mark.parametrize("name", ["mini.hepmc", "mini_particles"])
def test_the_real_files(name: str, tmp_path: Path, capsys: Told) -> None:
    target, told = exported(DATA / f"{name}.awkd", tmp_path, capsys)
    assert "not kept" not in told
    group = opened(target)
    expected = json.loads((DATA / f"{name}.expected.json").read_text())
    for key, facts in expected.items():
        found = group[key]
        if "scalar" in facts:
            assert found[...].item() == facts["scalar"]
            continue
        array = ak.from_numpy(found[...]) if isinstance(found, zarr.Array) else restored(found)
        assert str(array.type) == facts["type"], key
        if "sum" in facts:
            flat = ak.to_numpy(ak.flatten(array, axis=None)).astype(float)
            assert len(flat) == facts["flat_length"]
            assert np.isclose(flat[np.isfinite(flat)].sum(), facts["sum"], rtol=1e-9), key


def test_a_field_brings_the_array_that_it_is_a_part_of(tmp_path: Path, capsys: Told) -> None:
    encoder = Encoder("one")
    path = tmp_path / "x.awkd"
    path.write_bytes(zipped(encoder.members(make(encoder))))
    target, told = exported(path, tmp_path, capsys, "--array", "/one/lists")
    assert "all of /one is kept" in told
    assert ak.to_list(restored(opened(target)["one"])) == VALUES


def test_rows_of_nested_values_cannot_be_chosen(tmp_path: Path, capsys: Told) -> None:
    path = archive(zipfile.ZIP_STORED)(tmp_path)
    arguments = ["export", str(path), str(tmp_path / "t.json"), "--to", "refs-v1", "--array", "/one[0:2]"]
    assert main(arguments) == 2
    assert "nested" in capsys.readouterr().err
