"""Formats against Python's own, and the bounds of width and precision."""

from __future__ import annotations

import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.templates.filters import braces, percent

values = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False), st.text(max_size=5), st.booleans(), st.none()
)
plain = st.text(st.sampled_from("a%{}é "), max_size=4)
directives = st.from_regex(r"\A%[-+ #0]{0,2}[0-9]{0,2}(\.[0-9])?[diouxXeEfFgGcrsa%]\Z")
fields = st.from_regex(r"\A\{[01]?(:([*0]?[<>=^])?[-+ ]?0?[0-9]{0,2}(\.[0-9])?[bcdoxXeEfFgGs%]?)?\}\Z")


def attempt(run, *arguments):
    try:
        return run(*arguments)
    except RefbrowserError as error:
        assert error.kind is ErrorKind.TEMPLATE  # noqa: PT017 - any other kind would hide a difference
        return None


def python(run):
    try:
        return run()
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        return None


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(plain, directives, plain, st.lists(values, max_size=2))
def test_percent_is_pythons(before, directive, after, arguments):
    text = before.replace("%", "%%") + directive + after.replace("%", "%%")
    expected = python(lambda: text % tuple(arguments))
    assert attempt(percent, text, tuple(arguments)) == expected


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(plain, fields, plain, st.lists(values, min_size=1, max_size=2))
def test_braces_are_pythons(before, field, after, arguments):
    text = "".join(part.replace("{", "{{").replace("}", "}}") for part in (before, "\0", after)).replace(
        "\0", field
    )
    expected = python(lambda: text.format(*arguments))
    assert attempt(braces, text, tuple(arguments)) == expected


def test_mappings():
    assert percent("%(a)s-%(b)03d", {"a": "x", "b": 7}) == "x-007"
    for arguments in ({"a": "x"}, ("x", 7), "x"):
        with pytest.raises(RefbrowserError):
            percent("%(a)s-%(b)03d", arguments)


@pytest.mark.parametrize("form", ["%{}d", "%0{}d", "%-{}s"])
def test_width_limit(form):
    most = LIMITS.template_padding
    assert len(percent(form.format(most), 1)) == most
    with pytest.raises(RefbrowserError) as caught:
        percent(form.format(most + 1), 1)
    assert caught.value.kind is ErrorKind.BUDGET
    assert len(braces("{:" + str(most) + "}", (1,))) == most
    with pytest.raises(RefbrowserError):
        braces("{:" + str(most + 1) + "}", (1,))


def test_precision_limit():
    most = LIMITS.template_precision
    assert percent(f"%.{most}f", 1.5) == f"{1.5:.{most}f}"
    assert braces("{:." + str(most) + "f}", (1.5,)) == f"{1.5:.{most}f}"
    for run in (lambda: percent(f"%.{most + 1}f", 1.5), lambda: braces("{:." + str(most + 1) + "f}", (1.5,))):
        with pytest.raises(RefbrowserError) as caught:
            run()
        assert caught.value.kind is ErrorKind.BUDGET


@pytest.mark.parametrize("text", ["{0.real}", "{0[0]}", "{a.b}", "{.x}", "{0.__class__.__mro__}"])
def test_look_ups_are_refused_as_unsafe(text):
    with pytest.raises(RefbrowserError) as caught:
        braces(text, (1,))
    assert caught.value.kind is ErrorKind.UNSAFE


@pytest.mark.parametrize(
    "text", ["{a}", "{!r}", "{0!s:>4}", "{:{}}", "{:,}", "{:_}", "{:#x}", "{:n}", "{", "}", "{0"]
)
def test_other_fields_are_refused(text):
    with pytest.raises(RefbrowserError) as caught:
        braces(text, (1, 2))
    assert caught.value.kind is ErrorKind.TEMPLATE
