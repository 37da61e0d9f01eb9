"""Zip archives for tests, written by the standard library, and our reader over their bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

from refbrowser.io.archives.directory import ZipDirectory, read_directory
from refbrowser.io.fetching.archive_reading import unpack

#: (name, data, whether it is deflated)
Member = tuple[str, bytes, bool]


class Unseekable(io.BytesIO):
    """A stream that cannot go back: the writer then puts sizes behind the data (data descriptors)."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise OSError("not seekable")


def archive(
    members: Iterable[Member], *, comment: bytes = b"", zip64: bool = False, streamed: bool = False
) -> bytes:
    """Return the bytes of an archive."""
    target = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for name, data, deflated in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
            with made.open(info, "w", force_zip64=zip64) as member:
                member.write(data)
        made.comment = comment
    return target.getvalue()


def directory_of(data: bytes) -> ZipDirectory:
    """Return the directory of an archive in memory."""
    return read_directory(lambda start, stop: data[start:stop], len(data), "x.zip")


def contents(data: bytes, name: str) -> bytes:
    """Return the bytes of one member as our reader has them."""
    directory = directory_of(data)
    row = directory.find(name)
    assert row is not None
    member = directory.member(row)
    return bytes(unpack(member, memoryview(data)[member.start : member.stop], "x.zip").data)
