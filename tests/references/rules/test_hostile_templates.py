"""Templates that want to run code, look around, or exhaust the machine."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest
from deep import some
from looped import looped

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.findings.rule_findings import find_duplicates
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.templates.templates import TemplateSet

UNSAFE, TEMPLATE, BUDGET = ErrorKind.UNSAFE, ErrorKind.TEMPLATE, ErrorKind.BUDGET

HOSTILE = [
    ("{{ 'a' * 10**9 }}", BUDGET),
    ("{{ 10**9 * 'a' }}", BUDGET),
    ("{{ [0] * 10**9 }}", BUDGET),
    ("{{ [[[[0] * 99] * 99] * 99] * 99 }}", BUDGET),
    ("{{ 9**9**9**9 }}", BUDGET),
    ("{{ 2**(2**60) }}", BUDGET),
    ("{{ (2**127) * (2**127) }}", BUDGET),
    ("{{ 2.0**5000 }}", TEMPLATE),
    ("{{ (0-8)**0.5 }}", TEMPLATE),
    ("{{ '%999999999d' % 1 }}", BUDGET),
    ("{{ '%9999999999999d' % 1 }}", TEMPLATE),
    ("{{ '%.999999999f' % 1 }}", BUDGET),
    ("{{ '%*d' % (999999999, 1) }}", TEMPLATE),
    ("{{ '%(a)s' * 9000 % {'a': 'x' * 60000} }}", BUDGET),
    ("{{ '%s' * 30000 % ('a' * 60000) }}", BUDGET),
    ("{{ '{:999999999}'.format(1) }}", BUDGET),
    ("{{ '{:.999999}'.format(1.5) }}", BUDGET),
    ("{{ '{0.__class__}'.format(1) }}", UNSAFE),
    ("{{ '{0[a]}'.format(1) }}", UNSAFE),
    ("{{ '{:{}}'.format(1, 9999999) }}", TEMPLATE),
    ("{{ '{!r}'.format(1) }}", TEMPLATE),
    ("{{ '{a}'.format(a=1) }}", TEMPLATE),
    ("{{ ('{0.__cl' ~ 'ass__}').format(1) }}", UNSAFE),
    ("{{ u.format(1) }}", UNSAFE),
    ("{{ u.__class__.__mro__ }}", UNSAFE),
    ("{{ ''.__class__ }}", UNSAFE),
    ("{{ u['__class__'] }}", TEMPLATE),
    ("{{ u.upper() }}", UNSAFE),
    ("{{ (u|upper)() }}", UNSAFE),
    ("{{ f(c='x')() }}", UNSAFE),
    ("{{ u|attr('__class__') }}", TEMPLATE),
    ("{{ u|map('upper') }}", TEMPLATE),
    ("{{ range(10**9) }}", TEMPLATE),
    ("{{ lipsum() }}", TEMPLATE),
    ("{{ cycler.__init__.__globals__ }}", UNSAFE),
    ("{{ self }}", TEMPLATE),
    ("{{ self.__dict__ }}", UNSAFE),
    ("{{ namespace(a=1) }}", TEMPLATE),
    ("{{ f(*[1]) }}", TEMPLATE),
    ("{{ f(**{'c': 1}) }}", TEMPLATE),
    ("{{ f('x') }}", TEMPLATE),
    ("{% for i in [1] %}{% endfor %}", TEMPLATE),
    ("{% set a, b = 1, 2 %}", TEMPLATE),
    ("{% set a.b = 1 %}", TEMPLATE),
    ("{% set a %}x{% endset %}", TEMPLATE),
    ("{% set u = 1 %}{{ u() }}", TEMPLATE),
    ("{% set a = 'x' * 60000 %}{{ a }}{{ a }}{% set b = a ~ a %}", BUDGET),
    ("{% set a = 'x' * 60000 %}" * 20, BUDGET),
    ("{% set a = [0] * 6500 %}" + "{% set a = a[:6499] %}" * 100, BUDGET),
    ("{% include 'x' %}", TEMPLATE),
    ("{% import 'x' as y %}", TEMPLATE),
    ("{% extends 'x' %}", TEMPLATE),
    ("{% macro a() %}{% endmacro %}", TEMPLATE),
    ("{% call a() %}{% endcall %}", TEMPLATE),
    ("{% filter upper %}{% endfilter %}", TEMPLATE),
    ("{% block a %}{% endblock %}", TEMPLATE),
    ("{% with a = 1 %}{% endwith %}", TEMPLATE),
    ("{% if true %}", TEMPLATE),
    ("{{ 1 is divisibleby 0 }}", TEMPLATE),
    ("{{ 'abc'[::0] }}", TEMPLATE),
    ("{{ 'abc'['a':] }}", TEMPLATE),
    ("{{ {'a': 1}[:1] }}", TEMPLATE),
    ("{{ [1][1:2, 3] }}", TEMPLATE),
    ("{{ [[1]]|sum(attribute=0) }}", UNSAFE),
    ("{{ [[1]]|sum(start=[]) }}", TEMPLATE),
    ("{{ [1]|unique }}", TEMPLATE),
    ("{{ [1, 'a']|sort }}", TEMPLATE),
    ("{{ ([0] * 6500)|sum }}" * 100, BUDGET),
    (
        "{{ ([0] * 6500)|sort|sort|sort|sort|sort|sort|sort|sort|sort|sort|sort|sort|sort|sort|first }}",
        BUDGET,
    ),
    # Lists of constants are longer than what an expression may make.
    ("{{ " + f"{[0] * 90000}" + "|sort|first }}", BUDGET),
    ("{{ " + f"{[0] * 90000}" + "|join }}", BUDGET),
    ("{{ " + f"{[0] * 90000}" + "|max }}", BUDGET),
    ("{{ " + f"{[0] * 90000}" + "[1:] }}", BUDGET),
    ("{{ " + f"{[0] * 90000}" + " + [1] }}", BUDGET),
    ("{{ " + f"{[0] * 90000}" + " * 2 }}", BUDGET),
    ("{{ 7 in " + f"{[0] * 90000}" + " }}", BUDGET),
    ("{{ '" + f"{[0] * 90000}" + "' }}", BUDGET),
    ("{{ " + f"{[0] * 400000}" + "[0] }}", BUDGET),
    ("{{ [0][" + "0," * 90000 + "] }}", BUDGET),
    (f"{{{{ {[0] * 30}[0] }}}}" * 9000, BUDGET),
    (("{{ '" + f"{[0] * 30}" * 700 + "' }}") * 2, BUDGET),
    ("[" * 60000 + "{{ 0 }}" + "]" * 60000, BUDGET),
    ("{{ u|replace('', 'a' * 60000) }}", BUDGET),
    ("{{ ('a' * 60000)|replace('a', 'bb') }}", BUDGET),
    ("{{ ['a' * 60000]|join }}{{ ['a', 'b']|join('x' * 65535) }}", BUDGET),
    ("{{ 1.5|round(10**6) }}", BUDGET),
    ("{{ 1|round(0-10**6) }}", BUDGET),
    ("{{ ('9' * 60000)|int }}", BUDGET),
    ("{{ ('f' * 1000)|int(0, 16) }}", BUDGET),
    ("{{ 1e308|int }}", BUDGET),
    ("{{ (1e308 * 10)|int }}", TEMPLATE),
    ("{{ '1' * 5000 ~ '' * 5000 }}" * 300, BUDGET),
    ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", BUDGET),
    ("{{ " + "[" * 5000 + "]" * 5000 + " }}", BUDGET),
    ("{{ " + "-" * 60000 + "1 }}", BUDGET),
    ("{{ " + "not " * 15000 + "1 }}", BUDGET),
    ("{{ 1" + "+1" * 30000 + " }}", BUDGET),
    ("{{ 1" + "**1" * 20000 + " }}", BUDGET),
    ("{{ 1" + "<1" * 30000 + " }}", BUDGET),
    ("{{ 1" + "|abs" * 15000 + " }}", BUDGET),
    ("{{ 1" + "[0]" * 20000 + " }}", BUDGET),
    ("{{ 1" + " if 1 else 1" * 5000 + " }}", BUDGET),
    ("{% if 1 %}" * 3000 + "{% endif %}" * 3000, BUDGET),
    ("{{ 1 }}" * 9000, BUDGET),
    ("{{ " + "f(c=" * 9 + "1" + ")" * 9 + " }}", BUDGET),
    ("{{ 9" + "9" * 5000 + " }}", BUDGET),
    ("{{ 0x" + "f" * 33 + " }}", BUDGET),
    ("x" * 65537, BUDGET),
    ("{{ '" + "x" * 65537 + "' }}", BUDGET),
    ("{{ f(c=1" + ", c=1" * 10 + ") }}", TEMPLATE),
    ("{{ '\\ud800\\N{BULLET' }}", TEMPLATE),
    ("{{ " + "u ~ " * 4990 + "u }}", BUDGET),
    # One small value that many directives print, or weigh.
    ("{{ '%(a).0s' * 7000 % {'a': [0] * 6500} }}", BUDGET),
    ("{{ ('%(a).0s' * 7000)|format(a=[0] * 6500) }}", BUDGET),
    ("{{ '%.0s'|format([0] * 6500) }}" * 500, BUDGET),
    # Work that leaves no text behind.
    ("{{ ([''] * 16000)|join }}" * 500, BUDGET),
    ("{{ ([''] * 16000) == ([''] * 16000) }}" * 500, BUDGET),
    ("{{ 1 in ([''] * 16000) }}" * 500, BUDGET),
    ("{{ g(c=[''] * 16000) }}", BUDGET),
    ("{{ h(c=[0] * 6500) }}", BUDGET),
    # Trees that are large only once they are parsed.
    ("{{ " + "1," * 30000 + " }}", BUDGET),
    (("{{" + "[" * 45 + "1" + "]" * 45 + "}}") * 680, BUDGET),
    ("{{\r\n\r\n1}}" * 7000, BUDGET),
]

#: What the hostile texts may use, and what some of them call.
HELPERS = {"u": "x" * 500, "f": "{{ c }}"}
LONG_HELPERS = {
    "g": "{{ c|join }}" * 1200,
    "h": "{{ '" + "%(a).0s" * 7000 + "'|format(a=c) }}",
}


@contextmanager
def bounded_work(seconds=5):
    """Hold this thread's processor time against a bound far above what is refused in time takes."""
    start = time.thread_time()
    yield
    assert time.thread_time() - start < seconds


