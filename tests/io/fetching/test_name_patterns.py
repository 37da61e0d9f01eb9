"""Patterns of names: of files here, of objects in a store, of what a web server lists."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from refbrowser.errors import AbsentError, RefbrowserError
from refbrowser.exporting.making.made_references import sources_of
from refbrowser.io.buckets.bucket import Bucket
from refbrowser.io.buckets.bucket_calls import ObjectFacts
from refbrowser.io.fetching.name_patterns import fitting, is_pattern
from refbrowser.io.origins import Origin, parse_storage_options

KEYS = ("nc/2020/a.nc", "nc/2021/b.nc", "nc/2021/b.nc.json", "nc/c.nc", "nc/d[1].nc", "other.nc")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, bool | None]]:
    """What is listed of a store that holds `KEYS`: bucket, prefix, and whether it is asked without a key."""
    listed = []

    def objects(self: Bucket, prefix: str) -> Iterator[ObjectFacts]:
        listed.append((str(self.origin), prefix, self.settings.anonymous))
        for key in KEYS:
            if key.startswith(prefix):
                yield ObjectFacts(key, 1, "tag", "")

    monkeypatch.setattr(Bucket, "objects", objects)
    return listed


@pytest.mark.parametrize(
    ("pattern", "keys", "prefix"),
    [
        ("nc/*.nc", ["nc/c.nc", "nc/d[1].nc"], "nc/"),
        ("nc/*/*.nc", ["nc/2020/a.nc", "nc/2021/b.nc"], "nc/"),
        ("nc/202[!0]/*.nc", ["nc/2021/b.nc"], "nc/202"),
        ("nc/**/?.nc", ["nc/2020/a.nc", "nc/2021/b.nc", "nc/c.nc"], "nc/"),
        ("*.nc", ["other.nc"], ""),
        ("**", list(KEYS), ""),
    ],
)
def test_objects_fit(pattern: str, keys: list[str], prefix: str, asked: list[object]) -> None:
    found = sources_of([f"s3://met/{pattern}"])
    assert found == [f"s3://met/{key}" for key in keys]
    assert asked == [("s3://met", prefix, True)]


def test_the_store_is_asked_as_the_user_says(asked: list[object]) -> None:
    sources_of(["gs://met/nc/*.nc"], parse_storage_options(["gs://met:anonymous=false"]))
    assert asked == [("gs://met", "nc/", False)]


def test_nothing_that_fits_is_an_error_with_advice(asked: list[object]) -> None:
    with pytest.raises(AbsentError, match="nothing there fits") as caught:
        sources_of(["s3://met/none/*.nc"])
    assert "@LIST" in caught.value.advice


def test_names_without_a_star_are_names_elsewhere(asked: list[object]) -> None:
    names = ["s3://met/nc/d[1].nc", "https://host/a?b=*", "https://host/a[1].nc"]
    assert sources_of(names) == names
    assert asked == []
    assert not any(map(is_pattern, names))


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a folder that a web server lists."""
    folder = tmp_path_factory.mktemp("listed")
    for name in ("a.nc", "b 1.nc", "c.txt", "deeper/d.nc"):
        (folder / "nc" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "nc" / name).write_bytes(b"x")
    (folder / "page").mkdir()
    (folder / "page" / "index.html").write_text(
        '<a href="x.nc">x</a><A HREF=\'/page/y.nc?C=M\'>y</A><a href="https://other.example/page/z.nc">z</a>'
        '<a href="../nc/a.nc">a</a><a href="javascript:alert(1).nc">j</a><a name="x"><a href>'
    )

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_what_a_server_lists_fits(listing: str) -> None:
    assert sources_of([f"{listing}/nc/*.nc"]) == [f"{listing}/nc/a.nc", f"{listing}/nc/b%201.nc"]
    # Links to other folders and hosts are none of the folder's files.
    assert sources_of([f"{listing}/page/*.nc"]) == [f"{listing}/page/x.nc", f"{listing}/page/y.nc"]


def test_a_server_that_lists_nothing_is_told(listing: str) -> None:
    for url in (f"{listing}/none/*.nc", f"{listing}/nc/*.grib"):
        with pytest.raises(AbsentError):
            list(fitting(url, {}))
    with pytest.raises(RefbrowserError, match="names in one folder"):
        list(fitting(f"{listing}/*/a.nc", {}))


def test_patterns_of_a_list(tmp_path: Path, asked: list[object]) -> None:
    (tmp_path / "1.nc").touch()
    (tmp_path / "list").write_text(f"{tmp_path}/*.nc\ns3://met/nc/2020/*\n")
    assert sources_of([f"@{tmp_path}/list"]) == [f"{tmp_path}/1.nc", "s3://met/nc/2020/a.nc"]


def test_origins_of_patterns_are_those_of_their_files() -> None:
    assert Origin.parse("s3://met/nc/*.nc") == Origin.parse("s3://met")
