"""Searches of rules end when they are cancelled or their time is over, and say what they did not look at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.errors import ErrorKind, Severity
from refbrowser.findings.finding import Finding
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.findings.rule_findings import all_findings, find_duplicates
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.rule_faults import find_faults
from refbrowser.references.rules.rule_search import SearchTime
from refbrowser.references.templates.templates import TemplateSet

#: No part of it is lowered, so that each row would have to be looked at.
SLOW = {
    "key": "{{ ('%x' % i)|replace('a', 'g') }}",
    "url": "{{ ('%x' % i)|replace('a', 'g') }}{{ 1 // (i - 5) }}",
    "dimensions": {"i": {"stop": 1_000_000}},
}


def slow(**changes: Any) -> GenRule:
    return GenRule(SLOW | changes, TemplateSet(), 0)


def not_decided(findings: list[Finding] | tuple[Finding, ...]) -> list[Finding]:
    return [each for each in findings if each.kind is ErrorKind.BUDGET and "not decided" in each.message]


class Looks:
    """Counts how often a search asks whether it is cancelled, and cancels it at last."""

    def __init__(self, most: int) -> None:
        self.count = 0
        self.most = most

    def __call__(self) -> bool:
        self.count += 1
        return self.count > self.most


def test_a_search_without_time_looks_at_few_rows_and_says_so() -> None:
    found = find_faults(slow(), left=SearchTime(seconds=0))
    assert [each.place.field for each in not_decided(found)] == ["key", "url"]
    assert all("(64 rows checked)" in each.message for each in not_decided(found))
    # What stands in those rows is told.
    assert [each.place.row for each in found if each.severity is Severity.FAULT] == [5]
    rule = slow(dimensions={"i": {"stop": 20_000}})
    assert "64 checked" not in str(find_duplicates(rule, SearchTime(seconds=600)))


def test_rules_of_few_rows_are_looked_at_whatever_the_time() -> None:
    rule = slow(dimensions={"i": {"start": 6, "stop": 60}})
    assert find_faults(rule, left=SearchTime(seconds=0)) == []
    assert find_duplicates(rule, SearchTime(seconds=0)) is None


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, {"dimensions": {"i": {"stop": 10**30}}}], ids=["narrow", "wide"])
def test_cancelling_ends_a_search_soon(fields: dict[str, Any]) -> None:
    looks = Looks(3)
    found = find_faults(slow(**fields), left=SearchTime(looks, seconds=600))
    assert not_decided(found)
    # Once more for each field, and at the end.
    assert looks.count < 10


@pytest.mark.slow
def test_keys_that_repeat_are_searched_for_within_the_time() -> None:
    looks = Looks(2)
    rule = slow()
    found = find_duplicates(rule, SearchTime(looks, seconds=600))
    assert found is not None
    assert found.kind is ErrorKind.BUDGET
    assert "none checked" not in found.message


def test_keys_that_all_repeat_are_compared_within_the_time() -> None:
    rule = slow(key="{{ ('%x' % (i % 7))|replace('a', 'g') }}", dimensions={"i": {"stop": 20_000}})
    looks = Looks(4)
    found = find_duplicates(rule, SearchTime(looks, seconds=600))
    assert found is not None
    assert found.kind is ErrorKind.BUDGET
    assert looks.count < 10


def test_what_a_search_could_not_end_is_not_remembered() -> None:
    rule = slow(dimensions={"i": {"stop": 5000}})
    assert not_decided(find_faults(rule, left=SearchTime(seconds=0)))
    assert not not_decided(find_faults(rule, left=SearchTime(seconds=600)))
    # The search that had its time is.
    assert not not_decided(find_faults(rule, left=SearchTime(seconds=0)))


@pytest.mark.slow
def test_rules_of_a_document_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from refbrowser.references.rules import rule_search

    monkeypatch.setattr(rule_search, "LIMITS", replace(rule_search.LIMITS, search_time=0))
    gen = [SLOW | {"key": f"{number}/" + SLOW["key"]} for number in range(5)]
    found = all_findings(ReferenceDocument.of(json.dumps({"version": 1, "refs": {}, "gen": gen}).encode()))
    of_urls = [each for each in not_decided(found) if each.place.field == "url"]
    assert [each.place.rule for each in of_urls] == list(range(5))


@pytest.mark.slow
def test_a_check_is_cancelled_between_and_within_rules() -> None:
    gen = [SLOW | {"key": f"{number}/" + SLOW["key"]} for number in range(20)]
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": {}, "gen": gen}).encode())
    looks = Looks(3)
    all_findings(document, looks)
    assert looks.count < 20
