"""The hierarchy of a dataset by the rules of its flavour; each adapter is loaded when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from refbrowser.formats.registry import RULES
from refbrowser.formats.zarr.documents import ManifestMaker, MetadataSource
from refbrowser.loading import load
from refbrowser.model.nodes import Flavour, Hierarchy

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
        from refbrowser.formats.flavour import find_flavour

        flavour = find_flavour(source.metadata_keys(), source.value) or Flavour.ZARR_V2
    builder: HierarchyBuilder = load(RULES[flavour].hierarchy)
    return replace(builder(source, manifests, format), flavour=flavour)
