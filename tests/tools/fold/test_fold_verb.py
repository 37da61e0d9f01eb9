"""``fold``: what is written, told and refused; and that other software reads the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import zarr
from documents_made import DocumentMaker

import refbrowser
from refbrowser.cli import main


@pytest.fixture
def document(tmp_path: Path) -> Path:
    maker = DocumentMaker(tmp_path)
    values = np.arange(144, dtype="<i4").reshape(12, 12)
    maker.array("a", values, (1, 6), compressors=None)
    # zarr-python writes chunks in any order.
    maker.store = dict(sorted(maker.store.items(), key=lambda item: (len(item[0]), item[0])))
    return maker.write()


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["fold", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def values_of(path: Path, **options: Any) -> np.ndarray:
    """Return the array as fsspec and zarr-python read it; URLs are relative to the folder of the document."""
    text = json.loads(path.read_text())
    system = fsspec.filesystem(
        "reference",
        fo=text,
        remote_protocol="file",
        asynchronous=True,
        remote_options={"asynchronous": False},
        skip_instance_cache=True,
        **options,
    )
    store = zarr.storage.FsspecStore(system, read_only=True)
    found = zarr.open_group(store, mode="r", zarr_format=2)["a"]
    assert isinstance(found, zarr.Array)
    return np.asarray(found[...])


def test_a_folded_document_is_read_as_before(
    document: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(document.parent)
    target = document.parent / "folded.json"
    assert main(["fold", str(document), "-o", str(target)]) == 0
    told = capsys.readouterr().out
    assert "24 references in 1 gen rule" in told
    assert "Proved: all 24 references" in told
    assert "simple_templates=False" in told
    assert "stay: inline values and metadata (" in told
    assert target.stat().st_size < document.stat().st_size
    expected = np.arange(144).reshape(12, 12)
    for path in (document, target):
        with refbrowser.open(path) as dataset:
            assert np.array_equal(dataset["/a"][:, :], expected)
        assert np.array_equal(values_of(path, simple_templates=False), expected)
    # What is there is not replaced without being told to; the document itself can be.
    assert main(["fold", str(document), "-o", str(target)]) == 7
    assert "give --force" in capsys.readouterr().err
    folded = target.read_bytes()
    assert main(["fold", str(document), "-o", str(document), "--force"]) == 0
    assert document.read_bytes() == folded


def test_the_report_and_templates_alone(
    document: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    below = tmp_path / "below"
    below.mkdir()
    shown = run_json(capsys, str(document), "-o", str(below / "x.json.gz"))
    # Relative URLs are those of the new folder.
    assert {rule["url"] for rule in shown["rules"]} == {"../data.bin"}
    assert sum(rule["references"] for rule in shown["rules"]) == shown["folded"] == shown["compared"] == 24
    assert shown["bytes_after"] < shown["bytes_before"]
    assert {each["references"] for each in shown["kept"]} == {4}
    before = refbrowser.expand(document)
    after = refbrowser.expand(below / "x.json.gz")
    assert {key: value if isinstance(value, str) else [f"../{value[0]}", *value[1:]]
            for key, value in before.items()} == after  # fmt: skip
    refs = {f"a/{n}": ["https://host/a/long/path/to/one/file.nc", n * n, 7] for n in range(30)}
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(refs))
    shown = run_json(capsys, str(plain), "-o", str(tmp_path / "t.json"), "--no-rules")
    assert shown["templates"] == {"u": "https://host/a/long/path/to/one/file.nc"}
    assert shown["notes"] == [
        "The document becomes Version 1: Version 0 has neither templates nor gen rules."
    ]
    # Software that knows simple templates only reads all of it.
    system = fsspec.filesystem("reference", fo=str(tmp_path / "t.json"), skip_instance_cache=True)
    assert {key: list(value) for key, value in system.references.items()} == refs


def test_what_cannot_be_folded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    few = tmp_path / "few.json"
    few.write_text('{"a/0": ["u", 1, 2],  "b": "x"}\n')
    assert main(["fold", str(few), "-o", str(tmp_path / "same.json")]) == 0
    assert "Nothing to fold" in capsys.readouterr().out
    assert (tmp_path / "same.json").read_bytes() == few.read_bytes()
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"version": 1, "gen": {}, "refs": {}}')
    for arguments, code, words in (
        ([str(few), "-o", str(tmp_path / "x.parq")], 2, "E_USAGE"),
        ([str(wrong), "-o", str(tmp_path / "x.json")], 2, "the member gen is of the wrong type"),
        ([str(tmp_path / "none.json"), "-o", str(tmp_path / "x.json")], 6, "no such file"),
        ([str(few), "-o", str(tmp_path / "none" / "x.json")], 4, "no such folder"),
        ([str(few)], 2, "-o"),
    ):
        assert main(["fold", *arguments]) == code
        assert words in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


def test_programs_fold_too(document: Path) -> None:
    found = refbrowser.fold(document)
    assert found.folded == 24
    assert refbrowser.expand(found.after) == refbrowser.expand(document)
    target = document.parent / "made.json"
    assert refbrowser.fold(document, target).size_after == target.stat().st_size
    text = {f"a/{n}": ["u", n, 1] for n in range(50)}
    assert refbrowser.expand(refbrowser.fold(text).after) == text
    assert refbrowser.fold(text, rules=False).is_smaller is False


def test_a_target_has_to_be_given(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fold", str(document)]) == 2
    assert "the following arguments are required: -o/--output" in capsys.readouterr().err
