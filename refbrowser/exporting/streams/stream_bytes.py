"""The bytes of a stream, opened to be copied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from refbrowser.formats.ncstream.bytes import ByteSource, LocalBytes, RemoteBytes
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.origins import local_path

#: Bytes that are copied at once.
BLOCK = 8 << 20


@contextmanager
def opened_bytes(
    path: str, access: Access, fetcher: Fetcher, token: CancelToken | None = None
) -> Iterator[ByteSource]:
    """Open a local file, or an object at a URL.

    Raises
    ------
    RefbrowserError
        It cannot be opened.
    """
    local = local_path(path)
    if local is None:
        yield RemoteBytes(path, access, fetcher, token)
        return
    with LocalBytes(local) as source:
        yield source


def copied(source: ByteSource, start: int, stop: int) -> Iterator[bytes | memoryview]:
    """Yield a stretch of a source, some megabytes at a time."""
    for offset in range(start, stop, BLOCK):
        yield source.read(offset, min(BLOCK, stop - offset))
