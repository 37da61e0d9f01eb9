"""What a document refers to, listed: the URLs of gen rules one by one, where these are few enough."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from refbrowser.engine import sources
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.sources import listed_sources_of, sources_of
from refbrowser.io.access.access import Source
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import SetReference


def document(**rule: Any) -> Any:
    rule = {"key": "a/{{i}}.{{j}}", "offset": "0", "length": "4"} | rule
    value = {"version": 1, "gen": [rule], "refs": {"b": ["x.nc", 0, 9]}}
    return ReferenceDocument.of(json.dumps(value).encode())


def test_the_urls_of_a_rule_are_listed_with_their_references() -> None:
    found = document(url="s3://b/{{i}}.nc", dimensions={"i": {"stop": 3}, "j": {"stop": 5}})
    assert sorted(listed_sources_of(found), key=lambda each: each.url) == [
        *(Source(f"s3://b/{n}.nc", 5, 20) for n in range(3)),
        Source("x.nc", 1, 9),
    ]
    # Those that the permission sheet needs stay together.
    assert Source("s3://b/", 15, 60, is_pattern=True) in sources_of(found)


@pytest.mark.parametrize("url", ["s3://b/{{i // 2}}", "s3://b/{{i}}/{{j}}", "s3://b/{{i * j}}"])
def test_counts_are_those_of_the_rows(url: str) -> None:
    found = document(url=url, dimensions={"i": {"stop": 6}, "j": {"stop": 4}})
    rows = Counter(found.rules[0].rows(0, 24).urls)
    listed = {each.url: each.count for each in listed_sources_of(found) if each.url != "x.nc"}
    assert listed == rows


def test_too_many_urls_are_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    found = document(url="s3://b/{{i}}.nc", dimensions={"i": {"stop": 3}, "j": {"stop": 10**9}})
    assert len(listed_sources_of(found)) == 4
    monkeypatch.setattr(sources, "URLS_LISTED", 2)
    assert Source("s3://b/", 3 * 10**9, is_pattern=True) in listed_sources_of(found)
    monkeypatch.undo()
    huge = document(url="s3://b/{{i}}.nc", dimensions={"i": {"stop": 10**12}, "j": {"stop": 2}})
    assert listed_sources_of(huge)[-1].is_pattern


def test_the_search_is_ended() -> None:
    token = CancelToken()
    token.cancel()
    found = document(url="s3://b/{{i}}", dimensions={"i": {"stop": 3}, "j": {"stop": 2}})
    with pytest.raises(Cancelled):
        listed_sources_of(found, JobControl(token).check)


def test_edited_entries_are_counted_with_those_of_their_url() -> None:
    value = {"version": 1, "refs": {"a": ["x", 0, 1], "b": ["y", 0, 2], "c": ["y", 2, 2]}}
    found: Any = ReferenceDocument.of(json.dumps(value).encode())
    edits = {"a": ["z", 0, 5], "d": ["z", 5, 7], "e": ["w"], "f": "text"}
    for key, entry in edits.items():
        found = found.apply(SetReference(key, entry))
    assert sources_of(found) == [Source("y", 2, 4), Source("z", 2, 12), Source("w", 1, None)]
