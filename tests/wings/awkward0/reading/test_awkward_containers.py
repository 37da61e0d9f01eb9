"""Hostile containers of Awkward 0: names that lead elsewhere, bombs, lies about sizes, damage."""

from __future__ import annotations

import bz2
import contextlib
import json
import lzma
import os
import struct
import tracemalloc
import zlib
from pathlib import Path

import awkward0_encoder as enc
import pytest
from awkward0_values import read_values

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError

MIB = 1 << 20
SOUND = [[1.5], [], [2.5, 3.5]]


def sound_members(name: str = "sound") -> dict[str, bytes]:
    encoder = enc.Encoder(name)
    return encoder.members(encoder.jagged([1, 0, 2], [1.5, 2.5, 3.5]))


def schema_of(read: str, count: int = 3) -> bytes:
    """Return a schema that reads bytes from one blob."""
    encoder = enc.Encoder("evil")
    buffer = {"read": read, "absolute": True}
    return encoder.members(encoder.call(encoder.frombuffer, buffer, enc.dtype_node("uint8"), count))[
        "evil.json"
    ]


def check(path: Path, *, evil: bool = True) -> None:
    """Check that the sound array is read and the other one is refused by an error."""
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/sound"]) == SOUND
        if evil:
            with pytest.raises(RefbrowserError):
                read_values(dataset["/evil"])


@pytest.mark.parametrize(
    "name", ["../outside.raw", "/outside.raw", "..\\outside.raw", "C:\\outside.raw", "a/../../b"]
)
def test_names_that_lead_outside_are_members_and_nothing_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.raw").write_bytes(b"out")
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "x.awkd"
    members = [*sound_members().items(), (name, b"abc"), ("evil.json", schema_of(name))]
    path.write_bytes(enc.raw_zip(members))
    before = sorted(tmp_path.rglob("*"))
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/sound"]) == SOUND
        with contextlib.suppress(RefbrowserError):
            assert read_values(dataset["/evil"]) == [97, 98, 99]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["../secret", "{tmp}/secret", "link"])
