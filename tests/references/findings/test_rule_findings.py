"""All findings of a document, with the places of those of rules, and where keys collide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.engine.findings.collected_findings import collect
from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, RemoveRule, SetReference
from refbrowser.references.findings import rule_findings
from refbrowser.references.findings.rule_findings import (
    Aspect,
    RuleCheck,
    RuleContext,
    all_findings,
    findings_beside,
)
from refbrowser.references.rules.gen import GenRule


def document_of(gen: list[Any], refs: dict[str, Any] | None = None) -> ReferenceDocument:
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
    monkeypatch.setattr(rule_findings, "MOST_KEYS", 3)
    document = document_of(
        [rule("a/k{{i}}", 10), rule("a/k{{i}}", 10)], {f"a/k{number}": ["x"] for number in range(10)}
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


NINE = {"i": {"stop": 9}}
#: Fields of rules that are odd in some way, alone and beside each other.
CORPUS: list[tuple[list[Any], dict[str, Any]]] = [
    ([rule("a/{{i}}", 10), rule("a/{{i}}", 4)], {}),
    ([rule("a/{{i}}", 10), rule("b/{{i}}", 4)], {f"a/{number}": ["x"] for number in range(7)}),
    ([rule("a/{{i}}", 10)], {"a/3": ["x"], "a/.zarray": "{}", "odd": "x", "a/03": ["x"]}),
    ([rule("a/0.{{i}}", 10), rule("a/{{i % 2}}.{{i}}", 9)], {"a/0.3": ["x"], "a/1.1": ["x"], "a/0/4": ["x"]}),
    ([rule("k{{i}}", 3), rule("{{ 'k' ~ i if i < 2 else 'other' }}", 4)], {"other": "x", "k1": "y"}),
    ([{"key": "a/{{i}}", "url": "{{u}}", "dimensions": {"i": [1, 2, 1]}}], {}),
    (
        [
            {
                "key": "a/{{i}}",
                "url": "x",
                "offset": "{{i - 5}}",
                "length": "3",
                "dimensions": {"i": {"stop": 9}},
            }
        ],
        {},
    ),
    ([{"key": "a/{{i}}", "url": "x", "dimensions": {"i": {"stop": 9, "step": 0}}}, 7], {}),
    ([{"key": "a/{{i", "url": "x", "dimensions": {"i": {"stop": 9}}}, rule("a", 2)], {"a": "x"}),
    (
        [{"key": "a/{{i}}{{j}}", "url": "x", "dimensions": {"i": {"stop": 30}, "j": {"stop": 30}}}],
        {"a/11": ["x"]},
    ),
    ([{"key": "a/{{i}}", "url": "x", "dimensions": {"i": ["b", 4]}}], {"a/b": "x", "a/4": ["x"]}),
]


@pytest.mark.parametrize(("rules", "refs"), CORPUS)
def test_the_editor_of_a_rule_finds_what_the_list_of_problems_has(
    rules: list[Any], refs: dict[str, Any]
) -> None:
    document = document_of(rules, refs)
    listed = [finding for finding in all_findings(document) if finding not in document.findings]
    for number, made in enumerate(document.rules):
        # As it is typed: not the object that the document has.
        typed = GenRule(document.rule_nodes[number].to_python(), document.templates, number)
        context = RuleContext(document.refs)
        beside = [
            each for aspect in Aspect for each in findings_beside(context, document.rules, typed, aspect)
        ]
        about = [each for each in listed if each.place.rule == made.index or number in dict(each.rows)]
        assert [told(each) for each in about if each.place.rule == number] == [
            told(each) for each in beside if each.place.rule == number
        ]
        assert {told(each) for each in beside} >= {told(each) for each in about}


def told(finding: Finding) -> tuple[Any, ...]:
    place = finding.place
    return (
        finding.severity,
        finding.kind,
        finding.message,
        place.rule,
        place.field,
        place.row,
        finding.count,
    )


def test_edited_and_added_entries_that_a_rule_makes_again() -> None:
    document = document_of([rule("a/{{i}}", 10)], {"a/1": ["x"], "a/2": ["x"], "a/11": ["x"]})
    for edit in (SetReference("a/1", ["y"]), SetReference("a/5", ["y"]), RemoveReference("a/2")):
        document = document.apply(edit)
    (found,) = all_findings(document)
    assert found.message == "the rule replaces 2 entries of refs, among them 'a/1', 'a/5'"
    assert (found.count, found.place.row) == (2, 1)


def test_a_check_with_a_fix_is_in_every_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(_context: RuleContext, rule: GenRule) -> list[Finding]:
        place = Place(rule=rule.index, field="key", pointer=f"/gen/{rule.index}/key")
        edit = RemoveRule(rule.index)
        kind, severity = ErrorKind.REF, Severity.WARNING
        return [Finding(severity=severity, kind=kind, message="it is new", place=place, fix=edit)]

    monkeypatch.setattr(
        rule_findings, "RULE_CHECKS", (*rule_findings.RULE_CHECKS, RuleCheck(Aspect.COLLISIONS, check))
    )
    document = document_of([rule("a/{{i}}", 3)])
    (finding,) = collect(document).items
    assert finding.fix is not None
    assert (finding.message, finding.fix.edit) == ("it is new", RemoveRule(0))
    assert document.apply(finding.fix.edit).rules == ()
    beside = findings_beside(RuleContext(document.refs), document.rules, document.rules[0], Aspect.COLLISIONS)
    assert [each.message for each in beside] == ["it is new"]
