"""Icechunk repositories, as the library itself, zarr-python and xarray read them."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from servers.google_xml_server import GoogleXmlServer
from servers.object_servers import ObjectServer
from zarr.storage import LocalStore

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.folder import partial_of
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import Cancelled
from refbrowser.io.origins import parse_storage_options
from refbrowser.wings.icechunk.writing.commit_options import CommitOptions
from refbrowser.wings.icechunk.writing.containers import chunk_location, containers_of
from refbrowser.wings.icechunk.writing.icechunk_target import IcechunkTarget
from refbrowser.wings.icechunk.writing.repository_place import RepositoryPlace

icechunk = pytest.importorskip("icechunk")
xarray = pytest.importorskip("xarray")

A = np.arange(600, dtype=">f4").reshape(20, 30)
B = np.arange(9, dtype="<i2")


def store_in(folder: Path) -> Path:
    """Write a store whose arrays Zarr v3 can have as they are, in a folder of an awkward name."""
    path = folder / "da ta#é" / "source.zarr"
    # (Of a text, newer versions of zarr would take what follows "#" for something else.)
    root = zarr.open_group(LocalStore(path), mode="w", zarr_format=2, attributes={"title": "a test"})
    a = root.create_array("a", shape=A.shape, chunks=(10, 10), dtype=A.dtype, fill_value=-1)
    a[:] = A
    a.attrs.update({"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]})
    b = root.create_group("sub").create_array("b", shape=B.shape, chunks=(4,), dtype=B.dtype, fill_value=0)
    b[:] = B
    b.attrs["_ARRAY_DIMENSIONS"] = ["t"]
    return path


def document_in(folder: Path, store: Path) -> Path:
    """Write a document with a template: one chunk of it inline, one missing, the others ranges."""
    refs: dict[str, Any] = {}
    for path in (each for each in store.rglob("*") if each.is_file()):
        key = path.relative_to(store).as_posix()
        if path.name.startswith("."):
            refs[key] = path.read_text()
        elif key == "a/0.0":
            refs[key] = "base64:" + base64.b64encode(path.read_bytes()).decode()
        elif key != "a/1.1":
            refs[key] = ["{{u}}/" + key, 0, path.stat().st_size]
    target = folder / "refs.json"
    place = store.relative_to(folder).as_posix()
    target.write_text(json.dumps({"version": 1, "templates": {"u": place}, "refs": refs}))
    return target


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_in(tmp_path)


@pytest.fixture
def document(tmp_path: Path, store: Path) -> Path:
    return document_in(tmp_path, store)


def opened(lines: tuple[str, ...]) -> dict[str, Any]:
    """Run the lines that a report gives."""
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    return names


def types_of(session: Any, path: str, coords: Iterator[tuple[int, ...]]) -> list[str]:
    return [str(session.chunk_type(path, each)).rpartition(".")[2].upper() for each in coords]


@pytest.mark.slow
def test_references_stay_references(tmp_path: Path, document: Path, store: Path) -> None:
    expected = A.copy()
    expected[10:20, 10:20] = -1
    for source, values in ((document, expected), (store, A)):
        target = tmp_path / f"{source.stem}.icechunk"
        report = refbrowser.export(source, target, format="icechunk")
        assert report.missing == (source == document)
        assert report.chunks == 9 - report.missing
        assert (report.arrays, report.written_bytes, report.skipped) == (2, 0, ())
        told = " ".join(str(loss) for loss in report.losses)
        assert ("templates are written out" in told and "relative file names" in told) == (source == document)
        names = opened(report.opened_by)
        dataset, session = names["dataset"], names["session"]
        # In Zarr v2 the fill value marks what is missing, for xarray; in v3 an attribute does.
        assert np.array_equal(dataset["a"].values, np.where(values == -1, np.nan, values), equal_nan=True)
        assert dataset["a"].dims == ("y", "x")
        assert dataset.attrs == {"title": "a test"}
        assert dataset["a"].attrs["units"] == "m"
        sub = xarray.open_zarr(session.store, group="sub", consolidated=False)
        assert np.array_equal(sub["b"].values, np.where(B == 0, np.nan, B), equal_nan=True)
        kinds = types_of(session, "/a", iter([(0, 0), (0, 1), (1, 1)]))
        inline = {"INLINE", "NATIVE"}
        if source == document:
            assert kinds[0] in inline
            assert kinds[1:] == ["VIRTUAL", "UNINITIALIZED"]
            assert len(session.all_virtual_chunk_locations()) == 7
        else:
            assert kinds == ["VIRTUAL"] * 3
        assert not partial_of(str(target)).exists()
        with refbrowser.open(target, allow=[str(tmp_path)]) as ours:
            assert np.array_equal(ours["/a"][...], values)
        # What changes in the source is never read as if it were what was referred to.
        chunk = store / "a" / "0.1"
        before = chunk.stat().st_mtime
        os.utime(chunk, (time.time() + 100, before + 100))
        with pytest.raises(icechunk.IcechunkError, match="changed"):
            zarr.open_array(session.store, path="a", mode="r")[0, 10]
        os.utime(chunk, (before, before))


@pytest.mark.slow
def test_a_commit_is_the_atom(
    tmp_path: Path, document: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "r.icechunk"
    command = ["export", str(document), str(target), "--to", "icechunk"]

    def branches() -> dict[str, list[str]]:
        repository = icechunk.Repository.open(icechunk.local_filesystem_storage(str(target)))
        return {
            name: [each.message for each in repository.ancestry(branch=name)]
            for name in repository.list_branches()
        }

    # Of a new repository that fails nothing is left.
    with monkeypatch.context() as patch:
        patch.setattr(IcechunkTarget, "verify", _fails)
        with pytest.raises(RefbrowserError):
            refbrowser.export(document, target, format="icechunk")
    assert not target.exists()
    assert not partial_of(str(target)).exists()
    assert main([*command, "--message", "first"]) == 0
    out = capsys.readouterr().out
    assert "icechunk.Repository.open(" in out
    assert "containers_credentials" in out
    assert branches() == {"main": ["first", "Repository initialized"]}
    # Arrays are replaced by force only.
    assert main(command) == 7
    assert "--force" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(RepositoryPlace, "keep", _cancelled)
        with pytest.raises(Cancelled):
            refbrowser.export(document, target, format="icechunk", force=True)
    assert branches() == {"main": ["first", "Repository initialized"]}
    assert (
        main([*command, "--force", "--to-branch", "other", "--message", "second", "--array", "/sub/b"]) == 0
    )
    assert branches() == {
        "main": ["first", "Repository initialized"],
        "other": ["second", "first", "Repository initialized"],
    }
    # Who commits meanwhile is not undone.
    keep = RepositoryPlace.keep

    def slow(self: RepositoryPlace, session: Any, message: str) -> Any:
        reader = keep(self, session, message)
        repository = icechunk.Repository.open(icechunk.local_filesystem_storage(str(target)))
        theirs = repository.writable_session("main")
        zarr.create_group(theirs.store, path="theirs")
        theirs.commit("theirs")
        return reader

    monkeypatch.setattr(RepositoryPlace, "keep", slow)
    with pytest.raises(RefbrowserError) as raised:
        refbrowser.export(document, target, format="icechunk", force=True)
    assert raised.value.kind is ErrorKind.IO
    assert branches()["main"] == ["theirs", "first", "Repository initialized"]


@pytest.mark.slow
def test_what_is_recorded_is_kept_and_told_where_it_is_lost(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, again = tmp_path / "first.icechunk", tmp_path / "again.icechunk"
    refbrowser.export(store, first, format="icechunk")
    allow = [str(tmp_path)]
    with refbrowser.open(first, allow=allow) as dataset:
        for form in ("refs-parquet", "refs-v0", "refs-v1"):
            request = ExportRequest(str(tmp_path / form), form)
            told = [str(loss) for loss in estimate_export(dataset, request).losses]
            assert any("recorded of 9 objects are left out" in line for line in told), form
        assert any("recorded of 9" in str(loss) for loss in run_export(dataset, request).losses)
        # Into another repository it goes along.
        refbrowser.export(dataset, again, format="icechunk")
    command = ["export", str(first), str(tmp_path / "r.json"), "--to", "refs-v1", "--allow", str(tmp_path)]
    assert main(command) == 0
    assert "recorded of 9 objects" in capsys.readouterr().err
    chunk = store / "a" / "0.1"
    later = chunk.stat().st_mtime + 100
    os.utime(chunk, (later, later))
    for path in (first, again):
        with refbrowser.open(path, allow=allow) as dataset:
            with pytest.raises(RefbrowserError, match="differs from the one"):
                dataset["/a"][0, 10]
            # Otherwise what was recorded anew would make the other chunk the right one.
            with pytest.raises(RefbrowserError, match="differs from the one"):
                refbrowser.export(dataset, tmp_path / "stale.icechunk", format="icechunk")
            report = refbrowser.export(
                dataset, tmp_path / f"{path.stem}.skipped", format="icechunk", skip_bad=True
            )
            assert [error.kind for error in report.skipped] == [ErrorKind.SOURCE]
            assert report.missing == 1
    with refbrowser.open(store) as dataset:
        told = [str(loss) for loss in estimate_export(dataset, ExportRequest("x", "refs-v1")).losses]
    assert not any("recorded" in line for line in told)


def _fails(*_: object) -> int:
    raise RefbrowserError(ErrorKind.IO, "verification failed")


def _cancelled(*_: object) -> Any:
    raise Cancelled


def test_what_no_reference_gives_is_written(tmp_path: Path, store: Path) -> None:
    target = tmp_path / "part.icechunk"
    with open_dataset(OpenRequest(str(store))) as dataset:
        choice = ArrayChoice.of(dataset, "/a", "3:17,::2")
        request = ExportRequest(str(target), "icechunk", (choice,), options=CommitOptions(branch="new"))
        told = [str(loss) for loss in estimate_export(dataset, request).losses]
        assert any("its chunks are copied: references cannot express them" in line for line in told)
        report = run_export(dataset, request)
    names = opened(report.opened_by)
    assert np.array_equal(names["dataset"]["a"].values, A[3:17, ::2])
    assert names["session"].all_virtual_chunk_locations() == []
    assert report.written_bytes > 0
    # Something else is never replaced.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(RefbrowserError, match="not an Icechunk repository"):
        refbrowser.export(store, tmp_path / "other", format="icechunk", force=True)


def test_verification_finds_what_differs(
    tmp_path: Path, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = icechunk.VirtualChunkSpec

    def shifted(index: list[int], location: str, offset: int, *more: Any) -> Any:
        return made(index, location, offset + (index == [0, 1]), *more)

    monkeypatch.setattr(icechunk, "VirtualChunkSpec", shifted)
    with pytest.raises(RefbrowserError):
        refbrowser.export(document, tmp_path / "x.icechunk", format="icechunk")
    assert not (tmp_path / "x.icechunk").exists()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s3", pytest.param("abfs", marks=pytest.mark.long)])
def test_repositories_in_object_stores(
    scheme: str,
    tmp_path: Path,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    server: ObjectServer = request.getfixturevalue(f"{scheme}_server")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    bucket = server.new_bucket()
    settings = tuple(server.settings(bucket))
    # The source lies there, too: its chunks are referred to with the tags that the store gave them.
    with open_dataset(OpenRequest(str(store), storage_options=settings)) as dataset:
        run_export(dataset, ExportRequest(f"{bucket}/source.zarr", "zarr-v3"))
    with open_dataset(OpenRequest(f"{bucket}/source.zarr", storage_options=settings)) as dataset:
        report = run_export(dataset, ExportRequest(f"{bucket}/made", "icechunk"))
        again = run_export(dataset, ExportRequest(f"{bucket}/made", "icechunk", force=True))
    assert report.chunks == again.chunks == 9
    assert not report.losses
    names = opened(report.opened_by)
    assert len(names["session"].all_virtual_chunk_locations()) == 9
    assert np.array_equal(names["dataset"]["a"].values, A)
    assert [each.message for each in names["repository"].ancestry(branch="main")][2:] == [
        "Repository initialized"
    ]
    # The tag tells that a chunk was replaced.
    server.files.pipe_file(f"{bucket.partition('://')[2]}/source.zarr/a/c/0/0", b"\0" * 400)
    with pytest.raises(icechunk.IcechunkError, match="changed"):
        zarr.open_array(names["session"].store, path="a", mode="r")[0, 0]


@pytest.fixture
def google(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GoogleXmlServer]:
    """Run a service of Google, for which a key of one's own is in the environment."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives import serialization

    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "account.json"
    account = {"type": "service_account", "client_email": "a@example.org", "private_key_id": "1"}
    path.write_text(json.dumps({**account, "private_key": key.decode()}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with GoogleXmlServer() as server:
        yield server


@pytest.mark.slow
def test_repositories_in_buckets_of_google(tmp_path: Path, store: Path, google: GoogleXmlServer) -> None:
    key = os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
    settings = (f"gs://bucket:endpoint={google.endpoint}",)
    # Who is anonymous may not write: the library would look for a token elsewhere.
    with (
        open_dataset(OpenRequest(str(store), storage_options=settings)) as dataset,
        pytest.raises(RefbrowserError, match="anonymous"),
    ):
        run_export(dataset, ExportRequest("gs://bucket/made", "icechunk"))
    assert not google.objects
    for more in ("anonymous=false", f"profile={key}"):
        options = (*settings, f"gs://bucket:{more}")
        with open_dataset(OpenRequest(str(store), storage_options=options)) as dataset:
            report = run_export(dataset, ExportRequest("gs://bucket/made", "icechunk", force=True))
        assert report.chunks == 9
        names = opened(report.opened_by)
        assert np.array_equal(names["dataset"]["a"].values, A)
        assert len(names["session"].all_virtual_chunk_locations()) == 9
    assert len(list(names["repository"].ancestry(branch="main"))) == 3
    assert not any(b"private_key" in data for data, _ in google.objects.values())


@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs", "file", "https"])
def test_containers_and_the_lines_that_grant_them_are_what_the_library_takes(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = {
        "s3": ("s3://bucket/a.nc", "s3://bucket/"),
        "gs": ("gs://bucket/a.nc", "gs://bucket/"),
        "abfs": ("abfs://box@account.dfs.core.windows.net/a.nc", ""),
        "file": ("/data/a/b.nc", "file:///data/a/"),
        "https": ("https://example.org/x/a.nc", "https://example.org/"),
    }
    url, prefix = urls[scheme]
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=account;AccountKey=c2VjcmV0")
    for text in ("anonymous=true", "anonymous=false", "endpoint=http://127.0.0.1:9"):
        access = Access.for_nothing()
        location = access.locate(url)
        if location.origin.scheme in ("s3", "gs", "abfs"):
            access = replace(access, settings=parse_storage_options([f"{location.origin}:{text}"]))
        (container,) = containers_of([location], access)
        assert container.prefix == prefix or (scheme == "abfs" and container.prefix.startswith("abfs://"))
        assert chunk_location(location).startswith(container.prefix)
        config = icechunk.RepositoryConfig.default()
        store = container.store(icechunk)
        config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(container.prefix, store))
        granted = {container.prefix: container.granted(icechunk)}
        said = {container.prefix: eval(container.credentials(icechunk), {"icechunk": icechunk})}
        for credentials in (granted, said):
            icechunk.containers_credentials(credentials)
        assert "c2VjcmV0" not in f"{config!r} {store!r} {container.credentials(icechunk)}"


def test_locations_that_a_repository_can_hold() -> None:
    access = Access.for_nothing()
    for url, expected in (
        ("/data/a b/x%.nc", "file:///data/a%20b/x%25.nc"),
        ("s3://bucket/a?b#c", "s3://bucket/a%3Fb%23c"),
        ("https://example.org/a%20b.nc", "https://example.org/a%20b.nc"),
    ):
        assert chunk_location(access.locate(url)) == expected
    for url, why in (
        ("/a b/x%.nc", "plain name"),  # There is no folder below the root whose name needs no escapes.
        ("https://example.org:8443/a.nc", "port"),
        ("https://example.org/a.nc?token=1", "question mark"),
    ):
        with pytest.raises(RefbrowserError, match=why):
            chunk_location(access.locate(url))
