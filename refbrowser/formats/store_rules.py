"""By what rules stores of Zarr are read: one table of their flavours, those of wings among them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.loading import is_there
from refbrowser.model.flavour import Flavour
from refbrowser.model.metadata_keys import DRAFT_ROOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRules:
    """By what rules stores of one flavour of Zarr are read.

    Attributes
    ----------
    hierarchy
        What builds their hierarchy, as ``module:function``: a
        `refbrowser.formats.flavour.HierarchyBuilder`.
    documents
        What knows their metadata documents, as ``module:class``: a
        `refbrowser.engine.node_metadata.NodeDocuments`. Empty where each node has those of Zarr v2 or v3, and
        keys begin with the paths of nodes.
    root
        Keys of metadata that stands right below the root.
    tells, tells_keys
        Whether a ``zarr.json`` at the top of a store, or the keys of one without any, are those of the
        flavour, where others have none of the like. Of keys below ``data/`` there may be a few.
    is_written
        Whether metadata of arrays is written by these rules.
    loss
        What other software does not find in references to such a store, in words.
    """

    hierarchy: str
    root: tuple[str, ...]
    documents: str = ""
    tells: Callable[[Mapping[str, Any]], bool] = lambda document: False
    tells_keys: Callable[[Collection[str]], bool] = lambda keys: False
    is_written: bool = True
    loss: str = ""


# What tells drafts


def _of_later_entry(document: Mapping[str, Any]) -> bool:
    return "metadata_encoding" in document or isinstance(document.get("zarr_format"), str)


def _of_later_draft(keys: Collection[str]) -> bool:
    drafts = _of_drafts(keys)
    is_later = bool(drafts) and all(key.startswith(("meta/root/", "meta/root.")) for key in drafts)
    return is_later and any(key.startswith("data/root/") for key in keys)


def _of_early_draft(keys: Collection[str]) -> bool:
    return bool(_of_drafts(keys)) and not _of_later_draft(keys)


def _of_drafts(keys: Collection[str]) -> list[str]:
    return [key for key in keys if key in DRAFT_ROOTS or key.startswith("meta/")]


# The table

_DRAFT = "refbrowser.wings.zarr_draft"
_LOSS = (
    "keys and metadata are those of the draft: fsspec finds chunks by their keys, "
    "zarr-python opens no array; export to zarr-v3 for that"
)
_HIERARCHY = "refbrowser.formats.zarr.hierarchy:build_hierarchy"
_ROOT_V2 = (".zmetadata", ".zgroup", ".zarray", ".zattrs", ".nczarr", ".nczgroup", ".nczattrs", ".nczattr")
_ROOT_V3 = ("zarr.json",)
_ROOT_DRAFT = ("root.array.json", "root.group.json", "meta/root.group.json", "meta/root.array.json")
#: The drafts: the core protocol of May 2019, and what followed, with keys below ``meta/root/``.
EARLY_DRAFT = Flavour("zarr-v3-draft", "Zarr v3 &draft of 2019")
LATER_DRAFT = Flavour("zarr-v3-draft-2020", "Zarr v3 d&raft of 2020", EARLY_DRAFT.store_format)
#: By what rules stores are read, and what is made of references to them: fixed, never a name from a file.
RULES = {
    Flavour.ZARR_V2: StoreRules(hierarchy=_HIERARCHY, root=_ROOT_V2),
    Flavour.ZARR_V3: StoreRules(hierarchy=_HIERARCHY, root=_ROOT_V3),
    Flavour.NCZARR: StoreRules(
        hierarchy="refbrowser.formats.nczarr.hierarchy:build_hierarchy", root=_ROOT_V2
    ),
    EARLY_DRAFT: StoreRules(
        hierarchy=f"{_DRAFT}.reading.hierarchy:build_hierarchy",
        root=_ROOT_DRAFT,
        documents=f"{_DRAFT}.reading.draft_documents:DRAFT_2019_DOCUMENTS",
        tells_keys=_of_early_draft,
        loss=_LOSS,
    ),
    LATER_DRAFT: StoreRules(
        hierarchy=f"{_DRAFT}.reading.hierarchy:build_later_hierarchy",
        root=(*_ROOT_V3, *_ROOT_DRAFT),
        documents=f"{_DRAFT}.reading.draft_documents:DRAFT_2020_DOCUMENTS",
        tells=_of_later_entry,
        tells_keys=_of_later_draft,
        is_written=False,
        loss=_LOSS,
    ),
}


def flavours() -> tuple[Flavour, ...]:
    """Return the flavours whose stores can be read: those of wings that are missing are not among them."""
    return tuple(each for each, rules in RULES.items() if is_there(rules.hierarchy))


def flavour_named(name: str) -> Flavour:
    """Return the flavour of a name, whether or not its stores can be read.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name.
    """
    found = next((each for each in RULES if each == name), None)
    if found is None:
        message = f"unknown flavour {quoted(name)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"Known: {', '.join(flavours())}.")
    return found