@pytest.mark.slow
@looped("text, kind", some(HOSTILE, 4))
def test_hostile_templates_are_refused_fast(text, kind):
    called = {name: helper for name, helper in LONG_HELPERS.items() if f"{{{{ {name}(" in text}
    templates = TemplateSet(HELPERS | called)
    with bounded_work(), pytest.raises(RefbrowserError) as caught:
        templates.render(text)
    assert caught.value.kind is kind, caught.value
    assert len(str(caught.value)) < 1000


@pytest.mark.slow
@looped("text", some([text for text, _ in HOSTILE[::3]], 8))
def test_hostile_rules_are_listed_not_run(text):
    members = {"key": "k{{ i }}", "url": text, "dimensions": {"i": {"stop": 10**12}}}
    with bounded_work():
        rule = GenRule(members, TemplateSet(HELPERS), 0)
        assert rule.row(10**11).error is not None
        assert [finding.place.field for finding in find_faults(rule, 10_000)] == ["url"]
        assert rule.rows(5, 8).faults.keys() == {0, 1, 2}


@pytest.mark.slow
def test_steps_of_many_small_calls_are_bounded():
    big = "{{ c" + " ~ c" * 2000 + " }}"
    templates = TemplateSet({"f": big})
    assert templates.render("{{ f(c=1) }}") == "1" * 2001
    with pytest.raises(RefbrowserError) as caught:
        templates.render("{{ f(c=1) }}" * 6)
    assert caught.value.kind is ErrorKind.BUDGET
    assert "10000 evaluation steps" in caught.value.message


