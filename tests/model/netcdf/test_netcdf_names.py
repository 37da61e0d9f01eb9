"""Names, fully qualified names and what they refer to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.netcdf.names import (
    FreeNames,
    escape,
    join,
    name_fault,
    name_refused,
    plain_path,
    resolve,
    split,
    unescape,
)

#: Names by the seed's prose; those with the characters that matter are the likeliest.
NAMES = st.text(st.sampled_from("/\\ ab\n.%é日") | st.characters(exclude_categories=["Cs"]), min_size=1)


@pytest.mark.parametrize(
    ("parts", "fqn"),
    [
        ((), "/"),
        (("x",), "/x"),
        (("g", "h", "y"), "/g/h/y"),
        (("sp ace", "d im"), r"/sp\ ace/d\ im"),
        (("b\\k",), r"/b\\k"),
        (("a/b",), r"/a\/b"),
        (("a\\", "b"), r"/a\\/b"),
        (("\\ ",), r"/\\\ "),
    ],
)
def test_fqns_of_the_specification(parts, fqn):
    assert join(parts) == fqn
    assert split(fqn) == parts


@given(st.lists(NAMES, max_size=5))
def test_what_is_joined_is_split_again(names):
    assert split(join(names)) == tuple(names)


@given(NAMES)
def test_an_escaped_name_holds_no_bare_slash_or_blank(name):
    escaped = escape(name)
    assert unescape(escaped) == name
    left = escaped.replace("\\\\", "").replace("\\/", "").replace("\\ ", "")
    assert not set("/\\ ") & set(left)


@pytest.mark.parametrize(
    ("text", "name"), [("a\\", "a\\"), ("a\\n", "a\\n"), ("\\", "\\"), ("\\\\\\", "\\\\"), ("\\\\ ", "\\ ")]
)
def test_a_backslash_before_anything_else_stands_for_itself(text, name):
    assert unescape(text) == name


@pytest.mark.parametrize("text", ["", "x", "//", "/a//b", "/a/", "a/b"])
def test_what_is_no_fqn_is_refused(text):
    with pytest.raises(RefbrowserError) as caught:
        split(text)
    assert caught.value.kind is ErrorKind.META


@given(st.text(st.sampled_from("/\\ a")))
def test_splitting_never_fails_otherwise(text):
    try:
        parts = split(text)
    except RefbrowserError:
        return
    assert split(join(parts)) == parts


def test_a_reference_is_taken_literally_first():
    both = {("a\\ b",), ("a b",)}
    assert resolve("/a\\ b", (), both) == ("a\\ b",)
    assert resolve("/a\\ b", (), {("a b",)}) == ("a b",)
    assert resolve("/sp ace/d im", (), {("sp ace", "d im")}) == ("sp ace", "d im")
    assert resolve("/b\\k", (), {("b\\k",)}) == ("b\\k",)
    assert resolve("/b\\\\k", (), {("b\\k",)}) == ("b\\k",)
    # What netcdf-c stores of a dimension in a group whose name ends with a backslash.
    assert resolve("/a\\/b", (), {("a\\", "b"), ("a/b",)}) == ("a\\", "b")
    assert resolve("/a\\/b", (), {("a/b",)}) == ("a/b",)
    assert resolve("/c", ("g",), {("g", "c")}) is None


def test_a_bare_name_is_looked_for_outwards():
    declared = {("x",), ("g", "x"), ("y",), ("g", "h", "z"), ("g", "d im")}
    assert resolve("x", ("g", "h"), declared) == ("g", "x")
    assert resolve("y", ("g", "h"), declared) == ("y",)
    assert resolve("x", (), declared) == ("x",)
    assert resolve("z", ("g",), declared) is None
    assert resolve("d\\ im", ("g", "h"), declared) == ("g", "d im")


@given(st.lists(NAMES, min_size=1, max_size=4), st.booleans())
def test_both_spellings_of_a_dimension_are_found(parts, escaped):
    text = join(parts) if escaped else plain_path(parts)
    assert resolve(text, (), {tuple(parts)}) == tuple(parts) or (not escaped and "/" in "".join(parts))


def test_names_of_the_grammar():
    assert name_fault("air-temp v1.2 é") is None
    assert "empty" in name_fault("")
    assert "control" in name_fault("a\x1f")
    assert name_fault("\ud800")
    assert name_refused("1a") is None
    assert name_refused("é") is None
    for name in ("a/b", "a ", "-a", " a", "a\x7f", "é" * 129):
        assert name_fault(name) is None
        assert name_refused(name)


@given(st.lists(st.sampled_from(["a", "a_2", "a_3", "b"]), max_size=12))
def test_free_names_are_all_different(wishes):
    free = FreeNames(["b"])
    names = [free.take(wish) for wish in wishes]
    assert len({*names, "b"}) == len(names) + 1
