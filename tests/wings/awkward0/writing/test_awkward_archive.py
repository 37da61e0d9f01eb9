"""Archives that are written member by member, of sizes that are known last."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import pytest

from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.wings.awkward0.writing.places import ArchiveWriter


def test_members_are_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with path.open("wb") as file:
        writer = ArchiveWriter(file)
        writer.put("a", [b"12", b"", b"3"], 3)
        writer.put("zwölf", [], 0)
        # What may get larger than 4 GiB has a header for that.
        writer.put("large", [b"x" * 10], 5 << 32)
        writer.put("last", [b"y"], 10)
        writer.finish()
    with zipfile.ZipFile(path) as read:
        assert read.testzip() is None
        assert {name: read.read(name) for name in read.namelist()} == {
            "a": b"123", "zwölf": b"", "large": b"x" * 10, "last": b"y"
        }  # fmt: skip
        assert zlib.crc32(b"123") == read.getinfo("a").CRC
        assert all(info.compress_type == zipfile.ZIP_STORED for info in read.infolist())


def test_an_archive_may_be_empty(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        ArchiveWriter(file).finish()
    with zipfile.ZipFile(tmp_path / "x.zip") as read:
        assert read.namelist() == []


def test_keeping_members_can_be_cancelled(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        old.writestr("a", b"1")
    token = CancelToken()
    token.cancel()
    with (tmp_path / "x.zip").open("wb") as file, pytest.raises(Cancelled):
        ArchiveWriter(file).keep(tmp_path / "old.zip", (), token)


@pytest.mark.long
def test_members_and_archives_may_be_larger_than_four_gigabytes(tmp_path: Path) -> None:
    piece = bytes(1 << 20)
    path = tmp_path / "x.zip"
    with path.open("wb") as file:
        writer = ArchiveWriter(file)
        writer.put("large", (piece for _ in range(4100)), 4100 << 20)
        writer.put("behind", [b"abc"], 3)
        writer.finish()
    with zipfile.ZipFile(path) as read:
        assert read.getinfo("large").file_size == 4100 << 20
        assert read.read("behind") == b"abc"
    with (tmp_path / "y.zip").open("wb") as file:
        writer = ArchiveWriter(file)
        writer.keep(path, {"large"}, CancelToken())
        writer.finish()
    with zipfile.ZipFile(tmp_path / "y.zip") as read:
        assert read.namelist() == ["behind"]
        assert read.read("behind") == b"abc"
