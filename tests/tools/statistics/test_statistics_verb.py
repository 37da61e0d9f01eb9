"""The verb `statistics`: what it prints, and how it ends where chunks are lost."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from region_grids import GridDocument

from refbrowser.cli.program import main


@pytest.fixture
def path(tmp_path: Path) -> str:
    grid = GridDocument()
    grid.add_map(np.linspace(-80, 80, 9), np.arange(0.0, 360, 40))
    values = np.arange(2 * 81.0).reshape(2, 9, 9)
    grid.add("a", values, ["time", "lat", "lon"], {"units": "K"}, (1, 9, 9), failed=[(1, 0, 0)])
    file = tmp_path / "grid.json"
    file.write_text(json.dumps(grid.document))
    return str(file)


def test_numbers_are_those_of_numpy_and_a_lost_chunk_is_told(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["statistics", path, "/a", "--region", "lat 0..40", "--quantiles", "50", "--along", "time", "--json"]
    )
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert code == 4
    assert "27 elements could not be read" in printed.err
    values = np.arange(81.0).reshape(9, 9)[4:7]
    weights = np.cos(np.radians([0, 20, 40]))
    assert (found["valid"], found["failed"], found["chunks_failed"]) == (27, 27, 1)
    assert found["mean"] == values.mean()
    assert found["quantiles"] == [{"part": 0.5, "value": np.median(values), "error": 0.0}]
    assert found["weighted"]["mean"] == pytest.approx(np.average(values.mean(axis=1), weights=weights))
    assert found["minimum"]["index"] == [0, 4, 0]
    assert found["series"]["valid"] == [27, 0]
    assert found["series"]["lost"] == [0, 27]
    assert found["series"]["mean"][1] is None


def test_the_lines_say_how_values_were_weighted(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["statistics", path, "/a", "--select", "0,:,:"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "/a [K]"
    assert "Weighted by the cosine of latitude" in lines
    assert any(line.split()[:2] == ["with", "a"] and line.endswith("81") for line in lines)


@pytest.mark.parametrize("options", [("--region", "lat"), ("--along", "depth"), ("--quantiles", "101")])
def test_what_cannot_be_meant_is_told(path: str, options: tuple[str, str]) -> None:
    assert main(["statistics", path, "/a", *options]) == 2


@pytest.mark.parametrize("region", ["lat 0..40", "polygon(0 0, 90 0, 90 40)"])
def test_lost_coordinates_are_told_not_taken_for_none(
    region: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(Path(path).read_text())
    document["refs"]["lat/0"] = ["gone.bin", 0, 72]
    Path(path).write_text(json.dumps(document))
    assert main(["statistics", path, "/a", "--select", "0,:,:"]) == 0
    assert "the coordinates lat cannot be read: there is no such file" in capsys.readouterr().out
    assert main(["statistics", path, "/a", "--select", "0,:,:", "--region", region]) == 4
    assert "there is no such file" in capsys.readouterr().err


def test_words_of_a_file_stay_in_their_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(Path(path).read_text())
    document["refs"]["a/.zattrs"] = document["refs"]["a/.zattrs"].replace('"K"', '"K\\\\nmean 5"')
    Path(path).write_text(json.dumps(document))
    assert main(["statistics", path, "/a", "--select", "0,:,:"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == r"/a [K\nmean 5]"
