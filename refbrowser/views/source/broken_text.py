"""The text of a file that could not be opened as a document: where it breaks, and what mends it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.compression import decompress, find_compression
from refbrowser.io.access.local_files import open_regular
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.references.content.reader import read_source
from refbrowser.references.text.mending import Mended, mended

#: Errors that a person can mend in the text.
_OF_TEXT = (ErrorKind.JSON, ErrorKind.ENCODING, ErrorKind.SCHEMA)
_PORTION = 1 << 20


def is_broken_text(path: str, error: BaseException) -> bool:
    """Tell whether a document could not be opened because of a place in its text, in a local file."""
    if not isinstance(error, RefbrowserError) or error.kind not in _OF_TEXT:
        return False
    place = error.place
    return local_path(path) is not None and place.line is not None and place.key is None


def read_text(path: str, pause: Callable[[], None] = lambda: None) -> bytes:
    """Return the text of a file, unpacked where it is packed.

    Raises
    ------
    RefbrowserError
        It cannot be read, or is larger than a document may be.
    """
    file = os.path.realpath(local_path(path) or path)
    with (
        open_regular(file) as (descriptor, _identity),
        open(descriptor, "rb", closefd=False) as source,
    ):
        kind = find_compression(source.read(4))
        source.seek(0)
        stored: Iterator[bytes] = iter(lambda: source.read(_PORTION), b"")
        return b"".join(_limited(stored if kind is None else decompress(kind, stored), pause))


def _limited(portions: Iterable[bytes], pause: Callable[[], None]) -> Iterator[bytes]:
    size = 0
    for portion in portions:
        pause()
        size += len(portion)
        if size > LIMITS.json_size:
            raise RefbrowserError(ErrorKind.BUDGET, f"the text has more than {LIMITS.json_size} bytes")
        yield portion


def place_in(data: bytes, place: Place) -> int:
    """Return the byte of a text at a line and column."""
    start = 0
    for _ in range((place.line or 1) - 1):
        start = data.find(b"\n", start) + 1
        if not start:
            return len(data)
    column = (place.column or 1) - 1
    # A column is a character of at most four bytes.
    before = data[start : start + 4 * column].decode("utf-8", "surrogateescape")[:column]
    return start + len(before.encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class TextFault:
    """Where a text breaks, and why."""

    position: int
    error: RefbrowserError


def fault_of(data: bytes, pause: Callable[[], None] = lambda: None) -> TextFault | None:
    """Return why a text is no document of references; None where it is one."""
    try:
        read_source([data], pause=pause)
    except RefbrowserError as error:
        return TextFault(place_in(data, error.place), error)
    return None


def certain_mending(data: bytes, pause: Callable[[], None] = lambda: None) -> Mended | None:
    """Return a text mended so that it is a document; None where that is not certain, or not enough."""
    made = mended(data, pause)
    return made if made is not None and fault_of(made.data, pause) is None else None
