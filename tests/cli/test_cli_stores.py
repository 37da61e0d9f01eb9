"""Stores on the command line: every verb takes one, ``--as`` chooses the flavour."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zarr

from refbrowser.cli import main

VERBS = (["info"], ["check"], ["expand"], ["read", "/a"], ["cat", "a/0"], ["plan", "/a"], ["cdl"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    group = zarr.create_group(tmp_path / "s", zarr_format=2, attributes={"title": "made"})
    array = group.create_array("a", shape=(4,), chunks=(2,), dtype="<i2", compressors=None, fill_value=5)
    array[:2] = [1, 2]
    return tmp_path / "s"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_info_tells_flavour_and_age(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "info", str(store), "--json")
    shown = json.loads(out)
    assert (code, shown["format"], shown["flavour"], shown["age"]) == (0, "zarr-v2", "zarr-v2", "")
    marks = {"_nczarr_group": {"dimensions": {"x": 4}, "arrays": ["a"], "groups": []}}
    (store / ".zattrs").write_text(json.dumps(marks))
    (store / "a" / ".zattrs").write_text(json.dumps({"_nczarr_array": {"dimension_references": ["/x"]}}))
    code, out, _ = run(capsys, "info", str(store))
    assert code == 0
    assert out.splitlines()[0].endswith("nczarr (netcdf-c 4.9.3 or later)")
    code, out, _ = run(capsys, "info", str(store), "--as", "zarr-v2", "--json")
    assert json.loads(out)["flavour"] == "zarr-v2"


@pytest.mark.parametrize("arguments", VERBS, ids=lambda arguments: arguments[0])
def test_every_verb_takes_a_store(
    store: Path, capfdbinary: pytest.CaptureFixture[bytes], arguments: list[str]
) -> None:
    verb, *rest = arguments
    assert main([verb, str(store), *rest, "--as", "zarr-v2"]) == 0
    assert capfdbinary.readouterr().out or verb == "check"


def test_no_store_and_no_such_flavour(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "info", str(store), "--as", "zarr-v3")
    assert (code, out) == (2, "")
    assert "there is no store here" in err
    assert "root.group.json" in err
    code, _, err = run(capsys, "info", str(store), "--as", "zarr")
    assert code == 2
    assert "zarr-v3-draft" in err
