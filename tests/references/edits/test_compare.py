"""Comparing documents: what differs is counted by part, with examples; spacing and order do not count."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.compare import SHOWN, Part, Side, compared
from refbrowser.references.edits.edits import RemoveReference, RenameReference, ReplaceUrlPrefix, SetReference

RULE = {"key": "g/{{i}}", "url": "u", "dimensions": {"i": {"stop": 3}}}


def document(refs: Any = None, **members: Any) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps({"version": 1, **members, "refs": refs or {}}).encode())


def part(parts: tuple[Part, ...], title: str) -> Part:
    return next(part for part in parts if part.title == title)


def sides(found: Part) -> tuple[int, int, int]:
    return found.only_here, found.only_there, found.different


def test_equal_documents_differ_in_nothing_whatever_their_spacing() -> None:
    refs = {"a/0": ["u", 0, 1], "a/1": ["u", 1, 1], ".zattrs": "{}"}
    spaced = json.dumps({"refs": dict(reversed(refs.items())), "version": 1}, indent=3).encode()
    assert compared(document(refs), ReferenceDocument.of(spaced)) == ()


def test_templates_and_rules() -> None:
    here = document(templates={"u": "a", "only": "x"}, gen=[RULE, {**RULE, "url": "v"}])
    there = document(templates={"u": "b", "new": "y"}, gen=[RULE, {**RULE, "url": "w", "offset": "1"}, RULE])
    parts = compared(here, there)
    assert sides(part(parts, "Templates")) == (1, 1, 1)
    changed = next(item for item in part(parts, "Templates").examples if item.side is Side.BOTH)
    assert (changed.name, changed.here, changed.there) == ("u", "a", "b")
    rules = part(parts, "Gen rules")
    assert sides(rules) == (0, 0, 1)
    assert rules.examples[0].name == "rule 1: url, offset"


def test_rules_in_another_order() -> None:
    other = {**RULE, "url": "v"}
    parts = compared(document(gen=[RULE, other]), document(gen=[other, RULE]))
    assert part(parts, "Gen rules").examples[0].name == "the order of the rules"


def test_other_members_and_versions() -> None:
    parts = compared(document(title="a"), ReferenceDocument.of(b"{}"))
    assert [item.name for item in part(parts, "Document").examples] == ["version"]
    parts = compared(document(title="a"), document(title="b"))
    assert [item.name for item in part(parts, "Document").examples] == ["title"]


def test_edits_are_seen() -> None:
    refs = {f"a/{i}.{j}": [f"u{i}", j, 1] for i in range(20) for j in range(20)} | {".zgroup": "{}"}
    there = document(refs)
    here = there.apply(SetReference("a/3.4", ["u3", 99, 1])).apply(RemoveReference("a/0.0"))
    here = here.apply(RenameReference("a/1.1", "b/1.1")).apply(SetReference(".zgroup", "[]"))
    assert sides(part(compared(here, there), "References")) == (1, 2, 2)
    replaced = there.apply(ReplaceUrlPrefix("u1", "w"))
    assert sides(part(compared(replaced, there), "References")) == (0, 0, 20 * 11)
    assert len(part(compared(replaced, there), "References").examples) == 5


VALUES = st.one_of(
    st.sampled_from(["text", "{}", "base64:QQ==", ["u"], ["v", 0, 1], ["u", 0, 1], ["u", 2**70, 1], 7]),
)
KEYS = st.sampled_from(["a/0", "a/1", "a/0.1", "b", ".zattrs", "é/0"])


@pytest.mark.slow
@given(st.dictionaries(KEYS, VALUES), st.dictionaries(KEYS, VALUES), st.dictionaries(KEYS, VALUES))
def test_counts_are_those_of_dictionaries(here: Any, there: Any, edits: Any) -> None:
    mine = document(here)
    for key, value in edits.items():
        mine = mine.apply(SetReference(key, value))
    here = here | edits
    parts = compared(mine, document(there))
    expected = (
        len(here.keys() - there.keys()),
        len(there.keys() - here.keys()),
        sum(here[key] != there[key] for key in here.keys() & there.keys()),
    )
    assert (sides(parts[0]) if parts else (0, 0, 0)) == expected


def test_examples_have_the_place_where_long_values_differ() -> None:
    for size in (500, SHOWN + 500):
        sides_of = []
        for end in "12":
            text = "x" * size + end
            refs = {"a": [text, 0, 1], "b/0": [text, 0, 1], "c": text, "d": ["{{" + text, 0, 1]}
            sides_of.append(document(refs, templates={"u": text}, gen=[{**RULE, "url": text}]))
        parts = compared(*sides_of)
        examples = [example for found in parts for example in found.examples]
        assert [example.name for example in examples] == ["u", "rule 0: url", "a", "c", "d", "b/0"]
        for example in examples:
            assert example.here != example.there
            assert max(len(example.here), len(example.there)) <= SHOWN + 2
            assert (size < SHOWN) == ("…" not in example.here)
