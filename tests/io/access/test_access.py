"""Which of a document's URLs may be read."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access, Source, sources_in
from refbrowser.io.origins import Origin
from refbrowser.model.reference import ReferenceColumns


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "documents"
    (home / "deep").mkdir(parents=True)
    (home / "deep" / "a.nc").write_bytes(b"a")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.nc").write_bytes(b"b")
    return home


@pytest.fixture
def local(folder: Path) -> Access:
    return Access.for_document(folder / "doc.json")


REMOTE = Access.for_document("https://data.example/sets/doc.json?v=2")


def refusal(access: Access, url: str) -> ErrorKind:
    with pytest.raises(RefbrowserError) as caught:
        access.resolve(url)
    return caught.value.kind


@pytest.mark.parametrize("url", ["deep/a.nc", "./deep/../deep/a.nc", "missing.nc", "file:deep/a.nc"])
def test_files_below_the_document_need_no_permission(local: Access, folder: Path, url: str) -> None:
    location = local.resolve(url)
    assert location.scheme == "file"
    assert Path(location.path).is_relative_to(folder)


def test_absolute_paths_below_the_document_need_no_permission(local: Access, folder: Path) -> None:
    assert local.resolve(f"file://{folder}/deep/a.nc").path == str(folder / "deep" / "a.nc")


@pytest.mark.parametrize("url", ["../outside/b.nc", "deep/../../outside/b.nc", "../documents2/a.nc"])
def test_files_outside_are_asked_for_by_folder(local: Access, folder: Path, url: str) -> None:
    assert refusal(local, url) == ErrorKind.BLOCKED
    allowed = local.allow([Origin("file", folder=str(folder.parent))])
    assert allowed.resolve(url)
    assert refusal(local.allow([Origin("file", folder=str(folder.parent / "out"))]), url) == ErrorKind.BLOCKED


def test_links_that_lead_out_do_not_count_as_below(local: Access, folder: Path) -> None:
    (folder / "link.nc").symlink_to(folder.parent / "outside" / "b.nc")
    (folder / "linked").symlink_to(folder.parent / "outside")
    (folder / "inside.nc").symlink_to(folder / "deep" / "a.nc")
    assert refusal(local, "link.nc") == ErrorKind.BLOCKED
    assert refusal(local, "linked/b.nc") == ErrorKind.BLOCKED
    assert local.resolve("inside.nc").path == str(folder / "deep" / "a.nc")


@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX systems")
@pytest.mark.parametrize("url", ["/dev/zero", "/proc/self/environ", "/sys/kernel/notes", "file:///dev/stdin"])
def test_device_and_kernel_files_are_never_read(local: Access, url: str) -> None:
    everything = local.allow([Origin("file", folder="/")])
    assert refusal(everything, url) == ErrorKind.UNSAFE


@pytest.mark.parametrize(
    "url", ["/etc/passwd", "file:///etc/passwd", "file:x.nc", "\\\\server\\x", "C:\\x.nc", "C:/x.nc"]
)
def test_a_document_from_the_network_names_no_local_files(url: str) -> None:
    everything = REMOTE.allow([Origin("file", folder="/")])
    assert refusal(everything, url) == ErrorKind.UNSAFE


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("a.nc", "https://data.example/sets/a.nc"),
        ("../a b.nc", "https://data.example/a%20b.nc"),
        ("https://data.example:443/x", "https://data.example/x"),
    ],
)
def test_relative_urls_of_a_document_from_the_network(url: str, resolved: str) -> None:
    assert REMOTE.resolve(url).url == resolved


def test_relative_urls_in_a_bucket() -> None:
    access = Access.for_document("s3://bucket/sets/doc.json")
    location = access.resolve("../a b.nc")
    assert (location.url, location.path) == ("s3://bucket/a b.nc", "a b.nc")


def test_other_origins_are_blocked_until_allowed(local: Access) -> None:
    url = "http://data.example:8080/a.nc"
    assert refusal(local, url) == ErrorKind.BLOCKED
    assert refusal(local.allow([Origin.parse("http://data.example")]), url) == ErrorKind.BLOCKED
    assert refusal(local.allow([Origin.parse("https://data.example:8080")]), url) == ErrorKind.BLOCKED
    assert local.allow([Origin.parse("http://data.example:8080/elsewhere")]).resolve(url)


def test_the_error_says_what_to_allow(local: Access) -> None:
    with pytest.raises(RefbrowserError) as caught:
        local.resolve("http://data.example:8080/a.nc")
    assert "--allow http://data.example:8080" in caught.value.advice


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "[::ffff:10.0.0.1]", "localhost", "169.254.169.254"])
def test_private_hosts_need_their_own_confirmation(local: Access, host: str) -> None:
    url = f"http://{host}/a"
    origin = Origin.parse(url)
    assert refusal(local.allow([origin]), url) == ErrorKind.BLOCKED
    assert local.allow([origin], private=True).resolve(url)
    assert Access.for_document("doc.json", [origin]).resolve(url)
    assert Access.for_document(f"{url}/doc.json").resolve(url)


def test_what_can_never_be_read(local: Access) -> None:
    assert refusal(local, "ftp://data.example/a") == ErrorKind.PROTOCOL
    assert refusal(local, "simplecache::s3://bucket/a") == ErrorKind.PROTOCOL
    assert refusal(local, "http://name:word@data.example/a") == ErrorKind.UNSAFE


def test_wanted_lists_origins_with_counts_and_sizes(local: Access, folder: Path) -> None:
    sources = [
        Source("deep/a.nc", 5, 50),
        Source("https://data.example/a", 2, 100),
        Source("https://data.example/b", 3, 10),
        Source("http://127.0.0.1:9/a", 1, None),
        Source("s3://bucket/key", 4, 7),
        Source("../outside/b.nc", 1, 1),
        Source("ftp://data.example/a", 1, 1),
        Source("https://{{ host }", 10, None, is_pattern=True),
    ]
    found = [
        (str(want.origin) if want.origin else want.pattern, want.kind, want.count, want.size, want.allowed)
        for want in local.wanted(sources)
    ]
    assert found == [
        ("https://data.example", "host", 5, 110, False),
        ("http://127.0.0.1:9", "private", 1, None, False),
        ("s3://bucket", "bucket", 4, 7, False),
        (str(folder.parent / "outside"), "folder", 1, 1, False),
        ("https://{{ host }", "host", 10, None, False),
    ]


def test_wanted_tells_what_is_allowed(local: Access) -> None:
    origin, private = Origin.parse("https://data.example"), Origin.parse("http://127.0.0.1:9")
    sources = [Source("https://data.example/a"), Source("http://127.0.0.1:9/a")]
    assert [want.allowed for want in local.allow([origin, private]).wanted(sources)] == [True, False]
    assert [want.allowed for want in local.allow([private], private=True).wanted(sources)] == [False, True]


def test_wanted_lists_what_was_met_on_the_way(local: Access) -> None:
    target, rebound = Origin.parse("https://mirror.example"), Origin.parse("https://data.example")
    local.memory.meet(target, private=False)
    local.memory.meet(rebound, private=True)
    wants = {want.origin: want for want in local.allow([rebound]).wanted([])}
    assert wants[target].kind == "host"
    assert (wants[rebound].kind, wants[rebound].allowed) == ("private", False)


def test_the_origin_of_a_pattern_is_its_static_text(local: Access, folder: Path) -> None:
    sources = [
        Source("https://data.example/year", 10**12, is_pattern=True),
        Source("deep/part", 5, is_pattern=True),
        Source("../outside/part", 5, is_pattern=True),
        Source("https://data.exam", 3, is_pattern=True),
    ]
    found = [(str(want.origin or want.pattern), want.count) for want in local.wanted(sources)]
    assert found == [
        ("https://data.example", 10**12),
        (str(folder.parent / "outside"), 5),
        ("https://data.exam", 3),
    ]


def test_sources_in_columns() -> None:
    columns = ReferenceColumns(
        np.array([2, 2, 3, 0, 1, 2], np.uint8),
        np.array([0, 1, 1, -1, -1, 0], np.int32),
        np.zeros(6, np.int64),
        np.array([10, 20, -1, 0, 5, 7], np.int64),
        ("a", "b", "unused"),
    )
    assert sources_in(columns) == [Source("a", 2, 17), Source("b", 2, None)]


def test_allow_gives_another_value(local: Access) -> None:
    origin = Origin.parse("https://data.example")
    assert origin in local.allow([origin]).allowed
    assert origin not in local.allowed
    assert local.allow([origin]).memory is local.memory


@pytest.mark.parametrize("base", ["https://data.example/sets/doc.json", "s3://bucket/sets/doc.json"])
@pytest.mark.parametrize("url", [" //[x", " //a\u2100b/x"])
def test_relative_urls_that_cannot_be_joined_are_refused(base: str, url: str) -> None:
    assert refusal(Access.for_document(base), url) is ErrorKind.UNSAFE
