"""Options of opening streams; loaded without what opens them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.option_fields import Item, Kind, option

Order = Literal["big", "little", "flag"]
ORDERS: tuple[Order, ...] = ("big", "little", "flag")


@dataclass(frozen=True, slots=True)
class StreamReading:
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

    byte_order: Order | None = field(
        default=None,
        metadata=option(
            "--byte-order",
            "read all numbers of a stream in this order, or as its messages declare (flag)",
            kind=Kind.CHOICE,
            items=tuple(Item(order, order) for order in ORDERS),
        ),
    )
    until: int | None = field(
        default=None,
        metadata=option(
            "--until NUMBER",
            "show a stream as it was after this message; the first one is 0",
            kind=Kind.NUMBER,
            # Answers of services have no numbers.
            formats=("ncstream",),
        ),
    )

    def __post_init__(self) -> None:
        if self.byte_order is not None and self.byte_order not in ORDERS:
            known = ", ".join(ORDERS)
            raise RefbrowserError(ErrorKind.USAGE, f"{quoted(self.byte_order)} is not one of {known}")
        if self.until is not None and self.until < 0:
            raise RefbrowserError(ErrorKind.USAGE, "the first message has the number 0")
