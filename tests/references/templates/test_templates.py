"""The templates of a document: literal, function-like, given by the user, faulty."""

from __future__ import annotations

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.templates.syntax import Template
from refbrowser.references.templates.templates import TemplateSet

#: Of the References specification, and one that calls within a call.
TEMPLATES = {
    "u": "server.domain/path",
    "f": "{{c}}",
    "g": "{{ '%03d'|format(d) }}",
    "free": "{{ x|default('y') }}",
}


def message(templates: TemplateSet, text: str) -> str:
    with pytest.raises(RefbrowserError) as caught:
        templates.render(text)
    assert caught.value.kind is ErrorKind.TEMPLATE
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://target_url", "http://target_url"),
        ("http://{{u}}", "http://server.domain/path"),
        ("http://{{f(c='text')}}", "http://text"),
        ("{{ f(c=g(d=7)) }}", "007"),
        ("{{ f(c=u)|upper }}", "SERVER.DOMAIN/PATH"),
        ("{{ f(c=1, unused=2) }}", "1"),
        ("{{ free }}{{ free() }}{{ free(x=1) }}", "yy1"),
        ("{# gone #}a", "a"),
        ("{", "{"),
    ],
)
def test_urls(text, expected):
    assert TemplateSet(TEMPLATES).render(text) == expected


def test_many_urls_are_rendered_as_each_by_itself():
    templates = TemplateSet({**TEMPLATES, "empty": "", "odd": "{% raw %}", "line": "a\nb", "{{": "x"})
    simple = ["{{u}}/1", "http://x", "", "{{empty}}", "{{u}}}}", "}}{", "u}}", "{{u", "{{u}}"]
    for text in [
        *simple,
        "{{u}}{",
        "{{ u }}/1",
        "{{u}}{{u}}",
        "a{{u}}",
        "{{nope}}",
        "{{u}}\r",
        "\n",
        "{{line}}",
    ]:
        found = templates.render_simple(["{{u}}/0", "plain", text])
        assert found is None or found == ["server.domain/path/0", "plain", templates.render(text)], text
        assert (found is not None) == (
            text in simple and (not text or "{" not in text or "}}" in text[2:])
        ), text
    assert templates.render_simple(["x" * (LIMITS.url_length + 1)]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ f }}", "template 'f' needs arguments (c) and is used without a call"),
        ("{{ f(c=g) }}", "in template 'f': template 'c' needs arguments (d) and is used without a call"),
        ("{{ f() }}", "in template 'f': name 'c' is not defined"),
        ("{{ f(d=1) }}", "in template 'f': name 'c' is not defined"),
        ("{{ u(c=1) }}", "template 'u' is plain text and takes no arguments"),
        ("{{ nope }}", "name 'nope' is not defined"),
        ("{{ nope(c=1) }}", "name 'nope' is not defined"),
        ("{{ f(c=nope) }}", "name 'nope' is not defined"),
        ("{{ f('text') }}", "template 'f' is called with a positional argument"),
    ],
)
def test_errors_name_the_name(text, expected):
    assert message(TemplateSet(TEMPLATES), text) == expected


def test_a_template_sees_its_arguments_only():
    templates = TemplateSet({"u": "x", "f": "{{ u }}/{{ c }}"})
    assert not templates.faults
    assert message(templates, "{{ f(c=1) }}") == "in template 'f': name 'u' is not defined"
    assert templates.render("{{ f(c=1, u=u) }}") == "x/1"
    templates = TemplateSet({"f": "{{ g(d=1) }}", "g": "{{ d }}"})
    assert not templates.faults
    assert message(templates, "{{ f() }}") == "in template 'f': name 'g' is not defined"
    assert message(templates, "{{ f(g=1) }}") == "in template 'f': 'g' is not a template, it cannot be called"
    assert message(templates, "{{ f }}") == "template 'f' needs arguments (g) and is used without a call"


