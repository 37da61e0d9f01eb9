"""Which keys of a store are metadata, whatever flavour the store has."""

from __future__ import annotations

#: Last parts of keys that are metadata wherever they stand: Zarr v2 and v3, NCZarr of netcdf-c 4.8.0.
METADATA_NAMES = frozenset(
    {
        ".zgroup",
        ".zarray",
        ".zattrs",
        ".zmetadata",
        "zarr.json",
        ".nczarr",
        ".nczgroup",
        ".nczarray",
        ".nczvar",
        ".nczattrs",
        ".nczattr",
    }
)
#: Root documents of the draft of May 2019.
DRAFT_ROOTS = frozenset({"root.group.json", "root.array.json"})
_DRAFT_ENDS = (".group.json", ".array.json")
#: The draft of March 2020 wrote no suffix; a store of it has all metadata below ``meta/root``.
_LATER_ENDS = (".group", ".array")


def is_metadata_key(key: str) -> bool:
    """Return whether a key names a metadata document of any flavour."""
    if key.rpartition("/")[2] in METADATA_NAMES:
        return True
    if key.startswith("meta/"):
        return key.endswith(_DRAFT_ENDS) or (key.startswith("meta/root") and key.endswith(_LATER_ENDS))
    return key in DRAFT_ROOTS
