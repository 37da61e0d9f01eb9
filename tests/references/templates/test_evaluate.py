"""Closures against jinja2's sandbox, and what differs from it on purpose."""

from __future__ import annotations

import warnings

import pytest
from deep import examples
from hypothesis import assume, given, settings
from jinja_oracle import oracle, templates, values

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.templates.evaluate import Scope, compile_template
from refbrowser.references.templates.syntax import Template
from refbrowser.references.templates.template_values import UndefinedValueError


def render(text: str, **names: object) -> str:
    scope = Scope({name: slot for slot, name in enumerate(names)})
    return compile_template(Template.parse(text), scope).render(tuple(names.values()))


def attempt(text: str, names: dict[str, object]) -> tuple[str | None, RefbrowserError | None]:
    try:
        return render(text, **names), None
    except RefbrowserError as error:
        return None, error


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(templates, values)
def test_renders_what_the_sandbox_renders(text, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = oracle(text, names)
        found, error = attempt(text, names)
    if error is not None:
        # Limits are ours; and an item that is not there is an error at once, not when it is printed.
        assume(error.kind is not ErrorKind.BUDGET)
        assume("subscript" not in error.message and "has no items" not in error.message)
        assume(type(error) is not UndefinedValueError and "slice" not in error.message)
        # jinja2 adds lists too.
        assume("filter 'sum' adds numbers" not in error.message)
        assert error.place.span is not None
    assert found == expected, (text, names, error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a{{ i }}b", "a7b"),
        ("{{ (i + 1) * 1000 }}", "8000"),
        ("{{ '%03d'|format(i) }}", "007"),
        ("{{ '{:03d}'.format(i) }}", "007"),
        ("{{ i // 2 }}.{{ i % 2 }}", "3.1"),
        ("{{ 2 ** 10 }}", "1024"),
        ("{% if i > 5 %}big{% else %}small{% endif %}", "big"),
        ("{{ 'x' if i > 9 }}", ""),
        ("{{ ('x' if i > 9)|default('y') }}", "y"),
        ("{{ none }} {{ true }} {{ 1.0 }}", "None True 1.0"),
        ("{{ {'a': 'b'}['a'] }}", "b"),
        ("{{ [i, 2]|join('-') }}", "7-2"),
        ("{% raw %}{{ i }}{% endraw %}", "{{ i }}"),
        ("line\n", "line"),
        ("{{ missing|default('d') }}", "d"),
        ("{{ 1 if true else missing }}", "1"),
        ("{{ i is_not }}", None),
    ],
)
def test_values(text, expected):
    if expected is None:
        with pytest.raises(RefbrowserError):
            render(text, i=7)
    else:
        assert render(text, i=7) == expected


@pytest.mark.parametrize(
    ("text", "part", "message"),
    [
        ("ab {{ missing }}", "missing", "'missing' is not defined"),
        ("{{ i + 'a' }}", "i + 'a'", "cannot add an integer and text"),
        ("{{ 1 // (i - 7) }}", "1 // (i - 7)", "division by zero"),
        ("{{ [1][i] }}", "[1][i]", "out of range"),
        ("{{ i|nope }}", "nope", "'nope' is not known"),
        ("{{ i() }}", "i()", "not a template"),
        ("{{ '%d'|format('a') }}", "'%d'|format('a')", "cannot format"),
        ("{{ i|replace('a') }}", "i|replace('a')", "needs more arguments"),
    ],
)
def test_errors_say_where(text, part, message):
    with pytest.raises(RefbrowserError) as caught:
        render(text, i=7)
    error = caught.value
    assert error.kind is ErrorKind.TEMPLATE
    assert message in error.message
    start, stop = error.place.span
    assert text[start:stop] == part


def test_undefined_names_are_known_without_a_run():
    compiled = compile_template(Template.parse("{{ a }}{{ b if c else 1 }}{{ d|default(1) }}"), Scope())
    assert [error.message for error in compiled.errors] == [
        "name 'a' is not defined",
        "name 'c' is not defined",
    ]


def test_integers_stay_exact_up_to_128_bits():
    largest = 2**128 - 1
    assert render("{{ i + 0 }}", i=largest) == str(largest)
    assert render("{{ -i }}", i=largest) == str(-largest)
    for text in ("{{ i + 1 }}", "{{ i * 2 }}", "{{ 0 - i - 1 }}"):
        with pytest.raises(RefbrowserError) as caught:
            render(text, i=largest)
        assert caught.value.kind is ErrorKind.BUDGET


@pytest.mark.parametrize(
    "make", ["'a' * {}", "'ab'|replace('b', 'a' * ({} - 1))", "('a' * {})|upper", "['a' * {}]|join"]
)
def test_text_limit(make):
    limit = LIMITS.template_string
    assert len(render("{{ (" + make.format(limit - 8) + ")|length }}")) == 5
    with pytest.raises(RefbrowserError) as caught:
        render("{{ (" + make.format(limit + 1) + ")|length }}")
    assert caught.value.kind is ErrorKind.BUDGET


def test_steps_of_long_texts_are_counted():
    text = "{{ 'a' * 60000 }}" * 20
    with pytest.raises(RefbrowserError) as caught:
        render(text)
    assert caught.value.kind is ErrorKind.BUDGET
    assert "10000 evaluation steps" in caught.value.message
