"""Where a dataset is served."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, documented, option

#: Only this machine can reach what is offered there.
LOOPBACK = "127.0.0.1"


@documented
@dataclass(frozen=True, slots=True)
class ServeRequest:
    """Where a dataset is served."""

    port: int = field(
        default=0,
        metadata=option(
            "--port N", "where to listen; any that is free without it", kind=Kind.NUMBER, limits=(0, 65_535)
        ),
    )
    host: str = field(
        default=LOOPBACK,
        metadata=option(
            "--host ADDRESS",
            "listen at this address of this machine, so that others can read the dataset; without it only "
            "programs of this machine can",
        ),
    )
