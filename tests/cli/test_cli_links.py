"""Links where a verb takes a path and an array: they mean what is given with ARRAY and ``--select``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from refbrowser import sample
from refbrowser.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sample, where commands run."""
    monkeypatch.chdir(tmp_path)
    sample()
    return tmp_path


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "part", ["0,90,180:184", "time=2024-03,lat=40.5,lon=-179.5:-177.5", "time@-1,lat@0,lon@0:2"]
)
def test_read_and_plan(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("read", "plan"):
        apart = output(capsys, verb, "sea_surface.json", "/ocean/sst", "--select", part, "--json")
        assert output(capsys, verb, f"sea_surface.json::/ocean/sst[{part}]", "--json") == apart
        assert output(capsys, verb, "sea_surface.json::/ocean/sst", "--select", part, "--json") == apart


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    apart = output(capsys, "explain", "sea_surface.json", "--array", "/ocean/sst", "--index", "2,130,0")
    for part in ("2,130,0", "2:3,130,0", "time=2024-03,lat=40.5,lon=-179.5"):
        assert output(capsys, "explain", f"sea_surface.json::/ocean/sst[{part}]") == apart
    assert output(capsys, "explain", "sea_surface.json::/ocean/sst", "--index", "2,130,0") == apart


def test_info_shows_what_is_below(capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads(output(capsys, "info", "sea_surface.json", "--json"))
    ocean = json.loads(output(capsys, "info", "sea_surface.json::/ocean", "--json"))
    assert list(ocean["groups"]) == ["/ocean"]
    assert ocean["arrays"] == {path: each for path, each in whole["arrays"].items() if path[:7] == "/ocean/"}
    one = json.loads(output(capsys, "info", "sea_surface.json::/ocean/sst[0]", "--json"))
    assert (list(one["groups"]), list(one["arrays"])) == ([], ["/ocean/sst"])
    text = output(capsys, "info", "sea_surface.json::/ocean/sst")
    assert "  /ocean/sst  <i2" in text
    assert "/ocean/lat" not in text
    assert output(capsys, "info", "sea_surface.json::/") == output(capsys, "info", "sea_surface.json")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["read", "sea_surface.json"], "give an array"),
        (["read", "sea_surface.json::/ocean/sst", "/ocean/sst"], "given twice"),
        (["read", "sea_surface.json::/ocean/sst[0]", "--select", "0"], "given twice"),
        (["read", "sea_surface.json::/ocean/sst[99]"], "out of bounds"),
        (["read", "sea_surface.json::/ocean/nothing"], "there is no"),
        (["plan", "sea_surface.json::/ocean/sst[0]", "--cost"], "of no use with --cost"),
        (["explain", "sea_surface.json::/ocean/sst[0,:,0]"], "is not one element"),
        (["explain", "sea_surface.json::/ocean/sst", "ocean/sst/0.0.0"], "give either"),
        (["explain", "sea_surface.json::/ocean/sst[0,0,0]", "--index", "0,0,0"], "given twice"),
        (["info", "sea_surface.json::/nothing"], "there is no"),
        (["read", "refbrowser:sea_surface.json%3A%3A/ocean/sst"], "neither a URL nor a whole path"),
    ],
)
def test_what_fits_together(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_names_of_files_with_marks_and_brackets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    apart = output(capsys, "read", "sea_surface.json", "/ocean/lat", "--select", "0:3", "--json")
    (folder / "odd::").mkdir()
    for name in ("a[0].json", "a::b.json"):
        shutil.copy("sea_surface.json", name)
        assert output(capsys, "read", f"{name}::/ocean/lat[0:3]", "--json") == apart
        assert output(capsys, "read", name, "/ocean/lat", "--select", "0:3", "--json") == apart
    url = f"refbrowser:{folder}/a%5B0%5D.json::/ocean/lat%5B0:3%5D"
    assert output(capsys, "read", url, "--json") == apart
