"""Reading a document itself, from a file or a URL that the user named."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.local import open_regular, read_exactly
from refbrowser.io.origins import scheme_of
from refbrowser.io.segment import room_for
from refbrowser.limits import LIMITS
from refbrowser.model.reference import ReferenceColumns, ReferenceKind

#: Called with the bytes read so far, and in all (None: not known).
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class DocumentBytes:
    """The bytes of a document as they were when it was opened.

    Attributes
    ----------
    data
        The bytes, in memory.
    identity
        State of the file or object, to notice changes by others.
    """

    data: memoryview
    identity: FileIdentity | ObjectIdentity


def read_document(
    source: str | os.PathLike[str],
    access: Access,
    *,
    fetcher: Fetcher | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    size_limit: int = LIMITS.json_size,
) -> DocumentBytes:
    """Return the bytes of the document at a path or URL.

    Parameters
    ----------
    access
        `Access.for_document(source)`, so that naming a document allows its origin.
    fetcher
        Reads URLs; one is made for this call where none is given.
    size_limit
        Largest document in bytes.

    Raises
    ------
    RefbrowserError
        `E_IO`, `E_SOURCE`: it cannot be read; `E_BUDGET`: it is too large; the errors of `Access.resolve`.
    Cancelled
        `cancel` was cancelled.
    """
    named = os.fspath(source)
    if scheme_of(named) is None:
        return _from_file(os.path.realpath(named), size_limit, progress)
    location = access.resolve(named)
    if location.scheme == "file":
        return _from_file(location.path, size_limit, progress)
    if fetcher is not None:
        return _from_url(named, access, fetcher, progress, cancel, size_limit)
    with Fetcher() as own:
        return _from_url(named, access, own, progress, cancel, size_limit)


def _from_file(path: str, size_limit: int, progress: Progress | None) -> DocumentBytes:
    with open_regular(path) as (descriptor, identity):
        if identity.size > size_limit:
            message = f"a document of {identity.size} bytes is larger than {size_limit}"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(document=path))
        # Read, not mapped: a map of a file that another process cuts short ends this one.
        data = room_for(identity.size)
        count = read_exactly(descriptor, [data], 0)
        if count != identity.size or FileIdentity.of(os.fstat(descriptor)) != identity:
            message = "the file changed while it was read"
            raise RefbrowserError(ErrorKind.SOURCE, message, Place(document=path))
    if progress is not None:
        progress(identity.size, identity.size)
    return DocumentBytes(data, identity)


def _from_url(
    url: str,
    access: Access,
    fetcher: Fetcher,
    progress: Progress | None,
    cancel: CancelToken | None,
    size_limit: int,
) -> DocumentBytes:
    columns = ReferenceColumns(
        kind=np.array([ReferenceKind.WHOLE], np.uint8),
        url=np.zeros(1, np.int32),
        offset=np.zeros(1, np.int64),
        length=np.full(1, -1, np.int64),
        urls=(url,),
    )
    found: list[memoryview | RefbrowserError] = []
    fetcher.fetch(
        fetcher.plan(columns, access),
        access,
        lambda row, data: found.append(data),
        cancel=cancel,
        size_limit=size_limit,
        progress=progress,
    )
    data = found[0]
    if isinstance(data, RefbrowserError):
        raise data
    identity = access.memory.identities.known(access.locate(url).url)
    return DocumentBytes(data, identity or ObjectIdentity(len(data)))
