"""Icechunk repositories held against what should be there: months, another branch, a file beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expected_sets import days

import refbrowser
from refbrowser.cli import main


@pytest.fixture
def repository(tmp_path: Path) -> Any:
    """A repository of daily values, in which March 2015 is a hole, and a branch that has less."""
    icechunk, zarr = pytest.importorskip("icechunk"), pytest.importorskip("zarr")
    icechunk.set_logs_filter("error")
    made = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
    times = np.array(days("2015-01-01", "2015-12-31"), "<i4")
    writing = made.writable_session("main")
    group = zarr.group(store=writing.store)
    time = group.create_array(
        "time", shape=times.shape, chunks=times.shape, dtype="<i4", dimension_names=["time"]
    )
    time.attrs.update({"units": "days since 2000-01-01", "calendar": "standard"})
    time[:] = times
    values = group.create_array(
        "t2m", shape=(365, 2), chunks=(1, 2), dtype="<f4", fill_value=0, dimension_names=["time", "x"]
    )
    values[:59], values[90:] = 1, 2
    first = writing.commit("all but March")
    made.create_branch("side", first)
    writing = made.writable_session("side")
    more = zarr.open_group(writing.store)["t2m"]
    more[59:61] = 3
    writing.commit("two days of March")
    return made


@pytest.mark.slow
def test_months_that_are_holes(repository: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "repo")
    assert main(["audit", "--expect", "every month from 2015 to 2015", path]) == 2
    assert "/t2m: 1 of 12 months missing: 2015-03" in capsys.readouterr().out
    result = refbrowser.audit(path, expect="every day from 2015 to 2015 of t2m")
    assert [each.missing for each in result.expected] == [31]
    assert len(result.marks.of("/t2m")["expected-missing"]) == 31


@pytest.mark.slow
def test_a_branch_is_held_against_another(
    repository: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "repo")
    assert main(["audit", path, "--expect", "branch=side"]) == 2
    out = capsys.readouterr().out
    assert "/t2m: 2 of 336 chunks missing: rows 59 to 60 (2015-03-01 to 2015-03-02)" in out
    assert main(["audit", path, "--branch", "side", "--expect", "branch=main"]) == 0
    assert "2 chunks not expected: rows 59 to 60" in capsys.readouterr().out
    assert main(["audit", path, "--expect", "branch=nowhere"]) == 2
    assert "there is no branch 'nowhere'" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_beside_a_repository_is_found(
    repository: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "repo"
    assert main(["expect", str(path)]) == 0
    assert "now: /t2m: 31 of 365 days missing: 2015-03" in capsys.readouterr().out
    said = json.loads((tmp_path / "repo.expect.json").read_text())
    assert said["expect"]["axes"][0]["step"] == "day"
    assert main(["audit", str(path)]) == 2
    assert "/t2m: 31 of 365 days missing: 2015-03" in capsys.readouterr().out
