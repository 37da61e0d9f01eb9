"""URLs: the table of protocols, what is refused, and how origins compare."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.origins import Origin, SplitUrl, is_below, server_of, split_url


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("http://Example.ORG/a/b?x=1", ("http", "example.org", 80, "/a/b?x=1")),
        ("https://example.org", ("https", "example.org", 443, "/")),
        ("https://example.org.:8443/é b", ("https", "example.org", 8443, "/%C3%A9%20b")),
        ("HTTP://example.org:80/%20", ("http", "example.org", 80, "/%20")),
        ("http://example.org?x", ("http", "example.org", 80, "/?x")),
        ("http://example.org/a#part", ("http", "example.org", 80, "/a")),
        ("http://[::1]:81/", ("http", "::1", 81, "/")),
        ("http://[0:0:0:0:0:0:0:1]/", ("http", "::1", 80, "/")),
        ("http://0x7f.1/", ("http", "127.0.0.1", 80, "/")),
        ("http://bücher.example/", ("http", "xn--bcher-kva.example", 80, "/")),
        ("http://пример.example/", ("http", "xn--e1afmkfd.example", 80, "/")),
        ("http://例え.example/", ("http", "xn--r8jz45g.example", 80, "/")),
        ("s3://bucket/a/b.nc", ("s3", "bucket", None, "a/b.nc")),
        ("gcs://bucket/a#b?c", ("gs", "bucket", None, "a#b?c")),
        ("az://container/a", ("abfs", "container", None, "a")),
        (
            "abfss://box@account.dfs.core.windows.net/a",
            ("abfs", "box@account.dfs.core.windows.net", None, "a"),
        ),
        ("data/a.nc", ("file", "", None, "data/a.nc")),
        ("/data/a b.nc", ("file", "", None, "/data/a b.nc")),
        ("file:///data/a.nc", ("file", "", None, "/data/a.nc")),
        ("file://localhost/data/a.nc", ("file", "", None, "/data/a.nc")),
        ("file:/data/a.nc", ("file", "", None, "/data/a.nc")),
        ("C:\\data\\a.nc", ("file", "", None, "C:\\data\\a.nc")),
        ("odd:name.nc", ("file", "", None, "odd:name.nc")),
    ],
)
def test_parts(text: str, parts: tuple[str, str, int | None, str]) -> None:
    assert split_url(text) == SplitUrl(*parts)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ftp://example.org/a", ErrorKind.PROTOCOL),
        ("memory://a", ErrorKind.PROTOCOL),
        ("simplecache::s3://bucket/a", ErrorKind.PROTOCOL),
        ("zip://a::file:///b.zip", ErrorKind.PROTOCOL),
        ("http://example.org/a::b", ErrorKind.PROTOCOL),
        ("http://user@example.org/", ErrorKind.UNSAFE),
        ("http://user:word@example.org/", ErrorKind.UNSAFE),
        ("http://example.org:80@evil.org/", ErrorKind.UNSAFE),
        ("http://example.org\\@evil.org/", ErrorKind.UNSAFE),
        ("http://example.org:http/", ErrorKind.UNSAFE),
        ("http://example.org:0/", ErrorKind.UNSAFE),
        ("http://example.org:65536/", ErrorKind.UNSAFE),
        ("http://example.org:٣/", ErrorKind.UNSAFE),
        ("http://exa\nmple.org/", ErrorKind.UNSAFE),
        ("http://example.org/\r\nX: y", ErrorKind.UNSAFE),
        ("data/\x00a", ErrorKind.UNSAFE),
        ("http:///a", ErrorKind.UNSAFE),
        ("http://-a.org/", ErrorKind.UNSAFE),
        ("http://a..b/", ErrorKind.UNSAFE),
        ("http://1.2.3.256/", ErrorKind.UNSAFE),
        ("http://[::1%25eth0]/", ErrorKind.UNSAFE),
        ("http://[nothing]/", ErrorKind.UNSAFE),
        ("http://раypal.example/", ErrorKind.UNSAFE),
        ("http://xn--ypal-43d9g.example/", ErrorKind.UNSAFE),
        ("s3://buck et/a", ErrorKind.UNSAFE),
        ("s3://key:secret@bucket/a", ErrorKind.UNSAFE),
        ("file://server/share/a", ErrorKind.UNSAFE),
        ("http://example.org/" + "a" * 20_000, ErrorKind.BUDGET),
        ("", ErrorKind.REF),
    ],
)
def test_refused(text: str, kind: ErrorKind) -> None:
    with pytest.raises(RefbrowserError) as caught:
        split_url(text)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("http://Example.org:80/a/b", "http://Example.org:80"),
        ("http://[::1]?x", "http://[::1]"),
        ("s3://bucket/a://b", "s3://bucket"),
        ("file:///data/a", "file://"),
        ("a/http://b", None),
        ("/a", None),
        ("file:/a", None),
    ],
)
def test_the_server_as_it_is_spelled(text: str, server: str | None) -> None:
    assert server_of(text) == server


@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://", "s3://", "http://a/", "file:"]))
def test_any_text_is_parsed_or_refused(text: str, scheme: str) -> None:
    try:
        parts = split_url(scheme + text)
    except RefbrowserError:
        return
    if parts.scheme in ("http", "https"):
        assert parts.path.isascii()
        assert parts.path.isprintable()
        assert " " not in parts.path
        assert Origin.parse(str(parts.origin)) == parts.origin


def test_origins_are_compared_by_parts() -> None:
    assert Origin.parse("http://example.org") == Origin.parse("http://EXAMPLE.org:80/path")
    assert Origin.parse("http://example.org") != Origin.parse("https://example.org")
    assert Origin.parse("http://example.org") != Origin.parse("http://example.org.evil.org")
    assert Origin.parse("http://example.org") != Origin.parse("http://example.org:8080")
    assert str(Origin.parse("http://[::1]:8080/a")) == "http://[::1]:8080"
    assert str(Origin.parse("https://example.org:443/a")) == "https://example.org"


def test_folders_cover_what_is_below(tmp_path: Path) -> None:
    folder = Origin.parse(str(tmp_path / "data"))
    assert folder.covers(Origin.parse(str(tmp_path / "data" / "deep")))
    assert folder.covers(folder)
    assert not folder.covers(Origin.parse(str(tmp_path / "data2")))
    assert not folder.covers(Origin.parse(str(tmp_path)))
    assert not folder.covers(Origin.parse("http://example.org"))
    assert is_below(f"{os.sep}a", os.sep)
