"""A store below a URL: objects by HTTP, or in an object store, which can be listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

import numpy as np

from refbrowser.errors import AbsentError, RefbrowserError
from refbrowser.formats.stores.reader import Answers, Names, is_safe_key
from refbrowser.io.access.access import Access
from refbrowser.io.buckets.bucket import Bucket
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import OBJECT_STORES
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: What a URL path holds unquoted, besides letters and digits.
_PLAIN = "/-._~!$&'()*+,;=:@"


class UrlReader:
    """Reads below a URL, many objects at a time.

    Parameters
    ----------
    root
        The URL, with or without a ``/`` at its end.
    largest
        Bytes of one object that is read at most; the usual limit when None.
    """

    def __init__(
        self,
        root: str,
        access: Access,
        fetcher: Fetcher,
        token: CancelToken | None = None,
        largest: int | None = None,
    ) -> None:
        self._largest = LIMITS.inline_value if largest is None else largest
        self._root = root.rstrip("/")
        self._access = access
        self._fetcher = fetcher
        self._token = token
        self._location = access.resolve(f"{self._root}/")
        self._left = LIMITS.store_names

    @property
    def _is_listed(self) -> bool:
        return self._location.scheme in OBJECT_STORES

    def read(self, keys: Sequence[str]) -> Answers:
        """Return what is stored under keys."""
        asked = [key for key in keys if is_safe_key(key)]
        urls = tuple(f"{self._root}/{key if self._is_listed else quote(key, safe=_PLAIN)}" for key in asked)
        count = len(urls)
        columns = ReferenceColumns(
            kind=np.full(count, ReferenceKind.WHOLE, np.uint8),
            url=np.arange(count, dtype=np.int32),
            offset=np.zeros(count, np.int64),
            length=np.full(count, -1, np.int64),
            urls=urls,
        )
        found: dict[int, bytes | RefbrowserError] = {}

        def deliver(row: int, data: memoryview | RefbrowserError) -> None:
            if not isinstance(data, AbsentError):
                found[row] = data if isinstance(data, RefbrowserError) else bytes(data)

        self._fetcher.fetch(
            self._fetcher.plan(columns, self._access),
            self._access,
            deliver,
            cancel=self._token,
            key=lambda row: asked[row],
            size_limit=self._largest,
        )
        return {asked[row]: found[row] for row in sorted(found)}

    def names(self, folder: str) -> Names | None:
        """Return the names right below a folder of an object store; a web server does not list."""
        if not self._is_listed:
            return None
        bucket, prefix = self._bucket(folder)
        folders, files, self._left = bucket.names(prefix, self._left)
        return Names(folders, files, cut=self._left <= 0)

    def objects(self, folder: str) -> Iterator[tuple[str, int]] | None:
        """Yield the names below a folder of an object store, and their bytes; a web server does not list."""
        if not self._is_listed:
            return None
        bucket, prefix = self._bucket(folder)
        return ((facts.key.removeprefix(prefix), facts.size) for facts in bucket.objects(prefix))

    def _bucket(self, folder: str) -> tuple[Bucket, str]:
        """Return the bucket of a folder, and what keys below the folder begin with."""
        location = self._access.resolve(f"{self._root}/{folder}")
        bucket = Bucket(location.origin, self._access.connection(location.origin), self._token, export=False)
        return bucket, f"{location.path.rstrip('/')}/".lstrip("/")

    def has(self, key: str) -> bool:
        """Return False: each question would be a request, and servers answer some of them wrongly."""
        return False
