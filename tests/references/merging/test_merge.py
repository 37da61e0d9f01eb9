"""Merging documents: laws over generated documents, each kind of change and conflict, bytes that stay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.compare import compared
from refbrowser.references.merging.merge import Choice, MergePart, merge_documents, merged_by_parts
from refbrowser.references.merging.merged_members import ABSENT

RULE = {"key": "a/{{i}}", "url": "{{u}}/f", "dimensions": {"i": {"stop": 3}}}
ZARRAY = {"zarr_format": 2, "shape": [3], "chunks": [1], "dtype": "<f4", "fill_value": 0, "order": "C",
          "compressor": None, "filters": None}  # fmt: skip


def document(refs: Any = None, indent: int | None = None, **members: Any) -> ReferenceDocument:
    text = json.dumps({"version": 1, **members, "refs": refs or {}}, indent=indent)
    return ReferenceDocument.of(text.encode())


def value(merged: ReferenceDocument) -> Any:
    return json.loads(merged.to_bytes())


def zarray(**members: Any) -> str:
    return json.dumps({**ZARRAY, **members})


# Laws

SCALARS = st.sampled_from([1, 1.0, True, None, "x", "y", [1], [1, 2]])
OBJECTS = st.dictionaries(st.sampled_from("mn"), SCALARS | st.dictionaries(st.sampled_from("pq"), SCALARS))
REFS = st.dictionaries(
    st.sampled_from(["a/0", "a/1", "a/0.1", "k", "b/c/0"]),
    st.sampled_from(["text", "base64:QQ==", ["u"], ["v", 0, 1], ["{{t}}/u", 0, 1], ["u", 2**70, 1]]),
)
METADATA = st.dictionaries(st.sampled_from([".zattrs", "a/.zattrs", "a/zarr.json"]), OBJECTS)
RULES = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from(["r/{{i}}", "s/{{i}}", "t/{{i}}"]), "url": st.sampled_from("xyz")},
        optional={"dimensions": st.sampled_from([{"i": {"stop": 2}}, {"i": {"stop": 3}}])},
    ),
    max_size=4,
)
DOCUMENTS = st.builds(
    lambda refs, metadata, rules, templates, member, indent: document(
        {**refs, **{key: json.dumps(each) for key, each in metadata.items()}},
        indent,
        gen=rules,
        templates=templates,
        **({} if member is None else {"other": member}),
    ),
    REFS,
    METADATA,
    RULES,
    st.dictionaries(st.sampled_from("tw"), st.sampled_from(["one", "two"])),
    st.none() | OBJECTS,
    st.sampled_from([None, 1]),
)


def means_the_same(one: ReferenceDocument, other: ReferenceDocument) -> bool:
    """Tell whether two documents say the same; JSON in metadata keys by its value."""
    said = []
    for each in (one, other):
        found = value(each)
        found["refs"] = {
            key: json.loads(text) if key.endswith((".zattrs", ".json")) and isinstance(text, str) else text
            for key, text in found["refs"].items()
        }
        said.append({name: inner for name, inner in found.items() if inner not in ([], {}) or name == "refs"})
    return json.dumps(said[0], sort_keys=True) == json.dumps(said[1], sort_keys=True)


@pytest.mark.slow
@given(DOCUMENTS, DOCUMENTS)
def test_a_side_that_changed_nothing_gives_the_other(
    base: ReferenceDocument, other: ReferenceDocument
) -> None:
    for merge in (merge_documents, merged_by_parts):
        taken = merge(base, base, other)
        assert not taken.conflicts
        assert means_the_same(taken.document, other)
        kept = merge(base, other, base)
        assert not kept.conflicts
        assert kept.document.to_bytes() == other.to_bytes()
        same = merge(base, other, other)
        assert not same.conflicts
        assert same.document.to_bytes() == other.to_bytes()
    assert merge_documents(base, base, other).document.to_bytes() == other.to_bytes()


def places(conflicts: Any) -> set[tuple[Any, ...]]:
    """Return where conflicts are, rules by what they say."""
    return {
        (each.part, each.path, *((each.name,) if each.part is not MergePart.RULE else ()))
        for each in conflicts
    }


@pytest.mark.slow
@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_both_sides_find_the_same_conflicts(
    base: ReferenceDocument, ours: ReferenceDocument, theirs: ReferenceDocument
) -> None:
    one, other = merged_by_parts(base, ours, theirs), merged_by_parts(base, theirs, ours)
    beside = [
        [each for each in merged.conflicts if each.part is not MergePart.RULE] for merged in (one, other)
    ]
    assert places(beside[0]) == places(beside[1])
    swapped = {(each.part, each.name, each.path): each for each in beside[1]}
    for each in beside[0]:
        mirrored = swapped[each.part, each.name, each.path]
        assert (repr(each.ours), repr(each.theirs)) == (repr(mirrored.theirs), repr(mirrored.ours))


@pytest.mark.slow
@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_no_edit_is_lost_silently(
    base: ReferenceDocument, ours: ReferenceDocument, theirs: ReferenceDocument
) -> None:
    merged = merged_by_parts(base, ours, theirs)
    told = {each.name for each in merged.conflicts if each.part in (MergePart.REFERENCE, MergePart.METADATA)}
    before, mine, yours, made = (value(each)["refs"] for each in (base, ours, theirs, merged.document))
    for key in {*before, *mine, *yours, *made} - told:
        sides = [each.get(key) for each in (before, mine, yours, made)]
        if key.endswith((".zattrs", ".json")):
            sides = [None if each is None else json.loads(each) for each in sides]
        was, my, their, now = map(repr_sorted, sides)
        if my == their:
            assert now == my
        elif was == my:
            assert now == their
        elif was == their:
            assert now == my
    rules = [value(each)["gen"] for each in (ours, theirs, merged.document)]
    assert all(each in rules[2] for each in rules[0] if each in rules[1])
    # The edits are all there is to it: they make the result of ours.
    assert ours.apply(merged.edit).to_bytes() == merged.document.to_bytes()


def repr_sorted(each: Any) -> str:
    return json.dumps(each, sort_keys=True)


@pytest.mark.slow
@given(DOCUMENTS, DOCUMENTS, DOCUMENTS, st.sampled_from(list(Choice)))
def test_conflicts_can_be_settled_for_each_side(
    base: ReferenceDocument, ours: ReferenceDocument, theirs: ReferenceDocument, choice: Choice
) -> None:
    merged = merged_by_parts(base, ours, theirs)
    made: Any = merged.document
    for conflict in merged.conflicts:
        made = made.apply(conflict.edit(made, choice))
        if conflict.part is MergePart.REFERENCE:
            expected = conflict.value(choice)
            assert value(made)["refs"].get(conflict.name, ABSENT) == expected
    if choice is Choice.OURS:
        assert means_the_same(made, merged.document)
    favoured = merged_by_parts(base, ours, theirs, choice)
    assert not favoured.conflicts
    assert len(favoured.settled) == len(merged.conflicts)
    assert favoured.document.to_bytes() == made.to_bytes() or choice is Choice.OURS


# Each kind of change


def test_members_of_metadata_are_merged_one_by_one() -> None:
    base = document({"a/.zarray": zarray(), "a/.zattrs": json.dumps({"x": 1, "y": {"p": 1}})})
    ours = document(
        {"a/.zarray": zarray(fill_value=1), "a/.zattrs": json.dumps({"x": 2, "y": {"p": 1, "o": 1}})}
    )
    theirs = document(
        {"a/.zarray": zarray(shape=[4]), "a/.zattrs": json.dumps({"x": 1, "y": {"p": 2}, "t": 1})}
    )
    merged = merge_documents(base, ours, theirs)
    assert not merged.conflicts
    refs = value(merged.document)["refs"]
    assert json.loads(refs["a/.zarray"]) == {**ZARRAY, "fill_value": 1, "shape": [4]}
    assert json.loads(refs["a/.zattrs"]) == {"x": 2, "y": {"p": 2, "o": 1}, "t": 1}


def test_what_nobody_changed_keeps_its_bytes() -> None:
    text = b'{ "version":1,  "refs" : {"k":["u" ,0,1],\n\n "a/.zattrs" : "{ \\"x\\" : 1 }", "z":"\\u0041"} }'
    base = ReferenceDocument.of(text)
    theirs = ReferenceDocument.of(text.replace(b'\\"x\\" : 1', b'\\"x\\" : 2'))
    ours = ReferenceDocument.of(text.replace(b'["u" ,0,1]', b'["v" ,0,1]'))
    merged = merge_documents(base, ours, theirs)
    assert merged.document.to_bytes() == text.replace(b'\\"x\\" : 1', b'\\"x\\" : 2').replace(b'"u"', b'"v"')


def test_conflicts_tell_their_places() -> None:
    base = document(
        {"a/.zattrs": '{"u": 1}', "k": ["u"], "gone": "1"}, templates={"t": "a"}, gen=[RULE], more=1
    )
    ours = document(
        {"a/.zattrs": '{"u": 2}', "k": ["v"]}, templates={"t": "b"}, gen=[{**RULE, "url": "v"}], more=2
    )
    theirs = document(
        {"a/.zattrs": '{"u": 3}', "k": ["w"], "gone": "2"},
        templates={"t": "c"},
        gen=[{**RULE, "url": "w"}],
        more=3,
    )
    merged = merge_documents(base, ours, theirs)
    assert [(each.part, each.pointer, each.inner) for each in merged.conflicts] == [
        ("member", "/more", ""),
        ("template", "/templates/t", ""),
        ("rule", "/gen/0/url", ""),
        ("metadata", "/refs/a~1.zattrs", "/u"),
        ("reference", "/refs/k", ""),
        ("reference", "/refs/gone", ""),
    ]
    assert means_the_same(merged.document, ours)
    deleted = merged.conflicts[-1]
    assert (deleted.base, deleted.ours, deleted.theirs) == ("1", ABSENT, "2")
    assert "ours" not in deleted.to_json()
    assert means_the_same(merge_documents(base, ours, theirs, Choice.THEIRS).document, theirs)


def test_the_same_addition_on_both_sides_is_no_conflict() -> None:
    base = document({"k": "1"})
    ours = document({"k": "1", "a/.zattrs": '{"x": 1, "y": 2}', "n": ["u", 0, 1]}, gen=[RULE])
    theirs = document(
        {"n": ["u", 0, 1], "k": "1", "a/.zattrs": '{"y":2,"x":1}'}, gen=[dict(reversed(RULE.items()))]
    )
    merged = merge_documents(base, ours, theirs)
    assert not merged.conflicts
    assert merged.document.to_bytes() == ours.to_bytes()


def consolidated(**arrays: Any) -> str:
    metadata = {".zgroup": {"zarr_format": 2}, **{f"{name}/.zarray": each for name, each in arrays.items()}}
    return json.dumps({"zarr_consolidated_format": 1, "metadata": metadata})


def test_consolidated_metadata_follows() -> None:
    group = {".zgroup": '{"zarr_format": 2}'}
    base = document(
        {
            **group,
            "a/.zarray": zarray(),
            "b/.zarray": zarray(),
            ".zmetadata": consolidated(a=ZARRAY, b=ZARRAY),
        }
    )
    # They forgot the copy, added an array and took one away; ours changed the same array.
    theirs = document(
        {
            **group,
            "a/.zarray": zarray(shape=[4]),
            "c/.zarray": zarray(),
            ".zmetadata": consolidated(a=ZARRAY, b=ZARRAY),
        }
    )
    mine = {**ZARRAY, "fill_value": 7}
    ours = document(
        {
            **group,
            "a/.zarray": json.dumps(mine),
            "b/.zarray": zarray(),
            ".zmetadata": consolidated(a=mine, b=ZARRAY),
        }
    )
    merged = merge_documents(base, ours, theirs)
    assert not merged.conflicts
    refs = value(merged.document)["refs"]
    both = {**ZARRAY, "fill_value": 7, "shape": [4]}
    assert json.loads(refs["a/.zarray"]) == both
    assert "b/.zarray" not in refs
    assert json.loads(refs[".zmetadata"]) == json.loads(consolidated(a=both, c=ZARRAY))


def test_a_conflict_is_told_once_and_not_of_the_copy_too() -> None:
    sides = []
    for fill in (0, 1, 2):
        array = {**ZARRAY, "fill_value": fill}
        sides.append(document({"a/.zarray": json.dumps(array), ".zmetadata": consolidated(a=array)}))
    merged = merge_documents(*sides)
    assert [(each.name, each.path) for each in merged.conflicts] == [("a/.zarray", ("fill_value",))]
    settled = merged.document.apply(merged.conflicts[0].edit(merged.document, Choice.THEIRS))
    assert value(settled) == value(sides[2])


def test_consolidated_metadata_of_version_3_follows() -> None:
    def root(**arrays: Any) -> str:
        inner = {"kind": "inline", "metadata": arrays}
        return json.dumps({"zarr_format": 3, "node_type": "group", "consolidated_metadata": inner})

    array = {"zarr_format": 3, "node_type": "array", "shape": [3], "fill_value": 0}
    base = document({"zarr.json": root(a=array), "a/zarr.json": json.dumps(array)})
    mine, yours = {**array, "shape": [4]}, {**array, "fill_value": 1}
    ours = document({"zarr.json": root(a=mine), "a/zarr.json": json.dumps(mine)})
    theirs = document({"zarr.json": root(a=yours), "a/zarr.json": json.dumps(yours)})
    merged = merge_documents(base, ours, theirs)
    assert not merged.conflicts
    both = {**array, "shape": [4], "fill_value": 1}
    refs = value(merged.document)["refs"]
    assert json.loads(refs["a/zarr.json"]) == both
    assert json.loads(refs["zarr.json"])["consolidated_metadata"]["metadata"] == {"a": both}
    odd = document({"zarr.json": root(a=yours), "a/zarr.json": json.dumps({**array, "shape": [9]})})
    told = merge_documents(base, ours, odd).conflicts
    assert [(each.name, each.path) for each in told] == [("a/zarr.json", ("shape",))]


@pytest.mark.parametrize("wanted", [0, 1])
def test_another_version_on_one_side(wanted: int) -> None:
    refs = {"a/0": ["u", 0, 1], "a/1": ["u", 1, 1]}
    plain = ReferenceDocument.of(json.dumps(refs).encode())
    base, changed = (plain, document(refs)) if wanted else (document(refs), plain)
    more = {**refs, "a/2": ["u", 2, 1]}
    other = ReferenceDocument.of(json.dumps(more).encode()) if wanted else document(more)
    for ours, theirs in ((changed, other), (other, changed)):
        merged = merge_documents(base, ours, theirs)
        assert not merged.conflicts
        assert merged.document.version == wanted
        assert (value(merged.document)["refs"] if wanted else value(merged.document)) == more


# Many references


def test_very_many_changes_of_one_side_are_taken_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.references.merging.merge.MOST", 10)
    refs = {f"a/{i}": ["u", i, 1] for i in range(100)}
    base = document({**refs, "k": "1", "c": "1"})
    theirs = document({**{key: ["v", *each[1:]] for key, each in refs.items()}, "k": "1", "c": "2"})
    ours = document({**refs, "k": "2", "c": "3", "a/5": ["w", 0, 9]}, templates={"t": "x"})
    merged = merge_documents(base, ours, theirs)
    made = value(merged.document)
    assert [each.name for each in merged.conflicts] == ["c", "a/5"]
    assert [(each.ours, each.theirs) for each in merged.conflicts] == [("3", "2"), (["w", 0, 9], ["v", 5, 1])]
    assert made["templates"] == {"t": "x"}
    assert made["refs"] == {**value(theirs)["refs"], "k": "2", "c": "3", "a/5": ["w", 0, 9]}
    assert ours.apply(merged.edit).to_bytes() == merged.document.to_bytes()
    both = document({**{key: ["w", *each[1:]] for key, each in refs.items()}, "k": "1"})
    with pytest.raises(RefbrowserError, match="both sides changed more than 10 references"):
        merge_documents(base, both, theirs)


@pytest.mark.slow
def test_hundreds_of_changes_are_single_edits() -> None:
    refs = {f"a/{i}": ["u", i, 1] for i in range(1_000)}
    theirs = {key: ["v", *each[1:]] for key, each in refs.items() if each[1] % 2}
    merged = merge_documents(document(refs), document({**refs, "k": "1"}), document(theirs))
    assert value(merged.document)["refs"] == {**theirs, "k": "1"}
    assert len(merged.edits) == 2


def test_what_does_not_fit_together_is_warned_of() -> None:
    base = document({"a/0": ["{{t}}/x", 0, 1]}, templates={"t": "s"})
    ours = document({"a/0": ["s/x", 0, 1]}, templates={})
    theirs = document({"a/0": ["{{t}}/x", 0, 1], "a/1": ["{{t}}/y", 0, 1]}, templates={"t": "s"})
    merged = merge_documents(base, ours, theirs)
    assert not merged.conflicts
    (warning,) = merged.warnings
    assert "{{t}}/y" in warning.message
    assert not merge_documents(base, base, theirs).warnings


def test_compared_documents_know_what_a_merge_did() -> None:
    base = document({"k": "1"}, gen=[RULE])
    ours = document({"k": "2"}, gen=[RULE])
    merged = merge_documents(base, ours, document({"k": "1", "n": "1"}, gen=[RULE]))
    assert [part.title for part in compared(merged.document, ours)] == ["References"]
