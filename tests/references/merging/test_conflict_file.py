"""Lists of conflicts: read again they settle what the merge would; anything else is refused."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.merging import conflict_file
from refbrowser.references.merging.conflict_file import ConflictFile, conflict_file_text, parse_conflict_file
from refbrowser.references.merging.merge import Choice, Merged, MergePart, merge_documents

RULES = [{"key": f"{name}/{{{{i}}}}", "url": name, "dimensions": {"i": {"stop": 3}}} for name in "rst"]


def document(units: str, url: str, rules: list[Any], **members: Any) -> ReferenceDocument:
    refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps({"units": units}), "a/0": [url, 0, 4]}
    value = {"version": 1, "templates": {"u": f"{url}{units}"}, "gen": rules, **members, "refs": refs}
    return ReferenceDocument.of(json.dumps(value).encode())


def merged() -> Merged:
    """Return a merge with a conflict of each part."""
    base = document("K", "f", RULES, own={"m": 1})
    ours = document("degC", "g", [RULES[1], {**RULES[0], "url": "x"}, RULES[2]], own={"m": 2})
    theirs = document("degF", "h", [{**RULES[0], "url": "y"}, RULES[2], RULES[1]], own={"m": 3})
    return merge_documents(base, ours, theirs)


def listed(found: Merged) -> ConflictFile:
    sides = {"base": "b.json", "ours": "o.json", "theirs": "t.json"}
    target = os.path.join("sub", "list.json")
    return parse_conflict_file(conflict_file_text(found, "o.json", sides, target).encode())


def test_what_is_read_is_what_was_at_odds() -> None:
    found = merged()
    assert {each.part for each in found.conflicts} == set(MergePart)
    read = listed(found)
    assert read.conflicts == found.conflicts
    assert read.path == os.path.join("..", "o.json")
    assert read.sides == {"base": "b.json", "ours": "o.json", "theirs": "t.json"}


@pytest.mark.parametrize("choice", [Choice.BASE, Choice.THEIRS])
def test_each_is_open_until_it_is_settled(choice: Choice) -> None:
    found = merged()
    for conflict in listed(found).conflicts:
        assert conflict.is_open(found.document), conflict
        settled = found.document.apply(conflict.edit(found.document, choice)).written()
        assert not conflict.is_open(settled), conflict


def test_a_removal_is_open_until_it_is_taken_back() -> None:
    base, ours = document("K", "f", RULES), document("K", "f", RULES[1:])
    theirs = document("K", "f", [{**RULES[0], "url": "y"}, *RULES[1:]])
    (conflict,) = listed(merge_documents(base, ours, theirs)).conflicts
    assert conflict.is_open(ours)
    assert not conflict.is_open(theirs)


ONE = {"part": "reference", "name": "a/0", "path": [], "version": 1, "ours": "x", "theirs": "y"}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([], "does not list"),
        ({"merge_conflicts": 2}, "version '2', known is 1"),
        ({"path": 3}, "which document"),
        ({"conflicts": {}}, "are not a list"),
        ({"conflicts": [3]}, "is not an object"),
        ({"conflicts": [{**ONE, "part": "tree"}]}, "about a 'tree'"),
        ({"conflicts": [{**ONE, "name": None}]}, "has the name 'None'"),
        ({"conflicts": [{**ONE, "part": "rule", "name": "-1"}]}, "has the name '-1'"),
        ({"conflicts": [{**ONE, "path": "units"}]}, "not a list of names"),
        ({"conflicts": [{**ONE, "path": ["n"] * 201}]}, "not a list of names"),
        ({"conflicts": [{**ONE, "version": 7}]}, "version '7'"),
        ({"conflicts": [{**ONE, "part": "template", "ours": 3}]}, "not text on one side"),
    ],
)
def test_anything_else_is_refused(said: Any, words: str) -> None:
    if isinstance(said, dict):
        said = {"merge_conflicts": 1, "path": "o.json", "conflicts": [ONE], **said}
    with pytest.raises(RefbrowserError, match=words) as caught:
        parse_conflict_file(json.dumps(said).encode())
    assert caught.value.kind is ErrorKind.SCHEMA


def test_no_json_and_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RefbrowserError) as caught:
        parse_conflict_file(b'{"merge_conflicts": 1,')
    assert caught.value.kind is ErrorKind.JSON
    monkeypatch.setattr(conflict_file, "MOST", 1)
    said = {"merge_conflicts": 1, "path": "o.json", "conflicts": [ONE, ONE]}
    with pytest.raises(RefbrowserError, match="2 conflicts, more than 1") as caught:
        parse_conflict_file(json.dumps(said).encode())
    assert caught.value.kind is ErrorKind.BUDGET


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["x", "{{u}}/f", '{"units": "K"}']),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["units", "key", "url", "m"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@given(
    part=st.sampled_from(MergePart),
    name=st.sampled_from(["a/0", ".zattrs", "u", "0", "9", "own", "refs", "gen", ""]),
    path=st.lists(st.sampled_from(["units", "order", "", "m"]), max_size=2),
    values=st.dictionaries(st.sampled_from(["base", "ours", "theirs"]), VALUES),
)
def test_foreign_conflicts_settle_or_say_why_not(
    part: MergePart, name: str, path: list[str], values: dict[str, Any]
) -> None:
    one = {"part": str(part), "name": name, "path": path, "version": 1, **values}
    text = json.dumps({"merge_conflicts": 1, "path": "o.json", "conflicts": [one]})
    ours = document("K", "f", RULES, own={"m": 1})
    try:
        (conflict,) = parse_conflict_file(text.encode()).conflicts
        conflict.is_open(ours)
        for choice in Choice:
            ours.apply(conflict.edit(ours, choice)).written()
    except RefbrowserError:
        pass
