"""A key of a rule gets a rule of its own, which counts; undoing it gives the bytes back."""

from __future__ import annotations

import json

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.edits.edits import SetRule, overriding_rule

RULE = {
    "key": "t/{{i}}.{{j}}",
    "url": "{{u}}/a.nc",
    "offset": "{{i * 2 + j}}",
    "length": "5",
    "dimensions": {"i": {"stop": 2}, "j": [0, 3]},
}
WHOLE = {"key": "w/{{i}}", "url": "s3://b/{{i}}.nc", "dimensions": {"i": {"stop": 2}}}
DOCUMENT = {"version": 1, "templates": {"u": "s3://b"}, "gen": [RULE, WHOLE], "refs": {"x": "y"}}


def test_the_new_rule_gives_the_key_as_it_was_and_counts() -> None:
    history = History(ReferenceDocument.of(json.dumps(DOCUMENT).encode()))
    before = history.document
    changed = history.apply(overriding_rule(before, 0, 3))
    assert [rule.count for rule in changed.rules] == [4, 2, 1]
    assert changed.expansion.reference("t/1.3") == ByteRange("s3://b/a.nc", 5, 5)
    assert changed.expansion.find("t/1.3") == changed.expansion.rows - 1
    added = json.loads(changed.to_bytes())["gen"][2]
    assert added == {
        "key": "t/1.3",
        "url": "{{u}}/a.nc",
        "offset": "5",
        "length": "5",
        "dimensions": {"i": [1], "j": [3]},
    }
    moved = history.apply(SetRule(2, {**added, "offset": "7"}))
    assert moved.expansion.reference("t/1.3") == ByteRange("s3://b/a.nc", 7, 5)
    assert moved.expansion.reference("t/1.0") == ByteRange("s3://b/a.nc", 2, 5)
    history.undo()
    assert history.undo().to_bytes() == before.to_bytes()


def test_a_url_of_the_row_is_written_out() -> None:
    document = ReferenceDocument.of(json.dumps(DOCUMENT).encode())
    changed = document.apply(overriding_rule(document, 1, 1))
    assert changed.expansion.reference("w/1") == WholeFile("s3://b/1.nc")
    assert json.loads(changed.to_bytes())["gen"][2]["url"] == "s3://b/1.nc"


def test_a_row_with_a_fault_is_not_overridden() -> None:
    broken = {**DOCUMENT, "gen": [{**RULE, "offset": "{{1 // (i * 2 + j)}}"}]}
    document = ReferenceDocument.of(json.dumps(broken).encode())
    with pytest.raises(RefbrowserError):
        overriding_rule(document, 0, 0)
