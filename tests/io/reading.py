"""Reading references from a test server, and what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from servers.http_server import HttpServer

from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: (url, offset, length); a length of -1 is the whole file.
Row = tuple[str, int, int]
WHOLE = (0, -1)


def columns(rows: Sequence[Row]) -> ReferenceColumns:
    """Return rows as columns."""
    urls = tuple(dict.fromkeys(url for url, _, _ in rows))
    lengths = np.array([length for _, _, length in rows], np.int64)
    return ReferenceColumns(
        np.where(lengths < 0, ReferenceKind.WHOLE, ReferenceKind.RANGE).astype(np.uint8),
        np.array([urls.index(url) for url, _, _ in rows], np.int32),
        np.array([offset for _, offset, _ in rows], np.int64),
        lengths,
        urls,
    )


def pattern(size: int) -> bytes:
    """Bytes that differ wherever they are compared with a shifted copy."""
    return np.random.default_rng(size).bytes(size)


class Reading:
    """Reads from one server with everything allowed."""

    def __init__(self, server: HttpServer, fetcher: Fetcher) -> None:
        self.server = server
        self.fetcher = fetcher
        self.access = Access.for_document("doc.json", [Origin.parse(server.origin)])

    def fetch(
        self, rows: Sequence[tuple[str, int, int]], **options: Any
    ) -> dict[int, bytes | RefbrowserError]:
        """Read rows (paths of the server, or URLs) and return what was delivered, each row once."""
        found: dict[int, bytes | RefbrowserError] = {}

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            assert row not in found
            found[row] = data if isinstance(data, RefbrowserError) else bytes(data)

        table = columns([(self.url(path), offset, length) for path, offset, length in rows])
        access = options.pop("access", self.access)
        self.fetcher.fetch(self.fetcher.plan(table, access), access, deliver, **options)
        assert sorted(found) == list(range(len(rows)))
        return found

    def one(self, path: str, offset: int = 0, length: int = -1, **options: Any) -> bytes:
        """Read one range (the whole file by default), or raise its error."""
        result = self.fetch([(path, offset, length)], **options)[0]
        if isinstance(result, RefbrowserError):
            raise result
        return result

    def url(self, path: str) -> str:
        return self.server.url(path) if path.startswith("/") else path


def cancelled_when(happens: Callable[[], object]) -> CancelToken:
    """Return a token that is cancelled once something is so."""
    token = CancelToken()

    def look() -> None:
        while not happens():
            time.sleep(0.005)
        token.cancel()

    threading.Thread(target=look, daemon=True).start()
    return token
