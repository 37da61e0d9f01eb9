"""Random gen rules that are small enough to be expanded, as a model for the algebra."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from refbrowser.references.rules.gen import GenRule
from refbrowser.references.templates.templates import TemplateSet

TEMPLATES = TemplateSet(
    {
        "u": "s3://b",
        "f": "{{ c }}",
        "g": "{{ '%02d'|format(n) }}-{{ n + 1 }}",
        "lengths": "{{ [10, 20, 0, 40][:n]|sum }}",
        "total": "{{ l[:n]|sum }}",
        "with_two": "{{ t(n=m) }}",
    }
)
#: A list that is cut out before the text is parsed.
LONG = str([(number * 7919) % 1000 for number in range(60)])

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
    "{{ [3, 1, 2, 9, -8, 7, 6, 3][i] }}.{{j}}",
    "{{ [10, 20, 30, 5, 5, 5, 5, 5, 5][:i]|sum }}.{{j}}",
    f"{{{{ {LONG}[:i]|sum + 1 }}}}/{{{{ j }}}}",
    "{% set a = i * 2 %}{{ a }}.{{ j }}",
    "{% set k = 'x' if i > 2 else 'y' %}{{ k }}{{ i }}.{{ j }}",
    "{% if i > 2 %}{% set j = 7 %}{% endif %}{{ i }}.{{ j }}",
    "{{ with_two(t=g, m=i) }}.{{j}}",
    "{{ ['a', 'b', 'a'][i % 3] }}{{ i }}.{{j}}",
    "{% set h = g %}{{ h(n=i) }}.{{j}}",
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
    "{{ 8 + [10, 20, 0, 40, 7][:i]|sum + j * %d }}",
    "{{ [10, 20, 30, 40, 50][i:]|sum - j }}",
    "{{ [10, 20, 30, 40, 50][2:i]|sum + [10, 20, 30][j:-1]|sum }}",
    "{{ [10, -20, 30, 40, 50, 60][i:j]|sum }}",
    "{{ [10, 20, 30, 40, 50, 60][i:i+2]|sum }}",
    "{{ [1, 2, 3, 4, 5, 6, 7, 8][i] + %d }}",
    "{{ [1, 2, 3, 4, 5][i::2]|sum }}{{ [0, 1][:j]|length }}",
    f"{{{{ {LONG}[:i * 5 + j]|sum }}}}",
    f"{{% set l = {LONG} %}}{{% set o = l[:i]|sum %}}{{{{ o + l[j] }}}}",
    "{{ lengths(n=i)|int + j }}",
    "{{ total(l=[7, 9, 11], n=i) }}",
    "{{ with_two(t=lengths, m=j) }}",
    "{{ [i, j, 3]|max + [i, 0]|min + [j, i]|sort|first + [1, 2]|last }}",
    "{{ [4, 2, 4]|unique|sum + [9, 8, 7][1:]|sum }}",
    "{{ [2**60, 2**60, 2**60, 2**60, 2**60][:i]|sum }}",
]


def rule_members(random: Random) -> dict[str, Any]:
    """Return the members of a random rule of two dimensions."""

    def dimension() -> Any:
        if random.random() < 0.08:
            return random.choice([["a", "b"], ["x", 3, "3"], ["é", "é"], [""]])
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
