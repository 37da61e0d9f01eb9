from collections.abc import Callable

import numpy as np
import pytest

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.values import Chunks


def make_pipeline(dtype, codecs, shape=(6, 5), order="C", version="zarr-v2", fill_value=None):
    """A pipeline from configurations: `{"id": ...}` of v2 or `{"name": ..., "configuration": ...}` of v3."""
    specs = tuple(
        CodecSpec(item["id"], {name: value for name, value in item.items() if name != "id"})
        if "id" in item
        else CodecSpec(item["name"], item.get("configuration", {}))
        for item in codecs
    )
    grid = RegularChunkGrid(shape, shape)
    node = ArrayNode(
        path="/a",
        shape=shape,
        type=DataType.of(np.dtype(dtype)),
        values=Chunks(grid=grid, order=order, codecs=specs),
        format=version,
        fill_value=fill_value,
    )
    return CodecPipeline.for_array(node)


@pytest.fixture(scope="session")
def pipeline() -> Callable[..., CodecPipeline]:
    return make_pipeline
