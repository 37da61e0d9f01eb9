"""Metadata of the v3 draft of May 2019 to a hierarchy (Metadata, Storage keys, Discover all nodes)."""

from __future__ import annotations

from refbrowser.formats.zarr.source import ManifestMaker, MetadataSource
from refbrowser.formats.zarr_draft.drafts import DRAFT_2019
from refbrowser.formats.zarr_draft.keys import MetadataKey, NodeKind, spellings_2019
from refbrowser.formats.zarr_draft.tree import TreeBuilder
from refbrowser.model.nodes import Hierarchy

_ROOT = "/root"


def build_hierarchy(source: MetadataSource, manifests: ManifestMaker, format: str) -> Hierarchy:
    """Return the groups and arrays that the metadata of a store of the draft of 2019 describes.

    Nothing is raised: one broken document is one broken node. A group with an extension that must be
    understood is shown without its children; so is the root.

    Parameters
    ----------
    source
        The metadata.
    manifests
        Makes the manifest of each array.
    format
        Of the dataset, a name as in ``refbrowser export --to``.
    """
    builder = TreeBuilder(source, manifests, DRAFT_2019)
    builder.gather()
    _take_root(builder)
    return builder.hierarchy(format)


def _take_root(builder: TreeBuilder) -> None:
    """Take ``meta/root.*`` as the root document where there is no other, as the edit of June 2019 has it."""
    found = [key for key, node in builder.keys.items() if node.path == _ROOT]
    has_root = any(node.path == "/" for node in builder.keys.values())
    if has_root or not found:
        return
    key = found[0]
    kind = builder.keys[key].kind
    others = [node.path for node in builder.keys.values() if node.path != _ROOT]
    alone = len(found) == 1 and not any(path.startswith(f"{_ROOT}/") for path in others)
    if not alone or (kind is NodeKind.ARRAY and others):
        builder.warn("the node is named root; it is not the root of the store", key)
        return
    builder.warn(f"taken as the document of the root; by the letter it is a node named root ({key})", key)
    builder.keys[key] = MetadataKey("/", kind)
    if kind is NodeKind.ARRAY:
        builder.more_spellings["/"] = spellings_2019(_ROOT, None, 1)
