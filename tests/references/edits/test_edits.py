"""An edit changes what it says and nothing else: the texts before and after, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.document.document import Edit, ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.edits.edits import (
    AddTemplate,
    Compound,
    InsertRule,
    MoveRule,
    RemoveReference,
    RemoveRule,
    RemoveTemplate,
    RenameReference,
    RenameTemplate,
    ReplaceUrlPrefix,
    SetMetadata,
    SetReference,
    SetRule,
    SetTemplate,
)
from refbrowser.references.text.json_edit import rewrite
from refbrowser.references.text.json_text import parse

RULE = '{"key": "g{{i}}",  "url":"{{u}}", "note": 1.50, "dimensions": {"i": {"stop": 2e0}} }'
TEXT = (
    '{ "x": [1.0 , 2],\n "templates" : {"u":"s3:\\/\\/b",  "f" : "{{c}}"},\n'
    f' "gen": [\n  {RULE}\n ],\n'
    ' "refs": {\n  "a/0": ["{{u}}",  10,20 ],\n  "a\\/1": ["s3://b/y"], "t":"te\\u0078t"\n },'
    ' "version": 1 }\n'
)


def after(edit: Edit, text: str = TEXT) -> str:
    document = ReferenceDocument.of(text.encode())
    changed = document.apply(edit)
    assert document.to_bytes() == text.encode()
    return changed.to_bytes().decode()


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (SetTemplate("u", "s3://c"), '"s3:\\/\\/b"', '"s3://c"'),
        (AddTemplate("g", "x"), '"{{c}}"}', '"{{c}}",  "g" : "x"}'),
        (RemoveTemplate("u"), '"u":"s3:\\/\\/b",  "f"', '"f"'),
        (RemoveTemplate("f"), ',  "f" : "{{c}}"', ""),
        (RenameTemplate("u", "base"), '"u":"s3', '"base":"s3'),
        (SetReference("a/0", ["{{u}}", 11, 20]), " 10,20", " 11,20"),
        (SetReference("a/0", ["{{u}}", 10, 20]), "", ""),
        (SetReference("a/0", "text"), '["{{u}}",  10,20 ]', '"text"'),
        (SetReference("a/1", ["s3://b/z"]), '"s3://b/y"', '"s3://b/z"'),
        (SetReference("new", ["v", 1, 2]), 'te\\u0078t"', 'te\\u0078t", "new":["v",  1,2 ]'),
        (RemoveReference("a/0"), '"a/0": ["{{u}}",  10,20 ],\n  ', ""),
        (RemoveReference("t"), ', "t":"te\\u0078t"', ""),
        (RenameReference("a/1", "a/2"), '"a\\/1"', '"a/2"'),
        (SetRule(0, {**json.loads(RULE), "url": "v"}), '"{{u}}", "note"', '"v", "note"'),
        (RemoveRule(0), f"\n  {RULE}\n ", ""),
    ],
)  # fmt: skip
def test_only_what_was_edited_changes(edit: Edit, old: str, new: str) -> None:
    expected = TEXT.replace(old, new, 1) if old else TEXT
    assert old == new == "" or expected != TEXT
    assert after(edit) == expected


def test_a_rule_edited_is_still_a_rule_with_its_unknown_members() -> None:
    fields = json.loads(RULE)
    fields["dimensions"] = {"j": [1, 2], "i": {"stop": 3}}
    found = json.loads(after(SetRule(0, fields)))["gen"]
    assert found == [fields]
    assert list(found[0]["dimensions"]) == ["j", "i"]
    assert '"note": 1.50' in after(SetRule(0, fields))


def test_rules_are_added_and_moved() -> None:
    rule = {"key": "h{{i}}", "url": "x", "dimensions": {"i": {"stop": 1}}}
    text = after(InsertRule(1, rule))
    assert json.loads(text)["gen"][1] == rule
    assert RULE in text
    moved = after(MoveRule(1, 0), text)
    assert [fields["key"] for fields in json.loads(moved)["gen"]] == ["h{{i}}", "g{{i}}"]
    assert after(MoveRule(0, 1), moved) == text
    assert json.loads(after(InsertRule(0, rule), '{"version": 1}'))["gen"] == [rule]


def test_members_that_were_not_there() -> None:
    assert after(AddTemplate("u", "x"), '{"version": 1}') == '{"version": 1, "templates": {"u": "x"}}'
    text = after(SetReference("a", "x"), '{"version":1}')
    assert text == '{"version":1,"refs":{"a": "x"}}'
    assert (
        after(SetReference("a", "x"), '{\n "version": 1,\n "refs": {}\n}')
        == '{\n "version": 1,\n "refs": {"a": "x"}\n}'
    )


def test_removing_all_entries_and_adding_again() -> None:
    text = '{"version": 1, "refs": {"a": "x", "b": "y"}}'
    edits = (
        RemoveReference("a"),
        RemoveReference("b"),
        SetReference("c", "z"),
        SetReference("d", ["u", 1, 2]),
    )
    assert after(Compound("all", edits), text) == '{"version": 1, "refs": {"c": "z", "d": ["u", 1, 2]}}'
    assert after(Compound("none", edits[:2]), text) == '{"version": 1, "refs": {}}'


def test_version_0_is_edited_too() -> None:
    text = '{\n  "a": "x",\n  "b": ["u",\n 1, 2]\n}'
    assert after(SetReference("b", ["u", 1, 3]), text) == text.replace("1, 2", "1, 3")
    assert after(SetReference("c", "z"), text) == text.replace("2]", '2],\n  "c": "z"')
    with pytest.raises(RefbrowserError, match="Version 0"):
        after(AddTemplate("u", "x"), text)


@pytest.mark.parametrize(
    "edit",
    [
        SetTemplate("nope", "x"),
        AddTemplate("u", "x"),
        RemoveTemplate("nope"),
        RenameTemplate("u", "f"),
        RemoveReference("nope"),
        RenameReference("a/0", "t"),
        RenameReference("nope", "x"),
        SetRule(1, {}),
        RemoveRule(-1),
        MoveRule(0, 1),
        InsertRule(2, {}),
        ReplaceUrlPrefix("", "x"),
        SetReference("a/0", {1, 2}),
    ],
)
def test_edits_that_cannot_be_made_change_nothing(edit: Edit) -> None:
    history = History(ReferenceDocument.of(TEXT.encode()))
    with pytest.raises(RefbrowserError) as caught:
        history.apply(edit)
    assert caught.value.kind is ErrorKind.USAGE
    assert not history.can_undo
    assert not history.is_dirty


def test_duplicates_are_removed_and_renamed_together() -> None:
    text = '{"version": 1, "refs": {"a": "1", "b": "2", "a": "3"}}'
    assert after(RemoveReference("a"), text) == '{"version": 1, "refs": {"b": "2"}}'
    assert after(RenameReference("a", "c"), text) == text.replace('"a"', '"c"')
    assert after(SetReference("a", "4"), text) == text.replace('"3"', '"4"')


def test_a_prefix_is_replaced_wherever_urls_begin_with_it() -> None:
    text = (
        '{"version": 1, "templates": {"u": "s3://b/t"}, "gen": [{"key": "g{{i}}", "url": "s3://b/{{i}}"}], '
        '"refs": {"a/0": ["s3:\\/\\/b/x", 1.0e0], "a/1": ["s3://b/x", 1, 2], "a/2": [ "s3://b/y" ], '
        '"a/3": ["x", 1, 2], "a/4": ["s3://b/z", 99999999999999999999, 1], "t": "s3://b/text"}}'
    )
    expected = (
        '{"version": 1, "templates": {"u": "http://h/t"}, '
        '"gen": [{"key": "g{{i}}", "url": "http://h/{{i}}"}], '
        '"refs": {"a/0": ["s3:\\/\\/b/x", 1.0e0], "a/1": ["http://h/x", 1, 2], "a/2": [ "http://h/y" ], '
        '"a/3": ["x", 1, 2], "a/4": ["http://h/z", 99999999999999999999, 1], "t": "s3://b/text"}}'
    )
    assert after(ReplaceUrlPrefix("s3://b/", "http://h/"), text) == expected
    chosen = after(ReplaceUrlPrefix("s3://b/", "http://h/", ["a/2", "a/4", "nope"]), text)
    assert chosen == text.replace("s3://b/y", "http://h/y").replace("s3://b/z", "http://h/z")


def test_urls_change_between_escapes_and_other_alphabets() -> None:
    for key, url, more in (
        ('q\\"/0', "s3:\\/\\/b\\/x", '\\"y\\\\'), ("a/0", "s3://b/", "\\u00fc"), ("ü/0", "s3://b/", "ü"),
        ("a\\\\/0", "s3://b/x", '\\\\\\"'),
    ):  # fmt: skip
        one = '"a/1": ["s3://b/z", 1, 2]'
        refs = f'{one}, "{key}" :  [ "{url}{more}" , 1, 2], "t": "{more}", {one.replace("1", "2", 1)}'
        text = f'{{"version": 1, "refs": {{{refs}}}}}'
        changed = json.loads(after(ReplaceUrlPrefix("s3://b/", 'ö"'), text))["refs"]
        expected = {
            name: ['ö"' + value[0].removeprefix("s3://b/"), *value[1:]] if name != "t" else value
            for name, value in json.loads(text)["refs"].items()
        }
        assert changed == expected
        assert ('"ö' in after(ReplaceUrlPrefix("s3://b/", "ö"), text)) == ("ü" in url + more)


@pytest.mark.slow
def test_a_prefix_is_a_rule_over_the_urls_not_an_object_per_entry() -> None:
    refs = {f"a/{row}": [f"s3://b/{row % 7}", row, 1] for row in range(20_000)}
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    changed = document.apply(ReplaceUrlPrefix("s3://b/", "http://h/"))
    assert not changed.refs.replaced
    assert changed.refs.table.offset is document.refs.table.offset
    expected = {key: [url.replace("s3://b/", "http://h/"), *rest] for key, (url, *rest) in refs.items()}  # type: ignore[attr-defined]
    assert json.loads(changed.to_bytes())["refs"] == expected
    assert changed.expansion.item(8) == ReferenceDocument.of(changed.to_bytes()).expansion.item(8)
    some = document.apply(
        ReplaceUrlPrefix("s3://b/", "http://h/", [f"a/{row}" for row in range(0, 20_000, 3)])
    )
    assert not some.refs.replaced
    found = json.loads(some.to_bytes())["refs"]
    assert all((found[f"a/{row}"][0].startswith("http")) == (row % 3 == 0) for row in range(20_000))


def test_metadata_changes_in_both_places_in_one_step() -> None:
    consolidated = (
        '{"metadata": {"a/.zattrs": {"units":"m",  "n": 1.50}, ".zgroup": {}}, "zarr_consolidated_format": 1}'
    )
    refs = {".zmetadata": consolidated, "a/.zattrs": '{ "units" : "m", "n": 1.50}', ".zgroup": "{}"}
    history = History(ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode()))
    document = history.apply(SetMetadata("a/.zattrs", {"units": "km", "n": 1.5}))
    assert document.expansion.value("a/.zattrs") == b'{ "units" : "km", "n": 1.50}'
    assert document.expansion.value(".zmetadata") == consolidated.replace('"m"', '"km"').encode()
    assert not document.findings
    history.undo()
    assert not history.can_undo
    whole = json.loads(consolidated)
    whole["metadata"]["a/.zattrs"]["units"] = "mm"
    document = history.apply(SetMetadata(".zmetadata", whole))
    assert document.expansion.value("a/.zattrs") == b'{ "units" : "mm", "n": 1.50}'
    assert not document.findings


def test_metadata_of_a_group_below_is_in_the_consolidated_document_above() -> None:
    refs = {
        "g/.zmetadata": '{"metadata": {"a/.zattrs": {"units": "m"}}}',
        "g/a/.zattrs": {"units": "m"},
        "base/.zattrs": "base64:e30=",
    }
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    changed = document.apply(SetMetadata("g/a/.zattrs", {"units": "km"}))
    found = json.loads(changed.to_bytes())["refs"]
    assert found["g/a/.zattrs"] == {"units": "km"}
    assert json.loads(found["g/.zmetadata"]) == {"metadata": {"a/.zattrs": {"units": "km"}}}
    assert (
        json.loads(document.apply(SetMetadata("base/.zattrs", {"a": 1})).to_bytes())["refs"]["base/.zattrs"]
        == '{"a": 1}'
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("aé\n", max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.slow
@given(
    JSON,
    JSON,
    st.sampled_from([{}, {"indent": 2}, {"separators": (" ,", " : ")}, {"separators": (",", ":")}]),
)
def test_rewritten_text_is_the_new_value(old: Any, new: Any, style: Any) -> None:
    data = json.dumps(old, **style).encode()
    text = rewrite(data, parse(data), new)
    found = json.loads(text)
    assert json.dumps(found) == json.dumps(new)
    assert rewrite(data, parse(data), old) == data


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9), min_size=1), st.data())
def test_other_members_keep_their_text(value: dict[str, int], data: st.DataObject) -> None:
    text = (
        "{"
        + ",".join(
            f'{data.draw(SPACE)}"{key}"{data.draw(SPACE)}:{data.draw(SPACE)}{number}{data.draw(SPACE)}'
            for key, number in value.items()
        )
        + "}"
    )
    key = data.draw(st.sampled_from(sorted(value)))
    raw = text.encode()
    node = parse(raw)
    found = node.member(key)
    assert found is not None
    expected = raw[: found.start] + b"77" + raw[found.stop :]
    assert rewrite(raw, node, {**value, key: 77}) == expected


@pytest.mark.parametrize(
    "text", [b'{"a":1,"b":1}', b'{"a":1, "b":1}', b'{\n"a":1,\n"b":1\n}', b'{"a":1,"b":1,"c":1}']
)
def test_members_that_change_places_are_spaced_as_before(text: bytes) -> None:
    value = json.loads(text)
    expected = text.replace(b"a", b"x").replace(b"b", b"a").replace(b"x", b"b")
    assert rewrite(text, parse(text), {"b": 1, "a": 1, **value}) == expected


SPACE = st.sampled_from(["", " ", "\n ", "\t"])
