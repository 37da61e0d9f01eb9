"""Hostile containers of Awkward 0: names that lead elsewhere, bombs, lies about sizes, damage."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import tracemalloc
import zlib
from pathlib import Path

import awkward0_encoder as enc
import pytest
from awkward0_values import read_values

import refbrowser
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


def bombs() -> dict[str, dict[str, tuple[bytes, int]]]:
    """Return members with their methods: what looks small and is not."""
    zeros = bytes(64 * MIB)
    encoder = enc.Encoder("evil")
    inner = zlib.compress(zeros, 9)
    buffer = encoder.call(["zlib", "decompress"], encoder.blob(inner))
    rooted = encoder.members(encoder.call(encoder.frombuffer, buffer, enc.dtype_node("uint8"), 3))
    return {
        "a schema": {"evil.json": (b'{"awkward0": "' + zeros + b'"}', enc.DEFLATED)},
        "a blob": {"evil.raw": (zeros, enc.DEFLATED), "evil.json": (schema_of("evil.raw", 3), enc.STORED)},
        "a blob of bzip2": {"evil.raw": (zeros, enc.BZIP2), "evil.json": (schema_of("evil.raw"), enc.STORED)},
        "a blob of lzma": {"evil.raw": (zeros, enc.LZMA), "evil.json": (schema_of("evil.raw"), enc.STORED)},
        "a blob that was compressed": {name: (data, enc.DEFLATED) for name, data in rooted.items()},
    }


@pytest.mark.parametrize("name", bombs())
def test_bombs_take_no_memory(tmp_path: Path, name: str) -> None:
    members = bombs()[name]
    path = tmp_path / "bomb.awkd"
    data = {**{each: made[0] for each, made in members.items()}, **sound_members()}
    path.write_bytes(enc.zipped(data, methods={each: made[1] for each, made in members.items()}))
    assert path.stat().st_size < 2 * MIB
    del data
    with refbrowser.open(path) as dataset:
        read_values(dataset["/sound"])
    tracemalloc.start()
    try:
        with refbrowser.open(path) as dataset:
            assert read_values(dataset["/sound"]) == SOUND
            if "/evil" in dataset.arrays:
                with contextlib.suppress(RefbrowserError):
                    assert read_values(dataset["/evil"]) == [0, 0, 0]
        assert tracemalloc.get_traced_memory()[1] < 48 * MIB
    finally:
        tracemalloc.stop()


LIES = {
    "more than there is": {"sizes": {"evil.raw": (2**31, 2**31)}},
    "less than there is": {"sizes": {"evil.raw": (1, 1)}},
    "header behind the end": {"offsets": {"evil.raw": 2**31}},
    "header of another member": {"offsets": {"evil.raw": 0}},
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
        found = [*dataset.document.findings, *dataset.hierarchy.problems]
    assert any("sound-0.raw" in each.message for each in found), found


def test_a_schema_deep_beyond_all_bounds(tmp_path: Path) -> None:
    path = tmp_path / "x.awkd"
    evil = b'{"awkward0": "", "schema": ' + b'{"list": [' * 200_000 + b"]}" * 200_000 + b"}"
    path.write_bytes(enc.zipped({**sound_members(), "evil.json": evil}))
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/sound"]) == SOUND


def test_a_schema_of_a_great_many_nodes(tmp_path: Path) -> None:
    path = tmp_path / "x.awkd"
    nodes = [{"json": number} for number in range(200_000)]
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
