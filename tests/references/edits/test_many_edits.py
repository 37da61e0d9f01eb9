"""Edits of many references in one step: which change, which stay, and what undoing gives back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from refbrowser.errors import RefbrowserError
from refbrowser.references.content.url_prefixes import PrefixScope, ScopeKind
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.references.edits.many_edits import (
    MOST_COPIES,
    CopyReferences,
    RemoveReferences,
    ReplacePrefixIn,
    copy_key,
    runs_of,
)

RULE = {"url": "s3://b/r.nc", "offset": "{{i}}", "length": "1", "dimensions": {"i": {"stop": 2}}}
DOCUMENT: dict[str, Any] = {
    "version": 1,
    "templates": {"u": "s3://b/x", "v": "http://h"},
    "gen": [{"key": "a/r.{{i}}", **RULE}, {"key": "q/{{i}}.0", **RULE}],
    "refs": {
        ".zgroup": '{"zarr_format": 2}',
        "a/.zarray": "{}",
        "a/0.0": ["s3://b/0.nc", 0, 10],
        "a/0.1": ["s3://b/0.nc", 10, 10],
        "a/b/0": ["s3://b/1.nc", 10, 10],
        "ab/0": ["s3://b/2.nc"],
        "2020/5/0/1": ["s3://b/3.nc", 99999999999999999999, 1],
        "2020/6/0/1": ["s3://b/3.nc", 1, 1],
        "odd": ["s3://b/4.nc", 1, 1],
    },
}


def read(value: Any = DOCUMENT) -> ReferenceDocument:
    return ReferenceDocument.of(json.dumps(value, indent=1).encode())


def changed_keys(scope: PrefixScope, document: ReferenceDocument | None = None) -> set[str]:
    """Return what a replacement changes, and see that undo gives the bytes back."""
    before = document or read()
    history = History(before)
    after = history.apply(ReplacePrefixIn("s3://b/", "http://new/", scope))
    old, new = (json.loads(state.to_bytes()) for state in (before, after))
    found = {key for key in old["refs"] if old["refs"][key] != new["refs"][key]}
    found |= {
        f"template {name}" for name in old["templates"] if old["templates"][name] != new["templates"][name]
    }
    found |= {f"rule {n}" for n, rule in enumerate(old["gen"]) if rule != new["gen"][n]}
    assert history.undo().to_bytes() == before.to_bytes()
    text = json.dumps(new)
    assert text.count("http://new/") == len(found)
    return found


def test_each_scope_changes_what_belongs_to_it() -> None:
    refs = {key for key, value in DOCUMENT["refs"].items() if isinstance(value, list)}
    assert changed_keys(PrefixScope()) == refs | {"template u", "rule 0", "rule 1"}
    assert changed_keys(PrefixScope(ScopeKind.PATTERN, "a/0*")) == {"a/0.0", "a/0.1"}
    assert changed_keys(PrefixScope(ScopeKind.UNDER, "/a")) == {"a/0.0", "a/0.1", "a/b/0", "rule 0"}
    assert changed_keys(PrefixScope(ScopeKind.UNDER, "/2020/6")) == {"2020/6/0/1"}
    assert changed_keys(PrefixScope(ScopeKind.UNDER, "/2020/5")) == {"2020/5/0/1"}
    assert changed_keys(PrefixScope(ScopeKind.UNDER, "/")) == refs | {"rule 0", "rule 1"}
    assert changed_keys(PrefixScope(ScopeKind.TEMPLATE, "u")) == {"template u"}
    assert changed_keys(PrefixScope(ScopeKind.RULE, number=1)) == {"rule 1"}
    assert changed_keys(PrefixScope(ScopeKind.ENTRIES, runs=((2, 3), (8, 9)))) == {"a/0.0", "odd"}


def test_entries_that_were_edited_belong_where_they_stand_now() -> None:
    document = read().apply(RemoveReference("a/0.0")).apply(SetReference("a/9.9", ["s3://b/n.nc", 0, 1]))
    document = document.apply(SetReference("odd", ["s3://b/o.nc", 0, 2]))
    assert changed_keys(PrefixScope(ScopeKind.UNDER, "a"), document) == {"a/0.1", "a/b/0", "a/9.9", "rule 0"}
    last = len(document.refs) - 1
    assert changed_keys(PrefixScope(ScopeKind.ENTRIES, runs=((last, last + 1),)), document) == {"a/9.9"}
    assert changed_keys(PrefixScope(ScopeKind.PATTERN, "od?"), document) == {"odd"}


def test_a_replacement_without_effect_is_no_step() -> None:
    history = History(read())
    history.apply(ReplacePrefixIn("nothing", "x", PrefixScope()))
    assert not history.can_undo
    with pytest.raises(RefbrowserError):
        history.apply(ReplacePrefixIn("", "x", PrefixScope()))


def test_version_0_has_references_alone() -> None:
    document = read({"a/0": ["s3://b/0"], "b/0": ["s3://b/1"]})
    changed = document.apply(ReplacePrefixIn("s3://", "gs://", PrefixScope(ScopeKind.UNDER, "/b")))
    assert json.loads(changed.to_bytes()) == {"a/0": ["s3://b/0"], "b/0": ["gs://b/1"]}


def test_many_keys_are_removed_in_one_step() -> None:
    history = History(read())
    before = history.document.to_bytes()
    edit = RemoveReferences(((2, 4), (8, 9)))
    assert edit.title == "Remove 3 references"
    keys = set(json.loads(history.apply(edit).to_bytes())["refs"])
    assert keys == set(DOCUMENT["refs"]) - {"a/0.0", "a/0.1", "odd"}
    assert len(history.entries) == 1
    assert history.undo().to_bytes() == before


def test_a_key_that_is_there_twice_goes_whole() -> None:
    document = ReferenceDocument.of(b'{"a/0": ["x"], "b": "t", "a/0": ["y"], "c": "u"}')
    assert document.apply(RemoveReferences(((2, 3),))).to_bytes() == b'{"b": "t", "c": "u"}'


@pytest.mark.parametrize("runs", [(), ((0, 0),), ((3, 2),), ((0, 10),), ((-1, 2),)])
def test_positions_that_are_not_there_are_refused(runs: Any) -> None:
    with pytest.raises(RefbrowserError):
        read().apply(RemoveReferences(runs))


def test_copies_keep_the_spelling_of_their_values() -> None:
    document = ReferenceDocument.of(b'{"a/0": ["x",  1.0, 2], "b": "t"}')
    changed = document.apply(CopyReferences((("a/0", "a/1"), ("b", "b copy"))))
    assert changed.to_bytes() == b'{"a/0": ["x",  1.0, 2], "b": "t", "a/1": ["x",  1.0, 2], "b copy": "t"}'
    assert CopyReferences((("a/0", "a/1"),)).title == "Duplicate a/0"


def test_copies_do_not_hide_what_is_there() -> None:
    for pairs in ((("nope", "x"),), (("odd", "ab/0"),), (("odd", "n"), ("ab/0", "n"))):
        with pytest.raises(RefbrowserError):
            read().apply(CopyReferences(pairs))
    with pytest.raises(RefbrowserError, match="at once"):
        read().apply(CopyReferences((("odd", "n"),) * (MOST_COPIES + 1)))


def test_the_key_of_a_copy_is_free() -> None:
    refs = read().apply(SetReference("odd copy", ["x"])).refs
    assert copy_key("odd", set(), refs) == "odd copy 2"
    assert copy_key("odd", {"odd copy 2"}, refs) == "odd copy 3"
    assert copy_key("a/0.0", set(), refs) == "a/0.0 copy"


def test_positions_become_runs() -> None:
    assert runs_of(np.array([1, 2, 3, 7, 9, 10])) == ((1, 4), (7, 8), (9, 11))
    assert runs_of(np.array([], np.int64)) == ()


@pytest.mark.slow
def test_a_million_references_take_no_time_to_speak_of() -> None:
    rows = ", ".join(f'"a/{n}": ["s3://b/f{n % 7}", {n}, 5]' for n in range(200_000))
    document = ReferenceDocument.of(f'{{".zgroup": "{{}}", {rows}}}'.encode())
    edit = ReplacePrefixIn("s3://b/", "h://", PrefixScope(ScopeKind.ENTRIES, runs=((1, 100_001),)))
    changed = document.apply(edit)
    assert not changed.refs.replaced
    assert [value[0] for value in list(json.loads(changed.to_bytes()).values())[100_000:100_002]] == [
        "h://f4",
        "s3://b/f5",
    ]
