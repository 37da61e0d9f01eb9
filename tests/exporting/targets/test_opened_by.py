"""Stores whose path zarr-python takes for something else: the lines that open them are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.cli.program import main

SAMPLE = str(Path(__file__).parents[3] / "resources" / "sample" / "sea_surface.json")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a#b.zarr", {"format": "zarr-v3"}),
        ("it's #1.zarr", {"format": "zarr-v2"}),
        ("a#b.zip", {"format": "zarr-v3"}),
        ("a#b.zip", {"format": "zarr-v2", "zip_folder": "inner"}),
        ("a#b.zarr", {"format": "nczarr"}),
    ],
)
def test_a_path_with_a_hash_is_opened_by_the_lines_that_are_told(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    with refbrowser.open(SAMPLE) as dataset:
        report = refbrowser.export(dataset, tmp_path / name, arrays=["/ocean/lat"], **options)
    names: dict[str, Any] = {}
    exec("\n".join(report.opened_by), names)
    assert names["root"]["ocean/lat"].shape == (180,)


@pytest.mark.slow
def test_other_paths_need_no_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--to", "zarr-v3", "--array", "/ocean/lat"]
    assert main(["export", SAMPLE, str(tmp_path / "a.zarr"), *chosen]) == 0
    assert "zarr.open" not in capsys.readouterr().out
    assert main(["export", SAMPLE, str(tmp_path / "a#.zarr"), *chosen]) == 0
    assert f"root = zarr.open(LocalStore({str(tmp_path / 'a#.zarr')!r}" in capsys.readouterr().out
