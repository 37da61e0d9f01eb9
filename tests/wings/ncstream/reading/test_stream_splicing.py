"""Bytes put together from stretches and bytes read like the file that they would make."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.wings.ncstream.reading import splicing
from refbrowser.wings.ncstream.reading.splicing import Spliced

SOURCE = bytes(range(100))
stretches = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(lambda pair: (min(pair), max(pair)))
parts = st.lists(stretches | st.binary(max_size=5), max_size=8)


@given(parts, st.integers(0, 300), st.integers(0, 300))
def test_any_range_is_that_of_the_whole(given: list, offset: int, length: int) -> None:
    whole = b"".join(part if isinstance(part, bytes) else SOURCE[slice(*part)] for part in given)
    spliced = Spliced(MemoryBytes(SOURCE), given)
    assert spliced.size == len(whole)
    assert bytes(spliced.read(offset, length)) == whole[offset : offset + length]


def test_blocks_are_the_whole_in_bounded_pieces(monkeypatch) -> None:
    monkeypatch.setattr(splicing, "PORTION", 7)
    spliced = Spliced(MemoryBytes(SOURCE), [b"begin", (10, 60), b"", (90, 100)])
    blocks = list(map(bytes, spliced.blocks(CancelToken())))
    assert max(map(len, blocks)) == 7
    assert b"".join(blocks) == b"begin" + SOURCE[10:60] + SOURCE[90:]
