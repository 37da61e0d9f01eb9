"""What is asked of the history of a repository."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.formats.option_fields import Kind, documented, option


@documented
@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """What is told beside the graph of snapshots."""

    operations: bool = field(
        default=False,
        metadata=option(
            "--operations",
            "also the log of operations, which version 2 of Icechunk keeps",
            kind=Kind.TICK,
            means=True,
        ),
    )
    unused: bool = field(
        default=False,
        metadata=option(
            "--unused",
            "also the objects that no branch and no tag needs, with their bytes: the repository is listed, "
            "and all its manifests are read",
            kind=Kind.TICK,
            means=True,
        ),
    )
