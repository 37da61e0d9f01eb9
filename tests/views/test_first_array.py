from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from multiscale_nodes import array, hierarchy, ome, ome_level

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
from refbrowser.views.dimensions import first_array


def node(path: str, *dimensions: str, size: int = 4, dtype: str = "<f4", **more: Any) -> ArrayNode:
    kind = np.dtype(dtype)
    shape = more.pop("shape", (size,) * len(dimensions))
    return ArrayNode(path=path, shape=shape, dimensions=dimensions, type=DataType(kind, dtype), **more)


def chosen(*arrays: ArrayNode) -> str | None:
    root = GroupNode(path="/", arrays={each.name: each for each in arrays})
    first = first_array(Hierarchy(root=root, format="zarr-v2"))
    return None if first is None else first.path


@pytest.mark.parametrize(
    ("arrays", "wanted"),
    [
        ([], None),
        ([node("/x", "x")], "/x"),
        ([node("/x", "x"), node("/mean", "x")], "/mean"),
        ([node("/a", "x"), node("/b", "y", "x"), node("/c", "t", "y", "x"), node("/d", "t", "y", "x")], "/c"),
        ([node("/t", "t", shape=(9,)), node("/one", "t", "y", shape=(1, 1)), node("/v", "t")], "/v"),
        ([node("/bnds", "t", "n"), node("/t", "t", attributes={"bounds": "bnds"}), node("/v", "t")], "/v"),
        ([node("/lat2", "y", "x"), node("/v", "y", attributes={"coordinates": "lat2 lon2"})], "/v"),
        ([node("/name", "y", "x", dtype="S8"), node("/v", "y")], "/v"),
        ([node("/name", "y", dtype="S8"), node("/y", "y")], "/name"),
        ([node("/x_bounds", "t", "x", "n"), node("/x", "x"), node("/v", "t", "y", "x")], "/v"),
        ([node("/sky_bounds", "y", "x"), node("/v", "y")], "/sky_bounds"),
        ([node("/rows", "y", dtype="O"), node("/rows/node1-data", "y", "x")], "/rows"),
        ([node("/none", "y", "x", shape=(0, 3)), node("/v", "y")], "/v"),
        ([node("/bad", "y", "x", error=RefbrowserError(ErrorKind.META, "bad")), node("/v", "y")], "/v"),
    ],
)
def test_the_first_array_is_data_of_most_dimensions(arrays: list[ArrayNode], wanted: str | None) -> None:
    assert chosen(*arrays) == wanted


def test_of_an_image_the_finest_level_is_first() -> None:
    names = ("coarse", "fine")
    levels = ome(*(ome_level(name, (1.0, 1.0)) for name in reversed(names)))
    nodes = [array(f"/{name}", (size, size)) for name, size in zip(names, (4, 8), strict=True)]
    first = first_array(hierarchy({"multiscales": [levels]}, *nodes))
    assert first is not None
    assert first.path == "/fine"
