"""Moving what URLs begin with: these change alone, by whatever text says them, or it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.document.history import History
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.references.edits.edits import SetReference
from refbrowser.references.edits.many_edits import RebaseUrls
from refbrowser.references.edits.url_moves import MoveUrls


def document(
    refs: dict[str, Any], templates: dict[str, str] | None = None, gen: list[Any] | None = None
) -> ReferenceDocument:
    """Return a document of Version 1 where there are templates or rules, else of Version 0."""
    if templates is None and gen is None:
        return ReferenceDocument.of(json.dumps(refs).encode())
    value = {"version": 1, "templates": templates or {}, "gen": gen or [], "refs": refs}
    return ReferenceDocument.of(json.dumps(value).encode())


def urls_of(found: ReferenceDocument) -> dict[str, str]:
    """Return the URL of each row of the expansion that has one."""
    rows = found.expansion.items(0, found.expansion.rows)
    return {
        f"{number} {key}": url
        for number, (key, url) in enumerate(zip(rows.keys, rows.urls, strict=True))
        if url is not None
    }


def moved(url: str, move: MoveUrls) -> str:
    """Return what a URL is after a move."""
    if url.startswith("zip://") and "::" in url:
        member, _, archive = url.partition("::")
        return f"{member}::{moved(archive, move)}"
    if move.is_whole:
        return move.new if url == move.old else url
    return move.new + url[len(move.old) :] if url.startswith(move.old) else url


def checked(before: ReferenceDocument, move: MoveUrls) -> ReferenceDocument:
    """Move, hold every URL against the law, undo, and return the document after the move."""
    history = History(before)
    after = history.apply(move)
    wanted = {key: moved(url, move) for key, url in urls_of(before).items()}
    assert {key: move.moved(url) for key, url in urls_of(before).items()} == wanted
    assert urls_of(after) == wanted  # type: ignore[arg-type]
    assert urls_of(ReferenceDocument.of(after.to_bytes())) == wanted
    assert history.undo().to_bytes() == before.to_bytes()
    return after  # type: ignore[return-value]


def outer(found: ReferenceDocument) -> dict[str, Any]:
    """Return the members of the text of a document."""
    value: dict[str, Any] = json.loads(found.to_bytes())
    return value


ONE = {"a/0": ["s3://b/x/one.nc", 0, 4], "a/1": ["s3://b/y/two.nc", 0, 4], "a/2": ["s3://bb/x.nc"]}


def test_urls_of_refs_move_and_others_stay() -> None:
    assert outer(checked(document(ONE), MoveUrls("s3://b/x/", "gs://c/"))) == {
        "a/0": ["gs://c/one.nc", 0, 4],
        "a/1": ["s3://b/y/two.nc", 0, 4],
        "a/2": ["s3://bb/x.nc"],
    }


def test_absolute_names_become_relative() -> None:
    refs = {"a/0": ["/data/run/one.nc", 0, 4], "a/1": ["/data/two.nc", 0, 4]}
    assert outer(checked(document(refs), MoveUrls("/data/run/", "")))["a/0"] == ["one.nc", 0, 4]


def test_the_template_alone_changes_where_all_that_use_it_move() -> None:
    refs = {"a/0": ["{{u}}/one.nc", 0, 4], "a/1": ["{{ u }}/two.nc", 0, 4]}
    found = checked(document(refs, {"u": "s3://b/x"}), MoveUrls("s3://b/", "s3://c/d/"))
    assert outer(found)["templates"] == {"u": "s3://c/d/x"}
    assert outer(found)["refs"] == refs


def test_a_template_without_the_slash_of_a_folder_changes_alone_too() -> None:
    refs = {"a/0": ["{{u}}/one.nc", 0, 4], "a/1": ["{{ u }}/two.nc", 0, 4]}
    unused = {"u": "s3://b/x", "s3": "s3://b/x", "other": "s3://b/x/y"}
    found = checked(document(refs, unused), MoveUrls("s3://b/x/", "/c/"))
    assert outer(found)["templates"] == {"u": "/c", "s3": "s3://b/x", "other": "/c/y"}
    assert outer(found)["refs"] == refs


def test_a_template_that_other_text_uses_stays() -> None:
    refs = {"a/0": ["{{u}}/one.nc", 0, 4], "a/1": ["https://proxy/{{u}}/two.nc", 0, 4]}
    found = checked(document(refs, {"u": "s3://b/x"}), MoveUrls("s3://b/", "s3://c/"))
    assert outer(found)["templates"] == {"u": "s3://b/x"}
    assert outer(found)["refs"]["a/0"] == ["s3://c/x/one.nc", 0, 4]


def test_what_stands_behind_keeps_its_templates() -> None:
    refs = {"a/0": ["{{u}}/sub/{{v}}.nc", 0, 4], "a/1": ["{{u}}/{{v}}.nc", 0, 4]}
    found = checked(document(refs, {"u": "s3://b", "v": "one"}), MoveUrls("s3://b/sub/", "gs://c/"))
    assert outer(found)["refs"] == {"a/0": ["gs://c/{{v}}.nc", 0, 4], "a/1": ["{{u}}/{{v}}.nc", 0, 4]}


def test_templates_that_are_called_and_rules_move() -> None:
    gen = [
        {
            "key": "a/{{i}}",
            "url": "{{f(n=i)}}",
            "offset": "0",
            "length": "4",
            "dimensions": {"i": {"stop": 900}},
        },
        {"key": "b/{{i}}", "url": "s3://b/other/{{i}}", "dimensions": {"i": {"stop": 3}}},
    ]
    templates = {"f": "s3://b/run/{{n}}.nc"}
    found = checked(document({}, templates, gen), MoveUrls("s3://b/run/", "/local/"))
    assert outer(found)["templates"] == {"f": "/local/{{n}}.nc"}
    assert outer(found)["gen"] == gen
    found = checked(document({}, templates, gen), MoveUrls("s3://b/", "s3://c/"))
    assert outer(found)["gen"][1]["url"] == "s3://c/other/{{i}}"


def test_a_prefix_becomes_a_template() -> None:
    gen = [{"key": "b/{{i}}", "url": "s3://b/x/{{i}}", "dimensions": {"i": {"stop": 3}}}]
    found = checked(document(ONE, {}, gen), MoveUrls("s3://b/x/", "s3://b/x/", "place"))
    assert outer(found)["templates"] == {"place": "s3://b/x/"}
    assert outer(found)["refs"]["a/0"][0] == "{{place}}one.nc"
    assert outer(found)["gen"][0]["url"] == "{{place}}{{i}}"
    found = checked(document({"a": ["{{u}}/y/z"]}, {"u": "s3://b/x"}), MoveUrls("s3://b/", "gs://c/", "p"))
    assert outer(found)["refs"] == {"a": ["{{p}}x/y/z"]}


def test_edited_entries_move_too() -> None:
    edited = document(ONE).apply(SetReference("a/0", ["s3://b/x/three.nc", 8, 4]))
    edited = edited.apply(SetReference("new", ["s3://b/x/four.nc"]))
    after = edited.apply(MoveUrls("s3://b/", "s3://c/"))
    assert [*urls_of(after).values()] == [  # type: ignore[arg-type]
        "s3://c/x/three.nc", "s3://c/y/two.nc", "s3://bb/x.nc", "s3://c/x/four.nc",
    ]  # fmt: skip


def test_values_that_the_user_gave_are_not_what_the_text_says() -> None:
    text = document({"a/0": ["{{u}}/one.nc", 0, 4]}, {"u": "s3://b"}).to_bytes()
    given_value = ReferenceDocument.of(text, values={"u": "/mine"})
    assert outer(given_value.apply(MoveUrls("s3://b", "s3://c")))["templates"] == {"u": "s3://c"}  # type: ignore[arg-type]


def test_the_place_of_a_store_moves_as_a_whole() -> None:
    builder = ManifestBuilder("/data/run.nc")
    builder.add_range("a/0", 10, 4)
    builder.add_range("a/1", 0, 4, "/data/other.nc")
    made = builder.document(name="run.nc")
    assert made.apply(MoveUrls("/data/run", "/else", is_whole=True)).urls.texts == made.urls.texts
    after = made.apply(MoveUrls("/data/", "/else/"))
    assert [*urls_of(after).values()] == ["/else/run.nc", "/else/other.nc"]  # type: ignore[arg-type]


def test_of_a_file_longer_names_stay() -> None:
    refs = {"a/0": ["{{u}}", 0, 4], "a/1": ["s3://b/x.nc.old", 0, 4], "a/2": ["s3://b/x.nc", 4, 4]}
    found = checked(document(refs, {"u": "s3://b/x.nc"}), MoveUrls("s3://b/x.nc", "/y.nc", is_whole=True))
    assert outer(found)["templates"] == {"u": "/y.nc"}
    assert [value[0] for value in outer(found)["refs"].values()] == ["{{u}}", "s3://b/x.nc.old", "/y.nc"]


def test_archives_move_and_members_keep_their_names() -> None:
    refs = {"a/0": ["zip://s3://b/m::s3://b/z.zip"], "a/1": ["zip://m::{{u}}/z.zip", 0, 4]}
    gen = [{"key": "g/{{i}}", "url": "zip://m{{i}}::{{u}}/z.zip", "dimensions": {"i": {"stop": 3}}}]
    found = checked(document(refs, {"u": "s3://b/x"}, gen), MoveUrls("s3://b/", "/data/"))
    assert outer(found)["templates"] == {"u": "/data/x"}
    assert outer(found)["gen"] == gen
    assert outer(found)["refs"]["a/0"] == ["zip://s3://b/m::/data/z.zip"]
    found = checked(document(refs, {"u": "s3://b/x"}, gen), MoveUrls("s3://b/x/z", "s3://c/y"))
    assert outer(found)["gen"][0]["url"] == "zip://m{{i}}::s3://c/y.zip"


@pytest.mark.parametrize(
    ("found", "move"),
    [
        (document(ONE), MoveUrls("", "s3://c/")),
        (document(ONE), MoveUrls("s3://b/", "s3://c/", "u")),
        (document(ONE, {}), MoveUrls("s3://b/", "s3://{{c}}/")),
        (document(ONE, {"u": "x"}), MoveUrls("s3://b/", "s3://c/", "u")),
        (document(ONE, {}), MoveUrls("s3://b/", "s3://c/", "not a name")),
        # No condition on the dimensions picks the rows: the sum of two does.
        (
            document(
                {},
                {},
                [{"key": "b/{{i}}.{{j}}", "url": "b{{i + j}}", "dimensions": {"i": [0, 1], "j": [0, 1]}}],
            ),
            MoveUrls("b1", "c1"),
        ),
        (
            document({}, {}, [{"key": "b/{{i}}", "url": "s3://b/{{i}}", "dimensions": {"i": {"stop": 3}}}]),
            MoveUrls("s3://b/", "s3://c/", "i"),
        ),
    ],
    ids=["empty", "version-0", "rendered", "taken", "no-name", "some-rows", "dimension"],
)
def test_what_cannot_be_said_is_refused(found: ReferenceDocument, move: MoveUrls) -> None:
    with pytest.raises(RefbrowserError) as raised:
        found.apply(move)
    assert raised.value.kind is ErrorKind.USAGE


FILES = {"f": {"stop": 8}, "t": {"stop": 3}}
#: The URL of a rule, templates, the file that moves and where to; and the URL that the rule has then.
ONE_OF_MANY = [
    ("d/o{{f}}.bin", {}, "d/o5.bin", "e/o5.bin", "{{ 'e' if f == 5 else 'd' }}/o{{f}}.bin"),
    ("o{{f}}.bin", {}, "o5.bin", "e/o5.bin", "{{ 'e/' if f == 5 else '' }}o{{f}}.bin"),
    ("{{u}}o{{f}}", {"u": "../d/"}, "../d/o5", "../d/e/o5", "{{u}}{{ 'e/' if f == 5 else '' }}o{{f}}"),
    ("{{u}}o{{f}}", {"u": "../d/"}, "../d/o5", "e/o5", "{{ 'e/' if f == 5 else u }}o{{f}}"),
    ("{{w(f=f)}}", {"w": "d/{{f}}.bin"}, "d/5.bin", "x.bin", "{{ 'x.bin' if f == 5 else w(f=f) }}"),
    ("d/{{f}}/{{u}}", {"u": "x"}, "d/5/x", "y/o", "{% if f == 5 %}y/o{% else %}d/{{f}}/{{u}}{% endif %}"),
    ("zip://m::d{{f}}", {}, "d5", "e", "{% if f == 5 %}zip://m::e{% else %}zip://m::d{{f}}{% endif %}"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "templates", "old", "new", "wanted"), ONE_OF_MANY)
def test_one_file_of_a_rule_moves(
    url: str, templates: dict[str, str], old: str, new: str, wanted: str
) -> None:
    rule = {"key": "a/{{f}}.{{t}}", "url": url, "offset": "{{t * 4}}", "length": "4", "dimensions": FILES}
    before = document({"b": ["other", 0, 4]}, templates, [rule])
    after = checked(before, MoveUrls(old, new, is_whole=True))
    assert outer(after)["gen"] == [rule | {"url": wanted}]
    assert outer(after)["templates"] == templates
    # A second one moves as well, and the first stays where it is.
    again = after.apply(MoveUrls(old.replace("5", "6"), "z", is_whole=True))
    found = [(url or "").rpartition("::")[2] for url in again.rules[0].rows(0, 24).urls]
    assert [found.count(each) for each in (old, new, "z")] == [0, 3, 3]


def test_some_files_of_a_rule_move_with_their_folder() -> None:
    folders = {"key": "b/{{i}}", "url": "s3://b{{i}}/x", "dimensions": {"i": {"stop": 5}}}
    found = checked(document({}, {}, [folders]), MoveUrls("s3://b1/", "s3://c/"))
    assert outer(found)["gen"][0]["url"] == "{% if i == 1 %}s3://c/x{% else %}s3://b{{i}}/x{% endif %}"
    named = folders | {"url": "{{d}}/x{{i}}", "dimensions": {"i": {"stop": 3}, "d": ["p", "q", "r"]}}
    named["key"] = "b/{{i}}.{{d}}"
    found = checked(document({}, {}, [named]), MoveUrls("q/", "z/"))
    assert outer(found)["gen"][0]["url"].endswith("if d == 'q' else d }}/x{{i}}")


@pytest.mark.parametrize(
    ("prefix", "url", "wanted"),
    [
        ("s3://b/x/", "../y/a.nc", "s3://b/y/a.nc"),
        ("gs://b/x/", "a.nc", "gs://b/x/a.nc"),
        ("https://h:8/x/", "y/a.nc", "https://h:8/x/y/a.nc"),
        ("file:///x/", "../a.nc", "file:///a.nc"),
        ("/x/", "../a.nc", "/a.nc"),
        ("s3://b/x/", "s3://c/a.nc", "s3://c/a.nc"),
    ],
)
def test_relative_names_begin_at_any_place(prefix: str, url: str, wanted: str) -> None:
    assert RebaseUrls(prefix).moved(url) == wanted
    found = document({"a": [url, 0, 1]}).apply(RebaseUrls(prefix))
    assert found.refs.table.urls == (wanted,)


# The law

NAMES = st.sampled_from(["a", "b", "ab", "x.nc", "é", "a b", "%41", "{", "}", "'"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
HEADS = st.sampled_from(["s3://b/", "s3://bb/", "/data/", "file:///data/", "", "https://h:8/"])
PLAIN = st.builds(str.__add__, HEADS, PATHS).filter(lambda url: "{{" not in url and not url.endswith("{"))
TEXTS = st.fixed_dictionaries({"u": PLAIN, "v": NAMES.filter(lambda name: "{" not in name), "f": PLAIN})
SPELLED = st.one_of(
    PLAIN,
    st.builds("{{{{u}}}}/{}".format, PATHS.filter(lambda path: "{" not in path)),
    st.sampled_from(["{{ u }}", "{{u}}/{{v}}/x", "s3://b/{{v}}/y", "{{f(n=1)}}/z", "p/{{u}}", "{{u ~ v}}",
                     "{{u|upper}}", "zip://m::{{u}}/z.zip",
                     "zip://{{u}}::s3://b/{{v}}", "{% set q = u %}{{q}}/x", "{{nothing}}/x", "{{'s3://b/'}}{{v}}"]),
)  # fmt: skip
RULE_URLS = st.sampled_from(
    ["{{u}}/{{i}}", "s3://b/{{v}}/{{i}}.nc", "{{f(n=i)}}", "s3://b/{{'%03d' % i}}", "s3://b/a", "{{v}}{{i}}",
     "zip://m{{i}}::{{u}}/z.zip"]
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None)
@given(
    texts=TEXTS,
    spelled=st.lists(SPELLED, min_size=1, max_size=5),
    rules=st.lists(RULE_URLS, max_size=2),
    cut=st.integers(0, 1000),
    which=st.integers(0, 1000),
    new=HEADS,
    template=st.sampled_from(["", "", "new"]),
    is_whole=st.booleans(),
)
@example({"u": "s3://b/{", "v": "a", "f": "s3://b/"}, ["{{u}}/a"], [], 7, 0, "/data/", "", False)
def test_only_what_begins_so_moves(
    texts: dict[str, str],
    spelled: list[str],
    rules: list[str],
    cut: int,
    which: int,
    new: str,
    template: str,
    is_whole: bool,
) -> None:
    texts = {**texts, "f": texts["f"] + "{{n}}"}
    gen = [
        {
            "key": f"r{number}/{{{{i}}}}",
            "url": url,
            "offset": "0",
            "length": "1",
            "dimensions": {"i": {"stop": 3}},
        }
        for number, url in enumerate(rules)
    ]
    before = document({f"a/{number}": [url, 0, 1] for number, url in enumerate(spelled)}, texts, gen)
    known = [url for url in urls_of(before).values() if url]
    assume(known)
    url = known[which % len(known)].rpartition("::")[2]
    assume(url)
    move = MoveUrls(url if is_whole else url[: 1 + cut % len(url)], new, template, is_whole)
    try:
        before.apply(move)
    except RefbrowserError as error:
        event("refused")
        if error.kind is not ErrorKind.USAGE:
            raise
        return
    after = checked(before, move)
    event("moved")
    if not template:
        assert set(outer(after)["templates"]) == set(texts)
