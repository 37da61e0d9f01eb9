"""``read --compute``: what an expression says is read as arrays are; the manual lists all of the grammar."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import refbrowser
from refbrowser.cli import main
from refbrowser.model.expressions.functions import CONSTANTS, ELEMENT_FUNCTIONS, REDUCTIONS
from refbrowser.model.expressions.grammar import BY_POSITION, CONVERT, UNITS


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return refbrowser.sample()


def test_what_an_expression_says_is_read(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    with refbrowser.open(sample) as dataset:
        expected = refbrowser.compute(dataset, "mean(/ocean/sst, lat, lon)")[...]
        kelvin = refbrowser.compute(dataset, "/ocean/sst + 1")[2, :3, :4]
    assert main(["read", sample, "--compute", "mean(/ocean/sst, lat, lon)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == expected.tolist()
    arguments = ["--compute", "/ocean/sst + 1", "--select", "time@2,lat@0:3,lon@0:4", "-o", "a.npy"]
    assert main(["read", sample, *arguments]) == 0
    np.testing.assert_array_equal(np.load("a.npy"), kelvin)


def test_arrays_of_another_file_have_its_label(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "max(/ocean/sst - b::/ocean/sst)"
    assert main(["read", sample, "--compute", text, "--with", f"b={sample}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/ocean/sst", "--compute", "1"], "ARRAY is one more"),
        (["--compute", "/ocean/sst +"], "is missing here (character 13 of"),
        (["--compute", "b::/x", "--with", "b"], "is not LABEL=PATH"),
        (["--compute", "b::/x"], "there is no dataset 'b'"),
        (["--with", "b=c", "/ocean/sst"], "--with goes with --compute"),
    ],
)
def test_what_cannot_be_computed_ends_with_2(
    arguments: list[str], words: str, sample: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", sample, *arguments, "--json"]) == 2
    told = capsys.readouterr()
    assert words in told.out + told.err


def test_the_manual_lists_the_grammar() -> None:
    page = Path(refbrowser.__file__).parents[1] / "resources" / "manual" / "computing.md"
    table = re.findall(r"^\| (`.*?) \|", page.read_text(), re.MULTILINE)
    names = set(re.findall(r"[a-z_]\w*", " ".join(table)))
    known = {*ELEMENT_FUNCTIONS, *REDUCTIONS, *CONSTANTS, UNITS, CONVERT, BY_POSITION}
    assert known <= names


def test_a_number_of_very_many_values_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    array = {
        "zarr_format": 2,
        "shape": [10**6, 10**5],
        "chunks": [10**6, 10**5],
        "dtype": "|u1",
        "order": "C",
    }
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps({**array, "fill_value": 0, "compressor": None, "filters": None}),
    }
    (tmp_path / "large.json").write_text(json.dumps(refs))
    assert main(["read", str(tmp_path / "large.json"), "--compute", "mean(a)", "--json"]) != 0
    told = capsys.readouterr()
    assert "it is computed of 100000000000 values of '/a'" in told.out + told.err


def test_stale_files_of_every_dataset_are_told(
    sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    array = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1",
        "compressor": None, "filters": None, "fill_value": None, "order": "C",
    }  # fmt: skip
    for name in "ab":
        (tmp_path / name).write_bytes(bytes(4))
        refs = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array), "t/0": [name, 0, 4]}
        (tmp_path / f"{name}.json").write_text(json.dumps(refs))
        assert main(["lock", f"{name}.json"]) == 0
        (tmp_path / name).write_bytes(bytes(5))
    read = ["read", "a.json", "--compute", "t + other::/t", "--with", "other=b.json", "--stale", "allow"]
    capsys.readouterr()
    for arguments in (["--json"], ["-o", "t.csv"], ["-o", "t.nc"]):
        assert main([*read, *arguments]) == 0
        told = capsys.readouterr().err
        assert told.count("the file is not the one that was locked") == 2, arguments
