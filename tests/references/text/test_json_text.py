from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind
from refbrowser.limits import LIMITS
from refbrowser.references.text.json_text import (
    Incomplete,
    JsonError,
    JsonReader,
    NodeKind,
    has_surrogate,
    parse,
    pointer,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**39), 10**39) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}]))
def test_values_are_those_of_json(value: Any, style: Any) -> None:
    data = json.dumps(value, **style).encode("utf-8", "surrogatepass")
    if has_surrogate(json.dumps(value, ensure_ascii=False)) and not data.isascii():
        with pytest.raises(JsonError) as caught:
            parse(data)
        assert caught.value.kind is ErrorKind.ENCODING
        return
    node = parse(data)
    assert node.to_python() == value
    assert (node.start, node.stop) == (0, len(data))


@given(VALUES)
def test_every_node_is_its_text(value: Any) -> None:
    data = json.dumps({"v": value}).encode()
    pending = [parse(data)]
    for node in pending:
        assert json.loads(data[node.start : node.stop]) == node.to_python()
        for member in node.members:
            assert json.loads(data[member.start : member.key_stop]) == member.key
            pending.append(member.value)
        pending.extend(node.items)


@given(VALUES, st.data())
def test_a_cut_window_asks_for_more_or_gives_the_same(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"v": value}).encode()
    cut = data.draw(st.integers(0, len(text) - 1))
    reader = JsonReader(text[:cut], 100, complete=False)
    with pytest.raises(Incomplete):
        reader.value(0)


@pytest.mark.slow
@given(VALUES, st.data())
def test_broken_text_breaks_where_python_says(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"v": value})
    at = data.draw(st.integers(0, len(text) - 1))
    broken = (
        text[:at]
        + data.draw(st.sampled_from(["", "x", ",", "}", "]", '"', ":", "\n", "\\"]))
        + text[at + 1 :]
    )
    try:
        json.loads(broken)
    except json.JSONDecodeError as error:
        expected: json.JSONDecodeError | None = error
    else:
        expected = None
    if expected is None:
        parse(broken.encode())
        return
    with pytest.raises(JsonError):
        parse(broken.encode())


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (b"", 0),
        (b"{", 1),
        (b'{"a"}', 4),
        (b'{"a":}', 5),
        (b'{"a":1,}', 7),
        (b"[1,]", 3),
        (b"[1 2]", 3),
        (b'{"a" 1}', 5),
        (b'"abc', 0),
        (b'"a\nb"', 2),
        (b'"a\\xb"', 2),
        (b'"a\\u12G4"', 2),
        (b"[01]", 2),
        (b"[1.]", 2),
        (b"[+1]", 1),
        (b"[tru]", 1),
        (b"{} x", 3),
        (b"{'a': 1}", 1),
    ],
)
def test_where_it_breaks(text: bytes, position: int) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert caught.value.position == position
    assert caught.value.kind is ErrorKind.JSON


def test_bytes_that_are_not_utf8() -> None:
    with pytest.raises(JsonError) as caught:
        parse(b'["ab\xff"]')
    assert caught.value.position == 4
    assert caught.value.kind is ErrorKind.ENCODING


def test_a_trailing_comma_is_named() -> None:
    with pytest.raises(JsonError, match="comma before the closing '}'") as caught:
        parse(b'{"a": 1,\n}')
    assert "Remove the comma" in caught.value.advice


def test_integers_stay_exact_up_to_the_limit() -> None:
    digits = LIMITS.json_digits
    assert parse(b"9" * (digits - 1)).content == int("9" * (digits - 1))
    assert parse(b"-" + b"9" * digits).content == -int("9" * digits)
    assert parse(b"9" * (digits + 1)).kind is NodeKind.LONG


def test_nesting_up_to_the_limit() -> None:
    depth = LIMITS.json_nesting
    for levels, fine in ((depth - 1, True), (depth, True), (depth + 1, False)):
        text = b"[" * levels + b"]" * levels
        if fine:
            parse(text)
            continue
        with pytest.raises(JsonError) as caught:
            parse(text)
        assert caught.value.kind is ErrorKind.BUDGET
        assert caught.value.position == depth


def test_duplicate_members_are_all_kept_and_the_last_counts() -> None:
    node = parse(b'{"a": 1, "b": 2, "a": 3}')
    assert [member.key for member in node.members] == ["a", "b", "a"]
    found = node.member("a")
    assert found is not None
    assert found.content == 3
    assert node.to_python() == {"a": 3, "b": 2}
    assert node.member("c") is None


def test_numbers_that_json_does_not_have() -> None:
    node = parse(b"[NaN, Infinity, -Infinity]")
    assert [item.kind for item in node.items] == [NodeKind.NOT_FINITE] * 3
    assert math.isnan(node.items[0].content)
    assert [item.content for item in node.items[1:]] == [math.inf, -math.inf]


def test_surrogates() -> None:
    assert parse(b'"\\ud83d\\ude00"').content == "😀"
    assert has_surrogate(parse(b'"\\ud83d"').content)
    assert not has_surrogate("😀")


def test_a_long_text_with_many_escapes_needs_no_stack() -> None:
    text = '"' + "\\n" * 300_000 + '"'
    assert parse(text.encode()).content == "\n" * 300_000


def test_pointer_escapes() -> None:
    assert pointer("refs", "a/b~c", 0) == "/refs/a~1b~0c/0"
    assert pointer() == ""
