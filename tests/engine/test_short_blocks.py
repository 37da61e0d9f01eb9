"""Blocks of N5 that have less than lies in the array: zeros stand for the rest, which is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.cli.program import main

VALUES = np.arange(1, 36, dtype="<i2").reshape(5, 7)
INNER = [
    {"name": "transpose", "configuration": {"order": [1, 0]}},
    {"name": "bytes", "configuration": {"endian": "big"}},
]


def block(values: Any) -> bytes:
    head = np.array([0, 2], ">u2").tobytes() + np.array(values.shape, ">u4").tobytes()
    return head + values.astype(">i2").tobytes(order="F")


def store(folder: Path, blocks: dict[str, Any], *codecs: Any) -> Path:
    folder.mkdir()
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [5, 7],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 4]}},
        "chunk_key_encoding": {"name": "v2"},
        "fill_value": 0,
        "codecs": [{"name": "n5_default", "configuration": {"codecs": INNER}}, *codecs],
    }
    (folder / "zarr.json").write_text(json.dumps(metadata))
    for key, values in blocks.items():
        (folder / key).write_bytes(block(values))
    return folder


def whole() -> dict[str, Any]:
    return {f"{y}.{x}": VALUES[3 * y : 3 * y + 3, 4 * x : 4 * x + 4] for y in (0, 1) for x in (0, 1)}


def test_blocks_that_end_where_the_array_ends_are_sound(tmp_path: Path) -> None:
    with refbrowser.open(store(tmp_path / "a", whole())) as dataset:
        assert np.array_equal(dataset.array("/")[...], VALUES)
        assert dataset.access.memory.warnings == ()
    padded = {**whole(), "1.1": np.pad(VALUES[3:, 4:], ((0, 1), (0, 1)))}
    with refbrowser.open(store(tmp_path / "b", padded)) as dataset:
        assert np.array_equal(dataset.array("/")[...], VALUES)
        assert dataset.access.memory.warnings == ()


def test_a_block_within_the_array_that_is_too_small_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = {**whole(), "0.0": VALUES[:2, :4], "1.1": VALUES[3:, 4:6]}
    path = store(tmp_path / "a", blocks)
    expected = VALUES.copy()
    expected[2, :4] = expected[3:, 6] = 0
    with refbrowser.open(path) as dataset:
        for _ in range(2):
            assert np.array_equal(dataset.array("/")[...], expected)
        first, second = dataset.access.memory.warnings
    assert "2 × 4 elements where 3 × 4 lie in the array" in first.message
    assert "2 × 2 elements where 2 × 3 lie in the array" in second.message
    assert (first.place.key, second.place.key) == ("0.0", "1.1")
    assert main(["read", str(path), "/", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == expected.tolist()
    assert told.err.count("zeros stand for the others") == 2
