"""Opening streams of messages."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.resources import Resources
from refbrowser.errors import RefbrowserError
from refbrowser.formats.ncstream.byte_order import StreamOptions
from refbrowser.formats.ncstream.naming import looks_like_stream
from refbrowser.formats.sniffing import NotReferencesError
from refbrowser.io.fetch import Fetcher
from refbrowser.references.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.io.access import Access


def may_be_stream(path: str, error: RefbrowserError) -> bool:
    """Return whether what could not be opened as a document or store begins as a stream does."""
    return isinstance(error, NotReferencesError) and looks_like_stream(error.found.head)


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
