"""A kind of finding is a row and what finds it: check, audit and window tell it, and its edit repairs it."""

from __future__ import annotations

import json
from pathlib import Path

import fixture_format
import numpy as np
import pytest
from fixture_finding import SINGLE, add_finding

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.audit.audit_result import AuditResult
from refbrowser.engine.findings.collected_findings import collect
from refbrowser.tools.audit.report.audit_page import PageChoice, about, page_of

ARRAY = {
    "zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i4", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a document with a rule of one row; where there are such, it is found."""
    add_finding(monkeypatch)
    rule = {"key": "a/{{i}}", "url": "a.bin", "offset": "{{4 * i}}", "length": "4", "dimensions": {"i": [0]}}
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(ARRAY)}
    (tmp_path / "a.bin").write_bytes(bytes(4))
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "gen": [rule], "refs": refs}))
    return path


def audited(path: Path) -> AuditResult:
    return refbrowser.audit(path, level="set")


def test_check_tells_it(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(document)]) == 0
    (warning,) = [line for line in capsys.readouterr() if "the rule has one row" in line]
    assert "warning[E_REF]" in warning
    assert [finding.what for finding in refbrowser.check(document)] == [SINGLE]


def test_an_audit_tells_and_repairs_it(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (group,) = audited(document).groups
    assert (group.kind, group.count, group.is_fault) == (SINGLE, 1, False)
    assert main(["audit", str(document), "--level", "set", "--fail-on", "rule-single"]) == 2
    told = capsys.readouterr().out
    assert "warning[rule-single] rule of a single row" in told
    assert main(["audit", str(document), "--level", "set", "--fix", "--write"]) == 0
    assert json.loads(document.read_text()).get("gen", []) == []


def test_the_window_lists_it_with_advice_and_fix(document: Path) -> None:
    with refbrowser.open(document) as dataset:
        (listed,) = collect(dataset.document, dataset.hierarchy, access=dataset.access).items
    assert (listed.severity, listed.spot) == (SINGLE.severity, ("rule", 0))
    assert listed.fix is not None
    assert listed.fix.title == "Remove gen rule 0"
    (line, *_) = page_of(audited(document), PageChoice()).lines
    said = dict(about(line))
    assert (said[""], said["For readers"]) == ("Rule of a single row", "a key would say the same")
    assert said["What to do"].endswith("Replace it by a key.")


def test_a_format_of_another_package_has_kinds_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fixture_format.found(monkeypatch, "fixture_format:GRID"):
        path = fixture_format.written_grid(tmp_path / "a.grid", np.array([[1.0, -1.0]]))
        assert [finding.what for finding in refbrowser.check(path)] == [fixture_format.BELOW_ZERO]
        (group,) = audited(path).groups
    assert group.kind.title == "numbers below zero"
