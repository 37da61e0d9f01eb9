"""Options of opening, a group for each format that has some; loaded without what opens the formats."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, option
from refbrowser.formats.store_rules import flavour_named, flavours
from refbrowser.model.flavour import Flavour


@dataclass(frozen=True, slots=True)
class StoreReading:
    """How a store is read.

    Attributes
    ----------
    flavour
        Whose rules its metadata follows; found out when None.
    """

    flavour: Flavour | None = field(
        default=None,
        metadata=option(
            "--as FLAVOUR",
            f"open a store as {', '.join(flavours()[:-1])} or {flavours()[-1]}",
            kind=Kind.CHOICE,
            parse=flavour_named,
            values=lambda: list(flavours()),
            decides=True,
        ),
    )
