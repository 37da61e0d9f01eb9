"""Objects put together of units: the same bytes in whatever order units come, held in memory or in a file."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from documents_made import DocumentMaker

import refbrowser
from refbrowser.exporting import objects
from refbrowser.exporting.buffers import Buffers
from refbrowser.exporting.chunks import ArrayExport
from refbrowser.exporting.objects import Assembly, values_digest
from refbrowser.exporting.option_fields import Sides
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import ExportRequest
from refbrowser.exporting.targets.store import StoreTarget
from refbrowser.exporting.verify import Held

VALUES = np.random.default_rng(0).integers(0, 1000, (6, 4), "i8")


def shards(folder: Path) -> ArrayExport:
    """Return an array of 2 x 2 chunks, 6 of them in a shard."""
    maker = DocumentMaker(folder, 3)
    maker.array("a", VALUES, (2, 2))
    with refbrowser.open(maker.write()) as dataset:
        options = StoreOptions(shards=Sides((6, 4)), codec="zlib:1")
        return StoreTarget(dataset, ExportRequest(str(folder / "out"), "zarr-v3", options=options)).exports[0]


@pytest.mark.parametrize("held", [1 << 20, 40, 0])
def test_a_shard_has_the_same_bytes_whatever_order_its_units_come_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(objects, "HELD", held)
    coder = shards(tmp_path).coder
    units = [VALUES[row : row + 2, column : column + 2] for row, column in product((0, 2, 4), (0, 2))]
    dtype = coder.unit_pipeline.dtype
    for stored in ([0, 1, 2, 3, 4, 5], [1, 2, 5], [4]):
        found = set()
        for seed in range(4):
            order = random.Random(seed).sample(stored, len(stored)) if seed else stored
            assembly = Assembly(coder, tmp_path, Buffers())
            assert assembly.is_empty
            for number in order:
                data = bytes(coder.unit_pipeline.encode(np.ascontiguousarray(units[number])))
                assembly.add(number, data, values_digest(units[number], dtype))
            made = assembly.finish()
            data = b"".join(made.portions())
            assert len(data) == made.size
            assert coder.digest(Held(data)) == made.digest
            found.add(data)
        assert len(found) == 1
        ranges = coder.shard.inner_ranges(data[-coder.shard.index_size :], len(data))
        assert [number for number, (start, _) in enumerate(ranges) if start >= 0] == stored
        assert sorted(ranges[stored, 0]) == list(ranges[stored, 0])


def test_memory_is_used_again_by_one_at_a_time() -> None:
    buffers, size = Buffers(), 1 << 20
    one, two = buffers.take(size), buffers.take(size)
    one[:], two[:] = b"1" * size, b"2" * size
    assert one[0] != two[0]
    memory = one.obj
    buffers.give(one[10:20])
    again, more = buffers.take(size - 5), buffers.take(size - 5)
    assert again.obj is memory
    assert more.obj is not memory
    assert len(again) == size - 5
    buffers.give(two)
    assert buffers.take(size // 2 - 1).obj is not two.obj, "much more than is needed is not taken"
    for other in (b"bytes", memoryview(bytearray(size)), buffers.take(5), buffers.take(0)):
        buffers.give(other)
    assert buffers.take(size).obj is two.obj, "what was not taken here is not given"
    kept = [buffers.take(64 * size) for _ in range(4)]
    for each in kept:
        buffers.give(each)
    again = {id(buffers.take(64 * size).obj) for _ in kept}
    assert len(again & {id(each.obj) for each in kept}) == 2, "little waits"
