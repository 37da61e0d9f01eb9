"""``refbrowser.plan_export``: an export is estimated, carried out and checked as it was planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.errors import RefbrowserError


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return refbrowser.sample()


def test_nothing_is_written_before_it_is_carried_out(sample: str) -> None:
    with refbrowser.open(sample) as dataset:
        arrays = {"/ocean/sst": "time=2024-03", "/ocean/lat": ...}
        planned = refbrowser.plan_export(dataset, "a.zarr", format="zarr-v2", arrays=arrays)
        estimate = planned.estimate()
        assert not Path("a.zarr").exists()
        with pytest.raises(RefbrowserError, match="does not exist"):
            planned.check()
        told: list[Any] = []
        report = planned.write(told=told.append)
        assert told == [estimate]
        assert (report.chunks, report.arrays) == (estimate.chunks, 2)
        with refbrowser.open("a.zarr") as written:
            assert written["/ocean/sst"].shape == dataset["/ocean/sst"][2:3].shape
        with pytest.raises(FileExistsError):
            planned.write()
        with pytest.raises(RefbrowserError, match="not an option"):
            refbrowser.plan_export(dataset, "b", format="zarr-v2", inline=3)


def test_a_plan_refuses_stale_files(sample: str) -> None:
    refbrowser.lock(sample)
    data = next(Path("data").glob("sst*01.dat"))
    data.write_bytes(data.read_bytes() + b"more")
    with refbrowser.open(sample, stale="allow") as dataset:
        planned = refbrowser.plan_export(dataset, "a.zarr", format="zarr-v2", arrays=["/ocean/sst"])
        with pytest.raises(RefbrowserError):
            planned.refusing_stale().write()
        assert planned.write().arrays == 1


def test_coordinates_are_cut_as_the_array_is(sample: str) -> None:
    with refbrowser.open(sample) as dataset:
        arrays = {"/ocean/sst": "time=2024-03..2024-05,lat=40..60", "/ocean/lat": ..., "/ocean/time": ""}
        refbrowser.export(dataset, "a.zarr", format="zarr-v3", arrays={**arrays, "/ocean/lon": "lon@0:3"})
        with refbrowser.open("a.zarr") as written:
            assert written["/ocean/lat"][...].tolist() == dataset["/ocean/lat"][130:150].tolist()
            assert written["/ocean/time"].shape == (3,)
            assert written["/ocean/lon"].shape == (3,)
