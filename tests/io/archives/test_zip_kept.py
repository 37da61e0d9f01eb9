"""Members that go into another archive: their bytes and entries, whatever their headers are like."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.archives.directory import KeptMember, kept_members

FULL = 0xFFFFFFFF


def members(data: bytes) -> list[KeptMember]:
    return list(kept_members(lambda start, stop: data[start:stop], len(data), "x.zip"))


def archive(**contents: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, data in contents.items():
            made.writestr(name, data)
    return file.getvalue()


def test_members_lie_one_behind_the_other() -> None:
    data = archive(a=b"12", b=b"345")
    found = members(data)
    assert [each.name for each in found] == ["a", "b"]
    assert found[0].start == 0
    assert found[0].stop == found[1].start
    assert data[found[0].start : found[0].stop].endswith(b"12")
    assert data[found[1].start : found[1].stop].endswith(b"345")


def test_what_stands_before_the_archive_does_not_count() -> None:
    data = b"#!/bin/sh\n" + archive(a=b"12")
    (found,) = members(data)
    assert found.start == 10


def test_the_offset_of_an_entry_is_changed_and_nothing_else() -> None:
    (found,) = members(archive(a=b"12"))
    changed = found.entry_at(77)
    assert changed[:42] == found.entry[:42]
    assert struct.unpack_from("<L", changed, 42) == (77,)
    assert changed[46:] == found.entry[46:]


@pytest.mark.parametrize("sizes", [0, 1, 2])
def test_large_offsets_stand_in_the_extra_field(sizes: int) -> None:
    """Beside none, one or both of the sizes, which stand before it."""
    wide = struct.pack(f"<{sizes}Q", *[1] * sizes) + struct.pack("<Q", 5 << 32)
    extra = struct.pack("<HH", 0x7075, 2) + b"xx" + struct.pack("<HH", 1, len(wide)) + wide
    fields = [2, FULL if sizes > 1 else 1, FULL if sizes else 1]
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 20, 45, 0, 0, 0, 0, 0, fields[2], fields[1], 1, len(extra), 0, 0, 0, 0, FULL
    )
    found = KeptMember("a", entry + b"a" + extra, 0, 1)
    changed = found.entry_at(6 << 32)
    assert changed[:-8] == found.entry[:-8]
    assert struct.unpack("<Q", changed[-8:]) == (6 << 32,)


@pytest.mark.parametrize("cut", [1, 30, 60])
def test_a_damaged_directory_is_an_error(cut: int) -> None:
    data = archive(a=b"12", b=b"345")
    with pytest.raises(RefbrowserError) as caught:
        members(data[:-cut])
    assert caught.value.kind is ErrorKind.FORMAT


def test_entries_that_are_none_are_errors(tmp_path: Path) -> None:
    data = bytearray(archive(a=b"12", b=b"345"))
    at = data.rindex(b"PK\1\2")
    data[at] = 0
    with pytest.raises(RefbrowserError):
        members(bytes(data))
    same = bytearray(archive(a=b"12", b=b"345"))
    at = same.rindex(b"PK\1\2")
    same[at + 42 : at + 46] = bytes(4)
    with pytest.raises(RefbrowserError):
        members(bytes(same))
