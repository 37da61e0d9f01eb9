"""Names of arrays, from what their members are called, and the paths that they are shown under."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.formats.format import Seen
from refbrowser.formats.registry import AWKWARD0
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import METADATA_NAMES
from refbrowser.wings.awkward0.reading.naming import array_paths, name_of_path, schema_name


@pytest.mark.parametrize(
    ("member", "prefix", "name", "base"),
    [
        (".json", "", "", ""),
        ("one.json", "one-", "one", ""),
        ("one.json", "one", "one", ""),
        ("one.json", "one/", "one", ""),
        ("a.b.json", "a.b-", "a.b", ""),
        ("one.schema", "one-", "one", ""),
        ("one-schema", "one-", "one", ""),
        ("one.schema.json", "one-", "one", ""),
        ("one_meta", "one::", "one", ""),
        ("schema", "", "", ""),
        # Not what `save` writes, and still what its listing shows.
        ("one.json", "", "one", ""),
        ("one.json", "other-", "one", ""),
        # Put into a folder before they were packed.
        ("sub/one.json", "one-", "sub/one", "sub/"),
        ("a/b/.json", "", "a/b", "a/b/"),
        ("a/b/c.json", "b/c-", "a/b/c", "a/"),
        # The delimiter or the name is a path.
        ("sub/one.json", "sub/one-", "sub/one", ""),
        ("group/schema.json", "group/", "group", ""),
        ("a/b/schema.json", "a/b/", "a/b", ""),
        ("x/a/schema.json", "a/", "x/a", "x/"),
        ("schema.json", "", "", ""),
    ],
)
def test_names_are_what_member_and_prefix_begin_with(member: str, prefix: str, name: str, base: str) -> None:
    found = schema_name(member, prefix)
    assert (found.array, found.base) == (name, base)


_NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=12)


@given(_NAMES, st.sampled_from(["-", "", "/", ".", "__", ":"]))
def test_every_name_is_found_with_each_delimiter(name: str, delimiter: str) -> None:
    found = schema_name(f"{name}.json", name + delimiter)
    assert (found.array, found.base) == (name, "")


@given(st.from_regex(r"\w{1,9}", fullmatch=True), st.sampled_from(["-", "/", ".", "::"]))
def test_plain_names_are_found_with_each_suffix(name: str, delimiter: str) -> None:
    for suffix in (".schema.json", ".meta", f"{delimiter}schema"):
        found = schema_name(name + suffix, name + delimiter)
        assert (found.array, found.base) == (name, "")


@given(_NAMES | st.text("/.%2F", min_size=1, max_size=6) | st.sampled_from(sorted(METADATA_NAMES)))
def test_every_name_becomes_a_path_that_keys_can_hold_and_comes_back(name: str) -> None:
    (path,) = array_paths([name])
    assert path.startswith("/")
    for part in path[1:].split("/"):
        assert part not in ("", ".", "..")
        assert part not in METADATA_NAMES
        assert part.isprintable() or not any(ord(each) < 32 for each in part)
    assert name_of_path(path) == name


@given(st.lists(st.text("ab/.%-2F", max_size=5), max_size=12))
def test_no_path_is_another_or_below_another(names: list[str]) -> None:
    paths = array_paths(names)
    assert len(set(paths)) == len(names)
    for path in paths:
        above = path.rpartition("/")[0]
        while above:
            assert above not in paths
            above = above.rpartition("/")[0]


def test_paths_of_usual_names_are_the_names() -> None:
    names = ["one", "two", "sub/three", "", "Jet_pt.x y", "\u00e4\u00f6\u4e2d"]
    assert array_paths(names) == [
        "/one",
        "/two",
        "/sub/three",
        "/array",
        "/Jet_pt.x y",
        "/\u00e4\u00f6\u4e2d",
    ]


def test_names_that_collide_get_numbers_and_those_of_buffers_are_told_apart() -> None:
    assert array_paths(["", "array", "array"]) == ["/array", "/array-2", "/array-3"]
    assert array_paths(["x", "x/node3-counts"]) == ["/x", "/x%2F%6Eode3-counts"]
    assert array_paths(["node3-counts"]) == ["/%6Eode3-counts"]


def test_names_that_are_too_long_are_cut() -> None:
    first, second = array_paths(["x" * LIMITS.key_length, "x" * LIMITS.key_length])
    assert first != second
    assert max(len(first), len(second)) < 300
    deep = array_paths(["/".join("abcdefghij" * 20)])[0]
    assert deep.count("/") == 1


def test_files_are_told_by_their_ending() -> None:
    for path, is_one in (
        ("a/b.awkd", True),
        ("b.awkd/", True),
        ("https://x.org/B.AWKD?x=y.zip", True),
        ("b.awkd.zip", False),
    ):
        assert Seen(path, None).ends(AWKWARD0.suffixes) is is_one
