"""Which rows differ from the saved state: those that comparing row by row finds, and what they belong to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import (
    InsertRule,
    RemoveReference,
    RenameReference,
    ReplaceUrlPrefix,
    SetReference,
    SetRule,
    SetTemplate,
    SetVersion,
)
from refbrowser.references.edits.many_edits import RemoveReferences, ReplacePrefixIn
from refbrowser.views import changed_rows as module
from refbrowser.views.changed_rows import ChangedRows, Difference, changed_rows

RULE = {
    "key": "t/{{i}}.{{j}}",
    "url": "{{u}}/a.nc",
    "offset": "{{i * 2 + j}}",
    "length": "5",
    "dimensions": {"i": {"stop": 3}, "j": {"stop": 2}},
}
DOCUMENT: dict[str, Any] = {
    "version": 1,
    "templates": {"u": "s3://b", "v": "http://h"},
    "gen": [RULE],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": "{}",
        "a/0.0": ["{{v}}/0.nc", 0, 10],
        "a/0.1": ["s3://b/0.nc", 10, 10],
        "g/b/0": ["s3://b/1.nc", 10, 10],
        "odd": ["{{v}}/4.nc", 1, 1],
    },
}


def read(value: Any = DOCUMENT) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps(value).encode())


def found(*edits: Any, saved: ReferenceDocument | None = None) -> tuple[ChangedRows, Difference]:
    before = saved or read()
    document = before
    for edit in edits:
        document = document.apply(edit)
    difference = Difference(document, before)
    return changed_rows(difference), difference


def listed(rows: ChangedRows) -> list[int]:
    return [rows.row(number) for number in range(rows.count)]


EDITS = st.sampled_from(
    [
        SetReference("a/0.0", ["x", 0, 1]),
        SetReference("a/0.0", ["{{v}}/0.nc", 0, 10]),
        SetReference("new/0", ["x", 0, 1]),
        SetReference("more", "text"),
        RemoveReference("a/0.1"),
        RemoveReference("odd"),
        RenameReference("g/b/0", "g/b/1"),
        RenameReference("a/.zarray", "a/.zattrs"),
        ReplaceUrlPrefix("s3://b/", "gs://c/"),
        ReplacePrefixIn("s3://b/", "gs://c/", PrefixScope(ScopeKind.UNDER, "g")),
        SetTemplate("v", "http://other"),
        SetTemplate("u", "s3://other"),
        SetRule(0, {**RULE, "offset": "{{i * 2 + j + (1 if i == 1 else 0)}}"}),
        SetRule(0, {**RULE, "dimensions": {"i": {"stop": 4}, "j": {"stop": 2}}}),
        InsertRule(1, {**RULE, "key": "n/{{i}}.{{j}}"}),
        RemoveReferences(((1, 3),)),
    ]
)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(EDITS, max_size=5))
def test_the_rows_are_those_that_differ_one_by_one(edits: list[Any]) -> None:
    document = read()
    for edit in edits:
        try:
            document = document.apply(edit)
        except RefbrowserError:
            continue
    difference = Difference(document, read())
    # The saved state shares its table with the document only where both come from one reading.
    assert listed(changed_rows(difference)) == [
        row for row in range(document.expansion.rows) if difference.changed(row)
    ]


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(EDITS, max_size=5), st.lists(EDITS, max_size=3), st.booleans())
def test_so_they_are_by_columns(edits: list[Any], before: list[Any], doubled: bool) -> None:
    saved = document = read()
    if doubled:
        text = json.dumps(DOCUMENT).replace('"odd":', '"a/0.1": ["s3://b/first.nc", 1, 2], "odd":')
        saved = document = ReferenceDocument.of(text.encode())
    for number, edit in enumerate((*before, *edits)):
        try:
            document = document.apply(edit)
        except RefbrowserError:
            continue
        if number < len(before):
            saved = document
    # After undo past a save the saved state is the later one.
    for now, then in ((document, saved), (saved, document)):
        difference = Difference(now, then)
        rows = changed_rows(difference)
        assert listed(rows) == [row for row in range(now.expansion.rows) if difference.changed(row)]
        gone = {then.refs.key(at) for at in range(len(then.refs))}
        gone -= {now.refs.key(at) for at in range(len(now.refs))}
        assert set(rows.removed) == gone
        assert rows.rows(0, rows.count).tolist() == listed(rows)
        assert [rows.find(row) for row in listed(rows)] == list(range(rows.count))


def test_what_they_belong_to() -> None:
    rows, _ = found(
        SetReference("g/b/0", ["x"]),
        RemoveReference("a/0.1"),
        SetTemplate("u", "s3://other"),
        SetReference("k", "v"),
    )
    assert dict(rows.below) == {"": 9, "g": 1, "g/b": 1, "a": 1, "t": 6}
    assert rows.templates == {"u"}
    assert rows.rules == {0: 6}
    assert rows.removed == ("a/0.1",)
    assert rows.is_exact


def test_nothing_changed() -> None:
    rows, _ = found(SetReference("g/b/0", ["x"]), SetReference("g/b/0", ["s3://b/1.nc", 10, 10]))
    assert (rows.count, rows.removed_count, dict(rows.below), rows.rules) == (0, 0, {}, {})


def test_the_rows_of_a_long_rule_are_listed_all() -> None:
    long = {**RULE, "dimensions": {"i": {"stop": 10**12}, "j": {"stop": 2}}}
    saved = read({**DOCUMENT, "gen": [long]})
    rows, difference = found(SetRule(0, {**long, "length": "6"}), saved=saved)
    assert rows.count == 2 * 10**12
    assert not rows.is_exact
    first = difference.document.expansion.refs_rows
    assert rows.row(10**12) == first + 10**12
    assert rows.rows(5, 8).tolist() == [first + 5, first + 6, first + 7]
    assert rows.find(first + 10**12) == 10**12


def test_documents_that_share_no_table_are_compared_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = found(SetVersion(0))
    assert rows.is_exact
    monkeypatch.setattr(module, "ENTRIES", 2)
    rows, difference = found(SetVersion(0))
    assert not rows.is_exact
    assert listed(rows)[-1] == len(difference.document.refs) - 1


@pytest.mark.slow
def test_many_keys_are_compared_by_columns() -> None:
    refs = {f"a/{number}": [f"s3://b/{number % 9}", number, 1] for number in range(100_000)}
    rows, _ = found(ReplaceUrlPrefix("s3://b/3", "s3://c/3"), saved=read(refs))
    assert isinstance(rows.parts[0], np.ndarray)
    assert rows.count == 11_111
    assert rows.below["a"] == rows.count


def test_the_work_can_be_ended() -> None:
    def stop() -> None:
        raise InterruptedError

    document = read().apply(SetReference("odd", "x"))
    with pytest.raises(InterruptedError):
        changed_rows(Difference(document, read()), stop)
