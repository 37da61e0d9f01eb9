from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats.parquet_references import write_parquet
from refbrowser.formats.parquet_text import inline_text, is_parquet_references
from refbrowser.formats.references import hierarchy_of, open_references
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetReference

ARRAY = {"zarr_format": 2, "shape": [7, 2], "chunks": [2, 1], "dtype": "<i2", "order": "C"}
ARRAY |= {"compressor": None, "filters": None, "fill_value": 0}
REFS: dict[str, Any] = {
    ".zgroup": '{"zarr_format": 2}',
    "g/a/.zarray": json.dumps(ARRAY),
    "g/a/.zattrs": '{"units": "m"}',
    "g/a/0.0": ["{{u}}", 10, 20],
    "g/a/0.1": ["whole"],
    "g/a/2.0": "inline",
    "g/a/2.1": "base64:gIGC",
    "g/a/3.1": ["second", 0, 5],
    "s/.zarray": json.dumps({**ARRAY, "shape": [], "chunks": []}),
    "s/0": ["scalar", 1, 2],
}


def document_of(refs: dict[str, Any], gen: list[Any] | None = None) -> ReferenceDocument:
    content = {"version": 1, "templates": {"u": "first"}, "refs": refs, "gen": gen or []}
    return open_references(json.dumps(content).encode())


def chunks(document: ReferenceDocument) -> dict[str, Any]:
    expansion = document.expansion
    keys = (expansion.item(row)[0] for row in range(expansion.rows))
    return {key: expansion.reference(key) for key in keys if key is not None and "/.z" not in f"/{key}"}


@pytest.mark.parametrize("record_size", [1, 3, 8, 1000])
def test_what_is_written_reads_the_same(tmp_path: Path, record_size: int) -> None:
    rule = {
        "key": "g/a/1.{{i}}",
        "url": "x",
        "offset": "{{i}}",
        "length": "1",
        "dimensions": {"i": {"stop": 2}},
    }
    document = document_of(REFS, [rule])
    written = write_parquet(document, tmp_path / "refs.parq", record_size=record_size)
    assert written > 0
    assert is_parquet_references(tmp_path / "refs.parq")
    again = open_references(tmp_path / "refs.parq")
    assert again.from_parquet
    assert chunks(again) == chunks(document)
    hierarchy = hierarchy_of(again)
    assert hierarchy.format == "refs-parquet"
    node = hierarchy.find("/g/a")
    assert node is not None
    assert node.attributes == {"units": "m"}


def test_fsspec_reads_what_is_written(tmp_path: Path) -> None:
    import fsspec
    from fsspec.implementations.reference import LazyReferenceMapper

    pytest.importorskip("pandas")
    document = document_of(REFS)
    write_parquet(document, tmp_path / "refs.parq", record_size=4)
    mapper = LazyReferenceMapper(str(tmp_path / "refs.parq"), fs=fsspec.filesystem("file"), engine="pyarrow")
    assert mapper["g/a/0.0"] == ["first", 10, 20]
    assert mapper["g/a/0.1"] == ["whole"]
    assert mapper["g/a/2.1"] == b"\x80\x81\x82"
    assert mapper["g/a/2.0"] == b"inline"
    assert json.loads(mapper["g/a/.zattrs"]) == {"units": "m"}


@pytest.mark.parametrize(
    ("name", "folder", "said"),
    [
        ("data/f.bin", "", ""),
        ("../../data/f.bin", "", "the folder of the array, as GDAL does"),
        ("data/f.bin", "work", "the working directory, as fsspec does"),
        ("nowhere.bin", "", ""),
    ],
)
def test_relative_names_are_read_by_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, folder: str, said: str
) -> None:
    there = tmp_path / folder
    (there / "data").mkdir(parents=True)
    (there / "data/f.bin").write_bytes(bytes(range(8)))
    (tmp_path / "elsewhere").mkdir()
    array = json.dumps({**ARRAY, "shape": [4], "chunks": [2], "dtype": "|u1", "fill_value": 255})
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": array, "a/0": [name, 0, 2], "a/1": [name, 4, 2]}
    write_parquet(open_references(json.dumps(refs).encode()), tmp_path / "refs.parq", record_size=1)
    monkeypatch.chdir(there if folder else tmp_path / "elsewhere")
    with refbrowser.open(tmp_path / "refs.parq") as dataset:
        if name == "nowhere.bin":
            with pytest.raises(RefbrowserError, match="there is no such file"):
                dataset["a"][:]
        else:
            assert dataset["a"][:].tolist() == [0, 1, 4, 5]
    found = open_references(tmp_path / "refs.parq")
    assert [note.message.partition(": ")[0] for note in found.notes] == (
        [f"its file names are relative to {said}"] if said else []
    )


