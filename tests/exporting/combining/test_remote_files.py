"""Files of servers and object stores as one: the numbers of the files, also when it goes on later."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from servers.http_server import HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.exporting.combining import combine as combining
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine
from refbrowser.exporting.combining.scan_sources import ScanTask
from refbrowser.exporting.making.made_references import MakeRequest, make

ROWS = 4


def written(path: Path, number: int, form: str) -> bytes:
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("time", ROWS)
        file.createDimension("x", 5)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2001-01-01"
        how = {"zlib": True, "chunksizes": (2, 5)} if form == "NETCDF4" else {}
        values = file.createVariable("v", "i4", ("time", "x"), **how)
        time[:] = np.arange(ROWS) + number * ROWS
        values[:] = np.arange(ROWS * 5).reshape(ROWS, 5) + 100 * number
    return path.read_bytes()


def expected(count: int) -> np.ndarray:
    return np.concatenate([np.arange(ROWS * 5).reshape(ROWS, 5) + 100 * number for number in range(count)])


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files that are looked at from now on."""
    found: list[str] = []
    scan: Callable[[ScanTask], object] = combining.scan

    def look(task: ScanTask) -> object:
        found.extend(map(os.path.basename, task.sources))
        return scan(task)

    monkeypatch.setattr(combining, "scan", look)
    return found


@pytest.mark.slow
def test_files_of_a_server_are_one(
    server: HttpServer, tmp_path: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for form, suffix in (("NETCDF3_CLASSIC", "nc3"), ("NETCDF4", "nc4")):
        urls = []
        for number in range(3):
            server.files[f"/{suffix}/{number}.nc"] = written(tmp_path / "one.nc", number, form)
            urls.append(server.url(f"/{suffix}/{number}.nc"))
        request = Combination(sources=tuple(urls), target=str(tmp_path / f"{suffix}.json"), concat=("time",))
        with monkeypatch.context() as patch:
            patch.setattr(combining, "forget_scans", lambda target: None)
            report = combine(request)
        assert (report.files, report.sizes, report.unread) == (3, {"time": 3 * ROWS}, 0)
        assert report.compared >= 6
        plain = Path(request.target).read_bytes()
        with refbrowser.open(request.target, allow=[server.origin]) as dataset:
            assert (dataset["/v"][:] == expected(3)).all()
        # What is there as it was is asked for its state alone; what has changed is looked at again.
        looked.clear()
        again = Combination(sources=tuple(urls), target=request.target, concat=("time",), resume=True)
        server.clear()
        with monkeypatch.context() as patch:
            patch.setattr(combining, "forget_scans", lambda target: None)
            assert combine(again).files == 3
        assert looked == []
        assert Path(request.target).read_bytes() == plain
        server.files[f"/{suffix}/1.nc"] += b"\0\0\0\0"
        combine(again)
        assert looked == ["1.nc"]


@pytest.mark.slow
def test_documents_of_a_server_are_one(server: HttpServer, tmp_path: Path) -> None:
    for number in range(3):
        data = written(tmp_path / f"{number}.nc", number, "NETCDF4")
        server.files[f"/data/{number}.nc"] = data
        source, target = str(tmp_path / f"{number}.nc"), str(tmp_path / f"{number}.json")
        make(MakeRequest(sources=(source,), target=target))
        told = json.loads(Path(target).read_text())
        told["templates"] = {"u": f"{number}.nc"}
        server.files[f"/data/{number}.json"] = json.dumps(told).encode()
    sources = tuple(server.url(f"/data/{number}.json") for number in range(3))
    target = str(tmp_path / "out.json")
    report = combine(Combination(sources=sources, target=target, concat=("time",)))
    assert (report.files, report.unread, report.compared > 5) == (3, 0, True)
    with refbrowser.open(target, allow=[server.origin]) as dataset:
        assert (dataset["/v"][:] == expected(3)).all()


@pytest.mark.slow
def test_objects_of_a_store_are_one(
    s3_server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    bucket = s3_server.new_bucket()
    urls = [f"{bucket}/{number}.nc" for number in range(3)]
    for number, url in enumerate(urls):
        form = "NETCDF4" if number != 1 else "NETCDF3_CLASSIC"
        s3_server.put(url, written(tmp_path / "one.nc", number, form))
    how = {"concat": ("time",), "storage_options": tuple(s3_server.settings(bucket)), "merge": True}
    target = str(tmp_path / "out.json")
    # A file without compression is none of these: it is told, and can be left out.
    request = Combination(sources=tuple(urls), target=target, leave_out=("odd",), **how)
    report = combine(request)
    assert [source for source, _ in report.left_out] == [urls[1]]
    assert (report.files, report.unread, report.compared > 3) == (2, 0, True)
    settings = tuple(s3_server.settings(bucket))
    with refbrowser.open(target, allow=[bucket], storage_options=settings) as dataset:
        assert (dataset["/v"][:ROWS] == expected(1)).all()
        assert (dataset["/v"][-ROWS:] == expected(3)[-ROWS:]).all()
    # Into the store, too.
    into = f"{bucket}/out.json"
    combine(Combination(sources=(urls[0], urls[2]), target=into, **how))
    with refbrowser.open(into, storage_options=settings) as dataset:
        assert (dataset["/v"][:ROWS] == expected(1)).all()
