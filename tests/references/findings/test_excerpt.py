"""Text around a place: the right line and column, bounded however long the lines are."""

from __future__ import annotations

import json

from refbrowser.references.content.finding_places import LINES, WIDTH, excerpt
from refbrowser.references.document.document import ReferenceDocument


def test_line_and_column_of_a_finding_point_at_it() -> None:
    text = json.dumps({"version": 1, "title": "é", "refs": {f"a/{i}": ["u"] for i in range(200)}}, indent=1)
    document = ReferenceDocument.of(text.encode())
    found = next(finding for finding in document.findings if "title" in finding.message)
    shown = excerpt(document, found.place.line, found.place.column)
    number, line = shown.lines[shown.row]
    assert number == found.place.line
    assert line[shown.column :].startswith('"title"')
    assert len(shown.lines) == found.place.line + LINES


def test_one_long_line_is_cut_around_the_column() -> None:
    text = json.dumps({"version": 1, "refs": {f"ä/{i}": ["u"] for i in range(5000)}}, ensure_ascii=False)
    document = ReferenceDocument.of(text.encode())
    column = text.index('"ä/4000"') + 1
    shown = excerpt(document, 1, column)
    line = shown.lines[0][1]
    assert line.startswith("…")
    assert line[shown.column :].startswith('"ä/4000"')
    assert len(line) < 8 * WIDTH + 20_000
