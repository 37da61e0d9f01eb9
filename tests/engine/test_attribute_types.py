"""Types of attributes: recorded, suggested, and what a typed line stands for in one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.attribute_edits import (
    TYPES,
    AttributeType,
    count_words,
    offered,
    suggested,
    type_of,
    value_as,
    value_in,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.netcdf.types import AtomicType

INTEGERS = [str(atomic) for atomic in AtomicType if atomic.is_integer]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("m", "char"),
        (["a"], "char"),
        (["a", "b"], "string"),
        (1, "int"),
        ([1, 2], "int"),
        (2**31, "int64"),
        (2**63, "uint64"),
        (2**64, "json"),
        (1.0, "double"),
        ([1, 2.5], "double"),
        (True, "json"),
        (None, "json"),
        ({"a": 1}, "json"),
        ([], "json"),
        ([1, "a"], "json"),
    ],
)
def test_what_a_value_suggests(value: Any, name: str) -> None:
    assert suggested(value) == name


def test_what_is_recorded_counts() -> None:
    assert type_of({"a": "short"}, "a", 1) == AttributeType("short", True)
    assert type_of({}, "a", 1) == AttributeType("int", False)


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("char", "12", "12"),
        ("char", '"12"', "12"),
        ("char", "[1, 2]", "[1, 2]"),
        ("char", '"open', '"open'),
        ("string", '["a", "b"]', ["a", "b"]),
        ("string", "true", "true"),
        ("short", "3", 3),
        ("short", "3.0", 3),
        ("short", "[1, 2]", [1, 2]),
        ("float", "1", 1.0),
        ("float", "NaN", "NaN"),
        ("double", "-infinity", "-Infinity"),
        ("json", "[1, 2]", [1, 2]),
    ],
)
def test_a_typed_line_in_a_type(name: str, typed: str, value: Any) -> None:
    found = value_in(name, typed)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("short", "40000", "not from -32768 to 32767"),
        ("ubyte", "-1", "not from 0 to 255"),
        ("int", "1.5", "not a whole number"),
        ("int", "true", "not a whole number"),
        ("int", "many", "not a whole number"),
        ("float", "1e39", "too large"),
        ("double", "a", "not a number"),
        ("double", "[]", "no value"),
    ],
)
def test_what_a_type_cannot_hold_is_refused(name: str, typed: str, words: str) -> None:
    with pytest.raises(RefbrowserError, match=words) as caught:
        value_in(name, typed)
    assert caught.value.kind is ErrorKind.USAGE
    assert name in caught.value.message


@pytest.mark.parametrize(
    ("name", "value", "becomes"),
    [
        ("short", "12", 12),
        ("char", 12, "12"),
        ("double", 12, 12.0),
        ("int", 12.0, 12),
        ("string", "a", "a"),
        ("char", ["a"], "a"),
        ("char", "a", "a"),
        ("string", [1, 2], "[1, 2]"),
    ],
)
def test_a_value_in_another_type(name: str, value: Any, becomes: Any) -> None:
    found = value_as(name, value)
    assert found == becomes
    assert type(found) is type(becomes)


def test_several_texts_are_no_char() -> None:
    with pytest.raises(RefbrowserError, match="2 values"):
        value_as("char", ["a", "b"])


@given(st.sampled_from(INTEGERS), st.integers(-(2**65), 2**65))
def test_whole_numbers_are_taken_or_refused_by_their_range(name: str, number: int) -> None:
    import numpy as np

    limits = np.iinfo(str(AtomicType(name).dtype))
    if limits.min <= number <= limits.max:
        assert value_in(name, str(number)) == number
    else:
        with pytest.raises(RefbrowserError):
            value_in(name, str(number))


@given(st.sampled_from(["char", "string"]), st.text())
def test_any_text_stays_itself_in_quotes(name: str, text: str) -> None:
    assert value_in(name, json.dumps(text)) == text
    assert value_as(name, text) == text


def test_what_is_offered_and_said() -> None:
    assert list(offered(True)) == list(TYPES)
    assert list(offered(False)) == ["char", "int", "double"]
    assert count_words("int", [1, 2]) == "2 values of type int"
    assert count_words("int", 1) == "int"
