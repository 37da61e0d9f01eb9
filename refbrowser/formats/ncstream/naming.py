"""Whether a path or URL names a stream, by its first bytes or its suffix."""

from __future__ import annotations

import os

from refbrowser.formats.ncstream import magics
from refbrowser.io.local import open_regular
from refbrowser.io.origins import local_path

SUFFIXES = (".ncs", ".ncstream")


def looks_like_stream(head: bytes) -> bool:
    """Return whether a file that begins with `head` is a stream, with or without its START."""
    return head[: magics.LENGTH] in magics.FIRST | magics.COVERAGES


def names_stream(path: str) -> bool:
    """Return whether a file begins as a stream does, or a URL ends as the name of one.

    Raises
    ------
    RefbrowserError
        A file is there and cannot be read.
    """
    suffixed = path.partition("?")[0].lower().endswith(SUFFIXES)
    local = local_path(path)
    if local is None:
        return suffixed
    local = os.path.realpath(local)
    if not os.path.isfile(local):
        return False
    with open_regular(local) as (descriptor, _):
        head = os.read(descriptor, magics.LENGTH)
    # What looks like a document is one, whatever its name.
    return looks_like_stream(head) or (suffixed and head[:1] not in (b"{", b"\xef", b" "))
