"""Limits of the grammar at n - 1, n and n + 1, and where errors are."""

from __future__ import annotations

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.templates.syntax import parse

NESTING = LIMITS.template_nesting


def brackets(depth: int) -> str:
    return "{{ " + "(" * depth + "1" + ")" * depth + " }}"


def operators(depth: int) -> str:
    return "{{ 1" + " + 1" * depth + " }}"


def signs(depth: int) -> str:
    return "{{ " + "-" * depth + "1 }}"


def filters(depth: int) -> str:
    return "{{ 1" + "|abs" * depth + " }}"


def blocks(depth: int) -> str:
    return "{% if 1 %}" * depth + "a" + "{% endif %}" * depth


def source(size: int) -> str:
    return "{{ 1 }}" + "é" * ((size - 7) // 2) + "x" * ((size - 7) % 2)


def nodes(count: int) -> str:
    # An output node, then a constant and a text for each.
    return "{{ 1 }}," * ((count - 1) // 2) + "{{ 1 }}" * ((count - 1) % 2)


def integer(bits: int) -> str:
    return "{{ " + str(2**bits - 1) + " }}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "limit"),
    [
        (brackets, NESTING),
        (operators, NESTING),
        (signs, NESTING),
        (filters, NESTING),
        (blocks, NESTING),
        (source, LIMITS.template_source),
        (nodes, LIMITS.template_nodes),
        (integer, LIMITS.template_integer_bits),
    ],
)
def test_limits(make, limit):
    parse(make(limit - 1))
    parse(make(limit))
    with pytest.raises(RefbrowserError) as caught:
        parse(make(limit + 1))
    assert caught.value.kind is ErrorKind.BUDGET
    assert str(limit) in caught.value.message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ab {{ a b }}", "b"),
        ("{{ 'x }}", "'x }}"),
        ("{{ & }}", "& }}"),
        ("{{ a.b }}", "a.b"),
        ("x {% for i in j %}{% endfor %}", "for i in j"),
        ("{{ a[1:2, 3] }}", "[1:2, 3]"),
        ("x {% set a, b = c %}", "a, b"),
        ("x {% set a %}{% endset %}", "set a"),
        ("{{ f(1) }}", "f(1)"),
        ("{{ f(a=1, a=2) }}", "f(a=1, a=2)"),
        ("line\n{{ a.b }}", "a.b"),
        ("{{ a }}{{ x is none }}", "x is none"),
        ("{{ ) }}", ") }}"),
        ("{{ ((1 + [2].x)) * 3 }}", "[2].x"),
    ],
)
def test_errors_underline_the_place(text, part):
    with pytest.raises(RefbrowserError) as caught:
        parse(text)
    start, stop = caught.value.place.span
    assert text[start:stop] == part
