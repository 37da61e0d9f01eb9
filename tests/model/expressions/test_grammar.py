"""Expressions are read by a grammar of their own; what is none is told with the character where it ceases."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.expressions.grammar import (
    DEEPEST,
    LONGEST,
    MOST_PARTS,
    Call,
    Expression,
    NamedArray,
    Number,
    Operation,
    named_arrays,
    parsed,
)


def written(expression: Expression) -> str:
    """Return an expression with all its brackets."""
    match expression:
        case Number(value=value):
            return f"{value:g}"
        case NamedArray():
            return str(expression)
        case Operation(symbol=symbol, operands=(one,)):
            return f"({symbol}{written(one)})"
        case Operation(symbol=symbol, operands=(one, other)):
            return f"({written(one)} {symbol} {written(other)})"
        case Call(name=name, operands=operands, words=words):
            return f"{name}({', '.join([*map(written, operands), *words])})"
    raise AssertionError


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("/t2m - /sst", "(/t2m - /sst)"),
        ("t2m-sst", "(/t2m - /sst)"),
        ("a - b - c", "((/a - /b) - /c)"),
        ("a + b * c", "(/a + (/b * /c))"),
        ("(a + b) * c", "((/a + /b) * /c)"),
        ("-a**2", "(-(/a ** 2))"),
        ("a**-2", "(/a ** (-2))"),
        ("2**3**2", "(2 ** (3 ** 2))"),
        ("a * -b", "(/a * (-/b))"),
        ("u/v", "(/u / /v)"),
        ("/u/v", "/u/v"),
        ("/u / /v", "(/u / /v)"),
        ("/u//v", "(/u / /v)"),
        ("/t2m/2", "(/t2m / 2)"),
        ("/ocean/sea.temp*1e-3", "(/ocean/sea.temp * 0.001)"),
        ("mean(/t2m, time)", "mean(/t2m, time)"),
        ("mean(/t2m, time, 'dim 0')", "mean(/t2m, time, dim 0)"),
        ("/t2m[month=7] - /t2m[ month = 1 ]", "(/t2m[month=7] - /t2m[month = 1])"),
        ("/t[0, :, 10:20:2]", "/t[0, :, 10:20:2]"),
        ("sqrt(/u**2 + /v**2)", "sqrt(((/u ** 2) + (/v ** 2)))"),
        ("b::/t2m - 'more files'::'/odd-name'", "(b::/t2m - 'more files'::'/odd-name')"),
        ("'odd name' > 3", "('/odd name' > 3)"),
        ("where(a >= 1, a, nan)", "where((/a >= 1), /a, nan)"),
        ("pi*e", "(3.14159 * 2.71828)"),
        ("units(/t, 'degC') + 1", "(units(/t, degC) + 1)"),
        (".5*1.e2", "(0.5 * 100)"),
        ("température", "/température"),
    ],
)
def test_what_is_written_is_what_is_meant(text: str, meant: str) -> None:
    assert written(parsed(text).expression) == meant


def test_an_expression_may_have_a_name() -> None:
    assert parsed("anomaly = /t2m - mean(/t2m, time)").name == "anomaly"
    assert parsed("a == b").name == ""
    assert [each.path for each in named_arrays(parsed("x = a + sqrt(b*a)").expression)] == ["/a", "/b", "/a"]


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("", 1, "is missing here"),
        ("t2m +", 6, "is missing here"),
        ("t2m sst", 5, "expected an operator, not 'sst'"),
        ("mean(t2m", 9, "expected ')'"),
        ("mean(t2m, 3)", 11, "expected the name of a dimension"),
        ("sqrt(a, b)", 1, "sqrt has 1 arguments, not 2"),
        ("hypot(a)", 1, "hypot has 2 arguments, not 1"),
        ("eval(a)", 1, "there is no function 'eval'"),
        ("a[0", 4, "the selection has no end"),
        ("a; b", 2, "nothing that an expression has"),
        ("a.__class__()", 2, "nothing that an expression has"),
        ("/ + 1", 1, "expected the path of an array"),
        ("units(a)", 1, "units has an array and the units"),
        ("by_position(a)", 1, "by_position names dimensions"),
        ("a < b < c", 7, "expected an operator, not '<'"),
    ],
)
def test_what_is_no_expression_is_told_with_its_place(text: str, at: int, words: str) -> None:
    with pytest.raises(RefbrowserError, match=f"character {at} of") as told:
        parsed(text)
    assert told.value.kind is ErrorKind.USAGE
    assert words in told.value.message


@pytest.mark.parametrize(
    "text",
    [
        "(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1),
        "2" + "**2" * (DEEPEST + 1),
        "+".join(["1"] * (MOST_PARTS + 1)),
        "1" + " " * LONGEST,
        "-" * 3000 + "1",
    ],
)
def test_an_expression_has_limits(text: str) -> None:
    with pytest.raises(RefbrowserError) as told:
        parsed(text)
    assert re.search("more than 40 parts|at most 256 parts|at most 4096 characters", told.value.message)


@given(st.text(alphabet=string.printable + "äß°", max_size=60))
def test_any_text_is_an_expression_or_is_told_to_be_none(text: str) -> None:
    try:
        expression = parsed(text).expression
    except RefbrowserError:
        return
    assert all(array.path.startswith("/") for array in named_arrays(expression))
