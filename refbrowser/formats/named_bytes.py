"""The bytes of what is named to be opened, here or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin

from refbrowser.formats.format import Opening
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import scheme_of


@dataclass(frozen=True, slots=True)
class NamedBytes:
    """What a format reads whose files it reads itself.

    Attributes
    ----------
    source
        The bytes.
    url
        Its URL, or its path with links resolved.
    access
        What a document that is made of it may read.
    identity
        Its state, as it was before anything was read; None where nothing tells it.
    """

    source: ByteSource
    url: str
    access: Access
    identity: FileIdentity | ObjectIdentity | None


@contextmanager
def named_bytes(opening: Opening) -> Iterator[NamedBytes]:
    """Give the bytes at a path or URL; a file is open for as long.

    Raises
    ------
    RefbrowserError
        It may not or cannot be read.
    """
    identity = opening.identity()
    if opening.seen.local is None:
        remote = opening.remote()
        url = remote.access.resolve(opening.path).url
        yield NamedBytes(remote, url, remote.access, remote.identity)
        return
    access = Access.for_document(opening.path, opening.allow, opening.settings)
    with LocalBytes(opening.seen.local) as source:
        yield NamedBytes(source, source.path, access, identity or source.identity)


def place_beside(url: str, name: str) -> str:
    """Return where a file lies that is named in what lies at a path or URL: beside it, unless it is said."""
    if scheme_of(name) or os.path.isabs(name):
        return name
    if scheme_of(url):
        return urljoin(url, name)
    return os.path.normpath(os.path.join(os.path.dirname(url), name))
