"""Blocks of N5 that have less than lies in the array: zeros stand for the rest, which is told."""

from __future__ import annotations

import json
import re
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


def sharded(folder: Path, blocks: dict[tuple[int, int], Any], name: str = "c.0.0") -> Path:
    """Write one shard of 2 by 2 blocks; one that is not named is not stored."""
    inner = {"name": "n5_default", "configuration": {"codecs": INNER}}
    sharding = {
        "chunk_shape": [3, 4],
        "codecs": [inner],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    folder.mkdir()
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [5, 7],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6, 8]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": 0,
        "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
    }
    (folder / "zarr.json").write_text(json.dumps(metadata))
    index = np.full((2, 2, 2), 2**64 - 1, "<u8")
    data = b""
    for place, values in blocks.items():
        stored = block(values)
        index[place] = len(data), len(stored)
        data += stored
    (folder / name).write_bytes(data + index.tobytes())
    return folder


INSIDE = {
    (0, 0): VALUES[:2, :4],
    (0, 1): VALUES[:3, 4:],
    (1, 0): VALUES[3:, :4],
    (1, 1): VALUES[3:, 4:6],
}
TOLD = [
    "the block of the inner chunk (0, 0) has 2 × 4 elements where 3 × 4 lie in the array",
    "the block of the inner chunk (1, 1) has 2 × 2 elements where 2 × 3 lie in the array",
]


@pytest.mark.parametrize("part", [np.s_[...], np.s_[1:, 1:]])
def test_short_blocks_in_shards_are_told_read_whole_or_alone(tmp_path: Path, part: Any) -> None:
    with refbrowser.open(sharded(tmp_path / "a", INSIDE)) as dataset:
        expected = VALUES.copy()
        expected[2, :4] = expected[3:, 6] = 0
        assert np.array_equal(dataset.array("/")[part], expected[part])
        warnings = dataset.access.memory.warnings
        assert [each.message.partition(":")[0] for each in warnings] == TOLD
        assert {each.place.key for each in warnings} == {"c.0.0"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_sharded", "options"),
    [(False, {}), (False, {"shards": "6,8"}), (True, {}), (True, {"chunks": "3,4"})],
)
def test_short_blocks_are_told_where_they_are_copied(
    tmp_path: Path, is_sharded: bool, options: dict[str, str]
) -> None:
    if is_sharded:
        source = sharded(tmp_path / "a", INSIDE)
    else:
        source = store(tmp_path / "a", {**whole(), "0.0": VALUES[:2, :4], "1.1": VALUES[3:, 4:6]})
    with refbrowser.open(source) as dataset:
        report = refbrowser.export(dataset, tmp_path / "b", format="zarr-v3", **options)
        assert report.copied
        told = sorted(each.message.partition(":")[0] for each in dataset.access.memory.warnings)
    plain = [re.sub(r" of the inner chunk \(\d, \d\)", "", text) for text in TOLD]
    assert told == sorted(TOLD if is_sharded else plain)
