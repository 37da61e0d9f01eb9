"""Rows that a query means: those that are found row by row; over rules that nobody could expand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.views.changed_rows import Difference, changed_rows
from refbrowser.views.reference_queries import matched_rows as module
from refbrowser.views.reference_queries.matched_rows import matched_rows
from refbrowser.views.reference_queries.reference_query import ReferenceQuery


def document(refs: dict[str, Any], gen: list[dict[str, Any]] | None = None) -> Any:
    value = {"version": 1, "templates": {"u": "https://h/{{f}}.nc"}, "refs": refs, "gen": gen or []}
    return ReferenceDocument.of(json.dumps(value).encode())


def found(state: Any, text: str) -> list[int]:
    matched = matched_rows(state, ReferenceQuery.parse(text), None)
    return matched.rows(0, matched.count)


REFS = {
    ".zgroup": '{"zarr_format": 2}',
    "t/.zarray": '{"shape": [4]}',
    "t/0": ["file_a.bin", 0, 100],
    "t/1": ["file_a.bin", 100, 5000],
    "t/2": ["file_B.bin"],
    "t/3": ["{{u(f='x')}}", 7, 2_000_000],
    "t/bad": ["file_a.bin", -1, 3],
    "s/0": "base64:AAAAAAAAAAA=",
}
KEYS = list(REFS)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", KEYS),
        ("t/", ["t/.zarray", "t/0", "t/1", "t/2", "t/3", "t/bad"]),
        ("T/", ["t/.zarray", "t/0", "t/1", "t/2", "t/3", "t/bad"]),
        ("key:t/?", ["t/0", "t/1", "t/2", "t/3"]),
        ("url:file_b", ["t/2"]),
        ("url:file_a size>100", ["t/1"]),
        ("size>=100 size<=5kB", ["t/0", "t/1"]),
        ("size:100..5000", ["t/0", "t/1"]),
        ("size=2MB", ["t/3"]),
        ("size>1.9MB", ["t/3"]),
        ("offset=7", ["t/3"]),
        ("size=8", ["s/0"]),
        ("kind:inline", [".zgroup", "t/.zarray", "s/0"]),
        ("-kind:inline -kind:range", ["t/2", "t/bad"]),
        ("kind:fault", ["t/bad"]),
        ("url:https://h/x.nc", ["t/3"]),
        ("url:*.bin -url:*B.bin", ["t/0", "t/1"]),
        ('"t/0" from:refs', ["t/0"]),
        ("from:rule", []),
        ("size!=100 url:file_a", ["t/1"]),
    ],
)
def test_entries(text: str, keys: list[str]) -> None:
    state = document(REFS)
    assert [state.expansion.key(row) for row in found(state, text)] == keys


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("size>big", 6, "no number of bytes"),
        ("kind:odd", 6, "there is no kind"),
        ("state:new", 7, "there is no state"),
        ("from:here", 6, "rows come from"),
        ("url>3", 5, "no number"),
        ("colour=3", 1, "no field"),
        ("a url:", 7, "nothing stands behind"),
        ('a "b', 3, "not closed"),
        ("x" * 1001, 1001, "more than 1,000"),
    ],
)
def test_what_is_typed_wrongly_is_placed(text: str, column: int, words: str) -> None:
    with pytest.raises(RefbrowserError, match=words) as caught:
        ReferenceQuery.parse(text)
    assert caught.value.place.column == column


def test_what_was_edited() -> None:
    saved = document(REFS)
    state = SetReference("t/0", ["new.bin", 1, 2]).apply(saved)
    state = SetReference("t/9", ["new.bin", 3, 4]).apply(state)
    state = RemoveReference("t/1").apply(state)
    assert [state.expansion.key(row) for row in found(state, "url:new")] == ["t/0", "t/9"]
    changes = changed_rows(Difference(state, saved))
    query = ReferenceQuery.parse("state:changed size=4")
    matched = matched_rows(state, query, changes.mask)
    assert [state.expansion.key(row) for row in matched.rows(0, 10)] == ["t/9"]


RULE = {
    "key": "temp/{{f}}.{{t}}",
    "url": "{{u(f=f)}}",
    "offset": "{{t * 1000}}",
    "length": "1000",
    "dimensions": {"f": {"stop": 100}, "t": {"stop": 10000000000}},
}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("url:h/7.nc", 10**10),
        ("url:h/7.nc offset>=9999999000000", 1000),
        ("offset=5000", 100),
        ("offset<5000 url:*/9?.nc", 50),
        ("size=1000", 10**12),
        ("-size=1000", 0),
        ("kind:range", 10**12),
        ("key:temp/", 10**12),
        ("from:rule0 offset>=1", 10**12 - 100),
    ],
)
def test_a_rule_of_a_trillion_rows_is_decided_by_arithmetic(text: str, count: int) -> None:
    state = document({}, [RULE])
    matched = matched_rows(state, ReferenceQuery.parse(text), None)
    assert matched.count == count
    assert matched.unsearched == ()
    if count:
        last = matched.row(count - 1)
        assert matched.number_of(last) == count - 1
        assert matched.rows(count - 1, count + 5) == [last]
    with pytest.raises(IndexError):
        matched.row(count)


def test_what_was_not_looked_at_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_MADE", 200_000)
    budget = module._Budget(lambda: None, rows=200_000)
    monkeypatch.setattr(module, "_Budget", lambda check: budget)
    state = document({}, [RULE])
    matched = matched_rows(state, ReferenceQuery.parse("key:*.77"), None)
    ((rule, left),) = matched.unsearched
    assert rule == 0
    assert 100_000 < 10**12 - left <= 200_000
    assert matched.row(0) == 77


def test_a_pattern_of_the_fastest_dimension_is_one_period() -> None:
    rule = {**RULE, "url": "f{{t % 3}}.bin", "dimensions": {"f": {"stop": 10**12}, "t": {"stop": 30}}}
    state = document({"a": "x"}, [rule])
    matched = matched_rows(state, ReferenceQuery.parse("url:f1"), None)
    assert matched.count == 10**13
    assert matched.rows(9, 12) == [1 + 28, 1 + 31, 1 + 34]
    assert matched.number_of(1 + 31) == 10
    assert matched.number_of(1 + 32) is None


EXPRESSIONS = (
    "{{i}}",
    "{{j}}",
    "{{i * 7 + j}}",
    "{{j * 100 - 300}}",
    "{{i // 2}}",
    "{{(i + j) % 5}}",
    "5",
    "{{k}}",
)


@st.composite
def rules(draw: st.DrawFn) -> dict[str, Any]:
    expression = st.sampled_from(EXPRESSIONS)
    fields = {"key": f"a/{draw(expression)}.{draw(expression)}", "url": f"f_{draw(expression)}.nc"}
    if draw(st.booleans()):
        fields |= {"offset": draw(expression), "length": draw(expression)}
    dimensions = {
        "i": {"start": draw(st.integers(-2, 2)), "stop": draw(st.integers(3, 5))},
        "j": {"stop": draw(st.integers(1, 6))},
        "k": draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)),
    }
    names = draw(st.permutations(list(dimensions)))
    return {**fields, "dimensions": {name: dimensions[name] for name in names}}


TERMS = st.sampled_from(
    [
        "a/1", "key:a/?.?", "url:f_1", "url:*2.nc", "size>3", "size=5", "size<=10", "offset>=2",
        "offset:1..9", "kind:range", "kind:whole", "kind:fault", "from:rule1", "from:rule",
    ]
)  # fmt: skip


@settings(max_examples=40)
@given(
    st.lists(rules(), min_size=1, max_size=2),
    st.lists(st.tuples(TERMS, st.booleans()), max_size=3),
    st.data(),
)
def test_rules_are_searched_as_row_by_row(
    gen: list[dict[str, Any]], terms: list[tuple[str, bool]], data: st.DataObject
) -> None:
    state = document({"b": ["x", 0, 5], "c": "text"}, gen)
    query = ReferenceQuery.parse(" ".join(f"-{term}" if negated else term for term, negated in terms))
    with pytest.MonkeyPatch.context() as patch:
        # Blocks are halved, and periods taken, as in long rules.
        patch.setattr(module, "BLOCK", data.draw(st.sampled_from([1, 2, 7, 1000])))
        patch.setattr(module, "PERIOD_MOST", data.draw(st.sampled_from([0, 10, 1000])))
        matched = matched_rows(state, query, None)
    assert matched.unsearched == ()
    expected = [
        row for row in range(state.expansion.rows) if all(_holds(state, row, term) for term in query.terms)
    ]
    assert matched.rows(0, matched.count) == expected
    assert [matched.number_of(row) for row in expected] == list(range(len(expected)))


def _holds(state: Any, row: int, term: Any) -> bool:
    """Tell of one row, from its reference as a value."""
    import fnmatch

    asked = term.asked
    key, reference = state.expansion.item(row)
    name = type(asked).__name__
    url = getattr(reference, "url", None)
    if name == "TextTerm":
        text = key if asked.field == "key" else url
        pattern = asked.text if asked.is_pattern else f"*{asked.text}*"
        answer = text is not None and fnmatch.fnmatchcase(text.lower(), pattern.lower())
    elif name == "NumberTerm":
        number = getattr(reference, "offset" if asked.field == "offset" else "length", None)
        if isinstance(reference, Inline) and asked.field == "size":
            number = len(reference.data)
        answer = number is not None and asked.low <= number <= asked.high
    elif name == "KindTerm":
        kinds = {Inline: 1, ByteRange: 2, WholeFile: 3}
        answer = asked.kind == kinds.get(type(reference), 4)
    else:
        origin, _ = state.expansion.origin(row)
        answer = origin >= 0 if asked.rule is None else origin == asked.rule
    return answer != term.is_negated


@pytest.mark.slow
def test_many_references_by_columns() -> None:
    refs = {f"v/{n}.0": [f"file_{n % 400}.nc", n * 10, n % 1000] for n in range(300_000)}
    state = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    matched = matched_rows(state, ReferenceQuery.parse("url:file_25 size>=500 key:*7.0"), None)
    rows = np.arange(300_000)
    meant = [
        str(n % 400).startswith("25") and n % 1000 >= 500 and str(n).endswith("7") for n in rows.tolist()
    ]
    assert matched.rows(0, matched.count) == rows[meant].tolist()
