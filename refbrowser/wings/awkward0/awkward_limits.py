"""The limits of Awkward 0 that no other format has."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.limits import GIB, MIB, LimitTable, limit


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AwkwardLimits(LimitTable):
    """What schemas, blobs and rows of one file may cost."""

    awkward_schema: int = limit(16 * MIB, "bytes", "schema of one array of Awkward 0")
    awkward_schemas: int = limit(64 * MIB, "bytes", "schemas of all arrays of one file of Awkward 0")
    awkward_nodes: int = limit(100_000, "expressions", "expressions of one schema of Awkward 0")
    awkward_nesting: int = limit(100, "levels", "expressions in expressions of Awkward 0")
    awkward_depth: int = limit(64, "levels", "arrays in arrays of Awkward 0, through references too")
    awkward_parts: int = limit(100_000, "parts", "arrays that one array of Awkward 0 is made of")
    awkward_pickle: int = limit(1_000_000, "bytes", "pickle of plain values in a schema of Awkward 0")
    awkward_findings: int = limit(1_000, "findings", "findings of one kind about one schema of Awkward 0")
    awkward_files: int = limit(1_000_000, "files", "files of a folder that are listed for Awkward 0")
    awkward_arrays: int = limit(100_000, "arrays", "arrays of one file of Awkward 0")
    awkward_fields: int = limit(10_000, "fields", "fields of one array of Awkward 0 shown as arrays")
    awkward_field_levels: int = limit(8, "levels", "such fields in fields")
    awkward_search: int = limit(
        64 * MIB, "bytes", "members that are looked into for schemas, where their names do not show it"
    )
    awkward_hdf5_memory: int = limit(GIB, "bytes", "memory of the process that writes into an HDF5 file")
    awkward_hdf5_time: float = limit(60, "s", "writing by that process, besides what its bytes take")
    awkward_visits: int = limit(20_000, "nodes", "arrays that one read of nested rows goes through")
    awkward_rows: int = limit(2 * GIB, "bytes", "elements held by one read of nested rows")
    awkward_index: int = limit(256 * MIB, "bytes", "index of nested rows that must be held whole")
    awkward_marks: int = limit(64 * MIB, "bytes", "sums of indexes of one nested array that are kept")
    awkward_measured: int = limit(
        64 * MIB, "bytes", "indexes read when a file is opened, where only they give the number of rows"
    )
    awkward_turns: int = limit(1_000, "turns", "turns of a cycle that are followed in nested rows")
    awkward_faults: int = limit(1_000, "faults", "unreadable parts of one read of nested rows, listed")


AWKWARD_LIMITS = AwkwardLimits()
