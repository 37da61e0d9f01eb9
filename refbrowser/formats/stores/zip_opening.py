"""A store in a zip archive as a reference document: each chunk a member, ``zip://KEY::ARCHIVE``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.formats.sniffing import FileKind, Found, NotReferencesError
from refbrowser.formats.stores.opening import NoStoreError, add_all_chunks, document_of
from refbrowser.formats.stores.text import ZipText
from refbrowser.formats.stores.walk import read_store
from refbrowser.formats.stores.zip import ZipReader
from refbrowser.io.local import open_regular
from refbrowser.io.origins import local_path
from refbrowser.references.content import StoreOrigin

if TYPE_CHECKING:
    from refbrowser.io.access import Access
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetch import Fetcher
    from refbrowser.model.nodes import Flavour
    from refbrowser.references.document import ReferenceDocument

#: What an archive begins with, an empty one too.
_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
ENDING = ".zip"


def names_archive(path: str) -> bool:
    """Return whether a path leads to a zip archive by its first bytes, or a URL by its end.

    Raises
    ------
    RefbrowserError
        A file is there and cannot be read.
    """
    local = local_path(path)
    if local is None:
        return path.partition("?")[0].lower().endswith(ENDING)
    local = os.path.realpath(local)
    if not os.path.isfile(local):
        return False
    with open_regular(local) as (descriptor, _):
        return os.read(descriptor, 4) in _MARKS


def open_zip_store(
    path: str,
    access: Access,
    fetcher: Fetcher,
    *,
    flavour: Flavour | None = None,
    values: Mapping[str, str] | None = None,
    token: CancelToken | None = None,
) -> ReferenceDocument:
    """Open the store in a zip archive: keys at its top, or under one folder.

    Parameters
    ----------
    path
        Of a local archive, or its URL.
    access
        What may be read, of `Access.for_archive`.
    flavour
        Whose rules the metadata follows; found out when None.
    values
        Values for templates, used and never saved.

    Raises
    ------
    RefbrowserError
        `NotReferencesError`: there is none; else the archive cannot be read.
    Cancelled
        `token` was cancelled.
    """
    archive = access.resolve(path).url
    directory = access.memory.archives.directory(archive, access, fetcher, token)
    contents = read_store(ZipReader(directory, access, fetcher, token), flavour)
    if contents is None:
        raise NotReferencesError(NoStoreError(path), Found(FileKind.ZIP))
    text = ZipText(archive, contents.folder)
    add_all_chunks(text, contents)
    origin = StoreOrigin(archive, contents.flavour, "zip", contents.folder)
    document = document_of(text, contents, origin, name=path, values=values)
    return replace(document, notes=(*document.notes, *directory.findings()))
