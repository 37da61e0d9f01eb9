"""jinja2's sandbox as the oracle of templates, and random templates to ask it about."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

NAMES = ("i", "j", "s", "w", "l")


def oracle(text: str, values: dict[str, Any]) -> str | None:
    """Return what jinja2 renders, or None where it raises anything."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    try:
        return environment.from_string(text).render(**values)
    except Exception:  # noqa: BLE001 - any refusal of the oracle counts
        return None


_NUMBERS = ["0", "1", "2", "3", "7", "12", "2.5", "0.1", "100", "1e3", "123456789012"]
_TEXTS = ["''", "'a'", "'Ab c'", "'12'", "' 7'", "'-3.5'", "'é'", "'%d'", "'%03d'", "'x{}'"]
_PERCENTS = [
    "%d",
    "%03d",
    "%5d",
    "%-4d|",
    "%+d",
    "%x",
    "%04X",
    "%s",
    "%6s|",
    "%.2f",
    "%e",
    "%d-%s",
    "%%",
    "%o%%",
    "a",
    "%r",
    "%05d/%i",
    "%3%",
    "%",
]
_BRACES = [
    "{}",
    "{:03d}",
    "{0}-{0}",
    "{1}/{0:>4}",
    "{:+d}",
    "{:x}",
    "{:.2f}",
    "{:*^7}",
    "{{}}{}",
    "{:s}",
    "a",
    "{",
    "{:0}",
    "{:d}{:03}",
]
_BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in"]
_FILTERS = [
    *[
        "abs",
        "int",
        "float",
        "string",
        "length",
        "upper",
        "lower",
        "round",
        "join",
        "default",
        "int(3)",
        "int(base=16)",
        "float(1.5)",
    ],
    *["round(1)", "round(0,'floor')", "round(1,'ceil')", "join('-')", "replace('a','bb')", "replace('1','')"],
    *["replace('a','b',1)", "replace('','z')", "default(7,true)", "default('d')"],
    *["sum", "sum(start=3)", "min", "max", "max(true)", "first", "last", "sort", "sort(true)"],
    *["sort(case_sensitive=true)", "unique|join('-')", "unique|sum", "unique|sort", "unique(true)|first"],
]
_SLICES = ["[:{x}]", "[{x}:]", "[{x}:{x}]", "[::{x}]", "[{x}::-1]", "[:]", "[-2:]", "[1:9]", "[:-1]"]
_LISTS = ["[3, 1, 2]", "[{x}, {x}, {x}]", "(4, {x})", "['b', 'A', 'a', 'b']", "[[2, 1], [0]]", "[]", "l", "t"]
#: Lists that are cut out before the text is parsed.
LONG = str([(number * 7919) % 1000 - 100 for number in range(60)])
_SHAPES = [
    *["({x} {binary} {x})"] * 6,
    *["({x}|{filter})"] * 3,
    *["('{percent}'|format({x}))", "('{percent}' % {x})", "('{percent}' % ({x}, {x}))"],
    *["'{braces}'.format({x}, {x})", "'{braces}'.format({x})"],
    *["({x} ** {power})", "(-{x})", "(+{x})", "(not {x})", "({x} if {x} else {x})", "({x} < {x} <= {x})"],
    *["({list}{slice})", "({list}{slice}|{filter})", "({list}{slice}|sum)", "({list}|{filter})"] * 2,
    *["({long}{slice}|sum)", "({long}[{x}])", "'{long}'[{x}:]", "({list}[{x}]|default('d'))"],
    *["[{x}, {x}]", "({x}, {x})", "({x})[{x}]", "{{'a': {x}, 1: {x}}}", "[{x}, {x}][{x}]"],
]


def expression(random: Random, depth: int) -> str:
    """Return a random expression; most are sensible, some are not."""
    if depth <= 0 or random.random() < 0.15:
        return random.choice([random.choice(_NUMBERS), random.choice(_TEXTS), *NAMES])
    shape = random.choice(_SHAPES).replace("{list}", random.choice(_LISTS))
    parts = shape.replace("{slice}", random.choice(_SLICES)).replace("{long}", LONG).split("{x}")
    text = parts[0]
    for part in parts[1:]:
        text += expression(random, depth - 1) + part
    for name, choices in (
        ("binary", _BINARY),
        ("filter", _FILTERS),
        ("percent", _PERCENTS),
        ("braces", _BRACES),
        ("power", _NUMBERS[:4]),
    ):
        text = text.replace("{" + name + "}", random.choice(choices))
    return text.replace("{{'", "{'").replace("}}", "}")


def template(random: Random) -> str:
    """Return a random template."""
    parts = []
    for _ in range(random.randint(1, 3)):
        parts.append(
            random.choice(
                ["", "a", " \n", "/{# c #}", "é\n", "{% if i %}x{% elif j %}y{% else %}z{% endif -%} "]
            )
        )
        if random.random() < 0.3:
            name = random.choice(["i", "t", "new"])
            assigned = "{% set " + name + " = " + expression(random, 2) + " %}"
            shown = "{{ " + name + "|default('none') }}"
            parts.append(random.choice([assigned, "{% if j %}" + assigned + "{% endif %}"]) + shown)
        opening, closing = random.choice([("{{ ", " }}"), ("{{- ", " -}}")])
        parts.append(opening + expression(random, random.randint(1, 3)) + closing)
    return "".join(parts)


templates = st.randoms(use_true_random=False).map(template)

values = st.fixed_dictionaries(
    {
        "i": st.integers(-5, 120),
        "j": st.one_of(st.integers(-3, 3), st.integers(10**17, 10**20)),
        "s": st.sampled_from(["abc", "", "7", "Ünï"]),
        "w": st.sampled_from([1.5, -0.25, 3.0]),
        "t": st.sampled_from([[5, 20, 0, 7], [10**18, 10**20], [1.5, 2], ["x", "Y"]]),
        "l": st.sampled_from([[1, 2], ["a", "b", "c"], []]),
    }
)
