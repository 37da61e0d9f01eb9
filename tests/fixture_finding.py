"""A kind of finding beside those of the program: its row of the table, and what finds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from refbrowser.errors import ErrorKind, Place, Severity
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import KINDS
from refbrowser.references.edits.outer_edits import RemoveRule
from refbrowser.references.findings import rule_findings
from refbrowser.references.findings.rule_findings import Aspect, RuleCheck, RuleContext
from refbrowser.references.rules.gen import GenRule

SINGLE = FindingKind(
    code="rule-single",
    level="set",
    severity=Severity.WARNING,
    error=ErrorKind.REF,
    title="rule of a single row",
    meaning="a key would say the same",
    advice="Replace it by a key.",
)


def single_rules(context: RuleContext, rule: GenRule) -> Iterator[Finding]:
    """Yield a warning for a rule of one row."""
    if rule.count == 1:
        place = Place(rule=rule.index, field="dimensions", pointer=f"/gen/{rule.index}/dimensions")
        yield SINGLE.finding("the rule has one row", place, fix=RemoveRule(rule.index))


def add_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test have it."""
    monkeypatch.setitem(KINDS, SINGLE.code, SINGLE)
    checks = (*rule_findings.RULE_CHECKS, RuleCheck(Aspect.FAULTS, single_rules))
    monkeypatch.setattr(rule_findings, "RULE_CHECKS", checks)
