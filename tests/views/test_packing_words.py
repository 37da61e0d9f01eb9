"""Packed numbers are told by what packs them: attributes, codecs, or both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.values import Chunks, CodecSpec
from refbrowser.tools.explain.report.meaning import meaning_of
from refbrowser.views.attributes import array_pairs
from refbrowser.views.packing_words import packing_words

SCALE = {"name": "scale_offset", "configuration": {"offset": -273.15, "scale": 100.0}}
CAST = {
    "name": "cast_value",
    "configuration": {"data_type": "int16", "scalar_map": {"decode": [[-32768, "NaN"]]}},
}
CF = {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -1}


def array(dtype: str, codecs: list[Any], attributes: Any = None) -> ArrayNode:
    specs = tuple(CodecSpec(each["name"], each["configuration"]) for each in codecs)
    grid = RegularChunkGrid((4,), (4,))
    return ArrayNode(
        path="/t",
        shape=(4,),
        dimensions=("x",),
        type=DataType.of(np.dtype(dtype)),
        values=Chunks(grid=grid, codecs=specs),
        format="zarr-v3",
        fill_marks=False,
        attributes=attributes or {},
    )


BY_CODECS = (
    "by codecs (scale_offset and cast_value): stored as int16, value = stored ÷ 100 - 273.15, -32768 is NaN"
)
CAST_ONLY = "by codecs (cast_value): stored as int16, -32768 is NaN"
BY_ATTRIBUTES = "by attributes (scale_factor and add_offset): value = stored × 0.01 + 273.15, -1 is no value"
SHARDS = {"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": [SCALE, CAST, "bytes"]}}


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (array("<f8", [SCALE, CAST]), BY_CODECS),
        (array("<f8", [SHARDS]), BY_CODECS),
        (array("<i2", [], CF), BY_ATTRIBUTES),
        (
            array("<i2", [CAST], CF),
            f"{CAST_ONLY}; then {BY_ATTRIBUTES}",
        ),
        (array("<i2", [], {"_FillValue": -1}), ""),
        (array("<f8", []), ""),
        (array("S4", [], CF), ""),
    ],
)
def test_words(node: ArrayNode, words: str) -> None:
    assert packing_words(node) == words
    assert dict(array_pairs(node)).get("Packing", "") == words


def test_explain_tells_it() -> None:
    lines = meaning_of(array("<i2", [], CF), np.int16(5)).step.lines
    assert [line.text for line in lines if line.name == "Packing"] == [BY_ATTRIBUTES]
    lines = meaning_of(array("<f8", [SCALE, CAST]), np.float64(5)).step.lines
    assert [line.text for line in lines if line.name == "Packing"] == [BY_CODECS]
