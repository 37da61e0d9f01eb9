"""All findings of a document, with the places of those of rules, and where keys collide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, Severity
from refbrowser.references.checks import check
from refbrowser.references.checks.check import all_findings
from refbrowser.references.document.document import ReferenceDocument


def document_of(gen: list[dict[str, Any]], refs: dict[str, Any] | None = None) -> ReferenceDocument:
    value = {"version": 1, "templates": {"u": "x"}, "refs": refs or {}, "gen": gen}
    return ReferenceDocument.of(json.dumps(value, indent=1).encode(), name="d.json")


def rule(key: str, stop: int, **fields: str) -> dict[str, Any]:
    return {"key": key, "url": "{{u}}", **fields, "dimensions": {"i": {"stop": stop}}}


def test_faults_of_rules_have_lines_and_columns() -> None:
    document = document_of(
        [rule("a/{{i}}", 3, offset="{{i}}", length="{{i - 1}}"), rule("b/{{i}}", 2, url="ab{{nowhere}}")],
        {"a/0": ["x"], "c": "text"},
    )
    text = document.to_bytes().decode().splitlines()
    found = {finding.place.pointer: finding for finding in all_findings(document)}
    url = found["/gen/1/url"]
    assert (url.severity, url.kind, url.count) == (Severity.FAULT, ErrorKind.TEMPLATE, 2)
    assert text[url.place.line - 1][url.place.column - 1 :].startswith("nowhere")
    assert (url.place.rule, url.place.field, url.place.row) == (1, "url", 0)
    length = found["/gen/0/length"]
    assert "{{i - 1}}" in text[length.place.line - 1]
    assert length.place.document == "d.json"


def test_collisions_with_refs_and_between_rules() -> None:
    document = document_of(
        [rule("a/{{i}}", 5), rule("a/{{i + 3}}", 10**12), rule("b/{{i}}", 10**12), rule("a/x{{i}}", 2)],
        {"a/4": ["x"], "a/x": ["x"], "b/7": ["x"]},
    )
    messages = [finding.message for finding in all_findings(document)]
    assert messages == [
        "the rule replaces 1 entries of refs, among them 'a/4'",
        "the rule replaces 1 entries of refs, among them 'a/4'",
        "the rule replaces 2 rows of rule 0, among them 'a/3', 'a/4'",
        "the rule replaces 1 entries of refs, among them 'b/7'",
    ]


def test_repeated_keys_of_one_rule() -> None:
    value = {"key": "a/{{i}}", "url": "x", "dimensions": {"i": [1, 2, 1]}}
    (found,) = all_findings(document_of([value]))
    assert found.severity is Severity.WARNING
    assert "repeat" in found.message


def test_what_is_too_much_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "MOST_KEYS", 3)
    document = document_of(
        [rule("a/{{i}}", 10), rule("a/{{i}}", 10)], {f"a/{number}": ["x"] for number in range(10)}
    )
    kinds = [finding.kind for finding in all_findings(document)]
    assert kinds == [ErrorKind.BUDGET] * 3


def test_a_good_document_has_no_findings() -> None:
    document = document_of([rule("a/{{i}}", 3), rule("b/{{i}}", 3)], {"c/0": ["x"]})
    assert all_findings(document) == ()


def test_a_dimension_at_fault_hides_no_other_finding() -> None:
    bad = {"key": "a/{{i}}", "url": "{{nowhere}}", "dimensions": {"i": "ten"}}
    # The rule has no rows; what its key begins with is still looked for among the references.
    messages = [finding.message for finding in all_findings(document_of([bad], {"a/0": ["x"]}))]
    assert "a dimension is an object with stop, or a list of integers" in messages
    assert document_of([bad]).rules[0].static_prefix == "a/"
