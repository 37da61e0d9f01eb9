"""Links: taken apart and written, what wins, what is left out, and what is refused of those from outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.engine.links import SCHEME, Link
from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS


def nothing(_name: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.json", ("a.json", "", "")),
        ("a.json::/", ("a.json", "/", "")),
        ("a.json::/ocean/", ("a.json", "/ocean", "")),
        ("a.json::/ocean/sst[0,:,10:20:2]", ("a.json", "/ocean/sst", "0,:,10:20:2")),
        ("a.json::/t[ time=2024-03 ]", ("a.json", "/t", "time=2024-03")),
        ("a.json::/t[]", ("a.json", "/t", "")),
        ("s3://b/k.zarr::/x[...]", ("s3://b/k.zarr", "/x", "...")),
        ("https://[::1]:80/a.json::/x[0]", ("https://[::1]:80/a.json", "/x", "0")),
        # Only what stands at the end, after a name, is a selection.
        ("a.json::/x[0]y", ("a.json", "/x[0]y", "")),
        ("a.json::/[0]", ("a.json", "/[0]", "")),
        ("a.json::/x[0][1]", ("a.json", "/x[0]", "1")),
        # Chained URLs have no slash there, and stay whole.
        ("simplecache::s3://b/k.json", ("simplecache::s3://b/k.json", "", "")),
        ("zip://a.json::b.zip", ("zip://a.json::b.zip", "", "")),
        ("odd::/dir/a.json::/z", ("odd::/dir/a.json", "/z", "")),
        ("::/x", ("::/x", "", "")),
        ("a[0].json", ("a[0].json", "", "")),
    ],
)
def test_links_are_taken_apart(text: str, parts: tuple[str, str, str]) -> None:
    link = Link.parse(text, nothing)
    assert (link.path, link.node, link.selection) == parts


def test_a_file_of_that_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd::").mkdir()
    (tmp_path / "odd::" / "a.json").touch()
    assert Link.parse("odd::/a.json") == Link("odd::/a.json")
    assert Link.parse("odd::/a.json::/x[0]") == Link("odd::/a.json", "/x", "0")
    (tmp_path / "b.json").touch()
    # A node may have the mark in its name, too.
    assert Link.parse("b.json::/x::/y") == Link("b.json", "/x::/y")
    assert Link.parse("~/none::/y") == Link("~/none", "/y")
    # Whoever names a file may call it like a link: what names files of a folder would read elsewhere.
    name = "refbrowser:%2Fetc%2Fa.refs.json"
    assert Link.parse(name).path == "/etc/a.refs.json"
    (tmp_path / name).touch()
    assert Link.parse(name) == Link(name)


def test_a_node_whose_own_name_ends_in_brackets_is_meant_where_there_is_one() -> None:
    link = Link.parse("a.json::/t[0]", nothing)
    assert link.among({"/t[0]"}.__contains__) == Link("a.json", "/t[0]")
    assert link.among({"/t[0]", "/t"}.__contains__) is link
    assert link.among({"/t"}.__contains__) is link


# Marks that turn text around are refused.
LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp"))
NAMES = st.text(LETTERS, min_size=1).filter(
    lambda text: not text.startswith(("/", "\\", "dev/", "sys/", "proc/")) and "::/" not in text
)


@given(NAMES, NAMES.map(lambda name: name.strip("/[]")), st.sampled_from(["", "0", ":,1:2,...", "lat=1:2"]))
def test_what_is_written_is_read_as_the_same(path: str, node: str, selection: str) -> None:
    link = Link(f"/{path}", f"/{node}", selection if node else "")
    assert Link.parse(str(link), nothing).among({f"/{node}"}.__contains__) == link
    assert Link.from_url(link.url).among({f"/{node}"}.__contains__) == link


def test_a_path_with_the_mark_in_it_comes_back() -> None:
    assert Link.from_url(Link("/odd::/a.json").url) == Link("/odd::/a.json", "/")


def test_the_percent_encoded_form_holds_nothing_that_ends_a_link() -> None:
    link = Link("https://h/a b.json?x=1&y=%20#z", "/ä\"'<>", "0,:")
    assert link.url.isascii()
    assert not set(link.url) & set(" \"'<>[]?#&\\^`{|}")
    assert Link.from_url(link.url) == Link("https://h/a b.json?x=1&y=%20", "/ä\"'<>", "0,:")


@pytest.mark.parametrize(
    ("path", "left", "words"),
    [
        ("https://me:secret@h/a.json", "https://h/a.json", "user name"),
        ("cdmremote:https://me@h/a", "cdmremote:https://h/a", "user name"),
        ("s3://key:secret@b/a.json", "s3://b/a.json", "user name"),
        ("https://h/a.json?X-Amz-Signature=s&X-Amz-Date=d&v=2", "https://h/a.json?v=2", "X-Amz-Signature"),
        ("https://h/a.json?X%2DAmz%2DSignature=s", "https://h/a.json", "signed"),
        ("https://h/a.json?v=2&sv=1&sp=r&sig=x", "https://h/a.json?v=2", "sig"),
        ("https://h/a.json?access_token=x#y", "https://h/a.json", "access_token"),
        ("https://h/a?sv=1&ss=b&skoid=2&sktid=3&skt=4&ske=5&sig=6&x=7", "https://h/a?x=7", "skoid"),
        ("https://h/a?Policy=a&Key-Pair-Id=b&Expires=1&x=7", "https://h/a?x=7", "Key-Pair-Id"),
        ("https://h/a?GoogleAccessId=a&Signature=b&x=7", "https://h/a?x=7", "GoogleAccessId"),
    ],
)
def test_what_lets_whoever_has_it_read_is_left_out(path: str, left: str, words: str) -> None:
    link = Link(path, "/x", "0").without_secrets()
    assert str(link) == f"{left}::/x[0]"
    assert any(words in each for each in link.left_out)
    assert "secret@" not in link.url
    assert link.without_secrets().path == left


@pytest.mark.parametrize(
    "path", ["https://h/a.json?sv=1&sp=2", "abfs://box@account/a", "/a?token=1", "s3://b/k#1"]
)
def test_what_gives_no_access_stays(path: str) -> None:
    assert Link(path).without_secrets() == Link(path)


HOSTILE = [
    ("", "names nothing"),
    ("//host/share/a.json", "share of another"),
    ("%5C%5Chost%5Cshare%5Ca.json", "share of another"),
    ("file://host/share/a.json", "may not name a host"),
    ("file:////host/share/a.json", "neither a URL nor a whole path"),
    ("/dev/zero", "device"),
    ("/x/../dev/zero", "device"),
    ("file:///proc/self/environ", "device"),
    ("/sys/power/state::/x", "device"),
    ("--screenshot=/tmp/x.png", "neither a URL nor a whole path"),
    ("-V", "neither a URL nor a whole path"),
    ("a.json", "neither a URL nor a whole path"),
    ("~root/a.json", "neither a URL nor a whole path"),
    ("~/../../../../../../dev/zero", "device"),
    ("refbrowser:/a.json", "names nothing"),
    ("/a%0A--allow.json", "control characters"),
    ("/a%00.json", "control characters"),
    ("/a%E2%80%AEnosj.json", "control characters"),
    ("/a%C2%85.json", "control characters"),
    ("/a%FF.json", "not UTF-8"),
    ("javascript:alert(1)", "neither a URL nor a whole path"),
    ("ssh://h/a", "not supported"),
    ("zip://a.json::/b.zip", "not supported"),
    ("http://h:port/a.json", "not a port"),
    ("https://gооgle.com/a.json", "mixes scripts"),
]


@pytest.mark.parametrize(("rest", "words"), HOSTILE)
def test_what_no_link_may_lead_to_is_refused(rest: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object) -> bool:
        raise AssertionError("a file was looked at")

    monkeypatch.setattr("os.path.lexists", touched)
    monkeypatch.setattr("os.stat", touched)
    with pytest.raises(RefbrowserError, match=words):
        Link.from_url(SCHEME + rest)


def test_the_home_folder_is_that_of_whoever_opens_it() -> None:
    assert Link.from_url(f"{SCHEME}~/a.json::/x") == Link("~/a.json", "/x")


def test_a_link_has_a_longest_length() -> None:
    most = LIMITS.url_length - len(SCHEME) - 1
    assert Link.from_url(f"{SCHEME}/{'a' * most}").path == "/" + "a" * most
    with pytest.raises(RefbrowserError, match="longer than"):
        Link.from_url(f"{SCHEME}/{'a' * (most + 1)}")
    with pytest.raises(RefbrowserError, match="longer than"):
        Link.parse("a" * (LIMITS.url_length + 1))


def test_from_where_it_would_be_read_is_told() -> None:
    assert Link("/data/a.json").where == "the folder /data"
    assert Link("https://host.org/a/b.json").where == "the server https://host.org"
    assert Link("s3://bucket/a").where == "the bucket s3://bucket"
