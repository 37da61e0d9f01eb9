"""Array nodes for tests of views."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks


def node(
    shape: tuple[int, ...],
    chunks: tuple[int, ...] | None = None,
    dtype: str = "<f4",
    dimensions: tuple[str | None, ...] | None = None,
    path: str = "/field",
    **attributes: Any,
) -> ArrayNode:
    """Return an array without references."""
    fill_value = attributes.pop("fill_value", None)
    return ArrayNode(
        path=path,
        shape=shape,
        type=DataType.of(np.dtype(dtype), dtype),
        dimensions=tuple(f"d{axis}" for axis in range(len(shape))) if dimensions is None else dimensions,
        values=Chunks(grid=RegularChunkGrid(shape, chunks or tuple(max(1, size) for size in shape))),
        attributes=attributes,
        fill_value=fill_value,
    )
