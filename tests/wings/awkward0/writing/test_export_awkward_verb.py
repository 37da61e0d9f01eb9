"""``refbrowser export --to awkward0`` as a user calls it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from zarr_versions import put

import refbrowser
from refbrowser.cli import main
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing


@pytest.fixture
def source(tmp_path: Path) -> str:
    group = zarr.open_group(tmp_path / "s.zarr", mode="w", zarr_format=2)
    put(group, "pt", np.arange(5000, dtype="i4"))
    put(group, "eta", np.arange(3.0))
    return str(tmp_path / "s.zarr")


def test_arrays_are_saved_added_and_removed(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "t.awkd")
    assert main(["export", source, str(tmp_path / "t"), "--to", "awkward0", "--array", "/pt"]) == 0
    assert "t.awkd: 1 array, 2 blobs" in capsys.readouterr().out
    more = ["--array", "/eta", "--name", "mine", "--append", "--json"]
    assert main(["export", source, target, "--to", "awkward0", *more]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] == 2
    with zipfile.ZipFile(target) as file:
        assert set(file.namelist()) == {"pt.json", "pt-0.raw", "mine.json", "mine-0.raw"}
        # The usual policy packs big arrays of integers.
        assert file.getinfo("pt-0.raw").file_size < 10_000
    assert main(["export", target, target, "--to", "awkward0", "--delete-array", "pt"]) == 0
    with zipfile.ZipFile(target) as file:
        assert set(file.namelist()) == {"mine.json", "mine-0.raw"}


def test_options_spell_names_and_compress(source: str, tmp_path: Path) -> None:
    options = ["--delimiter", "/", "--suffix", "", "--schema-suffix", ".s", "--codec", "none"]
    assert (
        main(["export", source, f"{tmp_path}/t", "--to", "awkward0", "--container", "folder", *options]) == 0
    )
    files = {str(each.relative_to(tmp_path / "t")) for each in (tmp_path / "t").rglob("*") if each.is_file()}
    assert files == {"pt.s", "pt/0", "eta.s", "eta/0"}
    assert (tmp_path / "t" / "pt" / "0").stat().st_size == 20_000


@pytest.mark.parametrize(
    "options",
    [
        ["--to", "awkward0", "--codec", "pickle"],
        ["--to", "awkward0", "--container", "tar"],
        ["--to", "awkward0", "--append", "--force"],
        ["--to", "awkward0", "--chunks", "auto"],
        ["--to", "awkward0", "--resume"],
        ["--to", "zarr-v2", "--append"],
        ["--to", "zarr-v2", "--name", "x"],
    ],
)
def test_options_without_meaning_are_refused(
    source: str, tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", source, str(tmp_path / "t.awkd"), *options]) == 2
    assert capsys.readouterr().err.startswith("refbrowser: error[E_USAGE]")
    assert [each.name for each in tmp_path.iterdir()] == ["s.zarr"]


def test_an_estimate_writes_nothing(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", source, str(tmp_path / "t"), "--to", "awkward0", "--estimate"]) == 0
    assert "4 blobs" in capsys.readouterr().out
    assert [each.name for each in tmp_path.iterdir()] == ["s.zarr"]


def test_programs_save_with_the_same_options(source: str, tmp_path: Path) -> None:
    writing = Awkward0Writing(name="mine", suffix=".bin", codec=("none",))
    report = refbrowser.export(source, tmp_path / "t", format="awkward0", arrays=["/pt"], options=writing)
    assert report.target == str(tmp_path / "t.awkd")
    with zipfile.ZipFile(tmp_path / "t.awkd") as file:
        assert set(file.namelist()) == {"mine.json", "mine-0.bin"}
