"""From what the user names to a document and its dataset; nothing is read but that and its metadata."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from refbrowser.engine.awkward0 import may_be_awkward, open_awkward0_document
from refbrowser.engine.collecting import collected_later
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.metadata import Elsewhere, described
from refbrowser.engine.services import open_service, service_if_any
from refbrowser.engine.session import Session
from refbrowser.engine.stores import NeitherError, StoreRequest, document_or_store
from refbrowser.engine.streams import may_be_stream, open_stream_document
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.awkward0.naming import names_awkward
from refbrowser.formats.cdmremote.naming import looks_like_service, names_service
from refbrowser.formats.ncstream.byte_order import StreamOptions
from refbrowser.formats.ncstream.naming import names_stream
from refbrowser.formats.references import OpenProgress, open_references
from refbrowser.io.access import Access
from refbrowser.io.atomic import identity_on_disk
from refbrowser.io.cancel import CancelToken
from refbrowser.io.documents import read_document
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import Origin, local_path
from refbrowser.io.settings import parse_storage_options
from refbrowser.model.nodes import Flavour
from refbrowser.references.document import ReferenceDocument

Identity = FileIdentity | ObjectIdentity


def _yes(error: RefbrowserError) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """What to open, and how.

    Attributes
    ----------
    path
        A local path or a URL.
    allow
        Origins that the document may read from, as ``--allow`` takes them.
    storage_options
        Connection settings as ``--storage-option`` takes them.
    templates
        Values for templates; used, never saved.
    flavour
        Whose rules the metadata of a store follows; found out when None. What is named is a store then.
    stream
        How a stream of messages is read.
    allow_functions
        Functions that a file of Awkward 0 may name beside the usual ones, as ``--allow-function`` takes them.
    question
        Asked, with the error that a no becomes, above a size that needs a question.
    """

    path: str
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()
    templates: Mapping[str, str] = field(default_factory=dict)
    flavour: Flavour | None = None
    stream: StreamOptions = field(default_factory=StreamOptions)
    allow_functions: tuple[str, ...] = ()
    question: Callable[[RefbrowserError], bool] = _yes


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A document, what it may read, and the state of its file when it was read."""

    document: ReferenceDocument
    access: Access
    identity: Identity | None


def open_document(
    request: OpenRequest, control: JobControl | None = None, session: Session | None = None
) -> OpenedDocument:
    """Open a reference document, a store, a stream or arrays, without looking at what it describes.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is none of them.
    Cancelled
        The control's token was cancelled.
    """
    control = control or JobControl()
    store = StoreRequest(
        request.path,
        tuple(Origin.parse(text) for text in request.allow),
        parse_storage_options(request.storage_options),
        request.templates,
        request.flavour,
        allow_functions=request.allow_functions,
    )
    access = Access.for_document(store.path, store.allow, store.settings)

    def progress(report: OpenProgress) -> None:
        control.progress(report.bytes_read, report.total, note=f"{report.rows} references")

    def confirm(size: int) -> bool:
        place = Place(document=request.path)
        return request.question(RefbrowserError(ErrorKind.BUDGET, f"the document has {size} bytes", place))

    def read() -> tuple[ReferenceDocument, Access, Identity | None]:
        document, identity = read_reference_document(
            request.path, access, session, request.templates, progress, control.token, confirm
        )
        return document, access, identity

    return open_named(store, request.stream, read, session, control)


