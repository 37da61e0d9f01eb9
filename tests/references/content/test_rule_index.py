"""The rules that may give a key: never one too few, and few enough that many rules cost little."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.content.expansion import RuleIndex
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.rules import gen
from refbrowser.references.rules.layouts import literal_prefix

PIECES = st.sampled_from(
    ["a", "a/", "{{i}}", "{{ i }}", "{{i-1}}", ".", " ", "{{- i}}", "\r", "{", "{{'x'}}", "0"]
)
RULE = st.lists(PIECES, min_size=1, max_size=4).map("".join)


def document_of(keys: list[str]) -> ReferenceDocument:
    rules = [{"key": key, "url": "u", "dimensions": {"i": {"start": -1, "stop": 3}}} for key in keys]
    return ReferenceDocument.of(json.dumps({"version": 1, "gen": rules, "refs": {}}).encode())


@given(st.lists(RULE, max_size=5))
def test_every_key_is_found_where_a_search_of_all_rules_finds_it(keys: list[str]) -> None:
    expansion = document_of(keys).expansion
    made = [item.key for rule in expansion.generated for item in map(rule.row, range(rule.count))]
    for key in {*filter(None, made), "a", "a/0", "0", "", "x", "a/x"}:
        last = None
        for number, rule in enumerate(expansion.generated):
            row = rule.find(key)
            last = last if row is None else expansion.row_of(number, row)
        assert expansion.find(key) == last


@given(st.lists(RULE, max_size=5), st.sampled_from(["", "a", "a/", "a/a", "0", "x/"]))
def test_no_rule_below_a_prefix_is_left_out(keys: list[str], prefix: str) -> None:
    document = document_of(keys)
    found = RuleIndex(rule.key_begins for rule in document.rules).below(prefix)
    assert found == sorted(set(found))
    for number, rule in enumerate(document.rules):
        made = (rule.row(row).key or "" for row in range(rule.count))
        if any(key.startswith(prefix) for key in made):
            assert number in found


def test_plain_beginnings() -> None:
    assert literal_prefix("temp/{{i}}.{{j}}") == "temp/"
    assert literal_prefix("temp {{- i}}") == "temp"
    assert literal_prefix("a{b}/{{i}}") == "a{b}/"
    assert literal_prefix("a\r\n{{i}}") == "a"
    assert literal_prefix("plain") == "plain"


def test_metadata_beside_rules_parses_none_of_them(monkeypatch) -> None:
    parsed = []
    read_field = gen.read_field
    monkeypatch.setattr(gen, "read_field", lambda *given: parsed.append(given[0]) or read_field(*given))
    rules = [{"key": f"a{n}/{{{{i}}}}", "url": "u", "dimensions": {"i": {"stop": 3}}} for n in range(50)]
    refs = {f"a{n}/.zarray": "{}" for n in range(50)}
    document = ReferenceDocument.of(json.dumps({"version": 1, "gen": rules, "refs": refs}).encode())
    assert [document.expansion.value(key) for key in document.expansion.metadata_keys()] == [b"{}"] * 50
    assert not parsed
    assert document.expansion.find("a7/2") == 50 + 7 * 3 + 2
    assert len(parsed) == 4
