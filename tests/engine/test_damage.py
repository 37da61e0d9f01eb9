"""What a damaged source has lost is told wherever its values are read: one mechanism for all formats."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numcodecs
import numpy as np
import pytest
import stream_encoder as enc
import zarr
from awkward0_encoder import Encoder, zipped
from zarr_versions import put

import refbrowser
from refbrowser.app.controller.document_files import source_words
from refbrowser.cli.program import main
from refbrowser.engine.dataset import damage_of
from refbrowser.engine.findings.collected_findings import collect, failures_of, turns_of
from refbrowser.engine.reading.fetching import confirm_later
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.model.reference import ReferenceKind
from refbrowser.views.plot.coordinates import AxisRole
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.plan import sampled_plan
from refbrowser.views.plot.reading import read_picture
from refbrowser.views.plot.slicing import first_slice
from refbrowser.wings.ncstream.reading.sections import LEFT_OUT
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.serving.application import Application
from refbrowser.wings.ncstream.window.document_stream import damage_words, repaired_words

ZARRAY = {
    "zarr_format": 2,
    "shape": [3],
    "chunks": [3],
    "dtype": ">i4",
    "compressor": None,
    "filters": None,
    "fill_value": 0,
    "order": "C",
}


def note(message: str, path: str | None, severity: Severity = Severity.FAULT, **facts: Any) -> Finding:
    return Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=Place(path=path), **facts)


def test_faults_and_losses_that_concern_a_path_are_damage() -> None:
    notes = (
        note("anywhere", None),
        note("a", "/g/a"),
        note("of a member", "/g/a/field"),
        note("of a group", "/g"),
        note("alike", "/g/ab"),
        note("only a warning", "/g/a", Severity.WARNING),
        note("cut", None, Severity.WARNING, is_loss=True),
    )
    access = SimpleNamespace(memory=SimpleNamespace(archives=SimpleNamespace(damaged=())))
    dataset = cast(Any, SimpleNamespace(document=SimpleNamespace(noted=lambda paths: notes), access=access))

    def told(*paths: str) -> list[str]:
        return [each.message for each in damage_of(dataset, paths or None)]

    assert told() == ["anywhere", "a", "of a member", "of a group", "alike", "cut"]
    assert told("/g/a") == ["anywhere", "a", "of a member", "of a group", "cut"]
    assert told("/g/ab", "/other") == ["anywhere", "of a group", "alike", "cut"]
    assert told("/other") == ["anywhere", "cut"]
    assert told("/") == told()


N = enc.dimension("n", 3)
HEADER = enc.header(
    enc.group(dimensions=[N], variables=[enc.variable(name, enc.INT, [N]) for name in ("a", "b")])
)
VALUES = enc.numbers("i", [1, 2, 3])


def message(
    name: str, *, ranges: Any = None, kind: int = enc.INT, payload: bytes = VALUES, **facts: Any
) -> bytes:
    ranges = enc.whole([3]) if ranges is None else ranges
    return enc.data(enc.data_body(name, kind, ranges, bigend=True, **facts), enc.regular(payload))


def stream(*damage: bytes) -> bytes:
    return enc.stream(HEADER, *damage, message("b"))


BODY = enc.data_body("a", enc.INT, enc.whole([3]), bigend=True)
#: Streams in which the values of `/a` may have been, or were, in what is damaged.
LOST = {
    "length": stream(enc.MAGIC_DATA + enc.regular(BODY) + enc.varint(13) + VALUES),
    "magic": stream(b"nonsense"),
    "varint": stream(enc.MAGIC_DATA + b"\xff" * 11),
    "protobuf": stream(enc.MAGIC_DATA + enc.regular(b"\x0a\xff")),
    "header": stream(enc.MAGIC_HEADER + enc.regular(b"\x0a\xff\xff")),
    "variable": stream(message("nobody")),
    "compression": stream(message("a", compress=2)),
    "rank": stream(message("a", ranges=[(0, 3, 1), (0, 1, 1)])),
    "range": stream(message("a", ranges=[(1, 3, 1)])),
    "size": stream(message("a", payload=VALUES[:8])),
    "type": stream(message("a", kind=enc.FLOAT)),
    "deflate": stream(message("a", compress=enc.DEFLATE, payload=b"no zlib stream")),
    "cut within": stream(message("a"))[:60],
    "cut before": stream()[:-10],
}
#: Streams of which something is damaged, and all of `/a` there: it is told all the same.
KEPT = {
    "before": stream(message("a"), b"nonsense"),
    "behind": stream(b"nonsense", message("a")),
    "of the sender": stream(message("a"), enc.error("the disk is full", 7)),
    "cut behind": stream(message("a"))[:-10],
    "without end": stream(message("a"))[:-4],
}


def answer(dataset: Any, request: str) -> tuple[str, bytes]:
    """Return the status and the body with which a request to a service is answered."""
    said: list[str] = []
    environ = {"REQUEST_METHOD": "GET", "QUERY_STRING": request, "PATH_INFO": "/", "HTTP_HOST": "localhost"}
    application = Application(dataset, "/cdmremote/a")
    application.begin("http://localhost", None)
    body = b"".join(application(environ, lambda status, _: said.append(status)))
    return said[0], body


def states(dataset: Any, path: str) -> set[ChunkState]:
    """Return the states of the chunks of a plot."""
    node = dataset[path].node
    picture = Picture(node, sampled_plan(node, first_slice(node, (AxisRole.NONE,))))
    read_picture(dataset.session, dataset.access, picture, CancelToken())
    return {ChunkState(each) for each in np.unique(picture.states).tolist()}


def is_told(said: str, *, is_lost: bool) -> bool:
    """Return whether a command tells what is lost, as an error in JSON, or that the source is damaged."""
    if not is_lost:
        return "the source is damaged: " in said
    return bool(json.loads(said.splitlines()[-1])["error"]["kind"] == "E_FORMAT")


@pytest.mark.parametrize("name", [*LOST, *KEPT])
def test_what_check_reports_is_told_wherever_values_are_read(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.ncs"
    path.write_bytes({**LOST, **KEPT}[name])
    is_lost = name in LOST

    def run(*arguments: str) -> tuple[int, Any, str]:
        code = main([*arguments, "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out or "null"), said.err

    code, checked, _ = run("check", str(path))
    assert checked["faults"] or checked["warnings"]
    assert (code == 2) == bool(checked["faults"])
    told = (each["message"].split(":")[0] for each in (*checked["faults"], *checked["warnings"]))
    found = set(told) - {"no-end"} or {"no-end"}
    code, values, said = run("read", str(path), "/a")
    assert (code, values) == ((2, None) if is_lost else (0, [1, 2, 3]))
    assert is_told(said, is_lost=is_lost)
    # The code of what is damaged, and the number of its message.
    assert any(each in said for each in found)
    assert "(message " in said
    for format in ("zarr-v2", "ncstream"):
        target = str(tmp_path / format)
        code, report, said = run("export", str(path), target, "--to", format, "--array", "/a")
        assert (code, report is None) == ((2, True) if is_lost else (0, False))
        assert is_told(said, is_lost=is_lost)
        if is_lost:
            code, report, said = run(
                "export", str(path), target, "--to", format, "--array", "/a", "--skip-bad", "--force"
            )
            assert code == 0
            assert "warning[E_FORMAT]: " in said
            assert report["skipped"]
        elif name != "without end":
            assert any("the source is damaged: " in loss["what"] for loss in report["losses"])
    _, explained, said = run("explain", str(path), "--array", "/a", "--index", "1")
    assert explained["kind"] == ("failed_read" if is_lost and name != "deflate" else explained["kind"])
    assert explained["kind"] != "missing"
    with refbrowser.open(str(path)) as dataset:
        status, body = answer(dataset, "req=data&var=a")
        assert status.startswith("500 " if is_lost else "200 ")
        assert (b"E_FORMAT: " in body) == is_lost
        assert states(dataset, "/a") == {ChunkState.FAILED if is_lost else ChunkState.DONE}
        assert (ReferenceKind.MISSING in dataset["/a"].node.manifest.kinds()) is False
        index = dataset.document.origin.index
        if name != "deflate":
            # Which a look at the payload finds.
            assert dataset["/a"].damage
            # A stream that only has no end may be one that is still being written.
            assert bool(damage_words("a.ncs", index)) == (name != "without end")


def test_archives_of_other_formats_feed_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoder = Encoder("one")
    members = encoder.members(encoder.jagged(np.full(10, 3), np.arange(30.0)))
    store = {".zgroup": b'{"zarr_format":2}'}
    store |= {"a/.zarray": json.dumps(ZARRAY).encode(), "a/0": VALUES}
    awkward = zipped(members)
    # The directory goes on behind what it says of the member.
    broken = bytearray(zipped(store))
    at = broken.rindex(b"a/0")
    broken[at - 46 + 20 : at - 46 + 24] = (1 << 30).to_bytes(4, "little")
    cut = awkward[: awkward.rindex(b"PK\x01\x02")]
    for name, data, array in (("a.awkd", cut, "/one"), ("a.zip", broken, "/a")):
        path = tmp_path / name
        path.write_bytes(data)
        assert main(["check", str(path)]) == 2
        capsys.readouterr()
        main(["read", str(path), array, "--json"])
        said = capsys.readouterr().err
        assert "the source is damaged: " in said
        with refbrowser.open(str(path)) as dataset:
            assert source_words(name, dataset.damage)


def test_what_is_appended_from_a_damaged_source_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    source.write_bytes(KEPT["before"])
    target.write_bytes(enc.stream(HEADER, message("a")))
    assert main(["append", str(target), str(source), "--overwrite"]) == 0
    assert "the source is damaged: bad-magic" in capsys.readouterr().err


@pytest.mark.slow
def test_stored_bytes_are_confirmed_before_they_are_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = np.arange(1, 65, dtype=">i4").reshape(4, 16)
    group = zarr.open_group(tmp_path / "v2", mode="w", zarr_format=2)
    put(group, "a", values, chunks=(2, 16), compressors=numcodecs.Zlib(1))
    group = zarr.open_group(tmp_path / "v3", mode="w", zarr_format=3)
    codecs = [zarr.codecs.GzipCodec()]
    put(group, "a", values.astype("i4"), chunks=(2, 8), shards=(4, 16), compressors=codecs)
    body = enc.data_body("b", enc.INT, enc.whole([3]), bigend=True, crc32=5)
    (tmp_path / "ncs").write_bytes(enc.stream(HEADER, message("a"), enc.data(body, enc.regular(VALUES))))
    for source, chunk, formats in (
        ("v2", "a/1.0", ("zarr-v2", "nczarr", "zarr-v3-draft", "ncstream")),
        ("v3", "a/c/0/0", ("zarr-v3",)),
    ):
        stored = tmp_path / source / chunk
        data = bytearray(stored.read_bytes())
        data[20] ^= 0xFF
        stored.write_bytes(data)
        for format in formats:
            export = ["export", str(tmp_path / source), str(tmp_path / f"{source}-{format}")]
            export += ["--to", format, "--json"]
            assert main(export) == 2, (source, format)
            assert "cannot decode" in capsys.readouterr().err
            assert main([*export, "--skip-bad", "--force"]) == 0
            said = capsys.readouterr()
            report = json.loads(said.out)
            # NCZarr has no bytes in that order: its chunks are made anew.
            assert (len(report["skipped"]), report["copied"]) == (1, format != "nczarr"), (source, format)
            assert "warning[E_DECODE]" in said.err
            with refbrowser.open(str(tmp_path / f"{source}-{format}")) as again:
                kept = again["/a"][...]
            # Of a shard the other inner chunks stay.
            lost = kept != values
            assert lost.sum() == (32 if source == "v2" else 16)
            assert lost[2:, :].all() if source == "v2" else lost[:2, :8].all()
    for format in ("zarr-v2", "ncstream"):
        assert main(["export", str(tmp_path / "ncs"), str(tmp_path / f"crc-{format}"), "--to", format]) == 0
        assert "crc32: the checksum of the data is" in capsys.readouterr().err


def outcomes(path: str, *names: str) -> dict[str, Any]:
    """Return each element of arrays: its value, or that it cannot be had; and how their chunks are marked."""
    found: dict[str, Any] = {}
    with refbrowser.open(path) as dataset:
        for name in names or ("/a", "/b"):
            values: list[int | None] = []
            for at in range(3):
                try:
                    values.append(int(dataset[name][at]))
                except RefbrowserError:
                    values.append(None)
            found[name] = values
            assert (ChunkState.FAILED in states(dataset, name)) == (None in values), (path, name)
    return found


@pytest.mark.slow
def test_of_what_a_repair_left_out_the_order_of_messages_counts(tmp_path: Path) -> None:
    source, target, again = (str(tmp_path / name) for name in ("a.ncs", "b.ncs", "c.ncs"))
    one = message("a", ranges=[(0, 2, 1)], payload=VALUES[:8])
    two = message("a", ranges=[(1, 2, 1)], payload=VALUES[:8])
    bad, worse = (
        message("a", ranges=[(at, 1, 1)], compress=enc.DEFLATE, payload=b"no zlib stream") for at in (1, 2)
    )
    fill = -(2**31) + 1
    for messages, values in (
        ((one, bad), [1, None, fill]),
        ((bad, one), [1, 2, fill]),
        ((one, bad, two), [1, 1, 2]),
        ((bad,), [fill, None, fill]),
        ((one, two, bad), [1, None, 2]),
    ):
        Path(source).write_bytes(stream(*messages))
        assert outcomes(source, "/a")["/a"] == values
        assert main(["repair", source, target, "--force"]) == 0
        assert main(["compact", target, again, "--force"]) == 0
        assert outcomes(target, "/a")["/a"] == outcomes(again, "/a")["/a"] == values
        # What is damaged later, before it in the stream, moves what is said of it.
        Path(source).write_bytes(Path(target).read_bytes().replace(one, worse, 1))
        damaged = outcomes(source, "/a")["/a"]
        assert main(["repair", source, target, "--force"]) == 0
        assert outcomes(target, "/a")["/a"] == damaged


@pytest.mark.slow
def test_what_a_repair_left_out_is_told_by_the_repaired_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target, again = (str(tmp_path / name) for name in ("a.ncs", "b.ncs", "c.ncs"))
    told = {
        "length": "of /a [0:3]",
        "magic": "of any variable",
        "deflate": "of /a [0:3]",
        "without end": "no end",
    }
    for name, words in told.items():
        Path(source).write_bytes({**LOST, **KEPT}[name])
        damaged = outcomes(source)
        assert main(["repair", source, target, "--force"]) == 0
        assert LEFT_OUT in capsys.readouterr().out
        # It stays with the stream, however it is written again.
        assert main(["compact", target, again, "--force"]) == 0
        assert outcomes(target) == outcomes(again) == damaged, name
        assert main(["repair", again, target, "--force"]) == 0
        assert outcomes(target) == damaged, name
        is_any, is_lost = "/a" not in words, name in LOST
        read = ["read", target, "/a", "--json"]
        code = main(["read", source, "/a", "--json"]) if is_lost else 0
        for verb, expected in ((["check", target], 0), (["info", target], 0), (read, code)):
            capsys.readouterr()
            assert main(verb) == expected, (name, verb)
            assert words in "".join(capsys.readouterr()), (name, verb)
        assert bool(code) == is_lost
        main(["read", target, "/b", "--json"])
        assert (words in capsys.readouterr().err) == is_any
        for format in ("ncstream", "zarr-v2", "nczarr", "parquet"):
            export = [
                "export",
                target,
                str(tmp_path / format),
                "--to",
                format,
                "--array",
                "/a",
                "--force",
                "--json",
            ]
            assert bool(main(export)) == is_lost, (name, format)
            capsys.readouterr()
            assert main([*export, "--skip-bad"]) == 0, (name, format)
            losses = [loss["what"] for loss in json.loads(capsys.readouterr().out)["losses"]]
            assert any(words in loss for loss in losses), (name, format)
        # A stream that is made of it tells the same; what is sent again is there again.
        assert outcomes(str(tmp_path / "ncstream"), "/a") == {"/a": damaged["/a"]}, name
        Path(source).write_bytes(stream(message("a", payload=enc.numbers("i", [4, 5, 6]))))
        assert main(["append", target, source, "--overwrite"]) == 0, name
        assert outcomes(target, "/a") == {"/a": [4, 5, 6]}, name
        with refbrowser.open(target) as dataset:
            assert bool(dataset["/b"].damage) == is_any
            shown = repaired_words("b.ncs", dataset.document.origin.index)
            assert "was repaired" in shown
            assert "/a [0:3]" in shown or is_any
    # What others wrote there is text.
    for value in ("no JSON", "[" * 100_000, "[1]", '{"text": "x", "variable": 3, "section": []}'):
        attribute = enc.attribute(LEFT_OUT, type=0, length=1, texts=[value])
        Path(source).write_bytes(enc.stream(enc.header(enc.group(attributes=[attribute]))))
        with refbrowser.open(source) as dataset:
            assert [note.is_loss for note in dataset.document.notes] == [True]


def test_repairs_without_loss_say_nothing(tmp_path: Path) -> None:
    source, target = tmp_path / "a.ncs", tmp_path / "b.ncs"
    for content in (stream(message("a")), stream(message("a"))[4:], stream(message("a")) + b"rubbish"):
        source.write_bytes(content)
        assert main(["repair", str(source), str(target), "--force"]) == 0
        assert target.read_bytes() == stream(message("a"))


def test_members_that_prove_to_be_damaged_are_told_like_other_damage(tmp_path: Path) -> None:
    values = np.arange(100_000, dtype=">i4")
    metadata = json.dumps({**ZARRAY, "shape": [100_000], "chunks": [100_000]}).encode()
    store = {".zgroup": b'{"zarr_format":2}'}
    for name in "ab":
        store |= {f"{name}/.zarray": metadata, f"{name}/0": values.tobytes()}
    encoder = Encoder("one")
    for name, members, key, array in (
        ("a.zip", store, "a/0", "a"),
        ("a.awkd", encoder.members(encoder.basic(values)), "one-0.raw", "one"),
    ):
        path, data = tmp_path / name, bytearray(zipped(members))
        data[data.index(values.tobytes()) + 399_000] ^= 1
        path.write_bytes(data)
        with refbrowser.open(str(path)) as dataset:
            before = turns_of(dataset)
            assert (dataset.damage, failures_of(dataset)) == ((), [])
            # A part is shown before all of it is confirmed.
            assert dataset.with_access(dataset.access.at_once())[array][5] == 5
            assert dataset.damage == ()
            assert confirm_later(dataset.session.fetcher, dataset.access, CancelToken())
            assert turns_of(dataset) > before
            (found,) = dataset.damage
            assert f"member '{key}': the CRC-32 of the member is not" in found.message
            assert found.place.path == ("/a" if name == "a.zip" else None)
            assert source_words(name, dataset.damage).startswith(f"{name} is damaged: member '{key}'")
            findings = collect(dataset.document, dataset.hierarchy, failures=failures_of(dataset))
            (finding,) = [each for each in findings.items if "CRC-32" in each.message]
            assert finding.spot == (("array", "/a") if name == "a.zip" else ("document", ""))
            if name == "a.zip":
                assert (len(dataset["a"].damage), dataset["b"].damage) == (1, ())
            # Reading it adds nothing to what is known.
            with pytest.raises(RefbrowserError, match="CRC-32"):
                dataset[array][5]
            again = collect(dataset.document, dataset.hierarchy, failures=failures_of(dataset))
            assert [each.count for each in again.items if "CRC-32" in each.message] == [1]


@pytest.mark.slow
def test_a_damaged_stream_that_grows_is_what_a_new_look_at_it_finds() -> None:
    more = [message("b"), message("a"), message("b")]
    for name, content in {**LOST, **KEPT}.items():
        whole = content.removesuffix(enc.MAGIC_END) + b"".join(more) + enc.MAGIC_END
        sizes = [*range(len(HEADER) + 4, len(whole), 17), len(whole)]
        index = None
        for size in sizes:
            index = walk_stream(MemoryBytes(whole[:size]), url="a.ncs", resume=index)
        fresh = walk_stream(MemoryBytes(whole), url="a.ncs")
        assert index is not None
        assert index.faults == fresh.faults, name
        assert index.has_end
        for column in ("kind", "offset", "stop", "fault", "variable"):
            assert getattr(index.table, column).tolist() == getattr(fresh.table, column).tolist(), name
