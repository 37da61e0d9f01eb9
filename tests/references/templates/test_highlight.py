"""Colours and completions of the editor of templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.templates.highlight import TokenKind, complete, highlight
from refbrowser.references.templates.templates import TemplateSet

TEMPLATES = TemplateSet({"u": "http://x", "f": "{{ c }}/{{ d }}", "bad": "{{ "})


def test_kinds():
    text = "a/{{ f(c='x', d=i + 1.5)|upper }}{# note #}{% if true %}b{% endif %}"
    found = [(text[each.start : each.stop], each.kind) for each in highlight(text)]
    assert found == [
        ("a/", TokenKind.TEXT),
        ("{{", TokenKind.DELIMITER),
        ("f", TokenKind.CALL),
        ("(", TokenKind.OPERATOR),
        ("c", TokenKind.NAME),
        ("=", TokenKind.OPERATOR),
        ("'x'", TokenKind.STRING),
        (",", TokenKind.OPERATOR),
        ("d", TokenKind.NAME),
        ("=", TokenKind.OPERATOR),
        ("i", TokenKind.NAME),
        ("+", TokenKind.OPERATOR),
        ("1.5", TokenKind.NUMBER),
        (")", TokenKind.OPERATOR),
        ("|", TokenKind.OPERATOR),
        ("upper", TokenKind.FILTER),
        ("}}", TokenKind.DELIMITER),
        ("{#", TokenKind.DELIMITER),
        (" note ", TokenKind.COMMENT),
        ("#}", TokenKind.DELIMITER),
        ("{%", TokenKind.DELIMITER),
        ("if", TokenKind.KEYWORD),
        ("true", TokenKind.CONSTANT),
        ("%}", TokenKind.DELIMITER),
        ("b", TokenKind.TEXT),
        ("{%", TokenKind.DELIMITER),
        ("endif", TokenKind.KEYWORD),
        ("%}", TokenKind.DELIMITER),
    ]


def test_names_that_are_set_and_long_lists():
    numbers = str(list(range(100, 140)))
    text = "{{ k }}{% set k = " + numbers + " %}{{ k[:i]|sum }}"
    found = [(text[each.start : each.stop], each.kind) for each in highlight(text)]
    assert found[1] == ("k", TokenKind.NAME)
    assert found[3:8] == [
        ("{%", TokenKind.DELIMITER),
        ("set", TokenKind.KEYWORD),
        ("k", TokenKind.LOCAL),
        ("=", TokenKind.OPERATOR),
        ("[", TokenKind.OPERATOR),
    ]
    assert found[8] == (numbers[1:-1], TokenKind.NUMBER)
    assert ("k", TokenKind.LOCAL) in found[9:]
    assert ("sum", TokenKind.FILTER) in found[9:]


@pytest.mark.parametrize(
    ("text", "rest"), [("{{ i & j }}", "& j }}"), ("{{ 'abc", "'abc"), ("{{ ) }}", ") }}")]
)
def test_what_is_no_token_is_an_error(text, rest):
    last = highlight(text)[-1]
    assert last.kind is TokenKind.ERROR
    assert text[last.start : last.stop] == rest


@given(st.text(st.sampled_from("{}%#'\"ab1 |().-\n\r+é"), max_size=30))
def test_any_text_has_spans_in_order(text):
    position = 0
    for token in highlight(text):
        assert position <= token.start < token.stop <= len(text)
        position = token.stop
    complete(text, len(text) // 2, TEMPLATES, ["i"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ ^", ["i", "j", "u", "f("]),
        ("a {{ i + ^ }}", ["i", "j", "u", "f("]),
        ("{{ u|up^per }}", ["upper"]),
        ("{{ u|^ }}", None),
        ("{{ f(^", ["c=", "d=", "i", "j", "u", "f("]),
        ("{{ f(c=1, ^) }}", ["d=", "i", "j", "u", "f("]),
        ("{{ f(c=(1 + ^) }}", ["i", "j", "u", "f("]),
        ("{{ f^oo }}", ["f("]),
        ("{% ^", ["if", "elif", "else", "endif", "set"]),
        ("{% set ^", []),
        ("{% set k = ^", ["i", "j", "u", "f("]),
        ("{% set k = 1 %}{{ k^", ["k"]),
        ("{% if ^", ["i", "j", "u", "f("]),
        ("te^xt", []),
        ("{{ i }}^", []),
        ("{{ 'a^'", []),
        ("{{ i ^", []),
        ("{{ 12^", []),
    ],
)
def test_completions(text, expected):
    cursor = text.index("^")
    text = text.replace("^", "")
    found = complete(text, cursor, TEMPLATES, ["i", "j"])
    names = [each.text for each in found.candidates]
    if expected is None:
        assert {"upper", "default", "format"} <= set(names)
    else:
        assert names == expected


def test_the_word_at_the_cursor_is_replaced():
    found = complete("{{ u|upx }}", 7, TEMPLATES)
    assert (found.start, found.stop) == (5, 8)