def test_a_folder_is_not_left(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_bytes(b"abc")
    folder = enc.write_folder(tmp_path / "folder.awkd", sound_members())
    (folder / "evil.json").write_bytes(schema_of(name.format(tmp=tmp_path)))
    (folder / "link").symlink_to(tmp_path / "secret")
    check(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    folder = enc.write_folder(tmp_path / "folder.awkd", sound_members())
    (folder / "evil.json").write_bytes(schema_of("pipe"))
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "other.json")
    check(folder)


def packed_zeros(name: str) -> bytes:
    """Return 64 MiB of zeros as members of archives are packed."""
    zeros = bytes(64 * MIB)
    if name == "deflate":
        coder = zlib.compressobj(9, zlib.DEFLATED, -15)
        return coder.compress(zeros) + coder.flush()
    if name == "bzip2":
        return bz2.compress(zeros)
    filters = [{"id": lzma.FILTER_LZMA1, "preset": 1}]
    packed = lzma.compress(zeros, lzma.FORMAT_RAW, filters=filters)
    return b"\x09\x04\x05\x00\x5d" + struct.pack("<I", 1 << 20) + packed


BOMBS = {"deflate": 8, "bzip2": 12, "lzma": 14}


def peak_while_opening(path: Path) -> int:
    """Return the bytes that opening a file and reading its sound array, and trying the other, takes."""
    with refbrowser.open(path) as dataset:
        read_values(dataset["/sound"])
    tracemalloc.start()
    try:
        with refbrowser.open(path) as dataset:
            assert read_values(dataset["/sound"]) == SOUND
            if "/evil" in dataset.arrays:
                with pytest.raises(RefbrowserError):
                    read_values(dataset["/evil"])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("method", BOMBS)
def test_members_are_unpacked_no_further_than_announced(tmp_path: Path, method: str) -> None:
    path = tmp_path / "bomb.awkd"
    data = packed_zeros(method)
    members = [*sound_members().items(), ("evil.raw", data), ("evil.json", schema_of("evil.raw"))]
    lies = {"evil.raw": (len(data), 3)}
    path.write_bytes(enc.raw_zip(members, methods={"evil.raw": BOMBS[method]}, sizes=lies))
    assert peak_while_opening(path) < 32 * MIB


@pytest.mark.slow
def test_a_schema_that_is_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.awkd"
    evil = b'{"awkward0": "' + bytes(64 * MIB) + b'"}'
    path.write_bytes(enc.zipped({**sound_members(), "evil.json": evil}, methods=enc.DEFLATED))
    assert peak_while_opening(path) < 48 * MIB


@pytest.mark.slow
def test_blobs_are_decompressed_no_further_than_wanted(tmp_path: Path) -> None:
    encoder = enc.Encoder("evil")
    buffer = encoder.call(["zlib", "decompress"], encoder.blob(zlib.compress(bytes(64 * MIB), 9)))
    root = encoder.call(encoder.frombuffer, buffer, enc.dtype_node("uint8"), 3)
    path = tmp_path / "bomb.awkd"
    path.write_bytes(enc.zipped({**sound_members(), **encoder.members(root)}))
    tracemalloc.start()
    try:
        with refbrowser.open(path) as dataset, contextlib.suppress(RefbrowserError):
            assert read_values(dataset["/evil"]) == [0, 0, 0]
        assert tracemalloc.get_traced_memory()[1] < 32 * MIB
    finally:
        tracemalloc.stop()


LIES = {
    "more than there is": {"sizes": {"evil.raw": (2**31, 2**31)}},
    "less than there is": {"sizes": {"evil.raw": (1, 1)}},
    "header behind the end": {"offsets": {"evil.raw": 2**31}},
    "method that nobody knows": {"methods": {"evil.raw": 97}},
    "encrypted method": {"methods": {"evil.raw": 99}},
    "deflate that is none": {"methods": {"evil.raw": 8}},
    "lzma that is none": {"methods": {"evil.raw": 14}},
    "bzip2 that is none": {"methods": {"evil.raw": 12}},
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_of_the_directory(tmp_path: Path, lie: str) -> None:
    path = tmp_path / "x.awkd"
    members = [*sound_members().items(), ("evil.raw", b"abcd"), ("evil.json", schema_of("evil.raw", 4))]
    path.write_bytes(enc.raw_zip(members, **LIES[lie]))
    check(path)


def test_lzma_with_a_huge_dictionary(tmp_path: Path) -> None:
    header = b"\x09\x04\x05\x00" + b"\x5d" + struct.pack("<I", 2**32 - 1)
    path = tmp_path / "x.awkd"
    members = [
        *sound_members().items(),
        ("evil.raw", header + bytes(40)),
        ("evil.json", schema_of("evil.raw")),
    ]
    path.write_bytes(enc.raw_zip(members, methods={"evil.raw": 14}, sizes={"evil.raw": (49, 3)}))
    check(path)


def test_names_given_twice_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.awkd"
    members = [*sound_members().items(), ("sound-0.raw", bytes(24))]
    path.write_bytes(enc.raw_zip(members))
    with refbrowser.open(path) as dataset:
        found = [*dataset.document.findings, *dataset.hierarchy.findings]
    assert any("sound-0.raw" in f"{each.message} {each.place}" for each in found), found


def test_a_schema_deep_beyond_all_bounds(tmp_path: Path) -> None:
    path = tmp_path / "x.awkd"
    evil = b'{"awkward0": "", "schema": ' + b'{"list": [' * 200_000 + b"]}" * 200_000 + b"}"
    path.write_bytes(enc.zipped({**sound_members(), "evil.json": evil}))
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/sound"]) == SOUND


@pytest.mark.slow
def test_a_schema_of_a_great_many_nodes(tmp_path: Path) -> None:
    path = tmp_path / "x.awkd"
    nodes = [{"json": number} for number in range(110_000)]
    evil = json.dumps({"awkward0": "", "schema": {"list": nodes}}).encode()
    path.write_bytes(enc.zipped({**sound_members(), "evil.json": evil}))
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/sound"]) == SOUND


def test_metadata_is_data(tmp_path: Path) -> None:
    encoder = enc.Encoder("sound")
    root = encoder.jagged([1, 0, 2], [1.5, 2.5, 3.5])
    strange = {
        "__class__": "os.system",
        "doc": "\x1b]0;x\x07",
        "metadata": {"a": [None] * 9, "": float("1e308")},
    }
    path = tmp_path / "x.awkd"
    path.write_bytes(enc.zipped(encoder.members(root, **strange)))
    check(path, evil=False)


def test_a_sparse_array_has_no_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that take no bytes are neither made nor visited one after the other."""
    encoder = enc.Encoder("sparse")
    path = tmp_path / "x.awkd"
    root = encoder.make("SparseArray", 2**50, encoder.basic([5]), encoder.basic([1]))
    path.write_bytes(enc.zipped({**encoder.members(root), **sound_members()}))
    with refbrowser.open(path) as dataset:
        array = dataset["/sparse"]
        assert read_values(array, 2**50 - 2, 2**50) == [0, 0]
        assert read_values(array, 4, 7) == [0, 1, 0]
        assert array[5] == 1
        with pytest.raises(RefbrowserError) as caught:
            array.to_awkward()
        assert str(caught.value.kind) == "E_BUDGET"
    assert main(["check", str(path)]) == 0
    assert main(["info", str(path)]) == 0
    assert "sparse" in capsys.readouterr().out
