"""Opening stores: what a path or URL names that is no document, and the document that is made from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TypeVar

from refbrowser.engine.collecting import collected_later
from refbrowser.engine.resources import Resources
from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.formats.parquet_text import is_parquet_references
from refbrowser.formats.sniffing import FileKind, NotReferencesError, found_in_folder
from refbrowser.formats.stores.opening import NoStoreError, open_store
from refbrowser.formats.stores.zip_opening import names_archive, open_zip_store
from refbrowser.io.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetch import Fetcher
from refbrowser.io.origins import Origin, local_path, scheme_of
from refbrowser.io.settings import ConnectionSettings
from refbrowser.model.nodes import Flavour
from refbrowser.references.document import ReferenceDocument

State = TypeVar("State")
#: What URLs of stores end with; those that end otherwise are looked at as documents first.
_ENDINGS = ("/", ".zarr", ".nczarr", ".zr3", ".zarr3")


class NeitherError(RefbrowserError):
    """A URL can be read, and names neither a document nor a store."""


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """Which store to open, and how; see `OpenRequest`.

    Attributes
    ----------
    flavour
        Whose rules its metadata follows; found out when None.
    is_archive
        What is named proved to be a zip archive, whatever its name says.
    allow_functions
        Of files of Awkward 0: see `Awkward0Options`.
    """

    path: str
    allow: tuple[Origin, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    flavour: Flavour | None = None
    is_archive: bool = False
    allow_functions: tuple[str, ...] = ()


def names_store(path: str) -> bool:
    """Return whether a path or URL names a store: a folder that is no document, or a URL that ends as one."""
    if names_archive(path):
        return True
    local = local_path(path)
    if local is not None:
        return os.path.isdir(local) and not is_parquet_references(local)
    return path.partition("?")[0].lower().endswith(_ENDINGS)


def may_be_store(path: str, error: RefbrowserError) -> bool:
    """Return whether a URL that could not be opened as a document may name a store."""
    if scheme_of(path) in (None, "file"):
        return False
    if isinstance(error, NotReferencesError):
        return not error.found.is_data or error.found.kind is FileKind.ZIP
    return isinstance(error, AbsentError) or error.kind is ErrorKind.SOURCE


def open_store_document(
    request: StoreRequest, resources: Resources | None = None, token: CancelToken | None = None
) -> tuple[ReferenceDocument, Access]:
    """Open a store; returns its document, and what that may read.

    Parameters
    ----------
    resources
        Their fetcher reads URLs; one is made for the call when None.

    Raises
    ------
    RefbrowserError
        There is no store, or it cannot be read; `NotReferencesError` for a folder without one.
    Cancelled
        `token` was cancelled.
    """
    path = request.path
    local = local_path(path)
    is_archive = request.is_archive or names_archive(path)
    if is_archive:
        # References to its members would be looked for beside it.
        path = os.path.abspath(path) if scheme_of(path) is None else path
        access = Access.for_archive(path, request.allow, request.settings)
    else:
        access = Access.for_store(path, request.allow, request.settings)
    with ExitStack() as stack:
        stack.enter_context(collected_later())
        fetcher = stack.enter_context(Fetcher()) if resources is None else resources.fetcher
        try:
            document = (open_zip_store if is_archive else open_store)(
                path, access, fetcher, flavour=request.flavour, values=request.values, token=token
            )
        except NoStoreError as error:
            if local is not None and os.path.isdir(local):
                raise NotReferencesError(error, found_in_folder(local)) from error
            raise
    return document, access


def document_or_store(
    request: StoreRequest,
    read: Callable[[], tuple[ReferenceDocument, Access, State]],
    resources: Resources | None = None,
    token: CancelToken | None = None,
) -> tuple[ReferenceDocument, Access, State | None]:
    """Open what is named: a store where that is one, or is to be taken for one; else what `read` returns.

    Parameters
    ----------
    read
        Reads it as a reference document; returns it with what it may read, and the state of its file.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is neither.
    Cancelled
        `token` was cancelled.
    """
    if request.flavour is not None or names_store(request.path):
        return (*open_store_document(request, resources, token), None)
    try:
        return read()
    except RefbrowserError as error:
        if not may_be_store(request.path, error):
            raise
        is_archive = isinstance(error, NotReferencesError) and error.found.kind is FileKind.ZIP
        try:
            return (*open_store_document(replace(request, is_archive=is_archive), resources, token), None)
        except NoStoreError as none:
            raise NeitherError(error.kind, error.message, error.place, error.advice or none.advice) from error
