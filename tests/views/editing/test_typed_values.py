"""Values as they are typed in one line, and laid out over several."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.references.text.typed_values import (
    kind_words,
    laid_out,
    parsed,
    typed_lines,
    typed_text,
    typed_value,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


def kinds(value: Any) -> Any:
    """Return a value with the type of each part, which tells 1 from True and 1.0."""
    if isinstance(value, dict):
        return {name: kinds(inner) for name, inner in value.items()}
    return [kinds(inner) for inner in value] if isinstance(value, list) else (type(value), value)


@given(JSON)
def test_what_is_shown_reads_as_the_same_value(value: Any) -> None:
    assert kinds(typed_value(typed_text(value))) == kinds(value)


@given(JSON)
def test_what_is_laid_out_is_the_same_value(value: Any) -> None:
    assert kinds(parsed(laid_out(value))) == kinds(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("K", "K"),
        ("5", '"5"'),
        ("true", '"true"'),
        ("[mg]", '"[mg]"'),
        ("a\nb", '"a\\nb"'),
        ("", ""),
        (5, "5"),
    ],
)
def test_quotes_stand_only_where_they_are_needed(value: Any, text: str) -> None:
    assert typed_text(value) == text


@pytest.mark.parametrize("value", ["a\nb", "a\r\nb\r\n", "a\tb\n\N{NO-BREAK SPACE}c", "\n"])
def test_text_with_line_breaks_is_typed_in_lines(value: str) -> None:
    lines = typed_lines(typed_text(value))
    assert typed_value(lines) == value
    assert lines == (value if value.strip() else typed_text(value)), "what is blank would read as no text"


@pytest.mark.parametrize(
    "value", ["[a\nb", '"a\nb', "5\n", "a\rb\n", "a\x00\n", "a\r\nb\n", ["a\nb"], "K", 5]
)
def test_what_lines_would_change_stays_in_one(value: Any) -> None:
    assert typed_lines(typed_text(value)) == typed_text(value)


@pytest.mark.parametrize(
    ("text", "column"), [("[1, 2", 6), ('{"a" 1}', 6), ('"x', 1), ("[1,]", 4), ("[é, 2]", 2)]
)
def test_what_begins_as_json_must_be_json(text: str, column: int) -> None:
    with pytest.raises(RefbrowserError) as caught:
        typed_value(text)
    assert caught.value.place.column == column


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(typed_value("NaN"))
    assert typed_text(math.nan) == "NaN"


def test_faults_have_line_column_and_span_in_characters() -> None:
    with pytest.raises(RefbrowserError) as caught:
        parsed('{\n  "é€😀": x\n}')
    place = caught.value.place
    assert (place.line, place.column, place.span) == (2, 10, (11, 12))


def test_short_values_stand_on_one_line() -> None:
    value = {"shape": [1, 2, 3], "compressor": {"id": "zlib", "level": 1}, "long": list(range(40))}
    lines = laid_out(value).splitlines()
    assert lines[1] == '  "shape": [1, 2, 3],'
    assert lines[2] == '  "compressor": {"id": "zlib", "level": 1},'
    assert len(lines) > 6
    assert max(map(len, lines)) <= 50
    assert json.loads("\n".join(lines)) == value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1, "number"), (1.5, "number"), (True, "true or false"), (None, "null"), ("x", "text"),
        ([1], "list of 1 value"), ([], "list of 0 values"), ({"a": 1}, "object of 1 member"),
    ],
)  # fmt: skip
def test_kinds_in_words(value: Any, words: str) -> None:
    assert kind_words(value) == words
