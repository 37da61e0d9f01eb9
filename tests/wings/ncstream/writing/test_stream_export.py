"""Exports to streams: what siphon and our reader find in them, what is copied, left out and told."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from exported_streams import attributes_by_siphon, exported, opened, read_by_siphon

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.check import check_export
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.request import ExportRequest
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import LocalBytes
from refbrowser.wings.ncstream.reading.messages import MessageKind
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.writing import encoding, stream_file
from refbrowser.wings.ncstream.writing.stream_options import KEPT_LEVEL, PROFILES, StreamOptions, stream_codec


def walked(path: Path):
    source = LocalBytes(path)
    try:
        index = walk_stream(source, url=str(path))
    finally:
        source.close()
    assert not index.faults
    return index


def same(one, other) -> bool:
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


def cube(dtype=">f4"):
    return np.arange(5 * 6 * 7).reshape(5, 6, 7).astype(dtype)


# Real files


@pytest.mark.slow
def test_siphon_reads_the_real_files_in_the_compatible_profile(shared_data: Path, tmp_path: Path) -> None:
    expected = json.loads((shared_data / "real" / "expected.json").read_text())
    for name, arrays in expected.items():
        target = tmp_path / f"{name}.ncs"
        with refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset:
            exported(dataset, target, profile="compatible")
            header, values = read_by_siphon(target)
            assert list(values) == [path.strip("/") for path in dataset]
            for path, facts in arrays.items():
                found = values[path].reshape(facts["shape"])
                little = found.astype(found.dtype.newbyteorder("<")).tobytes()
                digest = facts["sha256_of_C_order_little_endian_bytes"]
                assert hashlib.sha256(little).hexdigest() == digest, path
            for variable in header.root.vars:
                wanted = dict(dataset[f"/{variable.name}"].attrs)
                wanted.pop("_ARRAY_DIMENSIONS", None)
                found = attributes_by_siphon(variable)
                wanted.pop("_FillValue", None), found.pop("_FillValue", None)
                assert found == wanted
                dimensions = dataset[f"/{variable.name}"].dimensions
                assert tuple(each.name for each in variable.shape) == dimensions


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["eraint_uvz", "cth"])
def test_our_reader_finds_the_real_files_again(
    shared_data: Path, tmp_path: Path, name: str, profile: str
) -> None:
    target = tmp_path / "a.ncs"
    with refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset:
        report = exported(dataset, target, profile=profile, codec="zlib:1")
        assert report.verified == report.chunks + 1
        with refbrowser.open(target) as found:
            assert list(found) == list(dataset)
            for path, array in dataset.arrays.items():
                assert same(array[...], found[path][...]), path
                assert array.dimensions == found[path].dimensions


# Messages


def test_compatible_is_one_plain_message_for_each_variable_and_texts_last(tmp_path: Path) -> None:
    texts = np.array(["ä", "", "long"])
    arrays = {"t": {"values": texts}, "a": {"values": cube("<i2"), "chunks": (2, 2, 2), "level": 1}}
    exported(opened(tmp_path, arrays), tmp_path / "a.ncs", profile="compatible")
    table = walked(tmp_path / "a.ncs").table
    assert [table.names[at] for at in table.variable[1:]] == ["/a", "/t"]
    assert table.byte_order[1:].tolist() == [1, 1]
    assert not table.deflated.any()
    assert (table.crc32 == -1).all()
    _, values = read_by_siphon(tmp_path / "a.ncs")
    assert values["t"].tolist() == texts.tolist()
    assert same(values["a"], cube("<i2"))


@pytest.mark.parametrize("codec", ["keep", "none", "zlib:4"])
def test_full_cuts_into_tiles_with_checksums(tmp_path: Path, codec: str) -> None:
    values = np.arange(200 * 300, dtype="<i4").reshape(200, 300)
    dataset = opened(tmp_path, {"a": {"values": values, "level": 1}})
    exported(dataset, tmp_path / "a.ncs", codec=codec, tile_size=50_000)
    index = walked(tmp_path / "a.ncs")
    table, data = index.table, (tmp_path / "a.ncs").read_bytes()
    assert len(table) == 6
    assert table.deflated[1:].all() == (codec != "none")
    for row in range(1, len(table)):
        ranges = table.ranges(row)
        assert np.prod([len(each) for each in ranges]) * 4 <= 50_000
        payload = data[table.payload_offset[row] :][: table.payload_length[row]]
        assert zlib.crc32(payload) == table.crc32[row]
        plain = zlib.decompress(payload) if table.deflated[row] else payload
        assert plain == values[np.ix_(*ranges)].astype(">i4").tobytes()
    assert same(refbrowser.open(tmp_path / "a.ncs")["a"][...], values)


def test_checksums_and_deflate_can_be_had_in_the_compatible_profile(tmp_path: Path) -> None:
    arrays = {"a": {"values": cube(), "chunks": (2, 6, 7)}, "t": {"values": np.array(["x", "yz"])}}
    exported(
        opened(tmp_path, arrays), tmp_path / "a.ncs", profile="compatible", codec="zlib:9", checksum=True
    )
    table, data = walked(tmp_path / "a.ncs").table, (tmp_path / "a.ncs").read_bytes()
    assert len(table) == 3
    payload = data[table.payload_offset[1] :][: table.payload_length[1]]
    assert zlib.crc32(payload) == table.crc32[1]
    assert zlib.decompress(payload) == cube().tobytes()
    assert zlib.crc32(b"xyz") == table.crc32[2]
    assert same(read_by_siphon(tmp_path / "a.ncs")[1]["a"], cube())


def test_plain_elements_have_a_checksum_too_when_asked_for(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": {"values": cube("<f8"), "chunks": (3, 4, 2)}})
    exported(dataset, tmp_path / "a.ncs", profile="compatible", checksum=True)
    table = walked(tmp_path / "a.ncs").table
    assert table.crc32[1] == zlib.crc32(cube(">f8").tobytes())


# Copying


def test_deflated_big_endian_chunks_are_copied_as_they_are(tmp_path: Path) -> None:
    values = cube(">i4")
    facts = {"values": values, "chunks": (2, 3, 7), "level": 7, "missing": [(0, 1, 0)], "fill_value": 9}
    report = exported(opened(tmp_path, {"a": facts}), tmp_path / "a.ncs")
    stored = zlib.compress(values[0:2, 0:3].tobytes(), 7)
    assert stored in (tmp_path / "a.ncs").read_bytes()
    # Of six chunks two lie over the edge, and one is missing.
    assert (report.chunks, report.copied, report.missing) == (5, 3, 1)
    wanted = values.copy()
    wanted[0:2, 3:6] = 9
    assert same(refbrowser.open(tmp_path / "a.ncs")["a"][...], wanted)


def test_little_endian_and_filtered_chunks_are_not_copied(tmp_path: Path) -> None:
    facts = {"values": cube("<i4"), "chunks": (5, 3, 7), "level": 7}
    report = exported(opened(tmp_path, {"a": facts}), tmp_path / "a.ncs")
    assert report.copied == 0
    assert same(refbrowser.open(tmp_path / "a.ncs")["a"][...], cube("<i4"))


@pytest.mark.parametrize("profile", PROFILES)
def test_uncompressed_big_endian_chunks_count_as_copied(tmp_path: Path, profile: str) -> None:
    facts = {"values": cube(">f8"), "chunks": (1, 3, 7)}
    report = exported(opened(tmp_path, {"a": facts}), tmp_path / "a.ncs", profile=profile)
    assert report.copied == report.chunks == 1
    assert same(refbrowser.open(tmp_path / "a.ncs")["a"][...], cube(">f8"))


# What is missing or cannot be read


@pytest.mark.parametrize("fill", [None, 0, -32767, 5])
@pytest.mark.parametrize("profile", PROFILES)
def test_missing_chunks_read_as_before(tmp_path: Path, profile: str, fill: int | None) -> None:
    facts = {
        "values": cube("<i2"),
        "chunks": (1, 6, 7),
        "missing": [(1, 0, 0), (3, 0, 0)],
        "fill_value": fill,
    }
    dataset = opened(tmp_path, {"a": facts})
    report = exported(dataset, tmp_path / "a.ncs", profile=profile, tile_size=6 * 7 * 2)
    found = refbrowser.open(tmp_path / "a.ncs")["a"]
    assert same(found[...], dataset["a"][...])
    is_told = fill in (0, 5)
    assert ("_FillValue" in found.attrs) == is_told
    assert any("_FillValue is added" in loss.what for loss in report.losses) == is_told
    assert report.missing == (2 if profile == "full" and fill is not None else 0)


@pytest.mark.parametrize("profile", PROFILES)
def test_unreadable_chunks_end_the_export_or_are_left_out(tmp_path: Path, profile: str) -> None:
    facts = {"values": cube("<i2"), "chunks": (1, 6, 7), "level": 1}
    source = opened(tmp_path, {"a": facts, "b": {"values": cube()}})
    text = (tmp_path / "source.json").read_text()
    document = json.loads(text)
    document["refs"]["a/2.0.0"] = "base64:AAAA"
    (tmp_path / "source.json").write_text(json.dumps(document))
    source = refbrowser.open(tmp_path / "source.json")
    with pytest.raises(RefbrowserError) as raised:
        exported(source, tmp_path / "a.ncs", profile=profile, tile_size=6 * 7 * 2)
    assert raised.value.place.key == "a/2.0.0"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.json"]
    report = exported(source, tmp_path / "a.ncs", profile=profile, tile_size=6 * 7 * 2, skip_bad=True)
    assert [error.place.key for error in report.skipped] == ["a/2.0.0"]
    found, wanted = refbrowser.open(tmp_path / "a.ncs"), cube("<i2")
    wanted[2] = -32767
    assert same(found["a"][...], wanted)
    assert same(found["b"][...], cube())


def test_arrays_that_are_not_readable_are_told(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": {"values": cube()}, "b": {"values": cube()}})
    document = json.loads((tmp_path / "source.json").read_text())
    metadata = json.loads(document["refs"]["b/.zarray"]) | {"compressor": {"id": "unheard of"}}
    document["refs"]["b/.zarray"] = json.dumps(metadata)
    (tmp_path / "source.json").write_text(json.dumps(document))
    dataset = refbrowser.open(tmp_path / "source.json")
    with pytest.raises(RefbrowserError, match="unheard of"):
        exported(dataset, tmp_path / "a.ncs")
    report = exported(dataset, tmp_path / "a.ncs", skip_bad=True)
    assert [error.place.path for error in report.skipped] == ["/b"]
    assert list(refbrowser.open(tmp_path / "a.ncs")) == ["a"]


# Safe writing


def test_a_target_is_replaced_only_when_asked_and_whole(tmp_path: Path) -> None:
    dataset, target = opened(tmp_path, {"a": {"values": cube()}}), tmp_path / "a.ncs"
    target.write_bytes(b"mine")
    with pytest.raises(RefbrowserError, match="exists already"):
        refbrowser.export(dataset, target, format="ncstream")
    assert target.read_bytes() == b"mine"
    refbrowser.export(dataset, target, format="ncstream", force=True)
    assert same(refbrowser.open(target)["a"][...], cube())


def test_cancelling_leaves_nothing(tmp_path: Path) -> None:
    facts = {"values": cube(), "chunks": (1, 6, 7)}
    dataset = opened(tmp_path, {"a": facts, "b": facts})
    token = CancelToken()
    control = JobControl(token, lambda changes: token.cancel())
    with pytest.raises(Cancelled):
        run_export(dataset, ExportRequest(str(tmp_path / "a.ncs"), "ncstream"), control)
    assert [path.name for path in tmp_path.iterdir()] == ["source.json"]


@pytest.mark.parametrize("profile", PROFILES)
def test_bytes_that_do_not_reach_the_file_are_noticed(
    tmp_path: Path, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"values": cube("<i4"), "chunks": (2, 3, 4)}
    dataset = opened(tmp_path, {"a": facts, "t": {"values": np.array(["one", "two"])}})
    put = stream_file.StreamFile.put

    def torn(self, offset, data):
        data = bytes(memoryview(data).cast("B"))
        return put(self, offset, data[:-1] + bytes([data[-1] ^ 1]) if len(data) > 200 else data)

    monkeypatch.setattr(stream_file.StreamFile, "put", torn)
    with pytest.raises(RefbrowserError, match="verification failed"):
        exported(dataset, tmp_path / "a.ncs", profile=profile, codec="none")
    assert [path.name for path in tmp_path.iterdir()] == ["source.json"]


def test_resuming_has_no_meaning(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": {"values": cube()}})
    with pytest.raises(RefbrowserError, match="always written in one run"):
        refbrowser.export(dataset, tmp_path / "a.ncs", format="ncstream", resume=True)


# Parts and options


def test_parts_of_arrays_keep_their_dimensions(tmp_path: Path) -> None:
    facts = {"values": cube(), "chunks": (2, 2, 2), "dimensions": ["t", "y", "x"]}
    other = {"values": np.arange(6.0), "dimensions": ["y"]}
    dataset = opened(tmp_path, {"g/a": facts, "g/y": other, "z": other}, groups=("g",))
    refbrowser.export(dataset, tmp_path / "a.ncs", format="ncstream", arrays={"/g/a": np.s_[3, 1:5:2, :4]})
    found = refbrowser.open(tmp_path / "a.ncs")
    assert list(found.arrays) == ["/g/a"]
    assert found["/g/a"].dimensions == ("y", "x")
    assert same(found["/g/a"][...], cube()[3, 1:5:2, :4])
    with pytest.raises(RefbrowserError, match="steps are positive"):
        refbrowser.export(dataset, tmp_path / "b.ncs", format="ncstream", arrays={"/g/a": np.s_[::-1]})


@pytest.mark.parametrize("text", ["zstd:3", "blosc", "zlib:77", "what"])
def test_codecs_that_streams_lack_are_refused(text: str) -> None:
    with pytest.raises(RefbrowserError):
        stream_codec(text)


def test_deflate_is_another_word_for_zlib() -> None:
    assert StreamOptions(codec="deflate:5").level(is_compressed=False) == 5
    assert StreamOptions(codec="keep").level(is_compressed=False) is None
    assert StreamOptions(codec="keep").level(is_compressed=True) == KEPT_LEVEL
    assert StreamOptions(codec="keep", profile="compatible").level(is_compressed=True) is None


def test_the_estimate_is_made_without_reading(tmp_path: Path) -> None:
    facts = {"values": cube(), "chunks": (1, 6, 7), "missing": [(0, 0, 0)], "fill_value": 1}
    dataset = opened(tmp_path, {"a": facts})
    stream = StreamOptions(tile_size=6 * 7 * 4)
    cost = estimate_export(dataset, ExportRequest(str(tmp_path / "a.ncs"), "ncstream", options=stream))
    assert (cost.chunks, cost.missing) == (5, 1)
    assert 5 * 6 * 7 * 4 <= cost.target_bytes <= 20_000
    assert [loss.what for loss in cost.losses] == ["_FillValue is added: it holds the array's fill value"]


def test_a_stream_begins_with_its_one_header(tmp_path: Path) -> None:
    exported(opened(tmp_path, {"a": {"values": cube()}}), tmp_path / "a.ncs")
    index = walked(tmp_path / "a.ncs")
    assert index.table.kind.tolist() == [MessageKind.HEADER, MessageKind.DATA]
    assert index.has_start
    assert index.has_end


# Checking with siphon


def request_for(target: Path, profile: str = "compatible") -> ExportRequest:
    return ExportRequest(str(target), "ncstream", force=True, options=StreamOptions(profile=profile))


@pytest.mark.slow
def test_siphon_checks_the_compatible_profile(tmp_path: Path) -> None:
    rows = np.zeros(3, [("a", "<i2"), ("b", "<f8")])
    rows["a"] = [1, 2, 3]
    arrays = {
        "g/n": {"values": cube("<f4"), "chunks": (2, 2, 2), "attributes": {"units": "m", "r": [0.5, 2]}},
        "t": {"values": np.array([["a", "ö"], ["", "z"]]), "dimensions": ["y", "x"]},
        "s": {"values": rows},
    }
    dataset = opened(tmp_path, arrays, groups=("g",))
    request = request_for(tmp_path / "a.ncs")
    run_export(dataset, request)
    report = check_export(dataset, request)
    assert report.is_equal
    assert [each.name for each in report.programs] == ["siphon"]
    assert {item.path for item in report.items if item.what == "values"} == {"/g/n", "/t", "/s"}


@pytest.mark.slow
def test_siphon_finds_what_is_not_as_in_the_source(tmp_path: Path) -> None:
    facts = {"values": cube("<i4"), "attributes": {"units": "m"}}
    dataset = opened(tmp_path, {"a": facts, "b": facts})
    request = request_for(tmp_path / "a.ncs")
    run_export(dataset, request)
    data = bytearray((tmp_path / "a.ncs").read_bytes())
    data[data.rindex(cube(">i4").tobytes()) + 3] ^= 1
    at = data.index(b"units") + 5
    data[data.index(b"m", at)] = ord("k")
    (tmp_path / "a.ncs").write_bytes(data)
    differing = [(item.path, item.what) for item in check_export(dataset, request).items if not item.is_equal]
    assert differing == [("/a", "attribute 'units'"), ("/b", "values")]


def test_the_full_profile_is_not_checked_with_siphon(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": {"values": cube()}})
    request = request_for(tmp_path / "a.ncs", "full")
    run_export(dataset, request)
    report = check_export(dataset, request)
    assert report.programs == ()
    assert "compatible" in report.notes[0]


def test_programs_choose_how_a_stream_is_written(tmp_path: Path) -> None:
    opened(tmp_path, {"a": {"values": cube(), "chunks": (1, 6, 7)}})
    options = StreamOptions(tile_size=6 * 7 * 4)
    report = refbrowser.export(
        tmp_path / "source.json", tmp_path / "a.ncs", format="ncstream", options=options
    )
    assert report.chunks == 5


@pytest.mark.parametrize("profile", PROFILES)
def test_a_large_definition_is_told_by_several_headers_that_extend_each_other(
    tmp_path: Path, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"values": cube(), "attributes": {"text": "x" * 200}, "dimensions": ["t", "y", "x"]}
    names = ("b", "a", "g/d", "g/c", "g/h/e", "g/h/f")
    dataset = opened(tmp_path, dict.fromkeys(names, facts), groups=("g", "g/h", "empty"))
    monkeypatch.setattr(encoding, "MOST", 600)
    exported(dataset, tmp_path / "a.ncs", profile=profile)
    index = walked(tmp_path / "a.ncs")
    headers = [row for row in range(len(index.table)) if index.table.kind[row] == MessageKind.HEADER]
    assert len(headers) == (1 if profile == "compatible" else 4)
    found = refbrowser.open(tmp_path / "a.ncs")
    assert list(found) == list(dataset)
    assert list(found.groups) == list(dataset.groups)
    for path, array in found.arrays.items():
        assert same(array[...], cube())
        assert dict(array.attrs)["text"] == "x" * 200, path
        assert array.dimensions == ("t", "y", "x")


@pytest.mark.slow
def test_what_a_damaged_source_lacks_is_told(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": {"values": cube()}, "b": {"values": cube()}})
    exported(dataset, tmp_path / "a.ncs", profile="compatible")
    (tmp_path / "cut.ncs").write_bytes((tmp_path / "a.ncs").read_bytes()[:-100])
    cut = refbrowser.open(tmp_path / "cut.ncs")
    with pytest.raises(RefbrowserError, match="truncated"):
        exported(cut, tmp_path / "b.ncs")
    report = exported(cut, tmp_path / "b.ncs", skip_bad=True)
    assert [(loss.path, "truncated" in loss.what) for loss in report.losses] == [("/b", True)]
    found = refbrowser.open(tmp_path / "b.ncs")
    assert same(found["a"][...], cube())
    # Of its 840 bytes 100 less END did not arrive.
    assert same(found["b"][...].reshape(-1)[:180], cube().reshape(-1)[:180])
    assert (found["b"][...].reshape(-1)[186:] == found["b"].node.fill_value).all()
