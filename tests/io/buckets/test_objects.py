"""Reading from object stores: real servers on loopback, by fsspec's packages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from reading import columns, pattern
from servers.object_servers import ACCOUNT_KEY, SECRET, ObjectServer

from refbrowser.errors import AbsentError, ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.buckets.bucket import Bucket
from refbrowser.io.fetching.fetch import Fetcher
from refbrowser.io.origins import Origin, parse_storage_options

DATA = pattern(200_000)
SERVERS = ("s3_server", "gs_server", "abfs_server")
#: What no message may hold.
SECRETS = (SECRET, ACCOUNT_KEY)


@pytest.fixture(params=SERVERS)
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ObjectServer:
    """Each server in turn, with its credentials in the environment."""
    server: ObjectServer = request.getfixturevalue(request.param)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server


def allowed(origins: Sequence[str], options: Sequence[str] = ()) -> Access:
    return Access.for_document(
        "doc.json", [Origin.parse(origin) for origin in origins], parse_storage_options(options)
    )


def read(fetcher: Fetcher, access: Access, *rows: tuple[str, int, int]) -> list[bytes | RefbrowserError]:
    found: dict[int, bytes | RefbrowserError] = {}

    def deliver(row: int, data: memoryview | RefbrowserError) -> None:
        found[row] = data if isinstance(data, RefbrowserError) else bytes(data)

    fetcher.fetch(fetcher.plan(columns(rows), access), access, deliver)
    return [found[row] for row in range(len(rows))]


def failed(found: bytes | RefbrowserError) -> RefbrowserError:
    assert isinstance(found, RefbrowserError)
    text = f"{found} {found.advice}"
    assert "\n" not in text
    assert not any(secret in text for secret in SECRETS)
    return found


@pytest.mark.slow
def test_ranges_whole_objects_and_what_is_not_there(store: ObjectServer, fetcher: Fetcher) -> None:
    bucket = store.new_bucket()
    large = pattern(6_000_000)
    odd = "a folder/ä+%25 [x]&=.bin"
    store.put_all(bucket, {"a": DATA, "large": large, odd: b"odd", "empty": b""})
    access = allowed([bucket], store.settings(bucket))
    rows = [
        (f"{bucket}/a", 5, 10),
        (f"{bucket}/a", 150_000, 50_000),
        (f"{bucket}/a", 0, -1),
        (f"{bucket}/large", 100, 5_500_000),
        (f"{bucket}/{odd}", 0, -1),
        (f"{bucket}/empty", 0, -1),
    ]
    assert read(fetcher, access, *rows) == [
        DATA[5:15],
        DATA[150_000:],
        DATA,
        large[100:5_500_100],
        b"odd",
        b"",
    ]
    assert fetcher.counters.requests > 10
    past, beyond, none, nowhere, other = map(
        failed,
        read(
            fetcher,
            allowed(
                [bucket, f"{store.scheme}://no-such-bucket"],
                [*store.settings(bucket), *store.settings(f"{store.scheme}://no-such-bucket")],
            ),
            (f"{bucket}/a", 199_999, 2),
            (f"{bucket}/large", 7_000_000, 10),
            (f"{bucket}/none", 0, 5),
            (f"{store.scheme}://no-such-bucket/a", 0, -1),
            (f"{store.scheme}://else/a", 0, 5),
        ),
    )
    assert (past.kind, beyond.kind) == (ErrorKind.RANGE, ErrorKind.RANGE)
    assert isinstance(none, AbsentError)
    assert nowhere.kind is ErrorKind.SOURCE
    if store.scheme != "gs":  # The emulator does not tell it from an object that is not there; Google does.
        assert "does not exist" in nowhere.message
        assert not isinstance(nowhere, AbsentError)
    assert other.kind is ErrorKind.BLOCKED


def test_an_object_that_changes_between_reads(store: ObjectServer, fetcher: Fetcher) -> None:
    bucket = store.new_bucket()
    store.put(f"{bucket}/a", DATA)
    access = allowed([bucket], store.settings(bucket))
    assert read(fetcher, access, (f"{bucket}/a", 0, 5)) == [DATA[:5]]
    # The emulator of Google's store tells no state of an object, but its size.
    store.put(f"{bucket}/a", DATA[::-1] + b"!" if store.scheme == "gs" else DATA[::-1])
    error = failed(read(fetcher, access, (f"{bucket}/a", 5, 5))[0])
    assert error.kind is ErrorKind.SOURCE
    assert "changed" in error.message
    assert access.memory.identities.changed == {f"{bucket}/a"}


@pytest.mark.slow
def test_names_are_listed_page_by_page(store: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = store.new_bucket()
    count = 12 if store.scheme == "gs" else 120
    keys = {f"s/{number:04}": b"" for number in range(count)}
    store.put_all(bucket, keys | {"s/x/1": b"", "s/x/2": b"", "s/y/z/1": b"", "other": b"", "s2/a": b""})
    (settings,) = parse_storage_options(store.settings(bucket)).values()
    place = Bucket(Origin.parse(bucket), settings, export=False)
    folders, files, left = place.names("s/", 10_000)
    assert (folders, len(files), files[-1], left) == (
        ["x", "y"],
        count,
        f"{count - 1:04}",
        10_000 - count - 2,
    )
    assert place.names("s", 10_000)[:2] == (["", "2"], []) or place.names("", 10)[0] == ["s", "s2"]
    folders, files, left = place.names("s/", 5)
    assert len(folders) + len(files) == 5
    assert left <= 0
    assert place.names("nothing/", 10) == ([], [], 10)
    # What another program writes is seen at once.
    store.put(f"{bucket}/s/new", b"")
    assert "new" in place.names("s/", 10_000)[1]
    if store.scheme != "gs":
        with pytest.raises(RefbrowserError, match="does not exist"):
            Bucket(Origin.parse(f"{store.scheme}://no-such-bucket"), settings, export=False).names("", 5)
