"""The tree of URLs: what lies in each host, bucket and folder, and other ways to write a place."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refbrowser.io.access.access import Access, Source, chained_url
from refbrowser.io.buckets.filesystems import options_with_secrets
from refbrowser.io.origins import ConnectionSettings, Origin
from refbrowser.tools.move.report.places import carried_settings, spellings
from refbrowser.tools.move.report.prefix_tree import PrefixKind, PrefixNode, prefix_tree


def shown(nodes: tuple[PrefixNode, ...], depth: int = 0) -> list[str]:
    """Return a line a node: name, kind, files, references, bytes."""
    lines = []
    for node in nodes:
        size = "?" if node.size is None else node.size
        lines.append(f"{'  ' * depth}{node.name or '.'} {node.kind} {node.files} {node.references} {size}")
        lines += shown(node.children, depth + 1)
    return lines


def test_hosts_buckets_folders_and_files() -> None:
    sources = [
        Source("s3://b/run/v1/one.nc", 3, 30),
        Source("s3://b/run/v1/two.nc", 2, None),
        Source("s3://b/run/v2/one.nc", 1, 10),
        Source("https://h:8443/a?x=1/2", 1, 5),
        Source("near.nc", 1, 1),
        Source("../far/x.nc", 1, 1),
        Source("/data/deep/er/x.nc", 4, 4),
        Source("s3://b/run/rule_", 1000, None, is_pattern=True),
        Source(chained_url("m", "/data/deep/z.zip"), 7, 7),
    ]
    assert shown(prefix_tree(sources)) == [
        ". relative 2 2 2",
        "  ../far/ folder 1 1 1",
        "    x.nc file 1 1 1",
        "  near.nc file 1 1 1",
        "/data/deep/ local 2 11 11",
        "  er/ folder 1 4 4",
        "    x.nc file 1 4 4",
        "  z.zip file 1 7 7",
        "https://h:8443/ host 1 1 5",
        "  a?x=1/2 file 1 1 5",
        "s3://b/run/ bucket 4 1006 ?",
        "  v1/ folder 2 5 ?",
        "    one.nc file 1 3 30",
        "    two.nc file 1 2 ?",
        "  v2/ folder 1 1 10",
        "    one.nc file 1 1 10",
        "  rule_ rule 1 1000 ?",
    ]


URLS = st.builds(
    str.__add__,
    st.sampled_from(["", "/", "s3://b/", "https://h/", "file:///", "C:\\", "s3://"]),
    st.lists(st.sampled_from(["a", "b", "", "..", "é", "?q"]), max_size=5).map("/".join),
)


@given(st.lists(URLS, max_size=12))
def test_every_url_lies_below_its_prefixes(urls: list[str]) -> None:
    counts = Counter(urls)
    roots = prefix_tree(Source(url, count, 2 * count) for url, count in counts.items())
    assert sum(root.references for root in roots) == len(urls)
    for root in roots:
        assert root.name == root.prefix
        for node in root.walk():
            below = [url for url in counts if url.startswith(node.prefix)]
            assert node.files <= len(below)
            assert node.size == 2 * node.references
            for child in node.children:
                assert child.prefix == node.prefix + child.name
            if node.kind is PrefixKind.FILE:
                assert node.references == counts[node.prefix]


def only(url: str) -> PrefixNode:
    """Return the node of the folder of a URL."""
    (root,) = prefix_tree([Source(url)])
    return root


@pytest.mark.parametrize(
    ("url", "base", "wanted"),
    [
        ("x.nc", "/data/run", {"As absolute paths": "/data/run/"}),
        ("x.nc", "https://h/d/r.json", {"As absolute URLs": "https://h/d/"}),
        ("/data/run/a/x.nc", "/data/run", {"Relative to the document": "a/", "As a file: URL": "file:///data/run/a/"}),
        ("/data/x.nc", "/data/run", {"Relative to the document": "../", "As a file: URL": "file:///data/"}),
        ("/x.nc", "/data/run/a/b", {"As a file: URL": "file:///"}),
        ("file:///data/x.nc", "/data", {"As a path": "/data/"}),
        ("https://h/d/e/x.nc", "https://h/d/r.json", {"Relative to the document": "e/"}),
        ("https://b.s3.eu-west-1.amazonaws.com/a/x.nc", "", {"As a bucket of S3": "s3://b/a/"}),
        ("https://s3.amazonaws.com/b/a/x.nc", "", {"As a bucket of S3": "s3://b/a/"}),
        ("https://storage.googleapis.com/b/x.nc", "", {"As a bucket of Google Cloud Storage": "gs://b/"}),
        ("https://b.s3.amazonaws.com/a%20b/x.nc", "", {}),
        ("s3://b/a/x.nc", "", {"As a web address": "https://b.s3.amazonaws.com/a/"}),
        ("s3://b.c/a/x.nc", "", {"As a web address": "https://s3.amazonaws.com/b.c/a/"}),
        ("s3://b/a/x y.nc", "", {}),
        ("gs://b/x.nc", "", {"As a web address": "https://storage.googleapis.com/b/"}),
        ("https://b.s3.dualstack.us-west-2.amazonaws.com/x", "", {"As a bucket of S3": "s3://b/"}),
        ("https://acc.blob.core.windows.net/c/x", "", {"As a container of Azure": "abfs://c@acc.dfs.core.windows.net/"}),
        ("abfs://c@acc.dfs.core.windows.net/d/x", "", {"As a web address": "https://acc.blob.core.windows.net/c/d/"}),
    ],
)  # fmt: skip
def test_other_spellings_of_a_place(url: str, base: str, wanted: dict[str, str]) -> None:
    assert {each.title: each.prefix for each in spellings(only(url), base)} == wanted


def test_the_region_of_an_address_goes_with_it() -> None:
    (found,) = spellings(only("https://b.s3.eu-west-1.amazonaws.com/a/x.nc"), "")
    assert found.settings == {"region": "eu-west-1"}


@pytest.mark.parametrize("url", ["https://acc.blob.core.windows.net/c/x", "https://b.s3.amazonaws.com/x"])
def test_spellings_lead_where_the_program_reads(url: str) -> None:
    (found,) = spellings(only(url), "")
    location = Access.for_document("/doc.json").locate(f"{found.prefix}x")
    assert location.path == "x"
    if location.scheme == "abfs":
        # The account is known without any setting.
        assert "acc" in str(options_with_secrets(location.origin, ConnectionSettings()))


def test_buckets_of_other_services_have_their_address() -> None:
    bucket = Origin("s3", "b")

    def web(**settings: str) -> str:
        (found,) = spellings(only("s3://b/a/x.nc"), "", {bucket: ConnectionSettings(**settings)})  # type: ignore[arg-type]
        return found.prefix

    assert web(endpoint="http://minio:9000") == "http://minio:9000/b/a/"
    assert web(region="eu-west-1") == "https://b.s3.eu-west-1.amazonaws.com/a/"


SECRET = ConnectionSettings(headers={"Authorization": "TOKEN"})
PAYS = ConnectionSettings(requester_pays=True, region="x")


@pytest.mark.parametrize(
    ("old", "new", "given", "wanted"),
    [
        ("s3://a/", "s3://b/", ConnectionSettings(endpoint="http://h"), ("endpoint http://h", False)),
        ("s3://a/", "s3://b/", PAYS, ("region x, requester pays", True)),
        ("s3://a/", "s3://b/", ConnectionSettings(anonymous=False, profile="p"), ("profile p", True)),
        ("s3://a/", "s3://b/", ConnectionSettings(anonymous=False), ("your credentials", True)),
        ("s3://a/", "gs://b/", PAYS, None),
        ("s3://a/", "s3://a/deeper/", PAYS, None),
        ("s3://a/", "/local/", PAYS, None),
        ("s3://a/", "s3://", PAYS, None),
        ("https://a/", "https://b/", SECRET, ("headers Authorization", True)),
        # Never where anybody on the way reads it, nor to a service of another kind.
        ("https://a/", "http://b/", SECRET, None),
        ("https://a/", "s3://b/", SECRET, None),
    ],
)
def test_settings_go_with_a_move(
    old: str, new: str, given: ConnectionSettings, wanted: tuple[str, bool] | None
) -> None:
    settings = {Origin.parse(f"{old}x"): given}
    found = carried_settings(old, new, settings, {})
    assert (None if found is None else (found.words, found.is_asked)) == wanted
    if found is not None:
        assert found.origin == Origin.parse(f"{new}x")
        # Not over what the user said of the new place.
        kept = {**settings, found.origin: ConnectionSettings(account="mine")}
        assert carried_settings(old, new, kept, {"region": "r"}) is None


def test_what_a_spelling_needs_goes_with_it() -> None:
    found = carried_settings("https://b.s3.r.amazonaws.com/", "s3://b/", {}, {"region": "r"})
    assert found is not None
    assert (found.settings, found.is_asked) == (ConnectionSettings(region="r"), False)
