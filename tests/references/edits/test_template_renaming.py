"""Renaming a template with its uses, and nothing else that looks like them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.document.journal import edit_from_json, edit_to_json
from refbrowser.references.edits.many_edits import RenameTemplateAndUses
from refbrowser.references.templates.syntax import can_be_named, names_in, renamed_in, uses_in

RENAME = RenameTemplateAndUses("u", "base")


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("{{u}}", "{{base}}"),
        ("u/{{ u }}/u", "u/{{ base }}/u"),
        ("{{ 'u' ~ u ~ \"u\" }}", "{{ 'u' ~ base ~ \"u\" }}"),
        ("{{ f(u=u, c=u) }}", "{{ f(u=base, c=base) }}"),
        ("{{ f(u = 1) }}", "{{ f(u = 1) }}"),
        ("{{ u == 1 }}", "{{ base == 1 }}"),
        ("{{ u(x=1) }}", "{{ base(x=1) }}"),
        ("{{ uu ~ u1 ~ _u }}", "{{ uu ~ u1 ~ _u }}"),
        ("{# u #}{{ u }}", "{# u #}{{ base }}"),
        ("{% raw %}{{ u }}{% endraw %}{{ u }}", "{% raw %}{{ u }}{% endraw %}{{ base }}"),
        ("{% if u %}a{% else %}{{ u }}{% endif %}", "{% if base %}a{% else %}{{ base }}{% endif %}"),
        ("{{ x|u }}", "{{ x|u }}"),
        ("{{ x.u }}", "{{ x.u }}"),
        ("{{ u", "{{ base"),
        ("u", "u"),
        ("{ u }", "{ u }"),
        ("é{{u}}", "é{{base}}"),
    ],
)
def test_only_uses_are_renamed(text: str, renamed: str) -> None:
    assert renamed_in(text, "u", "base") == renamed


def test_a_name_that_the_text_sets_is_not_the_template_any_more() -> None:
    text = "{{ u }}{% set u = u ~ 'x' %}{{ u }}"
    assert renamed_in(text, "u", "base") == "{{ base }}{% set u = base ~ 'x' %}{{ u }}"


def test_calls_alone() -> None:
    assert renamed_in("{{ u(x=u) }}", "u", "base", only_calls=True) == "{{ base(x=u) }}"
    assert len(uses_in("{{ u(x=u) }}", "u")) == 2


def test_names_that_a_dimension_hides() -> None:
    assert names_in("{{u}}{{f(a=t)}}", {"t"}) == {"u", "f"}
    assert names_in("{{u}}", {"u"}) == frozenset()
    assert names_in("{{u") == frozenset()


@pytest.mark.parametrize(
    ("name", "fine"), [("u", True), ("a_1", True), ("if", False), ("1a", False), ("é", False)]
)
def test_what_a_template_can_be_called(name: str, fine: bool) -> None:
    assert can_be_named(name) is fine


def document(**members: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "templates": {"u": "era5", "f": "{{u}}/{{c}}"},
        "gen": [
            {
                "key": "u/{{t}}",
                "url": "{{u}}/{{f(u=u, c='u')}}",
                "offset": "{{ t }}",
                "length": "1",
                "dimensions": {"t": {"stop": 2}},
            },
        ],
        "refs": {"a": ["http://{{u}}/u", 10, 2], "b": "{{u}}", "c": ["s3://u"]},
        **members,
    }


def test_one_step_renames_all_and_undo_gives_the_bytes_back() -> None:
    text = json.dumps(document(), indent=1).replace("  10,", "\t10 ,").encode()
    history = History(ReferenceDocument.of(text))
    changed = history.apply(RENAME)
    expected = text.decode()
    for old, new in (
        ('"u": "era5"', '"base": "era5"'),
        ("{{u}}/{{f(u=u, c='u')}}", "{{base}}/{{f(u=base, c='u')}}"),
        ("http://{{u}}/u", "http://{{base}}/u"),
    ):
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert changed.to_bytes().decode() == expected
    assert len(history.entries) == 1
    assert history.undo().to_bytes() == text


def test_rows_mean_the_same() -> None:
    before = ReferenceDocument.of(json.dumps(document()).encode())
    after = before.apply(RENAME)
    assert b"".join(before.expansion.to_version0()) == b"".join(after.expansion.to_version0())


def test_a_dimension_of_the_same_name_is_no_use() -> None:
    rule = {"key": "x/{{u}}", "url": "{{u}}{{ u(c=1) }}", "dimensions": {"u": {"stop": 2}}}
    changed = ReferenceDocument.of(json.dumps(document(gen=[rule])).encode()).apply(RENAME)
    assert json.loads(changed.to_bytes())["gen"] == [{**rule, "url": "{{u}}{{ base(c=1) }}"}]


def test_entries_that_were_edited_are_renamed_too() -> None:
    from refbrowser.references.edits.edits import SetReference

    history = History(ReferenceDocument.of(json.dumps(document()).encode()))
    history.apply(SetReference("c", ["s3://{{u}}"]))
    history.apply(SetReference("new", ["{{u}}/n", 0, 1]))
    refs = json.loads(history.apply(RENAME).to_bytes())["refs"]
    assert refs["c"] == ["s3://{{base}}"]
    assert refs["new"] == ["{{base}}/n", 0, 1]


def test_a_dimension_that_would_hide_the_new_name_is_refused() -> None:
    with pytest.raises(RefbrowserError, match="dimension"):
        ReferenceDocument.of(json.dumps(document()).encode()).apply(RenameTemplateAndUses("u", "t"))


@pytest.mark.parametrize("name", ["f", "if", "a-b", ""])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(RefbrowserError):
        ReferenceDocument.of(json.dumps(document()).encode()).apply(RenameTemplateAndUses("u", name))


def test_the_journal_keeps_it() -> None:
    assert edit_from_json(json.loads(json.dumps(edit_to_json(RENAME)))) == RENAME
