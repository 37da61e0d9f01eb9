"""Names and keys of the draft of 2019."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.zarr_draft.reading.draft_keys import (
    SCHEME_2019,
    DraftKey,
    NodeKind,
    case_clashes,
    is_key,
    is_name,
    joined,
    parts_of,
    scheme_2020,
    spellings_2019,
    spellings_2020,
)

NAMES = st.text("abzAZ059-_.", min_size=1, max_size=12).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, max_size=4).map(joined)
SCHEMES = st.sampled_from([SCHEME_2019, scheme_2020(".json"), scheme_2020(""), scheme_2020(None)])
KINDS = st.sampled_from([NodeKind.ARRAY, NodeKind.GROUP])


@pytest.mark.parametrize("name", ["a", "A-1_b.c", ".a", "a.", "..a", "0", "x.array.json", "n" * 255, "-"])
def test_names(name):
    assert is_name(name)
    assert parts_of(f"/{name}") == (name,)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "...", "n" * 256, "a b", "ä", "a\\b", "a\n", "a:b", "a%b", "٣", "a\0"]
)
def test_what_is_no_name(name):
    assert not is_name(name)
    with pytest.raises(RefbrowserError) as caught:
        parts_of(f"/ok/{name}")
    assert caught.value.kind is ErrorKind.USAGE


@pytest.mark.parametrize("key", ["../x", "a/../b", "a//b", "/a", "a/", "", ".", "a/.", "a\\b", "a b", "é"])
def test_what_is_no_key(key):
    assert not is_key(key)


def test_names_that_differ_in_case_only():
    assert case_clashes(["foo", "bar", "FOO", "Foo", "baz"]) == [("foo", "FOO"), ("foo", "Foo")]
    assert case_clashes(["a", "b"]) == []


@pytest.mark.parametrize(
    ("path", "kind", "key"),
    [
        ("/foo/bar", NodeKind.GROUP, "meta/foo/bar.group.json"),
        ("/foo/baz", NodeKind.ARRAY, "meta/foo/baz.array.json"),
        ("/", NodeKind.GROUP, "root.group.json"),
        ("/", NodeKind.ARRAY, "root.array.json"),
        ("/x.array.json", NodeKind.ARRAY, "meta/x.array.json.array.json"),
        ("/a.b", NodeKind.GROUP, "meta/a.b.group.json"),
    ],
)
def test_keys_of_the_text(path, kind, key):
    assert SCHEME_2019.metadata_key(path, kind) == key
    assert SCHEME_2019.parse(key) == DraftKey(path, kind)


@pytest.mark.parametrize(
    "key",
    [
        "meta/foo/.array.json",
        "meta/.group.json",
        "meta/foo",
        "meta/foo.json",
        "meta/a//b.array.json",
        "meta/../b.array.json",
        "meta/...group.json",
        "meta/a b.array.json",
        f"meta/{'n' * 256}.array.json",
        "foo.array.json",
        "metafoo.array.json",
        "data/foo.array.json",
        "meta/root.array.JSON",
    ],
)
def test_stray_keys(key):
    assert SCHEME_2019.parse(key) is None


@given(SCHEMES, PATHS, KINDS)
def test_a_key_leads_back_to_its_node(scheme, path, kind):
    key = scheme.metadata_key(path, kind)
    assert is_key(key)
    assert scheme.parse(key) == DraftKey(path, kind)


@given(PATHS, PATHS)
def test_what_is_below_a_node_begins_with_its_prefix(above, inner):
    path = joined([*parts_of(above), *parts_of(inner)])
    if path != above:
        key = SCHEME_2019.metadata_key(path, NodeKind.ARRAY)
        assert key.startswith(SCHEME_2019.children_prefix(above))
        assert SCHEME_2019.data_prefix(path).startswith(SCHEME_2019.data_prefix(above))


def keys_of(spellings, coords):
    return [each.prefix + each.encoding.encode(coords) for each in spellings]


def test_chunk_keys():
    assert keys_of(spellings_2019("/foo/baz", None, 2), (0, 0)) == ["data/foo/baz/0.0"]
    assert keys_of(spellings_2019("/foo", "/", 2), (1, 23)) == ["data/foo/1/23"]
    assert keys_of(spellings_2019("/foo", "-", 3), (1, 23, 45)) == ["data/foo/1-23-45"]
    assert keys_of(spellings_2019("/", None, 2), (0, 1)) == ["data/0.1", "data//0.1"]
    assert keys_of(spellings_2019("/P", None, 0), ()) == ["data/P/0", "data/P/", "data/P"]
    assert keys_of(spellings_2020("/g/a", "/", 2), (0, 3))[0] == "data/root/g/a/c0/3"
    assert keys_of(spellings_2020("/g/a", None, 2), (0, 3)) == ["data/root/g/a/c0/3", "data/root/g/a/0.3"]
    assert keys_of(spellings_2020("/z", "/", 0), ())[:2] == ["data/root/z/c0", "data/root/z/c"]
    assert keys_of(spellings_2020("/", "/", 1), (4,))[0] == "data/root/c4"


@pytest.mark.parametrize("separator", ["", "..", ",", 0, "a", "0", []])
def test_separators_that_are_refused(separator):
    with pytest.raises(RefbrowserError) as caught:
        spellings_2019("/a", separator, 1)
    assert caught.value.kind is ErrorKind.META
