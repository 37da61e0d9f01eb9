"""Opening streams of messages."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.resources import Resources
from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.formats.ncstream.byte_order import StreamOptions
from refbrowser.formats.ncstream.naming import looks_like_stream
from refbrowser.formats.sniffing import NotReferencesError
from refbrowser.io.fetch import Fetcher
from refbrowser.io.origins import local_path
from refbrowser.model.reference import ByteRange
from refbrowser.references.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.formats.ncstream.messages import StreamIndex
    from refbrowser.io.access import Access

#: What stands before the number of a message where one is named like a key.
MESSAGES = "messages"
_DIGITS = 18


def may_be_stream(error: RefbrowserError) -> bool:
    """Return whether what could not be opened as a document or store begins as a stream does."""
    found = error if isinstance(error, NotReferencesError) else error.__cause__
    return isinstance(found, NotReferencesError) and looks_like_stream(found.found.head)


def payload_findings(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return what is wrong with the payloads of the stream behind a dataset, each read and decoded.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    Cancelled
        The control's token was cancelled.
    """
    from refbrowser.engine.ncstream.soundness import payload_faults
    from refbrowser.formats.ncstream.bytes import ByteSource, LocalBytes, RemoteBytes

    origin = dataset.document.derived
    if origin is None or origin.format != "ncstream":
        return []
    with ExitStack() as stack:
        local = local_path(origin.path)
        source: ByteSource
        if local is not None:
            source = stack.enter_context(LocalBytes(local))
        else:
            fetcher = dataset.session.fetcher
            source = RemoteBytes(origin.path, dataset.access, fetcher, control.token)
        index: StreamIndex = vars(origin)["index"]
        return [index.finding(fault) for fault in payload_faults(index, source, control)]


def message_reference(document: ReferenceDocument, key: str) -> ByteRange | None:
    """Return where a message of the stream behind a document lies, ``messages/12``; None where none is meant.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the stream has no such message.
    """
    index = getattr(document.derived, "index", None)
    name, _, digits = key.rpartition("/")
    if index is None or name != MESSAGES or not (digits.isascii() and digits.isdigit()):
        return None
    if len(digits) > _DIGITS or int(digits) >= len(index.table):
        raise RefbrowserError(ErrorKind.USAGE, f"the stream has {len(index.table)} messages", Place(key=key))
    offset, stop = int(index.table.offset[int(digits)]), int(index.table.stop[int(digits)])
    return ByteRange(index.url, offset, stop - offset)


def open_stream_document(
    path: str,
    access: Access,
    options: StreamOptions,
    resources: Resources | None = None,
    control: JobControl | None = None,
) -> ReferenceDocument:
    """Open the stream at a path or URL.

    Parameters
    ----------
    access
        What may be read, of `Access.for_document`.
    resources
        Their fetcher reads URLs; one is made for the call when None.

    Raises
    ------
    RefbrowserError
        It is none, or it cannot be read.
    Cancelled
        The control's token was cancelled.
    """
    from refbrowser.formats.ncstream.opening import open_stream

    control = control or JobControl()
    with ExitStack() as stack:
        fetcher = stack.enter_context(Fetcher()) if resources is None else resources.fetcher
        return open_stream(
            path, access, fetcher, options=options, token=control.token, progress=control.progress
        )
