"""Ranges past the ends of files are faults of the preview before an edit is applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refbrowser.engine.opening import Opened, OpenRequest, open_document
from refbrowser.views.editing.preview import PreviewMark, PreviewSource
from refbrowser.views.editing.reference_draft import ReferenceDraft, ReferenceSource
from refbrowser.views.editing.rule_source import RuleSource
from refbrowser.views.editing.template_source import TemplateUses, template_source, uses_of
from refbrowser.views.editing.typed_input import TemplateDraft

RULE = {
    "key": "a/{{i}}",
    "url": "{{u}}_{{i // 3}}.bin",
    "offset": "{{(i % 3) * 10}}",
    "length": "10",
    "dimensions": {"i": {"stop": 6}},
}


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """A document of two files of 30 bytes that a rule and a reference divide among them."""
    for number in range(2):
        (tmp_path / f"run_{number}.bin").write_bytes(bytes(30))
    (tmp_path / "cut_0.bin").write_bytes(bytes(25))
    (tmp_path / "cut_1.bin").write_bytes(bytes(30))
    path = tmp_path / "doc.json"
    refs = {"b/0": ["{{u}}_0.bin", 20, 10]}
    path.write_text(json.dumps({"version": 1, "templates": {"u": "run"}, "gen": [RULE], "refs": refs}))
    return open_document(OpenRequest(str(path)))


def faults(source: PreviewSource) -> tuple[int, str, list[str]]:
    """Return how many faults are counted, the first in words, and the keys of the rows that show one."""
    tally = source.check(lambda: None, lambda _report: None).faults
    assert tally is not None
    rows = source.rows(0, source.count)
    red = [row.key for row in rows if row.mark & PreviewMark.FAULT and "past the end of" in row.words]
    return tally.count, tally.text, red


def rule_faults(opened: Opened, **changes: Any) -> tuple[int, str, list[str]]:
    return faults(RuleSource.of(opened.document, opened.access, 0, {**RULE, **changes}))


def test_of_a_rule(opened: Opened) -> None:
    assert rule_faults(opened) == (0, "", [])
    count, text, red = rule_faults(opened, offset="{{(i % 3) * 10 + 5}}")
    assert (count, red) == (2, ["a/2", "a/5"])
    assert text == "length: the range ends at byte 35, past the end of 'run_0.bin', which has 30 bytes\n" + (
        "length: the range ends at byte 35, past the end of 'run_1.bin', which has 30 bytes"
    )
    # By arithmetic: one file, and no row is looked at.
    count, _, red = rule_faults(opened, url="run_0.bin", offset="{{i * 10}}")
    assert (count, red) == (3, ["a/3", "a/4", "a/5"])
    # Beside rows that cannot be computed.
    count, _, red = rule_faults(opened, url="run_0.bin", offset="{{(i - 1) * 10}}")
    assert (count, red) == (1 + 2, ["a/4", "a/5"])


def test_of_a_template_and_all_that_uses_it(opened: Opened) -> None:
    document = opened.document

    def of(text: str) -> tuple[int, str, list[str]]:
        uses: TemplateUses = uses_of(document, "u", lambda: None)
        draft = TemplateDraft("u", text, "u", "run")
        return faults(template_source(document, opened.access, draft, uses))

    assert of("run") == (0, "", [])
    count, text, red = of("cut")
    assert (count, red) == (2, ["b/0", "a/2"])
    assert "past the end of 'cut_0.bin', which has 25 bytes" in text


def test_of_a_reference(opened: Opened) -> None:
    def of(length: int) -> tuple[int, str, list[str]]:
        draft = ReferenceDraft.of("b/0", ["run_0.bin", 20, length])
        return faults(ReferenceSource.of(opened.document, opened.access, "b/0", draft))

    assert of(10) == (0, "", [])
    words = "the range ends at byte 31, past the end of 'run_0.bin', which has 30 bytes"
    assert of(11) == (1, words, ["b/0"])


def test_nothing_is_said_of_files_that_may_not_be_read(opened: Opened) -> None:
    assert rule_faults(opened, url="https://example.org/{{i}}", offset="{{i * 10**9}}") == (0, "", [])
    assert rule_faults(opened, url="/dev/zero", offset="{{i * 10**9}}") == (0, "", [])
