"""What is no longer there, or not what it was, of files of Awkward 0: told, and never shown as values."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awkward
import numpy as np
import pytest
from awkward0_encoder import DEFLATED, STORED, Encoder, write_folder, zipped

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.formats.registry import written
from refbrowser.model.reference import Inline
from refbrowser.references.content.refs import no_references
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.reading.opening import Awkward0Origin
from refbrowser.wings.awkward0.reading.soundness import _TOGETHER


def jagged(name: str = "one", content: int = 20_000) -> dict[str, bytes]:
    encoder = Encoder(name)
    return encoder.members(encoder.jagged(np.full(content // 10, 10), np.arange(float(content))))


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_a_byte_that_changed_in_a_large_blob_is_found_by_check(
    tmp_path: Path, method: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only ranges of stored members are read otherwise, which no checksum is of."""
    members = jagged()
    data = bytearray(zipped(members, methods=method))
    at = data.index(b"one-2.raw") + 20_000
    data[at] ^= 1
    path = tmp_path / "a.awkd"
    path.write_bytes(data)
    assert main(["check", str(path)]) == 2
    assert "one-2.raw" in capsys.readouterr().out


def test_members_that_are_not_held_at_once_are_checked_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = sys.modules["refbrowser.wings.awkward0.reading.soundness"]
    monkeypatch.setattr(module, "_TOGETHER", 50_000)
    monkeypatch.setattr("refbrowser.engine.reading.members.BLOCK", 30_000)
    assert _TOGETHER > 50_000
    path = tmp_path / "a.awkd"
    data = bytearray(zipped(jagged()))
    path.write_bytes(data)
    assert main(["check", str(path)]) == 0
    data[data.index(b"one-2.raw") + 100_000] ^= 1
    path.write_bytes(data)
    assert main(["check", str(path)]) == 2
    assert "CRC-32" in capsys.readouterr().out


@pytest.mark.slow
def test_what_damaged_archives_have_lost_is_told_where_they_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By reads and exports of every kind; whole archives have nothing to tell."""
    data = zipped(jagged(content=200) | jagged("two", 200))
    end, first = data.rindex(b"PK\x05\x06"), data.index(b"PK\x01\x02")
    counted = bytearray(data)
    counted[end + 8] = counted[end + 10] = 2
    path = tmp_path / "a.awkd"
    for damaged, told in (
        (data, ""),
        (data[:first], "the directory of the archive cannot be read"),
        (data[: data.index(b"two-2.raw") + 100], "the member is cut short"),
        (bytes(counted), "the end of the archive counts 2 members"),
    ):
        path.write_bytes(damaged)
        commands = [["read", str(path), "/one", "--json"]]
        commands.append(["read", str(path), "/one/node2-data", "-o", str(tmp_path / "o.npy"), "--force"])
        for format in ("parquet", "zarr-v3", "awkward0", "refs-v1", "ncstream"):
            target = str(tmp_path / f"target.{format}")
            commands.append(["export", str(path), target, "--to", format, "--force", "--array", "/one"])
        for command in commands:
            assert main(command) == 0
            err = capsys.readouterr().err
            assert ("the source is damaged" in err) is bool(told), command
            assert told in err
        assert main(["read", str(path), "/gone"]) == 2
        err = capsys.readouterr().err
        assert "there is no group or array '/gone'" in err
        assert ("the source is damaged" in err) is bool(told)
        # What is left is confirmed as in a whole archive.
        wrong = bytearray(damaged)
        wrong[wrong.index(np.arange(9.0).tobytes())] ^= 1
        path.write_bytes(wrong)
        with refbrowser.open(path) as dataset:
            for name in ("/one", "/one/node2-data"):
                with pytest.raises(RefbrowserError, match="CRC-32"):
                    dataset[name][-2:]


def test_a_file_that_is_gone_from_a_folder_is_an_error_and_no_fill_value(tmp_path: Path) -> None:
    encoder = Encoder("b")
    folder = write_folder(tmp_path / "folder", encoder.members(encoder.basic([1, 2, 3])))
    with refbrowser.open(str(folder)) as dataset:
        (folder / "b-0.raw").unlink()
        with pytest.raises(RefbrowserError):
            dataset["/b"][...]


def test_a_blob_that_no_schema_finds_is_an_error_of_its_array(tmp_path: Path) -> None:
    members = jagged()
    del members["one-2.raw"]
    path = tmp_path / "a.awkd"
    path.write_bytes(zipped({**members, **jagged("two", 100)}))
    with refbrowser.open(str(path)) as dataset:
        assert len(dataset["/two"][...]) == 10
        with pytest.raises(RefbrowserError) as caught:
            dataset["/one"][...]
        assert "one-2.raw" in str(caught.value)


def test_an_array_that_was_taken_out_of_the_document_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.awkd"
    path.write_bytes(zipped(jagged()))
    with refbrowser.open(str(path)) as dataset:
        assert "/one" in dataset.arrays
        assert not dataset.with_document(dataset.document.with_refs(no_references())).arrays


def test_a_blob_that_cannot_be_read_says_why() -> None:
    error = RefbrowserError(ErrorKind.FORMAT, "it is broken")
    blobs = {"bad": Blob("bad", Inline(b""), 3, 3, error=error), "good": Blob("good", Inline(b"1"), 1, 1)}
    container: Any = SimpleNamespace(find=blobs.get)
    origin = Awkward0Origin("a.awkd", container, ())
    assert origin.reference_of("good") == Inline(b"1")
    assert origin.reference_of("none") is None
    with pytest.raises(RefbrowserError, match="broken"):
        origin.reference_of("bad")


# A DMR++ has no lists.
@pytest.mark.parametrize("format", [each for each in written() if each != "dmrpp"])
def test_exports_of_every_format_say_what_a_cut_archive_has_lost(tmp_path: Path, format: str) -> None:
    path = tmp_path / "a.awkd"
    path.write_bytes(zipped({**jagged("one", 100), **jagged("two", 100)})[:-30])
    with refbrowser.open(str(path)) as dataset:
        chosen = ArrayChoice.of(dataset, "/one")
        report = run_export(dataset, ExportRequest(str(tmp_path / "t.awkd"), format, (chosen,)))
    assert any("is damaged" in loss.what for loss in report.losses)


@pytest.mark.parametrize("format", ["parquet", "zarr-v2"])
def test_an_array_that_cannot_be_decoded_does_not_keep_others_from_being_written(
    tmp_path: Path, format: str
) -> None:
    path, request = tmp_path / "a.awkd", ExportRequest(str(tmp_path / "t.awkd"), format)
    bad = Encoder("bad")
    numbers = bad.basic(np.arange(500), codecs=["zlib.decompress"])
    members = bad.members(bad.jagged(np.full(50, 10), numbers))
    (packed,) = (name for name in members if members[name][:1] == b"\x78")
    members[packed] = members[packed][:20] + b"\xff" * 20 + members[packed][40:]
    path.write_bytes(zipped({**members, **jagged("good", 500)}))
    with refbrowser.open(str(path)) as dataset:
        with pytest.raises(RefbrowserError):
            run_export(dataset, request)
        report = run_export(dataset, replace(request, skip_bad=True))
    assert any("decode" in str(error) or "decompress" in str(error) for error in report.skipped)
    if format == "parquet":
        rows = awkward.from_parquet(tmp_path / "t.awkd")
        assert rows["bad"].to_list() == [None] * 50
        assert rows["good"][1].to_list() == list(range(10, 20))
