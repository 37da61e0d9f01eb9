"""The limits of Icechunk that no other format has."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.limits import GIB, MIB, LimitTable, limit


@dataclass(frozen=True, init=False, eq=False, repr=False)
class IcechunkLimits(LimitTable):
    """What one repository may cost."""

    icechunk_file: int = limit(GIB, "bytes", "snapshot or manifest of an Icechunk repository, decompressed")
    icechunk_snapshots: int = limit(
        1_000, "snapshots", "snapshots in the history of an Icechunk repository that are listed"
    )
    icechunk_operations: int = limit(
        10_000, "operations", "operations on an Icechunk repository that are listed"
    )
    icechunk_growth: int = limit(200, "times", "growth of such a file when it is decompressed")
    icechunk_growth_from: int = limit(64 * MIB, "bytes", "such a file that may grow by any factor")
    icechunk_kept: int = limit(
        256 * MIB, "bytes", "decompressed manifests of a repository that are kept beside the one in use"
    )
    icechunk_lost: int = limit(
        1_000_000, "chunks", "chunks whose manifest cannot be read that are listed one by one"
    )
    icechunk_commits: int = limit(
        20,
        "commits",
        "commits of others that one is merged with, one after the other, before it gives up",
    )
    icechunk_wait: int = limit(60, "seconds", "time to wait for another commit to a repository on this disk")


ICECHUNK_LIMITS = IcechunkLimits()
