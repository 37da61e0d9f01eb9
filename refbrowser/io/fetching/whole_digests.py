"""The digest of all bytes of a file: the ends of one say nothing of its middle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import AccessMemory
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ByteRange, columns_of

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetching.fetch import Fetcher

#: Bytes that are read at a time.
BLOCK = 8 << 20


def whole_digest(url: str, size: int, access: Access, fetcher: Fetcher, cancel: CancelToken) -> bytes:
    """Return the SHA-256 of a file of known size; one that changes meanwhile is an error.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    """
    import hashlib  # Few ask for it.

    # What was learned before of the file counts for nothing, and one state of it is read.
    own = replace(access, memory=AccessMemory())
    made = hashlib.sha256()

    def take(_: int, data: memoryview | RefbrowserError) -> None:
        if isinstance(data, RefbrowserError):
            raise data
        made.update(data)

    for start in range(0, size, BLOCK):
        plan = fetcher.plan(columns_of([ByteRange(url, start, min(BLOCK, size - start))]), own)
        fetcher.fetch(plan, own, take, cancel=cancel, size_limit=LIMITS.http_cut)
    return made.digest()
