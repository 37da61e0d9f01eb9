"""Credentials for a bucket that expire: asked for with the user's login, and again before they end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from servers.http_server import HttpServer
from servers.login_server import TOKEN, Archive
from servers.object_servers import KEY_ID, SECRET, ObjectServer

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.buckets.filesystems import filesystem, storage_options
from refbrowser.io.fetching.fetch import read_document
from refbrowser.io.fetching.temporary_credentials import temporary_credentials
from refbrowser.io.origins import ConnectionSettings, Origin, parse_storage_options


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    monkeypatch.setenv("EDL_TOKEN", TOKEN)
    with Archive({}, key=(KEY_ID, SECRET)) as made:
        yield made


def test_they_are_asked_for_with_a_token_or_a_login(archive: Archive, tmp_path: Path) -> None:
    url = f"{archive.data.origin}/s3credentials"
    netrc = str(archive.netrc(tmp_path / "netrc"))
    for settings in (
        ConnectionSettings(token="EDL_TOKEN"),
        ConnectionSettings(login=archive.login.origin, netrc=netrc),
    ):
        found = temporary_credentials(url, settings)
        assert (found.key, found.secret, found.token) == (KEY_ID, SECRET, "temporary")
        assert abs(found.expires - datetime.now(UTC) - timedelta(hours=1)) < timedelta(minutes=1)
        assert SECRET not in repr(found)
        assert KEY_ID not in repr(found)


GOOD = {
    "accessKeyId": "a",
    "secretAccessKey": "b",
    "sessionToken": "c",
    "expiration": "2031-01-01 00:00:00+00:00",
}


def wrong(**said: object) -> str:
    return json.dumps({**GOOD, **said})


@pytest.mark.parametrize(
    "body",
    [
        "<html>log in", "[]", "{}", "[" * 50_000, wrong(accessKeyId=3), wrong(sessionToken="a\nb"),
        wrong(expiration="soon"), wrong(expiration="0001-01-01T00:00:00+23:00"),
        wrong(secretAccessKey="x" * 9000),
    ],
)  # fmt: skip
def test_answers_that_hold_none(body: str) -> None:
    with HttpServer({"/c": body.encode()}) as server:
        with pytest.raises(RefbrowserError, match="holds no credentials") as raised:
            temporary_credentials(server.url("/c"), ConnectionSettings())
        assert raised.value.kind is ErrorKind.FORMAT
        assert "xxxx" not in str(raised.value)
        server.files["/c"] = json.dumps(GOOD).encode()
        assert temporary_credentials(server.url("/c"), ConnectionSettings()).expires.year == 2031
        server.files["/c"] = b" " * 100_000
        with pytest.raises(RefbrowserError) as raised:
            temporary_credentials(server.url("/c"), ConnectionSettings())
        assert raised.value.kind is ErrorKind.BUDGET


def settings_of(archive: Archive, bucket: str, endpoint: str) -> list[str]:
    said = {
        "credentials": f"{archive.data.origin}/s3credentials",
        "token": "EDL_TOKEN",
        "endpoint": endpoint,
        "region": "us-east-1",
    }
    return [f"{bucket}:{key}={value}" for key, value in said.items()]


@pytest.mark.slow
def test_a_bucket_is_read_with_them_and_they_are_renewed(archive: Archive, s3_server: ObjectServer) -> None:
    bucket = s3_server.new_bucket()
    s3_server.put(f"{bucket}/a.json", b"{}")
    (settings,) = (said := parse_storage_options(settings_of(archive, bucket, s3_server.endpoint))).values()
    assert not settings.anonymous
    access = Access.for_document(f"{bucket}/a.json", [], said)
    assert bytes(read_document(f"{bucket}/a.json", access).data) == b"{}"
    assert len(archive.data.asked) == 1
    read_document(f"{bucket}/a.json", access)
    assert len(archive.data.asked) == 1, "they are kept while they last"
    assert all(secret not in repr(storage_options("s3", settings)) for secret in (KEY_ID, SECRET))


@pytest.mark.slow
def test_those_that_end_soon_are_asked_for_again(archive: Archive, s3_server: ObjectServer) -> None:
    bucket = s3_server.new_bucket()
    s3_server.put(f"{bucket}/a.json", b"{}")
    # Less than what is left when they are renewed: each read is a reason.
    archive.lasts = timedelta(minutes=5)
    said = parse_storage_options(settings_of(archive, bucket, s3_server.endpoint))
    access = Access.for_document(f"{bucket}/a.json", [], said)
    for count in (1, 2):
        assert bytes(read_document(f"{bucket}/a.json", access).data) == b"{}"
        assert len(archive.data.asked) >= count
    assert len(archive.data.asked) > 1


def test_documents_with_equal_settings_share_them(archive: Archive) -> None:
    pytest.importorskip("s3fs")
    origin = Origin.parse("s3://bucket")
    first, second = (
        parse_storage_options(settings_of(archive, "s3://bucket", "http://127.0.0.1:1"))[origin]
        for _ in range(2)
    )
    other = parse_storage_options(settings_of(archive, "s3://bucket", "http://127.0.0.1:2"))[origin]
    assert filesystem(origin, first) is filesystem(origin, second)
    assert filesystem(origin, first) is not filesystem(origin, other)
