"""What a row of the preview tells of its change, and that the tallies count the rows that are marked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.references.document.document import ReferenceDocument
from refbrowser.views.editing.preview import NOT_THERE, PreviewChange, PreviewMark, PreviewRow
from refbrowser.views.editing.rule_source import RuleSource

LONG = "https://storage.example.org/a/bucket/1998/part-"
RULE = {
    "key": "a/{{i}}",
    "url": LONG + "{{i}}/x.nc",
    "offset": "{{i*10}}",
    "length": "10",
    "dimensions": {"i": {"stop": 6}},
}


def source(**changes: Any) -> RuleSource:
    document = ReferenceDocument.of(json.dumps({"version": 1, "gen": [RULE], "refs": {}}).encode())
    return RuleSource.of(document, None, 0, {**RULE, **changes})


def test_a_long_change_begins_where_it_differs_and_is_told_whole_after_that() -> None:
    (row,) = source(url=LONG + "{{i}}/y.nc", offset="{{i*10+5}}").rows(1, 2)
    whole = f"url {LONG}1/x.nc → {LONG}1/y.nc"
    assert row.words == f"url …1/x.nc → …1/y.nc, offset 10 → 15 · {whole}"
    (row,) = source(offset="").rows(1, 2)
    assert "offset 10 → " in row.words


def test_what_two_urls_end_with_is_no_part_of_the_difference() -> None:
    change = (PreviewChange("url", "run/a/ocaen_000.bin", "run/a/ocean_000.bin"),)
    whole = "url run/a/ocaen_000.bin → run/a/ocean_000.bin"
    assert PreviewRow(0, "k", before=change).words == f"url …ocaen_… → …ocean_… · {whole}"
    # One ends as the other begins: nothing is cut twice.
    change = (PreviewChange("url", "aaaaaaaaaaaa.nc", "aaaaaaaaaaaaaaaaaaaaaaaa.nc"),)
    first = PreviewRow(0, "k", before=change).words.partition(" · ")[0]
    assert first.startswith("url …")


def test_a_row_that_is_new_faulty_or_without_a_value() -> None:
    change = (PreviewChange("offset", "", "5"),)
    assert PreviewRow(0, "k", before=NOT_THERE, mark=PreviewMark.NEW).words == "was not there"
    assert PreviewRow(0, "k", before=change, note="stands twice").words == "offset none → 5 · stands twice"
    assert (
        PreviewRow(0, "k", before=change, note="bad", mark=PreviewMark.FAULT).words == "bad · offset none → 5"
    )
    assert PreviewRow(0, "k").words == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": "{{i-3}}", "length": "{{i-2}}"},
        {"key": "{{nope}}", "url": "{{nope}}"},
        {"url": "{{[1,2][i]}}", "offset": "{{i-3}}"},
        {"url": "{{"},
        {"offset": "{{i-3}}"},
        {},
    ],
)
def test_faults_are_as_many_as_rows_are_red(changes: dict[str, str]) -> None:
    shown = source(**changes)
    red = [row.number for row in shown.rows(0, 6) if row.mark & PreviewMark.FAULT]
    faults = shown.check(lambda: None, lambda _report: None).faults
    assert faults is not None
    assert (faults.count, faults.first, faults.checked) == (len(red), min(red, default=None), None)
