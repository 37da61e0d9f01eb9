"""A file of Awkward 0 as a reference document, with its arrays behind it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.formats.awkward0.allow_list import AllowList
from refbrowser.formats.awkward0.arrays import build_arrays
from refbrowser.formats.awkward0.container import Container
from refbrowser.formats.awkward0.containers.folder import FolderContainer
from refbrowser.formats.awkward0.containers.zip import ZipContainer, open_zip
from refbrowser.formats.awkward0.document_text import document_of_arrays
from refbrowser.formats.awkward0.finding_arrays import FoundSchema, blob_names, find_schemas
from refbrowser.formats.awkward0.options import Awkward0Options
from refbrowser.formats.awkward0.origin import Awkward0Origin
from refbrowser.formats.registry import AWKWARD0, Opened, Opening
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.local import open_regular
from refbrowser.io.origins import local_path
from refbrowser.references.document.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.io.fetch import Fetcher

#: Blobs of a message that are named.
_NAMED = 5


class NoArraysError(RefbrowserError):
    """There is no array of Awkward 0 where some were looked for."""

    def __init__(self, name: str) -> None:
        super().__init__(
            ErrorKind.FORMAT,
            "there are no arrays of Awkward 0 here",
            Place(document=name),
            "Looked for JSON with a member 'awkward0' or 'awkward'.",
        )


def open_named_arrays(opening: Opening) -> Opened:
    """Open the arrays in the file or folder at a path, or in the archive at a URL.

    Raises
    ------
    RefbrowserError
        There are none, or they cannot be read; `NotThisError` where its name does not say that there are.
    Cancelled
        The opening was cancelled.
    """
    path, seen = opening.path, opening.seen
    identity = opening.identity()
    if seen.is_folder:
        # A blob that is not there is an error, and no chunk that was never written.
        access = replace(Access.for_store(path, opening.allow, opening.settings), store=None)
    else:
        path = path if seen.local is None else os.path.abspath(seen.local)
        access = Access.for_document(path, opening.allow, opening.settings)
    is_named_so = seen.ends(AWKWARD0.suffixes)
    try:
        document = _document(path, is_named_so, access, opening)
    except RefbrowserError as error:
        if is_named_so:
            raise
        raise NotThisError.of(error) from error
    return Opened(document, access, identity)


def _document(path: str, is_named_so: bool, access: Access, opening: Opening) -> ReferenceDocument:
    """Read a file or folder of Awkward 0: a zip archive (also a URL of one), an HDF5 file, named blobs.

    Only names and schemas are read.
    """
    token = opening.token
    container = open_container(path, access, opening.fetcher(), token)
    found = find_schemas(container, token, lambda done, total: opening.progress(done, total, note="members"))
    schemas = found.schemas
    if is_named_so or schemas:
        schemas = _in_order(container, [*schemas, *found.unreadable])
    if not schemas and not (is_named_so and container.findings):
        raise NoArraysError(path)
    options = Awkward0Options(opening.allow_functions)
    allowed = AllowList.of_texts(options.allow_functions)
    arrays = build_arrays(container, schemas, allowed, token)
    origin = Awkward0Origin(container.url, container, arrays, options)
    document = document_of_arrays(arrays, container, origin, path)
    return replace(document, notes=(*document.notes, *found.findings, *_orphans(container, schemas)))


def open_container(path: str, access: Access, fetcher: Fetcher, token: CancelToken) -> Container:
    """Open what may hold arrays; names are read, and no blob.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is none of the containers.
    Cancelled
        `token` was cancelled.
    """
    local = local_path(path)
    if local is not None:
        real = os.path.realpath(local)
        if os.path.isdir(real):
            return FolderContainer(real, token)
        with open_regular(real) as (descriptor, _):
            kind = file_kind(os.read(descriptor, HEAD))
        if kind is FileKind.EMPTY:
            raise RefbrowserError(ErrorKind.FORMAT, "the file is empty", Place(document=path))
        if kind is FileKind.HDF5:
            from refbrowser.formats.awkward0.containers.hdf5 import open_hdf5

            return open_hdf5(real, token)
    return open_zip(path if local is None else os.path.realpath(local), access, fetcher, token)


def _orphans(container: Container, schemas: list[FoundSchema]) -> list[Finding]:
    """Return what is left of arrays whose schemas are lost: `save` writes these behind the blobs."""
    if not (isinstance(container, ZipContainer) and container.is_rescued):
        return []
    known = {each.member for each in schemas}.union(*map(blob_names, schemas))
    lost = [name for name in container.names() if name not in known]
    if not lost:
        return []
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    message = f"blobs belong to no array that is left: {', '.join(map(quoted, lost[:_NAMED]))}{more}"
    place = Place(url=container.url)
    return [Finding(severity=Severity.FAULT, kind=ErrorKind.FORMAT, message=message, place=place)]


def _in_order(container: Container, found: list[FoundSchema]) -> list[FoundSchema]:
    """Return schemas in the order of the container."""
    places = {name: number for number, name in enumerate(container.names())}
    return sorted(found, key=lambda each: places[each.member])
