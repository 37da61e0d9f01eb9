"""The file beside a document that says what it should hold: found, read and written."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access, path_beside
from refbrowser.io.access.local_files import open_regular, read_exactly
from refbrowser.io.access.segment import room_for
from refbrowser.io.files.atomic import write_own
from refbrowser.io.identity import FileIdentity
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.references.expectations.expect_file import ExpectFile, expect_text, parse_expect

if TYPE_CHECKING:
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetching.fetch import Fetcher

#: What is put behind the name of a document.
_NAME = ".expect.json"


def expect_path(document: str) -> str:
    """Return the path or URL of the file that says what a document should hold."""
    return path_beside(document, _NAME)


def read_expect(path: str | os.PathLike[str]) -> tuple[ExpectFile, FileIdentity]:
    """Read such a file of this machine, and its identity: with that it is written again.

    Raises
    ------
    RefbrowserError
        `AbsentError`: there is none; `E_IO`, `E_UNSAFE`: it cannot be read; as `parse_expect`.
    """
    named = os.path.realpath(path)
    try:
        with open_regular(named) as (descriptor, identity):
            if identity.size > LIMITS.expect_size:
                message = f"it has {identity.size} bytes, more than {LIMITS.expect_size} (expect_size)"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            data = room_for(identity.size)
            if read_exactly(descriptor, [data], 0) != identity.size:
                raise RefbrowserError(ErrorKind.SOURCE, "the file changed while it was read")
            return parse_expect(bytes(data)), identity
    except RefbrowserError as error:
        raise error.at(Place(document=named)) from None


def expect_beside(
    document: str, access: Access, fetcher: Callable[[], Fetcher], token: CancelToken
) -> ExpectFile | None:
    """Return what the file beside a document says, on this machine or a server; None where there is none.

    Raises
    ------
    RefbrowserError
        It is there and cannot be read, or is no such file.
    """
    place = expect_path(document)
    try:
        if scheme_of(document) is None:
            return read_expect(place)[0]
        from refbrowser.io.fetching.fetch import read_beside

        found = read_beside(place, access, fetcher(), token, LIMITS.expect_size)
        return parse_expect(bytes(found.data))
    except AbsentError:
        return None


def change_expect(document: str, change: Callable[[ExpectFile], ExpectFile], target: str = "") -> str:
    """Change the file beside a local document, or make it; what was written meanwhile is not lost.

    Parameters
    ----------
    change
        Gives what the file should say for what it says.
    target
        Another file; beside the document where it is empty.

    Returns
    -------
    str
        The file.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: the document lies at a URL; as `read_expect` and `write_own` do.
    """
    if not target and scheme_of(document) is not None:
        message = "what a document at a URL should hold cannot be written beside it"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=document), "give -o FILE")
    path = os.path.realpath(target) if target else expect_path(document)
    try:
        before, identity = read_expect(path)
    except AbsentError:
        before, identity = ExpectFile(), None
    write_own(path, [expect_text(change(before))], expected=identity)
    return path
