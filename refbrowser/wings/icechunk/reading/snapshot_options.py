"""Which snapshot of an Icechunk repository is opened; loaded without what opens it."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import option


@dataclass(frozen=True, slots=True)
class IcechunkOptions:
    """Which snapshot of an Icechunk repository is opened: that of the branch ``main`` where nothing is said.

    Attributes
    ----------
    branch, tag
        The name of a branch or of a tag.
    snapshot
        The identifier of a snapshot, 20 letters and digits.
    """

    branch: str | None = field(
        default=None,
        metadata=option(
            "--branch NAME", "open this branch of an Icechunk repository, not main", decides=True
        ),
    )
    tag: str | None = field(
        default=None,
        metadata=option("--tag NAME", "open this tag of an Icechunk repository", decides=True),
    )
    snapshot: str | None = field(
        default=None,
        metadata=option("--snapshot ID", "open this snapshot of an Icechunk repository", decides=True),
    )
