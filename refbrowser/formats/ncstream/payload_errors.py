"""What is wrong with the payload of one message, by the codes of streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.ncstream.varints import VarintError, read_varint
from refbrowser.limits import LIMITS


class PayloadError(RefbrowserError):
    """A payload is not what its message and its variable say (wire notes, section 8).

    Parameters
    ----------
    code
        ``size-mismatch``, ``type-mismatch``, ``deflate``, ``unsupported-member``...
    what
        In words.
    """

    def __init__(self, code: str, what: str) -> None:
        super().__init__(ErrorKind.FORMAT, f"{code}: {what}")
        self.args = (code, what)
        self.code = code
        self.what = what


def size_mismatch(found: int, expected: int, what: str = "bytes") -> PayloadError:
    """Return the error of a payload that holds less or more than its section."""
    return PayloadError("size-mismatch", f"{found} {what} where {expected} are expected")


def read_length(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """Return the varint at `at` of a payload, and the position behind it.

    Raises
    ------
    PayloadError
        ``bad-varint``: there is none.
    """
    try:
        return read_varint(data, at)
    except VarintError as error:
        raise PayloadError("bad-varint", str(error)) from None


def check_room(count: int, dtype: np.dtype[Any]) -> None:
    """Raise `E_BUDGET` where `count` elements are more than what is decoded whole."""
    if count * max(dtype.itemsize, 1) > LIMITS.chunk_size:
        most = LIMITS.chunk_size
        message = f"{count} elements are more than the {most} bytes that are decoded whole (chunk_size)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
