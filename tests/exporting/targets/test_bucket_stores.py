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
        return {
            path.relative_to(target).as_posix(): path.read_bytes()
            for path in target.rglob("*")
            if path.is_file()
        }

    def objects(self, name: str) -> dict[str, bytes]:
        return self.server.objects(self.url(name))


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
