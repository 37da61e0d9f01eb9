"""Which flavour a store is, by its metadata keys and what some say, and its hierarchy by those rules."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.formats.store_rules import RULES
from refbrowser.formats.zarr.documents import ManifestMaker, MetadataSource
from refbrowser.loading import load
from refbrowser.model.nodes import Flavour, Hierarchy

ENTRY = "zarr.json"
#: What was looked for, for the message where there is no store.
LOOKED_FOR = (
    "zarr.json, .zgroup, .zarray, .zmetadata, .nczarr, root.group.json, root.array.json and meta/**.json"
)
_V2_NAMES = (".zgroup", ".zarray", ".zmetadata")
_NCZARR_NAMES = (".nczarr", ".nczgroup", ".nczarray", ".nczvar")
#: Members that only NCZarr writes.
_NCZARR_MEMBERS = re.compile(rb'"_nczarr_(?:superblock|group|array)"\s*:', re.IGNORECASE)


def find_flavour(keys: Iterable[str], value: Callable[[str], bytes]) -> Flavour | None:
    """Return the flavour of a store, or None where its keys are of no flavour.

    Parameters
    ----------
    keys
        Metadata keys; others are ignored, but those below ``data/root/`` tell drafts apart.
    value
        Gives the bytes of a metadata key; one that raises `RefbrowserError` tells nothing.
    """
    known = dict.fromkeys(keys)
    if ENTRY in known:
        return flavour_of_entry(_parsed(value, ENTRY))
    last = {key: key.rpartition("/")[2] for key in known}
    if any(name in _V2_NAMES for name in last.values()):
        return Flavour.NCZARR if _is_nczarr(last, value) else Flavour.ZARR_V2
    told = (flavour for flavour, rules in RULES.items() if rules.tells_keys(known))
    if ENTRY not in last.values() and (found := next(told, None)):
        return found
    if any(name in _NCZARR_NAMES for name in last.values()):
        return Flavour.NCZARR
    return Flavour.ZARR_V3 if ENTRY in last.values() else None


def flavour_of_entry(document: Any) -> Flavour:
    """Return the flavour of a store with a ``zarr.json`` at its top; a broken one counts as the final v3."""
    if not isinstance(document, dict):
        return Flavour.ZARR_V3
    told = (flavour for flavour, rules in RULES.items() if rules.tells(document))
    return next(told, Flavour.ZARR_V3)


def _parsed(value: Callable[[str], bytes], key: str) -> Any:
    with contextlib.suppress(RefbrowserError, ValueError, RecursionError):
        return json.loads(value(key))
    return None


def _is_nczarr(last: dict[str, str], value: Callable[[str], bytes]) -> bool:
    """Whether the root or the first array says so (nczarr, section 6)."""
    if any(name in _NCZARR_NAMES for name in last.values()):
        return True
    for key in _telling(last):
        with contextlib.suppress(RefbrowserError):
            if _NCZARR_MEMBERS.search(value(key)):
                return True
    return False


def _telling(last: dict[str, str]) -> Iterator[str]:
    """Yield the keys that are looked into: those of the root, and those of the first array."""
    first = next((key for key, name in last.items() if name == ".zarray"), ".zarray")
    folder = first.removesuffix(".zarray")
    wanted = (".zattrs", ".zgroup", ".zarray", ".zmetadata", f"{folder}.zattrs", f"{folder}.zarray")
    yield from (key for key in dict.fromkeys(wanted) if key in last)


HierarchyBuilder = Callable[[MetadataSource, ManifestMaker, str], Hierarchy]


def hierarchy_of_flavour(
    flavour: Flavour | None, source: MetadataSource, manifests: ManifestMaker, format: str
) -> Hierarchy:
    """Return the groups and arrays that metadata describes.

    Parameters
    ----------
    flavour
        Whose rules it follows; None to find that out from the metadata.
    source
        The metadata.
    manifests
        Makes the manifest of each array.
    format
        Of the dataset, a name as in ``refbrowser export --to``.
    """
    if flavour is None:
        flavour = find_flavour(source.metadata_keys(), source.value) or Flavour.ZARR_V2
    builder: HierarchyBuilder = load(RULES[flavour].hierarchy)
    return replace(builder(source, manifests, format), flavour=flavour)