def open_named(
    store: StoreRequest,
    options: StreamOptions,
    read: Callable[[], tuple[ReferenceDocument, Access, Identity | None]],
    session: Session | None,
    control: JobControl,
) -> OpenedDocument:
    """Open what is named, whatever it is: a stream, a service, a store, arrays, or else a document.

    Parameters
    ----------
    options
        How a stream of messages is read.
    read
        Reads it as a reference document; returns it with what it may read, and the state of its file.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is none of them.
    Cancelled
        The control's token was cancelled.
    """
    path = store.path

    if names_service(path):
        return OpenedDocument(*open_service(store, options, session, control.token), None)
    if looks_like_service(path):
        found = service_if_any(store, options, session, control.token)
        if found is not None:
            return OpenedDocument(*found, None)
    if store.flavour is None and names_stream(path):
        return _open_stream(store, options, session, control)
    if store.flavour is None and names_awkward(path):
        return _open_awkward0(store, session, control)
    try:
        return OpenedDocument(*document_or_store(store, read, session, control.token))
    except NeitherError as error:
        if may_be_stream(error):
            return _open_stream(store, options, session, control)
        if may_be_awkward(path, error):
            return _arrays_or(error, store, session, control)
        found = service_if_any(store, options, session, control.token)
        if found is None:
            raise
        return OpenedDocument(*found, None)
    except RefbrowserError as error:
        if may_be_stream(error):
            return _open_stream(store, options, session, control)
        if store.flavour is not None or not may_be_awkward(path, error):
            raise
        return _arrays_or(error, store, session, control)


def _arrays_or(
    error: RefbrowserError, store: StoreRequest, session: Session | None, control: JobControl
) -> OpenedDocument:
    """Open the arrays of Awkward 0 in what is nothing else; without any it stays the error that it was."""
    try:
        return _open_awkward0(store, session, control)
    except RefbrowserError:
        # Its cause says what it is.
        raise error from error.__cause__


def _open_awkward0(store: StoreRequest, session: Session | None, control: JobControl) -> OpenedDocument:
    identity = _identity(store.path)
    document, access = open_awkward0_document(store, session, control)
    return OpenedDocument(document, access, identity)


def _open_stream(
    store: StoreRequest, options: StreamOptions, session: Session | None, control: JobControl
) -> OpenedDocument:
    access = Access.for_document(store.path, store.allow, store.settings)
    identity = _identity(store.path)
    document = open_stream_document(store.path, access, options, session, control)
    return OpenedDocument(document, access, identity)


def _identity(path: str) -> Identity | None:
    local = local_path(path)
    return None if local is None else identity_on_disk(local)


def read_reference_document(
    path: str,
    access: Access,
    session: Session | None,
    values: Mapping[str, str],
    progress: Callable[[OpenProgress], None] | None = None,
    cancel: CancelToken | None = None,
    confirm: Callable[[int], bool] = lambda size: True,
) -> tuple[ReferenceDocument, Identity | None]:
    """Read the document at a path or URL; returns it with the state of its file.

    Parameters
    ----------
    session
        Its fetcher reads URLs; one is made for the call when None.
    confirm
        Asked about a large document, with its bytes.
    """
    local = local_path(path)
    if local is not None:
        identity = identity_on_disk(local)
        document = open_references(
            local, name=path, values=values, progress=progress, cancel=cancel, confirm=confirm
        )
        return document, identity

    def arriving(done: int, total: int | None) -> None:
        if progress is not None:
            progress(OpenProgress(done, total, 0))

    fetcher = None if session is None else session.fetcher
    answer = read_document(path, access, fetcher=fetcher, progress=arriving, cancel=cancel)
    document = open_references(
        memoryview(answer.data), name=path, values=values, progress=progress, cancel=cancel, confirm=confirm
    )
    return document, answer.identity


def open_dataset(request: OpenRequest, control: JobControl | None = None) -> Dataset:
    """Open a dataset with a session of its own.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is of no known format.
    Cancelled
        The control's token was cancelled.
    """
    control = control or JobControl()
    session = Session()
    try:
        with collected_later():
            opened = open_document(request, control, session)
            return dataset_of(request.path, opened.document, opened.access, session, control)
    except BaseException:
        session.close()
        raise


def dataset_of(
    path: str,
    document: ReferenceDocument,
    access: Access,
    session: Session,
    control: JobControl | None = None,
    known: Elsewhere | None = None,
) -> Dataset:
    """Return the dataset that a document describes.

    Metadata that the document does not hold but refers to is read where that is permitted; else its node is
    "not read yet".

    Parameters
    ----------
    known
        Metadata that was read before, so that an edit does not read it again.
    """
    control = control or JobControl()
    hierarchy, elsewhere = described(document, access, session, control.token, known or {})
    return Dataset(os.fspath(path), document, hierarchy, access, session, elsewhere)
