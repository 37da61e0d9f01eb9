"""What is found wrong is the same below the window and on the command line, and named as users know it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.cli import main

ZARRAY = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [2],
    "dtype": "|u1",
    "compressor": None,
    "filters": None,
    "fill_value": 7,
    "order": "C",
}
GROUP = '{"zarr_format": 2}'
ATTRIBUTES = '{"_ARRAY_DIMENSIONS": ["d"], "x": NaN, "t": "ü"}'


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


# Places


def test_no_place_is_in_a_text_that_nobody_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = {
        ".zgroup": GROUP,
        "a/.zarray": json.dumps(ZARRAY),
        "a/.zattrs": ATTRIBUTES,
        "A/.zarray": json.dumps(ZARRAY),
        "A/.zattrs": '{"_ARRAY_DIMENSIONS": ["d"]}',
        "a/0": "ab",
        "A/0": "ab",
    }
    document = written(tmp_path / "d.json", odd)
    for key, text in (odd | {"b/.zarray": "{"}).items():
        written(tmp_path / "store" / key, text)
    with zipfile.ZipFile(tmp_path / "store.zip", "w") as archive:
        for key, text in odd.items():
            archive.writestr(key, text)
    for format, name in (("ncstream", "d.ncs"), ("awkward0", "d.awkd"), ("refs-parquet", "d.parq")):
        refbrowser.export(document, tmp_path / name, format=format, arrays=["/a", "/A"])
    for name in ("store", "store.zip", "d.ncs", "d.awkd", "d.parq"):
        main(["check", str(tmp_path / name), "--json"])
        told = json.loads(capsys.readouterr().out)
        findings = told["faults"] + told["warnings"]
        assert findings, name
        for finding in findings:
            assert finding["pointer"] is finding["line"] is finding["column"] is None, name
            assert "key" in finding or "path" in finding, (name, finding)
        for arguments in (["check"], ["info"], ["expand", "--skip-bad"], ["explain"]):
            main([*arguments, str(tmp_path / name), *(["a/0"] if arguments == ["explain"] else [])])
            shown = capsys.readouterr()
            for text in (shown.out, shown.err):
                assert ", column " not in text, (name, arguments)
                assert "pointer" not in text, (name, arguments)
    # What is odd about JSON and keys is no matter of files that have none.
    main(["check", str(tmp_path / "d.ncs"), "--json"])
    (only,) = json.loads(capsys.readouterr().out)["warnings"]
    assert (only["path"], only["message"].split(" only")[0]) == ("/A", "the name differs from '/a'")


def test_metadata_that_is_no_json_is_placed_in_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = written(tmp_path / "d.json", {".zgroup": GROUP, "b/.zarray": '{"a": 1,\n'})
    assert main(["read", str(document), "/b"]) == 2
    assert "key 'b/.zarray', character 1 of its line 2)" in capsys.readouterr().err
