from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.text import document_text as module
from refbrowser.references.text.document_text import DocumentText, TextBuilder, locate


@pytest.mark.parametrize(
    "size", [0, 1, 1000, module.PLAIN_SIZE, module.PLAIN_SIZE + 1, module.PLAIN_SIZE + 999_999]
)
def test_every_span_can_be_read_again(size: int) -> None:
    data = (b'{"key/0.%d": ["s3://bucket/file.nc", 1234567, 89]}\n' * (size // 40 + 1))[:size]
    builder = TextBuilder()
    for start in range(0, size, 700_001):
        builder.append(data[start : start + 700_001])
    text = builder.finish()
    assert text.size == size
    assert b"".join(text.chunks()) == data
    chooser = random.Random(size)
    for _ in range(50):
        start = chooser.randrange(size + 1)
        stop = min(size, start + chooser.choice([0, 1, 50, 300_000, size]))
        assert text.read(start, stop) == data[start:stop]
        assert b"".join(text.chunks(start, stop)) == data[start:stop]


def test_large_text_is_held_packed() -> None:
    data = b'"var/12.34": ["s3://bucket/some/file.nc", 123456, 789],\n' * 200_000
    assert DocumentText.of(data).held < len(data) / 10


@given(st.text(alphabet="ab\né😀", max_size=60), st.data())
def test_lines_and_columns(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    index = data.draw(st.integers(0, len(text)))
    size = data.draw(st.integers(1, 7))
    position = len(text[:index].encode())
    before = text[:index]
    expected = (before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
    chunks = [raw[start : start + size] for start in range(0, len(raw), size)]
    assert locate(chunks, [position, 0])[position] == expected
