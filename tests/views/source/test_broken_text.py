"""Texts that are no documents: where they break, and what mends them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.views.source.broken_text import (
    certain_mending,
    fault_of,
    is_broken_text,
    place_in,
    read_text,
)


def test_the_fault_has_its_byte():
    data = '{"é": 1,\n "refs": {"a": "x",}}'.encode()
    found = fault_of(data)
    assert found is not None
    assert data[found.position :] == b"}}"
    assert fault_of(b'{"version": 1, "refs": {}}') is None


def test_a_line_and_column_are_a_byte():
    data = "ab\ncéd\n".encode()
    assert data[place_in(data, Place(line=2, column=3)) :] == b"d\n"
    assert place_in(data, Place(line=9, column=1)) == len(data)


def test_only_what_becomes_a_document_is_mended():
    made = certain_mending(b'{"version": 1, "refs": {"a": ["u", 1, 2],}}')
    assert made is not None
    assert json.loads(made.data)["refs"] == {"a": ["u", 1, 2]}
    # JSON then, and still no document.
    assert certain_mending(b'{"version": 7, "refs": {},}') is None
    assert certain_mending(b"[1,]") is None


def test_packed_texts_are_read(tmp_path: Path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"a": 1,}'))
    assert read_text(str(path)) == b'{"a": 1,}'


@pytest.mark.parametrize(
    ("kind", "place", "expected"),
    [
        (ErrorKind.JSON, Place(line=1, column=1), True),
        (ErrorKind.JSON, Place(), False),
        (ErrorKind.JSON, Place(line=1, column=1, key="a/.zarray"), False),
        (ErrorKind.IO, Place(line=1, column=1), False),
    ],
)
def test_faults_of_texts_are_told_from_others(kind, place, expected):
    assert is_broken_text("/a.json", RefbrowserError(kind, "no", place)) is expected
    assert not is_broken_text("https://example.org/a.json", RefbrowserError(kind, "no", place))