@pytest.mark.slow
def test_calls_of_large_templates_are_not_compiled_in_vain():
    templates = TemplateSet({"f": "{{ c }}," * 2400})
    members = {"key": "{{ f(c=i) }}" * 1000, "url": "u", "dimensions": {"i": {"stop": 10**12}}}
    with bounded_work():
        rule = GenRule(members, templates, 0)
        assert rule.row(7).error.kind is ErrorKind.BUDGET
        assert [finding.kind for finding in find_faults(rule)] == [ErrorKind.BUDGET]


@pytest.mark.slow
def test_keys_of_many_integers_are_read_without_recursion():
    members = {"key": "{{ i }}." * 1500, "url": "u", "dimensions": {"i": {"stop": 10}}}
    assert GenRule(members, TemplateSet(), 0).find("7." * 1500) == 7


@pytest.mark.parametrize("key", ["1" * 40 + "y", "1" * 40, "9" * 4000])
def test_keys_that_can_be_read_in_many_ways_do_not_hang(key):
    names = "abcdefghijklmnop"
    members = {
        "key": "".join(f"{{{{ {name} }}}}" for name in names[:-1]) + "x{{ p }}y",
        "url": "u",
        "dimensions": {name: {"stop": 10**9} for name in names},
    }
    rule = GenRule(members, TemplateSet(), 0)
    with bounded_work():
        rule.find(key)
        find_faults(rule)
        find_duplicates(rule)


def test_sums_of_many_dimensions_do_not_hang():
    names = "abcdefghijklmnop"
    total = " + ".join(f"{name} * {number + 3}" for number, name in enumerate(names))
    members = {
        "key": f"{{{{ {total} }}}}",
        "url": "u",
        "offset": f"{{{{ {total} - 50000 }}}}",
        "length": "1",
        "dimensions": {name: [1, 5, 9] if name < "g" else {"stop": 10**3 + ord(name)} for name in names},
    }
    rule = GenRule(members, TemplateSet(), 0)
    with bounded_work(10):
        rule.find("123456")
        assert [finding.place.row for finding in find_faults(rule)] == [0]
        assert find_duplicates(rule) is not None
