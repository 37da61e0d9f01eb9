"""Findings of the list explained: by the key in which they show, or by themselves; and edits at hand."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from explained import checked, dataset, document, line, of_key

import refbrowser
from refbrowser.engine.findings.collected_findings import collect, listed_finding
from refbrowser.engine.findings.listed_finding import FindingOrigin, ListedFinding, finding_of_opening
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import KINDS
from refbrowser.io.access.access import Source
from refbrowser.tools.explain.report.explain import Question, explain
from refbrowser.tools.explain.report.explanation import Explanation, LinkKind, StepState, VerdictKind
from refbrowser.tools.explain.report.verdicts import explain_finding


def findings(opened: refbrowser.Dataset) -> list[ListedFinding]:
    """Return the findings of a dataset, as the list of the window has them."""
    wants = opened.access.wanted([Source("http://127.0.0.1:9/x")])
    return list(collect(opened.document, opened.hierarchy, wants).items)


def of_finding(opened: refbrowser.Dataset, finding: ListedFinding) -> Explanation:
    """Explain a finding."""
    return checked(explain(opened, Question(finding=finding)))


@pytest.mark.parametrize("origin", FindingOrigin)
def test_problems_of_every_kind_have_a_verdict(origin: FindingOrigin) -> None:
    place = Place(document="d.json", url="data/x.bin")
    for kind, severity, what in product(ErrorKind, Severity, KINDS.values()):
        finding = Finding(severity=severity, kind=kind, message="it is odd", place=place, what=what)
        explanation = checked(explain_finding(listed_finding(finding, origin, None)))
        assert explanation.verdict == "It is odd"
        assert line(explanation.step("problem"), "Found in")


class TestListedFindings:
    def test_a_faulty_reference(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/0.1": ["{{nowhere}}"]})) as opened:
            (finding,) = (each for each in findings(opened) if each.place.key == "a/0.1")
            explanation = of_finding(opened, finding)
        assert explanation.kind is VerdictKind.FAULTY
        assert explanation.verdict.startswith("Chunk a/0.1 cannot be read because its reference is faulty")
        assert explanation.subject == "a/0.1"
        first = explanation.steps[0]
        assert (first.name, first.state) == ("problem", StepState.FAULT)
        assert line(first, "Problem") == finding.message
        assert line(first, "JSON pointer") == "/refs/a~10.1/0"
        assert LinkKind.KEY in [link.kind for link in explanation.links]

    def test_a_row_of_a_rule(self, tmp_path: Path) -> None:
        rule = {
            "key": "a/0.{{j}}",
            "url": "x.bin",
            "offset": "{{10 - j * 20}}",
            "length": "12",
            "dimensions": {"j": {"stop": 2}},
        }
        with dataset(document(tmp_path, {}, gen=[rule])) as opened:
            (finding,) = (each for each in findings(opened) if each.place.row is not None)
            explanation = of_finding(opened, finding)
        assert explanation.step("key").facts["key"] == "a/0.1"
        assert explanation.step("entry").facts["rule"] == 0
        assert explanation.steps[0].links[0].kind is LinkKind.RULE

    def test_an_array_that_cannot_be_used(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {}, array={"shape": "none"})) as opened:
            finding = next(each for each in findings(opened) if each.is_fault)
            explanation = of_finding(opened, finding)
        assert explanation.kind is VerdictKind.METADATA
        assert "which cannot be used" in explanation.verdict

    def test_a_template(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {}, templates={"u": "{{ 1 +"})) as opened:
            finding = next(each for each in findings(opened) if each.spot == ("template", "u"))
            explanation = of_finding(opened, finding)
        assert explanation.verdict.casefold() == finding.message.casefold()
        assert explanation.step("key") is None
        assert [link.kind for link in explanation.links] == [LinkKind.TEMPLATE]

    def test_a_permission_that_is_needed_asks_nothing(self, tmp_path: Path) -> None:
        with dataset(document(tmp_path, {"a/0.0": ["http://127.0.0.1:9/x"]})) as opened:
            finding = next(each for each in findings(opened) if each.origin is FindingOrigin.PERMISSION)
            explanation = of_finding(opened, finding)
        assert explanation.kind is VerdictKind.BLOCKED
        assert [link.kind for link in explanation.links] == [LinkKind.PERMISSIONS]
        assert explanation.step("answer") is None

    def test_a_warning_about_a_key_that_reads_well(self, tmp_path: Path) -> None:
        path = tmp_path / "d.json"
        with dataset(document(tmp_path, {"a/0.0": "x" * 12})):
            text = path.read_text().replace('"a/0.0":', '"a/0.0": "y", "a/0.0":')
        path.write_text(text)
        with dataset(path) as opened:
            finding = next(each for each in findings(opened) if each.place.key == "a/0.0")
            assert not finding.is_fault
            explanation = of_finding(opened, finding)
        assert explanation.kind in (VerdictKind.FINDING, VerdictKind.READABLE)
        assert explanation.step("problem").state is StepState.WARNING

    def test_a_document_that_cannot_be_opened(self, tmp_path: Path) -> None:
        path = tmp_path / "d.json"
        path.write_text('{"version": 1,')
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.open(path)
        explanation = checked(explain_finding(finding_of_opening(caught.value)))
        assert explanation.kind is VerdictKind.FINDING
        assert explanation.state is StepState.FAULT
        assert line(explanation.steps[0], "Line").startswith("line 1")


def test_an_edit_at_hand_is_told_first(tmp_path: Path) -> None:
    with dataset(document(tmp_path, {"a/0.0": ["x.bin", 0, 12]})) as opened:
        explanation = of_key(opened, "a/0.0", pending="24 bytes from byte 0 of x.bin")
    first = explanation.steps[0]
    assert (first.name, first.state) == ("pending", StepState.WARNING)
    assert line(first, "Would be") == "24 bytes from byte 0 of x.bin"
    assert explanation.step("entry").facts["length"] == 12


def test_every_verdict_has_a_word() -> None:
    assert all(kind.word for kind in VerdictKind)


def test_every_step_has_a_summary(shared_data: Path) -> None:
    with refbrowser.open(shared_data / "real" / "cth.refs.json") as opened:
        explanation = explain(opened, Question(array="/HT", index=(17, 277)))
    summaries = {step.name: step.summary for step in explanation.steps}
    assert all(summaries.values())
    assert summaries["element"].startswith("Array /HT, y 17 of 300")
    assert summaries["key"] == "HT/0.1"
    assert summaries["codec"] == "123208 → 150000 bytes"
    assert summaries["value"].startswith("no value: 65535 is the fill value")
    json.dumps(explanation.to_json())
