"""Opening what services of CDM Remote offer."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from refbrowser.engine.collecting import collected_later
from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.formats.cdmremote.naming import endpoint_of, may_be_service
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher

if TYPE_CHECKING:
    from refbrowser.engine.resources import Resources
    from refbrowser.engine.stores import StoreRequest
    from refbrowser.formats.ncstream.byte_order import StreamOptions
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.document import ReferenceDocument


def open_service(
    request: StoreRequest,
    options: StreamOptions,
    resources: Resources | None = None,
    token: CancelToken | None = None,
) -> tuple[ReferenceDocument, Access]:
    """Open the dataset of a service; returns its document, and what that may read.

    Parameters
    ----------
    options
        How its answers are read.
    resources
        Their fetcher reads; one is made for the call when None.

    Raises
    ------
    RefbrowserError
        There is no such service, or it cannot be read.
    Cancelled
        `token` was cancelled.
    """
    # The messages of streams need protobuf, which other documents do not wait for.
    from refbrowser.formats.cdmremote.opening import open_remote

    access = Access.for_document(endpoint_of(request.path), request.allow, request.settings)
    with ExitStack() as stack:
        stack.enter_context(collected_later())
        fetcher = stack.enter_context(Fetcher()) if resources is None else resources.fetcher
        return open_remote(request.path, access, fetcher, options=options, token=token), access


def service_if_any(
    request: StoreRequest,
    options: StreamOptions,
    resources: Resources | None = None,
    token: CancelToken | None = None,
) -> tuple[ReferenceDocument, Access] | None:
    """Open a URL as a service; None where what is there is none.

    Raises
    ------
    RefbrowserError
        It needs a permission.
    Cancelled
        `token` was cancelled.
    """
    if not may_be_service(request.path):
        return None
    try:
        return open_service(request, options, resources, token)
    except RefbrowserError as error:
        if isinstance(error, AbsentError) or error.kind in (ErrorKind.FORMAT, ErrorKind.SOURCE):
            return None
        raise
