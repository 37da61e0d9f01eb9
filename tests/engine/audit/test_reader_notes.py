"""What is said of other software is what it does, where it is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import pytest
from damaged_sets import sound

import refbrowser
from refbrowser.engine.audit.reader_notes import note_codes, reader_notes
from refbrowser.references.document.document import ReferenceDocument


def noted(document: dict[str, Any]) -> dict[str, int]:
    found = reader_notes(ReferenceDocument.of(json.dumps(document).encode()))
    assert {note.code for note in found} <= set(note_codes())
    return {note.code: note.count for note in found}


def opened(document: dict[str, Any], **options: Any) -> Any:
    return fsspec.filesystem(
        "reference", fo=document, remote_protocol="file", skip_instance_cache=True, **options
    )


RULE = {
    "key": "a/{{i}}",
    "url": "x.bin",
    "offset": "{{i}}",
    "length": "1",
    "dimensions": {"i": {"stop": 3}},
}


def test_plain_documents_read_alike() -> None:
    assert noted({"version": 1, "refs": {"a/0": ["x.bin", 0, 1]}}) == {}
    assert noted({".zgroup": "{}", "a/0": ["x.bin", 0, 1]}) == {}
    assert noted({"a/0": ["x.bin", 0, 1]}) == {"gdal-needs-zgroup": 1}


def test_fsspec_leaves_rules_out() -> None:
    document = {"version": 1, "refs": {}, "gen": [RULE]}
    assert noted(document) == {
        "fsspec-drops-rules": 3,
        "virtualizarr-drops-rules": 3,
        "gdal-refuses-rules": 1,
    }
    assert list(opened(document).references) == []
    assert len(opened(document, simple_templates=False).references) == 3


@pytest.mark.parametrize(
    ("url", "fails"), [("{{u}}/x", False), ("{{ u }}/x", True), ("{{f(c=1)}}/x", True), ("plain", False)]
)
def test_fsspec_takes_plain_names_of_templates_alone(url: str, fails: bool) -> None:
    document = {
        "version": 1,
        "templates": {"u": "b", "f": "{{c}}"},
        "refs": {"a/0": [url, 0, 1], "a/1": ["y", 0, 1]},
    }
    assert ("fsspec-simple-templates" in noted(document)) is fails
    if fails:
        with pytest.raises(Exception, match=""):
            opened(document)
    else:
        assert opened(document).references["a/0"][0] == url.replace("{{u}}", "b")
    assert opened(document, simple_templates=False).references["a/0"][0] in ("b/x", "1/x", "plain")


def test_virtualizarr_knows_refs_alone(tmp_path: Path) -> None:
    pytest.importorskip("virtualizarr")
    from virtualizarr.parsers.kerchunk.translator import manifestgroup_from_kerchunk_refs

    made = sound(tmp_path)
    refs = {key: value for key, value in made.refs.items() if not key.startswith("packed/")}
    refs["raw/0.0"] = ["{{u}}.bin", 64, 400]
    document = {"version": 1, "templates": {"u": "f0"}, "refs": refs}
    assert noted(document)["virtualizarr-keeps-templates"] == 1
    group = manifestgroup_from_kerchunk_refs(document, fs_root=f"file://{tmp_path}/")
    assert group.arrays["raw"].manifest.dict()["0.0"]["path"].endswith("%7B%7Bu%7D%7D.bin")
    del refs["raw/0.0"]
    rule = RULE | {"key": "raw/0.0", "url": "f0.bin", "length": "400", "dimensions": {"i": {"stop": 1}}}
    group = manifestgroup_from_kerchunk_refs(
        {"version": 1, "refs": refs, "gen": [rule]}, fs_root=f"file://{tmp_path}/"
    )
    assert "0.0" not in group.arrays["raw"].manifest.dict()


def test_missing_chunks_read_as_fill_and_missing_files_as_errors(tmp_path: Path) -> None:
    import zarr

    made = sound(tmp_path)
    refs = {
        key: [f"{tmp_path}/{value[0]}", *value[1:]] if isinstance(value, list) else value
        for key, value in made.refs.items()
    }
    del refs["raw/0.0"]
    refs["raw/1.0"] = [f"{tmp_path}/gone.bin", 0, 400]
    refs["raw/2.0"] = ["", 0, 400]
    system = opened({"version": 1, "refs": refs}, asynchronous=True, remote_options={"asynchronous": False})
    array = zarr.open_group(zarr.storage.FsspecStore(system, read_only=True), mode="r", zarr_format=2)["raw"]
    assert isinstance(array, zarr.Array)
    values = array[0, :100]
    assert (values != values).all()
    for row in (1, 2):
        with pytest.raises(Exception, match="") as info:
            array[row, :100]
        assert "ReferenceNotReachable" in type(info.value).__name__


def test_stores_have_no_notes(tmp_path: Path) -> None:
    made = sound(tmp_path)
    refbrowser.export(made.write(), tmp_path / "store", format="zarr-v2")
    assert refbrowser.audit(tmp_path / "store").notes == ()
