"""Stores in zip archives, as zarr-python, netCDF4 and `zip -r` write them; opened locally and over HTTP."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from servers.http_server import HttpServer

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.sniffing import FileKind, NotReferencesError
from refbrowser.formats.stores.zip import ZipReader
from refbrowser.io.archives.directory import read_directory

VALUES = np.arange(25 * 30, dtype="<f4").reshape(25, 30)
WANTED = np.full((40, 30), -1, "<f4")
WANTED[:25] = VALUES


def fill(store: Any, zarr_format: int) -> None:
    """Write /temp, of which three chunks are missing, and /sub/one."""
    group = zarr.create_group(store, zarr_format=zarr_format, attributes={"title": "made"})
    array = group.create_array("temp", shape=(40, 30), chunks=(10, 10), dtype="<f4", fill_value=-1)
    array[:25] = VALUES
    group.create_array("sub/one", shape=(3,), chunks=(3,), dtype="<i2")[:] = [1, 2, 3]


def checked(dataset: refbrowser.Dataset) -> None:
    assert sorted(dataset.arrays) == ["/sub/one", "/temp"]
    assert np.array_equal(dataset["/temp"][...], WANTED)
    assert dataset["/sub/one"][...].tolist() == [1, 2, 3]
    assert dataset.attrs["title"] == "made"


@pytest.fixture(params=[2, 3])
def zarr_format(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=[zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def method(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def path(tmp_path: Path, zarr_format: int, method: int) -> Path:
    made = tmp_path / "x.zarr.zip"
    store = zarr.storage.ZipStore(made, mode="w", compression=method)
    fill(store, zarr_format)
    store.close()
    return made


@pytest.fixture
def served(path: Path) -> Iterator[HttpServer]:
    with HttpServer({"/x.zarr.zip": path.read_bytes()}) as server:
        yield server


def test_what_zarr_python_writes(path: Path, zarr_format: int) -> None:
    with refbrowser.open(path) as dataset:
        checked(dataset)
        assert dataset.format == f"zarr-v{zarr_format}"
        assert dataset.document.store.container == "zip"
        assert not dataset.document.notes


def test_over_http_metadata_takes_few_requests(served: HttpServer) -> None:
    with refbrowser.open(served.url("/x.zarr.zip")) as dataset:
        # The size, the end with the directory, the metadata of the root, and all other metadata together.
        opening = served.request_count
        assert opening <= 5
        assert max(stop - start for start, stop in ranges(served)) < 70_000
        checked(dataset)
        assert served.request_count <= opening + 2


def ranges(server: HttpServer) -> list[tuple[int, int]]:
    return [each.range for each in server.requests if each.range and each.range[1] is not None]


def test_an_archive_is_known_by_its_content(path: Path) -> None:
    served = HttpServer({"/download": path.read_bytes()})
    with served as server, refbrowser.open(server.url("/download")) as dataset:
        checked(dataset)
    renamed = path.rename(path.with_name("store.bin"))
    for named in (renamed, f"file://{renamed}"):
        with refbrowser.open(named) as dataset:
            checked(dataset)


def test_a_leading_folder_as_zip_r_makes_it(tmp_path: Path, zarr_format: int) -> None:
    if shutil.which("zip") is None:
        pytest.skip("there is no program zip")
    folder = tmp_path / "in" / "data set.zarr"
    fill(folder, zarr_format)
    subprocess.run(["zip", "-qr", "../out.zip", folder.name], cwd=folder.parent, check=True)
    with refbrowser.open(tmp_path / "out.zip") as dataset:
        checked(dataset)
        assert dataset.document.store.folder == "data set.zarr/"


def test_what_netcdf_writes_under_one_folder(tmp_path: Path) -> None:
    """Builds of netCDF for Python cannot write zip files: the folder is zipped as netcdf-c would."""
    netcdf = pytest.importorskip("netCDF4")
    folder = tmp_path / "nc"
    with netcdf.Dataset(f"file://{folder}#mode=nczarr,file", "w") as made:
        made.createDimension("x", 6)
        made.createVariable("v", "f8", ("x",), chunksizes=(2,))[:] = np.arange(6.0)
    files = {
        f"nc/{each.relative_to(folder)}": each.read_bytes() for each in folder.rglob("*") if each.is_file()
    }
    target = tmp_path / "nc.zip"
    target.write_bytes(rezipped({"nc/": b"", **files}))
    with refbrowser.open(target) as dataset:
        assert dataset.format == "nczarr"
        assert dataset["/v"][...].tolist() == [0, 1, 2, 3, 4, 5]
        assert dataset["/v"].dimensions == ("x",)


def rezipped(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_names_that_templates_would_change(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    group = zarr.create_group(folder, zarr_format=2)
    array = group.create_array("a{{b}}{% c", shape=(4,), chunks=(2,), dtype="<i4")
    array[:] = [1, 2, 3, 4]
    files = {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    (tmp_path / "x.zip").write_bytes(rezipped(files))
    with refbrowser.open(tmp_path / "x.zip") as dataset:
        assert dataset["/a{{b}}{% c"][...].tolist() == [1, 2, 3, 4]


def test_what_is_wrong_with_members_is_told(path: Path, zarr_format: int) -> None:
    members = members_of(path.read_bytes())
    bad = "sub/one/.zarray" if zarr_format == 2 else "sub/one/zarr.json"
    members |= {"../up": b"1", bad: b"{broken"}
    path.write_bytes(rezipped(members))
    with refbrowser.open(path) as dataset:
        assert np.array_equal(dataset["/temp"][...], WANTED)
        assert any(finding.place.key == bad for finding in dataset.hierarchy.findings)
        stray = [finding for finding in dataset.document.notes if finding.place.key == "../up"]
        assert [finding.severity for finding in stray] == [Severity.WARNING]


def test_metadata_that_cannot_be_inflated_is_told_and_the_rest_opens(path: Path, zarr_format: int) -> None:
    data = bytearray(path.read_bytes())
    bad = "sub/one/.zarray" if zarr_format == 2 else "sub/one/zarr.json"
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        info = archive.getinfo(bad)
    data[info.header_offset + 30 + len(bad) + 8] ^= 0xFF
    path.write_bytes(data)
    with refbrowser.open(path) as dataset:
        assert np.array_equal(dataset["/temp"][...], WANTED)
        assert any(bad in finding.message for finding in dataset.document.notes)


@pytest.mark.parametrize("members", [{}, {"a.txt": b"1"}, {"x/a.txt": b"1", "y/b.txt": b"2"}])
def test_an_archive_without_a_store(tmp_path: Path, members: dict[str, bytes]) -> None:
    (tmp_path / "x.zip").write_bytes(rezipped(members))
    with pytest.raises(NotReferencesError) as caught:
        refbrowser.open(tmp_path / "x.zip")
    assert caught.value.found.kind is FileKind.ZIP
    assert ".zgroup" in caught.value.advice


def test_an_archive_that_was_cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(path)
    assert caught.value.kind is ErrorKind.FORMAT
    assert "zip" in caught.value.message


def test_another_flavour_can_be_chosen(path: Path, zarr_format: int) -> None:
    if zarr_format == 3:
        pytest.skip("only v2 may be read as NCZarr")
    with refbrowser.open(path, flavour="nczarr") as dataset:
        assert dataset.format == "nczarr"
        assert np.array_equal(dataset["/temp"][...], WANTED)


def test_a_missing_chunk_of_a_store_is_no_error_and_elsewhere_it_is(path: Path, tmp_path: Path) -> None:
    with refbrowser.open(path) as dataset:
        assert (dataset["/temp"][30:] == -1).all()
        text = json.loads(dataset.document.to_bytes())
    (tmp_path / "references.json").write_text(json.dumps(text))
    with refbrowser.open(tmp_path / "references.json") as dataset:
        assert np.array_equal(dataset["/temp"][:20], WANTED[:20])
        with pytest.raises(RefbrowserError, match="no member"):
            dataset["/temp"][30:]


def test_discovery_does_not_hold_the_folders_of_chunks() -> None:
    names = [f"a/c/{number}/0" for number in range(5000)]
    names += ["a/zarr.json", "zarr.json", "g/h/zarr.json", "data/root/x/c0/0", "top/meta/g.group.json"]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    found = read_directory(lambda start, stop: data.getvalue()[start:stop], len(data.getvalue()), "x.zip")
    reader = ZipReader(found, None, None)  # type: ignore[arg-type]
    assert reader.names("").folders == ["a", "data", "g", "top"]
    assert reader.names("").files == ["zarr.json"]
    assert (reader.names("a/").folders, reader.names("a/").files) == (["c"], ["zarr.json"])
    assert reader.names("a/c/").folders == []
    assert reader.names("data/").folders == ["root"]
    assert reader.names("top/meta/").files == ["g.group.json"]
    assert reader.names("nowhere/").folders == []


@pytest.mark.parametrize("octet", [b"0", b"7", b"/", b"\\", b"\xff"])
@pytest.mark.parametrize("damaged", ["directory", "header"])
def test_a_chunk_under_two_names_is_damage_and_not_missing(
    tmp_path: Path, damaged: str, octet: bytes
) -> None:
    path = tmp_path / "x.zip"
    with zarr.storage.ZipStore(path, mode="w") as store:
        fill(store, 2)
    data = bytearray(path.read_bytes())
    name = b"temp/1.2"
    at = data.rindex(name) if damaged == "directory" else data.index(name)
    data[at + len(name) - 1] = octet[0]
    path.write_bytes(data)
    with refbrowser.open(path) as dataset:
        assert any("name the member differently" in each.message for each in dataset.damage)
        with pytest.raises(RefbrowserError, match="name the member differently"):
            dataset["/temp"][10:20, 20:30]
        assert np.array_equal(dataset["/temp"][20:], WANTED[20:])
