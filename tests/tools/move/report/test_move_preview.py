"""What a move would do: counts, texts, examples, warnings and refusals; no file is looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refbrowser.engine.sources import listed_sources_of
from refbrowser.io.access.access import Access
from refbrowser.io.origins import Origin
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.many_edits import RebaseUrls
from refbrowser.references.edits.url_moves import MoveUrls
from refbrowser.tools.move.report.move_preview import MovePreview, move_preview, spread, summary_of
from refbrowser.tools.move.report.prefix_tree import PrefixKind, node_at, prefix_tree

RULE = {"key": "b/{{i}}", "url": "s3://b/run/{{i}}.nc", "offset": "0", "length": "4"}
VALUE = {
    "version": 1,
    "templates": {"u": "s3://b/run"},
    "gen": [RULE | {"dimensions": {"i": {"stop": 30}}}],
    "refs": {
        "a/0": ["{{u}}/x.nc", 0, 4], "a/1": ["s3://b/run/y.nc", 0, 4], "a/2": ["s3://b/run/y.nc", 4, 4],
        "c/0": ["gs://c/x.nc", 0, 4], "d/0": ["near.nc", 0, 4],
    },
}  # fmt: skip


def previewed(
    prefix: str, new: str, template: str = "", value: dict[str, Any] = VALUE, access: Access | None = None
) -> MovePreview:
    document = ReferenceDocument.of(json.dumps(value).encode())
    roots = prefix_tree(listed_sources_of(document))  # type: ignore[arg-type]
    node = node_at(roots, prefix)
    assert node is not None
    access = access or Access.for_document("/docs/doc.json", [Origin("gs", "c"), Origin("s3", "d")])
    return move_preview(document, access, roots, node, new, template)  # type: ignore[arg-type]


def test_all_that_moves_is_counted_and_shown() -> None:
    found = previewed("s3://b/run/", "s3://d/")
    assert (found.files, found.references) == (32, 33)
    assert found.edit == MoveUrls("s3://b/run/", "s3://d/")
    assert [(text.name, text.before, text.after) for text in found.texts] == [
        ("template u", "s3://b/run", "s3://d"),
        ("gen rule 0", "s3://b/run/{{i}}.nc", "s3://d/{{i}}.nc"),
    ]
    assert summary_of(found) == (
        "32 files, 33 references; 1 template, 1 gen rule and 1 URL in refs are rewritten"
    )
    assert found.examples[0] == ("s3://b/run/0.nc", "s3://d/0.nc")
    assert found.examples[-1] == ("s3://b/run/y.nc", "s3://d/y.nc")
    assert (found.wants, found.warnings, found.refusal) == ((), (), "")
    assert found.after is not None
    assert found.after.urls.texts[0] == "s3://d/x.nc"


def test_the_place_as_it_is_changes_nothing() -> None:
    assert previewed("s3://b/run/", "s3://b/run/") == MovePreview()
    # Unless it becomes a template.
    found = previewed("s3://b/run/", "s3://b/run/", "t")
    assert found.texts[0].name == "template t"
    assert (found.templates, found.rules, found.entries) == (1, 1, 2)


@pytest.mark.parametrize(
    ("prefix", "new", "warning"),
    [
        ("s3://b/run/", "s3://d/x", "It does not end in /: the rest of a name follows directly, as in s3://d/x0.nc"),
        ("s3://b/run/", "gs://c/", "1 file comes to a place that the document uses already: two become one"),
        ("s3://b/run/", "ftp://h/", "cannot be read: "),
        ("s3://b/run/", "s3://other/", "Reading there needs your permission: s3://other"),
        ("s3://b/run/", "/data/", "Reading there needs your permission: /data"),
        (".", "https://h/d", "Reading there needs your permission: https://h"),
    ],
)  # fmt: skip
def test_what_should_be_looked_at_is_told(prefix: str, new: str, warning: str) -> None:
    found = previewed(prefix, new)
    assert [warning in each.message for each in found.warnings] == [True]
    assert found.edit is not None
    assert bool(found.wants) is ("permission" in warning)


def test_a_document_of_the_network_may_not_name_local_files() -> None:
    access = Access.for_document("https://h/doc.json")
    found = previewed("s3://b/run/", "/data/", access=access)
    assert "a document from the network may not refer to local files" in found.warnings[0].message


def test_what_is_moved_to_where_it_is_in_part_is_no_other_place() -> None:
    refs = {"a": ["s3://b/x", 0, 1], "b": ["s3://b/d/x", 0, 1]}
    assert previewed("s3://b/", "s3://b/d/", value={"version": 1, "refs": refs}).warnings[1:] == ()


def test_relative_names_begin_at_another_folder() -> None:
    found = previewed(".", "../else")
    assert found.edit == RebaseUrls("../else/")
    assert found.examples == (("near.nc", "../else/near.nc"),)
    assert "relative to the document" in previewed(".", "../else", "t").refusal


def test_refusals_are_sentences() -> None:
    found = previewed("s3://b/run/", "s3://{{x}}/")
    assert found.refusal == "'s3://{{x}}/' holds text that a template would render"
    assert (found.edit, found.after, found.files) == (None, None, 32)
    assert previewed("s3://b/run/", "gs://x/", "u").refusal == "A template 'u' exists already"


def test_one_of_the_files_that_a_rule_makes_moves() -> None:
    found = previewed("s3://b/run/3.nc", "gs://x/3.nc")
    assert (found.refusal, found.files) == ("", 1)


def test_files_are_nodes_of_their_own_and_examples_are_spread() -> None:
    refs = {f"a/{n}": [f"s3://b/{n:03d}", 0, 1] for n in range(100)} | {"b": ["s3://b/0001", 0, 1]}
    document = ReferenceDocument.of(json.dumps({"version": 1, "refs": refs}).encode())
    roots = prefix_tree(listed_sources_of(document))  # type: ignore[arg-type]
    assert previewed("s3://b/000", "x", value={"version": 1, "refs": refs}).files == 1
    assert previewed("s3://b/000", "x", value={"version": 1, "refs": refs}).entries == 1
    assert spread(roots[0], 3) == ["s3://b/000", "s3://b/049", "s3://b/099"]
    some = node_at(roots, "s3://b/00")
    assert some is not None
    assert (some.kind, some.files) == (PrefixKind.FOLDER, 11)
    assert node_at(roots, "") is None


def test_rules_of_too_many_urls_are_one_place() -> None:
    value = VALUE | {"refs": {}, "gen": [RULE | {"dimensions": {"i": {"stop": 10**6}}}]}
    found = previewed("s3://b/run/", "s3://d/", value=value)
    assert (found.files, found.references) == (1, 10**6)
    assert found.examples == (("s3://b/run/", "s3://d/"),)
