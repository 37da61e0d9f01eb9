from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import numpy as np

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.comparing.comparison import CompareRequest, compare_datasets
from refbrowser.engine.frozen_dataset import FrozenDataset
from refbrowser.engine.node_metadata import Origin, metadata_keys, place_of
from refbrowser.engine.sources import sources_of
from refbrowser.errors import ErrorKind, RefbrowserError, Severity
from refbrowser.formats import parquet_records, parquet_text, references
from refbrowser.formats.parquet_records import ArrayRecords
from refbrowser.formats.parquet_references import write_parquet
from refbrowser.formats.parquet_text import inline_text, is_parquet_references
from refbrowser.formats.references import hierarchy_of, open_references
from refbrowser.limits import Limits
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.content import content
from refbrowser.references.document.document import Document, Edit, ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetMetadata, SetReference

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


def chunks(document: Document) -> dict[str, Any]:
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
    from refbrowser.references.content.reference_values import decode_inline

    assert decode_inline(inline_text(data)) == data


def lazily(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have all references read as arrays are touched; return the record files that are read, as they are."""
    read: list[str] = []
    plain = ArrayRecords.read
    monkeypatch.setattr(
        ArrayRecords,
        "read",
        lambda self, number: (read.append(f"{self.prefix}{number}"), plain(self, number))[1],
    )
    for module in (content, references):
        monkeypatch.setattr(module, "LIMITS", Limits(references_described=0))
    return read


@pytest.mark.parametrize("other", [None, "changed"])
def test_two_sets_are_compared_without_their_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str | None
) -> None:
    lazily(monkeypatch)
    paths = [tmp_path / name for name in ("one.parq", "two.parq")]
    for path in paths:
        write_parquet(document_of(REFS), path, record_size=3)
        metadata = json.loads((path / ".zmetadata").read_text())
        if other is not None:
            # What is neither metadata nor a chunk can be anywhere: all is read, and it is found.
            metadata["metadata"]["note"] = other if path == paths[1] else "text"
        (path / ".zmetadata").write_text(json.dumps(metadata))
    with refbrowser.open(paths[0]) as here, refbrowser.open(paths[1]) as there:
        found = compare_datasets(here, there, CompareRequest(values="none"))
        assert [each.name for each in found.differences] == ([] if other is None else ["note"])
        assert found.arrays
        assert (here.document.left > 0) == (there.document.left > 0) == (other is None)


@pytest.mark.parametrize("record_size", [1, 3, 1000])
def test_record_files_are_read_as_arrays_are_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], record_size: int
) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path, record_size=record_size)
    plain = open_references(path)
    wanted = hierarchy_of(plain).find("/g/a")
    read = lazily(monkeypatch)
    assert main(["info", str(path)]) == 0
    assert "references are read as arrays are read" in capsys.readouterr().out
    assert not read
    document = open_references(path)
    node = hierarchy_of(document).find("/g/a")
    assert isinstance(node, ArrayNode)
    assert isinstance(wanted, ArrayNode)
    assert node.manifest.stored() is None
    coords = np.argwhere(np.ones(node.grid.grid_shape, bool))[::-1]
    one = node.manifest.columns(coords[:1])
    assert read == [f"g/a/{7 // record_size}"]
    assert one.reference(0) == wanted.manifest.columns(coords[:1]).reference(0)
    for each, other in ((node.manifest.columns(coords), wanted.manifest.columns(coords)),):
        assert [each.reference(row) for row in range(len(coords))] == [
            other.reference(row) for row in range(len(coords))
        ]
    assert node.manifest.kinds().tolist() == wanted.manifest.kinds().tolist()
    assert not any(name.startswith("s/") for name in read)
    assert document.left > 0
    # Who asks for all has all: the text, edits, other forms.
    assert document.to_bytes() == plain.to_bytes()
    assert document.left == 0
    assert chunks(document) == chunks(plain)
    edited = open_references(path).apply(SetReference("g/a/1.0", ["new", 3, 4]))
    assert edited.to_bytes() == plain.apply(SetReference("g/a/1.0", ["new", 3, 4])).to_bytes()


def test_edits_of_a_set_leave_record_files_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path, record_size=3)
    plain: Document = open_references(path)
    read = lazily(monkeypatch)
    edits: tuple[Edit, ...] = (
        SetMetadata("g/a/.zattrs", {"units": "K"}),
        SetReference("g/a/1.0", ["new", 3, 4]),
        RemoveReference("g/a/3.1"),
        SetReference("g/a/2.1", "text"),
    )
    document: Document = open_references(path)
    for edit in edits:
        plain, document = plain.apply(edit), document.apply(edit)
    assert set(read) == {"g/a/2"}  # Whether there is what is removed.
    assert document.is_unread
    found = [hierarchy_of(each).find("/g/a") for each in (document, plain)]
    nodes = [node for node in found if isinstance(node, ArrayNode)]
    assert [node.attributes["units"] for node in nodes] == ["K", "K"]
    manifests = [node.manifest for node in nodes]
    coords = np.argwhere(np.ones((4, 2), bool))
    assert len({str([*map(each.columns(coords).reference, range(8))]) for each in manifests}) == 1
    assert len({str(each.kinds().tolist()) for each in manifests}) == 1
    assert not any(name.startswith("s/") for name in read)
    assert document.is_unread
    assert chunks(document) == chunks(plain)
    assert document.left == 0


def test_record_files_that_cannot_be_read_are_faults_of_their_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path, record_size=4)
    (path / "g/a/refs.0.parq").write_bytes(b"PAR1 no PAR1")
    lazily(monkeypatch)
    node = hierarchy_of(open_references(path)).find("/g/a")
    assert isinstance(node, ArrayNode)
    found = node.manifest.columns(np.array([[0, 0], [2, 0]]))
    assert [ReferenceKind(kind).name for kind in found.kind] == ["FAULTY", "INLINE"]
    assert "record file cannot be read" in found.faults[0].message
    kinds = [ReferenceKind(kind).name for kind in node.manifest.kinds().ravel()]
    assert kinds == ["FAULTY"] * 4 + ["INLINE", "INLINE", "MISSING", "RANGE"]


def test_record_files_are_counted_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path, record_size=1000)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", lambda *_, **__: pytest.fail("it was read"))
    for name in ("parquet_rows", "parquet_record"):
        monkeypatch.setattr(parquet_records, "LIMITS", Limits(**{name: 10}))
        document = open_references(path)
        assert {(note.kind, name in note.message) for note in document.notes} == {(ErrorKind.BUDGET, True)}
        assert all(isinstance(each, RefbrowserError) for _, each in faulty(document))


def faulty(document: ReferenceDocument) -> list[tuple[str | None, Any]]:
    expansion = document.expansion
    items = [expansion.item(row) for row in range(expansion.rows)]
    return [item for item in items if "/.z" not in f"/{item[0]}"]


@pytest.mark.parametrize(
    "array",
    [
        {"shape": [1 << 62], "chunks": [1]},
        {"shape": [1 << 40, 1 << 40], "chunks": [1, 1]},
        {"shape": [1e99], "chunks": [1]},
        {"shape": [True], "chunks": [1]},
        {"shape": [5], "chunks": [-1]},
    ],
)
def test_record_files_are_those_of_the_folder_not_of_the_shape(tmp_path: Path, array: Any) -> None:
    metadata = {".zgroup": {"zarr_format": 2}, "a/.zarray": {**ARRAY, **array}}
    (tmp_path / "a").mkdir()
    (tmp_path / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 1}))
    document = open_references(tmp_path)
    assert not chunks(document)


def test_too_many_references_are_told_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path, record_size=4)
    read = lazily(monkeypatch)
    monkeypatch.setattr(parquet_text, "LIMITS", Limits(references=3))
    document = open_references(path)
    with pytest.raises(RefbrowserError, match="more than 3 references") as raised:
        document.to_bytes()
    assert raised.value.kind is ErrorKind.BUDGET
    assert not read


@pytest.mark.parametrize("record_size", [1, 4])
def test_urls_of_record_files_are_told_by_these_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_size: int
) -> None:
    names = {"one": ["s3://a/x"], "two": ["s3://a/b/x", "s3://a/b/y"], "all": ["http://h/x", "s3://a/x"]}
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    for array, urls in names.items():
        refs[f"{array}/.zarray"] = json.dumps(ARRAY)
        refs |= {f"{array}/{row}.0": [urls[row % len(urls)], row, 2] for row in range(4)}
    path = tmp_path / "refs.parq"
    write_parquet(open_references(json.dumps(refs).encode()), path, record_size=record_size)
    read = lazily(monkeypatch)
    found = {source.url: (source.is_pattern, source.count) for source in sources_of(open_references(path))}
    count = 8 if record_size == 4 else 4
    assert found == {"s3://a/x": (False, count), "s3://a/b/": (True, count), "": (True, count)}
    assert not read


def test_metadata_of_an_unread_set_is_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path)
    read = lazily(monkeypatch)
    document = open_references(path)
    node = hierarchy_of(document).find("/g/a")
    assert isinstance(node, ArrayNode)
    places = [place_of(document, key) for key in metadata_keys(document, node)]
    assert [(place.origin, place.data) for place in places] == [
        (place.origin, place.data) for place in (place_of(document_of(REFS), each.key) for each in places)
    ]
    assert place_of(document, "s/.zattrs").origin is Origin.ABSENT
    assert not read


def test_values_of_an_unread_set_are_exported_without_reading_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(range(16)))
    refs: dict[str, Any] = {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": json.dumps({**ARRAY, "shape": [4, 2]}),
    }
    refs |= {
        f"a/{row}.{column}": ["data.bin", 8 * row + 4 * column, 4] for row in (0, 1) for column in (0, 1)
    }
    path = tmp_path / "refs.parq"
    write_parquet(open_references(json.dumps(refs).encode()), path)
    lazily(monkeypatch)
    monkeypatch.setattr(parquet_text, "LIMITS", Limits(references=3))
    assert main(["export", str(path), str(tmp_path / "out.zarr"), "--to", "zarr-v2"]) == 0
    with refbrowser.open(tmp_path / "out.zarr") as dataset:
        assert dataset["a"][0].tolist() == [256, 1284]
    # Other processes open it by its path.
    with refbrowser.open(path) as dataset:
        assert FrozenDataset.of(dataset).dataset()["a"][0].tolist() == [256, 1284]


def test_one_key_of_an_unread_set_needs_its_record_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path, record_size=2)
    plain = open_references(path)
    read = lazily(monkeypatch)
    document = open_references(path)
    for key in (*REFS, "g/a/1.0", "g/a/9.0", "g/a/0", "g/a/00.0", "no/0", "g/.zattrs"):
        assert document.expansion.reference(key) == plain.expansion.reference(key)
    assert document.left
    read.clear()
    assert main(["explain", str(path), "g/a/3.1", "--json"]) in (0, 2)
    step = next(step for step in json.loads(capsys.readouterr().out)["steps"] if step["name"] == "entry")
    assert (step["facts"]["url"], step["facts"]["length"]) == ("second", 5)
    assert set(read) == {"g/a/3"}


def test_who_asks_for_all_references_is_told_what_it_takes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "refs.parq"
    write_parquet(document_of(REFS), path)
    lazily(monkeypatch)
    assert main(["info", str(path)]) == 0
    assert "reading all" not in capsys.readouterr().err
    assert main(["expand", str(path), "--count", "0"]) == 0
    assert "reading all 9 references, which takes about 0 s and 2.07 kB of memory" in capsys.readouterr().err
    assert main(["expand", str(path), "--count", "0", "-q"]) == 0
    assert "reading all" not in capsys.readouterr().err
