"""Groups whose attributes describe images in several resolutions, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy


def array(path: str, shape: Sequence[int], dimensions: Sequence[str] = (), **more: Any) -> ArrayNode:
    """Return an array of floats."""
    kind = DataType.of(np.dtype(more.pop("dtype", "<f4")))
    return ArrayNode(path=path, shape=tuple(shape), dimensions=tuple(dimensions), type=kind, **more)


def hierarchy(attributes: Mapping[str, Any], *nodes: ArrayNode | GroupNode) -> Hierarchy:
    """Return a root with attributes, and what is in it."""
    root = GroupNode(
        attributes=attributes,
        arrays={node.name: node for node in nodes if isinstance(node, ArrayNode)},
        groups={node.name: node for node in nodes if isinstance(node, GroupNode)},
        metadata_keys=(".zgroup", ".zattrs"),
    )
    return Hierarchy(root=root, format="zarr-v2")


def group(path: str, *arrays: ArrayNode, **attributes: Any) -> GroupNode:
    """Return a group of arrays."""
    return GroupNode(path=path, arrays={each.name: each for each in arrays}, attributes=attributes)


def ome_level(path: str, scale: Sequence[float], *translation: float) -> dict[str, Any]:
    """Return a member of `datasets`."""
    told: list[dict[str, Any]] = [{"type": "scale", "scale": list(scale)}]
    told += [{"type": "translation", "translation": list(translation)}] if translation else []
    return {"path": path, "coordinateTransformations": told}


def ome(*levels: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return an image of OME-Zarr 0.4 over y and x in micrometres."""
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
    return {"version": "0.4", "axes": axes, "datasets": list(levels), **more}
