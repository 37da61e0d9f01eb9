"""Object stores, with fsspec's file system in memory in place of their packages."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from reading import columns, pattern

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io import objects
from refbrowser.io.access import Access
from refbrowser.io.fetch import Fetcher
from refbrowser.io.origins import Origin, parse_storage_options

DATA = pattern(200_000)


class Store:
    """What s3fs offers, over a dict."""

    made: ClassVar[list[dict[str, Any]]] = []
    files: ClassVar[dict[str, bytes]] = {}
    tag = "one"
    short = 0

    def __init__(self, **options: Any) -> None:
        options.pop("skip_instance_cache")
        self.made.append(options)

    def info(self, path: str) -> dict[str, Any]:
        if path not in self.files:
            raise FileNotFoundError(path)
        return {"size": len(self.files[path]), "ETag": self.tag, "name": path}

    def cat_file(self, path: str, start: int, end: int) -> bytes:
        if path.endswith("denied"):
            raise PermissionError("Access\nDenied")
        return self.files[path][start : end - self.short]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Store]]:
    Store.made, Store.tag, Store.short = [], "one", 0
    Store.files = {"bucket/a": DATA, "bucket/denied": DATA}
    for module, name in (
        ("s3fs", "S3FileSystem"),
        ("gcsfs.core", "GCSFileSystem"),
        ("adlfs", "AzureBlobFileSystem"),
    ):
        fake = types.ModuleType(module)
        setattr(fake, name, Store)
        monkeypatch.setitem(sys.modules, module, fake)
    objects._filesystem.cache_clear()
    yield Store
    objects._filesystem.cache_clear()


def allowed(scheme: str = "s3", options: tuple[str, ...] = ()) -> Access:
    origins = [Origin.parse(f"{scheme}://bucket")]
    return Access.for_document("doc.json", origins, parse_storage_options(options))


def read(fetcher: Fetcher, access: Access, *rows: tuple[str, int, int]) -> list[bytes | RefbrowserError]:
    found: dict[int, bytes | RefbrowserError] = {}

    def deliver(row: int, data: memoryview | RefbrowserError) -> None:
        found[row] = data if isinstance(data, RefbrowserError) else bytes(data)

    fetcher.fetch(fetcher.plan(columns(rows), access), access, deliver)
    return [found[row] for row in range(len(rows))]


@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs"])
def test_ranges_and_whole_objects(store: type[Store], fetcher: Fetcher, scheme: str) -> None:
    url = f"{scheme}://bucket/a"
    assert read(fetcher, allowed(scheme), (url, 5, 10), (url, 150_000, 50_000), (url, 0, -1)) == [
        DATA[5:15],
        DATA[150_000:],
        DATA,
    ]
    assert len(store.made) == 1


def test_a_large_row_is_read_in_pieces(store: type[Store], fetcher: Fetcher) -> None:
    store.files["bucket/large"] = pattern(6_000_000)
    access = allowed()
    table = columns([("s3://bucket/large", 100, 5_500_000)])
    plan = fetcher.plan(table, access)
    assert plan.request_count > 10
    found: list[bytes] = []
    counters = fetcher.fetch(plan, access, lambda row, data: found.append(bytes(data)))
    assert found == [store.files["bucket/large"][100:5_500_100]]
    assert counters.requests == plan.request_count


def test_the_default_is_anonymous(store: type[Store], fetcher: Fetcher) -> None:
    read(fetcher, allowed(), ("s3://bucket/a", 0, 5))
    assert store.made[0]["anon"] is True


def test_settings_of_the_user(store: type[Store], fetcher: Fetcher) -> None:
    options = (
        "s3://bucket:endpoint=https://minio.example",
        "s3://bucket:profile=work",
        "s3://bucket:region=eu",
    )
    read(fetcher, allowed("s3", options), ("s3://bucket/a", 0, 5))
    made = store.made[0]
    assert (made["anon"], made["profile"], made["endpoint_url"]) == (False, "work", "https://minio.example")
    assert made["client_kwargs"] == {"region_name": "eu"}


def test_failures(store: type[Store], fetcher: Fetcher) -> None:
    rows = [
        ("s3://bucket/a", 199_999, 2),
        ("s3://bucket/none", 0, 5),
        ("s3://bucket/denied", 0, 5),
        ("s3://else/a", 0, 5),
    ]
    errors = read(fetcher, allowed(), *rows)
    kinds = [error.kind for error in errors if isinstance(error, RefbrowserError)]
    assert kinds == [ErrorKind.RANGE, ErrorKind.SOURCE, ErrorKind.SOURCE, ErrorKind.BLOCKED]
    assert "Access\\nDenied" in str(errors[2])
    assert errors[2].place.url == "s3://bucket/denied"


def test_short_answers_are_refused(store: type[Store], fetcher: Fetcher) -> None:
    store.short = 1
    error = read(fetcher, allowed(), ("s3://bucket/a", 0, 5))[0]
    assert isinstance(error, RefbrowserError)
    assert error.kind == ErrorKind.SOURCE


def test_a_changed_object(store: type[Store], fetcher: Fetcher) -> None:
    access = allowed()
    read(fetcher, access, ("s3://bucket/a", 0, 5))
    store.tag = "two"
    error = read(fetcher, access, ("s3://bucket/a", 0, 5))[0]
    assert isinstance(error, RefbrowserError)
    assert "changed" in error.message


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch, fetcher: Fetcher) -> None:
    objects._filesystem.cache_clear()
    monkeypatch.setitem(sys.modules, "s3fs", None)
    error = read(fetcher, allowed(), ("s3://bucket/a", 0, 5))[0]
    assert isinstance(error, RefbrowserError)
    assert error.kind == ErrorKind.PROTOCOL
    assert "refbrowser[cloud]" in error.advice
