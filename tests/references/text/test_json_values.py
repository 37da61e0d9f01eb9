"""Values read fast are those that the exact reader finds, and so are the errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.limits import LIMITS
from refbrowser.references.text import json_text
from refbrowser.references.text.json_text import JsonError, Node, parse, read_value

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def exactly(data: bytes) -> Any:
    try:
        return parse(data).to_python()
    except JsonError as error:
        return error.kind, error.position, error.message


def quickly(data: bytes) -> Any:
    try:
        return read_value(data)[0]
    except JsonError as error:
        return error.kind, error.position, error.message


@given(VALUES, st.sampled_from([None, 1]))
def test_values(value: Any, indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode()
    assert repr(quickly(data)) == repr(exactly(data))
    words = [word for word in ("NaN", "Infinity") if word in json.dumps(_without_texts(value))]
    assert read_value(data)[1] is (not words)


def _without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return [_without_texts(inner) for inner in value.values()]
    if isinstance(value, list):
        return [_without_texts(inner) for inner in value]
    return None if isinstance(value, str) else value


@given(VALUES, st.integers(0, 30), st.sampled_from([b"", b",", b"]", b'"', b"\x00", b"\xff", b"NaN", b"01"]))
def test_broken_texts(value: Any, at: int, more: bytes) -> None:
    data = json.dumps(value).encode()
    broken = data[:at] + more + data[at + 1 :]
    assert repr(quickly(broken)) == repr(exactly(broken))


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": [2]}',
        b'"\\ud800"',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"1" * 5_000,
        b"-" + b"1" * LIMITS.json_digits,
        b"1" * (LIMITS.json_digits + 1),
        b"[" * LIMITS.json_nesting + b"]" * LIMITS.json_nesting,
        b"[" * (LIMITS.json_nesting + 1) + b"]" * (LIMITS.json_nesting + 1),
        b"[" * 100_000,
        b"[" + b"[]," * LIMITS.json_nesting + b"[]]",
        b"1e999",
        b"[1] 2",
        b"",
    ],
)
def test_odd_texts(data: bytes) -> None:
    assert repr(quickly(data)) == repr(exactly(data))


def test_plain_texts_are_not_read_by_the_exact_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(data: bytes) -> Node:
        raise AssertionError(data)

    monkeypatch.setattr(json_text, "parse", refused)
    assert read_value(b'{"a": [1, 2.5, "NaN", null]}') == ({"a": [1, 2.5, "NaN", None]}, True)
