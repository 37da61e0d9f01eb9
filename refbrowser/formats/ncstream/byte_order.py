"""In which byte order the numbers of a message are read (wire notes, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.ncstream.dtypes import BIG, LITTLE
from refbrowser.formats.ncstream.messages import ByteOrder, MessageTable, Payload

Order = Literal["big", "little", "flag"]
ORDERS: tuple[Order, ...] = ("big", "little", "flag")
#: From this version on absence of the flag means little.
_NEWER = 3


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is read.

    Attributes
    ----------
    byte_order
        ``big`` or ``little`` for all numbers; ``flag`` to do as the messages say, absence meaning big as the
        grammar has it. None obeys them but for elements and ragged rows that say little with version 2 or 3:
        the servers that wrote those sent big all the same.
    until
        Number of the last message that counts; all of them where None.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is no such order, or no message can have such a number.
    """

    byte_order: Order | None = None
    until: int | None = None

    def __post_init__(self) -> None:
        if self.byte_order is not None and self.byte_order not in ORDERS:
            known = ", ".join(ORDERS)
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(self.byte_order)} is none of {known}")
        if self.until is not None and self.until < 0:
            raise RefbrowserError(ErrorKind.USAGE, "the first message has the number 0")


def little_endian(
    table: MessageTable, numbers: npt.NDArray[np.int64], options: StreamOptions
) -> npt.NDArray[np.bool_]:
    """Return which of some data messages have little-endian numbers."""
    if options.byte_order in ("big", "little"):
        return np.full(len(numbers), options.byte_order == "little")
    flag, version = table.byte_order[numbers], table.version[numbers]
    says_little = flag == ByteOrder.LITTLE
    if options.byte_order == "flag":
        return says_little
    plain = np.isin(table.payload[numbers], (Payload.REGULAR, Payload.VARIABLE))
    wrong = says_little & plain & np.isin(version, (2, 3))
    return (says_little & ~wrong) | ((flag == ByteOrder.ABSENT) & (version >= _NEWER))


def order_code(is_little: bool) -> str:
    """Return the order as numpy writes it."""
    return LITTLE if is_little else BIG