@pytest.mark.slow
def test_templates_are_passed_as_in_fsspec():
    templates = TemplateSet(
        {
            "u": "s3://b",
            "f": "{{ c }}",
            "g": "{{ '%03d'|format(d) }}",
            "free": "{{ n|default(5) }}",
            "call": "{{ t(d=m) }}/{{ t(d=m + 1) }}",
            "again": "{{ t(t=t) }}",
            "twice": "{{ t(c=s(d=2)) }}",
            "wide": "{{ t(t=t) }}" * 300,
        }
    )
    assert not templates.faults
    for text, expected in {
        "{{ f(c=g(d=1)) }}": "001",
        "{{ f(c=f(c=f(c=u))) }}": "s3://b",
        "{{ call(t=g, m=6) }}": "006/007",
        "{{ twice(t=f, s=g) }}": "002",
        "{{ f(c=free) }}": "5",
        "{% set h = g %}{{ h(d=4) }}": "004",
        "{% set h = g %}{{ call(t=h, m=4) }}": "004/005",
        "{% set g = u %}{{ g }}": "s3://b",
    }.items():
        assert templates.render(text) == expected
    assert "not a template" in message(templates, "{% set g = 1 %}{{ g(d=1) }}")
    for text, words in (("{{ again(t=again) }}", "nest deeper than 8"), ("{{ wide(t=wide) }}", "steps")):
        with pytest.raises(RefbrowserError, match=words) as caught:
            templates.render(text)
        assert caught.value.kind is ErrorKind.BUDGET
    assert templates.try_out("call", {"t": "g", "m": 1}) == "001/002"


def test_values_of_the_user_win_and_may_be_function_like():
    templates = TemplateSet(TEMPLATES, {"u": "elsewhere", "v": "{{ k }}!"})
    assert templates.render("{{ u }}/{{ v(k=1) }}") == "elsewhere/1!"
    assert templates.templates == TEMPLATES
    assert templates.with_values({}).render("{{ u }}") == TEMPLATES["u"]


def test_every_fault_is_listed_with_pointer_and_span():
    templates = TemplateSet(
        {"a/b": "{{ x.y }}", "ok": "{{ x }}", "c": 5, "d": "{{ x|nope }}", "e": "{{ 1 + }}"}
    )
    found = dict(templates.faults)
    assert {name: error.kind for name, error in found.items()} == {
        "a/b": ErrorKind.UNSAFE,
        "c": ErrorKind.SCHEMA,
        "d": ErrorKind.TEMPLATE,
        "e": ErrorKind.TEMPLATE,
    }
    assert found["a/b"].place.pointer == "/templates/a~1b"
    assert found["d"].place.span == (5, 9)
    assert message(templates, "{{ e }}").startswith("template 'e' is faulty")


def test_number_of_templates_is_limited():
    most = LIMITS.templates_per_document
    assert not TemplateSet({f"t{number}": "" for number in range(most)}).faults
    names = [name for name, _ in TemplateSet({f"t{number}": "" for number in range(most + 1)}).faults]
    assert names == [f"t{most}"]


def test_try_out():
    templates = TemplateSet({**TEMPLATES, "bad": "{{ 1 // n }}"})
    assert templates.try_out("g", {"d": 5}) == "005"
    assert templates.try_out("u", {}) == "server.domain/path"
    with pytest.raises(RefbrowserError) as caught:
        templates.try_out("bad", {"n": 0})
    assert caught.value.place.span == (3, 9)
    with pytest.raises(RefbrowserError, match="no template 'zz'"):
        templates.try_out("zz", {})


def test_parsed_template():
    template = Template.parse("s3://b/{{ f(c=i) }}{{ j|default(1) }}")
    assert template.names == ("i", "j")
    assert template.required == ("i",)
    assert template.calls == ("f",)
    assert not template.is_literal
    assert template.static_prefix == "s3://b/"
    assert Template.parse("a{b").is_literal
    assert Template.parse("a{b").static_prefix == "a{b"
