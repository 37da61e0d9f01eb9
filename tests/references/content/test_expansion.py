"""The Version 0 view: rows, keys and chunks of refs, edits and rules combined, the last one counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import ByteRange, Inline, Missing, ReferenceKind, WholeFile
from refbrowser.references.content.expansion import REFS, Expansion
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, RenameReference, SetReference

V2 = ChunkKeyEncoding()


def document_of(refs: dict[str, Any], gen: list[Any] | None = None, **members: Any) -> ReferenceDocument:
    return ReferenceDocument.of(
        json.dumps({"version": 1, **members, "gen": gen or [], "refs": refs}).encode()
    )


def rule(key: str, stop: int, url: str = "g", **more: Any) -> dict[str, Any]:
    return {
        "key": key,
        "url": url,
        "offset": "{{i * 10}}",
        "length": "10",
        "dimensions": {"i": {"stop": stop}},
        **more,
    }


DOCUMENT = document_of(
    {
        ".zgroup": '{"zarr_format": 2}',
        "a/0": ["{{u}}/x", 5, 6],
        "a/1": ["whole"],
        "a/2": "inline",
        "a/3": ["bad", -1, 2],
        "a/4": ["{{nope}}", 1, 2],
        "a/5": ["far", 2**63, 1],
    },
    [rule("a/{{i + 6}}", 3), rule("a/{{i * 2}}", 2, "second")],
    templates={"u": "s3://b"},
)


def test_rows_count_refs_then_rules() -> None:
    expansion = DOCUMENT.expansion
    assert (expansion.rows, expansion.refs_rows, expansion.gen_rows) == (12, 7, [3, 2])
    assert expansion.item(1) == ("a/0", ByteRange("s3://b/x", 5, 6))
    assert expansion.item(2) == ("a/1", WholeFile("whole"))
    assert expansion.item(3) == ("a/2", Inline(b"inline"))
    assert expansion.item(6) == ("a/5", ByteRange("far", 2**63, 1))
    assert expansion.item(7) == ("a/6", ByteRange("g", 0, 10))
    assert expansion.item(11) == ("a/2", ByteRange("second", 10, 10))
    assert [expansion.origin(row) for row in (0, 6, 7, 10)] == [(REFS, 0), (REFS, 6), (0, 0), (1, 0)]
    assert all(expansion.row_of(*expansion.origin(row)) == row for row in range(12))
    for row in (-1, 12):
        with pytest.raises(IndexError):
            expansion.item(row)


def test_the_last_row_of_a_key_counts() -> None:
    expansion = DOCUMENT.expansion
    assert expansion.find("a/0") == 10
    assert expansion.find("a/1") == 2
    assert expansion.find("a/8") == 9
    assert expansion.find("a/9") is None
    assert expansion.reference("a/2") == ByteRange("second", 10, 10)
    assert expansion.reference("a/9") is None
    with pytest.raises(RefbrowserError) as caught:
        expansion.reference("a/4")
    assert caught.value.kind is ErrorKind.TEMPLATE
    assert caught.value.place.pointer == "/refs/a~14/0"


def test_a_page_is_its_items() -> None:
    expansion = DOCUMENT.expansion
    for start, stop in ((0, 12), (5, 9), (8, 100), (-3, 2), (12, 20)):
        page = expansion.items(start, stop)
        rows = range(max(start, 0), min(stop, 12))
        assert len(page) == len(rows)
        for at, row in enumerate(rows):
            key, found = expansion.item(row)
            assert page.keys[at] == key == expansion.key(row)
            assert (page.origins[at], page.rows[at]) == expansion.origin(row)
            assert (at in page.errors) == isinstance(found, RefbrowserError)
            if isinstance(found, ByteRange):
                assert (page.urls[at], page.offsets[at], page.lengths[at]) == (
                    found.url,
                    found.offset,
                    found.length,
                )


def test_the_beginning_of_a_value_is_that_of_its_text() -> None:
    edited = DOCUMENT.apply(SetReference("a/2", "edited")).apply(SetReference("a/9", "base64:AA=="))
    for document in (
        DOCUMENT,
        edited,
        document_of({"a": 5, "b": {"c": 1}, "c": " base64:", "d": "base64:*"}),
    ):
        refs = document.refs
        for position in range(len(refs)):
            slot = refs.slot(position)
            text = refs.value_text(slot)
            json.loads(text)
            assert [refs.value_beginning(slot, most) for most in (0, 3, 99)] == [b"", text[:3], text[:99]]


def test_chunks_combine_refs_and_rules() -> None:
    expansion = DOCUMENT.expansion
    coords = np.array([[9], [0], [2], [1], [3], [4], [5], [7]])
    columns = expansion.chunk_columns("a/", coords, V2)
    kinds = [ReferenceKind(kind).name for kind in columns.kind]
    assert kinds == ["MISSING", "RANGE", "RANGE", "WHOLE", "FAULTY", "FAULTY", "FAULTY", "RANGE"]
    assert columns.reference(0) == Missing()
    assert columns.reference(1) == ByteRange("second", 0, 10)
    assert columns.reference(2) == ByteRange("second", 10, 10)
    assert columns.reference(3) == WholeFile("whole")
    assert columns.reference(7) == ByteRange("g", 10, 10)
    messages = {}
    for row in (4, 5, 6):
        with pytest.raises(RefbrowserError) as caught:
            columns.reference(row)
        messages[row] = (caught.value.kind, caught.value.place.key)
    assert messages == {
        4: (ErrorKind.REF, "a/3"),
        5: (ErrorKind.TEMPLATE, "a/4"),
        6: (ErrorKind.RANGE, "a/5"),
    }
    assert expansion.chunk_kinds("a/", (10,), V2).tolist() == [2, 3, 2, 4, 4, 4, 2, 2, 2, 0]
    assert expansion.stored_chunks("a/", (10,), V2) == 9
    assert expansion.stored_chunks("b/", (10,), V2) == 0


KEYS = [f"a/{i}.{j}" for i in range(3) for j in range(3)]
VALUES = st.one_of(
    st.sampled_from(["text", "base64:QUJD", 5]),
    st.tuples(st.sampled_from(["u", "v", "{{nope}}"]), st.integers(0, 2**64), st.integers(0, 9)).map(list),
    st.just(["w"]),
)
EDITS = st.one_of(
    st.builds(SetReference, st.sampled_from(KEYS), VALUES),
    st.builds(RemoveReference, st.sampled_from(KEYS)),
    st.builds(RenameReference, st.sampled_from(KEYS), st.sampled_from(KEYS)),
)
RULES = st.lists(
    st.builds(
        lambda row, stop, url: rule(f"a/{row}.{{{{i}}}}", stop, url),
        st.integers(0, 2),
        st.integers(1, 4),
        st.just("r"),
    ),
    max_size=2,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(KEYS), VALUES), RULES, st.lists(EDITS, max_size=5))
def test_chunks_are_what_their_keys_are(refs: dict[str, Any], rules: list[Any], edits: list[Any]) -> None:
    document = document_of(refs, rules)
    for edit in edits:
        try:
            document = document.apply(edit)
        except RefbrowserError:
            continue
    check_chunks(document.expansion)
    check_chunks(ReferenceDocument.of(document.to_bytes()).expansion)


def check_chunks(expansion: Expansion) -> None:
    coords = np.array(list(np.ndindex(3, 4)))
    columns = expansion.chunk_columns("a/", coords, V2)
    kinds = expansion.chunk_kinds("a/", (3, 4), V2).ravel()
    assert kinds.tolist() == columns.kind.tolist()
    assert expansion.stored_chunks("a/", (3, 4), V2) == np.count_nonzero(kinds)
    for row, coord in enumerate(coords.tolist()):
        key = "a/" + V2.encode(tuple(coord))
        assert outcome(lambda row=row: columns.reference(row)) == outcome(
            lambda key=key: expansion.reference(key) or Missing()
        )


def outcome(ask: Callable[[], Any]) -> Any:
    """Return what was answered, or the kind of the error; a range beyond 64 bits cannot be read."""
    try:
        found = ask()
    except RefbrowserError as error:
        return error.kind
    beyond = isinstance(found, ByteRange) and found.offset + found.length >= 2**63
    return ErrorKind.RANGE if beyond else found


@pytest.mark.slow
def test_very_many_rules_give_chunks_of_one_array() -> None:
    count = 1100
    # Every second one is faulty, and all replace what was there before.
    rules = [rule(f"a/{number}", 1, "g" if number % 2 else "{{1 // 0}}") for number in range(count)]
    refs = {f"a/{count}": "text", "a/1": "replaced"}
    expansion = document_of(refs, rules).expansion
    coords = np.arange(count + 1, dtype=np.int64).reshape(-1, 1)
    columns = expansion.chunk_columns("a/", coords, V2)
    assert dict(columns.inline) == {count: b"text"}
    assert sorted(columns.faults) == list(range(0, count, 2))
    assert all(columns.faults[row].place.rule == row for row in columns.faults)


def test_metadata_keys_come_from_rules_too() -> None:
    meta = {"key": "v{{i}}/.zattrs", "url": "x", "dimensions": {"i": {"stop": 2}}}
    expansion = document_of(
        {"b/.zarray": "{}", "b/0": "x", ".zgroup": "{}", "c/zarr.json": "{}"}, [meta]
    ).expansion
    assert list(expansion.metadata_keys()) == [
        "b/.zarray",
        ".zgroup",
        "c/zarr.json",
        "v0/.zattrs",
        "v1/.zattrs",
    ]
    assert expansion.value("b/.zarray") == b"{}"
    assert expansion.value("v0/.zattrs") is None


def test_version_0_urls_are_not_rendered() -> None:
    expansion = ReferenceDocument.of(b'{"a": ["{{u}}", 1, 2], "b": ["{{"]}').expansion
    assert expansion.reference("a") == ByteRange("{{u}}", 1, 2)
    assert expansion.reference("b") == WholeFile("{{")


def test_keys_and_text_are_never_rendered() -> None:
    expansion = document_of({"{{u}}": "{{u}}"}, templates={"u": "x"}).expansion
    assert expansion.value("{{u}}") == b"{{u}}"


def test_values_given_by_the_user_are_used_and_not_saved() -> None:
    document = DOCUMENT.with_template_values({"u": "file", "nope": "n"})
    assert document.expansion.reference("a/4") == ByteRange("n", 1, 2)
    assert document.expansion.item(1)[1] == ByteRange("file/x", 5, 6)
    assert document.to_bytes() == DOCUMENT.to_bytes()
    edited = document.apply(SetReference("a/0", ["{{u}}/y"]))
    assert edited.expansion.item(1)[1] == WholeFile("file/y")
    assert b"file" not in edited.to_bytes()


# The whole expansion as text


def test_version_0_refuses_faults_before_the_first_byte() -> None:
    with pytest.raises(RefbrowserError) as caught:
        DOCUMENT.expansion.to_version0()
    assert caught.value.place.key in ("a/3", "a/4")
    text = b"".join(DOCUMENT.expansion.to_version0(skip_bad=True))
    assert json.loads(text) == {
        ".zgroup": '{"zarr_format": 2}',
        "a/0": ["second", 0, 10],
        "a/1": ["whole"],
        "a/2": ["second", 10, 10],
        "a/5": ["far", 2**63, 1],
        "a/6": ["g", 0, 10],
        "a/7": ["g", 10, 10],
        "a/8": ["g", 20, 10],
    }


def test_version_0_of_a_faulty_rule_is_refused_too() -> None:
    document = document_of({}, [rule("a/{{i}}", 3, "{{nope}}")])
    with pytest.raises(RefbrowserError):
        document.expansion.to_version0()
    assert json.loads(b"".join(document.expansion.to_version0(skip_bad=True))) == {}


def test_version_0_gives_each_key_once_with_its_last_value() -> None:
    text = b'{"version": 1, "refs": {"x": "1", "y": {"a":1}, "x": "2"}, "gen": ['
    text += json.dumps({**rule("{{i // 2}}", 4), "offset": "{{i}}"}).encode() + b"]}"
    found = b"".join(ReferenceDocument.of(text).expansion.to_version0())
    assert json.loads(found) == {"y": '{"a":1}', "x": "2", "0": ["g", 1, 10], "1": ["g", 3, 10]}
    assert found.count(b'"x"') == found.count(b'"0"') == 1


@pytest.mark.parametrize(
    "edit", [SetReference("b", 5), SetReference("a", -1), SetReference("a", ["{{nope}}"])]
)
def test_version_0_refuses_a_fault_that_an_edit_made(edit: Any) -> None:
    document = document_of({"a": "x"}).apply(edit)
    with pytest.raises(RefbrowserError):
        document.expansion.to_version0()


def test_a_huge_rule_costs_nothing() -> None:
    dimensions = {name: {"stop": 10**4} for name in "ijk"}
    huge = {
        "key": "a/{{i}}.{{j}}.{{k}}",
        "url": "u",
        "offset": "{{(i * 10000 + j) * 10000 + k}}",
        "length": "1",
    }
    document = document_of({"a/0.0.0": "x"}, [{**huge, "dimensions": dimensions}])
    expansion = document.expansion
    assert expansion.rows == 10**12 + 1
    assert expansion.find("a/9999.9999.9999") == 10**12
    assert expansion.items(10**12 - 50, 10**12).keys[-1] == "a/9999.9999.9998"
    coords = np.array([[0, 0, 0], [1, 2, 3]])
    assert expansion.chunk_columns("a/", coords, V2).reference(1) == ByteRange("u", 100020003, 1)
    assert expansion.stored_chunks("a/", (10**4,) * 3, V2) is None
