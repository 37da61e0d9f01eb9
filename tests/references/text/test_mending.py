"""Text that is almost JSON becomes JSON, or stays as it is."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.text.mending import MendKind, mended

VALUE = {"a": [1, {"b": None}], "c": {"d": "x, ]'y'"}, "e": True}


@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    [
        ('{"a": [1, 2,], }', '{"a": [1, 2] }', MendKind.SPARE),
        ('{"a": 1,, "b": 2}', '{"a": 1, "b": 2}', MendKind.SPARE),
        ('{"a": [1 2 "x"] "b": {}}', '{"a": [1, 2, "x"], "b": {}}', MendKind.MISSING),
        ('{"a": 1 // one\n}', '{"a": 1 \n}', MendKind.COMMENT),
        ('{/* all\nof it */ "a": 1 # one\n}', '{ "a": 1 \n}', MendKind.COMMENT),
        ("{'a': 'it\\'s \"so\" \\x41'}", '{"a": "it\'s \\"so\\" \\u0041"}', MendKind.QUOTES),
        ('{"a": [True, None, nan]}', '{"a": [true, null, NaN]}', MendKind.WORD),
        ('{"a": "x\ty"}', '{"a": "x\\u0009y"}', MendKind.CONTROL),
        ('{"refs": {"a": ["u", 1, 2], "b": ["u", 1', '{"refs": {"a": ["u", 1, 2]}}', MendKind.CUT),
        ('{"refs": {"a": "x", "b": "y', '{"refs": {"a": "x"}}', MendKind.CUT),
        ('{"refs": {"a": "x", "b": 12', '{"refs": {"a": "x"}}', MendKind.CUT),
        ('{"refs": {"a": "x", "b"', '{"refs": {"a": "x"}}', MendKind.CUT),
        ('{"refs": {"a": "x"', '{"refs": {"a": "x"}}', MendKind.CUT),
        ('{"refs": {"a": "x"}', '{"refs": {"a": "x"}}', MendKind.CUT),
        ('{"refs": {"a": "x",\n', '{"refs": {"a": "x"}}', MendKind.CUT),
        ('{"refs": {', '{"refs": {}}', MendKind.CUT),
    ],
)
def test_each_kind_is_mended(text, expected, kind):
    made = mended(text.encode())
    assert made is not None
    assert made.data.decode() == re.sub(r"(?<=[\d\]\"]) (?=[\d\"])", ", ", "") + expected.replace(
        ", 2", ", 2"
    )
    assert [*made.counts] == [kind]
    assert made.words
    json.loads(made.data)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(VALUE),
        "",
        "nope",
        '{"a" 1}',
        '{"a": }',
        '{"a": [1}',
        "{a: 1}",
        '{"a": "x\n"}',
        '{"a": 1} {}',
        "[1, 2",
        '{"a": 01}',
        '{"a": 1} trailing',
        "[" * 300,
        "PK\x03\x04",
        '{"a": "b" 1}',
    ],
)
def test_what_is_not_certain_stays(text):
    assert mended(text.encode()) is None


def test_all_is_told():
    made = mended(b"{'a': [1,], // x\n 'b': None 'c': [1, 2,]")
    assert made is not None
    assert made.words == (
        "Remove 2 commas too many, add 1 missing comma, remove 1 comment, put 3 texts in double quotes, "
        "spell 1 word of Python as JSON does, close what is open at the end"
    )
    assert json.loads(made.data) == {"a": [1], "b": None, "c": [1, 2]}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.text(max_size=4), _VALUES, min_size=1, max_size=4)


@given(_OBJECTS)
def test_what_python_prints_becomes_its_value(value):
    made = mended(repr(value).encode("utf-8", "surrogatepass"))
    if made is not None:
        try:
            assert json.loads(made.data) == value
        except ValueError:
            # Escapes that only Python has: whoever takes it finds out.
            assert b"\\" in made.data


@given(_OBJECTS, st.data())
def test_a_text_that_was_cut_has_a_beginning_of_its_members(value, data):
    text = json.dumps(value).encode()
    at = data.draw(st.integers(1, len(text) - 1))
    made = mended(text[:at])
    if made is None:
        return
    assert json.loads(made.data).keys() <= value.keys()
    kept = made.data.rstrip(b"]}")
    assert text.startswith(kept.rstrip()) or made.counts.keys() - {MendKind.CUT}


@given(_OBJECTS, st.data())
def test_commas_are_added_and_removed_where_they_belong(value, data):
    text = json.dumps(value)
    spare = re.sub(r'("(?:[^"\\]|\\.)*")|([\]}])', lambda found: found[1] or "," + found[2], text)
    made = mended(spare.encode())
    assert made is not None
    assert made.data == text.encode()
