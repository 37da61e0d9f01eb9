"""What the status bar is told about hosts."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.io.origins import Origin


@dataclass(frozen=True, slots=True)
class FetchEvent:
    """Something that happened to a host.

    `kind` is ``throttled`` (the host asked for less) or ``circuit`` (the host is left alone for a while).
    """

    kind: str
    origin: Origin
    message: str
