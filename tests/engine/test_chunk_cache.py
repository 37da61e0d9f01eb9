"""The cache of decoded chunks stays within its bytes and drops the longest unused."""

from __future__ import annotations

import numpy as np
import pytest

from refbrowser.engine.reading.resources import ChunkCache


def test_the_longest_unused_goes_first() -> None:
    cache = ChunkCache(capacity=400)
    for name in "abcd":
        cache.put(name, np.zeros(100, np.uint8))
    assert cache.get("a") is not None
    cache.put("e", np.zeros(100, np.uint8))
    assert cache.get("b") is None
    assert [name for name in "acde" if cache.get(name) is not None] == list("acde")
    assert cache.size == 400


def test_a_replaced_entry_counts_once() -> None:
    cache = ChunkCache(capacity=400)
    cache.put("a", np.zeros(100, np.uint8))
    cache.put("a", np.zeros(50, np.uint8))
    assert (cache.size, len(cache)) == (50, 1)
    cache.clear()
    assert (cache.size, len(cache)) == (0, 0)


def test_what_is_too_large_or_of_unknown_size_is_not_kept() -> None:
    cache = ChunkCache(capacity=400)
    cache.put("large", np.zeros(101, np.uint8))
    cache.put("objects", np.array(["a", None], object))
    assert len(cache) == 0


def test_what_is_kept_cannot_be_changed() -> None:
    cache = ChunkCache()
    cache.put("a", np.zeros(3))
    with pytest.raises(ValueError):
        cache.get("a")[0] = 1
