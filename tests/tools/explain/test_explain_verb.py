"""``explain``: the same text as in the window, or JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refbrowser.cli import main


@pytest.fixture
def cth(shared_data: Path) -> str:
    return str(shared_data / "real" / "cth.refs.json")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_the_verdict_comes_first(cth: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, cth, "--array", "HT", "--index", "0,-500")
    first, empty, subject, *rest = text.splitlines()
    assert first == (
        "This element is empty because the value stored for it, 65535, "
        "is the fill value of the array, which means no data."
    )
    assert (empty, subject) == ("", "/HT [0, 0]")
    for part in ("  The chunk", "    Key: HT/0.0", "  Codec zlib", "! What the value means"):
        assert part in rest


def test_a_key_as_json(cth: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(run(capsys, cth, "HT/0.1", "--json"))
    assert set(told) == {"subject", "verdict", "kind", "state", "steps"}
    assert (told["subject"], told["kind"], told["state"]) == ("HT/0.1", "readable", "ok")
    steps = {step["name"]: step for step in told["steps"]}
    assert steps["entry"]["facts"]["url"] == "cth.nc"
    assert steps["codec"]["facts"] == {"codec": "zlib", "bytes_in": 123208, "bytes_out": 150000}
    assert steps["contents"]["facts"]["elements"] == 75000


def test_nothing_is_read_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    array = {
        "zarr_format": 2,
        "shape": [2],
        "chunks": [2],
        "dtype": "|u1",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    folder, docs = tmp_path / "data", tmp_path / "docs"
    folder.mkdir()
    docs.mkdir()
    (folder / "x.bin").write_bytes(b"\x01\x02")
    document = docs / "d.json"
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array), "a/0": ["../data/x.bin"]}
    document.write_text(json.dumps(refs))
    text = run(capsys, str(document), "--array", "/a", "--index", "1")
    assert text.startswith(f"This element was not read: reading from {folder} needs your permission.")
    text = run(capsys, str(document), "--array", "/a", "--index", "-1", "--allow", str(folder))
    assert text.startswith("This element is 2.")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give either KEY, or --array and --index"),
        (("HT/0.0", "--array", "HT"), "give either KEY, or --array and --index"),
        (("HT/0.0", "--index", "0,0"), "--index belongs to --array"),
        (("--array", "HT", "--index", "0,x"), "'0,x' is not integers and commas"),
        (("--array", "HT", "--index", "0"), "there is no element [0]: the shape is 300 × 500"),
        (("--array", "HT", "--index", "0,500"), "there is no element [0, 500]"),
        (("--array", "none", "--index", "0"), "there is no group or array '/none'"),
        (("/HT",), "'/HT' is an array, not a key; give --array /HT --index 0,0 for one of its elements"),
    ],
)
def test_wrong_questions(
    cth: str, arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", cth, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("refbrowser: error[E_USAGE]: ")
    assert complaint in captured.err
