"""The manual lists the codes of findings and notes, with what they mean, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from refbrowser.engine.audit.reader_notes import note_codes
from refbrowser.errors import ErrorKind, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import KINDS, kind_of
from refbrowser.wings.dmrpp.checking.description_kinds import KINDS as DESCRIPTION_KINDS
from refbrowser.wings.icechunk.manifests.manifest_findings import MANIFEST_LARGE

PAGE = (Path(__file__).resolve().parents[4] / "resources/manual/audit.md").read_text("utf-8")


def test_every_code_is_listed_and_no_other() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]+) \| ([^|]+) \|$", PAGE, re.M)
    listed = {code: (title, meaning) for code, title, meaning in rows}
    assert len(listed) == len(rows)
    kinds = (*KINDS.values(), *DESCRIPTION_KINDS.values(), MANIFEST_LARGE)
    assert listed == {kind.code: (kind.title, kind.meaning) for kind in kinds}


def test_every_note_is_listed() -> None:
    section = PAGE.partition("## Other software")[2].partition("## ")[0]
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.M)) == set(note_codes())


def test_each_kind_of_error_has_a_code() -> None:
    for kind in ErrorKind:
        finding = Finding(severity=Severity.WARNING, kind=kind, message="")
        assert kind_of(finding).code in KINDS
        assert kind_of(finding).meaning
