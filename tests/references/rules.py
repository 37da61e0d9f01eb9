"""Random gen rules that are small enough to be expanded, as a model for the algebra."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from refbrowser.references.gen import GenRule
from refbrowser.references.templates import TemplateSet

TEMPLATES = TemplateSet({"u": "s3://b", "f": "{{ c }}", "g": "{{ '%02d'|format(n) }}-{{ n + 1 }}"})

KEYS = [
    "{{i}}.{{j}}",
    "{{j}}/{{i}}",
    "a{{i*10+j}}",
    "{{1979+i//3}}{{'%02d'|format(i%3+1)}}.{{j}}",
    "{{i}}{{j}}",
    "{{i}}0.{{j}}",
    "{{-i}}.{{2*j-1}}",
    "{{'%03d'%i}}{{j}}",
    "{{i//2}}.{{j}}",
    "{{i%3}}-{{j}}",
    "{{i*j}}",
    "{{'x' if i else 'y'}}{{j}}",
    "{{i}}",
    "const",
    "{{i+j}}.{{i-j}}",
    "{{f(c=i)}}.{{j}}",
    "{{g(n=i)}}.{{j}}",
    "{{'%x'%i}}.{{j}}",
    "{{i*3+j*7}}",
    "{{5-i//100}}.{{i//10%10}}.{{i%10}}/{{j}}",
    "{{'{:04d}'.format(j)}}/{{i}}/é",
    "{{ (i|string) ~ '.' ~ j }}",
    "{% if i %}{{i}}{% endif %}.{{j}}",
    "v1{{i}}.{{j}}",
    "{{'a' if i%2 else 'b'}}/{{'p' if j>3 else 'q'}}.{{i}}.{{j}}",
    "{{i|string|replace('1','')}}.{{j}}",
    "{{ 'x'|upper if i // j else j }}",
    "{{i}}{{'%02d'|format(j)}}{{'%03d'|format(i)}}7/x",
    "{{j}}8{{i}}",
    "{{1900+j}}{{i}}",
]

OFFSETS = [
    "{{ i*100 + j*10 - %d }}",
    "{{ (i*20 + j) * 7 - %d }}",
    "{{ %d - i*j }}",
    "{{ (i - %d) // 3 }}",
    "{{ i % 5 - j + %d }}",
    " {{ i }} ",
    "{{ i }}00",
    "{{ (i*j)|abs }}",
    "{{ %d // j }}",
    "%d",
    "{{ i / 2 }}",
    "{{ i - 3 if j else i }}",
    "{{ i*j + 40 if i > j and j else (i - 3)|abs }}",
    "{{ i - j if i > j else 0 }}",
    "{{ '%d' % (i + %d) }}",
    "{{ ('%x'|format(j + 9))|length }}",
    "{% if i > 2 %}{{ i }}{% elif j %}{{ 7 }}{% else %}{{ j }}{% endif %}",
    "{{ 12 % (j - 20) + 20 }}",
]


def rule_members(random: Random) -> dict[str, Any]:
    """Return the members of a random rule of two dimensions."""

    def dimension() -> Any:
        kind = random.randint(0, 2)
        if kind == 0:
            return [random.randint(-3, 9) for _ in range(random.randint(0, 5))]
        if kind == 1:
            return {"stop": random.randint(0, 12)}
        return {
            "start": random.randint(-4, 4),
            "stop": random.randint(-4, 14),
            "step": random.choice([1, 2, -1, 3]),
        }

    offset = random.choice(OFFSETS)
    return {
        "key": random.choice(KEYS),
        "url": random.choice(
            ["{{u}}/{{i}}", "{{u}}", "{{ 'é' if j > 2 else u }}", "{{u}}/{{i//2}}.{{'%d' % j}}"]
        ),
        "offset": offset.replace("%d)", f"{random.randint(-9, 30)})").replace(
            "%d", str(random.randint(-100, 300))
        ),
        "length": random.choice(["1", "{{ j + 4 }}"]),
        "dimensions": {"i": dimension(), "j": dimension()},
    }


members = st.randoms(use_true_random=False).map(rule_members)


def make_rule(fields: dict[str, Any]) -> GenRule:
    """Return the rule of these members."""
    return GenRule(fields, TEMPLATES, 0)
