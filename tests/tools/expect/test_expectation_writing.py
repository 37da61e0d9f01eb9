"""``expect``: what is written down, what of it is not there, and that audits find it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from expected_sets import months, refs_of, write_refs

import refbrowser
from refbrowser.cli import main


@pytest.fixture
def path(tmp_path: Path) -> Path:
    times = [*months("2015-01", "2015-04"), *months("2015-06", "2015-12")]
    return write_refs(tmp_path / "set.json", refs_of(times))


def test_what_is_learned_is_found_by_audits(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(path)]) == 0
    assert main(["expect", str(path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-3:] == [
        f"{path}.expect.json: what should be there:",
        "  every month from 2015-01 to 2015-12 of /t2m",
        "now: /t2m: 1 of 12 months missing: 2015-05",
    ]
    assert main(["audit", str(path)]) == 2
    assert "/t2m: 1 of 12 months missing: 2015-05" in capsys.readouterr().out


def test_what_is_said_is_written(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "every month from 2015-06 to 2015-12 of t2m"
    assert main(["expect", str(path), "--set", words, "--late", "3d", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["expect"]["axes"][0] == {
        "name": "time",
        "from": "2015-06",
        "to": "2015-12",
        "step": "month",
        "late": "3d",
        "variables": ["t2m"],
    }
    assert told["findings"][0]["code"] == "expected-extra"
    assert json.loads(Path(told["file"]).read_text())["expect"] == told["expect"]


def test_declarations_beside_it_stay(path: Path) -> None:
    beside = Path(f"{path}.expect.json")
    beside.write_text('{"version": 1, "declares": {"/t2m": {"units": "K"}}}')
    written = refbrowser.expect(path)
    assert written.path == str(beside)
    assert json.loads(beside.read_text())["declares"] == {"/t2m": {"units": "K"}}


def test_nothing_is_written_for_nonsense(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["expect", str(path), "--set", "every moon"]) == 2
    assert main(["expect", str(path), "--set", "every month from 2015-13"]) == 2
    empty = write_refs(tmp_path / "empty.json", {})
    assert main(["expect", str(empty)]) == 2
    assert "nothing of which an expectation could be learned" in capsys.readouterr().err
    assert [each.name for each in tmp_path.glob("*.expect.json")] == []


def test_what_is_expected_already_is_replaced_only_when_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sample = refbrowser.sample()
    main(["expect", sample, "--set", "every month from 2024 to 2024"])
    before = Path(f"{sample}.expect.json")
    before = before if before.exists() else next(tmp_path.glob("*.expect.json"))
    text = before.read_bytes()
    capsys.readouterr()
    assert main(["expect", sample]) == 7
    assert "give --force" in capsys.readouterr().err
    assert before.read_bytes() == text
    main(["expect", sample, "--force"])
    assert before.read_bytes() != text
