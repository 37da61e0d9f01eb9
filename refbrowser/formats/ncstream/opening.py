"""A stream as a reference document, with the stream behind it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.formats.ncstream.bytes import LocalBytes, RemoteBytes
from refbrowser.formats.ncstream.completed import StreamOrigin
from refbrowser.formats.ncstream.document_text import document_of_layouts
from refbrowser.formats.ncstream.index_cache import indexed
from refbrowser.formats.ncstream.left_out import left_out
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.formats.ncstream.options import StreamOptions
from refbrowser.formats.registry import Opened, Opening
from refbrowser.io.access import Access
from refbrowser.io.origins import local_path
from refbrowser.references.document.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetch import Fetcher


__all__ = ["StreamOptions", "StreamOrigin", "document_of_stream", "open_stream"]


def open_named_stream(opening: Opening) -> Opened:
    """Open the stream at a path or URL.

    Raises
    ------
    RefbrowserError
        It is none, or it cannot be read.
    Cancelled
        The opening was cancelled.
    """
    access = Access.for_document(opening.path, opening.allow, opening.settings)
    identity = opening.identity()
    document = open_stream(
        opening.path,
        access,
        opening.fetcher(),
        options=opening.stream,
        token=opening.token,
        progress=opening.progress,
    )
    return Opened(document, access, identity)


def open_stream(
    path: str,
    access: Access,
    fetcher: Fetcher,
    *,
    options: StreamOptions | None = None,
    token: CancelToken | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> ReferenceDocument:
    """Open a stream of messages: a local file, or a URL.

    Parameters
    ----------
    path
        As the user named it.
    access
        What may be read, of `Access.for_document`.
    fetcher
        Reads URLs.
    options
        How it is read.
    progress
        Called with the bytes walked so far, and in all.

    Raises
    ------
    RefbrowserError
        `E_FORMAT` (``not-ncstream``): it is none; else it cannot be read.
    Cancelled
        `token` was cancelled.
    """
    with ExitStack() as stack:
        source: LocalBytes | RemoteBytes
        local = local_path(path)
        if local is not None:
            file = stack.enter_context(LocalBytes(os.path.realpath(local)))
            source, url = file, file.path
        else:
            url = access.resolve(path).url
            source = RemoteBytes(path, access, fetcher, token)
        index = indexed(source, url=url, token=token, progress=progress)
    return document_of_stream(index, options or StreamOptions(), name=path)


def document_of_stream(index: StreamIndex, options: StreamOptions, *, name: str) -> ReferenceDocument:
    """Return the document of a stream that was walked.

    Parameters
    ----------
    name
        For messages.
    """
    origin = StreamOrigin(index, options)
    # What is said of the end of the stream has the number behind the last message.
    last = len(index.table) if options.until is None else options.until
    spreading = set(origin.layouts.spreading.tolist())
    if index.has_start and not index.has_end:
        # It may have been cut between two messages.
        spreading.add(len(index.table))
    notes = [
        replace(index.finding(each), is_loss=each.number in spreading, is_anywhere=each.number in spreading)
        for each in index.faults
        if each.number <= last
    ]
    for each in left_out(index.definition):
        found = each.finding
        notes.append(found.at(replace(found.place, url=index.url)))
    return document_of_layouts(origin.layouts, origin, notes, name=name)
