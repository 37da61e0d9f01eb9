"""Stores that are written to object stores: on real servers, object for object as they are in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zarr
from servers.object_servers import ObjectServer

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.request import ExportReport, ExportRequest
from refbrowser.exporting.targets.options import StoreOptions
from refbrowser.io.cancel import CancelToken

KINDS = ("zarr-v2", "zarr-v3", "zarr-v3-draft", "nczarr")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source") / "source.zarr"
    root = zarr.open_group(str(folder), mode="w", zarr_format=2, attributes={"title": "a test"})
    a = root.create_array("a", shape=(20, 30), chunks=(10, 10), dtype="<f4")
    a[:] = np.arange(600, dtype="<f4").reshape(20, 30)
    a.attrs.update({"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]})
    b = root.create_group("sub").create_array("b", shape=(9,), chunks=(4,), dtype="<i2")
    b[:] = np.arange(9)
    return folder


class Writing:
    """Exports of one dataset to a bucket of its own."""

    def __init__(self, server: ObjectServer, source: Path, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.bucket = server.new_bucket()
        self.dataset = self.open(source)

    def open(self, source: Path) -> Dataset:
        return open_dataset(
            OpenRequest(str(source), storage_options=tuple(self.server.settings(self.bucket)))
        )

    def url(self, name: str) -> str:
        return f"{self.bucket}/{name}"

    def export(self, name: str, kind: str, token: CancelToken | None = None, **asked: object) -> ExportReport:
        request = ExportRequest(self.url(name), kind, **asked)  # type: ignore[arg-type]
        return run_export(self.dataset, request, JobControl(token) if token else None)

    def in_folder(self, kind: str, **asked: object) -> dict[str, bytes]:
        """Return the files that the same export makes in a folder."""
        target = self.folder / f"local-{kind}"
        run_export(self.dataset, ExportRequest(str(target), kind, force=True, **asked))  # type: ignore[arg-type]
        return files_of(target)

    def objects(self, name: str) -> dict[str, bytes]:
        return self.server.objects(self.url(name))


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def writing(server: ObjectServer, source: Path, folder: Path, patch: pytest.MonkeyPatch) -> Writing:
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    for name, value in server.environment.items():
        patch.setenv(name, value)
    return Writing(server, source, folder)


@pytest.fixture
def s3(
    s3_server: ObjectServer, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Writing]:
    made = writing(s3_server, source, tmp_path, monkeypatch)
    yield made
    made.dataset.session.close()


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_stores_have_the_objects_of_folders(
    scheme: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    made = writing(request.getfixturevalue(f"{scheme}_server"), source, tmp_path, monkeypatch)
    for kind in KINDS if scheme == "s3" else ("zarr-v3",):
        report = made.export(f"{kind}.zarr", kind)
        assert made.objects(f"{kind}.zarr") == made.in_folder(kind)
        assert report.verified == report.chunks == 9
        assert made.export(f"{kind}.zarr", kind, resume=True).verified == 9
    assert not list((tmp_path / "state" / "refbrowser" / "exports").iterdir())
    made.dataset.session.close()


def test_xarray_reads_what_was_written(s3: Writing) -> None:
    import xarray

    made = s3
    made.export("x.zarr", "zarr-v3", options=StoreOptions(shards=Sides.from_text("20,20")))
    options = {"key": "x", "secret": "y", "endpoint_url": made.server.endpoint}
    found = xarray.open_zarr(made.url("x.zarr"), storage_options=options, consolidated=False)
    assert np.array_equal(found["a"].values, np.arange(600, dtype="f4").reshape(20, 30))


def test_reference_documents_in_buckets(s3: Writing) -> None:
    import fsspec

    s3.export("store.zarr", "zarr-v2")
    settings = tuple(s3.server.settings(s3.bucket))
    with open_dataset(OpenRequest(s3.url("store.zarr"), storage_options=settings)) as dataset:
        for name, kind in (
            ("doc.json", "refs-v1"),
            ("old.json.zst", "refs-v0"),
            ("tables.parq", "refs-parquet"),
        ):
            local = s3.folder / name
            run_export(dataset, ExportRequest(str(local), kind))
            is_folder = local.is_dir()
            expected = (
                files_of(local) if is_folder else {s3.url(name).removeprefix("s3://"): local.read_bytes()}
            )
            for force in (False, True):
                report = run_export(dataset, ExportRequest(s3.url(name), kind, force=force))
                assert not any("it names files of this computer" in str(loss) for loss in report.losses)
                assert s3.objects(name) == expected
            with pytest.raises(RefbrowserError, match="there already"):
                run_export(dataset, ExportRequest(s3.url(name), kind))
            request = OpenRequest(s3.url(name), storage_options=settings)
            if is_folder:
                # Taken for a store it would have no chunks, which read as fill values.
                with pytest.raises(RefbrowserError, match="the parquet form"):
                    open_dataset(request)
                continue
            with open_dataset(request) as opened:
                assert opened["/sub/b"][:].tolist() == list(range(9))
    options = {"key": "x", "secret": "y", "endpoint_url": s3.server.endpoint}
    document = fsspec.filesystem(
        "reference",
        fo=s3.url("doc.json"),
        target_options=options,
        remote_protocol="s3",
        remote_options=options,
        simple_templates=False,
    )
    assert document.cat("a/1.2") == s3.server.get(s3.url("store.zarr/a/1.2"))
    # What lies on this computer nobody else reads.
    report = s3.export("local.json", "refs-v1")
    assert any("it names files of this computer" in str(loss) for loss in report.losses)
