"""The fields of one message of an opened stream, read where the stream lies."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from refbrowser.formats.ncstream.bytes import ByteSource, LocalBytes, RemoteBytes
from refbrowser.formats.ncstream.messages import StreamIndex
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import local_path

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def fields_of(dataset: Dataset, index: StreamIndex, message: int, token: CancelToken) -> Any:
    """Return the fields of a message as plain values, nested.

    Raises
    ------
    RefbrowserError
        The stream cannot be read.
    Cancelled
        `token` was cancelled.
    """
    from refbrowser.formats.ncstream.message_fields import message_fields

    with ExitStack() as stack:
        local, source = local_path(index.url), None
        if local is not None:
            source = stack.enter_context(LocalBytes(os.path.realpath(local)))
            return message_fields(index, source, message)
        remote: ByteSource = RemoteBytes(index.url, dataset.access, dataset.session.fetcher, token)
        return message_fields(index, remote, message)
