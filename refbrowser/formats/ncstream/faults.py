"""What can be wrong with a stream, by code (wire notes, section 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from refbrowser.errors import Severity


class FaultCode(IntEnum):
    """Faults as the messages of a table have them; the name with ``-`` for ``_`` is the code."""

    NONE = 0
    NOT_NCSTREAM = 1
    BAD_MAGIC = 2
    TRUNCATED = 3
    LENGTH_TOO_LARGE = 4
    BAD_VARINT = 5
    BAD_PROTOBUF = 6
    UNKNOWN_VARIABLE = 7
    UNKNOWN_DIMENSION = 8
    UNKNOWN_COMPRESSION = 9
    SECTION_RANK = 10
    SECTION_OUT_OF_RANGE = 11
    SIZE_MISMATCH = 12
    TYPE_MISMATCH = 13
    DEFLATE = 14
    STREAM_ERROR = 15
    UNSUPPORTED_MEMBER = 16
    UNSUPPORTED_SHAPE = 17
    # Warnings.
    NO_START = 18
    NO_END = 19
    TRAILING_BYTES = 20
    CRC32 = 21
    UNKNOWN_TYPE = 22

    @property
    def text(self) -> str:
        """The code as it is shown: ``bad-magic``."""
        return self.name.lower().replace("_", "-")


class FramingError(Exception):
    """The message at hand cannot be delimited or parsed.

    Parameters
    ----------
    stop
        Where the next message should be if the lengths so far are right; None where that is not known.
    length
        The length or count that does not fit into what is left; None for other errors.
    is_decided
        Whether `code` stands; else a length that does not fit is taken for that of a stream that was cut,
        unless messages follow.
    """

    def __init__(
        self,
        code: FaultCode,
        message: str,
        *,
        stop: int | None = None,
        length: int | None = None,
        is_decided: bool = True,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.stop = stop
        self.length = length
        self.is_decided = is_decided


@dataclass(frozen=True, slots=True)
class HeaderNote:
    """A fault or warning in what a header says; `path` is the variable or group that it is about."""

    code: FaultCode
    message: str
    path: str
    severity: Severity = Severity.FAULT


#: Takes what is found in a header.
Notes = Callable[[HeaderNote], None]
