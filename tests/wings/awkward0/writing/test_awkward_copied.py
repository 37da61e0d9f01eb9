"""Arrays of Awkward 0 that go from file to file: copied where they are sound, never with what is refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward0_encoder import Encoder, zipped

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ArrayChoice, ExportReport, ExportRequest
from refbrowser.model.nested import TypeKind
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing
from refbrowser.wings.awkward0.writing.blobs import MemorySink, Said
from refbrowser.wings.awkward0.writing.serialize import serialize

RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def members(values: Any = RECORDS, name: str = "one") -> MemorySink:
    sink = MemorySink()
    serialize(ak.from_iter(values, highlevel=False), sink, name, said=Said("a doc", {"m": 1}))
    return sink


def changed(sink: MemorySink, **changes: str) -> MemorySink:
    """Return members with texts of the schema replaced."""
    text = sink["one.json"].decode()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    sink["one.json"] = text.encode()
    return sink


def save(
    sink: dict[str, bytes], folder: Path, *, skip_bad: bool = False, **options: Any
) -> tuple[ExportReport, dict[str, bytes]]:
    (folder / "source.awkd").write_bytes(zipped(sink))
    with refbrowser.open(str(folder / "source.awkd")) as dataset:
        request = ExportRequest(
            str(folder / "t.awkd"), "awkward0", skip_bad=skip_bad, options=Awkward0Writing(**options)
        )
        report = run_export(dataset, request)
    with zipfile.ZipFile(folder / "t.awkd") as file:
        return report, {name: file.read(name) for name in file.namelist()}


def test_expressions_and_blobs_go_over_as_they_are(tmp_path: Path) -> None:
    source = members()
    report, found = save(dict(source), tmp_path)
    assert report.copied == len(source) - 1
    assert sorted(found.values(), key=len)[:-1] == sorted(source.values(), key=len)[:-1]
    ours, theirs = json.loads(found["one.json"]), json.loads(source["one.json"])
    assert {name: ours[name] for name in ("doc", "metadata", "prefix")} == {
        "doc": "a doc", "metadata": {"m": 1}, "prefix": "one-"
    }  # fmt: skip
    assert ours["schema"]["call"] == theirs["schema"]["call"]


def test_names_are_those_that_were_asked_for(tmp_path: Path) -> None:
    _, found = save(dict(members()), tmp_path, name="two", delimiter="/", suffix=".bin")
    assert set(found) == {"two.json", "two/0.bin", "two/1.bin", "two/2.bin"}
    with refbrowser.open(str(tmp_path / "t.awkd")) as dataset:
        assert ak.to_list(dataset["/two"].to_awkward()) == RECORDS


def test_old_spellings_become_those_of_the_last_release(tmp_path: Path) -> None:
    text = members()
    old = changed(text, **{'["awkward0", "numpy", "frombuffer"]': '["awkward.util", "frombuffer"]'})
    old = changed(old, **{'["awkward0", "Table"': '["awkward.array.table", "Table"'})
    old = changed(old, **{'"awkward0": "0.15.5"': '"awkward": "0.7.0"'})
    report, found = save(dict(old), tmp_path)
    assert report.copied
    assert b"awkward." not in found["one.json"]
    assert json.loads(found["one.json"])["awkward0"]
    with refbrowser.open(str(tmp_path / "t.awkd")) as dataset:
        assert ak.to_list(dataset["/one"].to_awkward()) == RECORDS


def test_rows_or_rules_of_compression_are_no_copy(tmp_path: Path) -> None:
    report, _ = save(dict(members()), tmp_path, codec=("none",))
    assert report.copied == 0
    with refbrowser.open(str(tmp_path / "source.awkd")) as dataset:
        chosen = (ArrayChoice.of(dataset, "/one", "1:"),)
        report = run_export(dataset, ExportRequest(str(tmp_path / "part"), "awkward0", chosen))
    assert report.copied == 0
    with refbrowser.open(str(tmp_path / "part.awkd")) as dataset:
        assert ak.to_list(dataset["/one"].to_awkward()) == RECORDS[1:]


@pytest.fixture
def refused() -> dict[str, bytes]:
    """An array one of whose fields names a function of another kind."""
    return dict(changed(members(), **{'["awkward0", "StringArray", "fromcounts"]': '["os", "system"]'}))


def test_what_is_refused_is_never_copied(refused: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.raises(RefbrowserError) as caught:
        save(refused, tmp_path)
    assert caught.value.kind is ErrorKind.UNSAFE
    assert not (tmp_path / "t.awkd").exists()
    report, found = save(refused, tmp_path, skip_bad=True)
    assert report.copied == 0
    assert report.arrays == 1
    assert [error.kind for error in report.skipped] == [ErrorKind.UNSAFE]
    assert b"system" not in b"".join(found.values())
    with refbrowser.open(str(tmp_path / "t.awkd")) as dataset:
        assert ak.to_list(dataset["/one"].to_awkward()) == [{"a": 1, "b": None}, {"a": 2, "b": None}]


def test_pickles_are_not_copied(tmp_path: Path) -> None:
    sink = members([1, None])
    old = changed(sink, **{'{"json": true, "id": 1}': '{"python": "gAOILg==", "id": 1}'})
    report, found = save(dict(old), tmp_path)
    assert report.copied == 0
    assert b"python" not in found["one.json"]
    with refbrowser.open(str(tmp_path / "t.awkd")) as dataset:
        assert ak.to_list(dataset["/one"].to_awkward()) == [1, None]


def test_arrays_that_lack_a_blob_are_not_copied(tmp_path: Path) -> None:
    sink = dict(members())
    gone = next(name for name in sink if name.endswith(".raw"))
    del sink[gone]
    with pytest.raises(RefbrowserError):
        save(sink, tmp_path)
    report, _ = save(sink, tmp_path, skip_bad=True)
    assert report.copied == 0
    assert report.skipped


def test_a_copy_whose_bytes_are_bad_leaves_no_hole(tmp_path: Path) -> None:
    (tmp_path / "source.awkd").write_bytes(zipped({**members([1, 2], "one"), **members([3, 4], "two")}))
    data = bytearray((tmp_path / "source.awkd").read_bytes())
    with zipfile.ZipFile(tmp_path / "source.awkd") as file:
        info = file.getinfo("one-0.raw")
    data[info.header_offset + 30 + len("one-0.raw")] ^= 1
    (tmp_path / "source.awkd").write_bytes(bytes(data))
    with refbrowser.open(str(tmp_path / "source.awkd")) as dataset:
        request = ExportRequest(str(tmp_path / "t.awkd"), "awkward0", skip_bad=True)
        report = run_export(dataset, request)
    assert report.arrays == 1
    assert len(report.skipped) == 1
    with zipfile.ZipFile(tmp_path / "t.awkd") as file:
        assert file.testzip() is None
        assert set(file.namelist()) == {"two-0.raw", "two.json"}
        assert min(info.header_offset for info in file.infolist()) == 0


def test_what_a_damaged_archive_lost_is_told(tmp_path: Path) -> None:
    whole = zipped({**members([1, 2], "one"), **members([3, 4], "two")})
    (tmp_path / "source.awkd").write_bytes(whole[: whole.index(b"two-0.raw") - 10])
    with refbrowser.open(str(tmp_path / "source.awkd")) as dataset:
        report = run_export(dataset, ExportRequest(str(tmp_path / "t"), "awkward0"))
    assert report.arrays == 1
    assert any("is damaged" in loss.what for loss in report.losses)
    with refbrowser.open(str(tmp_path / "t.awkd")) as dataset:
        assert dataset["/one"][...].tolist() == [1, 2]


@pytest.mark.slow
def test_arrays_that_contradict_their_content_are_not_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    e, five = Encoder("one"), np.arange(5.0)
    content, lists = e.basic(five), {"list": [e.basic(five), e.basic(five)]}
    letters, encoding = e.basic(np.frombuffer(b"hello", "u1")), {"json": "utf-8", "id": 90}
    roots = {
        "counts": e.make("JaggedArray.fromcounts", e.basic([2, 0, 9]), content),
        "negative": e.make("JaggedArray.fromcounts", e.basic([2, -1, 3]), content),
        "offsets": e.make("JaggedArray.fromoffsets", e.basic([0, 2, 9]), content),
        "stops": e.make("JaggedArray", e.basic([0, 2]), e.basic([2, 9]), content),
        "index": e.make("IndexedArray", e.basic([0, 9]), content),
        "mask": e.make("IndexedMaskedArray", e.basic([0, 9, -1]), content),
        "tags": e.make("UnionArray", e.basic([0, 3], "u1"), e.basic([0, 1]), lists),
        "possibility": e.make("UnionArray", e.basic([0, 1], "u1"), e.basic([0, 9]), lists),
        "texts": e.make("StringArray.fromcounts", e.basic([2, 90]), letters, encoding),
        "column": e.table(x=content, y=e.make("JaggedArray.fromcounts", e.basic([1] * 4 + [9]), content)),
    }
    source, target = tmp_path / "a.awkd", tmp_path / "b.awkd"
    export = ["export", str(source), str(target), "--to", "awkward0"]
    for name, root in roots.items():
        source.write_bytes(zipped(e.members(root)))
        read = main(["read", str(source), "/one", "--json"])
        said = capsys.readouterr().err
        assert read != 0, name
        assert main(export) == 2, name
        message = json.loads(said.splitlines()[-1])["error"]["message"]
        why = message.split(" (")[0].split("; other")[0].split(" cannot be read: ")[-1]
        assert why in capsys.readouterr().err
        assert not target.exists()
        # What can be read of it is kept, and all else told.
        assert main([*export, "--skip-bad", "--force"]) == 0, name
        assert why in capsys.readouterr().err
        if name == "column":
            with refbrowser.open(str(target)) as again:
                assert again["/one/x"][...].tolist() == five.tolist()
                assert again["/one"].node.nested.type.items[1].kind is TypeKind.OPTION
        target.unlink()
