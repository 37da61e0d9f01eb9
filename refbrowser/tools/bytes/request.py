"""What is asked of an array whose reading is planned."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, documented, option


@documented
@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What is told of an array: the ranges of a selection, or what reading costs."""

    cost: bool = field(
        default=False,
        metadata=option(
            "--cost",
            "what a map, a series, a profile and all of the array cost to read, with other chunks too",
            kind=Kind.TICK,
            means=True,
        ),
    )
    chunks: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--chunks SIDES",
            "with --cost: chunks of your own, for example 1,180,360; : is a whole axis (repeatable)",
            kind=Kind.TEXTS,
        ),
    )