def test_edits_are_saved_as_json_or_as_a_new_folder(tmp_path: Path) -> None:
    write_parquet(document_of(REFS), tmp_path / "refs.parq")
    opened = open_references(tmp_path / "refs.parq")
    edited = opened.apply(SetReference("g/a/1.0", ["new", 3, 4]))
    as_json = open_references(edited.to_bytes())
    write_parquet(edited, tmp_path / "new.parq")
    for again in (as_json, open_references(tmp_path / "new.parq")):
        assert chunks(again) == chunks(edited)
    assert chunks(open_references(tmp_path / "refs.parq")) == chunks(opened)


def test_a_target_that_is_there_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "refs.parq"
    target.mkdir()
    (target / "mine").write_text("x")
    with pytest.raises(RefbrowserError) as caught:
        write_parquet(document_of(REFS), target)
    assert caught.value.kind is ErrorKind.USAGE
    assert (target / "mine").read_text() == "x"
    write_parquet(document_of(REFS), target, force=True)
    assert is_parquet_references(target)
    assert [path.name for path in tmp_path.iterdir()] == ["refs.parq"]


def test_what_this_form_cannot_hold_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RefbrowserError, match="v2 only"):
        write_parquet(
            document_of({"zarr.json": '{"zarr_format": 3, "node_type": "group"}'}), tmp_path / "x.parq"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "metadata",
    [
        "{",
        '{"metadata": {}, "record_size": 0}',
        '{"metadata": [], "record_size": 5}',
    ],
)
def test_broken_folders_are_errors(tmp_path: Path, metadata: str) -> None:
    (tmp_path / ".zmetadata").write_text(metadata)
    with pytest.raises(RefbrowserError) as caught:
        open_references(tmp_path)
    assert caught.value.kind in (ErrorKind.FORMAT, ErrorKind.SCHEMA)


@pytest.mark.parametrize(
    ("key", "array"),
    [
        ("a/.zarray", {"shape": [1]}),
        ("a/.zarray", "text"),
        ("../a/.zarray", {"shape": [1], "chunks": [1]}),
        ("a//.zarray", {"shape": [1], "chunks": [1]}),
    ],
)
def test_a_broken_array_costs_its_chunks_only(tmp_path: Path, key: str, array: Any) -> None:
    write_parquet(document_of(REFS), tmp_path / "refs.parq")
    metadata = json.loads((tmp_path / "refs.parq/.zmetadata").read_text())
    metadata["metadata"][key] = array
    (tmp_path / "refs.parq/.zmetadata").write_text(json.dumps(metadata))
    document = open_references(tmp_path / "refs.parq")
    assert [finding.kind for finding in document.findings[:1]] == [ErrorKind.SCHEMA]
    assert chunks(document) == chunks(document_of(REFS))


def test_a_broken_record_file_costs_its_chunks_only(tmp_path: Path) -> None:
    write_parquet(document_of(REFS), tmp_path / "refs.parq", record_size=4)
    (tmp_path / "refs.parq/g/a/refs.0.parq").write_bytes(b"PAR1 no PAR1")
    document = open_references(tmp_path / "refs.parq")
    finding = document.findings[0]
    assert (finding.severity, finding.kind) == (Severity.FAULT, ErrorKind.SCHEMA)
    assert str(finding.place.document).endswith("refs.0.parq")
    node = hierarchy_of(document).find("/g/a")
    assert isinstance(node, ArrayNode)
    kinds = [ReferenceKind(kind).name for kind in node.manifest.kinds().ravel()]
    assert kinds == ["FAULTY"] * 4 + ["INLINE", "INLINE", "MISSING", "RANGE"]
    assert document.expansion.reference("s/0") is not None


@pytest.mark.parametrize("data", [b"", b"text", b"\x00\x7f", b"\x80", b"base64:x", bytes(range(256))])
def test_inline_text_stands_for_its_bytes(data: bytes) -> None:
    from refbrowser.references.document.reference_values import decode_inline

    assert decode_inline(inline_text(data)) == data
